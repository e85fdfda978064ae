"""What stood side by side, in a gutter or in string literals comes apart, each line where it stood."""

from __future__ import annotations

from reading import rows, texts

from troubleshoot.engine import Engine
from troubleshoot.ingest import open_text

PANES = "│step 1    │ top - 20:15:04\n│Killed    │ %Cpu(s): 1.2\n│step 2    │\n"
PANEL = (
    "╭──── Traceback ────╮\n│ /code/train.py:88 │\n│                   │\n"
    "│ loss.backward()   │\n╰───────────────────╯\n"
    "RuntimeError: x\n"
)
TABLE = "│ a │ b │ c │ d │\n" * 4


def test_panes_come_one_below_the_other() -> None:
    found = rows(PANES)
    assert [(line, text) for line, _, text in found] == [
        (1, "step 1"), (2, "Killed"), (3, "step 2"), (1, "top - 20:15:04"), (2, "%Cpu(s): 1.2"),
    ]  # fmt: skip
    raw = PANES.encode()
    assert all(raw[offset:].startswith(text.encode()) for _, offset, text in found)


def test_panel_loses_its_border() -> None:
    found = [text.rstrip() for text in texts(PANEL)]
    assert found[1:3] == ["/code/train.py:88", "loss.backward()"]
    assert found[-1] == "RuntimeError: x"


def test_table_of_many_columns_stays() -> None:
    assert texts(TABLE) == TABLE.splitlines()


def test_gutter_of_wrapped_lines_comes_off() -> None:
    text = (
        "     41 RuntimeError: something that is lo\n        nger than the window of the pager\n"
        "     42 second\n     43 third\n"
    )
    source = open_text(text)
    found = [
        (line, source.normaliser.peel(said, line).text)
        for block in source.blocks()
        for line, said in enumerate(bytes(block.data).decode().splitlines(), 1)
    ]
    assert found == [
        (1, "RuntimeError: something that is lo"), (2, "nger than the window of the pager"),
        (3, "second"), (4, "third"),
    ]  # fmt: skip


def test_numbers_with_other_text_are_no_gutter() -> None:
    text = "  1 first\n  2 second\nthird\n"
    assert texts(text) == text.splitlines()


def test_literals_in_a_row_are_one_string() -> None:
    text = "['RuntimeError: NCCL error in the middle of a long line that was '\n 'broken by pprint',\n 'second']\n"
    source = open_text(text)
    list(source.blocks())
    (joined,) = source.joined_blocks() or ()
    assert b"line that was broken by pprint" in bytes(joined.data)
    assert joined.line_map is not None and joined.line_map.lines[0] == 1
    other = open_text("'first'\n'second'\n")
    list(other.blocks())
    assert other.joined_blocks() is None


def test_markdown_escapes_and_forms() -> None:
    assert texts("version \\`GLIBC\\_2.34' in x86\\_64 \\[rank3\\]\n") == ["version `GLIBC_2.34' in x86_64 [rank3]"]
    assert texts("match \\[a-z] and _this_ [x]\n") == ["match \\[a-z] and _this_ [x]"]
    form = "log=RuntimeError%3A%20boom%0Asecond%20line%0A&id=1\n"
    assert [(line, text) for line, _, text in rows(form)] == [
        (1, "log=RuntimeError: boom"), (1, "second line"), (1, "&id=1"),
    ]  # fmt: skip
    assert texts("a 100%0A of 5%20 and many words\n") == ["a 100%0A of 5%20 and many words"]


def test_line_of_a_finding_in_a_pane_is_that_of_the_paste() -> None:
    log = "│step 1                                    │ top\n" * 3
    log += "│gpu-17 kernel: NVRM: Xid (PCI:0000:4e:00): 79, GPU has fallen off the bus │ x\n".replace("│ x", "│")
    report = Engine.default().scan_text(log)
    assert [finding.evidence[0].line for finding in report.findings] == [4]
