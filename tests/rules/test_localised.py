"""A rule that waits for a system message finds it in every language of the table: its own examples, translated."""

from __future__ import annotations

from functools import cache

import pytest

from troubleshoot.engine import Engine
from troubleshoot.rulepack.messages import TRANSLATIONS, find_messages

LANGUAGES = ("zh_CN", "de", "ja", "fr", "ko", "ru")

# Rules whose expressions hold the English words, and why they may: NCCL, libfabric and MPI set no locale, so that their
# `strerror` is English everywhere; `ls` has a catalogue of its own for the words around the message.
ENGLISH_ONLY = {
    "efa/software-not-installed": "ls",
    "loader/daemon-library-missing": "a regular expression with the daemon's name as a capture",
    "mpi/libfabric-connection-refused": "libfabric",
    "mpi/ofi-call-failed": "MPICH and libfabric",
    "nccl/connect-failed": "NCCL",
}


@cache
def engine() -> Engine:
    return Engine.default()


@cache
def examples() -> list[tuple[str, str]]:
    """Return the examples that hold a system message of several words, with their rules."""
    return [
        (rule.id, text)
        for rule in engine().pack.rules.values()
        for example in rule.examples
        if example.expect == "match" and len(example.files) == 1
        for text in example.files.values()
        if any(not found.is_one_word for found in find_messages(text, exact_case=True))
    ]


def translated(text: str, language: int) -> str:
    for found in reversed(find_messages(text, exact_case=True)):
        text = text[: found.start] + TRANSLATIONS[found.english][language] + text[found.end :]
    return text


def test_enough_rules_wait_for_system_messages() -> None:
    assert len({rule for rule, _ in examples()} - ENGLISH_ONLY.keys()) > 100


@pytest.mark.parametrize("language", range(len(LANGUAGES)), ids=LANGUAGES)
def test_rule_fires_on_its_example_in_this_language(language: int) -> None:
    lost = [
        (rule, text)
        for rule, text in examples()
        if rule not in ENGLISH_ONLY
        and rule not in {finding.rule for finding in engine().scan_text(translated(text, language)).findings}
    ]
    assert not lost
