"""Each domain's folder has an index that is fresh."""

from __future__ import annotations

import itertools
from pathlib import Path

from troubleshoot.rulepack.docs import domain_index
from troubleshoot.rulepack.load import load_pack

RULES = Path(__file__).parents[2] / "rules"


def test_every_domain_has_an_index_of_its_rules() -> None:
    """Renew them with `troubleshoot rules docs --indexes rules`."""
    pack = load_pack([RULES], default_rules=False, drafts=True, cache=False, overrides=None)
    rules = sorted(pack.rules.values(), key=lambda rule: rule.id)
    stale = [
        domain
        for domain, members in itertools.groupby(rules, lambda rule: rule.domain)
        if not (RULES / domain / "README.md").is_file()
        or (RULES / domain / "README.md").read_text("utf-8") != domain_index(domain, members)
    ]
    assert stale == [], "troubleshoot rules docs --indexes rules"
