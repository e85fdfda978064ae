"""How processes ended, as launchers, schedulers and clusters tell it.

In: signs. Out: `Exit`s, in the order of sources and lines. Codes above 128 and negative ones are signals: 137 and -9
are both SIGKILL. An end is a process's own unless it was told to end: SIGTERM, SIGINT and SIGHUP are another's failure,
and so is a SIGKILL that the agent sent because SIGTERM did not help. Source: knowledge/job-bundles.md, section 6."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from troubleshoot.job.members import Members, identity_of, place_from
from troubleshoot.job.signs import Sign, members_of
from troubleshoot.model import Stamp

SIGNALS = {
    1: "SIGHUP", 2: "SIGINT", 4: "SIGILL", 6: "SIGABRT", 7: "SIGBUS", 8: "SIGFPE", 9: "SIGKILL", 11: "SIGSEGV",
    13: "SIGPIPE", 15: "SIGTERM",
}  # fmt: skip
TOLD = frozenset({1, 2, 15})  # signals by which a process is asked to end
_WORDS = {
    "killed": 9, "out of memory": 9, "oomkilled": 9, "aborted": 6, "segmentation fault": 11, "terminated": 15,
    "bus error": 7, "illegal instruction": 4, "floating point exception": 8,
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class Exit:
    """The end of one process (or of a pod, where `rank` is None)."""

    sign: Sign
    rank: int | None
    host: str | None
    code: int | None
    signal: int | None
    how: str
    is_own: bool

    @property
    def stamp(self) -> Stamp | None:
        return self.sign.stamp


def read_exits(signs: Sequence[Sign], members: Members) -> list[Exit]:
    """Return the ends that are no success."""
    forced = {(sign.source, sign.captures.get("pid")) for sign in signs if sign.kind == "forced"}
    found = []
    pod: dict[str, str] = {}  # by source, the pod whose state comes next
    for sign in signs:
        if sign.kind == "pod":
            pod[sign.source] = sign.captures.get("pod", "")
        code, signal = _end(sign)
        is_told_of = sign.kind in ("exit", "entry") and (code is not None or signal is not None)
        if code == 0 or not (is_told_of or (sign.kind == "root" and sign.number("rank") is not None)):
            continue
        is_forced = (sign.source, sign.captures.get("pid")) in forced and sign.captures.get("pid") is not None
        is_own = signal not in TOLD and not (is_forced and signal == 9)
        for rank, host in _who(sign, members):
            if sign.name.startswith("pod_"):
                host = pod.get(sign.source) or host
            found.append(Exit(sign, rank, host, code, signal, how_ended(code, signal, sign.captures), is_own))
    return found


def how_ended(code: int | None, signal: int | None, captures: object = None) -> str:
    """Return the end in words: `exit code 1`, `SIGKILL`, `SIGKILL (out of memory)`."""
    how = str(getattr(captures, "get", lambda _: None)("how") or "").lower()
    reason = " (out of memory)" if how in ("out of memory", "oomkilled") else ""
    if signal is not None:
        return SIGNALS.get(signal, f"signal {signal}") + reason
    return f"exit code {code}" if code is not None else "an end of its own"


def _end(sign: Sign) -> tuple[int | None, int | None]:
    """Return exit code and signal, of which one is None."""
    signal, code = sign.number("signal"), sign.number("code")
    if signal is not None:
        return None, signal
    word = _WORDS.get((sign.captures.get("how") or "").lower())
    if word is not None and code in (None, 137):
        return None, word
    if code is not None and code < 0:
        return None, -code
    if code is not None and 128 < code < 160 and code - 128 in SIGNALS:
        return None, code - 128
    return code, None


def _who(sign: Sign, members: Members) -> Iterator[tuple[int | None, str | None]]:
    identity = identity_of(sign.hit.record)
    place = place_from(identity)
    rank, local = sign.number("rank"), sign.number("local_rank")
    host = sign.captures.get("host") or None
    if sign.captures.get("members"):
        nodes = sign.captures.get("nodes", "")
        named = nodes if nodes and not set(nodes) & set("[],") else None
        for each in members_of(sign.captures["members"]):
            yield each, named or members.hosts.get(each)
        return
    if rank is None and local is not None:
        rank = members.rank_at(place, local)
    if rank is None and sign.name not in ("elastic_worker_failed", "pod_ended", "pod_status"):
        rank = members.rank_from(identity)
    yield rank, host or place or (members.hosts.get(rank) if rank is not None else None)
