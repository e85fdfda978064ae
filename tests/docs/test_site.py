"""The static site: every rule has a page, every link leads somewhere, nothing comes from outside."""

from __future__ import annotations

import re
from html.parser import HTMLParser
from pathlib import Path

import pytest

from troubleshoot.docs.render import html_of
from troubleshoot.docs.site import build_site, rule_path, symptoms_of
from troubleshoot.model import RulePack
from troubleshoot.rulepack.load import load_pack

HOSTILE = """\
title: "<script>alert(1)</script> {what}"
severity: high
confidence: high
signatures: "zygotes </script><img src=x onerror=alert(2)> {what:word}"
explanation: "see [this](javascript:alert(3)) and <b>that</b>"
references: ["javascript:alert(4)", "https://example.com/x"]
examples:
  - match: "zygotes </script><img src=x onerror=alert(2)> a"
"""


@pytest.fixture(scope="module")
def pack() -> RulePack:
    return load_pack(overrides=None)


@pytest.fixture(scope="module")
def site(pack: RulePack, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("site")
    build_site(pack, folder)
    return folder


class Links(HTMLParser):
    """What a page leads to, and what it loads."""

    def __init__(self) -> None:
        super().__init__()
        self.targets: list[str] = []
        self.loaded: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        values = dict(attrs)
        if tag == "a":
            self.targets.append(values.get("href") or "")
        self.loaded += [values[name] or "" for name in ("src", "srcset", "data") if name in values]
        if tag == "link":
            self.loaded.append(values.get("href") or "")


def links_of(path: Path) -> Links:
    links = Links()
    links.feed(path.read_text("utf-8"))
    return links


def test_every_rule_has_a_page_and_stands_in_its_domain_and_among_the_symptoms(pack: RulePack, site: Path) -> None:
    symptoms = (site / "symptoms.html").read_text("utf-8")
    for rule in pack.rules.values():
        assert (site / rule_path(rule.id)).is_file()
        assert f'href="../{rule_path(rule.id)}"' in (site / f"domains/{rule.domain}.html").read_text("utf-8")
        assert f'href="{rule_path(rule.id)}"' in symptoms


def test_links_within_the_site_lead_somewhere_and_nothing_is_loaded_from_outside(site: Path) -> None:
    seen = 0
    for path in site.rglob("*.html"):
        links = links_of(path)
        for each in links.loaded:
            assert re.match(r"[\w./-]+$", each) and (path.parent / each).is_file(), (path, each)
        for each in links.targets:
            if re.match(r"https?://", each) or each.startswith("#"):
                continue
            assert (path.parent / each.split("#")[0]).resolve().is_file(), (path, each)
            seen += 1
    assert seen > 2000
    assert "http" not in (site / "site.css").read_text("utf-8") + (site / "search.js").read_text("utf-8")


def test_symptoms_are_readable(pack: RulePack) -> None:
    assert symptoms_of(pack.rules["efa/glibc-too-old-for-auto-mount"])[0].count("GLIBC_2.34") == 1
    for rule in pack.rules.values():
        assert symptoms_of(rule), rule.id
        assert not any("(?" in text for text in symptoms_of(rule)), rule.id


def test_a_hostile_pack_stays_text(tmp_path: Path) -> None:
    path = tmp_path / "rules" / "net" / "x.yaml"
    path.parent.mkdir(parents=True)
    path.write_text(HOSTILE, "utf-8")
    pack = load_pack([tmp_path / "rules"], default_rules=False, cache=False, overrides=None)
    assert list(pack.rules) == ["net/x"]
    build_site(pack, tmp_path / "site")
    for page in (tmp_path / "site").rglob("*.html"):
        text = page.read_text("utf-8")
        assert "<script>alert" not in text
        assert "<img" not in text
        assert not any(link.startswith("javascript") for link in links_of(page).targets)
    index = (tmp_path / "site" / "search-index.js").read_text("utf-8")
    assert "</script" not in index


def test_markdown_cannot_bring_tags() -> None:
    assert "<b>" not in html_of("a <b>x</b> | c")
    assert '<h2 id="post-v1-scan">' in html_of("## POST /v1/scan")
