/* The page: takes logs, sends them to be scanned, shows the answer with the log beside it.

     start  ->  busy  ->  result  ->  start ...

   One of the three sections shows at a time. The logs stay in the browser; what the service reads it forgets. */

import { Attachments, freeName } from "./attachments.js";
import { carry, takeCarried } from "./carry.js";
import { announce } from "./copy.js";
import { byId, el, icon } from "./dom.js";
import { downloadRow } from "./download.js";
import { Logs } from "./log/open.js";
import { clearResult, showResult } from "./result.js";
import { say } from "./say.js";
import { shareRow } from "./share.js";
import { UploadError, readLog, scan } from "./upload.js";
import * as words from "./words.js";

const form = byId("form");
const text = byId("text");
const problem = byId("problem");
const maxBytes = Number(form.dataset.maxBytes);
const formats = form.dataset.formats.split(" ");
const attachments = new Attachments(byId("files"), showProblemOfSize);
let running = null; // the scan that can be cancelled

// --- start ---

function given() {
  const logs = [...attachments.logs];
  if (text.value.trim()) logs.unshift({ name: freeName("paste", logs), blob: new Blob([text.value]) });
  return logs;
}

function showProblem(message, help = "") {
  problem.textContent = [message, help].filter(Boolean).map(words.sentence).join(" ");
  problem.hidden = !message;
}

function showProblemOfSize() {
  const size = attachments.bytes + text.value.length;
  const isTooLarge = size > maxBytes;
  showProblem(isTooLarge
    ? say("That is {size}; at most {most} can be sent. Take the part around the failure, or run the command line on the files.", { size: words.size(size), most: words.limit(maxBytes) })
    : "");
  return isTooLarge;
}

function showOnly(name) {
  for (const id of ["start", "busy", "result"]) byId(id).hidden = id !== name;
  document.documentElement.dataset.state = name;
}

async function submit() {
  const logs = given();
  if (logs.length === 0) {
    showProblem(say("There is no log to read. Paste one, or choose a file."));
    text.focus();
    return;
  }
  if (showProblemOfSize()) return;
  const platform = byId("platform").value;
  running = new AbortController();
  showOnly("busy");
  byId("cancel").focus();
  try {
    const answer = await scan(logs, { platform, signal: running.signal, onProgress: progress(logs) });
    showAnswer(answer.text, logs, platform);
  } catch (error) {
    if (!(error instanceof UploadError)) throw error;
    showOnly("start");
    text.focus();
    showProblem(error.message, error.help);
  }
}

// --- busy ---

function progress(logs) {
  const bar = byId("progress");
  const total = logs.reduce((sum, { blob }) => sum + blob.size, 0);
  const phase = (name) => {
    if (byId("phase").textContent === name) return;
    byId("phase").textContent = name;
    announce(name);
  };
  bar.value = 0;
  byId("amount").textContent = words.size(total);
  phase(say("Sending the log"));
  return (sent, all) => {
    if (sent < all) {
      bar.value = sent / all;
      byId("amount").textContent = say("{part} of {whole}", { part: words.size(sent), whole: words.size(all) });
    } else {
      bar.removeAttribute("value"); // how long a scan takes nobody knows beforehand
      byId("amount").textContent = words.size(total);
      phase(say("Scanning with {rules}", { rules: words.count(Number(form.dataset.rules), "rule") }));
    }
  };
}

// --- result ---

function showAnswer(json, logs, platform) {
  const { canRate, keepDays, keepLogs } = byId("result").dataset;
  const render = async (format) => (await scan(logs, { platform, format })).text;
  const save = async (choices) => {
    const { header } = await scan(logs, { platform, save: true, ...choices });
    return { id: header("Location").split("/").pop(), token: header("X-Delete-Token"), expires: header("X-Report-Expires") };
  };
  const rest = canRate
    ? shareRow(Number(keepDays), save, { canKeepLog: keepLogs === "yes" })
    : el("p", { class: "fine" }, say("Nothing is stored: when this page is closed, the answer is gone."));
  const first = el("button", { type: "button", class: "with-word", on: { click: startAgain } }, icon("again"), say("Another log"));
  showOnly("result");
  showResult(JSON.parse(json), { logs: new Logs(logs, readLog), first, take: downloadRow(formats, json, render, rest) });
}

function startAgain() {
  clearResult();
  document.title = say("troubleshoot: why did the training job fail?");
  text.value = "";
  attachments.clear();
  showOnly("start");
  text.focus();
}

// --- what the reader does ---

form.addEventListener("submit", (event) => {
  event.preventDefault();
  submit();
});
document.addEventListener("keydown", (event) => {
  if (event.key === "Enter" && (event.ctrlKey || event.metaKey) && !byId("start").hidden) {
    event.preventDefault();
    submit();
  }
});
text.addEventListener("paste", (event) => {
  if (attachments.takePaste(event)) byId("submit").focus();
});
text.addEventListener("input", showProblemOfSize);
byId("file").addEventListener("change", (event) => {
  for (const file of event.target.files) attachments.add(file, file.name);
  event.target.value = "";
  byId("submit").focus();
});
byId("cancel").addEventListener("click", () => running?.abort());
byId("sample").addEventListener("click", async (event) => {
  event.preventDefault();
  text.value = await (await fetch("/static/sample.log")).text();
  submit();
});

let inside = 0; // drag events of every element bubble: count them to know when one has left the page
let isOurs = false; // a selection of this page's own text, dragged about, is no log
document.addEventListener("dragstart", () => (isOurs = true));
document.addEventListener("dragend", () => (isOurs = false));
const isDraggable = (event) => !isOurs && ["Files", "text/plain"].some((type) => event.dataTransfer?.types.includes(type)) && byId("busy").hidden;
document.addEventListener("dragenter", (event) => {
  if (!isDraggable(event)) return;
  inside += 1;
  byId("drop").hidden = false;
});
document.addEventListener("dragover", (event) => isDraggable(event) && event.preventDefault());
document.addEventListener("dragleave", () => {
  inside = Math.max(inside - 1, 0);
  if (inside === 0) byId("drop").hidden = true;
});
document.addEventListener("drop", async (event) => {
  inside = 0;
  byId("drop").hidden = true;
  if (!isDraggable(event) || (event.target === text && !event.dataTransfer.files.length)) return;
  event.preventDefault();
  const transfer = event.dataTransfer;
  if (!byId("result").hidden) startAgain();
  await attachments.takeDrop(transfer);
  byId("submit").focus();
});

byId("language").addEventListener("click", async (event) => {
  const logs = given();
  if (logs.length === 0 || event.ctrlKey || event.metaKey || event.shiftKey) return;
  event.preventDefault();
  const link = event.currentTarget;
  const isAnswered = !byId("result").hidden;
  const fits = await carry(logs, { platform: byId("platform").value, isPasted: Boolean(text.value.trim()), isAnswered });
  if (fits) location.assign(link.href);
  else window.open(link.href, "_blank", "noopener"); // the answer stays here
});

async function bringAlong({ logs, platform, isPasted, isAnswered }) {
  byId("platform").value = platform;
  if (isPasted) text.value = await logs.shift().blob.text();
  for (const { name, blob } of logs) attachments.add(blob, name);
  if (isAnswered) submit();
}

text.placeholder = say("Paste a log here, or drop files anywhere on this page");
showOnly("start");
const carried = takeCarried();
if (carried) bringAlong(carried);
