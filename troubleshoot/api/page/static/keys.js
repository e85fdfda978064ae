/* Single keys for those who read many logs, a list of them, and a switch to turn them off. */

import { el, icon } from "./dom.js";
import { keep, recall } from "./kept.js";
import { say } from "./say.js";

const KEYS = [
  ["n", say("Next evidence")],
  ["p", say("Previous evidence")],
  ["/", say("Filter the lines")],
  ["w", say("Wrap long lines")],
  ["?", say("This list")],
];

/** Return a button that shows the keys; `actions` maps keys to what they do, and may be changed. */
export function keyHelp(actions) {
  const isOn = el("input", { type: "checkbox", id: "keys-on" });
  isOn.checked = recall("keys") !== "off";
  isOn.addEventListener("change", () => keep("keys", isOn.checked ? "on" : "off"));
  const dialog = el("dialog", { class: "keys", "aria-labelledby": "keys-title" },
    el("h2", { id: "keys-title" }, say("Keys")),
    el("dl", {},
      el("div", {}, el("dt", {}, el("kbd", {}, "Ctrl"), " ", el("kbd", {}, "Enter")), el("dd", {}, say("Find the cause"))),
      KEYS.map(([key, text]) => el("div", {}, el("dt", {}, el("kbd", {}, key)), el("dd", {}, text)))),
    el("p", {}, isOn, " ", el("label", { for: "keys-on" }, say("Single keys do something"))),
    el("button", { type: "button", on: { click: () => dialog.close() } }, say("Close")),
  );
  document.addEventListener("keydown", (event) => {
    const isTyping = event.target.closest?.("input, textarea, select, dialog");
    if (isTyping || event.ctrlKey || event.metaKey || event.altKey || !isOn.checked) return;
    const action = event.key === "?" ? () => dialog.showModal() : actions[event.key];
    if (!action) return;
    event.preventDefault();
    action();
  });
  const button = el("button", { type: "button", class: "quiet with-word", on: { click: () => dialog.showModal() } }, icon("keys"), say("Keys"));
  return [button, dialog];
}
