/* One finding, told in full: what, how sure, where, why, the evidence, the fix. */

import { el, icon } from "./dom.js";
import { evidenceList, placeLink } from "./evidence.js";
import { feedbackRow } from "./feedback.js";
import { fixList } from "./fix.js";
import { prose, visible } from "./printable.js";
import { say } from "./say.js";
import * as words from "./words.js";

/** Return severity and confidence as icon and words: never by colour alone. */
export function standing(finding) {
  if (finding.kind === "confirmation") return [el("span", { class: "level good" }, icon("good"), say("good news"))];
  return [
    el("span", { class: `level ${finding.severity}` }, icon(finding.severity), severity(finding)),
    el("span", { class: "confidence" }, meter(finding.confidence), say("{level} confidence", { level: say(LEVELS[finding.confidence]) })),
  ];
}

const LEVELS = { low: "low", medium: "medium", high: "high", critical: "critical" };
const STEPS = Object.keys(LEVELS).slice(0, 3);

function severity(finding) {
  return say("{level} severity", { level: say(LEVELS[finding.severity]) });
}

function meter(confidence) {
  const at = STEPS.indexOf(confidence);
  return el("span", { class: "meter", "aria-hidden": "true" }, STEPS.map((_, step) => el("i", { class: step <= at ? "on" : "" })));
}

/** Return a link to the rule's page. It opens beside the answer, which is kept nowhere. */
export function ruleLink(id) {
  const path = id.split("/").map(encodeURIComponent).join("/");
  return el("a", { class: "rule-id", href: `/rules/${path}`, target: "_blank", rel: "noopener" }, id, el("span", { class: "vh" }, say(" (rule, opens in a new tab)")));
}

/** Return where a finding stands: its first line, ranks, hosts, how often. */
export function facts(finding, only) {
  const first = finding.evidence[0];
  const parts = words.whereabouts(finding).map((part) => el("span", {}, visible(part)));
  return el("p", { class: "where" },
    el("span", {}, ruleLink(finding.rule)),
    first ? el("span", {}, placeLink(first.source, first.line, first.end_line, only)) : null,
    parts,
  );
}

/** Return why, evidence and fix. `level` is that of the headings. */
export function body(finding, level, only) {
  const head = (text) => el(`h${level}`, { class: "part" }, text);
  const advice = words.advice(finding);
  return [
    finding.explanation ? el("div", { class: "why" }, finding.explanation.split(/\n+/).filter(Boolean).map((text) => el("p", {}, prose(text)))) : null,
    finding.because.map((text) => el("p", { class: "because" }, prose(words.sentence(text)))),
    finding.evidence.length ? [head(say("Evidence")), evidenceList(finding.evidence, only)] : null,
    finding.fixes.length ? [head(finding.kind === "confirmation" ? say("To check") : say("How to fix it")), fixList(finding)] : null,
    advice ? el("p", { class: "advice" }, advice) : null,
    feedbackRow(finding),
    finding.references.length
      ? [head(say("References")), el("ul", { class: "references" }, finding.references.map((text) => el("li", {}, reference(text))))]
      : null,
  ];
}

function reference(text) {
  if (!/^https?:\/\/[^\s<>]+$/.test(text)) return visible(text);
  return el("a", { href: text, target: "_blank", rel: "noopener noreferrer" }, visible(text), el("span", { class: "vh" }, say(" (opens in a new tab)")));
}

/** Return a finding folded to one line, which opens to all of it. */
export function folded(finding, only) {
  return el("details", { class: "folded" },
    el("summary", {},
      icon(finding.kind === "confirmation" ? "good" : finding.severity),
      el("span", { class: "folded-title" }, visible(finding.title)),
      el("span", { class: "folded-facts" }, [finding.kind === "confirmation" ? "" : severity(finding), ...words.whereabouts(finding).slice(0, 2).map(visible)].filter(Boolean).join(" · ")),
    ),
    el("div", { class: "folded-body" }, facts(finding, only), body(finding, 3, only)),
  );
}
