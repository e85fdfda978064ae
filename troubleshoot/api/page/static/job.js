/* A job of many ranks: who failed first and how we know, what became of the others, and what happened when. */

import { el } from "./dom.js";
import { placeLink } from "./evidence.js";
import { prose, visible } from "./printable.js";
import * as words from "./words.js";

const KINDS = { progress: "last step", "first-failure": "first failure" };

/** Return the job's part of the answer, or nothing for a report without one. */
export function jobSection({ job }, only) {
  if (!job || (!job.first_failure && job.timeline.length === 0)) return null;
  const first = job.first_failure;
  return el("section", { class: "job" },
    el("h2", {}, first ? whoFailed(first) : "The job"),
    first ? el("p", {}, placeLink(first.source, first.line, first.line, only), ": ", prose(words.sentence(first.because)), ` Confidence ${first.confidence}.`) : null,
    first?.runner_up ? el("p", { class: "because" }, prose(words.sentence(first.runner_up))) : null,
    job.partial ? el("p", { class: "because" }, "Reading was cut short: this holds for a part of the logs.") : null,
    fates(job),
    job.stragglers.length ? stragglers(job.stragglers, only) : null,
    job.timeline.length ? timeline(job.timeline, only) : null,
  );
}

function whoFailed({ rank, host }) {
  const where = host ? ` on ${visible(host)}` : "";
  if (rank !== null) return `Rank ${rank}${where} failed first`;
  return host ? `${visible(host)} failed first` : "No single rank is known to have failed first";
}

function fates({ ranks, hosts }) {
  const rows = [
    ["Ranks", ranks.total === null ? (ranks.seen ? `${words.amount(ranks.seen)} seen` : "") : words.amount(ranks.total)],
    ["Failed", ranks.failed],
    ["Only echo it", ranks.echoing],
    ["Silent", ranks.silent],
    ["Hosts that failed", hosts.failed.join(", ")],
  ].filter(([, value]) => value);
  return rows.length
    ? el("dl", { class: "fates" }, rows.map(([name, value]) => el("div", {}, el("dt", {}, name), el("dd", {}, visible(value)))))
    : null;
}

function stragglers(all, only) {
  const row = ({ rank, source, line, behind_steps: steps, behind_s: seconds }) =>
    el("li", {}, `Rank ${rank} is ${words.count(steps, "step")} behind`, seconds ? ` and ${words.seconds(seconds)}` : "", " at ", placeLink(source, line, line, only));
  return el("div", {}, el("h3", { class: "part" }, "Behind the others"), el("ul", {}, all.map(row)));
}

function timeline(entries, only) {
  return el("details", { class: "more" },
    el("summary", {}, `Timeline: ${words.count(entries.length, "event")}`),
    el("ol", { class: "timeline" }, entries.map((entry) => event(entry, only))));
}

function event({ kind, time, ranks, host, source, line, text, count }, only) {
  const who = [ranks && words.ranks(ranks), host && visible(host), count > 1 && `${words.amount(count)} times`].filter(Boolean);
  return el("li", { class: `event is-${kind}` },
    el("span", { class: "event-time" }, time ? time.slice(11, 23) : "no time"),
    el("div", {},
      el("p", {}, el("strong", {}, KINDS[kind] ?? kind), who.length ? ` · ${who.join(" · ")}` : ""),
      el("p", { class: "event-text" }, visible(text)),
      line > 0 ? placeLink(source, line, line, only) : null,
    ));
}
