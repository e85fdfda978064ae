/* A file of the reader's -> the logs in it, by the names that the service gives them.

     train.log            train.log
     train.log.gz         train.log.gz
     logs.tar.gz, a zip   logs.tar.gz/rank0/stderr.log, ...

   What a browser can decompress is opened here (gzip, zip, tar). The rest (xz, bzip2, zstd) is sent to the service once
   more, which gives the lines around one that is asked for; if it does not, the report's quotes are shown. */

import { say } from "../say.js";
import { readLines } from "./text.js";

export const MOST_BYTES = 256 * 1024 * 1024; // of one log, shown; the service reads it all
const HEAD_BYTES = 512;
const ZIP_END_BYTES = 66_000; // the end record and the longest comment

/** The logs of one scan; each is opened when it is first asked for. */
export class Logs {
  why = say("This log cannot be opened in the browser."); // where there are but quotes

  /** `given` are `{ name, blob }`, as they were sent; `read({ name, blob }, source, line)` has the service open one. */
  constructor(given, read) {
    this.files = new Map(given.map(({ name, blob }) => [name, blob]));
    this.read = read;
    this.opened = new Map();
    this.archives = new Map();
  }

  /** Resolve to the log of that name, with a line that is asked for, or to null where it cannot be shown here. */
  async get(name, line = 1) {
    const known = await this.opened.get(name);
    if (known && !known.lacks(line)) return known;
    if (known === null) return null;
    const opening = this.open(name).catch(() => null).then((log) => log ?? this.served(name, line).catch((error) => this.refused(error)));
    this.opened.set(name, opening);
    return opening;
  }

  refused(error) {
    this.why = say("The service could not open this log: {why}.", { why: error.message }).replace("..", ".");
    return null;
  }

  /** Resolve to the lines around one, as the service reads them. */
  async served(source, line) {
    const name = [...this.files.keys()].find((each) => source === each || source.startsWith(`${each}/`));
    if (name === undefined) return null;
    const { text, first_line: first, more_before: before, more_after: after } = await this.read({ name, blob: this.files.get(name) }, source, line);
    const log = await readLines(source, new Blob([text]).stream(), MOST_BYTES);
    const note = say("The service opened this log, secrets taken out.");
    return Object.assign(log, { first, before, after, note });
  }

  async open(name) {
    const whole = this.files.get(name);
    if (whole) {
      const stream = await plain(whole);
      return stream && readLines(name, stream, MOST_BYTES);
    }
    const file = [...this.files.keys()].find((each) => name.startsWith(`${each}/`));
    if (file === undefined) return null;
    if (!this.archives.has(file)) this.archives.set(file, members(this.files.get(file)));
    const member = (await this.archives.get(file)).get(name.slice(file.length + 1));
    const stream = member && (await plain(await member()));
    return stream ? readLines(name, stream, MOST_BYTES) : null;
  }
}

/** Return the text in a blob as a stream of UTF-8, or null if it is of a kind that only the service opens. */
async function plain(blob) {
  const head = await headOf(blob);
  if (isGzip(head)) return recoded(await streamHead(gunzip(blob)));
  if (isOtherwiseCompressed(head)) return null;
  return recoded({ head, stream: blob.stream() });
}

function recoded({ head, stream }) {
  const wide = head[0] === 0xff && head[1] === 0xfe ? "utf-16le" : head[0] === 0xfe && head[1] === 0xff ? "utf-16be" : null;
  return wide ? stream.pipeThrough(new TextDecoderStream(wide)).pipeThrough(new TextEncoderStream()) : stream;
}

function gunzip(blob) {
  return blob.stream().pipeThrough(new DecompressionStream("gzip"));
}

/** Return the first bytes of a stream, and a stream that still begins with them. */
async function streamHead(stream) {
  const [first, second] = stream.tee();
  const reader = first.getReader();
  const { value } = await reader.read();
  reader.cancel();
  return { head: value ?? new Uint8Array(), stream: second };
}

async function headOf(blob) {
  return new Uint8Array(await blob.slice(0, HEAD_BYTES).arrayBuffer());
}

const startsWith = (head, ...magic) => magic.every((byte, at) => head[at] === byte);
const isGzip = (head) => startsWith(head, 0x1f, 0x8b);
const isZip = (head) => startsWith(head, 0x50, 0x4b, 0x03, 0x04);
const isOtherwiseCompressed = (head) =>
  startsWith(head, 0x42, 0x5a, 0x68) || startsWith(head, 0xfd, 0x37, 0x7a) || startsWith(head, 0x28, 0xb5, 0x2f, 0xfd);

/** Resolve to the members of an archive: their names and functions that give their bytes as blobs. */
async function members(blob) {
  const head = await headOf(blob);
  if (isZip(head)) return zipMembers(blob);
  if (!isGzip(head)) return tarMembers(blob);
  const { bytes } = await readLines("", gunzip(blob), MOST_BYTES);
  return tarMembers(new Blob([bytes]));
}

async function zipMembers(blob) {
  const found = new Map();
  const tail = new DataView(await blob.slice(-ZIP_END_BYTES).arrayBuffer());
  let end = tail.byteLength - 22;
  while (end >= 0 && tail.getUint32(end, true) !== 0x06054b50) end -= 1;
  if (end < 0) return found;
  const directory = new DataView(
    await blob.slice(tail.getUint32(end + 16, true), tail.getUint32(end + 16, true) + tail.getUint32(end + 12, true)).arrayBuffer(),
  );
  for (let at = 0; at + 46 <= directory.byteLength && directory.getUint32(at, true) === 0x02014b50; ) {
    const [nameSize, extraSize, commentSize] = [28, 30, 32].map((offset) => directory.getUint16(at + offset, true));
    const name = new TextDecoder().decode(new Uint8Array(directory.buffer, at + 46, nameSize));
    const method = directory.getUint16(at + 10, true);
    const size = directory.getUint32(at + 20, true);
    const offset = directory.getUint32(at + 42, true);
    found.set(name, () => zipMember(blob, offset, size, method));
    at += 46 + nameSize + extraSize + commentSize;
  }
  return found;
}

async function zipMember(blob, offset, size, method) {
  const header = new DataView(await blob.slice(offset, offset + 30).arrayBuffer());
  const start = offset + 30 + header.getUint16(26, true) + header.getUint16(28, true);
  const data = blob.slice(start, start + size);
  if (method === 0) return data;
  if (method !== 8) throw new Error("a compression that browsers do not know");
  const { bytes } = await readLines("", data.stream().pipeThrough(new DecompressionStream("deflate-raw")), MOST_BYTES);
  return new Blob([bytes]);
}

async function tarMembers(blob) {
  const found = new Map();
  let longName = null;
  for (let at = 0; at + HEAD_BYTES <= blob.size; ) {
    const head = new Uint8Array(await blob.slice(at, at + HEAD_BYTES).arrayBuffer());
    const size = parseInt(textOf(head, 124, 12), 8) || 0;
    const type = String.fromCharCode(head[156]);
    const data = blob.slice(at + HEAD_BYTES, at + HEAD_BYTES + size);
    const prefix = textOf(head, 345, 155);
    const name = longName ?? (prefix ? `${prefix}/` : "") + textOf(head, 0, 100);
    longName = null;
    if (type === "L") longName = textOf(new Uint8Array(await data.arrayBuffer()), 0, size);
    else if (type === "x") longName = paxPath(await data.text());
    else if ("0\0".includes(type) && name) found.set(name, async () => data);
    at += HEAD_BYTES + Math.ceil(size / HEAD_BYTES) * HEAD_BYTES;
  }
  return found;
}

const paxPath = (text) => /^\d+ path=(.*)$/m.exec(text)?.[1] ?? null;

function textOf(bytes, start, length) {
  const part = bytes.subarray(start, start + length);
  const end = part.indexOf(0);
  return new TextDecoder().decode(end < 0 ? part : part.subarray(0, end)).trim();
}
