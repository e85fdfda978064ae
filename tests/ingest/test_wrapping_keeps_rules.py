"""Wrapping a log loses no rule that the bare log shows: the rules' own examples and the corpus, through the engine."""

from __future__ import annotations

import random
from functools import cache
from pathlib import Path

import pytest
from test_stacks import DAMAGE, PREFIXES

from troubleshoot.engine import Engine

CORPUS = Path(__file__).parents[2] / "corpus"
LOG_BYTES = 60_000
EXAMPLES_SHARE, LOGS_SHARE = 0.1, 0.12  # are tried with each seed: a few seconds' worth
FILLER = "".join(f"step {100 + i} loss 2.{i}1\n" for i in range(14))  # a weak wrapper needs some lines to be believed
COLLECTORS = frozenset({"cri", "gitlab", "github", "journald", "labels", "cloudwatch"})  # whose time must go on
# What a wrapper's prefix looks like, which no program puts before a line that has one.
OWN = {
    "torch-rank": "[rank",
    "open-mpi": "]<std",
    "torchrun": "[default",
    "torch-log": "[W",
    "ray": "pid=",
    "slurm": "0: ",
}


@cache
def engine() -> Engine:
    return Engine.default()


def rules_in(data: str | bytes) -> set[str]:
    return {finding.rule for finding in engine().scan_text(data).findings}


def wrapped(rng: random.Random, log: str) -> tuple[bytes, list[str]]:
    """Return the log within one to three wrappers, and the names of these."""
    allowed = [i for i, (name, _) in enumerate(PREFIXES) if OWN.get(name, "\0") not in log]
    chosen = sorted(rng.sample(allowed, rng.choice([1, 2, 3])))
    lines = log.rstrip("\n").split("\n")
    for index in reversed(chosen):
        name, prefix = PREFIXES[index]
        lines = [prefix(rng, i if name in COLLECTORS else 3, line) for i, line in enumerate(lines)]
    damage = rng.choice([*[0] * 6, *range(1, 10)])
    return DAMAGE[damage](rng, lines), [*(PREFIXES[index][0] for index in chosen), f"damage {damage}"]


@cache
def examples() -> list[tuple[str, str]]:
    found = []
    for rule in engine().pack.rules.values():
        for example in rule.examples:
            if example.expect == "match" and len(example.files) == 1:
                found.append((rule.id, next(iter(example.files.values()))))
    return found


@pytest.mark.parametrize("seed", range(4))
def test_rule_fires_on_its_example_in_any_wrapper(seed: int) -> None:
    lost, tried = {}, 0
    for rule, text in examples():
        rng = random.Random(f"{seed} {text}")  # the choice of one does not hang on what else there is
        if rng.random() > EXAMPLES_SHARE:
            continue
        log = f"{text.rstrip()}\n{FILLER}"
        if rule not in rules_in(log):
            continue  # with more lines it is another log
        tried += 1
        data, names = wrapped(rng, log)
        if rule not in rules_in(data):
            lost[rule] = names
    assert tried > 100
    assert not lost


@cache
def logs() -> list[tuple[str, str]]:
    found = []
    for incident in sorted(path for path in CORPUS.iterdir() if path.is_dir()):
        files = [
            path for path in incident.rglob("*") if path.is_file() and path.suffix in (".log", ".txt", ".out", ".err")
        ]
        if len(files) == 1 and files[0].stat().st_size <= LOG_BYTES:
            text = files[0].read_text("utf-8", "replace")
            if text.count("\n") >= 8:
                found.append((incident.name, text))
    return found


@pytest.mark.parametrize("seed", range(4))
def test_incident_shows_the_same_rules_in_any_wrapper(seed: int) -> None:
    wrong = {}
    for name, log in logs():
        rng = random.Random(f"{seed} {log}")
        if rng.random() > LOGS_SHARE:
            continue
        data, names = wrapped(rng, log)
        plain, found = rules_in(log), rules_in(data)
        if plain != found:
            wrong[name] = (names, plain - found, found - plain)
    assert not wrong
