"""Text -> the spans in it that are secrets: by the shape of the value, by the name before it, by the block around it.

    find_secrets("HF_TOKEN=hf_abc... python train.py")  ->  [Secret(start=9, end=46, kind="huggingface-token")]

Three ways, each in linear time:

* **shapes**: what an issuer prints has a mark (`ghp_`, `AKIA`, `eyJ`). A shape is tried only where its literal stands
  in the lower-cased text, so text without secrets costs one substring search per literal.
* **names** (`secret_names.py`): `password=`, `"client_secret":`, `--api-key x`, `HF_TOKEN=`.
* **private keys**: a block over many lines; each line's base64 is a span of its own, so lines stay lines.

What rules live on is never touched: paths, versions, hosts, ids in hex, UUIDs, digests, numbers.
Every repeat in a pattern is bounded or starts where no earlier one could, so no text can make it run long.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache

from troubleshoot import late
from troubleshoot.report.secret_names import find_named_secrets, is_placeholder
from troubleshoot.report.secret_prefixes import LONG, PREFIXED
from troubleshoot.report.secret_shapes import EMAIL, IPV4, IPV6_CANDIDATE, SHAPES, Shape

KEY_BEGIN = late.compile(r"-----BEGIN (?:[A-Z0-9]{1,12} ){0,3}PRIVATE KEY(?: BLOCK)?-----")
KEY_END = late.compile(r"-----END (?:[A-Z0-9]{1,12} ){0,3}PRIVATE KEY(?: BLOCK)?-----")
KEY_BODY = late.compile(r"[A-Za-z0-9+/=]{16,}(?=[\s\"',\\]*$)")
KEY_HEADER = late.compile(r"(?:Proc-Type|DEK-Info|Version|Comment): |^\s*$")


@dataclass(frozen=True, slots=True)
class Secret:
    """A span of characters that must not be shown, half open, and what it is."""

    start: int
    end: int
    kind: str


def find_secrets(text: str, *, emails: bool = False, ips: bool = False) -> list[Secret]:
    """Return the secrets in order; they do not overlap. Where two ways see the same span, the shape names it."""
    lower = text.lower()
    found = [*_find_private_keys(text), *_find_shapes(text, lower)]
    found += (Secret(*span) for span in find_named_secrets(text, lower))
    if emails and "@" in text:
        found += (Secret(*match.span(), "email") for match in _compiled(EMAIL).finditer(text))
    if ips:
        found += _find_addresses(text)
    return _merged(found)


def _find_shapes(text: str, lower: str) -> Iterator[Secret]:
    for shape, literals in (*_ROWS, *_LONG_ROWS) if LONG.search(text) else _ROWS:
        for literal in literals:
            if literal in lower:
                for match in _compiled(shape.pattern).finditer(text):
                    yield from _spans(shape, match)
                break


def _spans(shape: Shape, match: re.Match[str]) -> Iterator[Secret]:
    """Yield group `s` where the pattern has one and it took part (its alternatives may be bare shapes)."""
    value = match["s"] if "s" in match.re.groupindex else None
    if value is None:
        yield Secret(*match.span(), shape.kind)
    elif value and not is_placeholder(value):
        yield Secret(*match.span("s"), shape.kind)


def _find_private_keys(text: str) -> Iterator[Secret]:
    """Yield the body of each PEM or PGP private key, line by line, and with `\\n` escapes on one line."""
    if "PRIVATE KEY" not in text:
        return
    inside = False
    position = 0
    for line in text.splitlines(keepends=True):
        body_from = 0
        if not inside and (begin := KEY_BEGIN.search(line)):
            inside, body_from = True, begin.end()
        if inside:
            end = KEY_END.search(line, body_from)
            body_to = end.start() if end else len(line.rstrip("\r\n"))
            if body_from and line[body_from:body_to].strip():
                yield Secret(position + body_from, position + body_to, "private-key")
            elif not body_from:
                body = KEY_BODY.search(line[:body_to])
                if body:
                    yield Secret(position + body.start(), position + body.end(), "private-key")
                elif not end and not KEY_HEADER.search(line):
                    inside = False  # the block broke off: what follows is log again
            inside = inside and not end
        position += len(line)


def _find_addresses(text: str) -> Iterator[Secret]:
    import ipaddress

    for match in (*_compiled(IPV4).finditer(text), *_compiled(IPV6_CANDIDATE).finditer(text)):
        try:
            address = ipaddress.ip_address(match[0])
        except ValueError:
            continue
        if not address.is_loopback and not address.is_unspecified:
            yield Secret(*match.span(), "ip")


def _merged(found: list[Secret]) -> list[Secret]:
    """Return the spans in order, overlapping ones joined under the kind of the one that was found first."""
    precedence = {id(secret): index for index, secret in enumerate(found)}
    merged: list[tuple[Secret, int]] = []
    for secret in sorted(found, key=lambda each: (each.start, -each.end)):
        order = precedence[id(secret)]
        if merged and secret.start < merged[-1][0].end:
            last, last_order = merged.pop()
            kind = last.kind if last_order <= order else secret.kind
            merged.append((Secret(last.start, max(last.end, secret.end), kind), min(order, last_order)))
        else:
            merged.append((secret, order))
    return [secret for secret, _ in merged]


_ROWS = tuple((shape, shape.literals) for shape in SHAPES)
_LONG_ROWS = tuple((shape, shape.literals) for shape in PREFIXED)


@cache
def _compiled(pattern: str) -> re.Pattern[str]:
    """Compile when first needed: all shapes at once would cost 20 ms at every start."""
    return re.compile(pattern)
