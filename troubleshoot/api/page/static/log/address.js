/* Places in logs as the part of an address behind `#`: `#L120`, `#L120-L128`, and with several logs `#worker-3.log:L12`. */

/** Return the address of lines; `only` is true where there is but one log, which then goes without saying. */
export function addressOf(source, line, endLine = line, only = false) {
  const name = only ? "" : `${encodeURIComponent(source)}:`;
  return `#${name}L${line}${endLine > line ? `-L${endLine}` : ""}`;
}

/** Return `{ source, line, endLine }`, source null where none is named; null if it is no such address. */
export function parseAddress(hash) {
  const parts = /^#(?:(.+):)?L(\d+)(?:-L?(\d+))?$/.exec(hash);
  if (!parts) return null;
  const line = Number(parts[2]);
  try {
    return {
      source: parts[1] === undefined ? null : decodeURIComponent(parts[1]),
      line,
      endLine: Math.max(Number(parts[3] ?? line), line),
    };
  } catch {
    return null; // a percent sign that encodes nothing
  }
}
