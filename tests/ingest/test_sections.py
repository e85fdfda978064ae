"""Several logs in one text: whose lines they are; and what a text says of itself."""

from __future__ import annotations

import pytest
from reading import rows_of

from troubleshoot import limits
from troubleshoot.ingest import open_text
from troubleshoot.model import Identity

DUMP = """==== START logs for container init of pod team-a/bert-worker-0 ====
hello
==== END logs for container init of pod team-a/bert-worker-0 ====
between
==== START logs for container pytorch of pod team-a/bert-worker-0 ====
[rank3]: boom
==== END logs for container pytorch of pod team-a/bert-worker-0 ====
"""
TAILED = "==> logs/rank-3/stderr.log <==\nboom\n\n==> logs/rank-4/stderr.log <==\nother\n"


def identities(text: str, large: bool = False) -> list[Identity]:
    filler = "filler\n" * (limits.PASTE_BYTES // 7 + 1) if large else ""
    source = open_text(text + filler)
    found = rows_of(source)[: text.count("\n")]
    return [source.normaliser.peel(shown, line).identity for line, _, shown in found]


@pytest.mark.parametrize("large", [False, True])
def test_cluster_info_dump(large: bool) -> None:
    found = identities(DUMP, large)
    assert found[1] == Identity(pod="bert-worker-0", container="init")
    assert found[3] == Identity()
    assert found[5] == Identity(pod="bert-worker-0", container="pytorch", rank=3)


def test_tail_of_several_files() -> None:
    found = identities(TAILED)
    assert (found[1].rank, found[1].stream) == (3, "stderr")
    assert found[4].rank == 4


def codes(text: str) -> list[str]:
    source = open_text(text)
    rows_of(source)
    return [note.code for note in source.notes()]


@pytest.mark.parametrize(
    "mark", ["...", "…", "[truncated]", "<snip>", "(output omitted)", "… 40 more lines", "Show more", "[log truncated]"]
)
def test_text_that_says_it_was_cut_is_noted(mark: str) -> None:
    assert codes(f"Traceback\n{mark}\nValueError: x\n") == ["truncated"]


@pytest.mark.parametrize("line", ["loading...", "the file was truncated", "a ... b", "see more below"])
def test_ordinary_words_are_no_cut(line: str) -> None:
    assert codes(f"Traceback\n{line}\nValueError: x\n") == []


def test_newest_first_is_noted() -> None:
    lines = [f"2026-11-30T20:15:{59 - i:02d}Z line {i}" for i in range(20)]
    assert codes("\n".join(lines)) == ["newest-first"]
    assert codes("\n".join(reversed(lines))) == []
