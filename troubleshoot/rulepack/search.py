"""A pack and what somebody looks for -> the rules that fit, and a line's worth on each, for every front end's lists."""

from __future__ import annotations

from collections.abc import Iterable

from troubleshoot.model import Rule, RulePack


def search_rules(
    pack: RulePack, words: Iterable[str] = (), *, domain: str | None = None, system: str | None = None
) -> list[Rule]:
    """Return the rules of a domain or about a system whose id, title, explanation or systems hold all words, by id."""
    wanted = [word.lower() for word in words]
    return sorted(
        (
            rule
            for rule in pack.rules.values()
            if (domain is None or rule.domain == domain)
            and (system is None or system in rule.systems)
            and all(word in _text(rule) for word in wanted)
        ),
        key=lambda rule: rule.id,
    )


def rule_summary(rule: Rule) -> dict[str, str | list[str]]:
    """Return what a list shows of a rule, as JSON-ready values."""
    return {
        "id": rule.id,
        "title": rule.title,
        "kind": rule.kind.value,
        "severity": rule.severity.word,
        "confidence": rule.confidence.word,
        "status": rule.status.value,
        "systems": list(rule.systems),
        "tags": list(rule.tags),
    }


def _text(rule: Rule) -> str:
    return " ".join((rule.id, rule.title, rule.explanation, *rule.systems)).lower()
