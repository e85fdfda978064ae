"""Report -> a Slack message: `{"text": ..., "blocks": [...]}`, within every limit that Slack refuses messages for.

Blocks are laid down in order of worth until the budget is spent; what did not fit is said in the last one. Log text
goes into `rich_text_preformatted` elements, where Slack parses nothing, and into escaped `mrkdwn` elsewhere.
Limits: docs.slack.dev/reference/block-kit/blocks; a message's blocks are refused from about 13,200 characters on
(slackapi/bolt-js#2509).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from troubleshoot import late
from troubleshoot.language import say, speaking
from troubleshoot.model import Finding, Fix, Job, Report, Role, Severity, Suspect, TimelineEntry, Verdict
from troubleshoot.report import job_words, words
from troubleshoot.report.json import dump
from troubleshoot.report.printable import one_line, visible

MAX_BLOCKS = 40  # Slack takes 50; a bot may want room for its buttons
MAX_BYTES = 12_000  # of the blocks as JSON
MAX_TEXT = 2_900  # of a section; Slack takes 3,000
MAX_HEADER = 150
MAX_EVIDENCE = 1_200  # per excerpt, so that one long line does not push out the fixes
MAX_COMMAND = 1_500
MAX_LINE = 600  # of the summary
MAX_ROW = 140  # of the timeline
EXCERPTS = 3
FIXES = 3
OTHERS = 10

FORMATTING = late.compile(r"(?<![A-Za-z0-9])[*_~`]|[*_~`](?![A-Za-z0-9])")  # inside a word a mark means nothing

Block = dict[str, Any]

SEVERITY_SIGN = {
    Severity.CRITICAL: ":rotating_light:",
    Severity.HIGH: ":red_circle:",
    Severity.MEDIUM: ":large_orange_circle:",
    Severity.LOW: ":large_blue_circle:",
}


def render_slack(report: Report) -> str:
    """Return the message as JSON: the body of `chat.postMessage` without its channel."""
    with speaking(report.language):
        return dump({"text": slack_text(report), "blocks": slack_blocks(report)}, indent=2) + "\n"


def slack_text(report: Report) -> str:
    """Return the one line for notifications and screen readers."""
    return cut(escape(_headline(report)), MAX_TEXT)


def slack_blocks(report: Report) -> list[Block]:
    """Return the blocks of the message, at most MAX_BLOCKS and MAX_BYTES of them."""
    footer = _footer(report)
    room = MAX_BYTES - _size(footer) - _size(_left_out(1000))
    blocks: list[Block] = []
    left_out = 0
    for block in _blocks(report):
        if left_out or len(blocks) >= MAX_BLOCKS - 2 or _size(block) > room:
            left_out += 1
            continue
        room -= _size(block)
        blocks.append(block)
    return [*blocks, *([_left_out(left_out)] if left_out else []), footer]


def escape(text: str) -> str:
    """Return the text so that `mrkdwn` shows it: no mention, link or channel comes alive."""
    safe = one_line(text).replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
    return FORMATTING.sub("\u200b\\g<0>", safe)


def cut(text: str, most: int) -> str:
    """Return at most so many UTF-16 units, as Slack counts them; an entity is never cut in two."""
    if _units(text) <= most:
        return text
    kept = text[: most - 1]
    while _units(kept) > most - 1:
        kept = kept[:-1]
    at = kept.rfind("&")
    if at >= 0 and ";" not in kept[at:]:
        kept = kept[:at]
    return kept + "…"


def _blocks(report: Report) -> Iterator[Block]:
    first, *others = report.findings or (None,)
    yield {"type": "header", "text": {"type": "plain_text", "text": cut(one_line(_headline(report)), MAX_HEADER)}}
    if report.job is not None:
        yield from _job(report, report.job)
    if first is not None and report.verdict is Verdict.FAULT:
        yield from _cause(first, report.platform)
        yield from _list(say("Also found"), [_other(each) for each in others if each.role is not Role.SYMPTOM])
        yield from _list(say("Follow-on symptoms"), [_other(each) for each in others if each.role is Role.SYMPTOM])
        yield from _suspects(words.suspects_to_show(report))
    elif report.verdict is Verdict.UNKNOWN_FAULT:
        yield from _suspects(report.suspects)
        yield from _list(say("What the log says in general"), [_other(each) for each in report.findings])
    elif first is not None:
        yield from _cause(first, report.platform)
        yield from _list(say("Also worth knowing"), [_other(each) for each in others])
    yield from _list(say("Confirmed"), [f":white_check_mark: {escape(each.title)}" for each in report.confirmations])
    yield from _list(
        say("Cannot tell"),
        [
            f"{escape(each.title)}: {escape(each.why)}" + say(". To know: {text}", text=escape(each.next))
            for each in report.undecided
        ],
    )


def _job(report: Report, job: Job) -> Iterator[Block]:
    partial = ""
    if job.partial:
        partial = f"*{say('Reading was interrupted: this holds for a part of the logs only.')}*\n"
    lines = [f"*{label}:* {escape(cut(text, MAX_LINE))}" for label, text in job_words.summary(report)]
    yield _section(partial + "\n".join(lines))
    reach = [job_words.ranks_line(job), job_words.hosts_line(job)]
    reach += [job_words.straggler_line(each) for each in job.stragglers[:EXCERPTS]]
    yield _context("\n".join(escape(line) for line in reach if line))
    shown = [each for each in job.timeline if each.time is not None][:OTHERS]
    if shown:
        yield _preformatted(say("Timeline (UTC)"), "\n".join(_row(each, job) for each in shown), MAX_COMMAND)


def _row(entry: TimelineEntry, job: Job) -> str:
    since = job_words.since(entry.time, job_words.zero_of(job))
    who = job_words.who_of(entry)
    text = f"{job_words.kind_word(entry.kind)}: {who + ': ' if who else ''}{one_line(entry.text)}"
    return cut(f"{job_words.clock(entry.time):<12} {since:>8}  {text}", MAX_ROW)


def _headline(report: Report) -> str:
    if report.verdict is Verdict.FAULT and report.findings:
        return report.findings[0].title
    if report.verdict is Verdict.UNKNOWN_FAULT:
        return say("No known fault")
    if report.findings:
        return say("No fault found. Worth knowing: {title}", title=report.findings[0].title)
    return say("Nothing found")


def _cause(finding: Finding, platform: str | None) -> Iterator[Block]:
    grade = say(
        "severity *{severity}*, confidence *{confidence}*",
        severity=say(finding.severity.word),
        confidence=say(finding.confidence.word),
    )
    grade = f"{SEVERITY_SIGN[finding.severity]} {grade}, {escape(finding.rule)}"
    yield _context(f"{grade}\n{escape(', '.join(words.whereabouts(finding)))}")
    if finding.role is Role.SYMPTOM:
        yield _section(say("This is a symptom: its cause is not in what was read."))
    if finding.explanation:
        yield _section(escape(finding.explanation))
    for each in finding.evidence[:EXCERPTS]:
        rank = " " + say("rank {numbers}", numbers=each.rank) if each.rank is not None else ""
        yield _preformatted(f"{words.place(each)}{rank}", each.text, MAX_EVIDENCE)
    advice = words.advice(finding)
    for number, fix in enumerate(finding.fixes[:FIXES], 1):
        yield from _fix(number, fix, platform, advice if number == 1 else "")
    if finding.references:
        yield _context(say("See also ") + " ".join(escape(each) for each in finding.references[:3]))


def _fix(number: int, fix: Fix, platform: str | None, advice: str) -> Iterator[Block]:
    title = say("*Fix {number}: {title}*", number=number, title=escape(fix.title))
    title += " " + say("(safe to try)") if fix.safe else ""
    lines = [title, *([f"({advice})"] if advice else []), *([escape(fix.do)] if fix.do else [])]
    yield _section("\n".join(lines))
    for command in fix.run:
        yield _preformatted("", command, MAX_COMMAND)
    for name, text in list(fix.variants.items())[: 1 if platform in fix.variants else None]:
        yield _preformatted(name, text, MAX_COMMAND)
    if fix.verify:
        label = say("to check")
        label += say(", expect: {text}", text=one_line(fix.verify.expect)) if fix.verify.expect else ""
        yield _preformatted(cut(label, 300), fix.verify.run, MAX_COMMAND)


def _other(finding: Finding) -> str:
    told = f"{SEVERITY_SIGN[finding.severity]} {say(finding.severity.word)}: {escape(finding.title)}"
    return told + (say(". Fix: {title}", title=escape(finding.fixes[0].title)) if finding.fixes else "")


def _suspects(suspects: Iterable[Suspect]) -> Iterator[Block]:
    for index, each in enumerate(suspects):
        if index == 0:
            yield _section(f"*{say('Lines worth reading')}*")
        yield _preformatted(f"{each.source}:{each.line}  {', '.join(words.suspect_facts(each))}", each.text, 400)


def _list(title: str, items: list[str]) -> Iterator[Block]:
    if items:
        shown = [f"• {item}" for item in items[:OTHERS]]
        more = [say("and {number} more", number=len(items) - OTHERS)] if len(items) > OTHERS else []
        yield _section("\n".join([f"*{title}*", *shown, *more]))


def _footer(report: Report) -> Block:
    notes = say(" {notes} in the full report.", notes=words.count(len(report.notes), "note")) if report.notes else ""
    return _context(escape(words.what_was_read(report)) + notes)


def _left_out(number: int) -> Block:
    return _context(f"_{say('{parts} of this report did not fit into a message.', parts=words.count(number, 'part'))}_")


def _section(text: str) -> Block:
    return {"type": "section", "text": {"type": "mrkdwn", "text": cut(text, MAX_TEXT), "verbatim": True}}


def _context(text: str) -> Block:
    return {"type": "context", "elements": [{"type": "mrkdwn", "text": cut(text, MAX_TEXT), "verbatim": True}]}


def _preformatted(label: str, text: str, most: int) -> Block:
    """Return a block of literal text under a label. Slack refuses an empty text element."""
    elements: list[Block] = []
    if label:
        shown = cut(one_line(label), 300) + "\n"
        elements.append({"type": "rich_text_section", "elements": [{"type": "text", "text": shown}]})
    body = cut(visible(text).strip("\n"), most) or " "
    elements.append({"type": "rich_text_preformatted", "elements": [{"type": "text", "text": body}]})
    return {"type": "rich_text", "elements": elements}


def _size(block: Block) -> int:
    return len(dump(block).encode()) + 1


def _units(text: str) -> int:
    return len(text.encode("utf-16-le", "surrogatepass")) // 2
