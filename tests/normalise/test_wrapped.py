# ruff: noqa: E501 - samples stand on one line, as programs print them
from __future__ import annotations

import textwrap

import pytest

from troubleshoot.model import LineMap
from troubleshoot.normalise.wrapped import join_wrapped

LOADER = "./train: error while loading shared libraries: libmpi.so.40: cannot open shared object file: No such file"
NCCL = (
    "node-17:812:901 [0] NCCL WARN NET/IB : Got completion from peer 10.0.3.77<41230> with status=12 opcode=0 len=0 "
    "vendor err 129 (Recv) localGid fe80::1 remoteGids fe80::2 hca mlx5_0"
)
TRACEBACK = """Traceback (most recent call last):
  File "/opt/train/train.py", line 88, in main
    loss = model(batch["input_ids"].to(device), attention_mask=batch["mask"].to(device))
  File "/opt/train/model.py", line 41, in forward
    return self.head(self.body(x))
torch.OutOfMemoryError: CUDA out of memory."""


def joined(text: str) -> list[tuple[int, str]]:
    rows = text.split("\n")
    found = join_wrapped(rows, LineMap(range(1, len(rows) + 1), [0] * len(rows)))
    if found is None:
        return []
    lines = found.text.data.decode().splitlines()
    return list(zip(found.text.map.lines, lines, strict=True))


def broken_anywhere(text: str, width: int) -> str:
    return "\n".join(line[i : i + width] for line in text.split("\n") for i in range(0, max(1, len(line)), width))


def broken_at_blanks(text: str, width: int) -> str:
    return "\n".join(piece for line in text.split("\n") for piece in textwrap.wrap(line, width) or [""])


@pytest.mark.parametrize("width", [60, 72, 76, 80, 100])
@pytest.mark.parametrize("break_", [broken_anywhere, broken_at_blanks])
def test_wrapped_lines_are_whole_again(width: int, break_: object) -> None:
    assert callable(break_)
    found = joined(break_("\n".join([LOADER, NCCL, LOADER, NCCL]), width))
    assert LOADER in [text for _, text in found]
    assert NCCL in [text for _, text in found]
    assert found[0][0] == 1


def test_terminal_that_lost_the_blank_at_its_edge() -> None:
    text = "\n".join(line.rstrip() for line in broken_anywhere("\n".join([NCCL, NCCL + " x", LOADER]), 80).split("\n"))
    assert any("status=12 opcode=0" in line for _, line in joined(text))


@pytest.mark.parametrize("at", [60, 72, 80, 100])
def test_one_long_line_broken_once_is_whole_again(at: int) -> None:
    text = f"hello, my job fails\n\n{LOADER[:at]}\n{LOADER[at:]}\n\nwhat can I do?"
    assert (3, LOADER) in joined(text)


def test_loader_message_over_two_lines_is_joined_whatever_the_width() -> None:
    text = "mpirun: /lib/libc.so.6: version 'GLIBC_2.34' not found\n(required by /opt/lib/libopen-rte.so.40)\nnext"
    assert joined(text)[0] == (1, text.split("\nnext")[0].replace("\n", " "))


UNWRAPPED = {
    "traceback": TRACEBACK,
    "short lines": "a\nb\nc\nd",
    "log": "\n".join(f"2026-11-30 20:15:{i:02d},000 step {i} loss {i / 7:.4f} lr 0.0003 tokens {i * 997}" for i in range(30)),
    "equal long lines": "\n".join(f"step {i:04d} loss 0.1234 lr 0.000300 grad_norm 1.2345 tokens/s 12345" for i in range(30)),
    "table": "\n".join(f"| {i:3d}  NVIDIA H100 80GB HBM3          On | 00000000:4E:00.0 Off |  0 |" for i in range(20)),
    "yaml": "apiVersion: v1\nkind: Pod\nmetadata:\n  name: x\nspec:\n  containers:\n  - name: y",
    "rules of dashes": ("-" * 72 + "\nmpirun noticed that process rank 5 with PID 812\n") * 4,
    "channels": "\n".join(f"node-1:8:9 [0] NCCL INFO Channel {i:02d}/0 : 0[0] -> 1[1] via P2P/CUMEM/read" for i in range(30)),
}  # fmt: skip


@pytest.mark.parametrize("name", sorted(UNWRAPPED))
def test_unrelated_lines_are_not_joined(name: str) -> None:
    assert joined(UNWRAPPED[name]) == []


def test_quote_marks_within_a_joined_line_are_left_out() -> None:
    rows = ["> " + row for row in broken_at_blanks("\n".join([LOADER, NCCL]), 72).split("\n")]
    found = join_wrapped(rows, LineMap(range(1, 99), range(98)), lambda text: text.removeprefix("> "))
    assert found is not None
    assert f"> {LOADER}".encode() in found.text.data.splitlines()
    assert found.ends[1] == 2


def test_terminal_breaks_lines_of_any_kind() -> None:
    """What comes next may begin like a record of its own: `ERROR`, an exception's name, a quotation of code."""
    line = "[rank0]: botocore.errorfactory.AccessDenied: An error occurred (AccessDenied) when calling the operation"
    other = "    raise error_class(parsed_response, operation_name) from the_error_that_came_before_this_one_in_a_row"
    rows = [*_folded(other, 60), *_folded(line, 60)]
    assert {line, other} <= {text for _, text in joined("\n".join(rows))}


def test_one_line_of_a_terminals_usual_width_is_enough() -> None:
    line = "ImportError: /opt/train/site/fused_ops.cpython-311-x86_64-linux-gnu.so: invalid ELF header"
    assert (2, line) in joined("\n".join(["Traceback (most recent call last):", *_folded(line, 80)]))


def _folded(line: str, width: int) -> list[str]:
    return [line[at : at + width] for at in range(0, len(line), width)]
