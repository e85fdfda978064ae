r"""Derives the literals a pattern cannot match without.

In: a pattern. Out: a few byte strings of which at least one stands, in either case, in every text that the pattern
matches. They are what the prefilter searches for, so one choice is made per pattern: the rarest in ordinary logs.

    version\W{1,8}GLIBC_(?P<needed>[\d.]+)\W+not found      "GLIBC_"   (rarer than "version" and "found")
    via NET/(?:AWS Libfabric|OFI)/\d                        "Libfabric/" or "NET/OFI/"
    (?:os\.fork\(\)|popen_fork)(?:[^\n]*\n){1,9}?OSError    "OSError"

Each node of the tree gives two things: the few texts it can match exactly, when they are few (they join up with their
neighbours to longer literals), and its best choice, a set of which one must occur. A sequence needs each of its parts,
so it takes its cheapest; an alternation needs one of its branches, so it takes the union.

A literal holds no quote, colon or bracket if it can be helped: those vary by wrapper and by how a log was copied. It is
a word, for rare words are found fastest (pieces.py). A word that was seen to be on many lines can be avoided.
"""

from __future__ import annotations

from collections.abc import Collection, Container, Sequence

from troubleshoot import limits
from troubleshoot.model import Pattern
from troubleshoot.scan.charsets import NEWLINE, One
from troubleshoot.scan.pieces import Facts, Literals, best_literals, gap_sign, merged_literals, rarer, spelt_out
from troubleshoot.scan.plan import NO_WORDS
from troubleshoot.scan.syntax import Alt, End, Look, Node, NotAhead, Opaque, Repeat, Seq, parse

MAX_TEXTS = 16  # exact texts followed at a time; past it a run of literals ends
MAX_CHARS = 64  # of one exact text
MAX_NEIGHBOURS = 12  # characters that may stand before or behind a short word, for it to be searched with each

NOTHING = Facts(None, None)
ONLY_EMPTY = Facts(("",), None)


def required_literals(pattern: Pattern, avoid: Container[bytes] = NO_WORDS) -> Literals | None:
    """Return the literals of which one occurs, caselessly, in every match; None when there are none worth searching.
    Those in `avoid` count as very frequent."""
    return Derivation(avoid).literals(parse(pattern.regex, spans=pattern.lines > 1))


class Derivation:
    """Derives literals, given the words to avoid."""

    def __init__(self, avoid: Container[bytes] = NO_WORDS) -> None:
        self._avoid = avoid
        self._known_facts: dict[int, tuple[Node, Facts]] = {}  # by the node's id; holds the node, so that it stays its

    def literals(self, node: Node) -> Literals | None:
        """Return the literals of which one occurs wherever the node matches."""
        return self._known(self.facts(node))

    def facts(self, node: Node) -> Facts:
        """Return what is known of the texts that a node matches."""
        known = self._known_facts.get(id(node))
        if known is None:
            known = self._known_facts[id(node)] = node, self._facts(node)
        return known[1]

    def _facts(self, node: Node) -> Facts:
        if isinstance(node, One):
            texts = spelt_out(node)
            return Facts(texts, None) if texts else NOTHING
        if isinstance(node, Seq):
            return self._facts_of_seq(node)
        if isinstance(node, Alt):
            return self._facts_of_alt(node)
        if isinstance(node, Repeat):
            return self._facts_of_repeat(node)
        if isinstance(node, Look):
            return Facts(("",), self.literals(node.item))
        if isinstance(node, NotAhead | End):
            return ONLY_EMPTY
        assert isinstance(node, Opaque)
        return NOTHING

    def _known(self, facts: Facts) -> Literals | None:
        return rarer(facts.best, self._choice(facts.texts))

    def _choice(self, texts: Sequence[str] | None) -> Literals | None:
        """Return the best literals of each text, together: whichever text is matched, one of them is there."""
        return None if texts is None else merged_literals(best_literals(text, self._avoid) for text in texts)

    def _facts_of_seq(self, seq: Seq) -> Facts:
        run: tuple[str, ...] = ("",)
        start = 0
        best: Literals | None = None
        for index, item in enumerate(seq.items):
            facts = self.facts(item)
            best = rarer(best, facts.best)
            joined = joined_texts(run, facts.texts)
            if joined is None:
                best = rarer(best, self._choice_between(run, seq.items[:start], seq.items[index:]))
                run = facts.texts or ("",)
                start = index if facts.texts else index + 1
            else:
                run = joined
        if start == 0:
            return Facts(run, best)
        return Facts(None, rarer(best, self._choice_between(run, seq.items[:start], ())))

    def _choice_between(self, run: Sequence[str], before: Sequence[Node], after: Sequence[Node]) -> Literals | None:
        """Return the best literals of a run of texts; where these are poor, with the characters that can stand next to
        them: `[:=]\\s*nan` is searched as ":nan", "=nan" and " nan"."""
        found = self._choice(run)
        if (found is not None and found.cost <= limits.HOT_LITERAL_LINES) or max(map(len, run)) == 0:
            return found
        for chars, last in ((_edge(before, last=True), True), (_edge(after, last=False), False)):
            found = rarer(found, self._widened(run, chars, last=last))
        if found is None or found.cost > limits.HOT_LITERAL_LINES:
            found = rarer(found, self._widened(run, _two_before(before), last=True))
        return found

    def _widened(self, run: Sequence[str], chars: Collection[str], *, last: bool) -> Literals | None:
        wider = [char + text if last else text + char for text in run for char in chars]
        return self._choice(wider) if 0 < len(wider) <= 6 * MAX_TEXTS else None

    def _facts_of_alt(self, alt: Alt) -> Facts:
        branches = [self.facts(branch) for branch in alt.branches]
        texts: list[str] | None = []
        for facts in branches:
            texts = None if texts is None or facts.texts is None else [*texts, *facts.texts]
        exact = tuple(dict.fromkeys(texts)) if texts is not None and len(texts) <= MAX_TEXTS else None
        return Facts(exact, merged_literals(map(self._known, branches)))

    def _facts_of_repeat(self, repeat: Repeat) -> Facts:
        if repeat.high == 0:
            return ONLY_EMPTY
        gap = gap_sign(repeat)
        if gap is not None:
            return Facts((gap,), None)
        inner = self.facts(repeat.item)
        if repeat.low == 0:
            optional = repeat.high == 1 and inner.texts is not None and len(inner.texts) < MAX_TEXTS
            return Facts(tuple(dict.fromkeys(("", *(inner.texts or ())))), None) if optional else NOTHING
        texts: tuple[str, ...] | None = ("",)
        for _ in range(min(repeat.low, MAX_CHARS)):
            texts = joined_texts(texts, inner.texts) if texts is not None else None
        exact = texts if repeat.low == repeat.high and repeat.low <= MAX_CHARS else None
        return Facts(exact, rarer(inner.best, self._choice(texts or inner.texts)))


def joined_texts(run: tuple[str, ...], texts: tuple[str, ...] | None) -> tuple[str, ...] | None:
    """Return each text of a run with each of the next texts behind it; None when they get too many or too long."""
    if texts is None or len(run) * len(texts) > MAX_TEXTS:
        return None
    joined = tuple(dict.fromkeys(before + after for before in run for after in texts))
    return joined if max(map(len, joined)) <= MAX_CHARS else None


def _two_before(items: Sequence[Node]) -> set[str]:
    """Return what can stand before a text when a set of blanks, or none, does, and behind a character that must: that
    character, or a blank and what is before it. `[:=]\\s*` gives ":", "=", ": ", "= " and two blanks."""
    if len(items) < 2:
        return set()
    blank, least = items[-1], items[-2]
    if not isinstance(blank, Repeat) or blank.low != 0 or not isinstance(blank.item, One) or not isinstance(least, One):
        return set()
    if (blank.item.ascii | least.ascii) & NEWLINE:
        return set()
    blanks, chars = (spelt_out(one, MAX_NEIGHBOURS // 2) for one in (blank.item, least))
    if not blanks or not chars:
        return set()
    return {*chars, *(before + after for before in (*chars, *blanks) for after in blanks)}


def _edge(items: Sequence[Node], *, last: bool) -> set[str]:
    """Return the characters with which a sequence can end (or begin), if it must and they are few; else none."""
    chars: set[str] = set()
    for item in reversed(items) if last else items:
        optional = isinstance(item, Repeat) and item.low == 0
        one = item.item if isinstance(item, Repeat) else item
        if isinstance(one, NotAhead):
            continue
        found = spelt_out(one, MAX_NEIGHBOURS) if isinstance(one, One) and not one.ascii & NEWLINE else ()
        chars.update(found)
        if not found or len(chars) > MAX_NEIGHBOURS:
            return set()
        if not optional:
            return chars
    return set()
