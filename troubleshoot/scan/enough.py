"""Says how many hits of a pattern are enough, so that the scan may stop looking for it.

In: a pack. Out: for each pattern, a number of hits per source. What a rule counts, and whose ranks it names, is kept up
to limits.HITS_PER_PATTERN. Most signatures are asked only whether they are there, and for these a few hits tell all:

    all: [fork_failed]        each hit is evidence: its rank, its time, its place
    supports: [efa]           one hit raises the confidence as much as a thousand
    missing: channel          the first hit settles it

A signature that is asked for per rank, per window or by its captures is never of that kind.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence

from troubleshoot import late, limits
from troubleshoot.model import Condition, Op, PatternUse, Rule, RulePack

_WORD = late.compile(r"[A-Za-z_]\w*")
# What the job part asks of its marks once per source: how large the job is, and which job a log belongs to.
ONCE_PER_JOB = frozenset({"world", "job"})


class Enough:
    """How many hits of each pattern of a pack are kept per source. Works a number out when it is first asked for."""

    def __init__(self, pack: RulePack) -> None:
        self.pack = pack
        self._caps: dict[int, int] = {}

    def hits_of(self, pattern: int, most: int) -> int:
        """Return how many hits of the pattern are kept, where a counted pattern keeps `most`."""
        cap = self._caps.get(pattern)
        if cap is None:
            cap = self._caps[pattern] = max((self._of_use(use) for use in self._uses(pattern)), default=sys.maxsize)
        return min(cap, most)

    def is_counted(self, pattern: int) -> bool:
        """Tell whether it matters to anybody how many hits there are."""
        return self.hits_of(pattern, sys.maxsize) > limits.PRESENCE_HITS

    def _uses(self, pattern: int) -> Sequence[PatternUse]:
        users = self.pack.users
        return users[pattern] if pattern < len(users) else ()

    def _of_use(self, use: PatternUse) -> int:
        rule = self.pack.rules.get(use.rule)
        if rule is not None:
            return limits.PRESENCE_HITS if is_asked_once(rule, use.signature) else sys.maxsize
        if use.rule == "~job":
            sign = self.pack.builtin.get("job", {}).get(use.signature, {}).get("sign")
            return limits.PRESENCE_HITS if sign in ONCE_PER_JOB else sys.maxsize
        if use.rule == "~suspects":  # they are merged by template
            return limits.SUSPECT_HITS
        return limits.PRESENCE_HITS if use.rule == "~platforms" else sys.maxsize


def is_asked_once(rule: Rule, name: str) -> bool:
    """Tell whether the rule comes to the same however many hits of the signature there are, so there is one."""
    signature = rule.signatures.get(name)
    if signature is None:
        return False
    captures = frozenset(hole for pattern in signature.patterns for hole in pattern.holes)
    return captures.isdisjoint(rule.fingerprint) and not _Question(rule, name, captures).counts(rule.condition)


class _Question:
    """What a rule asks of one of its signatures."""

    def __init__(self, rule: Rule, name: str, captures: frozenset[str]) -> None:
        self._rule = rule
        self._name = name
        self._captures = captures

    def counts(self, node: Condition, *, beside: bool = False) -> bool:
        """Tell whether the node asks more of the signature than whether it is there. `beside`: it is no evidence in
        this part of the condition."""
        if node.op is Op.SIGNATURE:
            return node.signature == self._name and not beside
        if self._narrows(node):
            return any(each.signature == self._name for each in node.walk())
        below = beside or node.op in (Op.NONE, Op.MISSING) or self._is_setting(node)
        sides = (node.unless, node.given, node.relevant)
        return any(self.counts(child, beside=below) for child in node.children) or any(
            self.counts(side, beside=side is not node.given or beside) for side in sides if side is not None
        )

    def _narrows(self, node: Condition) -> bool:
        """Tell whether the node picks some of the hits, or counts them."""
        return (
            node.within is not None
            or node.same not in (None, "job")
            or node.reach is not None
            or node.op in (Op.AT_LEAST, Op.IN_ORDER)
            or (node.where is not None and not self._captures.isdisjoint(_WORD.findall(node.where)))
        )

    def _is_setting(self, node: Condition) -> bool:
        """Tell whether the signature, a shared one, only says in which setting another one is the rule's fault: the
        finding's ranks, times and counts are those of the leg that leads."""
        if node.op is not Op.ALL or not self._rule.signatures[self._name].shared:
            return False
        legs = [leg for leg in node.children if leg.op not in (Op.NONE, Op.MISSING)]
        lead = next((leg for leg in legs if self._has_own(leg)), legs[0] if legs else node)
        return all(each.signature != self._name for each in lead.walk())

    def _has_own(self, leg: Condition) -> bool:
        """Tell whether the leg asks for a signature of the rule's own."""
        names = [each.signature for each in leg.walk() if each.op is Op.SIGNATURE and each.signature is not None]
        return any(not self._rule.signatures[name].shared for name in names)
