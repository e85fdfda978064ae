r"""Recognises what in a text is no log: manifests, tables and listings of commands, that a person pasted beside it.

In: the lines of a small source. Out: a kind of document per line, "log" where nothing else is sure. A document begins
at a line that nothing else begins with, goes on while lines fit it, and needs enough of them:

    "Package    Version"  "-------  ---"  "torch  2.4.0"   ->  pip_list, three lines
    "NCCL_DEBUG=INFO" alone                                ->  log: a program may print that

A whole file may be one document, or a paste hold several. Kinds: env, manifest, describe, events, fi_info, nvidia_smi,
ls, pip_list, dockerfile, resourceconfig, ldd, limits, meminfo. Source: knowledge/log-formats.md, sections 7 and 8;
knowledge/job-bundles.md, section 2.
"""

from __future__ import annotations

import re
import sys
from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache

from troubleshoot import late

LOG = "log"


@dataclass(frozen=True, slots=True)
class Kind:
    """A kind of document. `begin` is its first line; `body` what may follow; `least` how many lines it must have.

    `marks`: texts of which one stands in every such document, so that other sources are left in peace. `soon`: a line
    that must come within a few lines of the first one. `gap`: lines of other form that may stand in between.
    """

    name: str
    begin: re.Pattern[str]
    body: re.Pattern[str]
    marks: tuple[str, ...]
    least: int = 1
    soon: re.Pattern[str] | None = None
    gap: int = 0


SOON_LINES = 12
LINE_CHARS = 2000  # of a line are looked at


def _kind(name: str, begin: str, body: str, *marks: str, least: int = 1, soon: str | None = None, gap: int = 0) -> Kind:
    later = re.compile(soon) if soon else None
    return Kind(name, late.compile(begin), late.compile(f"(?:{body})"), marks, least, later, gap)


_NO_ERROR = r"(?!\w*(?:Error|Exception|Warning|Interrupt)\b)"  # which begins as a key of a mapping does
_VARIABLE = r"(?:export |declare -x )?[A-Za-z_][A-Za-z0-9_]*=\S?[^=]*(?:$|=)"
_INSTRUCTION = r"(?:FROM|ARG|ENV|RUN|COPY|ADD|WORKDIR|ENTRYPOINT|CMD|USER|LABEL|SHELL|EXPOSE|VOLUME|STOPSIGNAL)\s+\S"
_LISTED = r"[bcdlps-](?:[r-][w-][xsStT-]){3}[.+@]?\s+\d+ \S+"
_LIMIT = (
    r"(?:real-time|core file size|data seg size|scheduling priority|file size|pending signals|max locked memory"
    r"|max memory size|open files|pipe size|POSIX message queues|stack size|cpu time|max user processes"
    r"|virtual memory|file locks).*\(.*\)\s+\S+$"
)

KINDS: tuple[Kind, ...] = (
    _kind(
        "manifest",
        r"(?:apiVersion|kind):\s*[\w./-]+\s*$",
        r"\s*$|\s+\S|-\s|---|\.\.\.$|#|" + _NO_ERROR + r"[\w.\"'/-]+:(?:\s|$)",
        "apiVersion:",
        least=3,
        soon=r"(?:apiVersion|kind|metadata|spec|items):",
    ),
    _kind(
        "describe",
        r"Name:\s+\S+\s*$",
        rf"\s*$|\s+\S|{_NO_ERROR}[A-Z][\w /()-]*:(?:\s|$)",
        "Name:",
        least=5,
        soon=r"(?:Namespace|Priority|Annotations|Roles|Service Account):",
    ),
    _kind(
        "events",
        r"\s*(?:NAMESPACE\s+)?(?:LAST SEEN\s+TYPE\s+REASON|Type\s+Reason\s+Age\s+From\s+Message)",
        r"\s+----|\s*(?:\S+\s{2,})?(?:(?:\d+[smhdy])+(?: \(x\d+ over [^)]*\))?\s+|<unknown>\s+)?"
        r"(?:Normal|Warning)\s{2,}",
        "LAST SEEN",
        "Reason",
        least=2,
    ),
    _kind(
        "fi_info",
        r"provider: [\w;]+\s*$|fi_info:\s*$|fi_getinfo: -?\d+",
        r"provider: |fi_info:\s*$|fi_getinfo: |---$|\s+\w[\w ]*:\s|\s+\w+:|\s+[\w\[\]{(]",
        "provider: ",
        "fi_info:",
        "fi_getinfo:",
    ),
    _kind(
        "nvidia_smi",
        r"[|+].*NVIDIA-SMI \d|=+NVSMI LOG=+$|GPU \d+: .*\(UUID: (?:GPU|MIG)-|\s+GPU0\s+(?:GPU1|NIC|mlx|CPU)"
        r"|\+-{70,}\+$",
        r"[|+=]|\s*$|\s+\S|GPU|NIC|MIG|mlx\S+\s+|Legend:|(?:Timestamp|Driver Version|CUDA Version|Attached GPUs)\s+:"
        r"|X\s+=|SYS\s+=|NODE\s+=|PHB\s+=|PXB\s+=|PIX\s+=|NV#\s+=",
        "NVIDIA-SMI",
        "NVSMI LOG",
        "(UUID: ",
        "GPU0",
    ),
    _kind("ls", rf"total \d+[KMG]?\s*$|{_LISTED}", rf"total \d|{_LISTED}|/\S+:$|\s*$|ls: ", "rw-", "r-x", "r--"),
    _kind(
        "pip_list",
        r"Package\s+Version(?:\s+\S.*)?$|# packages in environment at|[A-Za-z][\w.-]*(?:\[[\w,]+\])?==\d\S*$",
        r"-{3,}\s+-{3,}|[A-Za-z][\w.-]*\s+\d\S*(?:\s+\S+){0,3}$|[A-Za-z][\w.-]*(?:\[[\w,]+\])?(?:==| @ )\S+|#",
        "Package",
        "# packages in",
        "==",
        least=3,
    ),
    _kind(
        "dockerfile",
        rf"{_INSTRUCTION}|# syntax=docker",
        rf"{_INSTRUCTION}|\s+\S|#|\s*$|&&|\S.*\\$",
        "RUN ",
        "ENV ",
        "ARG ",
        least=3,
        soon=r"(?:ENV|RUN|ARG|FROM)\s",
    ),
    _kind(
        "ldd",
        r"\s+\S+ => (?:/\S+ \(0x[0-9a-f]+\)|not found)|\s+linux-vdso\.so\S* \(0x",
        r"\s+\S+ => |\s+\S+ \(0x[0-9a-f]+\)|\S+:$",
        " => ",
    ),
    _kind(
        "limits", rf"{_LIMIT}|Limit\s+Soft Limit\s+Hard Limit", rf"{_LIMIT}|Max [\w -]+", "(-", "Soft Limit", least=2
    ),
    _kind(
        "meminfo",
        r"MemTotal:\s+\d+ kB|\s+total\s+used\s+free\b",
        r"[A-Z]\w*(?:\(\w+\))?:\s+\d+(?: kB)?\s*$|(?:Mem|Swap|Total):\s+\d",
        "MemTotal:",
        "Mem:",
        least=2,
    ),
    _kind(
        "env",
        r"(?:export |declare -x )?[A-Z_][A-Z0-9_]*=",
        _VARIABLE,
        "PATH=",
        "HOSTNAME=",
        "RANK=",
        "NCCL_",
        least=4,
        gap=1,
    ),
)


class Documents:
    """Which lines of a source stand in which kind of document."""

    def __init__(self, regions: Sequence[tuple[int, int, str]] = ()) -> None:
        self._starts = [start for start, _, _ in regions]
        self._regions = regions

    def at(self, line: int) -> str:
        """Return the kind of document that stands on a line of the source."""
        i = bisect_right(self._starts, line) - 1
        return self._regions[i][2] if i >= 0 and line <= self._regions[i][1] else LOG

    @property
    def first(self) -> tuple[int, int, str] | None:
        """The first document: its first line, its last one, and its kind."""
        return self._regions[0] if self._regions else None

    @property
    def kinds(self) -> tuple[str, ...]:
        """The kinds that occur, "log" not among them, in the order of the source."""
        return tuple(dict.fromkeys(kind for _, _, kind in self._regions))


def may_hold_documents(rows: Sequence[str]) -> bool:
    """Tell whether the lines are worth a look: a text without any of the marks has no document in it. Most texts lack a
    character of each mark, which is found out at once for all of them."""
    text = "\n".join(rows)
    rare = frozenset(text.encode("utf-8", "replace").translate(None, _COMMON))
    return any(chars <= rare and mark in text for mark, chars in _marks())


_COMMON = b"abcdefghijklmnopqrstuvwxyz0123456789 \n"


@cache
def _marks() -> tuple[tuple[str, frozenset[int]], ...]:
    """Return the marks of all kinds, each with those of its characters that are not common."""
    marks = [mark for kind in KINDS for mark in kind.marks] + ['"kind"', '"current_host"']
    return tuple((mark, frozenset(mark.encode()) - frozenset(_COMMON)) for mark in marks)


def whole_document(rows: Sequence[str]) -> Documents:
    """Return the document that a large source is, judged by its first lines, or none."""
    found = find_documents(rows, range(1, len(rows) + 1))
    first = found.first
    if first is None or first[0] > 3 or first[1] < len(rows) - 1:
        return Documents()
    return Documents([(1, sys.maxsize, first[2])])


def find_documents(rows: Sequence[str], numbers: Sequence[int]) -> Documents:
    """Return the documents among lines, of which the i-th is line `numbers[i]` of the source."""
    text = "\n" + "\n".join(rows)
    kinds = [kind for kind in KINDS if any(mark in text for mark in kind.marks)]
    lines = [row[:LINE_CHARS].rstrip("\r") for row in rows]
    regions: list[tuple[int, int, str]] = []
    at = 0
    objects = '"kind"' in text or '"apiVersion"' in text or '"current_host"' in text
    while at < len(lines) and (kinds or objects):
        found = (_json_at(lines, at) if objects else None) or _document_at(lines, at, kinds)
        if found is None:
            at += 1
            continue
        end, name = found
        regions.append((numbers[at], numbers[end - 1], name))
        at = end
    return Documents(regions)


def _document_at(lines: Sequence[str], at: int, kinds: Sequence[Kind]) -> tuple[int, str] | None:
    """Return the end and kind of the document that begins at a line, or None."""
    for kind in kinds:
        if not kind.begin.match(lines[at]):
            continue
        end = _end(lines, at, kind)
        if end - at < kind.least:
            continue
        if kind.soon is None or any(kind.soon.match(line) for line in lines[at + 1 : min(end, at + SOON_LINES)]):
            return end, kind.name
    return None


def _end(lines: Sequence[str], at: int, kind: Kind) -> int:
    """Return the index behind the last line that fits; blank lines at the end are no part of it."""
    end, misses = at + 1, 0
    for i in range(at + 1, len(lines)):
        if kind.body.match(lines[i]):
            if lines[i].strip():
                end, misses = i + 1, 0
        elif lines[i - 1].endswith("\\") and kind.name == "dockerfile":
            end = i + 1
        else:
            misses += 1
            if misses > kind.gap:
                break
    return end


_OPEN = late.compile(r"\s*\{\s*(?:$|\")")
_OBJECT_KEYS = (
    (late.compile(r'"current_host"\s*:'), "resourceconfig"),
    (late.compile(r'"(?:apiVersion|kind)"\s*:\s*"'), "manifest"),
)


def _json_at(lines: Sequence[str], at: int) -> tuple[int, str] | None:
    """Return the end and kind of the JSON object that begins at a line: one of Kubernetes, or resourceconfig.json."""
    if not _OPEN.match(lines[at]):
        return None
    name = next((n for key, n in _OBJECT_KEYS if any(key.search(row) for row in lines[at : at + SOON_LINES])), None)
    if name is None:
        return None
    depth = 0
    for end in range(at, len(lines)):
        bare = _STRING.sub("", lines[end])
        depth += bare.count("{") - bare.count("}")
        if depth <= 0:
            return end + 1, name
    return len(lines), name


_STRING = late.compile(r'"(?:[^"\\]|\\.)*"')
