"""What chats, tickets, mail and web pages do to a log is undone for small sources."""
# ruff: noqa: E501 - samples stand on one line, as programs print them

from __future__ import annotations

import pytest
from reading import peeled, rows, rows_of, texts

from troubleshoot.ingest import open_text

PASTES = {
    "entities": ("&lt;stderr&gt;: x &quot;y&quot; &amp; &#39;z&#x27;&nbsp;!", ["<stderr>: x \"y\" & 'z' !"]),
    "entities twice": ("&amp;lt;module&amp;gt; &amp;amp;", ["<module> &"]),
    "tags": ("<pre><code>a<br>b<br/>c</code></pre>\n<p>d</p>\n<div class=\"x\">e</div>", ["a", "b", "c", "d", "e"]),
    "what programs print in angle brackets stays": ("[1,3]<stderr>:in <module> <N/A> <0> vector<int>", ["[1,3]<stderr>:in <module> <N/A> <0> vector<int>"]),
    "slack links": ("see <http://node-1/p|node-1/p> <mailto:a@b.example|a@b.example> <@U123> <#C12|gen> <!here> <https://x.example/y>", ["see node-1/p a@b.example @U123 #gen @here https://x.example/y"]),
    "fences": ("```python\nTraceback\n```\n{code:python}\nx\n{code}\n{noformat}y{noformat}", ["", "Traceback", "", "", "x", "", "y"]),
    "glued fences": ("```Traceback\nValueError: x```", ["Traceback", "ValueError: x"]),
    "lost escapes": ("^[[31mred^[[0m #033[1mbold#033[0m \\u001b[36mcyan\\u001b[0m \\x1b[2Kx \\033[0my ␛[31mz\ufffd[0m", ["red bold cyan x y z"]),
    "bare colours with a reset": ("[31mred[0m [1;32mgreen[m", ["red green"]),
    "bare reset at the end of a line": ("second line of red[0m\n", ["second line of red"]),
    "brackets before an m are no colours": ("using [mlx5_0] after [0min]: \ufffd[rank3] [meta@1 x]", ["using [mlx5_0] after [0min]: \ufffd[rank3] [meta@1 x]"]),
    "brackets before an m beside colours": ("[31mred[0m: using [mlx5_0]", ["red: using [mlx5_0]"]),
    "bare colours without a reset stay": ("see [31m] and [12]", ["see [31m] and [12]"]),
    "dumped string": ('err="Traceback:\\n  File \\"x.py\\"\\nValueError: y"', ['err="Traceback:', '  File "x.py"', 'ValueError: y"']),
    "one escaped break stays": ("print('a\\n')", ["print('a\\n')"]),
    "ranks that ran together": ("[1,3]<stderr>:RuntimeError: a[1,4]<stderr>:ImportError: b", ["[1,3]<stderr>:RuntimeError: a", "[1,4]<stderr>:ImportError: b"]),
    "torch ranks that ran together": ("[rank3]: RuntimeError: a[rank4]: ImportError: b", ["[rank3]: RuntimeError: a", "[rank4]: ImportError: b"]),
    "stacked tags stay together": ("[default3]:[rank11]: a", ["[default3]:[rank11]: a"]),
    "smart quotes stay": ("File “x.py”, can’t open ‘y’ — see…", ["File “x.py”, can’t open ‘y’ — see…"]),
}  # fmt: skip


@pytest.mark.parametrize("name", sorted(PASTES))
def test_paste(name: str) -> None:
    data, expected = PASTES[name]
    assert texts(data) == expected


@pytest.mark.parametrize("name", sorted(PASTES))
def test_repairing_twice_is_repairing_once(name: str) -> None:
    once = texts(PASTES[name][0])
    assert texts("\n".join(once)) == once


def test_places_of_pieces_are_the_source_s() -> None:
    assert rows("x\n<p>a<br>b &lt;</p>\n") == [(1, 0, "x"), (2, 2, "a"), (2, 10, "b <")]
    assert rows("[1,3]<stderr>:a[1,4]<stderr>:b\n") == [(1, 0, "[1,3]<stderr>:a"), (1, 15, "[1,4]<stderr>:b")]
    assert rows("a: x\\n b\\n c\nnext") == [(1, 0, "a: x"), (1, 6, " b"), (1, 10, " c"), (2, 13, "next")]


def test_quoted_printable_mail() -> None:
    data = (
        "RuntimeError: NCCL error: unhandled system error (run with NCCL_DEBUG=3DINF=\r\n"
        "O for details) caf=C3=A9=20\r\n"
        "File =E2=80=9Ctrain.py=E2=80=9D, line 8=\r\n"
        "8\r\n"
        "last\r\n"
    )
    assert [(line, text.rstrip("\r")) for line, _, text in rows(data)] == [
        (1, "RuntimeError: NCCL error: unhandled system error (run with NCCL_DEBUG=INFO for details) café "),
        (3, "File “train.py”, line 88"),
        (5, "last"),
    ]


QUOTED = {
    "mail": ("> RuntimeError: a\n> second\n> third", ["RuntimeError: a", "second", "third"]),
    "mail as html": ("&gt; [rank3]: RuntimeError: a\n&gt; second", ["RuntimeError: a", "second"]),
    "deep": (">> > File x\n>> > y", ["File x", "y"]),
    "numbered": ("   1  Traceback\n   2    File x\n   3  ValueError: y\n", ["Traceback", "  File x", "ValueError: y"]),
    "cat -n": ("     1\tTraceback\n     2\t  File x\n     3\tValueError: y\n", ["Traceback", "  File x", "ValueError: y"]),
    "grep -n": ("12:RuntimeError: a\n48:RuntimeError: b\n50:x", ["RuntimeError: a", "RuntimeError: b", "x"]),
    "numbered list": ("1. RuntimeError: a\n2. second\n3. third", ["RuntimeError: a", "second", "third"]),
    "mail with bars": ("| RuntimeError: a\n| second\n| third", ["RuntimeError: a", "second", "third"]),
    "a table's bars stay": ("| RuntimeError | a |\n| second | b |\n| third | c |", ["| RuntimeError | a |", "| second | b |", "| third | c |"]),
    "indented": ("    Traceback\n      File x\n    ValueError: y", ["Traceback", "  File x", "ValueError: y"]),
    "bullets": ("• RuntimeError: a\n• second", ["RuntimeError: a", "second"]),
    "coloured and quoted": ("> \x1b[31mRuntimeError\x1b[0m: a\n> b", ["RuntimeError: a", "b"]),
}  # fmt: skip


@pytest.mark.parametrize("name", sorted(QUOTED))
def test_what_was_put_before_each_line_comes_off(name: str) -> None:
    data, expected = QUOTED[name]
    assert peeled(data) == expected


def test_hard_wrapped_paste_has_a_shadow_of_joined_lines() -> None:
    data = "intro\nmpirun: /lib/libc.so.6: version `GLIBC_2.34' not found\n(required by /opt/lib/libopen-rte.so.40)\nnext\n"
    source = open_text(data)
    rows_of(source)
    blocks = source.joined_blocks()
    assert blocks is not None
    (block,) = blocks
    assert block.line_map is not None
    assert bytes(block.data).decode().splitlines()[0] == data.split("\n", 1)[1].split("\nnext")[0].replace("\n", " ")
    assert (block.line_map.lines[0], block.line_map.offsets[0], source.joined_end(2)) == (2, 6, 3)


def test_text_that_was_not_wrapped_has_no_shadow() -> None:
    source = open_text("Traceback (most recent call last):\nValueError: x\n")
    rows_of(source)
    assert source.joined_blocks() is None
