"""Compare two texts of a log as what they are: numbers, versions, sizes, durations, or plain text.

In: two values, mostly captures, which are text. Out: their order, or None where an order makes no sense. Nothing here
raises on any text.

A text is read by its shape, and both sides decide together:

| one side | other side | compared as |
|---|---|---|
| `134` | `137`, `0x89`, `1e3`, `13.5` | numbers |
| `2.9` | `2.34`, `2.21.5+cuda12.4` | versions: 2.9 < 2.34, 2.34 == 2.34.0 |
| `2.50 GiB` | `512M`, `81920MB`, `1048576` | sizes; a plain number counts bytes; Ki, Mi are binary, K, M decimal |
| `600000 ms` | `10 min`, `00:10:00`, `1h30m` | durations; a plain number has no unit and is not compared |
| `ALLREDUCE` | `allreduce` | text, whatever the case: equal or not, never less or more |

So two texts with a dot are versions, which is what they nearly always are in this field. A value that comes as a Python
`float` or `int` (from a `{name:float}` hole) is a number whatever stands on the other side.
A build suffix (`-aws`, `+cu121`) counts only where both versions have one; a pre-release (`rc1`, `a0`) stands below.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache

from troubleshoot import late

Value = str | int | float

_NUMBER = late.compile(r"[-+]?\d{1,18}(?P<fraction>\.\d{1,18})?(?P<exponent>[eE][-+]?\d{1,2})?\Z", re.ASCII)
_HEX = late.compile(r"0x[0-9a-f]{1,16}\Z", re.ASCII | re.IGNORECASE)
_VERSION = late.compile(
    r"v?(?P<release>\d{1,12}(?:\.\d{1,12}){1,7})(?P<rest>[-+._~]?[A-Za-z0-9][\w.+~-]{0,60})?\Z", re.ASCII
)
_PRE_RELEASE = late.compile(
    r"[-._]?(?P<word>dev|alpha|beta|preview|pre|rc|a|b|c)[-._]?(?P<n>\d{0,6})(?![A-Za-z])", re.I
)
_SIZE = late.compile(r"(?P<n>\d{1,18}(?:\.\d{1,9})?)\s?(?P<unit>bytes?|[kKMGTPE]?i?B|[KMGTPE]i?|k)\Z", re.ASCII)
_SIZE_LOWER = late.compile(r"(?P<n>\d{1,18}(?:\.\d{1,9})?)\s?(?P<unit>[kmgtpe]i?b)\Z", re.ASCII)
_DURATION_PART = late.compile(
    r"\s{0,2}(?P<n>\d{1,15}(?:\.\d{1,9})?)\s?(?P<unit>[a-zµ]{1,12})", re.ASCII | re.IGNORECASE
)
_CLOCK = late.compile(r"(?:(?P<d>\d{1,5})-)?(?P<a>\d{1,5}):(?P<b>\d\d)(?::(?P<c>\d\d(?:\.\d{1,9})?))?\Z", re.ASCII)

_POWERS = {"": 0, "k": 1, "m": 2, "g": 3, "t": 4, "p": 5, "e": 6}
_SECONDS = {
    **dict.fromkeys(("ns", "nanoseconds"), 1e-9),
    **dict.fromkeys(("us", "µs", "usec", "microseconds"), 1e-6),
    **dict.fromkeys(("ms", "msec", "msecs", "millisecond", "milliseconds"), 1e-3),
    **dict.fromkeys(("s", "sec", "secs", "second", "seconds"), 1.0),
    **dict.fromkeys(("m", "min", "mins", "minute", "minutes"), 60.0),
    **dict.fromkeys(("h", "hr", "hrs", "hour", "hours"), 3600.0),
    **dict.fromkeys(("d", "day", "days"), 86400.0),
}

_NaturalKey = tuple[tuple[int, int, str], ...]


@dataclass(frozen=True, slots=True)
class _Version:
    release: tuple[int, ...]
    pre: tuple[str, int] | None
    build: _NaturalKey


@dataclass(frozen=True, slots=True)
class _Shapes:
    """All that a value can be read as."""

    number: int | float | None = None
    dotted: bool = False  # a number written with a dot, which may as well be a version
    version: _Version | None = None
    size: float | None = None  # bytes, where the text has a unit
    duration: float | None = None  # seconds, where the text has a unit


def order(left: Value, right: Value) -> int | None:
    """Return -1, 0 or 1 as `left` is less than, equal to or more than `right`; None where that makes no sense."""
    a, b = _shapes(left), _shapes(right)
    if a.number is not None and b.number is not None and not (a.dotted and b.dotted):
        return _sign(a.number, b.number)
    if a.version is not None and b.version is not None:
        return _order_versions(a.version, b.version)
    if a.size is not None or b.size is not None:
        a_bytes, b_bytes = (x.size if x.size is not None else x.number for x in (a, b))
        if a_bytes is not None and b_bytes is not None:
            return _sign(a_bytes, b_bytes)
    if a.duration is not None and b.duration is not None:
        return _sign(a.duration, b.duration)
    return None


def equal(left: Value, right: Value) -> bool:
    """Tell whether two values mean the same; what has no common kind is compared as text, without regard to case."""
    sign = order(left, right)
    return same_text(left, right) if sign is None else sign == 0


def same_text(left: Value, right: Value) -> bool:
    """Tell whether two values are written alike, without regard to case and outer blanks."""
    return str(left).strip().casefold() == str(right).strip().casefold()


def is_size_unit(word: str) -> bool:
    return bool(_SIZE.match(f"1{word}") or _SIZE_LOWER.match(f"1{word}"))


def is_duration_unit(word: str) -> bool:
    return word.lower() in _SECONDS


def parse_duration(text: str) -> float | None:
    """Return the seconds in `30s`, `10 min`, `1h30m`, `00:10:00`, `1-00:00:00`; None if it is no duration."""
    text = text.strip()
    clock = _CLOCK.match(text)
    if clock:
        first, second, third = int(clock["a"]), int(clock["b"]), clock["c"]
        seconds = first * 60.0 + second if third is None else first * 3600.0 + second * 60.0 + float(third)
        return seconds + int(clock["d"] or 0) * 86400.0
    total, at = 0.0, 0
    while at < len(text):
        part = _DURATION_PART.match(text, at)
        if part is None or part["unit"].lower() not in _SECONDS:
            return None
        total += float(part["n"]) * _SECONDS[part["unit"].lower()]
        at = part.end()
    return total if at else None


def parse_size(text: str) -> float | None:
    """Return the bytes in `5Gi`, `2.50 GiB`, `512M`, `1024 bytes`; None if it has no unit of size."""
    found = _SIZE.match(text.strip()) or _SIZE_LOWER.match(text.strip())
    if found is None:
        return None
    unit = found["unit"].lower()
    if unit in ("byte", "bytes"):
        return float(found["n"])
    prefix = unit.rstrip("b").rstrip("i")
    return float(found["n"]) * (1024.0 if "i" in unit else 1000.0) ** _POWERS[prefix]


def _shapes(value: Value) -> _Shapes:
    return _shapes_of_text(value.strip()) if isinstance(value, str) else _Shapes(number=value)


@lru_cache(maxsize=4096)
def _shapes_of_text(text: str) -> _Shapes:
    number = _NUMBER.match(text)
    if number:
        whole = number["fraction"] is None and number["exponent"] is None
        dotted = number["fraction"] is not None and number["exponent"] is None
        return _Shapes(int(text) if whole else float(text), dotted, _version(text))
    if _HEX.match(text):
        return _Shapes(number=int(text, 16))
    size = parse_size(text)
    if size is not None:
        return _Shapes(size=size)
    duration = parse_duration(text)
    if duration is not None:
        return _Shapes(duration=duration)
    return _Shapes(version=_version(text))


def _version(text: str) -> _Version | None:
    if text.isascii() and text.isdigit():
        return _Version((int(text),) if int(text) else (), None, ())
    found = _VERSION.match(text.lower())
    if found is None:
        return None
    release = [int(part) for part in found["release"].split(".")]
    while release and release[-1] == 0:
        release.pop()
    rest = found["rest"] or ""
    pre = _PRE_RELEASE.match(rest)
    build = rest[pre.end() :] if pre else rest
    return _Version(tuple(release), (pre["word"], int(pre["n"] or 0)) if pre else None, _natural(build.lstrip("-+._~")))


def _natural(text: str) -> _NaturalKey:
    parts = re.findall(r"\d{1,18}|[^\W\d_]+", text)
    return tuple((0, int(part), "") if part.isdigit() else (1, 0, part) for part in parts)


def _order_versions(a: _Version, b: _Version) -> int:
    if a.release != b.release:
        return -1 if a.release < b.release else 1
    if a.pre != b.pre:
        if a.pre is None or b.pre is None:
            return 1 if a.pre is None else -1
        return -1 if _pre_key(a.pre) < _pre_key(b.pre) else 1
    if a.build and b.build and a.build != b.build:
        return -1 if a.build < b.build else 1
    return 0


def _pre_key(pre: tuple[str, int]) -> tuple[int, int]:
    ladder = {"dev": 0, "a": 1, "alpha": 1, "b": 2, "beta": 2, "pre": 3, "preview": 3, "c": 4, "rc": 4}
    return ladder[pre[0]], pre[1]


def _sign(a: int | float, b: int | float) -> int:
    return (a > b) - (a < b)
