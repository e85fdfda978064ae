/* A list of any length in a box of fixed height: only the lines in sight are elements.

   A spacer is as tall as all lines would be; a window with the lines in sight stands in it where they belong. Browsers
   end an element's height at some 17 million pixels, so a longer list is scaled: one pixel of the bar is then several.

   With wrapping, a line takes `ceil(length / columns)` rows, known beforehand since letters are of one width; where a
   line turns out otherwise (tabs, wide letters), its real height is kept and what comes after moves. */

const MOST_PIXELS = 12_000_000;
const GUTTER = 39; // pixels beside a line's text, its number aside; log.css has them
const OVERSCAN = 12; // lines above and below: a scroll of less shows no gap before the next frame

export class Scroller {
  /** `box` scrolls; `render(index)` gives the element of a line. */
  constructor(box, render) {
    this.box = box;
    this.render = render;
    this.spacer = document.createElement("div");
    this.spacer.className = "log-spacer";
    this.window = document.createElement("div");
    this.window.className = "log-window";
    this.spacer.append(this.window);
    box.append(this.spacer);
    this.elements = new Map();
    this.size = () => 0;
    this.count = 0;
    this.digits = 0;
    this.isWrapped = false;
    this.tops = null; // with wrapping: rows above each line, and of all
    this.columns = 0;
    this.frame = 0;
    box.addEventListener("scroll", () => this.paintSoon(), { passive: true });
    new ResizeObserver(() => this.measure()).observe(box);
  }

  /** Show a list: how many lines, how many columns a line takes, and how many digits the largest number has. */
  show(count, size, digits) {
    this.count = count;
    this.size = size;
    this.digits = digits;
    this.box.style.setProperty("--digits", digits);
    this.box.scrollTop = 0;
    this.box.scrollLeft = 0;
    this.spacer.style.minWidth = "";
    this.lay();
  }

  setWrapped(isWrapped) {
    const at = this.lineAt(this.position());
    this.isWrapped = isWrapped;
    this.box.classList.toggle("is-wrapped", isWrapped);
    this.spacer.style.minWidth = "";
    this.lay();
    this.scrollTo(this.topOf(at));
  }

  /** Render the lines in sight anew: what they show has changed. */
  refresh() {
    this.clear();
    this.paint();
  }

  /** Bring a line into sight: where it is not in the middle of the box, to its upper third. */
  reveal(index) {
    const top = this.topOf(index);
    const from = this.position();
    if (top < from + this.rowHeight * 2 || top > from + this.box.clientHeight - this.rowHeight * 4) {
      this.scrollTo(top - this.box.clientHeight / 3);
    }
    this.paint();
  }

  // --- places, in pixels of the list as if it were not scaled ---

  get rowHeight() {
    this.knownRowHeight ||= parseFloat(getComputedStyle(this.box).lineHeight) || 20;
    return this.knownRowHeight;
  }

  get total() {
    return (this.tops ? this.tops[this.count] : this.count) * this.rowHeight;
  }

  get scale() {
    const room = MOST_PIXELS - this.box.clientHeight;
    return this.total > MOST_PIXELS ? (this.total - this.box.clientHeight) / room : 1;
  }

  position() {
    return this.box.scrollTop * this.scale;
  }

  scrollTo(top) {
    this.box.scrollTop = Math.max(top, 0) / this.scale;
  }

  topOf(index) {
    return (this.tops ? this.tops[index] : index) * this.rowHeight;
  }

  lineAt(top) {
    const row = top / this.rowHeight;
    if (!this.tops) return Math.min(Math.max(Math.floor(row), 0), Math.max(this.count - 1, 0));
    let low = 0;
    let high = this.count - 1;
    while (low < high) {
      const middle = (low + high + 1) >> 1;
      if (this.tops[middle] <= row) low = middle;
      else high = middle - 1;
    }
    return Math.max(low, 0);
  }

  // --- laying out ---

  measure() {
    if (this.isWrapped && this.columnsNow() !== this.columns) this.setWrapped(true);
    else this.paint();
  }

  columnsNow() {
    const probe = document.createElement("span");
    probe.className = "log-probe";
    probe.textContent = "0".repeat(100);
    this.window.append(probe);
    const letter = probe.getBoundingClientRect().width / 100;
    probe.remove();
    return Math.max(Math.floor((this.box.clientWidth - GUTTER) / (letter || 8)) - this.digits, 8);
  }

  lay() {
    this.clear();
    this.tops = null;
    if (this.isWrapped) {
      this.columns = this.columnsNow();
      this.tops = new Float64Array(this.count + 1);
      for (let at = 0; at < this.count; at += 1) {
        this.tops[at + 1] = this.tops[at] + Math.max(Math.ceil(this.size(at) / this.columns), 1);
      }
    }
    this.stretch();
    this.paint();
  }

  stretch() {
    this.spacer.style.height = `${Math.min(this.total, MOST_PIXELS)}px`;
  }

  clear() {
    this.elements.clear();
    this.window.replaceChildren();
  }

  paintSoon() {
    this.frame ||= requestAnimationFrame(() => {
      this.frame = 0;
      this.paint();
    });
  }

  paint() {
    if (this.count === 0 || this.box.clientHeight === 0) return;
    const position = this.position();
    const anchor = this.lineAt(position);
    const from = Math.max(anchor - OVERSCAN, 0);
    const to = Math.min(this.lineAt(position + this.box.clientHeight) + OVERSCAN, this.count - 1);
    for (const [index, element] of this.elements) {
      if (index < from || index > to) {
        element.remove();
        this.elements.delete(index);
      }
    }
    let after = null; // the element that the next one belongs behind
    for (let index = from; index <= to; index += 1) {
      let element = this.elements.get(index);
      if (!element) {
        element = this.render(index);
        this.elements.set(index, element);
        if (after) after.after(element);
        else this.window.prepend(element);
      }
      after = element;
    }
    this.place(from, position);
    if (this.tops) this.correct(from, to, anchor, position);
    else this.widen();
  }

  /** Put the window where its first line belongs, as seen from what is in sight. */
  place(from, position) {
    this.window.style.transform = `translateY(${this.topOf(from) - position + this.box.scrollTop}px)`;
  }

  /** Keep real heights where lines took other than expected; what is in sight stays where it is. */
  correct(from, to, anchor, position) {
    const before = this.tops[anchor];
    let expected = this.tops[from];
    let shift = 0;
    for (let index = from; index <= to; index += 1) {
      const rows = Math.max(Math.round(this.elements.get(index).offsetHeight / this.rowHeight), 1);
      const next = this.tops[index + 1];
      shift += rows - (next - expected);
      expected = next;
      this.tops[index + 1] = next + shift;
    }
    if (this.tops[to + 1] === expected && this.tops[anchor] === before) return;
    for (let index = to + 2; index <= this.count; index += 1) this.tops[index] += shift;
    this.stretch();
    const moved = (this.tops[anchor] - before) * this.rowHeight;
    if (moved !== 0) this.scrollTo(position + moved);
    this.place(from, this.position());
  }

  /** Without wrapping the box grows as wide as the widest line seen, and does not shrink while one reads. */
  widen() {
    const width = this.window.offsetWidth;
    if (width > (parseFloat(this.spacer.style.minWidth) || 0)) this.spacer.style.minWidth = `${width}px`;
  }
}
