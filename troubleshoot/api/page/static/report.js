/* The page of a saved report: `/r/{id}`. Until this has run, the page shows the same report as plain text. */

import { byId, el, icon } from "./dom.js";
import { downloadRow } from "./download.js";
import { keyOf } from "./kept.js";
import { MOST_BYTES } from "./log/open.js";
import { readLines } from "./log/text.js";
import { showResult } from "./result.js";
import { language, say } from "./say.js";
import { deleteButton } from "./share.js";
import * as words from "./words.js";

const { report: id, formats, logs: kept, expires } = byId("result").dataset;
const address = `/v1/reports/${encodeURIComponent(id)}`;

async function saved(format) {
  const response = await fetch(`${address}?format=${encodeURIComponent(format)}&lang=${encodeURIComponent(language)}`);
  if (!response.ok) throw new Error(say("The report is not there any more."));
  return response.text();
}

const json = await saved("json");
const token = keyOf(id);
const first = el("a", { class: "button with-word", href: "/" }, icon("again"), say("Another log"));
const names = new Set(JSON.parse(kept));
const opened = new Map();
const logs = {
  why: say("The log was not stored."),
  get: async (name) => {
    if (!names.has(name)) return null;
    if (!opened.has(name)) opened.set(name, storedLog(name).catch(() => null));
    return opened.get(name);
  },
};

async function storedLog(name) {
  const response = await fetch(`${address}/log?source=${encodeURIComponent(name)}`);
  if (!response.ok) return null;
  const log = await readLines(name, response.body, MOST_BYTES);
  return Object.assign(log, { note: say("The log was stored with the answer, secrets taken out.") });
}
const take = downloadRow(formats.split(" "), json, saved, [
  el("p", { class: "fine" }, say("Who has the link can read the answer until {time}.", { time: words.clock(expires) })),
  token ? deleteButton(id, token, () => location.assign("/")) : null,
]);
byId("plain").remove();
showResult(JSON.parse(json), { logs, first, take });
