"""What somebody who watches a scan is told, and how a scan is told to stop."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Protocol

from troubleshoot.model import Block, ScanResult

Stop = Callable[[], bool]  # true once no more should be read


class Watcher(Protocol):
    """Is told of the progress of a scan, in the thread that runs it."""

    def expect(self, sources: int, bytes: int) -> None:
        """So much is there to read, as far as can be known before."""
        ...

    def advance(self, bytes: int) -> None:
        """So many more bytes were read."""
        ...

    def done(self, result: ScanResult) -> None:
        """One more source was read to its end."""
        ...


def never() -> bool:
    return False


def until(blocks: Iterator[Block], stop: Stop, watcher: Watcher | None = None) -> Iterator[Block]:
    """Yield the blocks until told to stop, and tell of their bytes. A block that is there is not thrown away."""
    try:
        for block in blocks:
            size = len(block.data)
            yield block
            if watcher is not None:
                watcher.advance(size)
            if stop():
                return
    finally:
        close = getattr(blocks, "close", None)
        if close is not None:
            close()
