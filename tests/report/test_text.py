"""What a person at a terminal is told, and that the log cannot tell the terminal anything."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from report_samples import EMPTY, EVIDENCE, FINDING, HOSTILE, NASTY_LINE, OTHER, REPORT, SAMPLES, SYMPTOM, UNKNOWN

from troubleshoot.model import Confidence, Evidence, Note, Report, Role, Severity, Verdict
from troubleshoot.report import RENDERERS
from troubleshoot.report.look import Look
from troubleshoot.report.printable import cells, wrap
from troubleshoot.report.text import render_text

SGR = re.compile(r"\x1b\[[\d;]*m")


def report_with(text: str, start: int, end: int, source: str = "a.log") -> Report:
    evidence = Evidence(source, 7, 0, "line", text, start=start, end=end)
    return replace(REPORT, findings=(replace(FINDING, evidence=(evidence,)),))


@pytest.mark.parametrize("name", SAMPLES)
def test_text_is_as_agreed(name: str, golden: Callable[[str, str], None]) -> None:
    golden(f"{name}.txt", render_text(SAMPLES[name]))


def test_text_on_a_narrow_ascii_terminal_is_as_agreed(golden: Callable[[str, str], None]) -> None:
    golden("fault-narrow-ascii-colour.txt", render_text(REPORT, Look(colour=True, width=50, unicode=False)))


@pytest.mark.parametrize("colour", [True, False])
@pytest.mark.parametrize("width", [40, 100])
def test_no_control_character_of_the_log_is_printed(width: int, colour: bool) -> None:
    text = render_text(HOSTILE, Look(colour=colour, width=width), explain_sources=True)
    left = SGR.sub("", text) if colour else text
    unsafe = {char for char in left if (ord(char) < 32 and char != "\n") or 127 <= ord(char) < 160}
    assert unsafe == set()
    assert not set("\u202e\u202c\ud800") & set(left)
    assert "\\x1b]0;owned\\x07" in text.replace("\n", "")  # shown, not dropped


def test_colours_change_nothing_but_colour() -> None:
    painted = render_text(REPORT, Look(colour=True))
    assert SGR.sub("", painted) == render_text(REPORT)
    assert "\x1b[" in painted


def test_match_is_painted_exactly() -> None:
    text = render_text(report_with("one two three", 4, 7), Look(colour=True))
    assert "one \x1b[1;33mtwo\x1b[0m three" in text


@pytest.mark.parametrize("where", [0, 3_000, 5_900])
@pytest.mark.parametrize("filler", ["word ", "x", "\u4f60", "\x1b"])
def test_long_line_is_cut_around_its_match(where: int, filler: str) -> None:
    line = (filler * 6_000)[:6_000]
    line = line[:where] + "THE MATCH" + line[where:]
    text = render_text(report_with(line, where, where + 9), Look(width=80))
    evidence = text.split("Evidence\n")[1].split("\n\n")[0]
    assert "THE MATCH" in evidence
    assert "…" in evidence
    assert all(cells(row) <= 80 for row in evidence.split("\n"))
    assert len(evidence.split("\n")) <= 3


@pytest.mark.parametrize("width", [40, 60, 100])
@pytest.mark.parametrize("name", [each for each in SAMPLES if each != "hostile"])
def test_prose_keeps_within_the_width(name: str, width: int) -> None:
    lines = render_text(SAMPLES[name], Look(width=width)).split("\n")
    commands = "       "  # never wrapped, so that they can be copied
    urls = "  https://"
    assert [row for row in lines if cells(row) > width and not row.startswith((commands, urls))] == []


def test_long_place_has_the_line_below_it() -> None:
    text = render_text(report_with("it failed", 3, 9, source="logs/attempt_0/worker-3/" + "x" * 40 + "/stderr.log"))
    assert re.search(r"stderr\.log:7\n    it failed\n", text)


def test_traceback_is_shown_line_by_line_with_numbers() -> None:
    text = render_text(report_with("Traceback:\n  File x\nOSError: boom", 23, 30))
    assert "a.log:7  Traceback:\n  a.log:8    File x\n  a.log:9  OSError: boom\n" in text


def test_commands_are_never_wrapped_or_decorated() -> None:
    command = FINDING.fixes[1].run[0]
    assert f"\n       {command}\n" in render_text(REPORT, Look(width=60))


def test_six_lines_of_evidence_and_the_rest_as_a_number() -> None:
    many = tuple(replace(EVIDENCE, line=line) for line in range(10))
    text = render_text(replace(REPORT, findings=(replace(FINDING, evidence=many),)))
    assert "+ 4 more (--format json)" in text


def test_likeliest_cause_is_first_and_symptoms_are_folded() -> None:
    lines = render_text(REPORT).split("\n")
    assert lines[0] == FINDING.title
    assert f"Follow-on symptoms: {SYMPTOM.title} (mpi/launch-failed, ranks 0-62)" in lines


def test_symptom_alone_says_that_its_cause_is_not_there() -> None:
    text = render_text(replace(REPORT, findings=(replace(SYMPTOM, explained_by=()),)))
    assert text.startswith(SYMPTOM.title)
    assert "a symptom: its cause is not in what was read" in text


def test_weak_answer_comes_with_lines_worth_reading() -> None:
    weak = replace(FINDING, confidence=Confidence.LOW)
    assert "Lines worth reading\n  worker-3.log:40" in render_text(replace(REPORT, findings=(weak,)))
    assert "Lines worth reading" not in render_text(REPORT)


def test_many_findings_and_notes_are_counted_not_dropped() -> None:
    others = tuple(replace(OTHER, rule=f"a/b{index}") for index in range(15))
    notes = tuple(Note("cut", f"cut {index}") for index in range(15))
    text = render_text(replace(REPORT, findings=(FINDING, *others), notes=notes))
    assert "+ 5 more (--format json)" in text
    assert "note: + 5 more (--format json)" in text


def test_unknown_fault_gives_lines_worth_reading_and_the_next_step() -> None:
    text = render_text(UNKNOWN)
    assert text.startswith("No known fault. Lines worth reading:")
    assert "worker-3.log:40" in text
    assert "troubleshoot rules suggest LOG" in text


def test_nothing_found_says_what_was_read() -> None:
    text = render_text(SAMPLES["clean"])
    assert text.startswith("Nothing found")
    assert "Read 3 sources: 21,701 lines, 1.3 MB, with 312 rules" in text
    assert "the input is empty" in render_text(EMPTY)


def test_sources_are_explained_when_asked_for() -> None:
    assert "worker-3.log: 20,433 lines" not in render_text(REPORT)
    assert "worker-3.log: 20,433 lines, 1.2 MB, utf-8, wrapper cri, host worker-3, rank 3" in render_text(
        REPORT, explain_sources=True
    )


def test_retry_and_owner_are_said_where_they_are_not_the_ordinary_case() -> None:
    finding = replace(FINDING, owner="platform", retry="yes", role=Role.CAUSE)
    text = render_text(replace(REPORT, findings=(finding,)))
    assert "Fix (for the platform's administrators; running it again may be enough)" in text
    assert "Fix\n" in render_text(REPORT)


def test_variants_keep_the_order_that_the_finding_gives_them() -> None:
    text = render_text(REPORT)
    assert text.index("runai-cli:") < text.index("runai-ui:") < text.index("yaml:")


def test_wide_characters_are_measured_in_cells() -> None:
    assert (cells("abc"), cells("你好"), cells("e\u0301"), cells(NASTY_LINE) > len(NASTY_LINE)) == (3, 4, 1, True)
    explanation = "共享库文件太旧" * 20
    text = render_text(replace(REPORT, findings=(replace(FINDING, explanation=explanation),)), Look(width=60))
    assert all(cells(row) <= 60 for row in text.split("\n") if "共享" in row)


def test_empty_line_among_the_evidence_is_shown_with_its_number() -> None:
    text = render_text(report_with("one\n\nthree", 0, 10))
    assert "a.log:7  one\n  a.log:8\n  a.log:9  three\n" in text


ANY_TEXT = st.text(
    st.characters(codec="utf-8") | st.sampled_from("\x1b\x9b\u202e\n\r\t\ud800\u0301\u4f60 "), max_size=300
)


@settings(max_examples=60, deadline=None)
@given(text=ANY_TEXT, title=ANY_TEXT, start=st.integers(0, 300), length=st.integers(0, 300), width=st.integers(40, 100))
def test_any_text_is_rendered_safely(text: str, title: str, start: int, length: int, width: int) -> None:
    report = report_with(text, min(start, len(text)), min(start + length, len(text)), source=title or "a")
    finding = replace(report.findings[0], title=title, explanation=text, fixes=(replace(FINDING.fixes[0], do=text),))
    shown = render_text(replace(report, findings=(finding,)), Look(width=width))
    assert not {char for char in shown if (ord(char) < 32 and char != "\n" and char != "\t") or 127 <= ord(char) < 160}
    shown.encode()


@pytest.mark.parametrize("format", ["text", "markdown", "slack"])
def test_a_clean_report_shows_what_is_worth_knowing(format: str) -> None:
    """A finding of low severity makes no fault, and must still be seen."""
    notice = replace(FINDING, severity=Severity.LOW, title="A notice with its own words")
    report = replace(REPORT, verdict=Verdict.CLEAN, findings=(notice,))
    rendered = RENDERERS[format](report)
    assert "A notice with its own words" in rendered
    assert "Nothing found" not in rendered


def test_punctuation_of_wide_text_is_not_parted_from_its_word() -> None:
    text = "镜像太旧（需要 glibc 2.34），请更换基础镜像。然后重新运行、并查看「结果」。"
    for width in range(8, 40):
        lines = wrap(text, width)
        assert all(line[0] not in "，。、）」" and line[-1] not in "（「" for line in lines), (width, lines)
        assert "".join(lines).replace(" ", "") == text.replace(" ", "")


def test_chinese_words_stand_in_columns_of_cells() -> None:
    text = render_text(replace(REPORT, language="zh-CN"), Look(width=60))
    lines = text.split("\n")
    where = next(line for line in lines if line.startswith("位置"))
    why = next(line for line in lines if line.startswith("原因"))
    rows = [line for line in lines if line.startswith(("  高", "  中", "  低", "  紧急"))]
    assert cells(where[: where.index("launcher.log")]) == cells(why[: len(why) - len(why[2:].lstrip())]) == 10
    assert {cells(row) - cells(row[2:].lstrip().partition(" ")[2].lstrip()) for row in rows} == {11}
    assert all(cells(line) <= 60 for line in lines if not line.startswith("     "))
