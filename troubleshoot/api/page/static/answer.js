/* A report -> the answer: the cause first, what else was found, what could not be told, and what was read. */

import { el, icon } from "./dom.js";
import { placeLink } from "./evidence.js";
import { body, facts, folded, ruleLink, standing } from "./finding.js";
import { command } from "./fix.js";
import { jobSection } from "./job.js";
import { prose, shown, visible } from "./printable.js";
import { say } from "./say.js";
import * as words from "./words.js";

/** Return the answer as an article; its first heading is where a reader should land. */
export function answerOf(report, downloads) {
  const only = report.sources.length === 1;
  return el("article", { class: "answer", "aria-labelledby": "answer-title" },
    headline(report, only),
    jobSection(report, only),
    others(report, only),
    section(say("Working as it should"), "confirmed", report.confirmations, (each) => folded(each, only)),
    undecided(report),
    report.verdict === "unknown-fault" ? null : suspects(report, only, say("Other lines worth reading")),
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
      first.role === "symptom" ? el("p", { class: "because" }, say("This is a symptom: its cause is not in what was read.")) : null,
      body(first, 2, only),
    );
  }
  if (report.verdict === "unknown-fault") {
    return el("section", { class: "headline" },
      el("p", { class: "standing" }, el("span", { class: "level unknown" }, icon("unknown"), say("not known"))),
      title(say("No rule knows this fault")),
      el("p", { class: "why" }, say("The log looks like a failure, and none of {rules} says why. ", { rules: words.count(report.stats.rules, "rule") }) +
        (report.suspects.length ? say("These lines look most like it:") : say("It says nothing of its cause."))),
      suspects(report, only),
      el("p", { class: "fix-label" }, say("Once you know what it was, write it down, so that nobody meets it again:")),
      command("troubleshoot rules new DOMAIN/FAULT < line.txt", say("the command")),
    );
  }
  return el("section", { class: "headline" },
    el("p", { class: "standing" }, el("span", { class: "level good" }, icon("good"), first ? say("no failure") : say("nothing found"))),
    title(first ? say("No failure in this log") : say("Nothing found in this log")),
    el("p", { class: "why" }, first
      ? say("Nothing here stopped a job. What follows is worth knowing all the same.")
      : say("None of {rules} applies, and no line looks like a failure. If the job did fail, its reason stands elsewhere: in another rank’s log, the scheduler’s, or the kernel’s.", { rules: words.count(report.stats.rules, "rule") })),
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
  const heading = { fault: say("Also found"), clean: say("Worth knowing") }[report.verdict] ?? say("What the log says in general");
  return [
    section(heading, "also", also, (each) => folded(each, only)),
    symptoms.length === 0 ? null : el("section", { class: "symptoms" },
      el("details", { class: "fold", open: report.verdict !== "fault" },
        el("summary", {}, el("h2", {}, report.verdict === "fault" ? say("Follow-on symptoms") : say("Symptoms")), el("span", { class: "count" }, String(symptoms.length))),
        el("p", { class: "fine" }, report.verdict === "fault" ? say("These are echoes of the cause above: nothing to do about them.") : say("These say that the job failed, not why.")),
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
      el("p", {}, say("Cannot tell: "), prose(words.sentence(why))),
      next ? el("p", { class: "next" }, el("strong", {}, say("To know: ")), prose(words.sentence(next))) : null,
    );
  return section(say("Cannot be told from this log"), "undecided", report.undecided, row);
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
  const about = [reason, rank === null ? "" : words.ranks(String(rank)), count > 1 ? say("{number} times", { number: words.amount(count) }) : ""].filter(Boolean);
  return el("li", { class: "quote" },
    el("p", { class: "quote-place" }, placeLink(source, line, line, only), ` ${visible(about.join(", "))}`),
    el("pre", { class: "quote-text", tabindex: "0" }, el("code", {}, shown(text))));
}

function notes(report) {
  return section(say("Notes on the reading"), "notes", report.notes.length ? [report.notes] : [], (all) =>
    el("ul", {}, all.map(({ source, text }) => el("li", {}, source ? el("span", { class: "fine" }, `${visible(source)}: `) : null, visible(text)))));
}

function whatWasRead(report) {
  const { stats, sources } = report;
  const wrappers = [...new Set(sources.map((source) => source.wrapper).filter(Boolean))].sort();
  const rows = sources.map((source) => el("tr", {},
    el("th", { scope: "row" }, visible(source.name)),
    el("td", { class: "number" }, words.amount(source.lines)),
    el("td", { class: "number" }, words.size(source.bytes)),
    el("td", {}, [source.encoding, source.wrapper, source.host && say("host {names}", { names: source.host }), source.rank !== null && words.ranks(String(source.rank))].filter(Boolean).map(visible).join(", ")),
  ));
  return el("section", { class: "read" },
    el("details", { class: "fold" },
      el("summary", {}, el("h2", {}, say("What was read")),
        el("span", { class: "fine" }, `${words.count(sources.length, "log")}, ${words.count(stats.lines, "line")}, ${words.size(stats.bytes)}, ${words.count(stats.rules, "rule")}, ${words.seconds(stats.seconds)}`)),
      el("div", { class: "table", tabindex: "0", role: "group", "aria-label": say("Logs that were read") },
        el("table", {},
          el("thead", {}, el("tr", {}, [say("Log"), say("Lines"), say("Size"), say("Read as")].map((text) => el("th", { scope: "col" }, text)))),
          el("tbody", {}, rows))),
      wrappers.length ? el("p", { class: "fine" }, say("Taken off the lines: {wrappers}.", { wrappers: wrappers.join(", ") })) : null,
      report.platform ? el("p", { class: "fine" }, say("Platform: {platform}.", { platform: words.platform(report.platform) })) : null,
      el("p", { class: "fine" }, say("Rule pack {name} {version}, {hash}.", report.pack)),
    ));
}
