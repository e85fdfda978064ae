/* Bytes -> numbered lines. The bytes stay as they are, 1 byte a letter, with an index of where lines start; a line is
   decoded when it is shown. 200,000 lines cost 1 MB of index and no string.

   A line ends at a line feed and nowhere else, which is how the service counts. */

const GROWTH = 2;

/** A log whose every line is there. Lines count from 1. */
export class LogText {
  note = ""; // what the reader should know of how it was come by
  first = 1; // the number of the first line that is here
  before = false; // there are lines before it
  after = false; // there are lines behind the last one

  constructor(name, bytes, starts, cut = false) {
    this.name = name;
    this.bytes = bytes;
    this.starts = starts; // of each line, and one past the last
    this.cut = cut; // the log goes on, but not here
    this.decoder = new TextDecoder();
  }

  /** Say whether a line is in the log, but not here. */
  lacks(number) {
    return (this.before && number < this.first) || (this.after && number >= this.first + this.count);
  }

  get count() {
    return this.starts.length - 1;
  }

  /** Read as the service found it to be encoded; a name that the browser does not know changes nothing. */
  setEncoding(label) {
    if (this.note) return; // the service has read it, and sends UTF-8
    try {
      this.decoder = new TextDecoder(label);
    } catch {
      /* utf-8 then, where what does not fit is shown as such */
    }
  }

  numberAt(index) {
    return index + this.first;
  }

  indexOf(number) {
    return number >= this.first && number < this.first + this.count ? number - this.first : -1;
  }

  /** Return how many bytes the line at an index has: what it needs in columns, about. */
  size(index) {
    return this.starts[index + 1] - this.starts[index] - 1;
  }

  text(index) {
    return this.decode(index, index + 1).replace(/\r?\n?$/, "");
  }

  /** Return the lines from one index up to another as one text. */
  decode(from, to) {
    return this.decoder.decode(this.bytes.subarray(this.starts[from], this.starts[to]));
  }
}

/** Some lines of a log that is not here: those that the report quotes. */
export class Quotes {
  constructor(name, quoted) {
    const lines = new Map(quoted.flatMap(({ line, text }) => text.split("\n").map((each, at) => [line + at, each])));
    this.name = name;
    this.lines = [...lines].sort(([a], [b]) => a - b);
    this.cut = false;
    this.isQuoted = true;
  }

  get count() {
    return this.lines.length;
  }

  setEncoding() {}

  lacks() {
    return false;
  }

  numberAt(index) {
    return this.lines[index][0];
  }

  indexOf(number) {
    return this.lines.findIndex(([each]) => each === number);
  }

  size(index) {
    return this.lines[index][1].length;
  }

  text(index) {
    return this.lines[index][1];
  }

  decode(from, to) {
    return this.lines.slice(from, to).map(([, text]) => `${text}\n`).join("");
  }
}

/** Read a stream of bytes to its end, or to `most` bytes, and index its lines; resolve to a LogText. */
export async function readLines(name, stream, most) {
  let bytes = new Uint8Array(1 << 16);
  let starts = new Uint32Array(1 << 12);
  let size = 0;
  let lines = 1; // entries of `starts` in use: the first line starts at 0
  let cut = false;
  const reader = stream.getReader();
  for (;;) {
    const { done, value } = await reader.read();
    if (done) break;
    const chunk = value.subarray(0, most - size);
    cut = chunk.length < value.length;
    if (size + chunk.length > bytes.length) bytes = grown(bytes, Math.min(most, Math.max(bytes.length * GROWTH, size + chunk.length)));
    bytes.set(chunk, size);
    for (let at = chunk.indexOf(10); at >= 0; at = chunk.indexOf(10, at + 1)) {
      if (lines + 1 >= starts.length) starts = grown(starts, starts.length * GROWTH);
      starts[lines] = size + at + 1;
      lines += 1;
    }
    size += chunk.length;
    if (cut) {
      await reader.cancel();
      break;
    }
  }
  if (starts[lines - 1] < size) {
    starts[lines] = size + 1; // the last line has no line feed
    lines += 1;
  }
  return new LogText(name, bytes.subarray(0, size), starts.slice(0, Math.max(lines, 1)), cut);
}

function grown(array, length) {
  const larger = new array.constructor(length);
  larger.set(array);
  return larger;
}
