"""The catalogue of a language holds what the program says, and nothing that it does not say."""

from __future__ import annotations

import json
import re
import time
from collections.abc import Mapping

import pytest
from spoken_words import PACKAGE, PAGE, said_by_the_pages, said_by_the_program

from troubleshoot.language import ENGLISH, LANGUAGES, say, say_sentence, speaking

OTHERS = [each for each in LANGUAGES if each != ENGLISH]


def catalogue(language: str) -> Mapping[str, Mapping[str, str]]:
    words: dict[str, Mapping[str, str]] = json.loads((PACKAGE / "language" / f"{language}.json").read_text("utf-8"))
    pages = PAGE / "static" / f"words.{language}.json"
    return {**words, "pages": json.loads(pages.read_text("utf-8"))}


@pytest.mark.parametrize("language", OTHERS)
def test_everything_the_program_says_has_words_in_every_language(language: str) -> None:
    said, known = said_by_the_program(), set(catalogue(language)["words"])

    assert sorted(said - known) == []
    assert sorted(known - said) == []


@pytest.mark.parametrize("language", OTHERS)
def test_everything_the_pages_say_has_words_in_every_language(language: str) -> None:
    said, known = said_by_the_pages(), set(catalogue(language)["pages"])
    written = "\n".join(path.read_text("utf-8") for path in PAGE.parent.rglob("*.py"))  # some texts have a name first

    assert sorted(said - known) == []
    assert sorted(text for text in known - said if f'"{text}"' not in written) == []


@pytest.mark.parametrize("language", OTHERS)
@pytest.mark.parametrize("section", ["words", "sentences", "pages"])
def test_words_of_another_language_keep_every_hole(language: str, section: str) -> None:
    holes = re.compile(r"\{\w*\}")
    differing = [
        english
        for english, text in catalogue(language)[section].items()
        if sorted(set(holes.findall(english))) != sorted(set(holes.findall(text)))
    ]

    assert differing == []


def test_words_are_spoken_in_the_block_that_asks_for_them_only() -> None:
    with speaking("zh-CN"):
        inside = say("Evidence"), say("{number} times", number=3)

    assert inside == ("证据", "3 次")
    assert say("Evidence") == "Evidence"


def test_a_language_without_words_is_english() -> None:
    with speaking("tlh"):
        assert say("{number} times", number=3) == "3 times"
        assert say_sentence("timeout") == "timeout"


def test_a_sentence_with_values_in_it_is_said_from_its_template() -> None:
    with speaking("zh-CN"):
        raised = say_sentence("confidence raised: the log also shows right_mpirun (a.log:3)")
        nested = say_sentence(
            "confidence lowered: it would not count if the log has no comparable times to check that it happened "
            "within 30 s"
        )
        clauses = say_sentence("rank 3 shows an error of its own; ranks 0-2 only echo the loss of a peer")

    assert raised == "置信度上调：日志中还有 right_mpirun (a.log:3)"
    assert nested == "置信度下调：若日志没有可比较的时间，无法核对是否发生在 30 s 之内，则不成立"
    assert clauses == "rank 3 显示出自身的错误；ranks 0-2 只是因失去对端而连带报错"


def test_a_sentence_that_nobody_made_stays_as_it_is() -> None:
    with speaking("zh-CN"):
        assert say_sentence("the moon is made of cheese") == "the moon is made of cheese"
        assert say_sentence("the moon; is made of; cheese") == "the moon; is made of; cheese"
        assert say_sentence("x; " * 5000) == "x; " * 5000


@pytest.mark.parametrize("language", OTHERS)
def test_no_sentence_takes_long_whatever_a_log_puts_into_it(language: str) -> None:
    began = time.monotonic()
    with speaking(language):
        for english in catalogue(language)["sentences"]:
            fixed = [each for each in re.split(r"\{\w+\}", english) if each]
            say_sentence("".join(f"{each}a" for each in fixed * 40)[:600])
            say_sentence("".join(each * 40 for each in fixed)[:600])

    assert time.monotonic() - began < 20  # seconds, for 270 of them on a busy machine
