/* A report -> the answer: the cause first, what else was found, what could not be told, and what was read. */

import { el, icon } from "./dom.js";
import { placeLink } from "./evidence.js";
import { body, facts, folded, ruleLink, standing } from "./finding.js";
import { command } from "./fix.js";
import { jobSection } from "./job.js";
import { prose, shown, visible } from "./printable.js";
import * as words from "./words.js";

/** Return the answer as an article; its first heading is where a reader should land. */
export function answerOf(report, downloads) {
  const only = report.sources.length === 1;
  return el("article", { class: "answer", "aria-labelledby": "answer-title" },
    headline(report, only),
    jobSection(report, only),
    others(report, only),
    section("Working as it should", "confirmed", report.confirmations, (each) => folded(each, only)),
    undecided(report),
    report.verdict === "unknown-fault" ? null : suspects(report, only, "Other lines worth reading"),
    downloads,
    notes(report),
    whatWasRead(report),
  );
}

function title(text) {
  return el("h1", { id: "answer-title", tabindex: "-1" }, visible(text));
}

function headline(report, only) {
  const [first] = report.findings;
  if (report.verdict === "fault" && first) {
    return el("section", { class: `headline ${first.severity}` },
      el("p", { class: "standing" }, standing(first)),
      title(first.title),
      facts(first, only),
      first.role === "symptom" ? el("p", { class: "because" }, "This is a symptom: its cause is not in what was read.") : null,
      body(first, 2, only),
    );
  }
  if (report.verdict === "unknown-fault") {
    return el("section", { class: "headline" },
      el("p", { class: "standing" }, el("span", { class: "level unknown" }, icon("unknown"), "not known")),
      title("No rule knows this fault"),
      el("p", { class: "why" }, `The log looks like a failure, and none of ${words.count(report.stats.rules, "rule")} says why. ` +
        (report.suspects.length ? "These lines look most like it:" : "It says nothing of its cause.")),
      suspects(report, only),
      el("p", { class: "fix-label" }, "Once you know what it was, write it down, so that nobody meets it again:"),
      command("troubleshoot rules new DOMAIN/FAULT < line.txt", "the command"),
    );
  }
  return el("section", { class: "headline" },
    el("p", { class: "standing" }, el("span", { class: "level good" }, icon("good"), first ? "no failure" : "nothing found")),
    title(first ? "No failure in this log" : "Nothing found in this log"),
    el("p", { class: "why" }, first
      ? "Nothing here stopped a job. What follows is worth knowing all the same."
      : `None of ${words.count(report.stats.rules, "rule")} applies, and no line looks like a failure. If the job did fail, its reason stands elsewhere: in another rank’s log, the scheduler’s, or the kernel’s.`),
  );
}

function section(text, name, items, render, { intro = null } = {}) {
  if (items.length === 0) return null;
  return el("section", { class: name }, el("h2", {}, text), intro, items.map(render));
}

function others(report, only) {
  const rest = report.verdict === "fault" ? report.findings.slice(1) : report.findings;
  const symptoms = rest.filter((finding) => finding.role === "symptom");
  const also = rest.filter((finding) => finding.role !== "symptom");
  const heading = { fault: "Also found", clean: "Worth knowing" }[report.verdict] ?? "What the log says in general";
  return [
    section(heading, "also", also, (each) => folded(each, only)),
    symptoms.length === 0 ? null : el("section", { class: "symptoms" },
      el("details", { class: "fold", open: report.verdict !== "fault" },
        el("summary", {}, el("h2", {}, report.verdict === "fault" ? "Follow-on symptoms" : "Symptoms"), el("span", { class: "count" }, String(symptoms.length))),
        el("p", { class: "fine" }, report.verdict === "fault" ? "These are echoes of the cause above: nothing to do about them." : "These say that the job failed, not why."),
        symptoms.map((each) => folded(each, only)),
      ),
    ),
  ];
}

function undecided(report) {
  const row = ({ rule, title: text, why, next }) =>
    el("div", { class: "undecided-row" },
      el("p", { class: "undecided-title" }, prose(text)),
      el("p", { class: "where" }, ruleLink(rule)),
      el("p", {}, "Cannot tell: ", prose(words.sentence(why))),
      next ? el("p", { class: "next" }, el("strong", {}, "To know: "), prose(words.sentence(next))) : null,
    );
  return section("Cannot be told from this log", "undecided", report.undecided, row);
}

function suspects(report, only, heading = null) {
  if (report.suspects.length === 0) return null;
  const list = el("ol", { class: "quotes" }, report.suspects.map((each) => suspect(each, only)));
  if (heading === null) return list;
  return el("section", { class: "suspects" },
    el("details", { class: "fold" },
      el("summary", {}, el("h2", {}, heading), el("span", { class: "count" }, String(report.suspects.length))),
      list));
}

function suspect({ source, line, text, count, reason, rank }, only) {
  const about = [reason, rank === null ? "" : `rank ${rank}`, count > 1 ? `${words.amount(count)} times` : ""].filter(Boolean);
  return el("li", { class: "quote" },
    el("p", { class: "quote-place" }, placeLink(source, line, line, only), ` ${visible(about.join(", "))}`),
    el("pre", { class: "quote-text", tabindex: "0" }, el("code", {}, shown(text))));
}

function notes(report) {
  return section("Notes on the reading", "notes", report.notes.length ? [report.notes] : [], (all) =>
    el("ul", {}, all.map(({ source, text }) => el("li", {}, source ? el("span", { class: "fine" }, `${visible(source)}: `) : null, visible(text)))));
}

function whatWasRead(report) {
  const { stats, sources } = report;
  const wrappers = [...new Set(sources.map((source) => source.wrapper).filter(Boolean))].sort();
  const rows = sources.map((source) => el("tr", {},
    el("th", { scope: "row" }, visible(source.name)),
    el("td", { class: "number" }, words.amount(source.lines)),
    el("td", { class: "number" }, words.size(source.bytes)),
    el("td", {}, [source.encoding, source.wrapper, source.host && `host ${source.host}`, source.rank !== null && `rank ${source.rank}`].filter(Boolean).map(visible).join(", ")),
  ));
  return el("section", { class: "read" },
    el("details", { class: "fold" },
      el("summary", {}, el("h2", {}, "What was read"),
        el("span", { class: "fine" }, `${words.count(sources.length, "log")}, ${words.count(stats.lines, "line")}, ${words.size(stats.bytes)}, ${words.count(stats.rules, "rule")}, ${words.seconds(stats.seconds)}`)),
      el("div", { class: "table", tabindex: "0", role: "group", "aria-label": "Logs that were read" },
        el("table", {},
          el("thead", {}, el("tr", {}, ["Log", "Lines", "Size", "Read as"].map((text) => el("th", { scope: "col" }, text)))),
          el("tbody", {}, rows))),
      wrappers.length ? el("p", { class: "fine" }, `Taken off the lines: ${wrappers.join(", ")}.`) : null,
      report.platform ? el("p", { class: "fine" }, `Platform: ${words.platform(report.platform)}.`) : null,
      el("p", { class: "fine" }, `Rule pack ${report.pack.name} ${report.pack.version}, ${report.pack.hash}.`),
    ));
}
