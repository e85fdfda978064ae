r"""Pasted log lines -> the text of a new rule file.

    node-3: Xid error after 30 s, pid=4711, see /var/log/x.log
    ->  "Xid error after {after:duration}, pid={pid:int}, see {path:path}"

The most telling line becomes the signature. What merely stands in front of its message (stamp, host, level, rank) is
cut off; what varies from run to run (numbers, addresses, hosts, paths, sizes) is turned into typed holes, named after
the word before them where there is one. Numbers that name the fault (`errno 12`, `exit code 137`) stay. All lines
become the first example. What only a person can know is marked with a placeholder, which `rules check` asks for.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from troubleshoot.errors import UsageError
from troubleshoot.rulepack.files import is_rule_id, nearest_id
from troubleshoot.rulepack.signatures import compile_pattern
from troubleshoot.rulepack.text import RESERVED_NAMES, TextError, regex_from_text

PLACEHOLDER = "TODO"
NearMisses = Callable[[str], Sequence[tuple[str, str]]]
EXAMPLE_LINES = 60
OTHER_LINES = 3  # further lines of the paste offered as signatures
LINE_CHARS = 1_000
MOST_HOLES = 8
_COMMON = set(  # words that name nothing
    """
    a after all an and are at attempt before between by critical did err error failed fatal for from has had in info is
    lost no not of on only or over see than that the this to via warn warning was were with
    """.split()  # noqa: SIM905  # a list of words reads best as words
)
_FIXED = ("path", "url", "user")  # names that no word before them betters
_BETTER = {"cuda": "device", "msg": "message"}

_CONTROL = re.compile(r"\x1b\[[0-9;?]*[ -/]*[@-~]|[\x00-\x08\x0b-\x1f\x7f-\x9f]")
_TELLING: tuple[tuple[str, int], ...] = (  # how a telling line looks, and what that is worth
    (r"\b\w*(?:Error|Exception)\b", 3),
    (r"\bNCCL WARN\b", 3),
    (
        r"(?i)\b(?:fatal|panic|abort(?:ed|ing)?|segmentation fault|killed|fail(?:ed|s|ing|ure)?|cannot|can't|unable)\b",
        2,
    ),
    (r"(?i)\b(?:could not|did not|no space|out of memory|oom|crash(?:ed)?|corrupt(?:ed)?|evict(?:ed)?)\b", 2),
    (r"(?i)\b(?:error|not found|denied|refused|rejected|timed? ?out|mismatch|invalid|missing|no such|exceeded)\b", 2),
    (r"(?i)\b(?:un(?:recognized|known|supported|reachable|available|healthy|responsive)|does(?: not|n't) exist)\b", 2),
    (r"(?i)\b(?:incompatible|insufficient|expired|lost|dead|stuck|hang|hung|too (?:many|few|small|large|old))\b", 1),
    (r"(?i)\b(?:warn(?:ing)?|exit(?:ed)?|unexpected|disabled|retry(?:ing)?|full|not supported)\b", 1),
    (r"^\s*(?:File \"|at |(?:Original )?Traceback )", -3),
    (r"^\s+(?:raise|return|await|yield|with|if|elif|for|def|self\.\w+|\w+ =) ?", -3),  # quoted source code
)
# A number after one of these says which fault it is, and must not be taken for something that varies.
_NAMING = re.compile(
    r"\b(?:errno|error|err|code|exitcode|exit|status|signal|s?xid|s?xid \([^)]*\)|version)[\s=:(\[#]*$", re.IGNORECASE
)


@dataclass(frozen=True, slots=True)
class _Varying:
    """A kind of text that varies: how it looks, the hole that takes it, the name where no word beside gives one.
    `front`: it may stand in front of a message, and goes then."""

    look: str
    type: str
    name: str
    before: str = r"(?<![\w.])"
    front: bool = False


_VARYING = (
    _Varying(r"\[redacted:[a-z0-9-]{1,40}\]", "", "_", ""),  # the secret itself stands in the logs to come
    _Varying(r"\d{4}[-/]\d\d[-/]\d\d[T ]\d\d:\d\d:\d\d(?:[.,]\d+)?(?:Z|[+-]\d\d:?\d\d)?", "", "_", front=True),
    _Varying(
        r"(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun) (?:\w{3} )?[ \d]\d \d\d:\d\d:\d\d(?: \d{4})?", "", "_", front=True
    ),
    _Varying(
        r"(?:Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec) [ \d]\d \d\d:\d\d:\d\d", "", "_", front=True
    ),
    _Varying(r"[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}", "word", "id"),
    _Varying(r"[a-z][a-z0-9+.-]*://[^\s'\"<>)\],]+", "", "url"),
    _Varying(r"[\w.+-]+@[a-z0-9-]+(?:\.[a-z0-9-]+)+", "", "user"),
    _Varying(r"(?:\d{1,3}\.){3}\d{1,3}", "host", "host", front=True),
    _Varying(r"[0-9a-f]{4,8}:[0-9a-f]{2}:[0-9a-f]{2}(?:\.\d)?(?!:)", "", "pci"),
    _Varying(r"(?:\d+-)?\d+:\d\d:\d\d(?:\.\d+)?(?![:.\w])", "duration", "time", front=True),
    _Varying(
        r"(?:(?:[0-9a-f]{1,4}:){3,7}:?[0-9a-f]{1,4}|[0-9a-f]{3,4}:(?:[0-9a-f]{0,4}:){1,6}[0-9a-f]{1,4})(?:%\w+)?",
        "host", "host", front=True,
    ),
    _Varying(r"(?:~|\.{1,2})?(?:/[\w.@+-]+){2,}/?", "path", "path"),
    _Varying(r"[a-z]:\\[\w\\.@+-]+", "", "path"),
    _Varying(r"0x[0-9a-f]+", "hex", "address"),
    _Varying(r"[a-z][a-z0-9]*(?:-[a-z0-9]+)*-[0-9a-f]{8,10}-[bcdfghjklmnpqrstvwxz2-9]{5}", "host", "pod"),
    _Varying(r"(?=[0-9a-f]*\d)(?=\d*[a-f])[0-9a-f]{8,}", "hex", "id", front=True),
    _Varying(r"[a-z][a-z0-9]*(?:-[a-z0-9]+)*-\[\d[\d,-]*\]", "", "nodes"),
    _Varying(r"[a-z][a-z0-9]*(?:-[a-z0-9]+)*-\d+(?:\.[a-z0-9][\w-]*)*", "host", "host", front=True),
    _Varying(r"(?:eth|ib|bond)\d+|en[ops]\d\w*|mlx\d_\d+|rdmap\d+s\d+|nvme\d+n\d+(?:p\d+)?", "word", "device"),
    _Varying(r"\d+(?:\.\d+)? ?(?:[KMGTP]i?B|bytes|[KMGTP]i)", "size", "size"),
    _Varying(r"\d+(?:\.\d+)? ?(?:(?:milli|micro)?seconds?|ms|us|ns|s|sec|minutes?|min|hours?|h)", "duration", "after"),
    _Varying(r"\d{1,3}(?:,\d{3})+(?![,\d])", "", "n"),
    _Varying(r"\d+(?:, ?\d+)+(?=[\])])", "", "values", r"(?<=[\[(])", front=True),
    _Varying(r"\d+\.\d+\.\d+(?:[.+-][0-9a-z.]+)?", "version", "version"),
    _Varying(r"\d+(?:\.\d+)+", "version", "version", r"(?<=[A-Z]_)"),  # GLIBC_2.34
    _Varying(r"-?\d+\.\d+(?:e[-+]?\d+)?", "float", "value", front=True),
    _Varying(r"\d+(?=\.[a-z_])", "int", "layer", r"(?<=[a-z]\.)"),  # model.layers.17.mlp
    _Varying(r"-?\d+", "int", "n", front=True),
)  # fmt: skip
_ANY_VARYING = re.compile(
    "(?:" + "|".join(f"{each.before}(?P<v{index}>{each.look})" for index, each in enumerate(_VARYING)) + r")(?!\w)",
    re.IGNORECASE | re.ASCII,
)
# What stands in front of a message besides what varies: levels, ranks, streams, a program with its pid, a source file.
_IN_FRONT = re.compile(
    r"[\s\[\]()<>|:,;#-]+"
    r"|(?-i:INFO|WARN(?:ING)?|ERROR|FATAL|DEBUG|NOTICE|[IWEF]\d{4})(?=\s)"
    r"|(?:INFO|WARN(?:ING)?|ERROR|FATAL|DEBUG|NOTICE|rank ?\d*|default\d*|stderr|stdout|kernel|[IWEF]\d{4})(?=[\]>:|])"
    r"|[\w.-]+\[\d+\](?=:)|[\w./-]+\.(?:cpp|cc|cu|c|h|go|py):\d+(?=[\s\]])",
    re.IGNORECASE,
)


def scaffold_rule(rule_id: str, text: str, near: NearMisses | None = None) -> str:
    """Return the text of a new rule's file, which loads as it is and fires on `text`. `near` tells of a signature which
    lines come close to it, each with the rule that takes it: to choose a near-miss from.

    Raises UsageError for a text without lines, and for an id that no rule can have."""
    if not is_rule_id(rule_id):
        raise UsageError(f"{rule_id!r} is no rule id", help=f"did you mean `{nearest_id(rule_id)}`?")
    lines = [_CONTROL.sub("", line).rstrip()[:LINE_CHARS] for line in text.splitlines()]
    lines = _without_blank_ends(lines)[:EXAMPLE_LINES]
    if not any(char.isalnum() for line in lines for char in line):
        raise UsageError(
            "no log lines", help="paste the lines that show the fault: troubleshoot rules new ID < lines.txt"
        )
    best, *others = _by_how_telling(lines)
    signature = text_from_lines([best, *others])
    captures = _captures(signature, next(line for line in [*lines, best] if _finds(signature, line)))
    unlike = [line for line in others if not _finds(signature, line)]
    return _write(
        rule_id,
        lines,
        signature,
        captures,
        [text_from_line(line) for line in unlike[:OTHER_LINES]],
        near(signature) if near is not None else (),
    )


def text_from_line(line: str) -> str:
    """Return a text signature for a log line: what varies becomes a hole, what stands before the message goes."""
    message = line[_end_of_front(line) :]
    written = _ANY_VARYING.sub(_hole_writer(set()), _double_braces(message))
    return " ".join((written if _finds(written, line) else _double_braces(message)).split())


def text_from_lines(lines: Sequence[str]) -> str:
    """Return a text signature for the first of some lines; a word that lines alike do not share becomes a hole too."""
    signature = text_from_line(lines[0])
    words = signature.split(" ")
    alike = [
        other for line in lines[1:] if (other := text_from_line(line).split(" ")) != words and _is_like(words, other)
    ]
    for at, word in enumerate(words):
        different = {other[at] for other in alike} - {word}
        if different and "{" not in word and not any("{" in each for each in different):
            plain = all(re.fullmatch(r"[\w.-]*[\w-]", each) for each in (word, *different))
            before = words[at - 1] if at else ""
            name = (
                before.lower() if re.fullmatch(r"[A-Za-z]{2,19}", before) and before.lower() not in _COMMON else "what"
            )
            if f"{{{name}" in " ".join(words) or name in RESERVED_NAMES:
                name = "_"
            words[at] = f"{{{name}:word}}" if plain else f"{{{name}}}"
    merged = " ".join(words)
    return merged if _finds(merged, lines[0]) else signature


def _is_like(words: Sequence[str], other: Sequence[str]) -> bool:
    """Say whether two lines' words say the same thing: as many of them, and two thirds the same."""
    same = sum(mine == theirs for mine, theirs in zip(words, other, strict=False))
    return len(words) == len(other) and same >= 3 and same * 3 >= len(words) * 2


def _end_of_front(line: str) -> int:
    """Return where the message begins: past stamps, hosts and levels, unless nothing but those is there."""
    at = 0
    while match := _front_match(line, at) or _IN_FRONT.match(line, at):
        at = match.end()
    while at and line[at - 1] in "([<":  # a bracket that opens something of the message
        at -= 1
    return at if re.search(r"[^\W\d_]{3}", line[at:]) else 0


def _front_match(line: str, at: int) -> re.Match[str] | None:
    match = _ANY_VARYING.match(line, at)
    return match if match is not None and _varying_of(match).front else None


def _varying_of(match: re.Match[str]) -> _Varying:
    return _VARYING[int((match.lastgroup or "v0")[1:])]


def _double_braces(text: str) -> str:
    return text.replace("{", "{{").replace("}", "}}")


def _hole_writer(names: set[str]) -> Callable[[re.Match[str]], str]:
    def write_hole(match: re.Match[str]) -> str:
        varying = _varying_of(match)
        before, after = match.string[: match.start()], match.string[match.end() :]
        if varying.type in ("int", "version", "float") and _NAMING.search(before):
            return match[0]
        name = varying.name if varying.name == "_" else _name_for(before, after, varying)
        if name != "_" and name in names:
            name = next(f"{name}_{number}" for number in range(2, 100) if f"{name}_{number}" not in names)
        if len(names) >= MOST_HOLES:
            name = "_"
        names.add(name)
        return f"{{{name}:{varying.type}}}" if varying.type else f"{{{name}}}"

    return write_hole


def _name_for(before: str, after: str, varying: _Varying) -> str:
    """Name a hole after the word before it (`pid=4711`, `Timeout(ms)=600`, `rank 3`), where that is a plain one; a
    number else after the plural behind it (`5 retries`)."""
    if varying.type == "int":
        if re.search(r"(?:[\d.]{7}|-\d+|\.\w+|\])(?::|<)$", before):
            return "port"
        if re.search(r"\d(?:/| of )$", before):
            return "total"
    word = re.search(r"(?<![\w.])([A-Za-z][A-Za-z_]{1,19})(?:(?:\(\w+\))?[=:]\s?['\"]?| )$", before)
    name = word[1].lower() if word is not None else ""
    if name and name not in _COMMON and name not in RESERVED_NAMES and varying.name not in _FIXED:
        return _BETTER.get(name, name)
    if varying.type == "word" and before.endswith("GPU-"):
        return "gpu"
    counted = re.match(r" ([a-z]{3,19}s)\b", after) if varying.type in ("int", "") and varying.name == "n" else None
    if counted is not None and counted[1] not in RESERVED_NAMES and counted[1] not in _COMMON:
        return counted[1]
    return varying.name


def _finds(text: str, line: str) -> bool:
    try:
        source, _names = regex_from_text(text)
    except TextError:
        return False
    return compile_pattern(source).search(line) is not None


def _captures(signature: str, line: str) -> dict[str, str]:
    match = compile_pattern(regex_from_text(signature)[0]).search(line)
    return {name: value for name, value in match.groupdict().items() if value is not None} if match is not None else {}


def how_telling(line: str) -> int:
    """Return how much a line looks like one that says what went wrong: about -3 to 8."""
    return sum(weight for look, weight in _TELLING if re.search(look, line))


def _by_how_telling(lines: list[str]) -> list[str]:
    """Return the lines with words in them, most telling first; of equals the later, which has the last word."""
    telling = [(how_telling(line), at) for at, line in enumerate(lines)]
    ranked = [lines[at] for _weight, at in sorted(telling, reverse=True) if re.search(r"[^\W\d_]{3}", lines[at])]
    return list(dict.fromkeys(ranked)) or [next(line for line in lines if any(char.isalnum() for char in line))]


def _without_blank_ends(lines: list[str]) -> list[str]:
    filled = [at for at, line in enumerate(lines) if line.strip()]
    return lines[filled[0] : filled[-1] + 1] if filled else []


# --- writing ---------------------------------------------------------------------------------------------------------


def _write(
    rule_id: str,
    lines: list[str],
    signature: str,
    captures: dict[str, str],
    others: list[str],
    near: Sequence[tuple[str, str]],
) -> str:
    title = rule_id.rsplit("/", 1)[-1].replace("-", " ").capitalize()
    offered = [f"#   {_quoted(each)}" for each in dict.fromkeys(others) if each != signature]
    usable = ", ".join(f"{{{name}}}" for name in captures) or "none"
    if offered:
        offered.insert(0, "# Other lines of the paste, if one of them says it better or both are needed:")
    named = ", ".join(f"{name}: {_quoted(value)}" for name, value in captures.items())
    parts = [
        f"title: {_quoted(title)} # one line; captures may be used: {usable}",
        "severity: high # low, medium, high or critical: how bad it is if true",
        "confidence: medium # low, medium or high: how surely this line means this fault",
        "status: draft # remove this line once the rule is checked",
        "systems: [] # names a reader would search by: [nccl, efa]",
        f"signatures: {_quoted(signature)}",
        *offered,
        "explanation: >",
        f"  {PLACEHOLDER}: what happened and why, for a person in a hurry.",
        "fixes: # best first",
        f"  - title: '{PLACEHOLDER}: what to do'",
        f"    run: '{PLACEHOLDER}: a command, or remove this line'",
        f"    verify: {{ run: '{PLACEHOLDER}', expect: '{PLACEHOLDER}' }}",
        "# causes: ['#exit'] # findings that this one explains: rule ids, domain/*, or tags",
        "references: [] # the document, or the source file where the message is born",
        "examples: # replace secrets, host names and addresses",
        "  - match: |2" if lines[0][:1] in (" ", "\t") else "  - match: |",
        *(f"      {line}" if line else "" for line in lines),
        *([f"    captures: {{ {named} }}"] if named else []),
        "  - no_match: |",
        f"      {PLACEHOLDER}: the closest line that is not this fault",
        f"    why: '{PLACEHOLDER}'",
        *(["  # Lines that come close and belong to other rules, to choose from:"] if near else []),
        *(f"  #   {line}    ({rule})" for line, rule in near),
    ]
    return "\n".join(parts) + "\n"


def _quoted(text: str) -> str:
    """Write a text as a YAML scalar in quotes, the ones that need the least escaping."""
    if "'" in text and not {'"', "\\"} & set(text):
        return f'"{text}"'
    return "'" + text.replace("'", "''") + "'"
