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

from troubleshoot import limits
from troubleshoot.model import Condition, Op, PatternUse, Rule, RulePack

# What the job part asks of its marks once per source: how large the job is, and which job a log belongs to.
ONCE_PER_JOB = frozenset({"world", "job"})


class Enough:
    """How many hits of each pattern of a pack are kept per source. Works a number out when it is first asked for."""

    def __init__(self, pack: RulePack) -> None:
        self._pack = pack
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
        users = self._pack.users
        return users[pattern] if pattern < len(users) else ()

    def _of_use(self, use: PatternUse) -> int:
        rule = self._pack.rules.get(use.rule)
        if rule is not None:
            return limits.PRESENCE_HITS if is_asked_once(rule, use.signature) else sys.maxsize
        if use.rule == "~job":
            sign = self._pack.builtin.get("job", {}).get(use.signature, {}).get("sign")
            return limits.PRESENCE_HITS if sign in ONCE_PER_JOB else sys.maxsize
        if use.rule == "~suspects":  # they are merged by template
            return limits.SUSPECT_HITS
        return limits.PRESENCE_HITS if use.rule == "~platforms" else sys.maxsize


def is_asked_once(rule: Rule, signature: str) -> bool:
    """Tell whether the rule comes to the same however many hits of the signature there are, so there is one."""
    found = rule.signatures.get(signature)
    if found is None or any(name in rule.fingerprint for pattern in found.patterns for name in pattern.holes):
        return False
    return not _is_counted(rule.condition, signature, absent=False)


def _is_counted(node: Condition, signature: str, *, absent: bool) -> bool:
    """Tell whether the node asks more of the signature than whether it is there. `absent`: asked for in a part that is
    no evidence."""
    if node.op is Op.SIGNATURE:
        return node.signature == signature and not absent
    narrowed = node.within is not None or node.where is not None or node.same not in (None, "job")
    if narrowed or node.reach is not None or node.op in (Op.AT_LEAST, Op.IN_ORDER):
        return any(each.signature == signature for each in node.walk())
    below = absent or node.op in (Op.NONE, Op.MISSING)
    if any(_is_counted(child, signature, absent=below) for child in node.children):
        return True
    sides = (node.unless, node.given, node.relevant)
    return any(_is_counted(side, signature, absent=True) for side in sides if side is not None)
