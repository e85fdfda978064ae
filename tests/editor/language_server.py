"""A client for the YAML language server that editors run: speaks LSP over its standard input and output."""

from __future__ import annotations

import itertools
import json
import queue
import subprocess
import threading
from pathlib import Path
from typing import Any

HERE = Path(__file__).parent
SERVER = HERE / "node_modules" / "yaml-language-server" / "bin" / "yaml-language-server"
WAIT_S = 60.0


class LanguageServer:
    """One server process. As a context manager it is ended at the end."""

    def __init__(self, node: str, root: Path) -> None:
        self._process = subprocess.Popen(
            [node, str(SERVER), "--stdio"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL
        )
        self._numbers = itertools.count(1)
        self._messages: queue.Queue[dict[str, Any] | None] = queue.Queue()
        self._told: dict[str, list[dict[str, Any]]] = {}  # diagnostics by address
        threading.Thread(target=self._read, daemon=True).start()
        uri = root.as_uri()
        folders = [{"uri": uri, "name": "root"}]
        self.ask("initialize", {"processId": None, "rootUri": uri, "workspaceFolders": folders, "capabilities": {}})
        self._send({"method": "initialized", "params": {}})
        self._send({"method": "workspace/didChangeConfiguration", "params": {"settings": {"yaml": SETTINGS}}})

    def __enter__(self) -> LanguageServer:
        return self

    def __exit__(self, *_: object) -> None:
        self._process.kill()
        self._process.wait()

    def open(self, path: Path, text: str) -> str:
        """Open a document, as an editor does; return its address."""
        item = {"uri": path.as_uri(), "languageId": "yaml", "version": 1, "text": text}
        self._send({"method": "textDocument/didOpen", "params": {"textDocument": item}})
        return path.as_uri()

    def diagnostics(self, uri: str) -> list[dict[str, Any]]:
        """Return what the server says is wrong with an open document."""
        while uri not in self._told:
            self._handle(self._next())
        return self._told.pop(uri)

    def complete(self, uri: str, line: int, character: int) -> dict[str, dict[str, Any]]:
        """Return what may be put in at a place (counted from 0), by label."""
        where = {"textDocument": {"uri": uri}, "position": {"line": line, "character": character}}
        return {item["label"]: item for item in self.ask("textDocument/completion", where)["items"]}

    def hover(self, uri: str, line: int, character: int) -> str:
        where = {"textDocument": {"uri": uri}, "position": {"line": line, "character": character}}
        return str(self.ask("textDocument/hover", where)["contents"]["value"])

    def ask(self, method: str, params: Any) -> Any:
        number = next(self._numbers)
        self._send({"id": number, "method": method, "params": params})
        while True:
            message = self._next()
            if message.get("id") == number and "method" not in message:
                assert "error" not in message, message["error"]
                return message["result"]
            self._handle(message)

    def _handle(self, message: dict[str, Any]) -> None:
        method = message.get("method")
        if method == "textDocument/publishDiagnostics":
            self._told[message["params"]["uri"]] = message["params"]["diagnostics"]
        elif method == "workspace/configuration":
            answers = [SETTINGS if item.get("section") == "yaml" else {} for item in message["params"]["items"]]
            self._send({"id": message["id"], "result": answers})
        elif "id" in message:  # another question of the server's, to which an editor may have no answer
            self._send({"id": message["id"], "result": None})

    def _next(self) -> dict[str, Any]:
        message = self._messages.get(timeout=WAIT_S)
        assert message is not None, "the language server has ended"
        return message

    def _send(self, message: dict[str, Any]) -> None:
        body = json.dumps({"jsonrpc": "2.0", **message}).encode()
        assert self._process.stdin is not None
        self._process.stdin.write(b"Content-Length: %d\r\n\r\n%s" % (len(body), body))
        self._process.stdin.flush()

    def _read(self) -> None:
        stream = self._process.stdout
        assert stream is not None
        while True:
            length = 0
            while (header := stream.readline().strip()) != b"":
                if header.lower().startswith(b"content-length:"):
                    length = int(header.partition(b":")[2])
            if not length:
                self._messages.put(None)
                return
            self._messages.put(json.loads(stream.read(length)))


# No schema store: that one is on the network, and ours is named by the file itself.
SETTINGS = {"validate": True, "hover": True, "completion": True, "schemaStore": {"enable": False}}
