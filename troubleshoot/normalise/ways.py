"""The way of a line through the strong wrappers: which come off, outermost first, and where their facts stand.

In: one line. Out: the next wrapper and what is left, or the whole way by the line's shape. In all lines of one shape
the same wrappers end at the same places, so a way is found once and its facts are cut out of each line.
"""

from __future__ import annotations

from dataclasses import dataclass

from troubleshoot.normalise.weak import LAUNCHER_LINE, WEAK
from troubleshoot.normalise.wrappers import ONCE_MORE, WRAPPERS, Wrapper, by_lead
from troubleshoot.shapes import ByShape, blurred

ROUNDS = 8
Facts = dict[str, str | None]
Found = tuple[Wrapper, str, Facts]  # a wrapper, what is left without it, its facts
_LEADS, _EVERYWHERE = by_lead(WRAPPERS)


def first_strong(text: str, last: str | None, used: set[str]) -> Found | None:
    """Return the outermost strong wrapper of `text`."""
    for each in _LEADS.get(text[:1], _EVERYWHERE).candidates(text):
        if each.after not in (None, last) or (each.name in used and each.name not in ONCE_MORE):
            continue
        taken = each.take(text)
        if taken is not None:
            return each, *taken
    return None


def take_weak(each: Wrapper, text: str, last: str | None) -> Found | None:
    """Return this weak wrapper if `text` has it."""
    taken = each.take(text) if each.after in (None, last) else None
    return (each, *taken) if taken else None


@dataclass(frozen=True, slots=True)
class Way:
    """Wrappers with the places of their facts in the line, and where the rest begins. `kinds`: which of the weak
    wrappers the rest may have, by number; None for what is no line of a program's own."""

    steps: tuple[tuple[Wrapper, tuple[tuple[str, int, int], ...]], ...]
    rest: int
    kinds: tuple[int, ...] | None

    def taken(self, line: str) -> list[tuple[Wrapper, Facts]]:
        """Return the wrappers of a line of this shape, with the facts that they give (but not the message)."""
        return [(each, {name: line[begin:end] for name, begin, end in places}) for each, places in self.steps]


def _find_way(shape: str) -> Way | None:
    """Return the way of a shape; None where it depends on a digit, or on what a wrapper makes of the rest."""
    steps: list[tuple[Wrapper, tuple[tuple[str, int, int], ...]]] = []
    used: set[str] = set()
    text, at, last = shape, 0, None
    while len(steps) < ROUNDS:
        for each in _LEADS.get(text[:1], _EVERYWHERE).candidates(text):
            if each.after not in (None, last) or (each.name in used and each.name not in ONCE_MORE):
                continue
            m = (alike := blurred(each.pattern)).match(text)
            if m is None:
                continue
            if each.finish is not None or alike is not each.pattern:
                return None
            if m.start("msg") == 0:
                continue
            spans = (
                (name, *m.span(name)) for name, fact in m.groupdict().items() if fact is not None and name != "msg"
            )
            steps.append((each, tuple((name, begin + at, end + at) for name, begin, end in spans)))
            used.add(last := each.name)
            at, text = at + m.start("msg"), text[m.start("msg") :]
            break
        else:
            break
    return Way(tuple(steps), at, _find_kinds(text))


def _find_kinds(shape: str) -> tuple[int, ...] | None:
    if not shape.strip() or LAUNCHER_LINE.match(shape):
        return None
    return tuple(i for i, each in enumerate(WEAK) if blurred(each.wrapper.pattern).match(shape))


way_of = ByShape(_find_way)
kinds_of = ByShape(_find_kinds)
