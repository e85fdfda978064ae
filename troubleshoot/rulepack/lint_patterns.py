r"""Lints on patterns: can they be searched for fast, and can they run long?

A pattern runs long when a text can be read in many ways and the engine tries them all. Two things are looked at:

* groups repeated without end, or more than twice, whose text can be cut in more than one way: `(a+)+`, `(.*a){25}`,
  `(\s*\w+)*`, `(\w|\d)+`. Short texts over the group's own characters are tried: one that the group matches whole,
  and also as two repetitions, or by two of its branches, proves it;
* the pattern itself, on texts made from what it matched in the examples: its beginning, then one piece of it over and
  over, and its end out of reach on the next line (`regex` gives up at once on a text that lacks it). Cubic or worse
  does not come through in the time given; quadratic does, and the scan's budget and window take care of that.
"""

from __future__ import annotations

import itertools
import time
from collections.abc import Callable, Iterable, Iterator

import regex

from troubleshoot import limits
from troubleshoot.errors import Problem
from troubleshoot.model import Pattern
from troubleshoot.rulepack.signatures import compile_pattern
from troubleshoot.rulepack.subject import Subject

PUMPED_CHARS = 3_000  # at this length cubic cost is 10**10 steps and quadratic 10**7
TRIAL_S = 1.0
CUTS = 16  # places at which a matched text is cut and pumped
_ALPHABET = "a1 .-_/:,=\t"
_SHORT = 3  # longest text tried on a group
_OPEN_HOLE = regex.compile(r"(?<!\{)\{\w+\}")
_ENDLESS = regex.compile(r"[*+](?!\+)|\{\d*,\}(?!\+)")
_COUNTED = regex.compile(r"\{(?:\d*,)?(?P<most>\d+)\}(?!\+)")
_BEARABLE = 2  # repetitions of an ambiguous group: with three, the cost grows with the cube of the text


# How the scan searches for a pattern (scan.planner.choose): a value with a `cost`, one without, or None or a text that
# says why: it can only be tried on every line.
Choose = Callable[[Pattern], object]


def lint_patterns(subject: Subject, choose: Choose | None, told: set[int]) -> Iterator[Problem]:
    """Yield what is wrong with the patterns of a rule, those in `told` left aside and then added to it."""
    for name, signature in subject.rule.signatures.items():
        for pattern in signature.patterns:
            if pattern.id in told:
                continue
            told.add(pattern.id)
            if choose is not None and pattern.slow is None:
                yield from searched_fast(subject, name, pattern, choose(pattern))
            yield from runs_short(subject, name, pattern)


def searched_fast(subject: Subject, name: str, pattern: Pattern, way: object) -> Iterator[Problem]:
    """R014, L017: no literal to search for, or one that stands on so many ordinary lines that each scan pays for it."""
    where = ("signatures", name)
    cost = getattr(way, "cost", 0.0)
    if way is None or isinstance(way, str):
        way = way or "it holds no fixed text to search for"
        help = "add fixed text from the log line, or mark the signature `slow: reason`"
        yield subject.problem("R014", f"`{_short(pattern)}`: {way}", where, help, key=True)
    elif cost > limits.HOT_LITERAL_LINES:
        text = f"`{_short(pattern)}`: its rarest word stands on {cost:,.0f} of a million ordinary lines"
        help = "add a rarer word of the line, of six letters or more"
        yield subject.problem("L017", text, where, help, "warning", key=True)


def runs_short(subject: Subject, name: str, pattern: Pattern) -> Iterator[Problem]:
    """L015: see the module's text."""
    where = ("signatures", name)
    group = next(ambiguous_groups(pattern.regex), None) if pattern.kind == "regex" else None
    if group is not None:
        help = "begin each repetition with something that cannot end one, or repeat without the inner `+` or `*`"
        yield subject.problem("L015", f"`{group}` can be read in many ways", where, help, "warning", key=True)
        return
    texts = [text for example in subject.rule.examples for text in example.files.values()]
    slow = slow_text(pattern, texts) if _may_run_long(pattern) else None
    if slow is not None:
        text = f"`{_short(pattern)}` runs long on `{slow[:40]}...`"
        help = "give holes a type, keep fixed text between them, and use few `.*`"
        yield subject.problem("L015", text, where, help, "warning", key=True)


def _may_run_long(pattern: Pattern) -> bool:
    """Say whether a trial is worth its time: with one endless repetition a search is quadratic at most."""
    if pattern.kind == "text":
        return len(_OPEN_HOLE.findall(pattern.source)) > 1
    return len(_ENDLESS.findall(pattern.regex)) > 1


def _short(pattern: Pattern) -> str:
    return pattern.source if len(pattern.source) <= 60 else pattern.source[:57] + "..."


# --- groups that can be read in many ways ----------------------------------------------------------------------------


def ambiguous_groups(source: str) -> Iterator[str]:
    """Yield the groups, as written, that are repeated often and can match one text in several ways."""
    for start, end in _groups(source):
        repeat = _often(source, end)
        if not repeat:
            continue
        body = _body(source[start + 1 : end - 1])
        if body is not None and _is_ambiguous(body):
            yield source[start:end] + repeat


def _often(source: str, at: int) -> str:
    """Return the repetition that stands there, or nothing where it is none or a small one."""
    if match := _ENDLESS.match(source, at):
        return match[0]
    match = _COUNTED.match(source, at)
    return match[0] if match is not None and int(match["most"]) > _BEARABLE else ""


def _groups(source: str) -> Iterator[tuple[int, int]]:
    """Yield the spans of all groups, inner ones first."""
    opened: list[int] = []
    at = 0
    while at < len(source):
        if source[at] == "\\":
            at += 1
        elif source[at] == "[":
            at = _end_of_class(source, at) - 1
        elif source[at] == "(":
            opened.append(at)
        elif source[at] == ")" and opened:
            yield opened.pop(), at + 1
        at += 1


def _end_of_class(source: str, at: int) -> int:
    match = regex.compile(r"\[\^?\]?(?:\\.|\[:\w+:\]|[^\]\\])*\]").match(source, at)
    return match.end() if match is not None else at + 1


def _body(group: str) -> str | None:
    """Return what a group repeats, without its header; None for look-around, comments and atomic groups."""
    match = regex.match(r"\?(?:P?<(?![=!])\w+>|:)|(?!\?)", group)
    return group[match.end() :] if match is not None else None


def _is_ambiguous(body: str) -> bool:
    try:
        whole = compile_pattern(body)
        branches = [compile_pattern(branch) for branch in _branches(body)]
    except regex.error:  # it refers to a group outside of it
        return False
    alphabet = dict.fromkeys([*dict.fromkeys(filter(str.isalnum, body))][:6] + list(_ALPHABET))
    for length in range(1, _SHORT + 1):
        for letters in itertools.product(alphabet, repeat=length):
            text = "".join(letters)
            if sum(branch.fullmatch(text) is not None for branch in branches) > 1:
                return True
            if whole.fullmatch(text) and any(
                whole.fullmatch(text[:cut]) and whole.fullmatch(text[cut:]) for cut in range(1, length)
            ):
                return True
    return False


def _branches(body: str) -> list[str]:
    """Return the alternatives of a group's body."""
    cuts, depth, at = [0], 0, 0
    while at < len(body):
        if body[at] == "\\":
            at += 1
        elif body[at] == "[":
            at = _end_of_class(body, at) - 1
        elif body[at] in "()":
            depth += 1 if body[at] == "(" else -1
        elif body[at] == "|" and depth == 0:
            cuts.append(at + 1)
        at += 1
    return [body[start : end - 1] for start, end in itertools.pairwise([*cuts, len(body) + 1])]


# --- the timed trial -------------------------------------------------------------------------------------------------


def slow_text(pattern: Pattern, texts: Iterable[str]) -> str | None:
    """Return a text on which the pattern does not come to an end in time, or None when all went well."""
    compiled = compile_pattern(pattern.regex, pattern.exact_case)
    for pumped in _pumped(_matched(compiled, pattern.lines, texts)):
        began = time.perf_counter()
        try:
            compiled.search(pumped, timeout=TRIAL_S)
        except TimeoutError:
            return pumped
        if time.perf_counter() - began > TRIAL_S:
            return pumped
    return None


def _matched(compiled: regex.Pattern[str], lines: int, texts: Iterable[str]) -> str:
    """Return what the pattern matches in the first text that holds it, or ""."""
    for text in texts:
        split = text.split("\n")
        for at in range(len(split)):
            try:
                match = compiled.search("\n".join(split[at : at + lines]), timeout=TRIAL_S)
            except TimeoutError:
                continue
            if match is not None:
                return match[0]
    return ""


def _pumped(matched: str) -> Iterator[str]:
    """Yield a matched text cut in two at many places, with a piece of it (or a common one) repeated in between."""
    step = max(1, len(matched) // CUTS)
    for cut in range(0, len(matched) + 1, step):
        pieces = {matched[max(0, cut - size) : cut] for size in (1, 2, 5)} | {" ", "a "}
        for piece in sorted(filter(None, pieces)):
            yield matched[:cut] + piece * (PUMPED_CHARS // len(piece)) + "\n" + matched[cut:]
