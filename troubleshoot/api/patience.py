"""Connections that take their time, or all memory: one that does not finish the head of a request is closed.

uvicorn waits for a head as long as the client likes: a thousand sockets that each send half a line would take all
files that the service may open. And it takes a head of any size: 200 MB of header lines became 3 GB of memory. A body
has its own limits, in `body`; idle connections are uvicorn's `keep-alive`.
"""

from __future__ import annotations

import asyncio
from typing import Any

from uvicorn.protocols.http.auto import AutoHTTPProtocol

HEAD_S = 20.0  # from the connection, or the first byte after a request, to the end of the head
HEAD_BYTES = 64 * 1024  # of a head that is not whole yet: cookies and tokens take a few
TOO_LARGE = b"HTTP/1.1 431 Request Header Fields Too Large\r\nconnection: close\r\ncontent-length: 0\r\n\r\n"


class PatientProtocol(AutoHTTPProtocol):  # type: ignore[misc, valid-type]  # chosen by uvicorn when it is imported
    """uvicorn's protocol, with an end to its patience."""

    _closing: asyncio.TimerHandle | None = None
    _head_bytes = 0

    def connection_made(self, transport: Any) -> None:
        super().connection_made(transport)
        self._expect_head()

    def data_received(self, data: bytes) -> None:
        super().data_received(data)
        if not self._waits_for_head():
            self._stop_expecting()
            return
        self._expect_head()
        self._head_bytes += len(data)
        if self._head_bytes > HEAD_BYTES and not self.transport.is_closing():
            self.transport.write(TOO_LARGE)
            self.transport.close()

    def connection_lost(self, exc: Exception | None) -> None:
        self._stop_expecting()
        super().connection_lost(exc)

    def _waits_for_head(self) -> bool:
        return self.cycle is None or self.cycle.response_complete

    def _expect_head(self) -> None:
        if self._closing is None:
            self._closing = asyncio.get_running_loop().call_later(HEAD_S, self._close)

    def _stop_expecting(self) -> None:
        self._head_bytes = 0
        if self._closing is not None:
            self._closing.cancel()
            self._closing = None

    def _close(self) -> None:
        self._closing = None
        if self._waits_for_head() and not self.transport.is_closing():
            self.transport.close()
