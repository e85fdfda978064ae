/* Text from strangers, made safe to show: codes that would steer a terminal or turn the reading direction are written
   out, as troubleshoot/report/printable.py does, and here what has no width too. A terminal's colours are left out. */

const UNSAFE =
  /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u061c\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff\ufff9-\ufffb]|[\ud800-\udbff](?![\udc00-\udfff])|(?<![\ud800-\udbff])[\udc00-\udfff]|\udb40[\udc00-\udc7f]/g;
const COLOURS = /\u001b\[[0-9;:]*[mK]/g;

/** Return the text with control and direction characters as escapes; tabs and line feeds stay. */
export function visible(text) {
  return text.replace(COLOURS, "").replace(UNSAFE, escape);
}

/** Return nodes that show the text: escapes stand apart from what the log really says. */
export function shown(text) {
  const clean = text.replace(COLOURS, "");
  const nodes = [];
  let at = 0;
  for (const match of clean.matchAll(UNSAFE)) {
    if (match.index > at) nodes.push(clean.slice(at, match.index));
    const code = document.createElement("span");
    code.className = "control";
    code.textContent = escape(match[0]);
    nodes.push(code);
    at = match.index + match[0].length;
  }
  if (at < clean.length) nodes.push(clean.slice(at));
  return nodes;
}

function escape(character) {
  const code = character.codePointAt(0);
  return code < 0x100 ? `\\x${code.toString(16).padStart(2, "0")}` : `\\u${code.toString(16).padStart(4, "0")}`;
}

/** Return prose as nodes: what stands in backticks is code. */
export function prose(text) {
  return visible(text)
    .split(/`([^`\n]+)`/)
    .map((piece, at) => {
      if (at % 2 === 0) return piece;
      const code = document.createElement("code");
      code.textContent = piece;
      return code;
    });
}
