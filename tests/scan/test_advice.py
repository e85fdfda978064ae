"""Advice, guesses and quoted code are nobody's evidence; the error before them is."""

from __future__ import annotations

from itertools import product

import pytest
from scan_samples import pattern

from troubleshoot.scan.advice import PHRASES, advised_spans
from troubleshoot.scan.charsets import One
from troubleshoot.scan.confirm import Confirmer, Match
from troubleshoot.scan.syntax import Alt, Node, Repeat, Seq, parse

OOM = (
    "torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.50 GiB. If reserved but unallocated memory is "
    "large try setting PYTORCH_CUDA_ALLOC_CONF=expandable_segments:True to avoid fragmentation."
)

# pattern, line: the pattern's words stand in advice only
ADVICE = [
    ("CUDA_LAUNCH_BLOCKING=1", "For debugging consider passing CUDA_LAUNCH_BLOCKING=1"),
    ("TORCH_USE_CUDA_DSA", "Compile with `TORCH_USE_CUDA_DSA` to enable device-side assertions."),
    ("device-side assert", "Compile with `TORCH_USE_CUDA_DSA` to enable device-side assertions."),
    ("PYTORCH_CUDA_ALLOC_CONF", OOM),
    ("expandable_segments", OOM),
    (
        "insufficient shared memory",
        "ERROR: Unexpected bus error. This might be caused by insufficient shared memory (shm).",
    ),
    ("firewall", "Connection failed; it may be due to a firewall on the way."),
    ("out of shared memory", "It is possible that dataloader's workers are out of shared memory."),
    ("NCCL_DEBUG=INFO", "ncclSystemError: call failed (run with NCCL_DEBUG=INFO for details)"),
    ("FI_EFA_FORK_SAFE", "you can set FI_EFA_FORK_SAFE=1 to allow fork"),
    ("init_process_group", "ValueError: no process group, please make sure to call init_process_group."),
    ("ulimit", "Too many open files. Please increase the limit using `ulimit -n` in the shell"),
    ("memlock", "(set the variable mpi_memlock to 0 to silence this)"),
    ("port is blocked", "hint: port is blocked, perhaps"),
    ("mismatched ranks", "hang in a collective, e.g. mismatched ranks or a dead peer"),
]

# pattern, line: the pattern matches what happened, though advice is near
EVIDENCE = [
    ("CUDA out of memory", OOM),
    ("bus error", "ERROR: Unexpected bus error. This might be caused by insufficient shared memory (shm)."),
    ("NCCL version", "unhandled cuda error (run with NCCL_DEBUG=INFO for details), NCCL version 2.21.5"),
    (
        "external library call failed",
        "ncclSystemError: System call (e.g. socket, malloc) or external library call failed or device error.",
    ),
    ("hang blocking the watchdog", "indicates a NCCL/CUDA API (e.g., CudaEventDestroy) hang blocking the watchdog"),
    ("connection refused", "Please check the address. Connection refused by 10.0.0.1"),
    ("try setting", "try setting CUDA_VISIBLE_DEVICES"),
    ("not been initialized", "ValueError: group has not been initialized, please make sure to call init."),
    ("CUDA_ERROR_NO_DEVICE", "CUDA_ERROR_NO_DEVICE (100): no CUDA-capable device"),
    ("Assertion", "Assertion `srcIndex < size` failed."),
    ("AssertionError", "AssertionError: world size must be positive"),
    ("os\\.fork", "    self.pid = os.fork()"),
    ("NCCL_DEBUG", "+ export NCCL_DEBUG=INFO"),
    ("NCCL_DEBUG", "NCCL_DEBUG=INFO"),
    ("raised", "RuntimeError raised while loading"),
    ("printed", "printed circuit board not found"),
    ("grep: ", "grep: job.log: No such file or directory"),
    ("required memory", 'level=error msg="required memory 95% reached"'),
    ("assert", "device-side assert triggered"),
    ("logging", "logging error: disk full"),
]

CODE = [
    ("CUDA error", '    raise RuntimeError("CUDA error: out of memory")'),
    ("worker died", "    raise WorkerError(f'worker died with {code}')"),
    ("deprecated", "  warnings.warn('deprecated')"),
    ("lost peer", '    logger.error("lost peer %s", peer)'),
    ("lost peer", '    self._log.warning("lost peer %s", peer)'),
    ("bad alloc", '  throw std::runtime_error("bad alloc");'),
    ("world_size", "    assert world_size > 0, 'world_size must be positive'"),
    ("CUDA error", '+ grep -q "CUDA error" job.log'),
    ("CUDA error", '+ echo "CUDA error in $1"'),
    ("CUDA error", "if grep -q 'CUDA error' job.log; then"),
    ("not available", '        print("EFA not available")'),
    ("cannot open", '    msg = f"cannot open {path}"'),
    ("unexpected size", '  TORCH_CHECK(size > 0, "unexpected size ", size);'),
]


def confirm(source: str, line: str, **options: object) -> Match | None:
    return Confirmer([pattern(source, **options)]).confirm(0, line, lambda: line)


@pytest.mark.parametrize(("source", "line"), ADVICE + CODE)
def test_advice_and_code_are_no_evidence(source: str, line: str) -> None:
    assert confirm(source, line) is None
    assert confirm(source, line, advice=True) is not None


@pytest.mark.parametrize(("source", "line"), EVIDENCE)
def test_what_happened_is_evidence_beside_advice(source: str, line: str) -> None:
    assert confirm(source, line) is not None


def test_match_behind_the_advice_is_found() -> None:
    line = "Try setting NCCL_DEBUG=WARN. Got NCCL_DEBUG=INFO"
    found = confirm(r"NCCL_DEBUG=(?P<level>\w+)", line)
    assert found is not None
    assert found.captures == {"level": "INFO"}


def test_advice_refused_in_the_peeled_text_is_not_looked_for_in_the_raw_one() -> None:
    raw = "12:00:01 hint: port is blocked"
    one = Confirmer([pattern("port is blocked")])
    assert one.confirm(0, "hint: port is blocked", lambda: raw) is None


def test_advice_reaches_to_the_end_of_its_sentence() -> None:
    text = "Failed (consider raising it (a lot) now) for good. Next"
    ((start, end),) = advised_spans(text)
    assert text[start - 1 : end] == "consider raising it (a lot) now"
    text = "Consider raising it. Next"
    ((start, end),) = advised_spans(text)
    assert text[:end] == "Consider raising it"


@pytest.mark.parametrize(("phrase", "sign", "reason"), PHRASES)
def test_sign_of_a_phrase_is_in_each_text_of_it(phrase: str, sign: str, reason: str) -> None:
    """What the quick look for advice goes by must not miss any."""
    plain = parse(phrase)
    assert isinstance(plain, Seq)
    texts: list[str] = [""]
    for item in plain.items:
        texts = [text + more for text in texts for more in _samples(item)]
    assert [text for text in texts if sign not in text.lower()] == []


def _samples(node: Node) -> list[str]:
    """Return short texts that a node of a phrase matches: each alternative once, each repeat as short as it may be."""
    if isinstance(node, One):
        return [next(chr(code).lower() for code in range(127, 0, -1) if node.ascii >> code & 1)]
    if isinstance(node, Alt):
        return [text for branch in node.branches for text in _samples(branch)]
    if isinstance(node, Repeat):
        return [text * node.low for text in _samples(node.item)] + ([""] if node.low == 0 else [])
    assert isinstance(node, Seq)
    return ["".join(parts) for parts in product(*map(_samples, node.items))]
