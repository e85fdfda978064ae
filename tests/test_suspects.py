import re
import time
from dataclasses import replace
from pathlib import Path

import pytest
import yaml
from evaluate.small_packs import build_pack, scan_plainly

from troubleshoot import limits
from troubleshoot.evaluate.evaluator import evaluate
from troubleshoot.suspects import find_suspects, template_of

FILE = Path(__file__).parent.parent / "rules/_builtin/suspects.yaml"


def shipped_marks():
    """Return the shipped signatures as regexes, texts escaped: what a text forgives is tested elsewhere."""
    marks = {}
    for name, mark in yaml.safe_load(FILE.read_text()).items():
        signature = mark["signature"]
        wordings = []
        for each in signature if isinstance(signature, list) else [signature]:
            if isinstance(each, str):
                each = {"text": each}
            regex = each.get("regex") or re.escape(each["text"])
            wordings.append(f"(?-i:{regex})" if each.get("exact_case") else regex)
        marks[name] = {**mark, "signature": wordings}
    return {"suspects": marks}


MARKS = shipped_marks()


def suspects_of(log, rules=None):
    pack = build_pack(rules or {}, builtin=MARKS)
    results = scan_plainly(pack, log)
    return find_suspects(pack, results, evaluate(pack, results).findings)


def first(log):
    found = suspects_of(log)
    return (found[0].text, found[0].line) if found else None


TRACEBACK = """\
Traceback (most recent call last):
  File "train.py", line 12, in <module>
    main()
  File "train.py", line 9, in main
    raise FrobnicationError("no frob for 12 widgets")
FrobnicationError: no frob for 12 widgets
"""


def test_a_traceback_is_worth_its_last_line():
    found = suspects_of(TRACEBACK)
    assert [(each.line, each.text, each.reason) for each in found] == [
        (6, "FrobnicationError: no frob for 12 widgets", "exception")
    ]
    assert found[0].weight >= limits.SUSPECT_WEIGHT


def test_a_traceback_that_is_cut_shows_its_head():
    assert first(TRACEBACK.rsplit("\n", 2)[0]) == ("Traceback (most recent call last):", 1)


def test_evidence_of_a_catch_all_is_still_suspect():
    rules = {"x/any": {"signatures": {"a": "Error: "}, "generic": True}}
    assert [each.text for each in suspects_of("ValueError: something else\n", rules)] == ["ValueError: something else"]


def test_a_traceback_whose_end_is_evidence_is_told():
    rules = {"x/known": {"signatures": {"a": "no frob for"}}}
    assert suspects_of(TRACEBACK, rules) == ()


def test_of_chained_exceptions_the_first_stands_first():
    log = f"""\
{TRACEBACK}
During handling of the above exception, another exception occurred:

Traceback (most recent call last):
  File "x.py", line 1, in <module>
package.errors.WrapperError: could not train
"""
    found = suspects_of(log)
    assert [each.text.split(":")[0] for each in found] == ["FrobnicationError", "package.errors.WrapperError"]
    assert found[0].weight > found[1].weight


def test_lines_that_say_the_same_are_one():
    log = "\n".join(f"r{rank} RuntimeError: shape '[{rank}, 512]' is invalid for size {rank * 7}" for rank in range(9))
    found = suspects_of(log)
    assert [(each.count, each.rank, each.line) for each in found] == [(9, 0, 1)]


def test_the_rank_that_failed_first_stands_on_top():
    log = {
        "rank1.log": "12:00:05 r1 terminate called after throwing an instance of 'std::bad_alloc'",
        "rank2.log": "12:00:06 r2 RuntimeError: other side is gone",
        "rank7.log": "12:00:01 r7 [ERROR] widget 7 gave up\n12:00:07 r7 RuntimeError: widget 7",
    }
    found = suspects_of(log)
    assert [(each.rank, each.text) for each in found][:3] == [
        (7, "RuntimeError: widget 7"),
        (7, "[ERROR] widget 7 gave up"),
        (2, "RuntimeError: other side is gone"),
    ]


def test_evidence_of_findings_is_left_out_with_all_that_says_the_same():
    rules = {"x/known": {"signatures": {"a": "shape .* is invalid"}, "condition": {"all": ["a"]}}}
    log = "RuntimeError: shape '[1]' is invalid\nRuntimeError: shape '[2]' is invalid\nValueError: something else\n"
    assert [each.text for each in suspects_of(log, rules)] == ["ValueError: something else"]


@pytest.mark.parametrize(
    "line",
    [
        "ValueError: too many dimensions 'str'",
        "torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.50 GiB.",
        "Segmentation fault (core dumped)",
        "train.sh: line 7:  4711 Killed                  python train.py",
        "terminate called after throwing an instance of 'c10::Error'",
        "  what():  CUDA error: an illegal memory access was encountered",
        "Fatal Python error: Segmentation fault",
        "slurmstepd: error: *** STEP 12.0 ON gpu-1 CANCELLED AT 2026-11-30T20:15:04 DUE TO TIME LIMIT ***",
        "srun: error: gpu-1: task 3: Exited with exit code 9",
        "python3: ../src/x.c:12: frob: Assertion `n > 0' failed.",
        "NVRM: Xid (PCI:0000:3b:00): 79, pid=1234, GPU has fallen off the bus.",
        "Memory cgroup out of memory: Killed process 4711 (python3)",
        "process exited with exit code 137",
        "failed (exitcode: -9) local_rank: 3 (pid: 81) of binary: /usr/bin/python3",
        "CUBLAS_STATUS_NOT_INITIALIZED when calling cublasCreate(handle)",
        "gpu-1:81:99 [3] misc/socket.cc:50 NCCL WARN socketStartConnect: Connect to 10.0.0.3<41231> failed",
        "MPI_ABORT was invoked on rank 3 in communicator MPI_COMM_WORLD",
        "Fatal error in internal_Init_thread: Other MPI error, error stack:",
        "python: error while loading shared libraries: libfoo.so.1: cannot open shared object file",
        "bash: torchrun: command not found",
        "OSError: [Errno 28] No space left on device",
        "socket.gaierror: [Errno -2] Name or service not known",
        "zipfile.error: bad file",
        "train.py: error: unrecognized arguments: --frob",
        "cp: error writing 'x': No space left on device",
        "2026-11-30 20:15:04,123 ERROR trainer: giving up on shard 7",
        '{"level": "error", "msg": "frobnication failed"}',
        'level=error msg="frobnication failed"',
        "[FATAL] disk gone",
        "nvcc fatal   : Unsupported gpu architecture 'compute_120'\nfatal error: frob.h: No such file or directory",
        "Warning  FailedCreate  5m  job-controller  Error creating: pods a-0 is forbidden",
        "docker: Error response from daemon: could not select device driver",
        "*** buffer overflow detected ***: terminated\nAborted (core dumped)",
        "panic: runtime error: index out of range [3] with length 3",
        "thread 'main' panicked at src/main.rs:3:5:",
        "free(): invalid pointer",
        "Caught signal 11 (Segmentation fault: address not mapped to object)",
    ],
)
def test_what_looks_like_a_failure(line):
    found = suspects_of(f"step 1 loss 2.3\n{line}\nstep 2 loss 2.1\n")
    assert found and found[0].weight >= limits.SUSPECT_WEIGHT, found


@pytest.mark.parametrize(
    "line",
    [
        "step 10 | loss 2.31 | grad error: 0.0021 | lr 1e-4",
        "0 errors, 0 warnings",
        "tests: 12 passed, failed: 0",
        "finished without errors",
        "process 81 exited with code 0",
        "exitcode: 0",
        "[W1130 ProcessGroupNCCL.cpp:1496] Warning: destroy_process_group() was not called before program exit",
        "UserWarning: torch.utils.checkpoint: the use_reentrant parameter should be passed explicitly",
        "NCCL INFO Channel 00/02 : 0 1 2 3",
        "retrying download: Connection reset by peer",
        "max_retries=3, retry_on_failure=True, error_rate: 0.01",
        "Setting OMP_NUM_THREADS environment variable for each process to be 1 in default",
        "[W socket.cpp:663] [c10d] The client socket has failed to connect to [::1]:29500 (errno: 97)",
        "Sending process 4711 closing signal SIGTERM",
        "saving checkpoint to /data/error_analysis/step-100",
        "if the import fails, set USE_LIBUV=0",
        "<info> error: none",
        "[2026-11-30T22:01:30.200] error: Configured MailProg is invalid",
        "PGNCCL Watchdog environments: TORCH_NCCL_RETHROW_CUDA_ERRORS: 1, TORCH_NCCL_PROPAGATE_ERROR: 0",
        "NVRM: GPU at PCI:0000:00:07: GPU-00000000-5a17-4c2e-9f00-0123456789ab",
    ],
)
def test_what_stands_in_healthy_logs(line):
    assert all(each.weight < limits.SUSPECT_WEIGHT for each in suspects_of(line))


def test_template_masks_what_varies():
    assert template_of("rank 3: 0x7f3a2c failed at 10.0.0.7:29500 in '/data/a'") == template_of(
        "rank 12:  0x9f failed at 10.0.0.12:1 in '/b'"
    )
    assert template_of("shard 7 lost") != template_of("shard 7 found")


def test_at_most_so_many():
    words = [f"{a}{b}Error: {a}{b}" for a in "ABCDEFG" for b in "abcdefg"]
    assert len(suspects_of("\n".join(words))) == limits.SUSPECTS


def test_thousands_of_ranks_in_bounded_time():
    log = {
        f"rank-{rank}.log": f"r{rank} step {rank}\n"
        + TRACEBACK.replace("\n", f"\nr{rank} ")
        + f"[ERROR] rank {rank} gave up"
        for rank in range(2000)
    }
    pack = build_pack(
        {}, builtin={"suspects": {name: MARKS["suspects"][name] for name in ("python_exception", "traceback")}}
    )
    results = scan_plainly(pack, log)
    began = time.monotonic()
    found = find_suspects(pack, results, ())
    assert time.monotonic() - began < 5
    assert [(each.count, each.rank) for each in found] == [(2000, 0)]


def test_suspects_need_no_marks():
    pack = replace(build_pack({}), builtin={})
    assert find_suspects(pack, scan_plainly(pack, TRACEBACK), ()) == ()


def test_what_kubernetes_tries_again_is_worth_a_look_and_no_fault():
    found = suspects_of("Warning  FailedMount  5m  kubelet  something new\nNormal  Started  4m  kubelet  Started a\n")

    assert [each.reason for each in found] == ["Kubernetes event"]
    assert found[0].weight < limits.SUSPECT_WEIGHT
