"""Hits as one rule sees them: by signature, with looked-up captures, rank and host.

In: the pack and the scan results of all sources. Out: a `View` per rule that any hit touches. A view is what a
condition is asked over; groups and windows are smaller views of the same kind (see `windows`).

A signature hits a record once: where two of its wordings, or two ways of reading the source, hit the same line, the one
with more captures stays. A hit in a kind of document that the signature does not apply to is left out here.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from troubleshoot import late
from troubleshoot.clocks import place_of
from troubleshoot.model import Hit, Lookup, Pattern, RulePack, ScanResult, SignatureHit

_FLOAT_HOLE = late.compile(r"\{(\w+):float\}")


@dataclass(frozen=True, slots=True)
class Sighting(SignatureHit):
    """A hit under its signature's name. `captures` holds looked-up columns too."""

    captures: Mapping[str, str] = field(default_factory=dict)
    rank: int | None = None
    host: str | None = None
    floats: frozenset[str] = frozenset()  # captures that a `{name:float}` hole took: numbers, not versions

    @property
    def source(self) -> str:
        return self.hit.record.source.name

    @property
    def place(self) -> tuple[str, int, int]:
        return place_of(self.hit)


@dataclass(frozen=True, slots=True)
class View:
    """The sightings that a condition is asked over, by signature, each in order of source and line.

    `floors[signature][source]` is how often a signature hit at least, where the scan stopped keeping its hits.
    `near` is the wider view in which `none` and `unless` look: a window's surroundings. Where it is None, this one.
    """

    hits: Mapping[str, tuple[Sighting, ...]]
    floors: Mapping[str, Mapping[str, tuple[int, int]]] = field(default_factory=dict)  # kept, counted
    near: View | None = None

    @property
    def around(self) -> View:
        return self.near if self.near is not None else self

    def all(self) -> Iterator[Sighting]:
        for sightings in self.hits.values():
            yield from sightings

    def only(self, hits: Mapping[str, tuple[Sighting, ...]]) -> View:
        """Return the view of some of the hits, with the same surroundings."""
        return View(hits, self.floors, self.around)

    def count(self, sightings: Sequence[SignatureHit]) -> int:
        """Return how many records the sightings stand for: more than there are where hits were no longer kept."""
        if not self.floors:
            return len(sightings)
        kept: dict[tuple[str, str], int] = {}
        for each in sightings:
            key = (each.signature, each.hit.record.source.name)
            kept[key] = kept.get(key, 0) + 1
        total = 0
        for (signature, source), number in kept.items():
            whole, counted = self.floors.get(signature, {}).get(source, (-1, 0))
            total += max(number, counted) if number == whole else number
        return total

    def is_saturated(self, signatures: Iterable[str]) -> bool:
        return any(self.floors.get(signature) for signature in signatures)


def view_rules(pack: RulePack, results: Sequence[ScanResult], only: str | None = None) -> dict[str, View]:
    """Return a view per rule that at least one hit touches, whatever the order of the results.
    With `only`, of that rule alone."""
    found: dict[str, dict[str, dict[tuple[str, int], Hit]]] = {}
    uses_of: dict[int, list[tuple[str, str, tuple[str, ...]]]] = {}
    for result in results:
        for hit in result.hits:
            uses = uses_of.get(hit.pattern)
            if uses is None:
                uses = uses_of[hit.pattern] = _uses(pack, hit.pattern, only)
            record = hit.record
            place = (record.source.name, record.line)
            for rule_id, name, kinds in uses:
                if kinds and record.document not in kinds:
                    continue
                by_place = found.setdefault(rule_id, {}).setdefault(name, {})
                held = by_place.setdefault(place, hit)
                if held is not hit and _fuller(hit, held):
                    by_place[place] = hit
    floors = _floors(pack, results, found)
    floats = {number: _floats(pack.patterns[number]) for number in uses_of}
    views = {}
    for rule_id, by_signature in found.items():
        lookups = pack.rules[rule_id].lookup
        hits = {
            signature: tuple(
                _sighting(signature, hit, lookups, pack.tables, floats[hit.pattern])
                for _, hit in sorted(by_place.items(), key=lambda item: item[0])
            )
            for signature, by_place in sorted(by_signature.items())
        }
        views[rule_id] = View(hits, floors.get(rule_id, {}))
    return views


def _uses(pack: RulePack, pattern: int, only: str | None) -> list[tuple[str, str, tuple[str, ...]]]:
    """Return the rules that a pattern serves, each with the signature and the kinds of document it applies to."""
    found = []
    for use in pack.users[pattern]:
        rule = pack.rules.get(use.rule)
        if rule is not None and (only is None or rule.id == only):
            signature = rule.signatures.get(use.signature)
            found.append((rule.id, use.signature, signature.applies_to if signature is not None else ()))
    return found


def _floats(pattern: Pattern) -> frozenset[str]:
    return frozenset(_FLOAT_HOLE.findall(pattern.source)) if pattern.kind == "text" else frozenset()


def _fuller(hit: Hit, held: Hit) -> bool:
    """Prefer more captures, then the earlier column, then the lower pattern: no matter which comes first."""
    return (-len(hit.captures), hit.start, hit.pattern) < (-len(held.captures), held.start, held.pattern)


def _floors(
    pack: RulePack, results: Sequence[ScanResult], found: Mapping[str, Mapping[str, Mapping[tuple[str, int], Hit]]]
) -> dict[str, dict[str, dict[str, tuple[int, int]]]]:
    """Return, where the scan stopped keeping hits, how many it kept and how many there were at least."""
    counted: dict[tuple[str, str, str], int] = {}
    for result in results:
        for pattern in result.saturated:
            for use in pack.users[pattern]:
                key = (use.rule, use.signature, result.source.name)
                counted[key] = max(counted.get(key, 0), result.counts.get(pattern, 0))
    floors: dict[str, dict[str, dict[str, tuple[int, int]]]] = {}
    for (rule, signature, source), number in counted.items():
        kept = sum(1 for place in found.get(rule, {}).get(signature, {}) if place[0] == source)
        if kept:
            floors.setdefault(rule, {}).setdefault(signature, {})[source] = (kept, number)
    return floors


def _sighting(
    signature: str,
    hit: Hit,
    lookups: Sequence[Lookup],
    tables: Mapping[str, Mapping[str, Mapping[str, str]]],
    floats: frozenset[str],
) -> Sighting:
    """A line may name the rank it is about (`process rank 3 exited`), which counts where nothing says who wrote it. A
    host that a line names is as often the one that could not be reached, so it does not count."""
    identity = hit.record.identity.over(hit.record.source.identity)
    captures = looked_up(hit.captures, lookups, tables)
    named = captures.get("rank", "")
    rank = identity.rank
    if rank is None and named.isascii() and named.isdigit() and len(named) < 8:
        rank = int(named)
    return Sighting(signature, hit, captures, rank, identity.host, floats)


def looked_up(
    captures: Mapping[str, str], lookups: Sequence[Lookup], tables: Mapping[str, Mapping[str, Mapping[str, str]]]
) -> Mapping[str, str]:
    """Return the captures with a column of a table's row beside each key that was captured."""
    if not any(lookup.key in captures for lookup in lookups):
        return captures
    fuller = dict(captures)
    for lookup in lookups:
        if lookup.key in fuller:
            rows = tables.get(lookup.table, {})
            key = fuller[lookup.key].strip()
            row = next((rows[form] for form in (key, key.lower(), key.upper(), key.lstrip("0")) if form in rows), None)
            fuller[lookup.name] = lookup.default if row is None else row.get(lookup.column, lookup.default)
    return fuller
