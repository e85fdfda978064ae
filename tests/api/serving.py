"""A real service in a process of its own, for tests that stop it, reload it or send it half a request."""

from __future__ import annotations

import contextlib
import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import httpx

ROOT = Path(__file__).parents[2]


class Service:
    """A running `troubleshoot serve`."""

    def __init__(self, process: subprocess.Popen[bytes], port: int, errors: Path) -> None:
        self.process = process
        self.port = port
        self.url = f"http://127.0.0.1:{port}"
        self._errors = errors

    @property
    def log(self) -> str:
        return self._errors.read_text()

    def stop(self, sign: int = signal.SIGTERM) -> int:
        self.process.send_signal(sign)
        return self.process.wait(40)


@contextlib.contextmanager
def serving(folder: Path, *arguments: str, **environment: str) -> Iterator[Service]:
    """Run the service on a free port until the block ends; return it once it answers."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    errors = folder / "stderr"
    command = [sys.executable, "-m", "troubleshoot", "serve", "--port", str(port), "--isolated", *arguments]
    with errors.open("wb") as stream:
        process = subprocess.Popen(
            command, cwd=ROOT, stderr=stream, env={**os.environ, **environment}, stdout=subprocess.DEVNULL
        )
    service = Service(process, port, errors)
    try:
        wait_until(lambda: answers(service), service)
        yield service
    finally:
        if process.poll() is None:
            process.terminate()
            try:
                process.wait(20)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()


def answers(service: Service) -> bool:
    with contextlib.suppress(httpx.HTTPError):
        return httpx.get(f"{service.url}/healthz", timeout=5).status_code == 200
    return False


def wait_until(is_so: object, service: Service, seconds: float = 60) -> None:
    """Wait for something to become so. Raises AssertionError with the service's log."""
    end = time.monotonic() + seconds
    while not is_so():  # type: ignore[operator]  # a callable
        assert service.process.poll() is None, f"the service ended: {service.log}"
        assert time.monotonic() < end, f"not within {seconds} s: {service.log}"
        time.sleep(0.05)
