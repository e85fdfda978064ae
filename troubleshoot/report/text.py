"""Report -> text for a terminal: the likeliest cause first, then what else, then what was read.

    The image's glibc is older than the mounted EFA stack needs (GLIBC_2.34)
    severity high · confidence high · efa/glibc-too-old

    Where     launcher.log:12 · ranks 0-7,12 · 9 times
    Why       The platform mounts ...

    Evidence
      launcher.log:12  mpirun: /lib/...: version `GLIBC_2.34' not found (required by ...
    Fix
      1. Rebuild the image on a newer base

Each function returns lines; an empty list is a section that has nothing to say. Whatever comes from a log passes
`visible`, `one_line` or `cut_around` before it is painted.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from troubleshoot.language import say, speaking
from troubleshoot.model import (
    Evidence,
    Finding,
    Fix,
    Job,
    Moment,
    Report,
    Role,
    SourceInfo,
    Suspect,
    Undecided,
    Verdict,
)
from troubleshoot.report import job_words, words
from troubleshoot.report.excerpt import excerpts, in_context, show_excerpts
from troubleshoot.report.look import PLAIN, SEVERITY_STYLE, Look
from troubleshoot.report.printable import cells, cut_around, cut_end, one_line, pad, visible, wrap

LABEL = 10  # columns of "Where", "Why"
WHY_LINES = 4  # whole sentences of the explanation that fit here; `rules show` has the rest
EVIDENCE_LINES = 6
OTHERS = 10
NOTES = 10

Lines = list[str]


def render_text(report: Report, look: Look = PLAIN, *, explain_sources: bool = False) -> str:
    """Return the report as text that ends in a newline. Nothing in it can steer a terminal but `look`'s colour."""
    with speaking(report.language):
        sections = [
            _summary(report, look),
            *_answer(report, look),
            *_job(report.job, look),
            _sources(report.sources, look) if explain_sources else [],
            _read(report, look),
        ]
    return "\n\n".join("\n".join(section) for section in sections if section) + "\n"


def render_notice(finding: Finding, look: Look = PLAIN) -> str:
    """Return one finding in two lines or three: told while a log is still followed, before the report."""
    _heading, *lines = _others("", (finding,), look)
    return "\n".join(lines) + "\n"


def _answer(report: Report, look: Look) -> list[Lines]:
    if report.verdict is Verdict.FAULT and report.findings:
        first, *others = report.findings
        symptoms = [each for each in others if each.role is Role.SYMPTOM]
        also = [each for each in others if each.role is not Role.SYMPTOM]
        return [
            *_headline(first, look),
            _others(say("Also found"), also, look),
            _symptoms(symptoms, look),
            _titled(say("Lines worth reading"), _suspects(words.suspects_to_show(report), look), look),
            *_asides(report, look),
        ]
    if report.verdict is Verdict.UNKNOWN_FAULT:
        return [
            [look.paint(say("No known fault."), "bold") + (say(" Lines worth reading:") if report.suspects else "")],
            _suspects(report.suspects, look),
            _others(say("What the log says in general"), report.findings, look),
            *_asides(report, look),
            _teach(report, look),
        ]
    if report.findings:
        first, *others = report.findings
        return [
            _hang("", say("No fault found. Worth knowing:"), look, "bold"),
            *_headline(first, look),
            _others(say("Also worth knowing"), others, look),
            *_asides(report, look),
        ]
    return [_hang("", _nothing(report), look, "bold"), *_asides(report, look)]


def _summary(report: Report, look: Look) -> Lines:
    if report.job is None:
        return []
    partial = [say("Reading was interrupted: this holds for a part of the logs only.")] if report.job.partial else []
    lines = [line for label, text in job_words.summary(report) for line in _told(label, text, look)]
    return [*(look.paint(line, "bold", "yellow") for line in partial), *lines]


def _told(label: str, text: str, look: Look) -> Lines:
    return _labelled(label, [one_line(text)], look)


def _job(job: Job | None, look: Look) -> list[Lines]:
    if job is None:
        return []
    reach = [(say("Ranks"), job_words.ranks_line(job)), (say("Hosts"), job_words.hosts_line(job))]
    if job.first_failure is not None and job.first_failure.runner_up:
        reach.append((say("Or"), job.first_failure.runner_up))
    return [
        _timeline(job, look),
        [line for label, text in reach if text for line in _told(label, text, look)],
        _listed(say("Behind the others"), [job_words.straggler_line(each) for each in job.stragglers[:OTHERS]], look),
    ]


def _timeline(job: Job, look: Look) -> Lines:
    if not any(each.time is not None for each in job.timeline) and len(job.timeline) < 2:
        return []
    zero, dates = job_words.zero_of(job), job_words.dates_of(job.timeline)
    stated = f" ({dates}, UTC)" if dates else say(" (no times in the logs)")
    lines = [_heading(say("Timeline"), look) + stated]
    for each in job.timeline:
        mark = f"  {job_words.clock(each.time):<12} {job_words.since(each.time, zero):>8}  "
        kind = f"{job_words.kind_word(each.kind)}: "
        who = one_line(job_words.who_of(each))
        text = cut_end(one_line(each.text), look.width, look.ellipsis)
        told = _hang(mark, f"{kind}{who + ': ' if who else ''}{text}", look)
        style = ("bold", "red") if each.kind is Moment.FIRST_FAILURE else ()
        lines += [look.paint(line, *style) for line in told]
    return lines


def _nothing(report: Report) -> str:
    if report.stats.bytes == 0:
        return say("Nothing found: the input is empty.")
    return say("Nothing found: no known fault, and no line that looks like one.")


def _asides(report: Report, look: Look) -> list[Lines]:
    return [_confirmations(report.confirmations, look), _undecided(report.undecided, look)]


# --- the likeliest cause ---------------------------------------------------------------------------------------------


def _headline(finding: Finding, look: Look) -> list[Lines]:
    title = _hang("", one_line(finding.title), look, *SEVERITY_STYLE[finding.severity])
    grade = look.dot.join(
        (
            say("severity {word}", word=say(finding.severity.word)),
            say("confidence {word}", word=say(finding.confidence.word)),
            one_line(finding.rule),
        )
    )
    symptom = say("a symptom: its cause is not in what was read") if finding.role is Role.SYMPTOM else ""
    return [
        [*title, *_hang("", grade, look), *_hang("", symptom, look)],
        [
            *_labelled(say("Where"), [look.dot.join(map(one_line, words.whereabouts(finding)))], look),
            *_why(finding, look),
        ],
        _evidence(finding.evidence, look),
        _fixes(finding, look),
        _listed(say("See also"), finding.references, look),
    ]


def _why(finding: Finding, look: Look) -> Lines:
    room = (look.width - LABEL) * len(finding.explanation) // (cells(finding.explanation) or 1)  # in characters
    text, is_cut = words.first_sentences(finding.explanation, WHY_LINES * room)
    lines = [text, *(f"({one_line(sentence)})" for sentence in finding.because)]
    if is_cut:
        lines.append(say("(more: {command})", command=f"troubleshoot rules show {one_line(finding.rule)}"))
    return _labelled(say("Why"), lines, look)


def _evidence(evidence: Sequence[Evidence], look: Look) -> Lines:
    if any(each.before or each.after for each in evidence):
        return _titled(say("Evidence"), _evidence_in_context(evidence, look), look)
    found = [excerpt for each in evidence for excerpt in excerpts(each)]
    lines = show_excerpts(found[:EVIDENCE_LINES], look)
    if len(found) > EVIDENCE_LINES:
        lines.append(_more(len(found) - EVIDENCE_LINES))
    return _titled(say("Evidence"), lines, look)


def _evidence_in_context(evidence: Sequence[Evidence], look: Look) -> Lines:
    lines: Lines = []
    for group in in_context(evidence[:EVIDENCE_LINES]):
        lines += [*(["  --"] if lines else []), *show_excerpts(group, look)]
    if len(evidence) > EVIDENCE_LINES:
        lines.append(_more(len(evidence) - EVIDENCE_LINES))
    return lines


def _fixes(finding: Finding, look: Look) -> Lines:
    if not finding.fixes:
        return []
    advice = words.advice(finding)
    lines = [_heading(say("Fix"), look) + (f" ({advice})" if advice else "")]
    for number, fix in enumerate(finding.fixes, 1):
        lines += _fix(number, fix, look)
    return lines


def _fix(number: int, fix: Fix, look: Look) -> Lines:
    mark = f"  {number}. "
    indent = " " * len(mark)
    lines = _hang(mark, one_line(fix.title) + (say(" (safe to try)") if fix.safe else ""), look, "bold")
    lines += _hang(indent, fix.do, look)
    for command in fix.run:
        lines += _command(command, look)
    for name, text in fix.variants.items():
        lines += [f"{indent}{one_line(name)}:", *_command(text, look)]
    if fix.verify:
        lines += [indent + say("to check:"), *_command(fix.verify.run, look)]
        if fix.verify.expect:
            lines += _hang(indent, say("expect: {text}", text=one_line(fix.verify.expect)), look)
    return lines


def _command(text: str, look: Look) -> Lines:
    """Return a command as it must be typed: never wrapped, cut or decorated, so that copying it is safe."""
    return [f"       {look.paint(line, 'green')}" for line in visible(text).rstrip("\n").split("\n")]


# --- what else -------------------------------------------------------------------------------------------------------


def _others(title: str, findings: Sequence[Finding], look: Look) -> Lines:
    lines: Lines = []
    for each in findings[:OTHERS]:
        mark = "  " + pad(say(each.severity.word.upper()), 9)
        told = _hang(mark, look.dot.join(map(one_line, (each.title, each.rule, *words.whereabouts(each)[:1]))), look)
        lines += [look.paint(mark, *SEVERITY_STYLE[each.severity]) + told[0][len(mark) :], *told[1:]]
        if each.fixes:
            room, indent = look.width - cells(mark), " " * cells(mark)
            lines.append(
                indent + cut_end(say("fix: {title}", title=one_line(each.fixes[0].title)), room, look.ellipsis)
            )
    if len(findings) > OTHERS:
        lines.append(_more(len(findings) - OTHERS))
    return _titled(title, lines, look)


def _symptoms(findings: Sequence[Finding], look: Look) -> Lines:
    if not findings:
        return []
    told = [
        f"{one_line(each.title)} ({', '.join(part for part in (one_line(each.rule), words.ranks(each.ranks)) if part)})"
        for each in findings[:OTHERS]
    ]
    more = say("; + {number} more", number=len(findings) - OTHERS) if len(findings) > OTHERS else ""
    lines = _hang("  ", say("Follow-on symptoms: {told}", told="; ".join(told) + more), look)
    return [lines[0].lstrip(), *lines[1:]]


def _confirmations(findings: Sequence[Finding], look: Look) -> Lines:
    return _listed(
        say("Confirmed"), [look.dot.join((each.title, *words.whereabouts(each)[:2])) for each in findings], look
    )


def _undecided(undecided: Sequence[Undecided], look: Look) -> Lines:
    lines: Lines = []
    for each in undecided:
        lines += _hang("  ", say("{title}: {text}", title=one_line(each.title), text=one_line(each.why)), look)
        lines += _hang("    ", say("to know: {text}", text=one_line(each.next)) if each.next else "", look)
        lines += _hang("    ", say("or gather it there: {text}", text=_collect(each)) if each.collect else "", look)
    return _titled(say("Cannot tell"), lines, look)


def _collect(undecided: Undecided) -> str:
    return say("`troubleshoot collect` prints a script; its part `{part}` tells", part=one_line(undecided.collect))


def _suspects(suspects: Sequence[Suspect], look: Look) -> Lines:
    lines: Lines = []
    for each in suspects:
        place = one_line(f"{each.source}:{each.line}")
        told = _hang("  ", f"{place}  {one_line(', '.join(words.suspect_facts(each)))}", look)
        lines += [told[0].replace(place, look.paint(place, "cyan"), 1), *told[1:]]
        lines += [look.paint(_cut(line, look), "dim") for line in each.before]
        lines.append(_cut(each.text, look))
        lines += [look.paint(_cut(line, look), "dim") for line in each.after]
    return lines


def _cut(line: str, look: Look) -> str:
    return "    " + "".join(cut_around(line, 0, 0, look.width - 4, look.ellipsis))


def _teach(report: Report, look: Look) -> Lines:
    if not report.suspects:
        return []
    text = say("To make it known: troubleshoot rules suggest LOG names the lines worth a rule and starts one.")
    return _hang("", text, look)


# --- what was read ---------------------------------------------------------------------------------------------------


def _sources(sources: Sequence[SourceInfo], look: Look) -> Lines:
    return _listed(say("Sources"), [f"{each.name}: {', '.join(words.source_facts(each))}" for each in sources], look)


def _read(report: Report, look: Look) -> Lines:
    lines = _hang("", one_line(words.what_was_read(report)), look)
    for note in report.notes[:NOTES]:
        lines += _hang(say("note: "), one_line(f"{note.source}: {note.text}" if note.source else note.text), look)
    if len(report.notes) > NOTES:
        lines.append(say("note: ") + _more(len(report.notes) - NOTES).strip())
    return [look.paint(line, "dim") for line in lines]


def _more(number: int) -> str:
    return say("  + {number} more (--format json)", number=number)


# --- shapes ----------------------------------------------------------------------------------------------------------


def _heading(title: str, look: Look) -> str:
    return look.paint(title, "bold")


def _titled(title: str, lines: Lines, look: Look) -> Lines:
    return [_heading(title, look), *lines] if lines else []


def _hang(mark: str, text: str, look: Look, *styles: str) -> Lines:
    """Return the text wrapped behind a mark; further lines stand under the first."""
    indent = " " * cells(mark)
    wrapped = wrap(text, look.width - cells(mark))
    return [(indent if index else mark) + look.paint(line, *styles) for index, line in enumerate(wrapped)]


def _labelled(label: str, texts: Iterable[str], look: Look) -> Lines:
    lines = [line for text in texts for line in _hang(" " * LABEL, text, look)]
    return [_heading(label, look) + lines[0][cells(label) :], *lines[1:]] if lines else []


def _listed(title: str, items: Iterable[str], look: Look) -> Lines:
    lines = [line for item in items for line in _hang("  ", one_line(item), look)]
    return _titled(title, lines, look)
