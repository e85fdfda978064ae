from __future__ import annotations

import json
from pathlib import Path

from troubleshoot.model import Rule
from troubleshoot.rulepack.docs import index_page, outline, rule_page, write_docs
from troubleshoot.rulepack.document import rule_document
from troubleshoot.rulepack.load import load_pack
from troubleshoot.rulepack.schema import parse_rule

HEADINGS = ["What you see", "What it means", "What to do", "How to be sure", "What looks alike", "References"]
RULE = """\
title: "The <image> is *old* ({needed})"
severity: high
symptom: true
systems: [efa]
signatures:
  old: "version 'GLIBC_{needed:version}' not found"
  mount: ["/opt/``x``", { regex: 'y|z' }]
condition:
  all:
    - old
    - { at_least: { n: 2, of: mount, distinct: rank } }
  same: rank
  within: 20 records
  where: needed > 2.31
  unless: { none: [old, mount] }
explanation: Use `--time` and <b>.
fixes:
  - { title: Mend it, do: now, run: [a, b], variants: { slurm: c }, safe: true, verify: { run: d, expect: e } }
owner: platform
retry: no
causes: [x/y]
references: [https://example.org/a, "src/a.c"]
examples:
  - match: { a.log: "version `GLIBC_2.34' not found", b.log: "```" }
  - { no_match: nothing, why: because, also: [x/z] }
  - undecided: maybe
"""


def rule() -> Rule:
    parsed, problems = parse_rule(RULE, "rules/a/b.yaml", "a/b")
    assert problems == []
    assert parsed is not None
    return parsed


def test_page_has_all_headings_in_order() -> None:
    page = rule_page(rule())
    assert [line[3:] for line in page.splitlines() if line.startswith("## ")] == HEADINGS
    for part in (
        "# The \\<image> is \\*old\\* ({needed})",
        "`a/b` · severity high · confidence medium · a symptom of something else · systems: efa",
        "- `mount`: ``` /opt/``x`` ``` or `y|z`",
        "Use `--time` and \\<b>.",
        "**1. Mend it** (safe to try)",
        "```text\na\nb\n```",
        "````text\n```\n````",
        "On slurm:",
        "Once it is mended this says: `e`",
        "Running it again as it is does not help.",
        "This is for the platform to mend.",
        "Not this: because (see `x/z`)",
        "Cannot be told",
        "- <https://example.org/a>\n- src/a.c",
    ):
        assert part in page, part


def test_condition_in_words() -> None:
    assert list(outline(rule().condition)) == [
        "- each of these holds, on the same rank, within 20 records, where `needed > 2.31`:",
        "  - `old` is there",
        "  - `mount` is there with 2 or more different values of `rank`",
        "  - unless none of `old`, `mount` is there",
    ]


def test_every_shipped_rule_has_a_page_and_a_document(tmp_path: Path) -> None:
    pack = load_pack(drafts=True)
    written = write_docs(pack, tmp_path)
    assert len(written) == len(pack.rules) + 1
    index = (tmp_path / "index.md").read_text("utf-8")
    assert index == index_page(pack)
    for id in pack.rules:
        assert f"[{id}]({id}.md)" in index
        assert (tmp_path / f"{id}.md").exists()


def test_document_writes_every_short_form_out() -> None:
    document = rule_document(rule())
    assert json.loads(json.dumps(document)) == document
    assert list(document)[:4] == ["id", "path", "pack", "title"]
    assert document["condition"] == {
        "all": ["old", {"at_least": {"n": 2, "of": "mount", "distinct": "rank"}}],
        "same": "rank",
        "where": "needed > 2.31",
        "within": "20 records",
        "unless": {"none": ["old", "mount"]},
    }
    assert [next(iter(each)) for each in document["signatures"]["mount"]["wordings"]] == ["text", "regex"]
    assert document["fixes"][0]["verify"] == {"run": "d", "expect": "e"}
    assert document["examples"][0]["files"].keys() == {"a.log", "b.log"}
