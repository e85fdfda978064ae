/* A report -> the lines to highlight, in the order of the log, each with the finding it belongs to. */

const FIRST = ["cause", "also", "good", "symptom", "suspect"]; // where two want one line, the earlier has it

/** The highlighted lines of all sources. `steps` are those that "next" and "previous" go through. */
export class Marks {
  constructor(report) {
    const order = new Map(report.sources.map((source, at) => [source.name, at]));
    const byLine = new Map();
    for (const mark of gather(report)) {
      const place = `${mark.line} ${mark.source}`;
      const other = byLine.get(place);
      if (!other || FIRST.indexOf(mark.kind) < FIRST.indexOf(other.kind)) byLine.set(place, mark);
    }
    this.all = [...byLine.values()].sort(
      (a, b) => (order.get(a.source) ?? 0) - (order.get(b.source) ?? 0) || a.line - b.line,
    );
    const isKnown = report.verdict !== "unknown-fault";
    this.steps = this.all.filter((mark) => !(isKnown && mark.kind === "suspect"));
    const [first] = report.findings[0]?.evidence ?? [];
    this.first = (first && isKnown && this.at(first.source, first.line)) || this.steps[0] || null;
  }

  /** Return the marks of one source by line; a mark over several lines stands at each. */
  of(source) {
    const lines = new Map();
    for (const mark of this.all) {
      if (mark.source !== source) continue;
      for (let line = mark.line; line <= mark.endLine; line += 1) {
        if (!lines.has(line)) lines.set(line, mark);
      }
    }
    return lines;
  }

  countOf(source) {
    return this.steps.filter((mark) => mark.source === source).length;
  }

  /** Return the mark of that place, or null. */
  at(source, line) {
    return this.all.find((mark) => mark.source === source && mark.line <= line && line <= mark.endLine) ?? null;
  }
}

function* gather(report) {
  const isKnown = report.verdict === "fault";
  for (const [at, finding] of report.findings.entries()) {
    const kind = at === 0 && isKnown ? "cause" : finding.role === "symptom" ? "symptom" : "also";
    yield* evidenceMarks(finding, kind);
  }
  for (const finding of report.confirmations) yield* evidenceMarks(finding, "good");
  for (const suspect of report.suspects) {
    const { source, line, text } = suspect;
    yield { source, line, endLine: line, text, match: "", kind: "suspect", title: suspect.reason };
  }
}

function* evidenceMarks(finding, kind) {
  for (const { source, line, end_line: endLine, text, start, end } of finding.evidence) {
    const match = [...text].slice(start, end).join(""); // the report counts characters, not UTF-16 units
    yield { source, line, endLine, text, match, kind, title: finding.title };
  }
}

/** Return where in a raw line the mark's match stands, `[start, end]`, or null. The wrapper was taken off the text. */
export function spanIn(raw, mark, line) {
  const part = mark.match.split("\n")[line - mark.line]; // of a match over lines each line shows its part
  if (!part?.trim()) return null;
  const base = Math.max(raw.indexOf(mark.text.split("\n")[line - mark.line] ?? ""), 0);
  const at = raw.indexOf(part, base);
  const start = at < 0 ? raw.indexOf(part) : at;
  return start < 0 ? null : [start, start + part.length];
}
