/* Words -> the lines that have them. Big logs are searched in slices, so that the page never stands still. */

const SLICE_BYTES = 512 * 1024;
const SLICE_MS = 12;

/** Resolve to the indexes of the lines that hold `words`, letter case aside; to null when `signal` stops it. */
export async function findLines(log, words, signal) {
  const wanted = words.toLowerCase();
  let found = new Uint32Array(1024);
  let count = 0;
  let began = performance.now();
  for (let from = 0; from < log.count; ) {
    const to = sliceEnd(log, from);
    const text = log.decode(from, to).toLowerCase();
    let line = from;
    let seen = 0; // letters of `text` whose line feeds are counted
    for (let at = text.indexOf(wanted); at >= 0; ) {
      for (let feed = text.indexOf("\n", seen); feed >= 0 && feed < at; feed = text.indexOf("\n", feed + 1)) {
        line += 1;
        seen = feed + 1;
      }
      if (count === found.length) {
        const larger = new Uint32Array(count * 2);
        larger.set(found);
        found = larger;
      }
      found[count] = line;
      count += 1;
      const end = text.indexOf("\n", at);
      at = end < 0 ? -1 : text.indexOf(wanted, end);
    }
    from = to;
    if (performance.now() - began > SLICE_MS) {
      await new Promise((resolve) => setTimeout(resolve));
      if (signal.aborted) return null;
      began = performance.now();
    }
  }
  return found.subarray(0, count);
}

function sliceEnd(log, from) {
  let to = from + 1;
  for (let bytes = log.size(from); to < log.count && bytes < SLICE_BYTES; to += 1) bytes += log.size(to) + 1;
  return to;
}
