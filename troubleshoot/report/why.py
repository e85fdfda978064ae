"""Explanation -> a readable tree: what of a rule's condition held, what did not, and the lines that almost matched.

rule  efa/glibc-too-old: did not fire

no   all of, in one record
       yes  too_old: launcher.log:12
       no   efa_mount

efa_mount matched nothing. Nearest lines:
  launcher.log:12
    ... required by /opt/amazon/efa/lib/...
                               ^ expected here: -efa-ofi/
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from troubleshoot.model import Condition, Op, Outcome, Signature, Truth, Window
from troubleshoot.reach import reach_words
from troubleshoot.report.look import PLAIN, Look
from troubleshoot.report.printable import cells, cut_around, cut_end, one_line, wrap
from troubleshoot.report.redact import redact_text

if TYPE_CHECKING:
    from troubleshoot.explain import Explanation, SignatureAnswer
    from troubleshoot.nearest import NearLine

HITS_SHOWN = 3
LINES_TOLD = 100  # of a node, as JSON
MARKS = {Truth.TRUE: ("yes", "green"), Truth.FALSE: ("no", "red"), Truth.UNDECIDED: ("?", "yellow")}
OPERATORS = {
    Op.ALL: "all of",
    Op.ANY: "any of",
    Op.NONE: "none of",
    Op.IN_ORDER: "in this order",
    Op.MISSING: "missing",
}


def render_why(explanation: Explanation, look: Look = PLAIN) -> str:
    """Return the tree and the nearest lines as text that ends in a newline."""
    rule = explanation.rule
    fired = "fired" if explanation.fired else "did not fire"
    sections = [
        [look.paint(f"{one_line(rule.id)} {fired}", "bold"), *wrap(one_line(rule.title), look.width)],
        _tree(explanation, look),
        *(_answer(each, look) for each in explanation.signatures if not (each.hits or explanation.fired)),
    ]
    return "\n\n".join("\n".join(section) for section in sections if section) + "\n"


def _tree(explanation: Explanation, look: Look) -> list[str]:
    if explanation.outcome is None:
        return ["No signature of the rule was seen, so its condition was not asked."]
    return list(_node(explanation.outcome, look, 0))


def _node(outcome: Outcome, look: Look, depth: int, label: str = "") -> list[str]:
    word, style = MARKS[outcome.truth]
    indent = "     " * depth
    text = label + describe(outcome.condition)
    if outcome.condition.op is Op.SIGNATURE:
        text += _places(outcome)
    if outcome.why and not _says_its_children(outcome.condition):
        text += f": {one_line(outcome.why)}"
    text += "".join(f" (not checked: {one_line(doubt)})" for doubt in outcome.doubts)
    lines = wrap(text, max(look.width - len(indent) - 5, 20))
    shown = [f"{indent}{look.paint(f'{word:<5}', style)}{lines[0]}", *(f"{indent}     {line}" for line in lines[1:])]
    for child in outcome.children:
        shown += _node(child, look, depth + 1, _label(outcome.condition, child.condition))
    return shown


def _says_its_children(condition: Condition) -> bool:
    """Say whether a node's reason is no more than what stands below it: nothing but a list is asked of it."""
    is_list = condition.op in (Op.ALL, Op.ANY, Op.NONE, Op.SIGNATURE)
    return is_list and not (condition.where or condition.within or condition.same or condition.unless)


def _label(parent: Condition, child: Condition) -> str:
    for word, part in (("unless", parent.unless), ("given", parent.given), ("relevant", parent.relevant)):
        if part == child:
            return f"{word} "
    listed = parent.unless.children if parent.unless is not None else ()
    return "unless " if child.reach is not None and child in listed else ""


def describe(condition: Condition) -> str:
    """Return a condition node in words, without its children: `2 of, in one rank, within 30 s, where needed > 2.31`."""
    if condition.op is Op.SIGNATURE:
        text = condition.signature or ""
    elif condition.op is Op.AT_LEAST:
        of = f" different {condition.distinct}" if condition.distinct else ""
        text = f"at least {condition.n}{of} of"
    else:
        text = OPERATORS[condition.op]
    if condition.same and condition.op is not Op.SIGNATURE:
        text += f", in one {condition.same}" if condition.same in SCOPES else f", with the same {condition.same}"
    if condition.within:
        text += f", within {_window(condition.within)}"
    if condition.reach:
        text += f", {reach_words(condition.reach)}"
    if condition.where:
        text += f", where {condition.where}"
    return text


SCOPES = frozenset({"record", "source", "rank", "host", "job"})


def _window(window: Window) -> str:
    return f"{window.records} records" if window.records is not None else f"{window.seconds:g} s"


def _places(outcome: Outcome) -> str:
    if not outcome.hits:
        return ""
    places = [f"{each.hit.record.source.name}:{each.hit.record.line}" for each in outcome.hits]
    more = f" and {len(places) - HITS_SHOWN} more" if len(places) > HITS_SHOWN else ""
    captures = redact_text(", ".join(f"{name}={value}" for name, value in outcome.hits[0].hit.captures.items()))
    return one_line(f" at {', '.join(places[:HITS_SHOWN])}{more}" + (f" ({captures})" if captures else ""))


def _answer(answer: SignatureAnswer, look: Look) -> list[str]:
    lines = [f"{look.paint(one_line(answer.signature.name), 'bold')} matched nothing. Its wordings:"]
    lines += [
        f"  {cut_end(one_line(wording), look.width - 2, look.ellipsis)}" for wording in _wordings(answer.signature)
    ]
    if not answer.nearest:
        return [*lines, "No line comes near it."]
    lines.append("Nearest lines:")
    for near in answer.nearest:
        lines += _near(near, look)
    return lines


def _wordings(signature: Signature) -> Sequence[str]:
    return [pattern.source for pattern in signature.patterns]


def _near(near: NearLine, look: Look) -> list[str]:
    """Return the line, cut around the character at which it parts from the signature, and a caret below that."""
    alike = f" and {near.count - 1} like it" if near.count > 1 else ""
    place = f"  {look.paint(one_line(f'{near.source}:{near.line}'), 'cyan')}{alike}"
    text, at = redact_text(near.text), near.parted - 1
    if not near.expected:
        reason = "all of it holds, but the line was not taken: as advice, or for its kind of document"
        return [place, f"    {cut_end(one_line(text), look.width - 4, look.ellipsis)}", f"    {reason}"]
    rest = near.text[at:]
    if text[: at + 1] != near.text[: at + 1]:  # a secret was taken out before it
        at = len(text) - len(rest) if rest and text.endswith(rest) else -1
    where = "before this" if near.backwards else "anywhere from here on" if near.anywhere else "here"
    if at < 0:
        shown = cut_end(one_line(text), look.width - 4, look.ellipsis)
        return [place, f"    {shown}", f"    expected within what was taken out: {one_line(near.expected)}"]
    before, _char, after = cut_around(text, at, at, look.width - 4, look.ellipsis)
    held = before if near.backwards else look.paint(before, "green")
    column = 4 + cells(before)
    said = f"expected {where}: {one_line(near.expected)}"
    if column + 2 + cells(said) <= look.width:
        return [place, f"    {held}{after}", f"{' ' * column}{look.paint('^', 'red')} {said}"]
    said = cut_end(said, look.width - 4, look.ellipsis)
    return [place, f"    {held}{after}", f"{' ' * column}{look.paint('^', 'red')}", f"    {said}"]


# --- JSON ------------------------------------------------------------------------------------------------------------


def why_document(explanation: Explanation) -> dict[str, Any]:
    """Return an explanation as JSON values."""
    return {
        "rule": explanation.rule.id,
        "fired": explanation.fired,
        "outcome": _wire_outcome(explanation.outcome) if explanation.outcome is not None else None,
        "signatures": [
            {
                "name": answer.signature.name,
                "wordings": list(_wordings(answer.signature)),
                "hits": len(answer.hits),
                "nearest": [wire_near(near) for near in answer.nearest],
            }
            for answer in explanation.signatures
        ],
    }


def _wire_outcome(outcome: Outcome) -> dict[str, Any]:
    return {
        "condition": describe(outcome.condition),
        "truth": outcome.truth.value,
        "why": redact_text(outcome.why) or None,
        "doubts": [redact_text(doubt) for doubt in outcome.doubts],
        "lines": [
            {"source": each.hit.record.source.name, "line": each.hit.record.line, "signature": each.signature}
            for each in outcome.hits[:LINES_TOLD]
        ],
        "children": [_wire_outcome(child) for child in outcome.children],
    }


def wire_near(near: NearLine) -> dict[str, Any]:
    """Return a line that almost matched as JSON values; `column` counts from 1, in the line with its secrets."""
    return {
        "source": near.source,
        "line": near.line,
        "count": near.count,
        "text": redact_text(near.text),
        "column": near.parted,
        "expected": near.expected,
        "backwards": near.backwards,
    }
