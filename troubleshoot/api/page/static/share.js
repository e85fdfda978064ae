/* A link to the answer: made only when asked for, gone after some days or when its maker deletes it. */

import { copyButton } from "./copy.js";
import { byId, el, icon } from "./dom.js";
import { forgetKey, keepKey } from "./kept.js";
import * as words from "./words.js";

/**
 * Return the row that makes a link. `days` is how long it lasts; `save(keepLog)` stores the report, and the log where
 * the reader wants it, and resolves to `{ id, token, expires }`.
 */
export function shareRow(days, save, { canKeepLog = false } = {}) {
  const row = el("div", { class: "share" });
  const say = el("span", { class: "fine", role: "alert" });
  const make = async () => {
    button.disabled = true;
    say.textContent = "";
    try {
      show(await save(withLog.checked));
    } catch (error) {
      say.textContent = error.message;
      button.disabled = false;
    }
  };
  const button = el("button", { type: "button", on: { click: make } }, icon("link"), "Make a link");
  const withLog = el("input", { type: "checkbox", id: "with-log" });
  const offer = () => {
    button.disabled = false;
    row.replaceChildren(
      button,
      canKeepLog ? el("label", { class: "with-log", for: "with-log" }, withLog, "with the log") : "",
      el("p", { class: "fine" }, `Stores the answer, secrets taken out, for ${words.count(days, "day")}. ${canKeepLog ? "The log only where you say so." : "The log is not stored."}`),
      say,
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
      el("div", { class: "take-row" }, el("label", { class: "vh", for: "link" }, "Link to this answer"), field, copyButton(address, "the link"), deleteButton(id, token, gone)),
      el("p", { class: "fine" }, `Who has the link can read the answer until ${words.clock(expires)}.`),
    );
    field.focus();
    field.select();
  };
  offer();
  return row;
}

/** Return a button that deletes a saved report for good. */
export function deleteButton(id, token, done) {
  const say = el("span", { class: "fine", role: "alert" });
  const remove = async () => {
    const response = await fetch(`/v1/reports/${id}`, { method: "DELETE", headers: { "X-Delete-Token": token } });
    if (!response.ok && response.status !== 404) {
      say.textContent = "It could not be deleted; try again.";
      return;
    }
    forgetKey(id);
    delete byId("result").dataset.report;
    done();
  };
  return el("span", {}, el("button", { type: "button", on: { click: remove } }, "Delete it"), say);
}
