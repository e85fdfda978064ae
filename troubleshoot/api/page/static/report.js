/* The page of a saved report: `/r/{id}`. Until this has run, the page shows the same report as plain text. */

import { byId, el, icon } from "./dom.js";
import { downloadRow } from "./download.js";
import { keyOf } from "./kept.js";
import { showResult } from "./result.js";
import { deleteButton } from "./share.js";

const { report: id, formats } = byId("result").dataset;
const address = `/v1/reports/${encodeURIComponent(id)}`;

async function saved(format) {
  const response = await fetch(`${address}?format=${encodeURIComponent(format)}`);
  if (!response.ok) throw new Error("The report is not there any more.");
  return response.text();
}

const json = await saved("json");
const token = keyOf(id);
const first = el("a", { class: "button with-word", href: "/" }, icon("again"), "Another log");
const logs = { get: async () => null, why: "The log was not stored." };
const take = downloadRow(formats.split(" "), json, saved, [
  el("p", { class: "fine" }, "Who has the link can read this answer."),
  token ? deleteButton(id, token, () => location.assign("/")) : null,
]);
byId("plain").remove();
showResult(JSON.parse(json), { logs, first, take });
