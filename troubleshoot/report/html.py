"""Report -> one self-contained HTML page: nothing is fetched, no script is needed, it prints well, and is dark where
the reader's screen is.

The page is `templates/report.html`, filled by Jinja with escaping on for everything; what comes from a log also passes
`visible`, so that it can neither become markup nor turn the reading direction. The pictures come from `picture`, which
escapes for itself.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache

from jinja2 import Environment, PackageLoader, StrictUndefined, Template
from markupsafe import Markup

from troubleshoot.language import say, spoken
from troubleshoot.model import Evidence, Finding, Moment, Report, Role, Verdict
from troubleshoot.report import job_words, words
from troubleshoot.report.picture import draw_map, draw_timeline
from troubleshoot.report.printable import one_line, visible

SOURCES = 400
NOTES = 200

TITLES = {Verdict.FAULT: "Known fault", Verdict.UNKNOWN_FAULT: "Unknown fault", Verdict.CLEAN: "Nothing found"}


def render_html(report: Report) -> str:
    """Return the page as text that ends in a newline."""
    first, *others = report.findings or (None,)
    is_known = first is not None and report.verdict is Verdict.FAULT
    general = list(report.findings) if not is_known else []
    job = report.job
    return (
        _template()
        .render(
            report=report,
            job=job,
            title=_title(report),
            verdict=say(TITLES[report.verdict]),
            summary=job_words.summary(report) if job is not None else [],
            cause=first if is_known else None,
            contributing=[each for each in others if each.role is not Role.SYMPTOM] if is_known else general,
            symptoms=[each for each in others if each.role is Role.SYMPTOM] if is_known else [],
            timeline_picture=Markup(draw_timeline(job)) if job is not None else "",
            map_picture=Markup(draw_map(job)) if job is not None else "",
            fates=_fates(report),
            first_kind=Moment.FIRST_FAILURE,
            sources=report.sources[:SOURCES],
            sources_left=len(report.sources) - SOURCES,
            notes=report.notes[:NOTES],
            notes_left=len(report.notes) - NOTES,
            words=words,
            job_words=job_words,
            parts_of=_parts,
            say=say,
            language=spoken(),
        )
        .rstrip("\n")
        + "\n"
    )


def _title(report: Report) -> str:
    if report.verdict is Verdict.FAULT and report.findings:
        return report.findings[0].title
    return say("A fault that no rule knows") if report.verdict is Verdict.UNKNOWN_FAULT else say("Nothing found")


def _fates(report: Report) -> Sequence[tuple[str, int, str]]:
    """Return how many ranks had which fate, and which, for the legend of the map."""
    job = report.job
    if job is None:
        return ()
    ranks = job.ranks
    rows = (("failed", ranks.failed), ("echoing", ranks.echoing), ("silent", ranks.silent))
    known = {rank for _, group in rows for rank in group}
    quiet = tuple(each.rank for each in job.tracks if each.rank is not None and each.rank not in known)
    return tuple((name, len(group), words.ranks(group)) for name, group in (*rows, ("quiet", quiet)) if group)


def _parts(evidence: Evidence) -> tuple[str, str, str]:
    """Return what stands before, in and after the match."""
    text, start, end = evidence.text, evidence.start, max(evidence.end, evidence.start)
    return visible(text[:start]), visible(text[start:end]), visible(text[end:])


def _is_link(url: str) -> bool:
    return url.startswith(("https://", "http://")) and not any(char in url for char in " <>\"'")


def _anchor(finding: Finding) -> str:
    return "rule-" + "".join(char if char.isalnum() else "-" for char in finding.rule)


@lru_cache(maxsize=1)
def _template() -> Template:
    environment = Environment(
        loader=PackageLoader("troubleshoot.report"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters.update(line=one_line, text=visible, is_link=_is_link, anchor=_anchor)
    return environment.get_template("report.html")
