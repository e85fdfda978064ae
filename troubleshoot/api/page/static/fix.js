/* What can be done about a finding -> numbered steps with commands to copy. */

import { copyButton } from "./copy.js";
import { el, icon } from "./dom.js";
import { prose, visible } from "./printable.js";
import { say } from "./say.js";
import { tabs } from "./tabs.js";
import * as words from "./words.js";

/** Return the fixes of a finding as a list, best first. */
export function fixList(finding) {
  return el("ol", { class: "fixes" }, finding.fixes.map((fix) => el("li", { class: "fix" }, fixParts(fix))));
}

function fixParts(fix) {
  const variants = Object.entries(fix.variants);
  return [
    el("p", { class: "fix-title" }, prose(fix.title), fix.safe ? el("span", { class: "safe" }, icon("done"), say("safe to try")) : null),
    fix.do ? el("p", {}, prose(fix.do)) : null,
    fix.run.length ? command(fix.run.join("\n"), say("the command")) : null,
    variants.length === 1 ? [el("p", { class: "fix-label" }, say("On {platform}", { platform: words.platform(variants[0][0]) })), command(variants[0][1], say("the command"))] : null,
    variants.length > 1
      ? tabs(
          variants.map(([name, text]) => ({
            name,
            label: words.platform(name),
            panel: command(text, say("the text for {platform}", { platform: words.platform(name) })),
          })),
          say("Where the job runs"),
        )
      : null,
    fix.verify ? verify(fix.verify) : null,
  ];
}

/** Return a box with a text to copy. */
export function command(text, what) {
  const shown = visible(text.replace(/\n+$/, ""));
  return el("div", { class: "command" }, el("pre", { tabindex: "0" }, el("code", {}, shown)), copyButton(shown, what));
}

function verify({ run, expect }) {
  return el("div", { class: "verify" },
    el("p", { class: "fix-label" }, say("To see that it worked")),
    command(run, say("the check")),
    expect ? el("p", { class: "expect" }, say("Expect: "), el("code", {}, visible(expect))) : null,
  );
}
