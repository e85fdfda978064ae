/* Single keys for those who read many logs, a list of them, and a switch to turn them off. */

import { el, icon } from "./dom.js";
import { keep, recall } from "./kept.js";

const KEYS = [
  ["n", "Next evidence"],
  ["p", "Previous evidence"],
  ["/", "Filter the lines"],
  ["w", "Wrap long lines"],
  ["?", "This list"],
];

/** Return a button that shows the keys; `actions` maps keys to what they do, and may be changed. */
export function keyHelp(actions) {
  const isOn = el("input", { type: "checkbox", id: "keys-on" });
  isOn.checked = recall("keys") !== "off";
  isOn.addEventListener("change", () => keep("keys", isOn.checked ? "on" : "off"));
  const dialog = el("dialog", { class: "keys", "aria-labelledby": "keys-title" },
    el("h2", { id: "keys-title" }, "Keys"),
    el("dl", {},
      el("div", {}, el("dt", {}, el("kbd", {}, "Ctrl"), " ", el("kbd", {}, "Enter")), el("dd", {}, "Find the cause")),
      KEYS.map(([key, text]) => el("div", {}, el("dt", {}, el("kbd", {}, key)), el("dd", {}, text)))),
    el("p", {}, isOn, " ", el("label", { for: "keys-on" }, "Single keys do something")),
    el("button", { type: "button", on: { click: () => dialog.close() } }, "Close"),
  );
  document.addEventListener("keydown", (event) => {
    const isTyping = event.target.closest?.("input, textarea, select, dialog");
    if (isTyping || event.ctrlKey || event.metaKey || event.altKey || !isOn.checked) return;
    const action = event.key === "?" ? () => dialog.showModal() : actions[event.key];
    if (!action) return;
    event.preventDefault();
    action();
  });
  const button = el("button", { type: "button", class: "quiet with-word", on: { click: () => dialog.showModal() } }, icon("keys"), "Keys");
  return [button, dialog];
}
