"""`where` over hits: which hits' captures make the comparisons hold.

A binding takes each name of the expression from some hit. Hits are combined where one alone does not carry all names:
`built` from the line that says what it was built with, `runtime` from the one that says what runs. Captures of one name
agree within a binding. Hits with equal values are one candidate, so ten thousand ranks that say the same cost one try:

    a: x=1 (on 9 ranks), x=2      b: y=2        x < y:   {x=1, y=2} holds, {x=2, y=2} does not

The hits of bindings that hold are kept; the condition must then hold on those.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from troubleshoot import limits
from troubleshoot.evaluate.sightings import Sighting
from troubleshoot.model import Truth
from troubleshoot.values import Value

if TYPE_CHECKING:
    from troubleshoot.where import Expression


@dataclass(frozen=True, slots=True)
class _Candidate:
    """The values that one or more hits carry for the names asked for."""

    values: tuple[tuple[str, Value], ...]
    texts: tuple[tuple[str, str], ...]


@dataclass(slots=True)
class Bindings:
    """What became of the candidates. `captures` are the first values that held."""

    truth: Truth = Truth.FALSE
    captures: Mapping[str, str] = field(default_factory=dict)
    why: str = ""
    is_capped: bool = False
    _held: set[_Candidate] = field(default_factory=set)
    _names: frozenset[str] = frozenset()

    def keeps(self, sighting: Sighting) -> bool:
        """Tell whether a hit may stay: it carries none of the names, or took part in a binding that held."""
        candidate = _candidate(sighting, self._names)
        return candidate is None or candidate in self._held


def bind(parts: Sequence[Expression], sightings: Iterable[Sighting], extra: Mapping[str, Value]) -> Bindings:
    """Try the combinations of hits, earliest first, on all parts together; `extra` holds values known beforehand.
    At most limits.COMBINATIONS are tried."""
    names = frozenset().union(*(part.names() for part in parts)) - extra.keys()
    candidates = list(dict.fromkeys(each for each in (_candidate(one, names) for one in sightings) if each is not None))
    found = Bindings(_names=names)
    _Search(parts, sorted(names), candidates, extra, found).run({}, {}, ())
    return found


class _Search:
    def __init__(
        self,
        parts: Sequence[Expression],
        names: Sequence[str],
        candidates: Sequence[_Candidate],
        extra: Mapping[str, Value],
        found: Bindings,
    ) -> None:
        self._parts = parts
        self._by_name = {name: [one for one in candidates if name in dict(one.values)] for name in names}
        self._shared = {
            name: {key for one in carriers for key, _ in one.values} - {name}
            for name, carriers in self._by_name.items()
        }
        self._indexes: dict[tuple[str, str], dict[Value | None, list[_Candidate]]] = {}
        self._extra = extra
        self._found = found
        self._tried = 0

    def run(self, values: dict[str, Value], texts: dict[str, str], taken: tuple[_Candidate, ...]) -> None:
        """Bind the next free name to each hit that carries it; judge when none is left."""
        truth, why = self._judge(values)
        name = next((name for name, carriers in self._by_name.items() if name not in values and carriers), None)
        if truth is Truth.FALSE or name is None:
            self._settle(truth, why, texts, taken)
            return
        for candidate in self._agreeing(name, values):
            if self._tried >= limits.COMBINATIONS:
                self._found.is_capped = True
                return
            self._tried += 1
            if all(values.get(key, value) == value for key, value in candidate.values):
                self.run({**values, **dict(candidate.values)}, {**texts, **dict(candidate.texts)}, (*taken, candidate))

    def _agreeing(self, name: str, values: Mapping[str, Value]) -> Sequence[_Candidate]:
        """Return the candidates that carry the name, without those that differ in one of the values bound so far."""
        bound = next((key for key in values if key in self._shared[name]), None)
        if bound is None:
            return self._by_name[name]
        index = self._indexes.get((name, bound))
        if index is None:
            index = self._indexes[(name, bound)] = {}
            for candidate in self._by_name[name]:
                index.setdefault(dict(candidate.values).get(bound), []).append(candidate)
        return [*index.get(values[bound], ()), *index.get(None, ())]

    def _judge(self, values: Mapping[str, Value]) -> tuple[Truth, str]:
        undecided = ""
        for part in self._parts:
            truth, why = part.explain({**values, **self._extra})
            if truth is Truth.FALSE:
                return truth, ""
            if truth is Truth.UNDECIDED:
                undecided = undecided or why
        return (Truth.UNDECIDED, undecided) if undecided else (Truth.TRUE, "")

    def _settle(self, truth: Truth, why: str, texts: dict[str, str], taken: tuple[_Candidate, ...]) -> None:
        found = self._found
        if truth is Truth.TRUE:
            if found.truth is not Truth.TRUE:
                found.truth, found.captures, found.why = truth, texts, ""
            found._held.update(taken)
        elif truth is Truth.UNDECIDED and found.truth is Truth.FALSE:
            found.truth, found.why = truth, why


def _candidate(sighting: Sighting, names: frozenset[str]) -> _Candidate | None:
    texts = tuple((name, sighting.captures[name]) for name in sorted(names) if name in sighting.captures)
    if not texts:
        return None
    return _Candidate(tuple((name, _value(text, name in sighting.floats)) for name, text in texts), texts)


def _value(text: str, is_float: bool) -> Value:
    if not is_float:
        return text
    try:
        return float(text)
    except ValueError:
        return text
