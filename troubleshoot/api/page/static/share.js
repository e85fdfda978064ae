/* A link to the answer: made only when asked for, gone after some days or when its maker deletes it. */

import { copyButton } from "./copy.js";
import { byId, el, icon } from "./dom.js";
import { forgetKey, keepKey } from "./kept.js";
import { say } from "./say.js";
import * as words from "./words.js";

/**
 * Return the row that makes a link. `days` is how long it lasts; `save({ keepLog, anonymize })` stores the report, and
 * the log where the reader wants it, and resolves to `{ id, token, expires }`.
 */
export function shareRow(days, save, { canKeepLog = false } = {}) {
  const row = el("div", { class: "share" });
  const said = el("span", { class: "fine", role: "alert" });
  const make = async () => {
    button.disabled = true;
    said.textContent = "";
    try {
      show(await save({ keepLog: withLog.checked, anonymize: withoutAddresses.checked }));
    } catch (error) {
      said.textContent = error.message;
      button.disabled = false;
    }
  };
  const button = el("button", { type: "button", on: { click: make } }, icon("link"), say("Make a link"));
  const withoutAddresses = el("input", { type: "checkbox", id: "without-addresses" });
  const withLog = el("input", { type: "checkbox", id: "with-log" });
  const offer = () => {
    button.disabled = false;
    row.replaceChildren(
      button,
      el("label", { class: "with-log", for: "without-addresses" }, withoutAddresses, say("without e-mail and IP addresses")),
      canKeepLog ? el("label", { class: "with-log", for: "with-log" }, withLog, say("with the log")) : "",
      el("p", { class: "fine" }, say("Stores the answer, secrets taken out, for {days}. ", { days: words.count(days, "day") }) + (canKeepLog ? say("The log only where you say so.") : say("The log is not stored."))),
      said,
    );
  };
  const show = ({ id, token, expires }) => {
    keepKey(id, token);
    byId("result").dataset.report = id;
    const address = new URL(`/r/${id}`, location.href).href;
    const field = el("input", { id: "link", type: "text", readonly: true, value: address });
    const gone = () => {
      offer();
      button.focus();
    };
    row.replaceChildren(
      el("div", { class: "take-row" }, el("label", { class: "vh", for: "link" }, say("Link to this answer")), field, copyButton(address, say("the link")), deleteButton(id, token, gone)),
      el("p", { class: "fine" }, say("Who has the link can read the answer until {time}.", { time: words.clock(expires) })),
    );
    field.focus();
    field.select();
  };
  offer();
  return row;
}

/** Return a button that deletes a saved report for good. */
export function deleteButton(id, token, done) {
  const said = el("span", { class: "fine", role: "alert" });
  const remove = async () => {
    const response = await fetch(`/v1/reports/${id}`, { method: "DELETE", headers: { "X-Delete-Token": token } });
    if (!response.ok && response.status !== 404) {
      said.textContent = say("It could not be deleted; try again.");
      return;
    }
    forgetKey(id);
    delete byId("result").dataset.report;
    done();
  };
  return el("span", {}, el("button", { type: "button", on: { click: remove } }, say("Delete it")), said);
}
