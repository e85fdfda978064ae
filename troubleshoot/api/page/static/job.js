/* A job of many ranks: who failed first and how we know, what became of the others, and what happened when. */

import { el } from "./dom.js";
import { placeLink } from "./evidence.js";
import { prose, visible } from "./printable.js";
import { say } from "./say.js";
import * as words from "./words.js";

const LEVELS = { low: "low", medium: "medium", high: "high" };
const KINDS = {
  start: say("start"),
  progress: say("last step"),
  "first-failure": say("first failure"),
  failure: say("failure"),
  echo: say("echo"),
  stop: say("stop"),
  exit: say("exit"),
  end: say("end"),
};

/** Return the job's part of the answer, or nothing for a report without one. */
export function jobSection({ job }, only) {
  if (!job || (!job.first_failure && job.timeline.length === 0)) return null;
  const first = job.first_failure;
  return el("section", { class: "job" },
    el("h2", {}, first ? whoFailed(first) : say("The job")),
    first ? el("p", {}, placeLink(first.source, first.line, first.line, only), ": ", prose(words.sentence(first.because)), say(" Confidence {level}.", { level: say(LEVELS[first.confidence]) })) : null,
    first?.runner_up ? el("p", { class: "because" }, prose(words.sentence(first.runner_up))) : null,
    job.partial ? el("p", { class: "because" }, say("Reading was cut short: this holds for a part of the logs.")) : null,
    fates(job),
    job.stragglers.length ? stragglers(job.stragglers, only) : null,
    job.timeline.length ? timeline(job.timeline, only) : null,
  );
}

function whoFailed({ rank, host }) {
  if (rank !== null && host) return say("Rank {rank} on {host} failed first", { rank, host: visible(host) });
  if (rank !== null) return say("Rank {rank} failed first", { rank });
  return host ? say("{host} failed first", { host: visible(host) }) : say("No single rank is known to have failed first");
}

function fates({ ranks, hosts }) {
  const rows = [
    [say("Ranks"), ranks.total === null ? (ranks.seen ? say("{number} seen", { number: words.amount(ranks.seen) }) : "") : words.amount(ranks.total)],
    [say("Failed"), ranks.failed],
    [say("Only echo it"), ranks.echoing],
    [say("Silent"), ranks.silent],
    [say("Hosts that failed"), hosts.failed.join(", ")],
  ].filter(([, value]) => value);
  return rows.length
    ? el("dl", { class: "fates" }, rows.map(([name, value]) => el("div", {}, el("dt", {}, name), el("dd", {}, visible(value)))))
    : null;
}

function stragglers(all, only) {
  const row = ({ rank, source, line, behind_steps: steps, behind_s: seconds }) =>
    el("li", {}, say("Rank {rank} is {steps} behind", { rank, steps: words.count(steps, "step") }), seconds ? say(" and {time}", { time: words.seconds(seconds) }) : "", say(" at "), placeLink(source, line, line, only));
  return el("div", {}, el("h3", { class: "part" }, say("Behind the others")), el("ul", {}, all.map(row)));
}

function timeline(entries, only) {
  return el("details", { class: "more" },
    el("summary", {}, say("Timeline: {events}", { events: words.count(entries.length, "event") })),
    el("ol", { class: "timeline" }, entries.map((entry) => event(entry, only))));
}

function event({ kind, time, ranks, host, source, line, text, count }, only) {
  const who = [ranks && words.ranks(ranks), host && visible(host), count > 1 && say("{number} times", { number: words.amount(count) })].filter(Boolean);
  return el("li", { class: `event is-${kind}` },
    el("span", { class: "event-time" }, time ? time.slice(11, 23) : say("no time")),
    el("div", {},
      el("p", {}, el("strong", {}, KINDS[kind] ?? kind), who.length ? ` · ${who.join(" · ")}` : ""),
      el("p", { class: "event-text" }, visible(text)),
      line > 0 ? placeLink(source, line, line, only) : null,
    ));
}
