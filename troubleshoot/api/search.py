"""Words -> the rules of a pack that speak of them; one meaning of search for the API and the pages."""

from __future__ import annotations

from troubleshoot.model import Rule, RulePack


def find_rules(
    pack: RulePack, words: str | None = None, *, domain: str | None = None, system: str | None = None
) -> list[Rule]:
    """Return the rules in which every word is found, in id, title, systems or explanation, sorted by id."""
    wanted = (words or "").lower().split()
    return [
        rule
        for id, rule in sorted(pack.rules.items())
        if (domain is None or rule.domain == domain)
        and (system is None or system in rule.systems)
        and all(word in _text(rule) for word in wanted)
    ]


def _text(rule: Rule) -> str:
    return f"{rule.id} {rule.title} {' '.join(rule.systems)} {rule.explanation}".lower()
