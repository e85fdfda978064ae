"""Lines that say the same thing -> one group, by Drain's method (He et al., "Drain: An Online Log Parsing Approach with
Fixed Depth Tree", ICWS 2017).

In: lines whose numbers, addresses and quoted parts are masked already (`suspects.template_of`). A line is compared with
the groups that have as many words and begin with the same one; it joins the one it shares most words with, if those are
enough, and where the two differ the group's template gets a `<*>`:

    peer alpha of job # is gone
    peer beta of job # is gone        peer <*> of job # is gone
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Generic, TypeVar

WILD = "<*>"
SHARE = 0.6  # of the words that must be the same
LEAST = 3  # words that must be the same, so that lines of two words stay apart
WORDS = 60  # of a line that are compared
MOST_IN_BUCKET = 400  # groups that one line is compared with

Member = TypeVar("Member")


@dataclass(slots=True)
class Group(Generic[Member]):
    """Lines alike: the words they share, and whatever the caller keeps of each."""

    words: list[str]
    members: list[Member] = field(default_factory=list)

    @property
    def template(self) -> str:
        return " ".join(self.words)


class Grouping(Generic[Member]):
    """Puts lines into groups, one by one."""

    def __init__(self) -> None:
        self._buckets: dict[tuple[int, str], list[Group[Member]]] = {}

    def add(self, line: str, member: Member) -> None:
        """Put a line, numbers masked, into the group it belongs to, or a new one."""
        words = line.split()[:WORDS]
        first = words[0] if words and not _varies(words[0]) else WILD
        bucket = self._buckets.setdefault((len(words), first), [])
        group = self._nearest(bucket, words)
        if group is None:
            group = Group(words)
            bucket.append(group)
        else:
            group.words = [mine if mine == other else WILD for mine, other in zip(group.words, words, strict=True)]
        group.members.append(member)

    def groups(self) -> list[Group[Member]]:
        """Return the groups in the order in which their first lines came, bucket by bucket."""
        return [group for bucket in self._buckets.values() for group in bucket]

    def _nearest(self, bucket: list[Group[Member]], words: list[str]) -> Group[Member] | None:
        best, most = None, 0
        for group in bucket[-MOST_IN_BUCKET:]:
            same = sum(mine == other for mine, other in zip(group.words, words, strict=True))
            if same > most:
                best, most = group, same
        enough = most == len(words) or (most >= LEAST and most >= SHARE * len(words))
        return best if enough else None


def _varies(word: str) -> bool:
    return "#" in word or "*" in word or "/" in word
