/* The answer with the log beside it, shown in its place on the page; and the keys and links that join the two. */

import { answerOf } from "./answer.js";
import { announce } from "./copy.js";
import { byId, el } from "./dom.js";
import { keyHelp } from "./keys.js";
import { Marks } from "./log/marks.js";
import { LogPane } from "./log/pane.js";
import { say } from "./say.js";

const box = byId("result");
const keys = {}; // what single keys do, as long as a log is shown
let pane = null;

/**
 * Show a report. `logs.get(name)` resolves to a log, or to null for the reason `logs.why`; `first` is the control to start with,
 * `take` the end.
 */
export function showResult(report, { logs, first, take }) {
  pane = report.sources.length ? new LogPane(report, logs, new Marks(report)) : null;
  box.replaceChildren(
    el("div", { class: "result-bar" }, first, el("div", { class: "result-keys" }, keyHelp(keys))),
    answerOf(report, take),
    ...(pane ? [pane.element] : []),
  );
  box.hidden = false;
  const title = byId("answer-title");
  document.title = `${title.textContent}: troubleshoot`;
  window.scrollTo(0, 0);
  title.focus({ preventScroll: true });
  if (pane) openPane();
  announce(say("Answer: {title}", { title: title.textContent }));
}

/** Take the answer away again, and the log with it. */
export function clearResult() {
  box.replaceChildren();
  for (const key of Object.keys(keys)) delete keys[key];
  pane = null;
  history.replaceState(null, "", location.pathname);
}

function openPane() {
  Object.assign(keys, {
    n: () => pane.jump(1),
    p: () => pane.jump(-1),
    w: () => pane.toggleWrap(),
    "/": () => pane.filter.focus(),
  });
  if (location.hash && pane.follow(location.hash)) return;
  const { first } = pane.marks;
  if (first) pane.goToMark(first, { isAsked: false });
  else pane.open(pane.report.sources[0].name);
}

box.addEventListener("click", (event) => {
  const link = event.target.closest("a.place");
  if (!link || !pane || event.ctrlKey || event.metaKey || event.shiftKey || !pane.follow(link.hash)) return;
  event.preventDefault();
  if (pane.element.getBoundingClientRect().top > window.innerHeight / 2) pane.element.scrollIntoView({ block: "start" });
  pane.box.focus({ preventScroll: true });
});
window.addEventListener("hashchange", () => pane?.follow(location.hash));
