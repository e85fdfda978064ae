"""Signatures as written -> `Signature` values with their patterns compiled, or problems.

All forms come to the same: a signature is a list of wordings, and each wording is one pattern.

    oom: out of memory                          one wording
    oom: [out of memory, {regex: 'OOM\\b'}]      two
    oom: {text: [out of memory, OOM], lines: 2} two, with an option
    oom: {use: out_of_memory}                   those of a shared signature

Patterns get their ids when the pack is put together (`load.py`); here every id is UNNUMBERED.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import regex

from troubleshoot import late, limits
from troubleshoot.model import Pattern, Signature
from troubleshoot.rulepack.positions import Document, Path
from troubleshoot.rulepack.shape import did_you_mean
from troubleshoot.rulepack.text import RESERVED_NAMES, TextError, localise_regex, regex_from_text

UNNUMBERED = -1
ONLY_NAME = "line"  # the name of the signature of a rule that has just one
_NAME = late.compile(r"[a-z][a-z0-9_]*")
_OPTIONS = ("exact_case", "lines", "entry", "slow", "advice")


def named_signatures(data: Any, path: Path) -> dict[str, tuple[Any, Path]]:
    """Return each signature of a `signatures:` value as written, with its path; data must have the right shape."""
    if isinstance(data, dict) and not {"text", "regex", "use"} & data.keys():
        return {name: (value, (*path, name)) for name, value in data.items()}
    return {ONLY_NAME: (data, path)}


def build_signature(
    document: Document,
    name: str,
    value: Any,
    path: Path,
    shared: Mapping[str, Signature],
    applies_to: tuple[str, ...] = (),
) -> Signature | None:
    """Return the signature, or None after telling the document why not."""
    before = len(document.problems)
    if not _NAME.fullmatch(name):
        document.problems.append(
            document.problem(
                "R004", f"`{name}` cannot name a signature", document.place(path, key=True), "a name is like `too_old`"
            )
        )
    wordings = value if isinstance(value, list) else [value]
    patterns: list[Pattern] = []
    used: list[str] = []
    own: list[str] = list(value.get("applies_to") or ()) if isinstance(value, dict) else []
    for index, wording in enumerate(wordings):
        below = (*path, index) if isinstance(value, list) else path
        if isinstance(wording, list):
            continue
        if isinstance(wording, dict) and "applies_to" in wording and isinstance(value, list):
            document.problems.append(
                document.problem(
                    "R004",
                    "`applies_to` of one wording",
                    document.place((*below, "applies_to"), key=True),
                    "it holds for a whole signature: give this wording a name of its own",
                )
            )
        taken = _patterns(document, wording, below, shared)
        patterns += taken[0]
        if taken[1] is not None:
            used.append(taken[1].name)
            own = own or list(taken[1].applies_to)
    if len(document.problems) > before or not patterns:
        return None
    return Signature(
        name=name,
        patterns=tuple(dict.fromkeys(patterns)),
        applies_to=tuple(own) or applies_to,
        place=document.place(path, key=True),
        shared=used[0] if len(used) == len(wordings) == 1 else "",
    )


def _patterns(
    document: Document, wording: Any, path: Path, shared: Mapping[str, Signature]
) -> tuple[list[Pattern], Signature | None]:
    """Return the patterns of one wording, and the shared signature they come from, if they do."""
    if isinstance(wording, str):
        wording = {"text": wording}
        at = {"text": path}
    else:
        at = {key: (*path, key) for key in wording}
    kinds = [kind for kind in ("text", "regex", "use") if wording.get(kind) is not None]
    if len(kinds) != 1:
        what = " and ".join(f"`{kind}`" for kind in kinds) or "neither `text` nor `regex`"
        help = "one of `text`, `regex`, `use`; as wordings of one thing write a list" if kinds else "give it a `text`"
        document.problems.append(
            document.problem("R004", f"a signature with {what}", document.place(path, key=True), help)
        )
        return [], None
    kind = kinds[0]
    options = {key: wording[key] for key in _OPTIONS if wording.get(key) is not None}
    if kind == "use":
        used = shared.get(wording["use"])
        if used is None:
            text, help = (
                f"no shared signature `{wording['use']}`",
                did_you_mean(wording["use"], shared, "shared signature"),
            )
            document.problems.append(document.problem("R017", text, document.place(at["use"]), help))
            return [], None
        return [_again(pattern, options) for pattern in used.patterns], used
    sources = wording[kind] if isinstance(wording[kind], list) else [wording[kind]]
    patterns = []
    for index, source in enumerate(sources):
        where = (*at[kind], index) if isinstance(wording[kind], list) else at[kind]
        pattern = _pattern(document, kind, source, options, where)
        if pattern is not None:
            patterns.append(pattern)
    return patterns, None


def _again(pattern: Pattern, options: Mapping[str, Any]) -> Pattern:
    """Return a shared pattern with options added; those that change its meaning make it anew."""
    if not options:
        return pattern
    if options.get("entry") and "lines" not in options and pattern.lines == 1:
        options = {**options, "lines": limits.SPAN_LINES}
    changed = replace(pattern, **options)
    if changed.kind == "text":
        source, _holes = regex_from_text(changed.source, changed.lines, exact_case=changed.exact_case)
        changed = replace(changed, regex=source)
    return changed


def _pattern(document: Document, kind: str, source: str, options: Mapping[str, Any], path: Path) -> Pattern | None:
    exact_case, entry = bool(options.get("exact_case", False)), bool(options.get("entry", False))
    lines = int(options.get("lines", limits.SPAN_LINES if entry else 1))
    if len(source) > limits.REGEX_CHARS:
        text = f"a pattern of {len(source)} characters"
        help = f"at most {limits.REGEX_CHARS}; split it into wordings"
        document.problems.append(document.problem("R008", text, document.place(path), help))
        return None
    try:
        if kind == "text":
            written, holes = regex_from_text(source, lines, exact_case=exact_case)
        else:
            holes = tuple(compile_pattern(source.strip("\n"), exact_case).groupindex)
            written = localise_regex(source.strip("\n"), exact_case=exact_case)
    except TextError as error:
        for fault in error.faults:
            place = document.place_within(path, fault.position)
            document.problems.append(document.problem("R009", fault.text, place, fault.help))
        return None
    except regex.error as error:
        said, position = str(getattr(error, "msg", error)), getattr(error, "pos", None)
        place = document.place_within(path, position) if position is not None else document.place(path)
        problem = document.problem("R008", f"the pattern does not compile: {said}", place, _regex_help(said))
        document.problems.append(problem)
        return None
    if kind == "regex":
        wrong = [name for name in holes if not _NAME.fullmatch(name) or name in RESERVED_NAMES]
        for name in wrong:
            help = "it is taken" if name in RESERVED_NAMES else "a name is in lower case, like `needed`"
            document.problems.append(
                document.problem("R019", f"a capture cannot be named `{name}`", document.place(path), help)
            )
        if wrong:
            return None
    return Pattern(
        id=UNNUMBERED,
        kind=kind,
        source=source,
        regex=written,
        exact_case=exact_case,
        lines=lines,
        slow=options.get("slow"),
        advice=bool(options.get("advice", False)),
        holes=holes,
        entry=entry,
    )


def compile_pattern(source: str, exact_case: bool = False) -> regex.Pattern[str]:
    """Compile a pattern with the flags under which every signature is matched. Raises regex.error.

    Only hand-written patterns need the trial: one made from a text always compiles, and compiling it is most of the
    time that a cold load takes (measured: 0.75 s of 1.2 s for 300 rules)."""
    flags = regex.V0 | regex.ASCII | regex.MULTILINE
    return regex.compile(source, flags if exact_case else flags | regex.IGNORECASE)


def _regex_help(said: str) -> str:
    if "escape" in said:
        return "in single quotes YAML leaves backslashes alone: '\\d+'"
    if "missing )" in said or "unbalanced parenthesis" in said or "nothing to repeat" in said:
        return "escape what stands for itself with a backslash, or use `text:`, which needs no escaping"
    if "unknown group" in said:
        return "no group of that name or number stands before it: `(?P<name>...)` makes one"
    return "use `text:` where the line is literal"
