"""What is found in a source as it arrives: reading, repairs, peeling and search together."""

from __future__ import annotations

from dataclasses import replace

from troubleshoot.engine import scan_source
from troubleshoot.ingest import open_text
from troubleshoot.model import Pattern, PatternUse, RulePack, ScanResult
from troubleshoot.scan.scanner import Scanner


def hits(data: str | bytes, *patterns: str) -> ScanResult:
    """Return what patterns find in a paste."""
    made = tuple(replace(Pattern(number, "regex", each, each)) for number, each in enumerate(patterns))
    users = tuple((PatternUse(f"test/rule-{number}", "line"),) for number in range(len(made)))
    return scan_source(Scanner(RulePack("test", "1", "", {}, made, users)), open_text(data))


def lines_of(result: ScanResult, pattern: int = 0) -> list[int]:
    return [hit.record.line for hit in result.hits if hit.pattern == pattern]


def test_hit_in_a_later_row_of_a_hard_wrapped_line_counts_once() -> None:
    data = (
        "./train: /opt/lib/libopen-rte.so.40: cannot be used by this program: version `G\n"
        "LIBC_2.34' not found, zygotes lost (required by /opt/lib/libopen-rte.so.40) zygo\n"
        "(required by /opt/lib/libopen-rte.so.40), which was found beside the program it\n"
    )
    result = hits(data, "zygotes lost", "GLIBC_2.34")
    assert lines_of(result, 0) == [2]
    assert lines_of(result, 1) == [1]
    assert result.counts == {0: 1, 1: 1}


def test_message_that_was_broken_before_each_line_was_wrapped_is_found() -> None:
    message = "./train: /lib/x86_64-linux-gnu/libc.so.6: version `GLIBC_2.34' not found (required by /opt/lib/x.so.40)"
    pieces = [message[:80], message[80:], "second line of the log", "third"]
    lines = [f"2026-11-30T20:15:0{i}.123456789Z {piece.ljust(80)}" for i, piece in enumerate(pieces)]
    result = hits("\n".join(lines) + "\n", r"GLIBC_2\.34' not found \(required by /opt/lib/x\.so\.40\)")
    assert lines_of(result) == [1]
    assert result.hits[0].record.offset == 0
