"""The shipped translations: every rule of four domains speaks Simplified Chinese, of its texts as they are now."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from troubleshoot.evaluate.findings import known_names
from troubleshoot.evaluate.texts import Texts
from troubleshoot.rulepack.files import default_rules_dir, list_translations
from troubleshoot.rulepack.lint_translations import lint_translations
from troubleshoot.rulepack.load import load_pack
from troubleshoot.rulepack.translations import find_translation, next_steps, stale_parts

if TYPE_CHECKING:
    from troubleshoot.model import RulePack

DOMAINS = ("efa", "loader", "nccl", "runai")
CHINESE = re.compile(r"[\u4e00-\u9fff]")


@pytest.fixture(scope="module")
def pack() -> RulePack:
    return load_pack(drafts=True, cache=False, overrides=None)


@pytest.mark.parametrize("domain", DOMAINS)
def test_every_rule_has_a_fresh_and_whole_translation(domain: str, pack: RulePack) -> None:
    short = []
    for rule in (each for each in pack.rules.values() if each.domain == domain):
        translation, problem = find_translation(rule, "zh-CN")
        if translation is None:
            short.append(f"{rule.id}: no translation{f': {problem.text}' if problem else ''}")
            continue
        short += [f"{rule.id}: {part} has changed since" for part in stale_parts(rule, translation)]
        texts = {"title": translation.title, "explanation": translation.explanation if rule.explanation else "无"}
        texts |= {f"next {at}": each for at, each in enumerate(translation.next, 1)}
        short += [f"{rule.id}: {len(next_steps(rule))} next steps"] * (len(translation.next) != len(next_steps(rule)))
        short += [f"{rule.id}: {len(rule.fixes)} fixes"] * (len(translation.fixes) != len(rule.fixes))
        for number, (fix, said) in enumerate(zip(rule.fixes, translation.fixes, strict=False), 1):
            texts |= {f"fix {number}": said.title} | ({f"what to do in fix {number}": said.do} if fix.do else {})
            if "runai-ui" in fix.variants:
                texts[f"runai-ui in fix {number}"] = said.variants.get("runai-ui", "")
        short += [f"{rule.id}: {name} is not Chinese" for name, text in texts.items() if not CHINESE.search(text)]

    assert short == []


def test_no_lint_finds_anything_in_the_shipped_translations(pack: RulePack) -> None:
    files = list_translations([default_rules_dir()])
    whole = {
        str(file) for file in files if file.parent.name in DOMAINS
    }  # elsewhere a stale text may wait: it is English
    problems = lint_translations(files, pack)

    assert len(whole) >= 128
    told = [each for each in problems if each.severity == "error" or (each.place and _full(each.place.path) in whole)]
    assert [str(each) for each in told] == []


def _full(path: str) -> str:
    return str(Path(path).resolve())


def test_a_title_goes_without_what_the_log_did_not_give_in_chinese_too(pack: RulePack) -> None:
    """`: {reason}` and `({peer})` at the end of a title are left out when they are not known; nothing reads `?`."""
    asking = []
    for rule in pack.rules.values():
        translation, _problem = find_translation(rule, "zh-CN")
        texts = Texts({}, known_names(pack, rule))
        if translation is not None and "?" not in texts.title(rule.title) and "?" in texts.title(translation.title):
            asking.append(f"{rule.id}: {texts.title(translation.title)}")

    assert asking == []
