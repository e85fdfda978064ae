"""Puts sources to hosts where their own paths do not, or say it in other words than their content.

In: scan results. Out: the same results, with the identities of their sources completed:

    node-0.log, whose lines all say ip-10-0-7-31     it is the log of ip-10-0-7-31: one host, not two
    trn-0/rank-0.log .. trn-1/rank-15.log            folders that share the ranks out are hosts: trn-0 and trn-1

A folder is taken for a host only where several are, each rank is in one of them, some hold two ranks or more, and their
names are not what folders of logs are called anyway.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace

from troubleshoot import late
from troubleshoot.model import Identity, ScanResult, Source

_ORDINARY = late.compile(
    r"\d*|\.*|(?:attempt|rank|task|proc|worker|step|run|version|job|epoch|try|r|t|p)[-_.]?\d*|logs?|std(?:out|err)|out(?:put)?s?|errs?",
)
_PARTS = late.compile(r"[^/!\\]+")


def settle_places(results: Sequence[ScanResult]) -> list[ScanResult]:
    """Return the results, their sources put to the hosts that content or folders tell of."""
    settled = [_moved(each, host) if (host := _said_inside(each)) else each for each in results]
    folders = _folders(settled)
    return [
        _moved(each, folders[name]) if (name := _folder(each)) in folders and _is_lost(each) else each
        for each in settled
    ]


def _said_inside(result: ScanResult) -> str | None:
    """Return the one host that the content names, where the path names another."""
    named = result.source.identity.host
    if named is None:
        return None
    said = {host for host in _content_hosts(result) if host}
    return said.pop() if len(said) == 1 and named not in said else None


def _content_hosts(result: ScanResult) -> Iterable[str | None]:
    for hit in result.hits:
        yield hit.record.identity.host
    if result.info is not None and result.info.identity.host != result.source.identity.host:
        yield result.info.identity.host


def _is_lost(result: ScanResult) -> bool:
    """Tell whether neither path nor content tell where the source was written."""
    known = [result.source.identity, *([result.info.identity] if result.info is not None else [])]
    return not any(each.host or each.pod for each in known) and not any(_content_hosts(result))


def _known(result: ScanResult) -> set[str | None]:
    known = {result.source.identity.host, *_content_hosts(result)}
    return known | ({result.info.identity.host} if result.info is not None else set())


def _folders(results: Sequence[ScanResult]) -> dict[str, str]:
    """Return host by folder, of the folders that the ranks are shared out among; empty where they are not."""
    ranks: dict[str, set[int]] = {}
    for result in results:
        rank = _rank(result)
        if rank is None or not (_is_lost(result) or _last(_folder(result)) in _known(result)):
            continue
        ranks.setdefault(_folder(result), set()).add(rank)
    names = {folder: _last(folder) for folder in ranks}
    total = sum(len(each) for each in ranks.values())
    are_shared_out = total == len(set().union(*ranks.values())) and total >= 2 * len(ranks)
    are_names = len(set(names.values())) == len(ranks) and not any(map(_ORDINARY.fullmatch, names.values()))
    return names if len(ranks) > 1 and are_shared_out and are_names else {}


def _folder(result: ScanResult) -> str:
    parts = list(_PARTS.finditer(result.source.name))
    return result.source.name[: parts[-1].start()].rstrip("/!\\") if parts else ""


def _last(folder: str) -> str:
    parts = list(_PARTS.finditer(folder))
    return parts[-1][0] if parts else ""


def _rank(result: ScanResult) -> int | None:
    if result.source.identity.rank is not None:
        return result.source.identity.rank
    ranks = {each.identity.rank for each in result.progress}
    return ranks.pop() if len(ranks) == 1 else None


def _moved(result: ScanResult, host: str) -> ScanResult:
    """Return the result with its source at a host."""
    sources: dict[int, Source] = {}  # records of sections share few sources

    def source(given: Source) -> Source:
        known = sources.get(id(given))
        if known is None:
            known = sources[id(given)] = replace(given, identity=Identity(host=host).over(given.identity))
        return known

    def over(given: Identity) -> Identity:
        return Identity(host=host).over(given) if given.host in (None, result.source.identity.host) else given

    return replace(
        result,
        source=source(result.source),
        hits=tuple(replace(hit, record=replace(hit.record, source=source(hit.record.source))) for hit in result.hits),
        progress=tuple(replace(each, identity=over(each.identity)) for each in result.progress),
        info=replace(result.info, identity=over(result.info.identity)) if result.info is not None else None,
    )
