"""Strings the repairs of a source together: from its bytes as given to blocks that can be searched.

In: blocks as read, and a `Look` at a sample of the source. Out: blocks. A block that needs nothing goes
through untouched, as the view of the reader's buffer that it is; one that needs a repair is copied, repaired and given
a line map. Which repairs a source may need is told once, from the sample; whether a block does, by one `find` each:

    small source (a paste)   everything, on the whole text at once
    large source             control codes; and what the sample shows: JSON, CRI parts, HTML, odd blanks, an encoding

A small source is one up to limits.PASTE_BYTES, however it is cut into blocks.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field

from troubleshoot import late, limits
from troubleshoot.model import Block
from troubleshoot.normalise import chat, journal, jsondocument, jsonlines, partial, repair, tables
from troubleshoot.normalise.encoding import is_wide
from troubleshoot.normalise.jsonrecords import name_of
from troubleshoot.normalise.origins import Text, text_as_given

HEAD_BYTES = 64 * 1024
MARK = b"\xef\xbb\xbf"

Needed = Callable[[bytes | bytearray, int], bool]
Apply = Callable[[Text, bool], Text]

_LINES = {
    "cri": late.compile(rb"\d{4}-\d\d-\d\dT\S+ (?:stdout|stderr) [PF](?::\S+)*(?: |$)"),
    "gitlab": late.compile(rb"\d{4}-\d\d-\d\dT\S+Z [0-9a-f]{2}[OE][ +]"),
    "stamped": late.compile(rb"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{1,9}(?:Z|[+-]\d\d:\d\d) "),
}


@dataclass(frozen=True, slots=True)
class Look:
    """What a source's first bytes and a sample of the rest tell."""

    encoding: str = "utf-8"
    mark: int = 0  # bytes of its byte order mark
    small: bool = False
    json: str | None = None  # "lines"; or one of _DOCUMENTS, whose records are no lines
    names: tuple[str, ...] = ()  # wrappers that are undone before the scan
    traits: frozenset[str] = frozenset()

    @property
    def is_document(self) -> bool:
        return self.json in _DOCUMENTS


_DOCUMENTS: dict[str, Callable[[Iterable[Block]], Iterator[Block]]] = {
    "document": jsondocument.show_document,
    "table": tables.show_table,
    "journal": journal.show_journal,
}


@dataclass(slots=True)
class Mender:
    """Repairs the blocks of one source, in order. `remarks` are codes and texts of notes, known at the end."""

    look: Look
    remarks: list[tuple[str, str]] = field(default_factory=list)
    _joiner: partial.PartialJoiner = field(default_factory=partial.PartialJoiner)
    _nul_bytes: int = 0
    _first_nul: int = 0
    _counted_to: int = 0

    @property
    def has_joined(self) -> bool:
        """Whether there were pieces of records to join, so far."""
        return self._joiner.used

    def mend(self, blocks: Iterable[Block]) -> Iterator[Block]:
        """Yield the blocks, repaired where they need it."""
        blocks = _without_mark(blocks) if self.look.mark and not is_wide(self.look.encoding) else blocks
        show = _DOCUMENTS.get(self.look.json or "")
        blocks = show(blocks) if show is not None else blocks
        repairs = self._repairs()
        for block in blocks:
            if block.cut and self._is_hole(block):
                continue
            yield self._mend_block(block, repairs)
        if self._joiner.unfinished:
            self.remarks.append(("cut-record", "the log ends within a record"))
        if self._nul_bytes:
            text = f"{self._nul_bytes} NUL bytes from offset {self._first_nul} on were skipped"
            self.remarks.append(("nul-bytes", text))

    def _is_hole(self, block: Block) -> bool:
        """Tell whether the block is nothing but NUL bytes: one of many, where a file is sparse. Each costs little."""
        size = len(block.data)
        if (
            not size
            or block.data[0]
            or block.data[-1]
            or block.line_map is not None
            or bytes(block.data) != bytes(size)
        ):
            return False
        self._count_nul_bytes(b"", block.offset, size)
        return True

    def _mend_block(self, block: Block, repairs: list[tuple[Needed, Apply]]) -> Block:
        data, end = _buffer(block)
        if block.line_map is None and not any(needed(data, end) for needed, _ in repairs):
            return block
        raw = bytes(block.data)
        self._count_nul_bytes(raw, block.offset)
        if block.line_map is None:
            text = text_as_given(raw, block.first_line, block.offset)
        else:
            text = Text(raw, block.line_map, exact=not is_wide(self.look.encoding))
        for needed, apply in repairs:
            if needed(text.data, len(text.data)):
                text = apply(text, block.last)
        if text.data == raw and block.line_map is None:
            return block
        return Block(text.data, block.first_line, block.offset, text.map, last=block.last, cut=block.cut)

    def _repairs(self) -> list[tuple[Needed, Apply]]:
        """Return what the source may need, in the order in which it is done."""
        look, found = self.look, list[tuple[Needed, Apply]]()
        if look.encoding not in ("utf-8", "utf-8-sig") and not is_wide(look.encoding):
            found.append((_not_ascii, _decoder(look.encoding)))
        found.append((repair.is_damaged, _apply(repair.repair_controls)))
        if look.small or "backspaces" in look.traits:
            found.append((repair.has_backspaces, _apply_bytes(repair.repair_backspaces)))
        if "markup" in look.traits or (look.small and look.json == "lines"):
            found.append((_always, _apply(chat.repair_markup)))
        if look.json == "lines":
            found.append((_always, jsonlines.show_json_lines))
        if look.json or "cri" in look.traits:
            found.append((self._joiner.needed, self._joiner))
        if "gitlab" in look.traits:
            found.append((_always, partial.ContinuedJoiner()))
        if "stamped" in look.traits:
            found.append((partial.has_long_line, partial.remove_seams))
        if look.json:
            found.append((repair.is_damaged, _apply(repair.repair_controls)))
        if look.small:
            found.append((_always, _apply(chat.repair_paste)))
        if "odd" in look.traits:
            found.append((_not_ascii, _apply_bytes(repair.repair_characters)))
        if "lost-escapes" in look.traits:
            found.append((_always, _apply_bytes(repair.repair_lost_escapes)))
        return found

    def _count_nul_bytes(self, raw: bytes, offset: int, hole: int = 0) -> None:
        """Count those of a block, or of a `hole` of so many bytes, behind what was counted: blocks may overlap."""
        if (hole or 0 in raw) and not is_wide(self.look.encoding):
            skip = max(0, self._counted_to - offset)
            count = max(0, hole - skip) if hole else raw.count(0, skip)
            if not self._nul_bytes and count:
                self._first_nul = offset + (skip if hole else raw.index(0, skip))
            self._nul_bytes += count
            self._counted_to = max(self._counted_to, offset + max(hole, len(raw)))


def look_at(sample: bytes, encoding: str, mark: int, *, small: bool) -> Look:
    """Return what a sample of a source's lines tells; one in a wide encoding is given in UTF-8."""
    sample = sample.removeprefix(MARK)
    begin = repair.strip_codes(sample)
    lines = sample.split(b"\n")
    looked_at = [*lines[: limits.PROBE_LINES], *lines[-limits.PROBE_LINES :]]
    traits = {name for name, pattern in _LINES.items() if any(map(pattern.match, looked_at))}
    if not small:
        traits |= {"backspaces"} if repair.has_backspaces(begin, len(begin)) else set()
        traits |= {"odd"} if repair.has_odd_characters(begin) else set()
        traits |= {"markup"} if chat.has_markup(begin) else set()
        traits |= {"lost-escapes"} if repair.repair_lost_escapes(begin[:HEAD_BYTES]) != begin[:HEAD_BYTES] else set()
    json, names = _json_form(begin)
    if small and not json and b"&quot;" in begin:
        json, names = _json_form(chat.repair_markup(text_as_given(begin, 1, 0)).data)
        json = json if json == "lines" else None  # a document's records are placed in the bytes as given
    if "cri" in traits and not is_wide(encoding):
        encoding = "utf-8"  # a character cut between two records is no other encoding
    return Look(encoding, mark, small, json, names, frozenset(traits))


def _json_form(begin: bytes) -> tuple[str | None, tuple[str, ...]]:
    head = begin[:HEAD_BYTES]
    if head.lstrip()[:1] not in (b"{", b"["):
        if journal.is_journal(head):
            return "journal", ("journald-export",)
        return ("table", ("csv",)) if tables.table_of(head) is not None else (None, ())
    if jsondocument.is_json_document(head):
        return "document", (jsondocument.name_of_document(head),)
    lines = head.split(b"\n")
    lines = lines[:-1] if len(begin) > len(head) and len(lines) > 1 else lines
    if jsonlines.is_json_lines(lines[:40]):
        record = jsonlines.parse_line(next(line for line in lines if line.strip()))
        return "lines", (name_of(record) if isinstance(record, dict) else "json",)
    return None, ()


def _without_mark(blocks: Iterable[Block]) -> Iterator[Block]:
    """Take the byte order mark off the first block."""
    for block in blocks:
        if block.offset == 0 and bytes(block.data[: len(MARK)]) == MARK:
            view = memoryview(block.data)[len(MARK) :]
            yield Block(view, block.first_line, len(MARK), block.line_map, last=block.last, cut=block.cut)
        else:
            yield block


def _buffer(block: Block) -> tuple[bytes | bytearray, int]:
    """Return the bytes of a block in a form that has `find`, without copying where that can be."""
    data = block.data
    if isinstance(data, memoryview):
        whole = data.obj
        if isinstance(whole, bytearray | bytes) and len(data) and bytes(data[:16]) == bytes(whole[:16]):
            return whole, len(data)
        return bytes(data), len(data)
    return data, len(data)


def _always(data: bytes | bytearray, end: int) -> bool:
    return True


def _not_ascii(data: bytes | bytearray, end: int) -> bool:
    return not data.isascii()


def _apply(step: Callable[[Text], Text]) -> Apply:
    return lambda text, last: step(text)


def _apply_bytes(step: Callable[[bytes], bytes]) -> Apply:
    return lambda text, last: text.with_data(step(text.data))


def _decoder(encoding: str) -> Apply:
    return _apply_bytes(lambda data: data.decode(encoding, "replace").encode("utf-8", "replace"))
