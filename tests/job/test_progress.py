"""The last steps of each rank, read from the end of a source."""

from __future__ import annotations

import pytest
from bundles import rank_log
from hypothesis import given, settings
from hypothesis import strategies as st

from troubleshoot import limits
from troubleshoot.engine import last_progress
from troubleshoot.ingest.sources import open_text
from troubleshoot.job.progress import Tail, steps_in
from troubleshoot.model import Progress


def progress_of(text: str, name: str = "job.log", size: int = 1 << 22) -> tuple[Progress, ...]:
    opened, tail = open_text(text, name), Tail()
    for _ in tail.watch(opened.blocks(size)):
        pass
    return last_progress(tail, opened, len(text.encode()))


LINES = [
    (" iteration      100/  500000 | consumed samples: 25600 |", (None, 100)),
    ("{'loss': 1.2, 'step': 40}", (None, 40)),
    ('{"global_step": 41, "loss": 2.0}', (None, 41)),
    (" 45%|####5     | 45/100 [00:12<00:15,  3.5it/s]", (None, 45)),
    ("Epoch 3:  45%|####5     | 45/100 [00:12<00:15]", (3, 45)),
    ("Epoch: [0][  10/5004]\tTime  0.3", (0, 10)),
    ("Epoch 3/10", (3, 0)),
    ("step 5 gradient overflow, skipping step, loss scale 1.0e+04 -> 5.0e+03", (None, 5)),
    ("saved checkpoints/step-40.pt", None),
    ("loss = train_step(model, optimizer)", None),
    ("resuming from step 40", None),
    ("FloatingPointError: loss is nan at step 5", None),
    ("Loading checkpoint shards:  50%|#####     | 1/2 [00:01<00:01]", None),
    ("steps: 12.5 per second", None),
]


@pytest.mark.parametrize(("line", "steps"), LINES)
def test_steps_of_a_line(line: str, steps: tuple[int | None, int] | None) -> None:
    assert steps_in(line) == steps


def test_last_steps_of_one_rank() -> None:
    found = progress_of(rank_log(3, 8, 20, fails=True), "rank-3.log")
    assert [each.step for each in found] == [18, 19, 20]
    assert {each.identity.rank for each in found} == {3}
    assert found[-1].line == 21
    assert found[-1].stamp is not None


def test_every_rank_that_shares_a_log_is_found() -> None:
    lines = [f"[rank {rank}] step {step} loss 2.0" for step in range(9) for rank in range(300)]
    lines += [f"[rank{rank}]: RuntimeError: Connection closed by peer" for rank in range(300)]
    found = progress_of("\n".join(lines))
    assert {each.identity.rank for each in found} == set(range(300))
    assert max(each.step for each in found) == 8


def test_world_that_a_line_states() -> None:
    assert [each.world for each in progress_of("rank 1/4 step 3 loss 0.5\n")] == [4]


def test_lines_beyond_the_tail_are_not_read() -> None:
    noise = "x" * 99 + "\n"
    text = "step 7 loss 1.0\n" + noise * (limits.TAIL_BYTES // 100 + 1)
    assert progress_of(text) == ()
    assert [each.step for each in progress_of(text + "step 9 loss 1.0\n")] == [9]


@settings(max_examples=40, deadline=None)
@given(st.integers(16, 4000), st.integers(0, 400), st.booleans())
def test_blocks_do_not_matter(size: int, noise: int, ends: bool) -> None:
    lines = [f"2026-11-30 20:00:{at % 60:02d} [rank {at % 5}] step {at // 5} loss 1.0" for at in range(60)]
    text = "\n".join(lines + ["y" * (at % 90) for at in range(noise)]) + ("\n" if ends else "")
    text = "z" * 120 + "\n" + text
    padded = "q" * 79 + "\n"
    large = padded * (limits.PASTE_BYTES // 80 + 1) + text
    assert progress_of(large, size=size * 64) == progress_of(large)
    assert progress_of(text, size=size) == progress_of(text)


def test_steps_before_a_flood_of_other_text_are_found() -> None:
    """The flood is longer than what is kept of the end."""
    flood = "2026-11-30 20:00:30,000 [rank 3] WARNING retrying the collective, peer 10.0.0.5 is silent\n"
    text = rank_log(3, 8, 40_000, echoes=False) + flood * (3 * limits.TAIL_BYTES // len(flood))
    found = progress_of(text, "rank-3.log")
    assert [each.step for each in found] == [39_998, 39_999, 40_000]
    assert found[-1].line == 40_001


def test_flood_without_steps_before_it_is_not_searched(monkeypatch: pytest.MonkeyPatch) -> None:
    flood = "2026-11-30 20:00:30,000 [rank 3] WARNING retrying the collective, peer 10.0.0.5 is silent\n"
    opened, tail = open_text(flood * (3 * limits.TAIL_BYTES // len(flood)), "rank-3.log"), Tail()
    for _ in tail.watch(opened.blocks()):
        pass
    monkeypatch.setattr(opened, "behind", lambda end: pytest.fail("nothing tells that there are steps"))
    assert last_progress(tail, opened, 3 * limits.TAIL_BYTES) == ()


@pytest.mark.parametrize("piece", [1_000, 4_096, 100_000])
def test_pieces_that_are_read_backwards_may_be_cut_anywhere(monkeypatch: pytest.MonkeyPatch, piece: int) -> None:
    monkeypatch.setattr(limits, "FAR_PIECE_BYTES", piece)
    monkeypatch.setattr(limits, "TAIL_BYTES", 20_000)
    flood = "2026-11-30 20:00:30,000 [rank 3] WARNING retrying\n" * 30_000
    found = progress_of(rank_log(3, 8, 30_000, echoes=False) + flood, "rank-3.log")
    assert [(each.step, each.line) for each in found] == [(29_998, 29_999), (29_999, 30_000), (30_000, 30_001)]
