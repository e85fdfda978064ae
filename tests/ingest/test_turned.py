"""Sources newest first: read oldest first, each line still placed where it stands."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from reading import Row, rows, rows_of

from troubleshoot import limits
from troubleshoot.clocks import certainly_before
from troubleshoot.engine import scan_source
from troubleshoot.ingest import OpenSource, open_sources, open_text
from troubleshoot.model import Hit, Pattern, PatternUse, RulePack
from troubleshoot.scan.scanner import Scanner

EVENTS = [*(f"step {i}" for i in range(6)), "the link went down", "Traceback", "ValueError: x"]


def stamped(newest_first: bool = True) -> str:
    lines = [f"2026-11-30T20:15:{10 + i}.000Z {text}" for i, text in enumerate(EVENTS)]
    return "".join(f"{line}\n" for line in (reversed(lines) if newest_first else lines))


def hits(source: OpenSource, *patterns: str) -> list[Hit]:
    made = tuple(Pattern(number, "regex", each, each) for number, each in enumerate(patterns))
    users = tuple((PatternUse(f"test/rule-{number}", "line"),) for number in range(len(made)))
    return list(scan_source(Scanner(RulePack("test", "1", "", {}, made, users)), source).hits)


def test_lines_come_oldest_first_and_keep_their_places() -> None:
    text = stamped()
    found = rows(text)
    assert [row[2][25:] for row in found] == EVENTS
    assert [row[0] for row in found] == [9, 8, 7, 6, 5, 4, 3, 2, 1]
    assert all(text.encode()[offset:].decode().startswith(line) for _, offset, line in found)


def test_oldest_first_stays() -> None:
    found = rows(stamped(newest_first=False))
    assert [row[0] for row in found] == [*range(1, 10)]


def test_lines_without_a_time_stay_below_theirs() -> None:
    lines = [f"2026-11-30T20:15:{20 - i:02d}Z step {i}\n  more of {i}\n" for i in range(8)]
    found = rows("export of today\n" + "".join(lines))
    assert found[0] == (1, 0, "export of today")
    assert [row[0] for row in found[1:5]] == [16, 17, 14, 15]
    assert found[2][2] == "  more of 7"


def test_order_of_hits_is_that_of_writing() -> None:
    found = hits(open_text(stamped()), "link went down", "ValueError")
    assert [(hit.record.line, hit.pattern) for hit in found] == [(3, 0), (1, 1)]
    assert certainly_before(found[0], found[1]) is True
    assert certainly_before(found[1], found[0]) is False


def test_pattern_over_lines_sees_them_in_order() -> None:
    made = (Pattern(0, "regex", "over", r"Traceback\nValueError", lines=2),)
    pack = RulePack("test", "1", "", {}, made, ((PatternUse("test/rule", "line"),),))
    (hit,) = scan_source(Scanner(pack), open_text(stamped())).hits
    assert (hit.record.line, hit.record.offset) == (2, stamped().index("2026-11-30T20:15:17"))
    assert hit.record.line <= hit.record.end_line


@pytest.mark.parametrize("count", [2_000, 40_000])
def test_larger_file_is_turned_too(tmp_path: Path, count: int) -> None:
    lines = [
        f"2026-11-30T{i // 3600 % 24:02d}:{i // 60 % 60:02d}:{i % 60:02d}.000Z step {i} of many more to come"
        for i in range(count)
    ]
    lines[count // 2] += " zygotes"
    path = tmp_path / "export.log"
    path.write_text("".join(f"{line}\n" for line in reversed(lines)))
    (source,) = open_sources([path])
    found: list[Row] = rows_of(source, 1 << 16)
    assert [row[2] for row in found] == lines
    assert found[0][0] == count
    assert found[-1][:2] == (1, 0)
    (hit,) = hits(*open_sources([path]), "zygotes")
    assert hit.record.line == count - count // 2
    assert "read from the last one up" in source.notes()[0].text


def test_too_large_a_source_stays_and_says_so(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(limits, "TURN_BYTES", 100_000)
    lines = [f"2026-11-30T20:{59 - i // 60 % 60:02d}:{59 - i % 60:02d}Z step {i}" for i in range(3500)]
    path = tmp_path / "export.log"
    path.write_text("".join(f"{line}\n" for line in lines))
    (source,) = open_sources([path])
    assert [row[2] for row in rows_of(source, 1 << 16)] == lines
    assert [note.code for note in source.notes()] == ["newest-first"]
    assert "too many to be turned" in source.notes()[0].text


def test_messages_of_several_lines_in_one_record_keep_their_order() -> None:
    records = [
        {"timestamp": 1796069704000 + i, "message": f"event {i}\n  more of {i}\n", "ingestionTime": 1} for i in range(9)
    ]
    text = "".join(json.dumps(record) + "\n" for record in reversed(records))
    found = rows(text)
    assert [(line, said[25:]) for line, _, said in found[:4]] == [
        (9, "event 0"), (9, "  more of 0"), (8, "event 1"), (8, "  more of 1"),
    ]  # fmt: skip
    one = json.dumps({"events": records[::-1]})
    assert [said[25:] for _, _, said in rows(one)[:4]] == ["event 0", "  more of 0", "event 1", "  more of 1"]


def test_inner_times_do_not_hide_it() -> None:
    lines = [f"2026-11-30T20:15:{30 - i:02d}.900Z 2026-11-30 20:15:{30 - i:02d},100 step" for i in range(9)]
    assert rows("\n".join(lines))[0][0] == 9
