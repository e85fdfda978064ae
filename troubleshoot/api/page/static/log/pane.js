/* The log beside the answer: its lines, what in them is evidence, and the ways to get about. */

import { announce } from "../copy.js";
import { el, hidden, icon } from "../dom.js";
import { keep, recall } from "../kept.js";
import { visible } from "../printable.js";
import { isEnglish, say } from "../say.js";
import * as words from "../words.js";
import { addressOf, parseAddress } from "./address.js";
import { findLines } from "./filter.js";
import { MOST_LETTERS, lineElement } from "./line.js";
import { Scroller } from "./scroller.js";
import { Quotes } from "./text.js";

const FILTER_WAIT_MS = 150;

export class LogPane {
  /** `logs` opens them by name, `marks` says what is evidence in them. */
  constructor(report, logs, marks) {
    this.report = report;
    this.logs = logs;
    this.marks = marks;
    this.only = report.sources.length === 1;
    this.log = null; // the one that is shown
    this.lines = new Map(); // its marks by line
    this.found = null; // with a filter: the indexes of the lines to show
    this.words = "";
    this.chosen = null; // lines that the address names
    this.step = -1; // which of the marks one is at
    this.element = this.build();
    this.scroller = new Scroller(this.box, (index) => this.lineAt(index));
    this.setWrapped(recall("wrap") !== "no");
  }

  build() {
    this.source = el("select", { id: "source", on: { change: () => this.open(this.source.value) } },
      this.report.sources.map(({ name }) => {
        const marked = this.marks.countOf(name);
        return el("option", { value: name }, visible(name) + (marked ? ` (${marked})` : ""));
      }),
    );
    this.where = el("span", { class: "log-where" });
    this.caption = el("p", { class: "log-caption" });
    this.note = el("p", { class: "log-note", hidden: true });
    this.filter = el("input", {
      type: "search",
      id: "filter",
      placeholder: say("Filter lines"),
      spellcheck: "false",
      autocomplete: "off",
      on: { input: () => this.filterSoon(), keydown: (event) => this.leaveFilter(event) },
    });
    this.amount = el("span", { class: "log-amount", role: "status" });
    this.wrap = el("button", { type: "button", class: "quiet", "aria-pressed": "false", title: say("Wrap long lines (w)"), on: { click: () => this.toggleWrap() } },
      icon("wrap"), hidden(say("Wrap long lines")));
    this.box = el("div", { class: "log-box", tabindex: "0", role: "region", "aria-label": say("Lines of the log"), on: { click: (event) => this.choose(event) } });
    this.ruler = el("div", { class: "log-ruler", "aria-hidden": "true", on: { click: (event) => this.followRuler(event) } });
    const name = this.only
      ? el("span", { class: "log-name" }, visible(this.report.sources[0]?.name ?? ""))
      : [el("label", { class: "vh", for: "source" }, say("Log")), this.source];
    return el("section", { class: "log", id: "log", "aria-labelledby": "log-title" },
      el("h2", { class: "vh", id: "log-title" }, say("The log")),
      el("div", { class: "log-bar" },
        el("div", { class: "log-names" }, name, this.amount),
        el("div", { class: "log-tools" },
          el("label", { class: "vh", for: "filter" }, say("Filter lines")),
          el("span", { class: "log-filter" }, icon("search"), this.filter),
          this.wrap,
        ),
        this.stepper(),
      ),
      this.note,
      el("div", { class: "log-body" }, this.box, this.ruler),
    );
  }

  stepper() {
    const back = el("a", { class: "log-back", href: "#answer-title" }, say("Back to the answer")); // where it stands above
    if (this.marks.steps.length === 0) return el("div", { class: "log-steps" }, back);
    const button = (name, label, key, way) =>
      el("button", { type: "button", class: "quiet", title: `${label} (${key})`, on: { click: () => this.jump(way) } }, icon(name), hidden(label));
    return el("div", { class: "log-steps" },
      button("up", say("Previous evidence"), "p", -1),
      this.where,
      button("down", say("Next evidence"), "n", 1),
      this.caption,
      back,
    );
  }

  // --- which log ---

  /** Show a log, at its first evidence unless a line is named. Resolves when its lines are there. */
  async open(name, line = null) {
    if (this.log?.name !== name || (line !== null && this.log.lacks(line))) {
      this.source.value = name;
      line ??= this.marks.steps.find((mark) => mark.source === name)?.line ?? null;
      const wanted = (this.wanted = { name, line });
      this.amount.textContent = say("opening");
      const log = (await this.logs.get(name, line ?? 1)) ?? this.quotes(name);
      if (this.wanted !== wanted) return; // another one was asked for meanwhile
      const info = this.report.sources.find((each) => each.name === name);
      log.setEncoding(info?.encoding ?? "utf-8");
      this.log = log;
      this.lines = this.marks.of(name);
      this.filter.value = this.words = "";
      this.found = null;
      this.chosen = null;
      const note = noteOn(log, this.logs.why);
      const turn = (label, line) => el("button", { type: "button", class: "quiet", on: { click: () => this.open(name, line) } }, label);
      this.note.replaceChildren(note, log.before ? turn(say("Earlier lines"), log.first - 1) : "", log.after ? turn(say("Later lines"), log.first + log.count) : "");
      this.note.hidden = !note;
      this.box.setAttribute("aria-label", say("Lines of {name}", { name: visible(name) }));
      this.show();
    }
    if (line !== null) this.goTo(line);
  }

  quotes(name) {
    return new Quotes(name, this.marks.all.filter((mark) => mark.source === name));
  }

  show() {
    const { log, found } = this;
    const most = MOST_LETTERS + 40;
    const digits = Math.max(String(log.count ? log.numberAt(log.count - 1) : 0).length, 3);
    this.scroller.show(found ? found.length : log.count, (at) => Math.min(log.size(found ? found[at] : at), most), digits);
    this.amount.textContent = found
      ? say("{part} of {whole}", { part: words.amount(found.length), whole: words.count(log.count, "line") })
      : log.isQuoted ? words.count(log.count, "quoted line") : log.before || log.after ? say("lines {first} to {last}", { first: words.amount(log.first), last: words.amount(log.first + log.count - 1) }) : words.count(log.count, "line");
    this.paintRuler();
  }

  lineAt(at) {
    const index = this.found ? this.found[at] : at;
    const number = this.log.numberAt(index);
    return lineElement(number, this.log.text(index), {
      mark: this.lines.get(number),
      words: this.words,
      address: addressOf(this.log.name, number, number, this.only),
      isChosen: this.chosen !== null && this.chosen.line <= number && number <= this.chosen.endLine,
      isCurrent: this.isCurrent(number),
    });
  }

  isCurrent(number) {
    const mark = this.marks.steps[this.step];
    return mark !== undefined && mark.source === this.log.name && mark.line <= number && number <= mark.endLine;
  }

  // --- where in it ---

  goTo(line) {
    let index = this.log.indexOf(line);
    if (index < 0) return;
    if (this.found) {
      const at = this.found.indexOf(index);
      if (at < 0) this.setFilter(""); // the line is not among those shown
      else index = at;
    }
    this.scroller.refresh();
    this.scroller.reveal(index);
  }

  /** Go to the next (1) or previous (-1) evidence, round at the ends. */
  jump(way) {
    const { steps } = this.marks;
    if (steps.length === 0) return;
    const step = this.step < 0 ? (way > 0 ? 0 : steps.length - 1) : (this.step + way + steps.length) % steps.length;
    this.goToMark(steps[step]);
  }

  /** Go to a mark; resolves when its log is open. What nobody asked for stays out of the address. */
  goToMark(mark, { isAsked = true } = {}) {
    this.step = this.marks.steps.indexOf(mark);
    this.chosen = null;
    this.where.textContent = say("{part} of {whole}", { part: this.step + 1, whole: this.marks.steps.length });
    this.caption.textContent = visible(mark.title);
    this.caption.className = `log-caption is-${mark.kind}`;
    if (isAsked) this.write(mark.source, mark.line, mark.endLine);
    announce(say("Evidence {part} of {whole}, line {line}: {title}", { part: this.step + 1, whole: this.marks.steps.length, line: mark.line, title: visible(mark.title) }));
    return this.open(mark.source, mark.line);
  }

  /** Go where an address says; return whether it says anything. */
  follow(hash) {
    const place = parseAddress(hash);
    const source = place?.source ?? (this.only ? this.report.sources[0]?.name : this.log?.name);
    if (!place || !this.report.sources.some(({ name }) => name === source)) return false;
    const mark = this.marks.at(source, place.line);
    if (mark && this.marks.steps.includes(mark)) {
      this.goToMark(mark);
    } else {
      this.open(source, place.line).then(() => {
        this.chosen = place;
        this.goTo(place.line);
      });
    }
    return true;
  }

  choose(event) {
    const number = event.target.closest(".log-number")?.parentElement.dataset.line;
    if (number === undefined || event.ctrlKey || event.metaKey) return;
    event.preventDefault();
    const line = Number(number);
    const from = event.shiftKey && this.chosen ? Math.min(this.chosen.line, line) : line;
    const to = event.shiftKey && this.chosen ? Math.max(this.chosen.endLine, line) : line;
    this.chosen = { line: from, endLine: to };
    this.write(this.log.name, from, to);
    this.scroller.refresh();
  }

  write(source, line, endLine) {
    history.replaceState(history.state, "", addressOf(source, line, endLine, this.only));
  }

  // --- how much of it ---

  filterSoon() {
    clearTimeout(this.filterTimer);
    this.filterTimer = setTimeout(() => this.setFilter(this.filter.value), FILTER_WAIT_MS);
  }

  async setFilter(text) {
    this.search?.abort();
    this.filter.value = text;
    const wanted = text.toLowerCase();
    if (!this.log || wanted === this.words) return;
    this.search = new AbortController();
    const found = wanted ? await findLines(this.log, wanted, this.search.signal) : null;
    if (wanted && found === null) return;
    this.words = wanted;
    this.found = found;
    this.show();
  }

  leaveFilter(event) {
    if (event.key !== "Escape") return;
    event.preventDefault();
    this.setFilter("");
    this.box.focus();
  }

  toggleWrap() {
    this.setWrapped(!this.scroller.isWrapped);
    keep("wrap", this.scroller.isWrapped ? "yes" : "no");
  }

  setWrapped(isWrapped) {
    this.wrap.setAttribute("aria-pressed", String(isWrapped));
    this.scroller.setWrapped(isWrapped);
  }

  // --- the ruler: where in the whole log the evidence stands ---

  paintRuler() {
    this.ruler.replaceChildren();
    if (this.found) return;
    for (const mark of this.marks.steps) {
      const index = mark.source === this.log.name ? this.log.indexOf(mark.line) : -1;
      if (index < 0) continue;
      const tick = el("span", { class: `log-tick is-${mark.kind}`, title: say("Line {number}", { number: mark.line }) });
      tick.style.top = `${(100 * index) / Math.max(this.log.count, 1)}%`;
      tick.mark = mark;
      this.ruler.append(tick);
    }
  }

  followRuler(event) {
    if (event.target.mark) this.goToMark(event.target.mark);
    else if (this.log) {
      const share = event.offsetY / this.ruler.clientHeight;
      this.scroller.reveal(Math.min(Math.floor(share * this.scroller.count), this.scroller.count - 1));
    }
  }
}

/** Return what the reader should know of how a log is shown, or nothing. */
function noteOn(log, why) {
  if (log.isQuoted) return why + say(" These are the lines that the answer quotes.");
  const goesOn = log.cut ? say("The log goes on; this much of it is shown.") : log.before || log.after ? say("It is long: this is a part of it.") : "";
  return [log.note, goesOn].filter(Boolean).join(isEnglish ? " " : "");
}
