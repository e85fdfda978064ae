/* The lines that prove a finding, each with its place, which leads to it in the log. */

import { el } from "./dom.js";
import { shown, visible } from "./printable.js";
import { say } from "./say.js";
import { ranks } from "./words.js";
import { addressOf } from "./log/address.js";

const SHOWN = 3;

/** Return the evidence as a list; more than a few lines are folded. */
export function evidenceList(evidence, only) {
  const rows = evidence.map((each) => quote(each, only));
  return el("div", { class: "evidence" },
    el("ol", { class: "quotes" }, rows.slice(0, SHOWN)),
    rows.length > SHOWN
      ? el("details", { class: "more" },
          el("summary", {}, say("{number} more", { number: rows.length - SHOWN })),
          el("ol", { class: "quotes" }, rows.slice(SHOWN)))
      : null,
  );
}

function quote({ source, line, end_line: endLine, text, start, end, rank }, only) {
  const letters = [...text];
  const part = (from, to) => shown(letters.slice(from, to).join(""));
  return el("li", { class: "quote" },
    el("p", { class: "quote-place" }, placeLink(source, line, endLine, only), rank === null ? null : ` ${ranks(String(rank))}`),
    el("pre", { class: "quote-text", tabindex: "0" },
      el("code", {}, part(0, start), end > start ? el("mark", {}, part(start, end)) : null, part(end))),
  );
}

/** Return a link to lines of a log: `train.log:12`. */
export function placeLink(source, line, endLine, only) {
  return el("a", { class: "place", href: addressOf(source, line, endLine, only) }, `${visible(source)}:${line}`);
}
