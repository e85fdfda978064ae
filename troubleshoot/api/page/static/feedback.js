/* Was it right? Two words from those who know make the rules better. Only where the service keeps such things. */

import { announce } from "./copy.js";
import { byId, el } from "./dom.js";
import { say } from "./say.js";

const ANSWERS = [
  ["right", say("Right")],
  ["wrong", say("Wrong")],
  ["fixed", say("The fix worked")],
];

/** Return the row of buttons for a finding, or nothing where the service takes no feedback. */
export function feedbackRow(finding) {
  const { canRate, report } = byId("result").dataset;
  if (!canRate) return null;
  const row = el("div", { class: "feedback", role: "group", "aria-label": say("Was this right?") });
  const send = async (verdict) => {
    const body = JSON.stringify({ rule: finding.rule, verdict, fingerprint: finding.fingerprint, report: report ?? null });
    const response = await fetch("/v1/feedback", { method: "POST", headers: { "Content-Type": "application/json" }, body });
    const said = response.ok ? say("Thank you, noted.") : say("That could not be noted; try again.");
    announce(said);
    row.lastElementChild.textContent = said;
    for (const button of row.querySelectorAll("button")) button.setAttribute("aria-pressed", String(response.ok && button.value === verdict));
  };
  row.append(
    el("span", { class: "fine" }, say("Was this right?")),
    ...ANSWERS.map(([verdict, text]) => el("button", { type: "button", value: verdict, "aria-pressed": "false", on: { click: () => send(verdict) } }, text)),
    el("span", { class: "fine" }),
  );
  return row;
}
