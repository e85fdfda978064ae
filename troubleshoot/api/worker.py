"""A scan process: logs in, rendered reports out, one at a time, until its standard input ends.

    {"op": "scan", "names": [...], "formats": ["json"], ...} + logs   ->   {"summary": {...}} + one body per format
    {"op": "view", "names": [...], "source": ..., "around": 1} + logs ->   {"summary": {"first_line": ...}} + its text

It is started by `pool.py`, which also kills it when it takes too long. It gets the rule pack in its first message, so
it scans with the pack that the service holds, whatever has become of the files since. Its memory is limited: a log that
wants more ends in an answer that says so, and in a fresh process.
"""

from __future__ import annotations

import contextlib
import json
import os
import signal
import sys
from collections.abc import Sequence
from typing import Any

from troubleshoot.api.frames import Head, pack_frame, read_frame
from troubleshoot.api.viewing import redacted_logs, view_source
from troubleshoot.engine import Engine
from troubleshoot.errors import TroubleshootError
from troubleshoot.localise import render_as
from troubleshoot.model import Report
from troubleshoot.report import RENDERERS
from troubleshoot.report.redact import anonymize
from troubleshoot.rulepack.codec import pack_from_json

OUT_OF_MEMORY = "memory"
NAME_CHARS = 500


def main() -> None:
    """Serve standard input until it ends."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C goes to the whole group; the service ends us when it is done
    requests = os.fdopen(os.dup(0), "rb", buffering=0x10000)
    answers = os.fdopen(os.dup(1), "wb", buffering=0)
    os.dup2(2, 1)  # whatever prints to standard output must not tear a message
    first = read_frame(requests)
    if first is None:
        return
    head, (pack,) = first
    engine = Engine(pack_from_json(json.loads(pack)))
    del first, pack
    _warm(engine)
    _limit_memory(head["memory_bytes"])

    def answer(head: Head, bodies: Sequence[bytes] = ()) -> None:
        for piece in pack_frame(head, bodies):
            view = memoryview(piece)
            while view:
                view = view[answers.write(view) :]

    answer({"ready": engine.pack.hash})
    while (request := read_frame(requests)) is not None:
        try:
            answered = view(*request) if request[0]["op"] == "view" else scan(engine, *request)
        except TroubleshootError as error:
            answer({"error": type(error).__name__, "text": error.text, "help": error.help})
        except MemoryError:
            answer({"error": OUT_OF_MEMORY})
            return  # what is left of the memory is in pieces
        except Exception as error:  # the service must say 500, and this process is as good as before
            print(f"scan failed: {_where(error)}", file=sys.stderr, flush=True)
            answer({"error": "bug"})
        else:
            answer(*answered)
            del answered
        del request


def scan(engine: Engine, head: Head, bodies: list[bytes]) -> tuple[Head, list[bytes]]:
    """Return the answer to a request: a summary for metrics and store, and a body per format."""
    uploads = dict(zip(head["names"], bodies, strict=True))
    report = engine.scan_uploads(uploads, platform=head["platform"])
    anonymous = bool(head.get("anonymize"))
    report = anonymize(report) if anonymous else report
    rendered = [render_as(report, engine.pack, each).encode("utf-8", "replace") for each in head["formats"]]
    names: list[str] = []
    if head.get("redacted_logs"):
        for name, text in redacted_logs(uploads, anonymous=anonymous):
            names.append(name[:NAME_CHARS])
            rendered.append(text.encode("utf-8", "replace"))
    return {"summary": summary(report), "logs": names}, rendered


def view(head: Head, bodies: list[bytes]) -> tuple[Head, list[bytes]]:
    """Return the answer to who wants to read a log that only we can open."""
    uploads = dict(zip(head["names"], bodies, strict=True))
    shown = view_source(uploads, head["source"], head["around"])
    about = {"first_line": shown.first_line, "more_before": shown.more_before, "more_after": shown.more_after}
    return {"summary": about}, [shown.text.encode("utf-8", "replace")]


def summary(report: Report) -> dict[str, Any]:
    """Return what is counted of a report: never its texts."""
    return {
        "verdict": report.verdict.value,
        "rules": [each.rule for each in (*report.findings, *report.confirmations)],
        "bytes": report.stats.bytes,
        "lines": report.stats.lines,
        "seconds": report.stats.seconds,
        "pack": report.pack.hash,
    }


def _warm(engine: Engine) -> None:
    """Compile what is compiled on first use, so that the first request does not wait for it."""
    report = engine.scan_uploads({"warm-up": b"RuntimeError: warm-up\n" * 3})
    RENDERERS["json"](report)


def _limit_memory(memory_bytes: int) -> None:
    """Limit what this process may allocate from now on to so many bytes more."""
    with contextlib.suppress(ImportError, ValueError, OSError):  # no such limit on this system
        import resource

        with open("/proc/self/statm", encoding="ascii") as stream:  # noqa: PTH123 - no Path needed
            pages = int(stream.read().split()[5])
        used = pages * resource.getpagesize()
        resource.setrlimit(resource.RLIMIT_DATA, (used + memory_bytes, resource.RLIM_INFINITY))


def _where(error: Exception) -> str:
    """Return the kind of an error and where it was raised; its text may hold the log's."""
    trace = error.__traceback__
    while trace is not None and trace.tb_next is not None:
        trace = trace.tb_next
    place = f"{trace.tb_frame.f_code.co_filename}:{trace.tb_lineno}" if trace is not None else "?"
    return f"{type(error).__name__} at {place}"


if __name__ == "__main__":
    main()
