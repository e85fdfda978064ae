"""Which language a tag, or a browser's list of them, asks for."""

from __future__ import annotations

import pytest

from troubleshoot.language import accepted, canonical, shipped


@pytest.mark.parametrize(
    ("tag", "language"),
    [
        *((tag, "zh-CN") for tag in ("zh", "zh-CN", "zh-Hans", "zh-Hans-CN", "zh-SG", "ZH-cn", "zh_CN.UTF-8")),
        *((tag, None) for tag in ("zh-TW", "zh-Hant", "zh-Hant-HK", "fr", "C", "POSIX", "", "../../etc", "z" * 99)),
        *((tag, "en") for tag in ("en", "en-US", "en_GB.UTF-8")),
    ],
)
def test_a_tag_finds_the_language_it_means(tag: str, language: str | None) -> None:
    assert shipped(tag) == language


def test_a_tag_is_written_one_way() -> None:
    assert canonical("ZH_hans_cn.UTF-8@x") == "zh-Hans-CN"
    assert canonical("../zh-CN") is None


@pytest.mark.parametrize(
    ("header", "language"),
    [
        ("zh-CN,zh;q=0.9,en;q=0.8", "zh-CN"),
        ("en-US,en;q=0.9,zh-CN;q=0.8", "en"),
        ("fr;q=1.0, zh-Hans;q=0.3", "zh-CN"),
        ("zh;q=0.2, en;q=0.7", "en"),
        ("zh ; q = 0.9 , en;q=0.1", "zh-CN"),
        ("zh-TW,zh;q=0.9,en-US;q=0.8", "zh-CN"),
        ("zh-TW", None),
        ("zh;q=0, en;q=0.1", "en"),
        ("zh;q=0", None),
        ("zh;q=2, en", "en"),
        ("zh;q=nan", None),
        ("*", None),
        ("", None),
        (";;;,,,q=1", None),
        ("x," * 100_000 + "zh", None),
    ],
)
def test_a_header_is_weighed(header: str, language: str | None) -> None:
    assert accepted(header) == language
