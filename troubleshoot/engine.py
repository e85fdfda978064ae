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
from typing import TYPE_CHECKING, BinaryIO

from troubleshoot import limits
from troubleshoot.collect import part_for
from troubleshoot.database_cache import PackStore
from troubleshoot.errors import NOTHING_READ, SourceError
from troubleshoot.evaluate.evaluator import Evaluation, evaluate
from troubleshoot.ingest.sources import OpenSource, open_file, open_text, open_upload
from troubleshoot.ingest.streams import Interruptible, Purse
from troubleshoot.job.flight import FlightWatch
from troubleshoot.job.progress import Tail, shows_steps
from troubleshoot.model import Block, Kind, Note, PackInfo, Period, Progress, Report, RulePack, ScanResult, Stats
from troubleshoot.platform import check_platform, choose_platform
from troubleshoot.report.redact import redact
from troubleshoot.rulepack.load import load_pack
from troubleshoot.scan.scanner import Scanner, merge_hits
from troubleshoot.suspects import find_suspects
from troubleshoot.triage import decide_verdict, triage
from troubleshoot.watching import Stop, Watcher, never, until

if TYPE_CHECKING:
    from troubleshoot.parallel.drive import Runner
    from troubleshoot.parallel.partitions import Listing


Tee = Callable[[OpenSource, Iterable[Block]], Iterator[Block]]


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
        self,
        paths: Sequence[Path | str],
        *,
        platform: str | None = None,
        stdin: BinaryIO | None = None,
        watcher: Watcher | None = None,
        workers: int | None = 1,
        runner: Runner | None = None,
        stop: Stop = never,
        period: Period | None = None,
    ) -> Report:
        """Return the report over files, folders, globs and archives, taken together as one job; for `workers`,
        `runner`, `stop` and `period` see `read`. Raises SourceError when none of the paths can be read."""
        if platform is not None:
            check_platform(platform)
        began = time.monotonic()
        reading = self.read(
            paths, stdin=stdin, watcher=watcher, workers=workers, runner=runner, stop=stop, period=period
        )
        results = tuple(reading)
        return self.report_from(results, platform, began, partial=stop())

    def postmortem_paths(
        self,
        paths: Sequence[Path | str],
        *,
        platform: str | None = None,
        job: str | None = None,
        stdin: BinaryIO | None = None,
        watcher: Watcher | None = None,
        workers: int | None = 1,
        runner: Runner | None = None,
        stop: Stop = never,
        period: Period | None = None,
    ) -> Report:
        """Return the report on one failed job, always with its `job` part: of several jobs in the paths, `job` or the
        largest. An interrupt ends the reading and gives the report on what was read, marked as partial."""
        began = time.monotonic()
        results: list[ScanResult] = []
        is_partial = False
        try:
            for result in self.read(
                paths, stdin=stdin, watcher=watcher, workers=workers, runner=runner, stop=stop, period=period
            ):
                results.append(result)
        except KeyboardInterrupt:
            is_partial = True
        is_partial = is_partial or stop()
        return self.report_from(results, platform, began, with_job=True, one_job=True, job=job, partial=is_partial)

    def scan_text(self, text: str | bytes, name: str = "paste", *, platform: str | None = None) -> Report:
        return self._report([open_text(text, name)], platform)

    def scan_texts(self, texts: Mapping[str, str | bytes], *, platform: str | None = None) -> Report:
        """Return the report over several texts by name, taken together as one job."""
        return self._report([open_text(text, name) for name, text in texts.items()], platform)

    def scan_uploads(self, uploads: Mapping[str, str | bytes], *, platform: str | None = None) -> Report:
        """Return the report over uploads by name, taken together as one job; compressed files and archives among
        them are looked into."""
        sources = (opened for name, data in uploads.items() for opened in _open_data(data, name))
        return self._report(sources, platform)

    def scan_stream(
        self, stream: BinaryIO, name: str = "stdin", *, platform: str | None = None, stop: Stop = never
    ) -> Report:
        """Return the report over a stream, or over what is in it if it is compressed or an archive. When told to stop:
        over what has come until then."""
        if stop is not never:
            stream = Interruptible.over(stream, stop)
        return self._report(open_upload(stream, name, "stdin"), platform, stop)

    def results(
        self,
        sources: Iterable[OpenSource],
        watcher: Watcher | None = None,
        stop: Stop = never,
        scanner: Scanner | None = None,
        most: int = 0,
        period: Period | None = None,
        tee: Tee | None = None,
    ) -> Iterator[ScanResult]:
        """Yield one scan result per source, in the order of the sources. When told to stop, the last one is of a part
        of its source. `most`: hits to keep per pattern and source, where it is not the usual. `period`: hits of another
        time do not count. `tee` sees the blocks as they pass."""
        scanner = scanner or self.scanner()
        for opened in sources:
            if stop() and opened.source.kind != "stdin":  # its beginning has been read before it is here
                return
            result = scan_source(scanner, opened, stop, watcher, most, period, tee)
            if watcher is not None:
                watcher.done(result)
            yield result

    def scanner(self) -> Scanner:
        """Return a scanner of one's own, for one thread."""
        return Scanner(self.pack, store=PackStore(self.pack))

    def read(
        self,
        paths: Sequence[Path | str],
        *,
        stdin: BinaryIO | None = None,
        watcher: Watcher | None = None,
        workers: int | None = 1,
        runner: Runner | None = None,
        stop: Stop = never,
        period: Period | None = None,
    ) -> Iterator[ScanResult]:
        """Yield one scan result per source that the paths name, in order; always the same ones, whoever reads them.

        `workers`: processes of this machine; None takes as many as the paths are worth. `runner`: who reads them
        instead, a Ray cluster. `stop` is asked between blocks: once it is true, no more is read. `period`: what the
        logs say at another time does not count."""
        from troubleshoot.parallel.partitions import default_workers, list_files, most_workers

        scanner = self.scanner()
        if stdin is not None and stop is not never:
            stdin = Interruptible.over(stdin, stop)
        listing = list_files(
            paths, lambda opened: scan_source(scanner, opened, stop, period=period), stdin=stdin, period=period
        )
        if watcher is not None:
            watcher.expect(len(listing.files) + len(listing.here), listing.bytes)
        workers = default_workers(listing) if workers is None else min(workers, most_workers(listing))
        if runner is None and workers > 1:
            from troubleshoot.parallel.pool import LocalPool

            runner = LocalPool(workers)
        if runner is None:
            yield from self._read_serially(listing, scanner, watcher, stop)
            return
        from troubleshoot.parallel.drive import read_parallel

        yield from read_parallel(self.pack, listing, runner, watcher, stop)

    def _read_serially(
        self, listing: Listing, scanner: Scanner, watcher: Watcher | None, stop: Stop
    ) -> Iterator[ScanResult]:
        purse = Purse()
        for results in listing.in_order(
            lambda file: self.results(open_file(Path(file.path), purse), watcher, stop, scanner, file.most, file.period)
        ):
            yield from results

    def evaluate(self, results: Sequence[ScanResult], platform: str | None = None) -> Evaluation:
        return evaluate(self.pack, results, platform=platform or choose_platform(self.pack, results))

    def _report(self, sources: Iterable[OpenSource], platform: str | None, stop: Stop = never) -> Report:
        if platform is not None:
            check_platform(platform)
        began = time.monotonic()
        results = tuple(self.results(sources, stop=stop))
        return self.report_from(results, platform, began, partial=stop())

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
            if partial:
                raise KeyboardInterrupt  # there is nothing to tell
            raise SourceError(NOTHING_READ, help="; ".join(note.text for note in notes[:3]))
        if partial:
            notes = (Note("interrupted", f"reading was interrupted after {len(infos)} sources"), *notes)
        if with_job is None:
            with_job = len(infos) > 1
        assembly = None
        if with_job or len(results) > 1:
            from troubleshoot.job.build import prepare  # a paste pays for none of it

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
            notes=(*(assembly.notes if assembly is not None else ()), *evaluation.notes, *notes),
            pack=PackInfo(self.pack.name, self.pack.version, self.pack.hash),
            stats=Stats(
                bytes=sum(info.bytes for info in infos),
                lines=sum(info.lines for info in infos),
                seconds=round(time.monotonic() - began, 6),
                rules=len(self.pack.rules),
            ),
            platform=platform,
        )
        if with_job and assembly is not None:
            from troubleshoot.job.build import build_job

            report = replace(report, job=build_job(self.pack, assembly, findings, suspects, partial=partial))
        return redact(report)

    def _part_for(self, rule_id: str) -> str:
        rule = self.pack.rules.get(rule_id)
        return part_for(rule.systems) if rule is not None else ""


def scan_source(
    scanner: Scanner,
    opened: OpenSource,
    stop: Stop = never,
    watcher: Watcher | None = None,
    most: int = 0,
    period: Period | None = None,
    tee: Tee | None = None,
) -> ScanResult:
    """Scan one opened source: its blocks, and where it was hard-wrapped by a chat or terminal, its joined lines too;
    and read the last steps of its ranks from its end. `tee` sees the blocks as they pass."""
    tail, flight = Tail(), FlightWatch()
    blocks = flight.watch(until(opened.blocks(limits.BLOCK_BYTES), stop, watcher))
    if tee is not None:
        blocks = tee(opened, blocks)
    result = scanner.scan(opened.source, tail.watch(blocks), opened.normaliser, most=most, period=period)
    joined = opened.joined_blocks()
    if joined is not None:
        again = scanner.scan(opened.source, joined, opened.normaliser, most=most, period=period)
        result = merge_hits(result, again, opened.joined_end)
    dump, why_not = flight.dump()
    notes = (Note("flight-recorder", why_not, opened.source.name),) if why_not else ()
    return ScanResult(
        source=opened.source,
        hits=opened.in_order(result.hits),
        counts=result.counts,
        saturated=result.saturated,
        notes=(*opened.notes(), *notes, *result.notes),
        info=opened.info(),
        progress=last_progress(tail, opened, opened.info().bytes),
        overran=result.overran,
        flight=dump,
    )


def last_progress(tail: Tail, opened: OpenSource, end: int) -> tuple[Progress, ...]:
    """Return the last steps in a source of which `end` bytes were read."""

    def behind() -> Iterator[bytes]:
        return opened.behind(end) if shows_steps(opened.sample()) else iter(())

    return tail.last_progress(opened.source, opened.normaliser, behind)


def _open_data(data: str | bytes, name: str) -> Iterable[OpenSource]:
    return [open_text(data, name)] if isinstance(data, str) else open_upload(io.BytesIO(data), name)


def pack_notes(pack: RulePack) -> Iterator[Note]:
    """Yield a note per problem of a rule that was left out, so that no rule goes missing in silence."""
    for problem in pack.problems:
        code = "rule-left-out" if problem.severity == "error" else "packs"
        yield Note(code, f"{problem.place}: {problem.text}" if problem.place else problem.text, None)
