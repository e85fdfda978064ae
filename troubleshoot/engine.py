"""The one place that strings the steps together: sources in, report out.

    open_sources -> Scanner.scan -> evaluate -> triage -> build_job -> Report -> redact

An `Engine` holds a frozen pack and nothing else that changes, so one engine serves many threads. Every call makes its
own `Scanner` (which owns the scratch space that Hyperscan must not share).
"""

from __future__ import annotations

import io
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import BinaryIO

from troubleshoot import limits
from troubleshoot.collect import part_for
from troubleshoot.database_cache import PackStore
from troubleshoot.errors import SourceError
from troubleshoot.evaluate.evaluator import Evaluation, evaluate
from troubleshoot.ingest.sources import OpenSource, open_sources, open_stream, open_text, open_upload
from troubleshoot.job import build_job, prepare
from troubleshoot.job.progress import Tail
from troubleshoot.model import Kind, Note, PackInfo, Report, RulePack, ScanResult, SourceInfo, Stats
from troubleshoot.platform import check_platform, choose_platform
from troubleshoot.report.redact import redact
from troubleshoot.rulepack.load import load_pack
from troubleshoot.scan.scanner import Scanner, merge_hits
from troubleshoot.suspects import find_suspects
from troubleshoot.triage import decide_verdict, triage

Progress = Callable[[SourceInfo], None]


class Engine:
    """Scans logs with one rule pack. Safe to share between threads."""

    def __init__(self, pack: RulePack) -> None:
        self.pack = pack

    @classmethod
    def default(cls, rules: Sequence[Path | str] = (), *, drafts: bool = False, default_rules: bool = True) -> Engine:
        """Return an engine over the shipped pack and the given rule folders; a later folder's rule replaces an
        earlier one of the same id. Rules that do not load are left out and named in every report's notes."""
        return cls(load_pack([Path(folder) for folder in rules], drafts=drafts, default_rules=default_rules))

    def scan_paths(
        self, paths: Sequence[Path | str], *, platform: str | None = None, progress: Progress | None = None
    ) -> Report:
        """Return the report over files, folders, globs and archives, taken together as one job.
        Raises SourceError when none of them can be read."""
        return self._report(open_sources(paths), platform, progress)

    def postmortem_paths(
        self,
        paths: Sequence[Path | str],
        *,
        platform: str | None = None,
        progress: Progress | None = None,
        job: str | None = None,
        stdin: BinaryIO | None = None,
    ) -> Report:
        """Return the report on one failed job, always with its `job` part: of several jobs in the paths, `job` or the
        largest. An interrupt ends the reading and gives the report on what was read, marked as partial."""
        began = time.monotonic()
        results: list[ScanResult] = []
        is_partial = False
        try:
            for result in self.results(open_sources(paths, stdin=stdin), progress):
                results.append(result)
        except KeyboardInterrupt:
            is_partial = True
        return self.report_from(results, platform, began, with_job=True, one_job=True, job=job, partial=is_partial)

    def scan_text(self, text: str | bytes, name: str = "paste", *, platform: str | None = None) -> Report:
        return self._report([open_text(text, name)], platform, None)

    def scan_texts(self, texts: Mapping[str, str | bytes], *, platform: str | None = None) -> Report:
        """Return the report over several texts by name, taken together as one job."""
        return self._report([open_text(text, name) for name, text in texts.items()], platform, None)

    def scan_uploads(self, uploads: Mapping[str, str | bytes], *, platform: str | None = None) -> Report:
        """Return the report over uploads by name, taken together as one job; compressed files and archives among
        them are looked into."""
        sources = (opened for name, data in uploads.items() for opened in _open_data(data, name))
        return self._report(sources, platform, None)

    def scan_stream(self, stream: BinaryIO, name: str = "stdin", *, platform: str | None = None) -> Report:
        return self._report([open_stream(stream, name)], platform, None)

    def results(self, sources: Iterable[OpenSource], progress: Progress | None = None) -> Iterator[ScanResult]:
        """Yield one scan result per source, in the order of the sources."""
        scanner = Scanner(self.pack, store=PackStore(self.pack))
        for opened in sources:
            yield scan_source(scanner, opened)
            if progress is not None:
                progress(opened.info())

    def evaluate(self, results: Sequence[ScanResult], platform: str | None = None) -> Evaluation:
        return evaluate(self.pack, results, platform=platform or choose_platform(self.pack, results))

    def _report(self, sources: Iterable[OpenSource], platform: str | None, progress: Progress | None) -> Report:
        if platform is not None:
            check_platform(platform)
        began = time.monotonic()
        results = tuple(self.results(sources, progress))
        return self.report_from(results, platform, began)

    def report_from(
        self,
        results: Sequence[ScanResult],
        platform: str | None,
        began: float,
        *,
        with_job: bool | None = None,
        one_job: bool = False,
        job: str | None = None,
        partial: bool = False,
    ) -> Report:
        """Return the report over scan results that are already there; `began` is a reading of time.monotonic().

        `with_job`: fill the job part; None fills it where there is more than one source. `one_job`: look at one job
        only, the one named `job` or the largest. `partial`: reading was interrupted."""
        infos = tuple(result.info for result in results if result.info is not None)
        notes = (*pack_notes(self.pack), *(note for result in results for note in result.notes))
        if not infos:
            raise SourceError("nothing could be read", help="; ".join(note.text for note in notes[:3]))
        if partial:
            notes = (Note("interrupted", f"reading was interrupted after {len(infos)} sources"), *notes)
        if with_job is None:
            with_job = len(infos) > 1
        assembly = prepare(self.pack, results, only_one_job=one_job, wanted=job)
        results = assembly.results
        platform = platform or choose_platform(self.pack, results)
        evaluation = evaluate(self.pack, results, platform=platform)
        findings = triage(self.pack, [each for each in evaluation.findings if each.kind is Kind.FAULT])
        confirmations = tuple(each for each in evaluation.findings if each.kind is Kind.CONFIRMATION)
        suspects = find_suspects(self.pack, results, findings)
        report = Report(
            verdict=decide_verdict(findings, suspects),
            findings=findings,
            confirmations=confirmations,
            undecided=tuple(replace(each, collect=self._part_for(each.rule)) for each in evaluation.undecided),
            suspects=suspects,
            sources=infos,
            notes=(*assembly.notes, *notes),
            pack=PackInfo(self.pack.name, self.pack.version, self.pack.hash),
            stats=Stats(
                bytes=sum(info.bytes for info in infos),
                lines=sum(info.lines for info in infos),
                seconds=round(time.monotonic() - began, 6),
                rules=len(self.pack.rules),
            ),
            platform=platform,
            job=build_job(self.pack, assembly, findings, suspects, partial=partial) if with_job else None,
        )
        return redact(report)

    def _part_for(self, rule_id: str) -> str:
        rule = self.pack.rules.get(rule_id)
        return part_for(rule.systems) if rule is not None else ""


def scan_source(scanner: Scanner, opened: OpenSource) -> ScanResult:
    """Scan one opened source: its blocks, and where it was hard-wrapped by a chat or terminal, its joined lines too;
    and read the last steps of its ranks from its end."""
    tail = Tail()
    result = scanner.scan(opened.source, tail.watch(opened.blocks(limits.BLOCK_BYTES)), opened.normaliser)
    joined = opened.joined_blocks()
    if joined is not None:
        result = merge_hits(result, scanner.scan(opened.source, joined, opened.normaliser))
    return ScanResult(
        source=opened.source,
        hits=result.hits,
        counts=result.counts,
        saturated=result.saturated,
        notes=(*opened.notes(), *result.notes),
        info=opened.info(),
        progress=tail.last_progress(opened.source, opened.normaliser),
    )


def _open_data(data: str | bytes, name: str) -> Iterable[OpenSource]:
    return [open_text(data, name)] if isinstance(data, str) else open_upload(io.BytesIO(data), name)


def pack_notes(pack: RulePack) -> Iterator[Note]:
    """Yield a note per problem of a rule that was left out, so that no rule goes missing in silence."""
    for problem in pack.problems:
        yield Note("rule-left-out", f"{problem.place}: {problem.text}", None)
