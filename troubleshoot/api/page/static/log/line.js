/* One line of a log -> an element: its number, its text, what in it is evidence and what was searched for. */

import { el, hidden } from "../dom.js";
import { shown } from "../printable.js";
import { say } from "../say.js";
import { amount } from "../words.js";
import { spanIn } from "./marks.js";

export const MOST_LETTERS = 4000; // of one line; a longer one is cut around what matters in it

const KINDS = {
  cause: say("Evidence of the cause"),
  also: say("Evidence"),
  symptom: say("A symptom"),
  suspect: say("Worth reading"),
  good: say("Good news"),
};

/** Return the element of a line. `look` has the mark, the words of the filter, the address, and what is chosen. */
export function lineElement(number, raw, { mark, words, address, isChosen, isCurrent }) {
  const span = mark ? spanIn(raw, mark, number) : null;
  const [text, start] = cut(raw, span);
  const left = raw.length - text.length;
  const classes = ["log-line", mark && `is-${mark.kind}`, isChosen && "is-chosen", isCurrent && "is-current"];
  return el("div", { class: classes.filter(Boolean).join(" "), "data-line": number },
    el("a", { class: "log-number", href: address, tabindex: "-1", "aria-label": say("Line {number}", { number }) }, String(number)),
    el("span", { class: "log-text" },
      mark && mark.line === number ? hidden(`${KINDS[mark.kind]}: `) : null,
      start > 0 ? el("span", { class: "log-cut" }, say("… {number} characters … ", { number: amount(start) })) : null,
      pieces(text, spans(text, span && [span[0] - start, span[1] - start], words)),
      left - start > 0 ? el("span", { class: "log-cut" }, say(" … {number} more characters", { number: amount(left - start) })) : null,
    ),
  );
}

function cut(raw, span) {
  if (raw.length <= MOST_LETTERS) return [raw, 0];
  const start = span && span[1] > MOST_LETTERS ? Math.max(span[0] - MOST_LETTERS / 4, 0) : 0;
  return [raw.slice(start, start + MOST_LETTERS), start];
}

/** Return spans with their names, in order and apart: evidence, and what was searched for around it. */
function spans(text, evidence, words) {
  const found = evidence ? [{ start: evidence[0], end: evidence[1], tag: "mark", name: "is-match" }] : [];
  if (!words) return found;
  const lower = text.toLowerCase();
  if (lower.length !== text.length) return found; // a letter that changes its length with its case: no places to trust
  for (let at = lower.indexOf(words); at >= 0; at = lower.indexOf(words, at + words.length)) {
    const span = { start: at, end: at + words.length, tag: "mark", name: "is-found" };
    if (!evidence || span.end <= evidence[0] || span.start >= evidence[1]) found.push(span);
  }
  return found.sort((a, b) => a.start - b.start);
}

function pieces(text, spans) {
  const nodes = [];
  let at = 0;
  for (const { start, end, tag, name } of spans) {
    nodes.push(...shown(text.slice(at, start)), el(tag, { class: name }, shown(text.slice(start, end))));
    at = end;
  }
  return [...nodes, ...shown(text.slice(at))];
}
