"""Report -> Markdown for a ticket, a merge request or a chat that takes it.

The log cannot write Markdown of its own: inline text has every character that could begin markup escaped, links and
mentions in it do not come alive, and lines of log stand in fences longer than any run of backticks in them.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence

from troubleshoot import late
from troubleshoot.language import say, speaking
from troubleshoot.model import Finding, Fix, Job, Report, Role, Suspect, Undecided, Verdict
from troubleshoot.report import job_words, words
from troubleshoot.report.printable import one_line, visible

OTHERS = 20
NOTES = 20
CELL_CHARS = 200
MARKUP = late.compile(r"[\\`*{}\[\]<>#|~!&$^]|(?<![A-Za-z0-9])_|_(?![A-Za-z0-9])")  # inside a word, _ is a letter
LINE_STARTS = late.compile(r"^(\d*)([-+=/]|[.)])")  # a list, a rule, a heading's underline, a quick action
LINKS = late.compile(r"://|(?i:\bwww\.)")
MENTIONS = late.compile(r"@(?=\w)")
ZERO_WIDTH = "\u200b"


def render_markdown(report: Report) -> str:
    """Return the report as GitHub-flavoured Markdown that ends in a newline."""
    with speaking(report.language):
        return "\n".join(_blocks(report)).rstrip("\n") + "\n"


def escape(text: str) -> str:
    """Return the text as one line of Markdown that shows it literally."""
    shown = MARKUP.sub(r"\\\g<0>", one_line(text).strip())
    shown = LINKS.sub(lambda match: {"://": ":\\//"}.get(match[0], match[0][:-1] + "\\."), shown)
    shown = MENTIONS.sub(f"@{ZERO_WIDTH}", shown)
    return LINE_STARTS.sub(r"\1\\\2", shown)


def code(text: str) -> str:
    """Return the text as a code span: backticks in it are outnumbered, and it is never empty."""
    flat = one_line(text).strip() or " "
    ticks = "`" * (_longest_run(flat) + 1)
    pad = " " if flat.startswith("`") or flat.endswith("`") else ""
    return f"{ticks}{pad}{flat}{pad}{ticks}"


def fence(text: str, language: str = "") -> str:
    """Return the text as a fenced block that nothing in it can end."""
    body = visible(text).rstrip("\n")
    ticks = "`" * max(3, _longest_run(body) + 1)
    return f"{ticks}{language}\n{body}\n{ticks}"


def _longest_run(text: str) -> int:
    return max((len(run) for run in re.findall("`+", text)), default=0)


def _blocks(report: Report) -> Iterator[str]:
    if report.job is not None:
        yield from _summary(report)
    first, *others = report.findings or (None,)
    if first is not None and report.verdict is Verdict.FAULT:
        yield from _cause(first)
        yield from _list(say("Also found"), [_other(each) for each in others if each.role is not Role.SYMPTOM])
        yield from _list(say("Follow-on symptoms"), [_other(each) for each in others if each.role is Role.SYMPTOM])
        yield from _suspects(words.suspects_to_show(report))
    elif report.verdict is Verdict.UNKNOWN_FAULT:
        yield from (f"## {say('No known fault')}", "")
        yield from _suspects(report.suspects)
        yield from _list(say("What the log says in general"), [_other(each) for each in report.findings])
    elif first is not None:
        yield from (say("No fault found. Worth knowing:"), "")
        yield from _cause(first)
        yield from _list(say("Also worth knowing"), [_other(each) for each in others])
    else:
        yield from (f"## {say('Nothing found')}", "")
    if report.job is not None:
        yield from _job(report.job)
    yield from _list(
        say("Confirmed"), [_sentence(each.title, *words.whereabouts(each)[:2]) for each in report.confirmations]
    )
    yield from _list(say("Cannot tell"), [_undecided(each) for each in report.undecided])
    yield from _read(report)


def _summary(report: Report) -> Iterator[str]:
    yield from (f"## {say('Summary')}", "")
    if report.job is not None and report.job.partial:
        yield from (f"**{say('Reading was interrupted: this holds for a part of the logs only.')}**", "")
    yield from (f"- **{label}:** {escape(text)}" for label, text in job_words.summary(report))
    yield ""


def _job(job: Job) -> Iterator[str]:
    zero, dates = job_words.zero_of(job), job_words.dates_of(job.timeline)
    if job.timeline:
        stated = say("Times are UTC, {dates}.", dates=dates) if dates else say("The logs have no times.")
        yield from (f"### {say('Timeline')}", "", stated, "")
        yield from (say("| time | from first failure | what | who | where | text |"), "|---|--:|---|---|---|---|")
        for each in job.timeline:
            place = code(f"{each.source}:{each.line}") if each.line else code(each.source) if each.source else ""
            yield (
                "| "
                + " | ".join(
                    (
                        job_words.clock(each.time),
                        job_words.since(each.time, zero),
                        job_words.kind_word(each.kind),
                        escape(job_words.who_of(each)),
                        place.replace("|", "\\|"),
                        escape(each.text[:CELL_CHARS]),
                    )
                )
                + " |"
            )
        yield ""
    yield from (f"### {say('Reach')}", "", _point("Ranks", job_words.ranks_line(job)))
    if hosts := job_words.hosts_line(job):
        yield _point("Hosts", hosts)
    if job.first_failure is not None and job.first_failure.runner_up:
        yield _point("Or", job.first_failure.runner_up)
    yield from (_point("Behind the others", job_words.straggler_line(each)) for each in job.stragglers[:OTHERS])
    yield ""


def _point(label: str, text: str) -> str:
    return "- " + say("{label}: {text}", label=say(label), text=escape(text))


def _cause(finding: Finding) -> Iterator[str]:
    yield f"## {escape(finding.title)}"
    yield ""
    yield say(
        "Severity **{severity}**, confidence **{confidence}**, rule {rule}",
        severity=say(finding.severity.word),
        confidence=say(finding.confidence.word),
        rule=code(finding.rule),
    )
    yield ""
    if finding.role is Role.SYMPTOM:
        yield from (say("This is a symptom: its cause is not in what was read."), "")
    yield f"**{say('Where:')}** {_sentence(*words.whereabouts(finding))}"
    yield ""
    yield f"**{say('Why:')}** {escape(finding.explanation)}"
    yield from (f"({escape(each)})" for each in finding.because)
    yield from ("", f"### {say('Evidence')}", "")
    for each in finding.evidence:
        rank = ", " + say("rank {numbers}", numbers=each.rank) if each.rank is not None else ""
        yield from (f"{code(words.place(each))}{rank}", "", fence(each.text, "text"), "")
    if finding.fixes:
        advice = words.advice(finding)
        yield from (f"### {say('Fix')}" + (f" ({advice})" if advice else ""), "")
        for number, fix in enumerate(finding.fixes, 1):
            yield from _fix(number, fix)
    yield from _list(say("References"), [_reference(each) for each in finding.references])


def _fix(number: int, fix: Fix) -> Iterator[str]:
    indent = " " * len(f"{number}. ")
    yield f"{number}. **{escape(fix.title)}**" + (say(" (safe to try)") if fix.safe else "")
    yield from _indented(indent, [escape(fix.do)] if fix.do else [])
    for command in fix.run:
        yield from _indented(indent, ["", fence(command, "shell")])
    for name, text in fix.variants.items():
        yield from _indented(indent, ["", f"{escape(name)}:", "", fence(text, "yaml" if name == "yaml" else "text")])
    if fix.verify:
        expect = say("expect {text}", text=code(fix.verify.expect)) if fix.verify.expect else ""
        yield from _indented(
            indent, ["", say("To check:"), "", fence(fix.verify.run, "shell"), *([expect] if expect else [])]
        )
    yield ""


def _indented(indent: str, texts: Iterable[str]) -> Iterator[str]:
    for text in texts:
        yield from ((indent + line).rstrip(" ") if line else "" for line in text.split("\n"))


def _other(finding: Finding) -> str:
    told = f"**{escape(finding.title)}** ({say(finding.severity.word)}, {code(finding.rule)}"
    told += "".join(f", {escape(part)}" for part in words.whereabouts(finding)[:2]) + ")"
    return told + (f": {escape(finding.fixes[0].title)}" if finding.fixes else "")


def _undecided(undecided: Undecided) -> str:
    told = f"**{escape(undecided.title)}**: {escape(undecided.why)}"
    return told + (say(". To know: {text}", text=escape(undecided.next)) if undecided.next else "")


def _suspects(suspects: Sequence[Suspect]) -> Iterator[str]:
    if suspects:
        yield from (f"### {say('Lines worth reading')}", "")
    for each in suspects:
        yield from (f"{code(f'{each.source}:{each.line}')} {escape(', '.join(words.suspect_facts(each)))}", "")
        yield from (fence(each.text, "text"), "")


def _reference(url: str) -> str:
    """Return a link that comes alive: references are the rule's own words, not the log's."""
    is_link = re.fullmatch(r"https?://[^\s<>]+", url)
    return f"<{url}>" if is_link else escape(url)


def _read(report: Report) -> Iterator[str]:
    yield from ("---", "", escape(words.what_was_read(report)), "")
    notes = [escape(f"{note.source}: {note.text}" if note.source else note.text) for note in report.notes]
    yield from _list("", notes[:NOTES], more=len(notes) - NOTES)


def _list(title: str, items: list[str], more: int | None = None) -> Iterator[str]:
    if not items:
        return
    if title:
        yield from (f"### {title}", "")
    yield from (f"- {item}" for item in items[:OTHERS])
    left = len(items) - OTHERS if more is None else more
    if left > 0:
        yield "- " + say("and {number} more", number=left)
    yield ""


def _sentence(*parts: str) -> str:
    return ", ".join(escape(part) for part in parts)
