/* What this browser remembers: choices of the reader, never anything of a log. Storage may be forbidden; then nothing is. */

/** Return what is kept under a name, or null. */
export function recall(name) {
  try {
    return localStorage.getItem(`troubleshoot-${name}`);
  } catch {
    return null;
  }
}

export function keep(name, value) {
  try {
    localStorage.setItem(`troubleshoot-${name}`, value);
  } catch {
    /* the choice lasts as long as the page */
  }
}

// --- what lets the maker of a link delete it ---

export const keyOf = (report) => recall(`delete-${report}`);
export const keepKey = (report, token) => keep(`delete-${report}`, token);

export function forgetKey(report) {
  try {
    localStorage.removeItem(`troubleshoot-delete-${report}`);
  } catch {
    /* nothing was kept then */
  }
}
