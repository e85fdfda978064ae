"""Reads a rank's flight recorder dump, where it is JSON: which collectives the rank called, and which it waits in.

In: the blocks of a source, watched on their way to the scan. Out: a `FlightDump`, None for any other source. PyTorch
writes dumps as pickles, which are never opened; the same as JSON comes from the handler `dump_nccl_trace_json` and from
`torch._C._distributed_c10d._dump_nccl_trace_json`. A dump does not name its rank: its file does.

    {"entries": [{"collective_seq_id": 41, "process_group": ["0", "default_pg"], "profiling_name": "nccl:all_reduce",
                  "state": "started", "is_p2p": false, ...}], "pg_config": {"0": {"ranks": "[0, 1]", ...}}, ...}

Source: pytorch/pytorch:torch/csrc/distributed/c10d/FlightRecorderDetail.hpp (dump_json), TraceUtils.h (ranks_str).
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from troubleshoot import late, limits
from troubleshoot.job.signs import members_of, whole
from troubleshoot.model import Block, FlightDump, FlightGroup, FlightWork

HEAD_BYTES = 4096
_HEAD = late.compile(rb"\s*\{")
_KEYS = (b'"collective_seq_id"', b'"pg_status"', b'"pg_config"')
_PREFIXES = ("nccl:", "gloo:", "xccl:")


class FlightWatch:
    """Keeps a source that looks like a dump while its blocks pass by."""

    def __init__(self) -> None:
        self._data: bytearray | None = None
        self._is_over = False

    def watch(self, blocks: Iterable[Block]) -> Iterator[Block]:
        """Yield the blocks as they are."""
        for i, block in enumerate(blocks):
            if i == 0 and _is_dump(block):
                self._data = bytearray()
            if self._data is not None:
                self._keep(self._data, block)
            yield block

    def _keep(self, data: bytearray, block: Block) -> None:
        seen = max(0, len(data) - block.offset) if block.line_map is None else 0  # a long line's seam comes twice
        data += bytes(block.data)[seen:]
        if len(data) > limits.FLIGHT_BYTES:
            self._data, self._is_over = None, True

    def dump(self) -> tuple[FlightDump | None, str]:
        """Return the dump, and else why there is none: "" where the source is no dump."""
        if self._is_over:
            return None, f"a flight recorder dump of more than {limits.FLIGHT_BYTES >> 20} MiB: not read"
        if self._data is None:
            return None, ""
        try:
            document = json.loads(bytes(self._data))
        except (ValueError, RecursionError):
            return None, "a flight recorder dump that is cut or damaged: not read"
        found = read_dump(document)
        return found, "" if found is not None else "a flight recorder dump of an unknown form: not read"


def _is_dump(block: Block) -> bool:
    head = bytes(block.data[:HEAD_BYTES])
    return _HEAD.match(head) is not None and any(key in head for key in _KEYS)


def read_dump(document: Any) -> FlightDump | None:
    """Return what a dump says of its process groups; None for what is no dump."""
    if not isinstance(document, dict) or not isinstance(document.get("entries", []), list):
        return None
    config = document.get("pg_config")
    ranks = {
        str(name): members_of(str(each.get("ranks", "")).strip("[]"))
        for name, each in (config.items() if isinstance(config, dict) else ())
        if isinstance(each, dict)
    }
    works: dict[tuple[str, str], list[FlightWork]] = {}
    for entry in document.get("entries", []):
        work = _work(entry)
        if work is not None:
            works.setdefault(_group(entry), []).append(work)
    if not works and not ranks:
        return None
    groups = tuple(
        FlightGroup(name, desc, ranks.get(name, ()), max(each.seq for each in there), _done(there), _open(there))
        for (name, desc), there in works.items()
    )
    return FlightDump(groups, max((max(each, default=-1) + 1 for each in ranks.values()), default=0))


def _group(entry: dict[str, Any]) -> tuple[str, str]:
    group = entry.get("process_group")
    name, desc = (*map(str, group), "", "")[:2] if isinstance(group, list) else (str(entry.get("pg_id", "")), "")
    return name, desc


def _work(entry: Any) -> FlightWork | None:
    """Return a collective of an entry; None for what is none: between two ranks, or damaged."""
    if not isinstance(entry, dict) or entry.get("is_p2p"):
        return None
    seq = whole(str(entry.get("collective_seq_id", "")))
    if seq is None:
        return None
    operation = str(entry.get("profiling_name", ""))
    for prefix in _PREFIXES:
        operation = operation.removeprefix(prefix)
    sizes = json.dumps(entry.get("input_sizes", []))[:200]
    created = whole(str(entry.get("time_created_ns", ""))[:-6]) or 0  # to the millisecond
    return FlightWork(seq, operation[:100], sizes, str(entry.get("state", ""))[:20], created)


def _done(works: Sequence[FlightWork]) -> int:
    return max((each.seq for each in works if each.state == "completed"), default=0)


def _open(works: Sequence[FlightWork]) -> tuple[FlightWork, ...]:
    """Return the first collectives that have not ended, and before them the last that has."""
    done = _done(works)
    ended = [each for each in works if each.seq == done and each.state == "completed"][-1:]
    waits = sorted((each for each in works if each.state != "completed" and each.seq > done), key=lambda each: each.seq)
    return (*ended, *waits[: limits.FLIGHT_WORKS])
