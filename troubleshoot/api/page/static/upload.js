/* Logs -> the API -> a report, with progress on the way. XMLHttpRequest, because fetch tells nothing of an upload. */

import { language, say } from "./say.js";

/** What went wrong, in words for the reader. */
export class UploadError extends Error {
  constructor(message, help = "") {
    super(message);
    this.help = help;
  }
}

/**
 * Send logs to be scanned; resolve to `{ text, header }`: the answer, and a function that gives one of its headers.
 * `logs` are `{ name, blob }` with names that differ; `onProgress(sent, total)` hears of bytes as they leave.
 */
export function scan(logs, { platform = "", format = "json", save = false, keepLog = false, anonymize = false, signal, onProgress = () => {} } = {}) {
  const form = new FormData();
  for (const { name, blob } of logs) form.append("file", blob, name);
  if (platform) form.append("platform", platform);
  return new Promise((resolve, reject) => {
    const request = new XMLHttpRequest();
    request.open("POST", `/v1/scan?format=${encodeURIComponent(format)}&lang=${encodeURIComponent(language)}${save ? "&save=true" : ""}${keepLog ? "&keep_log=true" : ""}${anonymize ? "&anonymize=true" : ""}`);
    request.upload.addEventListener("progress", (event) => onProgress(event.loaded, event.total));
    request.upload.addEventListener("load", () => onProgress(1, 1));
    request.addEventListener("load", () => {
      if (request.status === 200) resolve({ text: request.responseText, header: (name) => request.getResponseHeader(name) });
      else reject(problemOf(request));
    });
    request.addEventListener("error", () => reject(new UploadError(say("The service cannot be reached."))));
    request.addEventListener("abort", () => reject(new UploadError(say("Cancelled."))));
    signal?.addEventListener("abort", () => request.abort());
    request.send(form);
  });
}

/** Have the service open a log; resolve to its lines around one: `{ text, first_line, more_before, more_after }`. */
export async function readLog({ name, blob }, source, line) {
  const form = new FormData();
  form.append("file", blob, name);
  const response = await fetch(`/v1/log?source=${encodeURIComponent(source)}&around=${line}`, { method: "POST", body: form });
  const answer = await response.json();
  if (!response.ok) throw new UploadError(answer.detail ?? say("it answered {status}", { status: response.status }));
  return answer;
}

function problemOf(request) {
  let problem = {};
  try {
    problem = JSON.parse(request.responseText);
  } catch {
    /* a proxy between may answer in its own words, which are not for the reader */
  }
  const wait = request.getResponseHeader("Retry-After");
  const help = problem.help ?? (wait && [429, 503].includes(request.status) ? say("try again in {wait} s", { wait }) : "");
  const text = problem.detail ?? say("the service answered {status}", { status: request.status });
  return new UploadError(text, help);
}
