"""What a condition comes to over a view of hits: an outcome tree with three answers.

In: a `Condition` and a `View`. Out: an `Outcome`: TRUE, FALSE or UNDECIDED, the hits that made it so, why.

A node is asked from the outside in, each step over the views that the one before leaves:

    same    per group; it holds if it holds in one, and the hits of all groups in which it holds are evidence
    within  per window, likewise
    where   on the hits whose captures make the comparisons hold (see `bindings`)
    core    the operator itself, over its children
    unless  vetoes, looked for in the same group and around the window; those that say from when to when they count
            (`since`, `until`) are asked of each occurrence, over the whole group (see `occurrences`)

Three answers, after Kleene: `all` is FALSE if one child is, else UNDECIDED if one is, else TRUE; `any` the reverse.
UNDECIDED comes from `missing` without its `given` and from a `where` that lacks a value.

What only a clock could tell, and no clock does, is no reason to say nothing: the node is TRUE and carries a doubt,
which costs the finding one step of confidence.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from troubleshoot.evaluate.bindings import bind
from troubleshoot.evaluate.sightings import Sighting, View
from troubleshoot.evaluate.trees import (
    can_hold,
    describe,
    describe_window,
    legs_of,
    looks_for_absence,
    needed_of,
    occurrences,
    reaching,
    signatures_of,
    without,
)
from troubleshoot.evaluate.windows import WindowLimitError, groups, spans
from troubleshoot.model import Condition, Note, Op, Outcome, Reach, SignatureHit, Truth

if TYPE_CHECKING:
    from troubleshoot.where import Expression

_SHORT = 60  # characters of a condition that are still read in a sentence
_T, _F, _U = Truth.TRUE, Truth.FALSE, Truth.UNDECIDED


class Judge:
    """Asks the conditions of one rule. Keeps parsed `where` texts, and notes what a budget cut short."""

    def __init__(self, rule_id: str) -> None:
        self._rule_id = rule_id
        self.notes: list[Note] = []
        self._parsed: dict[str, Expression] = {}
        self._core: Mapping[Op, Callable[[Condition, View], Outcome]] = {
            Op.SIGNATURE: self._signature,
            Op.ALL: self._all,
            Op.ANY: self._any,
            Op.NONE: self._none,
            Op.AT_LEAST: self._at_least,
            Op.IN_ORDER: self._in_order,
            Op.MISSING: self._missing,
        }

    def judge(self, node: Condition, view: View) -> Outcome:
        """Return what the node comes to over the view."""
        if node.same is None or node.same == "job":
            return self._over_windows(node, view)
        found = [
            self._over_windows(node, group) for group in groups(view, node.same, lambda names: can_hold(node, names))
        ]
        return merged(node, found, f"in no {node.same}")

    def _over_windows(self, node: Condition, view: View) -> Outcome:
        vetoes = reaching(node)
        return self._standing(node, vetoes, view) if vetoes else self._in_windows(node, view)

    def _standing(self, node: Condition, vetoes: tuple[Condition, ...], view: View) -> Outcome:
        """Hold on to the occurrences that no veto reaches: see `occurrences`."""
        outcome = self._in_windows(without(node, vetoes), view)
        if outcome.truth is not _T:
            return replace(outcome, condition=node)
        vetoing = [replace(self.judge(replace(veto, reach=None), view), condition=veto) for veto in vetoes]
        children = (*outcome.children, *vetoing)
        hits = [(veto, _sightings(each)) for veto, each in zip(vetoes, vetoing, strict=True) if each.truth is _T]
        if not hits:
            return replace(outcome, condition=node, children=children)
        from troubleshoot.evaluate.occurrences import Leg, Veto, standing  # few rules have such vetoes

        legs = [Leg(tuple(_of_leg(outcome, leg)), needed_of(leg)) for leg in legs_of(node)]
        marks = [Veto(veto.reach or Reach(), tuple(found)) for veto, found in hits]
        stands = standing([leg for leg in legs if leg.hits], marks, ordered=node.op is Op.IN_ORDER, window=node.within)
        if stands is None:
            late = "came in time, and that cannot be told"
            doubts = [f"it would not count if {describe(veto)} {late}" for veto, _ in hits]
            return replace(outcome, condition=node, children=children, doubts=(*outcome.doubts, *doubts))
        if not stands.hits:
            by = stands.vetoed_by
            place = f"vetoed at {by.source}:{by.hit.record.line}" if by is not None else "not in time"
            return replace(outcome, condition=node, truth=_F, hits=(), children=children, why=place)
        return replace(outcome, condition=node, hits=stands.hits, children=children)

    def _in_windows(self, node: Condition, view: View) -> Outcome:
        if node.within is None:
            return self._over_bindings(node, view)
        strict: list[Outcome] = []
        floating: list[View] = []
        try:
            for span in spans(view, node.within, every=looks_for_absence(node)):
                if can_hold(node, span.strict.hits) or not strict:
                    strict.append(self._over_bindings(node, span.strict))
                if span.loose is not None:
                    floating.append(span.loose)
        except WindowLimitError as error:
            self._note("window-capped", f"{self._rule_id} was not asked over every window: {error.text}")
        if floating and not any(each.truth is _T for each in strict):
            loose = self._in_doubt(node, view, floating)
            if loose is not None:
                return loose
        return merged(node, strict, f"not within {describe_window(node.within)}")

    def _in_doubt(self, node: Condition, view: View, floating: Sequence[View]) -> Outcome | None:
        """Return the node as it holds if hits without a comparable time are in the window; None if it does not."""
        if self._over_bindings(node, view).truth is not _T:
            return None
        found = next((each for each in (self._over_bindings(node, one) for one in floating) if each.truth is _T), None)
        if found is None or node.within is None:
            return None
        doubt = f"the log has no comparable times to check that it happened within {describe_window(node.within)}"
        return replace(found, doubts=(*found.doubts, doubt))

    def _over_bindings(self, node: Condition, view: View) -> Outcome:
        outcome = self._core[node.op](node, view)
        if node.where is not None and outcome.truth is _T:
            outcome = self._where(node, view, outcome)
        if node.unless is not None and outcome.truth is _T:
            outcome = self._unless(outcome, self.judge(node.unless, view.around))
        return outcome

    def _where(self, node: Condition, view: View, outcome: Outcome) -> Outcome:
        """Hold on to the hits that satisfy the comparisons, ask again on those, then compare their count."""
        parts = self._parse(node.where or "").conjuncts()
        plain = [part for part in parts if "count" not in part.names()]
        captures: Mapping[str, str] = {}
        if plain:
            bound = bind(plain, _sightings(outcome), {})
            if bound.is_capped:
                text = f"{self._rule_id} was not asked for every combination of hits: {node.where}"
                self._note("where-capped", text)
            if bound.truth is not _T:
                return replace(outcome, truth=bound.truth, hits=(), why=_where_why(node, bound.why))
            captures = bound.captures
            view = view.only({name: tuple(filter(bound.keeps, hits)) for name, hits in view.hits.items()})
            outcome = self._core[node.op](node, view)
            if outcome.truth is not _T:
                return replace(outcome, hits=(), why=outcome.why or _where_why(node, ""))
        counting = [part for part in parts if "count" in part.names()]
        if counting:
            count = occurrences(node, _sightings(outcome), view)
            bound = bind(counting, _sightings(outcome), {"count": count})
            if bound.truth is not _T:
                return replace(outcome, truth=bound.truth, hits=(), why=_where_why(node, bound.why))
            captures = {**bound.captures, **captures}
        return replace(outcome, captures={**outcome.captures, **captures})

    def _unless(self, outcome: Outcome, veto: Outcome) -> Outcome:
        children = (*outcome.children, veto)
        if veto.truth is _T and not veto.doubts:
            first = veto.hits[0].hit.record if veto.hits else None
            place = f" ({first.source.name}:{first.line})" if first is not None else ""
            return replace(
                outcome, truth=_F, hits=(), children=children, why=f"vetoed by {describe(veto.condition)}{place}"
            )
        if veto.truth is _U:
            return replace(outcome, truth=_U, hits=(), children=children, why=veto.why)
        doubts = tuple(f"it would not count if {doubt}" for doubt in veto.doubts) if veto.truth is _T else ()
        return replace(outcome, children=children, doubts=(*outcome.doubts, *doubts))

    # --- operators ---------------------------------------------------------------------------------------------------

    def _signature(self, node: Condition, view: View) -> Outcome:
        hits = view.hits.get(node.signature or "", ())
        return Outcome(node, _T if hits else _F, hits, why="" if hits else f"no {node.signature}")

    def _all(self, node: Condition, view: View) -> Outcome:
        children = self._children(node, view)
        lacking = next((each for each in children if each.truth is _F), None)
        undecided = next((each for each in children if each.truth is _U), None)
        reason = lacking or undecided
        if reason is not None:
            return Outcome(node, reason.truth, children=children, why=reason.why)
        return _held(node, children)

    def _any(self, node: Condition, view: View) -> Outcome:
        return self._so_many(node, self._children(node, view), 1)

    def _none(self, node: Condition, view: View) -> Outcome:
        children = self._children(node, view.around)
        sure = next((each for each in children if each.truth is _T and not each.doubts), None)
        if sure is not None:
            return Outcome(node, _F, children=children, why=f"{describe(sure.condition)} is there")
        undecided = next((each for each in children if each.truth is _U), None)
        if undecided is not None:
            return Outcome(node, _U, children=children, why=undecided.why)
        doubts = tuple(f"it would not count if {doubt}" for each in children for doubt in each.doubts)
        return Outcome(node, _T, children=children, doubts=doubts)

    def _at_least(self, node: Condition, view: View) -> Outcome:
        children = self._children(node, view)
        if node.distinct is None and len(children) > 1:
            return self._so_many(node, children, node.n)
        held = _held(node, children)
        if node.distinct is None:
            number = occurrences(node, _sightings(held), view)
            what = describe(children[0].condition) if children else ""
        else:
            number = len({value for value in (_distinct(each, node.distinct) for each in _sightings(held)) if value})
            what = f"different {node.distinct}"
        if number >= node.n:
            return held
        if any(each.truth is _U for each in children):
            return Outcome(node, _U, children=children, why=next(each.why for each in children if each.truth is _U))
        if node.distinct is not None and view.is_saturated(hit.signature for hit in held.hits):
            return Outcome(node, _U, children=children, why=f"only the first hits were kept, with {number} {what}")
        return Outcome(node, _F, children=children, why=f"{number} {what}, {node.n} needed")

    def _so_many(self, node: Condition, children: tuple[Outcome, ...], needed: int) -> Outcome:
        holding = sum(1 for each in children if each.truth is _T)
        undecided = [each for each in children if each.truth is _U]
        if holding >= needed:
            return _held(node, children)
        if holding + len(undecided) >= needed:
            return Outcome(node, _U, children=children, why=undecided[0].why)
        return Outcome(node, _F, children=children, why=f"{holding} of {describe(node)}")

    def _in_order(self, node: Condition, view: View) -> Outcome:
        outcome = self._all(node, view)
        if outcome.truth is not _T:
            return outcome
        from troubleshoot.evaluate.chains import chain

        steps = [
            (_sightings(each), *_counted_in_order(child))
            for each, child in zip(outcome.children, node.children, strict=True)
            if each.hits
        ]
        links = chain([hits for hits, _, _ in steps], [n for _, n, _ in steps], [value for _, _, value in steps])
        if links is None:
            return Outcome(node, _F, children=outcome.children, why="not in this order")
        hits = _united(each for level in links.levels for each in level)
        doubts = () if links.is_certain else ("the log has no comparable times to check the order over its sources",)
        return replace(outcome, hits=hits, doubts=(*outcome.doubts, *doubts))

    def _missing(self, node: Condition, view: View) -> Outcome:
        there = tuple(self.judge(child, view.around) for child in node.children)
        given = (self.judge(node.given, view),) if node.given is not None else ()
        children = (*there, *given)
        present = next((each for each in there if each.truth is _T), None)
        if present is not None:
            return Outcome(node, _F, children=children, why=f"{describe(present.condition)} is there")
        if given and given[0].truth is _T and all(each.truth is _F for each in there):
            return replace(_held(node, given), children=children)
        relevant = (self.judge(node.relevant, view),) if node.relevant is not None else ()
        asked = relevant[0].truth is _T if relevant else any(each.truth is _U for each in children)
        absent = ", ".join(describe(child) for child in node.children)
        wanted = describe(node.given) if node.given is not None else "anything"
        says_nothing = f"without {wanted} that says nothing"
        if len(wanted) > _SHORT:
            says_nothing = "nothing in the log shows that there could have been"
        why = f"there is no {absent}, and {says_nothing}"
        return Outcome(node, _U if asked else _F, children=(*children, *relevant), why=why)

    def _children(self, node: Condition, view: View) -> tuple[Outcome, ...]:
        return tuple(self.judge(child, view) for child in node.children)

    def _parse(self, text: str) -> Expression:
        if text not in self._parsed:
            from troubleshoot.where import parse_where  # most rules compare nothing

            self._parsed[text] = parse_where(text)
        return self._parsed[text]

    def _note(self, code: str, text: str) -> None:
        note = Note(code, text)
        if note not in self.notes:
            self.notes.append(note)


def merged(node: Condition, found: Sequence[Outcome], why: str) -> Outcome:
    """Return one outcome for all groups or windows: it holds if one does, and sure ones count before doubtful ones."""
    holding = [each for each in found if each.truth is _T]
    holding = [each for each in holding if not each.doubts] or holding
    if holding:
        if len(holding) == 1:
            return holding[0]
        return replace(holding[0], hits=_united(hit for each in holding for hit in each.hits))
    undecided = next((each for each in found if each.truth is _U), None)
    if undecided is not None:
        return undecided
    closest = max(found, key=lambda each: sum(child.truth is _T for child in each.children), default=None)
    if closest is None:
        return Outcome(node, _F, why=why)
    return replace(closest, why=closest.why if len(found) == 1 else f"{why}: {closest.why}")


def _held(node: Condition, children: tuple[Outcome, ...]) -> Outcome:
    """Return the node as TRUE on the hits of the children that hold, without doubtful ones where enough are sure."""
    holding = [each for each in children if each.truth is _T]
    sure = [each for each in holding if not each.doubts]
    if node.op in (Op.ANY, Op.AT_LEAST) and len(sure) >= node.n:
        holding = sure
    hits = _united(hit for each in holding for hit in each.hits)
    doubts = tuple(dict.fromkeys(doubt for each in holding for doubt in each.doubts))
    captures: dict[str, str] = {}
    for each in holding:
        captures = {**each.captures, **captures}
    return Outcome(node, _T, hits, children, doubts=doubts, captures=captures)


def _united(hits: Iterable[SignatureHit]) -> tuple[SignatureHit, ...]:
    """Return the hits, each once though several groups or legs share it."""
    return tuple({(each.signature, id(each.hit)): each for each in hits}.values())


def _sightings(outcome: Outcome) -> list[Sighting]:
    return [each for each in outcome.hits if isinstance(each, Sighting)]


def _of_leg(outcome: Outcome, leg: Condition) -> list[Sighting]:
    names = signatures_of(leg)
    return [each for each in _sightings(outcome) if each.signature in names]


def _counted_in_order(step: Condition) -> tuple[int, Callable[[Sighting], str] | None]:
    """Return how many hits a step of `in_order` takes, and what of them is counted where that is not the hits."""
    name = step.distinct
    if step.op is not Op.AT_LEAST or name is None:
        return needed_of(step), None
    return step.n, lambda sighting: _distinct(sighting, name)


def _distinct(sighting: Sighting, name: str) -> str:
    value = sighting.captures.get(name)
    if value is None:
        known = {"rank": sighting.rank, "host": sighting.host, "source": sighting.source}.get(name)
        value = "" if known is None else str(known)
    return value.strip().casefold()


def _where_why(node: Condition, why: str) -> str:
    return f"where {node.where}: {why}" if why else f"not so: {node.where}"
