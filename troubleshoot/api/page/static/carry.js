/* The reader changes the language: what was given goes with them to the page that comes, which forgets it at once. It
   stays in this tab, and is sent nowhere. */

const NAME = "troubleshoot-carried";
const MOST_BYTES = 1_500_000; // a tab may keep 5 MB, and base64 in UTF-16 takes 2.7 times as much

/** Keep logs `{ name, blob }` for the next page of this tab; return whether they fit. */
export async function carry(logs, about) {
  if (logs.reduce((sum, { blob }) => sum + blob.size, 0) > MOST_BYTES) return false;
  try {
    const kept = await Promise.all(logs.map(async ({ name, blob }) => ({ name, data: coded(new Uint8Array(await blob.arrayBuffer())) })));
    sessionStorage.setItem(NAME, JSON.stringify({ ...about, logs: kept }));
    return true;
  } catch {
    return false; // storage may be forbidden
  }
}

/** Return what the page before left, with its logs as blobs, or null. */
export function takeCarried() {
  try {
    const kept = JSON.parse(sessionStorage.getItem(NAME));
    sessionStorage.removeItem(NAME);
    return kept && { ...kept, logs: kept.logs.map(({ name, data }) => ({ name, blob: new Blob([decoded(data)]) })) };
  } catch {
    return null;
  }
}

function coded(bytes) {
  let letters = "";
  for (let at = 0; at < bytes.length; at += 0x8000) letters += String.fromCharCode(...bytes.subarray(at, at + 0x8000));
  return btoa(letters);
}

const decoded = (data) => Uint8Array.from(atob(data), (letter) => letter.charCodeAt(0));
