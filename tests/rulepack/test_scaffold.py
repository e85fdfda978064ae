from __future__ import annotations

import hypothesis
import pytest
from hypothesis import strategies as st

from troubleshoot.errors import UsageError
from troubleshoot.rulepack.scaffold import scaffold_rule, text_from_line, text_from_lines
from troubleshoot.rulepack.schema import parse_rule
from troubleshoot.rulepack.signatures import compile_pattern
from troubleshoot.rulepack.text import regex_from_text


@pytest.mark.parametrize(
    ("line", "signature"),
    [
        (
            "[Mon Nov 30 20:15:04 2026] NVRM: Xid (PCI:0000:81:00): 79, pid=4711, GPU has fallen off the bus.",
            "NVRM: Xid (PCI:{pci}): 79, pid={pid:int}, GPU has fallen off the bus.",
        ),
        (
            "2026-11-30T20:15:04.123Z gpu-node-3 python[123]: RuntimeError: Tried to allocate 2.50 GiB (GPU 0)",
            "RuntimeError: Tried to allocate {allocate:size} (GPU {gpu:int})",
        ),
        (
            "[1,3]<stderr>: gpu-node-17:812:901 [3] NCCL WARN Net : Connection to 10.0.3.77<29500> failed",
            "NCCL WARN Net : Connection to {host:host}<{port:int}> failed",
        ),
        (
            "[rank3]:[E1130 20:15:04.120001 ProcessGroupNCCL.cpp:607] [Rank 3] Watchdog caught collective operation "
            "timeout: WorkNCCL(SeqNum=12, Timeout(ms)=600000) ran for 600123 milliseconds",
            "Watchdog caught collective operation timeout: WorkNCCL(SeqNum={seqnum:int}, Timeout(ms)={timeout:int}) "
            "ran for {after:duration}",
        ),
        ("[Errno 12] Cannot allocate memory", "[Errno 12] Cannot allocate memory"),
        ("node-3 exited with exit code 137", "exited with exit code 137"),
        (
            "mpirun: /lib/libc.so.6: version `GLIBC_2.38' not found (required by /opt/x/lib/y.so)",
            "mpirun: {path:path}: version `GLIBC_{version:version}' not found (required by {path_2:path})",
        ),
        (
            "slurmstepd: error: *** JOB 4711 ON gpu-node-3 CANCELLED AT 2026-11-30T20:15:04 DUE TO TIME LIMIT ***",
            "slurmstepd: error: *** JOB {job:int} ON {host:host} CANCELLED AT {_} DUE TO TIME LIMIT ***",
        ),
        ('{"msg": "pull failed", "try": 3}', '{{"msg": "pull failed", "try": {n:int}}}'),
        ("at 0x7f3a and 0x7f3b it broke", "at {address:hex} and {address_2:hex} it broke"),
        ("4711 12 0x7f3a", "4711 12 0x7f3a"),
        (
            "worker 10.0.3.77:29500 did not answer GPU-8f6e6b2c-1a2b-3c4d-5e6f-0123456789ab on cuda:3 after 5 retries",
            "worker {worker:host}:{port:int} did not answer GPU-{gpu:word} on cuda:{device:int} after {retries:int} "
            "retries",
        ),
        (
            "link mlx5_3 of fe80::1ff:fe23:4567:890a%eth0 lost 1,024 packets at step 12/500",
            "link {link:word} of {host:host} lost {packets} packets at step {step:int}/{total:int}",
        ),
        (
            "pod llama-ft-7d9c5b6f4d-x2x9k of bob@example.com left nodes gpu-node-[3,5-7]",
            "pod {pod:host} of {user} left nodes {nodes}",
        ),
        ("s3://bucket/file-17.bin is corrupt (crc 0xdead)", "{url} is corrupt (crc {crc:hex})"),
        (
            "bad weight in model.layers.17.mlp of shape [8, 512]",
            "bad weight in model.layers.{layer:int}.mlp of shape [{values}]",
        ),
        ("srun: error: gpu-node-17: task 3: refused", "srun: error: {host:host}: task {task:int}: refused"),
        ("错误: 内存不足 12", "错误: 内存不足 {n:int}"),
    ],
)
def test_what_varies_becomes_a_hole(line: str, signature: str) -> None:
    assert text_from_line(line) == signature
    assert compile_pattern(regex_from_text(signature)[0]).search(line) is not None


PASTE = """\
    Traceback (most recent call last):
  File "/w/it's.py", line 3, in \x1b[31mmain\x1b[0m

\tself.pid = os.fork()
OSError: [Errno 12] Cannot allocate memory on rank 3: "{x}"
"""


def test_the_file_loads_and_its_example_holds_the_paste() -> None:
    text = scaffold_rule("host/fork-failed", PASTE)
    rule, problems = parse_rule(text, "host/fork-failed.yaml", "host/fork-failed")
    assert [str(problem) for problem in problems] == []
    assert rule is not None
    assert rule.title == "Fork failed"
    assert rule.status.value == "draft"
    (pattern,) = rule.signatures["line"].patterns
    assert pattern.source == 'OSError: [Errno 12] Cannot allocate memory on rank {rank:int}: "{{x}}"'
    match, near_miss = rule.examples
    assert match.files["example.log"] == PASTE.replace("\x1b[31m", "").replace("\x1b[0m", "")
    assert dict(match.captures) == {"rank": "3"}
    assert "TODO" in near_miss.files["example.log"]
    assert "#   '" in text  # the other lines are offered


@pytest.mark.parametrize(
    ("lines", "signature"),
    [
        (
            ["peer alpha lost its lease in phase one", "peer beta lost its lease in phase two", "something else"],
            "peer {peer:word} lost its lease in phase {phase:word}",
        ),
        (["error in part a/b of it", "error in part c:d of it"], "error in part {part} of it"),
        (["the disk is full", "the disk was lost"], "the disk is full"),  # too little in common
        (["rank 3 is gone for good", "rank 4 is gone for good"], "rank {rank:int} is gone for good"),
    ],
)
def test_words_that_lines_alike_do_not_share_become_holes(lines: list[str], signature: str) -> None:
    assert text_from_lines(lines) == signature
    pattern = compile_pattern(regex_from_text(signature)[0])
    assert pattern.search(lines[0])


def test_lines_of_other_rules_are_offered_as_near_misses() -> None:
    asked: list[str] = []

    def near(signature: str) -> list[tuple[str, str]]:
        asked.append(signature)
        return [("the link of gpu-node-3 is up: 'all' is {well}", "net/up")]

    text = scaffold_rule("net/down", "the link of gpu-node-3 is down\n", near)
    assert asked == ["the link of {host:host} is down"]
    assert "  #   the link of gpu-node-3 is up: 'all' is {well}    (net/up)\n" in text
    assert parse_rule(text, "net/down.yaml", "net/down")[1] == []


@pytest.mark.parametrize(
    ("id", "text"), [("host/x", ""), ("host/x", " \n\t\n"), ("x", "some line"), ("Host/X", "some line")]
)
def test_nothing_to_start_from_is_the_callers_fault(id: str, text: str) -> None:
    with pytest.raises(UsageError):
        scaffold_rule(id, text)


LINES = st.lists(
    st.text(
        st.sampled_from("aB 0123.:/-_'\"\\{}[]()#%&*!|>@`\té错,=\x1b\x07") | st.characters(codec="utf-8"), max_size=60
    )
)


@hypothesis.settings(max_examples=100, deadline=None)
@hypothesis.given(LINES)
def test_any_paste_makes_a_rule_that_fires_on_it(lines: list[str]) -> None:
    try:
        text = scaffold_rule("a/b", "\n".join(lines))
    except UsageError:
        return
    rule, problems = parse_rule(text, "a/b.yaml", "a/b")
    assert [str(problem) for problem in problems] == []
    assert rule is not None
    (pattern,) = rule.signatures["line"].patterns
    assert any(
        compile_pattern(pattern.regex).search(line) for line in rule.examples[0].files["example.log"].split("\n")
    )


def test_what_was_redacted_or_stands_twice_becomes_a_hole() -> None:
    line = "ValueError: mail [redacted:email] from [redacted:ip] with password=[redacted:password] at 0x7f00 rank 3"
    text = text_from_line(line)
    assert text == "ValueError: mail {_} from {_} with password={_} at {address:hex} rank {rank:int}"
    assert compile_pattern(regex_from_text(text)[0]).search(line.replace("[redacted:ip]", "192.0.2.7"))
