/* Tabs as ARIA has them: arrow keys move, one panel shows. Sets of tabs with the same names follow one another. */

import { el } from "./dom.js";

let made = 0;
const sets = new Set();

/** Return tabs over panels: `[{ name, label, panel }]`, the first one open. With one panel there is nothing to choose. */
export function tabs(panels, label) {
  const id = `tabs-${(made += 1)}`;
  const buttons = panels.map(({ name, label: text }, at) =>
    el("button", {
      type: "button",
      role: "tab",
      id: `${id}-${at}`,
      "aria-controls": `${id}-panel-${at}`,
      "data-name": name,
      on: { click: () => choose(name) },
    }, text),
  );
  const boxes = panels.map(({ panel, label: text }, at) =>
    el("div", { role: "tabpanel", id: `${id}-panel-${at}`, "aria-labelledby": `${id}-${at}`, "data-label": text }, panel),
  );
  const list = el("div", { role: "tablist", "aria-label": label }, buttons);
  const element = el("div", { class: "tabs" }, list, boxes);

  const open = (at) => {
    buttons.forEach((button, each) => {
      button.setAttribute("aria-selected", String(each === at));
      button.tabIndex = each === at ? 0 : -1;
    });
    boxes.forEach((box, each) => box.classList.toggle("is-closed", each !== at));
  };
  const set = { element, find: (name) => panels.findIndex((each) => each.name === name), open };
  sets.add(set);
  list.addEventListener("keydown", (event) => {
    const at = buttons.indexOf(event.target);
    const to = { ArrowRight: at + 1, ArrowLeft: at - 1, Home: 0, End: buttons.length - 1 }[event.key];
    if (at < 0 || to === undefined) return;
    event.preventDefault();
    const next = (to + buttons.length) % buttons.length;
    choose(panels[next].name);
    buttons[next].focus();
  });
  open(0);
  return element;
}

/** Open the panel of that name in every set that has one: who runs on Slurm does so for every fix. */
function choose(name) {
  for (const set of sets) {
    if (!set.element.isConnected) {
      sets.delete(set);
      continue;
    }
    const at = set.find(name);
    if (at >= 0) set.open(at);
  }
}
