"""How much of what HTTP itself costs is left to the scan: requests a second of `POST /v1/scan`, against a bare route.

    python benchmarks/http_load.py [--seconds 5] [--connections 64] [--check]

The peer is a FastAPI route that only reads the body, served by the same uvicorn with one worker in the same run; each
service is asked in turn by `wrk` (Debian's package) with a 10 KB paste: the same one again and again, as a bot or page
asks in an incident; pastes that all differ; and those with a paste of 50 MB among them. Ratios are printed, never times
alone, since machines differ. `--check` exits with 1 where the budget is not kept.
"""

from __future__ import annotations

import argparse
import contextlib
import os
import re
import socket
import subprocess
import sys
import tempfile
import threading
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import reference

ROOT = Path(__file__).parent.parent
LARGE_BYTES = 50_000_000
BUDGET_RATE = 0.35  # of the bare route's requests a second
BUDGET_TAIL = 5.0  # p99 as a multiple of p50

BARE = """
from fastapi import FastAPI, Request
app = FastAPI()
@app.post("/v1/scan")
async def read(request: Request) -> dict[str, int]:
    return {"bytes": len(await request.body())}
"""
SAME = """
wrk.method = "POST"; wrk.headers["Content-Type"] = "text/plain"
local file = io.open("{paste}"); wrk.body = file:read("*a"); file:close()
"""
DIFFERENT = """
local file = io.open("{paste}"); local paste = file:read("*a"); file:close()
local number = 0
request = function()
  number = number + 1
  return wrk.format("POST", nil, {{["Content-Type"] = "text/plain"}}, paste .. "paste " .. number .. " {run}\\n")
end
"""
FAULT = (
    "mpirun: /lib/x86_64-linux-gnu/libc.so.6: version `GLIBC_2.34' not found "
    "(required by /opt/amazon-efa-ofi/openmpi/lib/libopen-rte.so.40)"
)


@dataclass(frozen=True, slots=True)
class Load:
    """What one run of wrk saw."""

    per_second: float
    p50_ms: float
    p99_ms: float
    errors: int

    @property
    def tail(self) -> float:
        return self.p99_ms / self.p50_ms if self.p50_ms else float("inf")

    def __str__(self) -> str:
        errors = f", {self.errors} ERRORS" if self.errors else ""
        times = f"p50 {self.p50_ms:7.1f} ms   p99 {self.p99_ms:7.1f} ms = {self.tail:.1f} x"
        return f"{self.per_second:8.0f}/s   {times}{errors}"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seconds", type=int, default=5)
    parser.add_argument("--connections", type=int, default=64)
    parser.add_argument("--check", action="store_true")
    asked = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "paste").write_text(paste())
        (folder / "bare.py").write_text(BARE)

        def load(url: str, script: str, run: str = "") -> Load:
            path = folder / "script.lua"
            path.write_text(script.format(paste=folder / "paste", run=run))
            return wrk(url, path, asked.seconds, asked.connections)

        with bare_service(folder) as bare, scan_service() as scan:
            for url, script in ((bare, SAME), (scan, SAME), (scan, DIFFERENT)):
                load(url, script, "warm-up")
            base = load(bare, SAME)
            same = load(scan, SAME)
            different = load(scan, DIFFERENT, "1")
            with large_paste(scan) as large:
                mixed = load(scan, DIFFERENT, "2")
    print(f"10 KB pastes, one worker, {asked.connections} connections, {asked.seconds} s each, {os.cpu_count()} cores")
    print(f"bare FastAPI route      {base}")
    for title, each in (("the same paste", same), ("pastes that differ", different), ("... and 50 MB", mixed)):
        print(f"{title:<20}    {each}   {each.per_second / base.per_second:.3f} of the bare route")
    print(f"50 MB beside them       {large[0] if large else 'not answered while they ran'}")
    kept = same.per_second >= BUDGET_RATE * base.per_second and same.tail <= BUDGET_TAIL
    budget = f"budget ({BUDGET_RATE} of the requests, p99 <= {BUDGET_TAIL:g} x p50)"
    print(f"{budget}, same paste: {'kept' if kept else 'NOT kept'}")
    kept_different = different.per_second >= BUDGET_RATE * base.per_second and different.tail <= BUDGET_TAIL
    print(f"budget, pastes that differ: {'kept' if kept_different else 'NOT kept'}")
    return int(asked.check and not (kept and kept_different))


def paste() -> str:
    """Return 10 KB of a healthy job's log with a fault at its end."""
    lines = "\n".join(reference.log_lines(200))
    return f"{lines[: 10_000 - len(FAULT)]}\n{FAULT}\n"


def wrk(url: str, script: Path, seconds: int, connections: int) -> Load:
    command = [
        "wrk",
        "-t1",
        f"-c{connections}",
        f"-d{seconds}s",
        "--timeout",
        "30s",
        "--latency",
        "-s",
        str(script),
        url,
    ]
    text = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    errors = sum(map(int, re.findall(r"Non-2xx or 3xx responses: (\d+)", text)))
    for counts in re.findall(r"Socket errors: connect (\d+), read (\d+), write (\d+), timeout (\d+)", text):
        errors += sum(map(int, counts))
    return Load(
        float(found(r"Requests/sec:\s+([\d.]+)", text)), milliseconds(text, "50%"), milliseconds(text, "99%"), errors
    )


def found(pattern: str, text: str) -> str:
    match = re.search(pattern, text)
    assert match is not None, text
    return match[1]


def milliseconds(text: str, percentile: str) -> float:
    value = found(rf"{percentile}\s+([\d.]+(?:us|ms|s))", text)
    number = float(value.rstrip("ums"))
    return number / 1000 if value.endswith("us") else number if value.endswith("ms") else number * 1000


@contextlib.contextmanager
def bare_service(folder: Path) -> Iterator[str]:
    port = free_port()
    with running([sys.executable, "-m", "uvicorn", "--app-dir", str(folder), "bare:app", "--port", str(port),
                  "--log-level", "warning", "--no-access-log"], port) as url:  # fmt: skip
        yield url


@contextlib.contextmanager
def scan_service() -> Iterator[str]:
    port = free_port()
    with running([sys.executable, "-m", "troubleshoot", "serve", "--isolated", "--port", str(port)], port) as url:
        yield url


@contextlib.contextmanager
def running(command: list[str], port: int) -> Iterator[str]:
    process = subprocess.Popen(command, cwd=ROOT, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        url = f"http://127.0.0.1:{port}/v1/scan"
        for _ in range(600):
            with contextlib.suppress(OSError):
                post(url, b"warm-up", 60)
                break
            time.sleep(0.1)
        yield url
    finally:
        process.terminate()
        process.wait(40)


@contextlib.contextmanager
def large_paste(url: str) -> Iterator[list[str]]:
    """Send a large paste while the block runs; the list tells how it went once it is answered."""
    told: list[str] = []
    line = (paste().partition("\n")[0] + "\n").encode()

    def send() -> None:
        began = time.monotonic()
        try:
            status = post(url, line * (LARGE_BYTES // len(line)), 60)
        except urllib.error.HTTPError as error:
            status = error.code
        told.append(f"answered {status} after {time.monotonic() - began:.1f} s")

    thread = threading.Thread(target=send)
    thread.start()
    yield told
    thread.join()


def post(url: str, body: bytes, timeout: float) -> int:
    request = urllib.request.Request(url, data=body, headers={"Content-Type": "text/plain"})
    with urllib.request.urlopen(request, timeout=timeout) as response:
        return int(response.status)


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


if __name__ == "__main__":
    sys.exit(main())
