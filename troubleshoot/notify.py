"""Posts a finished report to a URL, so that nobody has to fetch it.

In: a URL, the body, a secret. Out: nothing, or why it could not be delivered. A POST of JSON with

    X-Troubleshoot-Signature: sha256=<hex of HMAC-SHA256(secret, timestamp + "." + body)>
    X-Troubleshoot-Timestamp: <seconds since 1970>
    X-Troubleshoot-Delivery:  <the same for every try of one delivery>

Three tries, with growing waits, for answers that may change (none, 429, 5xx); ten seconds each. Redirects are not
followed: a report goes where its owner sent it and nowhere else. Never raises.
"""

from __future__ import annotations

import hashlib
import hmac
import http.client
import time
import urllib.error
import urllib.parse
import urllib.request
from collections.abc import Callable
from typing import Any

TRIES = 3
TIMEOUT_S = 10.0
WAITS_S = (1.0, 4.0)  # between the tries

Post = Callable[[str, bytes, dict[str, str]], tuple[int, str]]


def notify(
    url: str,
    body: bytes,
    secret: str = "",
    *,
    post: Post | None = None,
    sleep: Callable[[float], None] = time.sleep,
    now: Callable[[], float] = time.time,
) -> str:
    """Return why the body could not be delivered; empty when it was."""
    try:
        parts = urllib.parse.urlsplit(url)
    except ValueError as error:
        return f"not a URL: {error}"
    if parts.scheme not in ("http", "https") or not parts.hostname:
        return "not an http or https URL"
    send = post if post is not None else _post
    problem = ""
    for attempt in range(TRIES):
        status, problem = _try(send, url, body, _headers(body, secret, now()))
        if status is not None and 200 <= status < 300:
            return ""
        if status is not None and status != 429 and status < 500:
            return problem
        if attempt < len(WAITS_S):
            sleep(WAITS_S[attempt])
    return f"{problem}, after {TRIES} tries"


def signature_of(body: bytes, secret: str, timestamp: str) -> str:
    """Return what the receiver computes and compares, in constant time, with the header."""
    return "sha256=" + hmac.new(secret.encode(), timestamp.encode() + b"." + body, hashlib.sha256).hexdigest()


def _headers(body: bytes, secret: str, now: float) -> dict[str, str]:
    headers = {
        "Content-Type": "application/json",
        "User-Agent": "troubleshoot",
        "X-Troubleshoot-Delivery": hashlib.sha256(body).hexdigest()[:32],
    }
    if secret:
        timestamp = str(int(now))
        headers["X-Troubleshoot-Timestamp"] = timestamp
        headers["X-Troubleshoot-Signature"] = signature_of(body, secret, timestamp)
    return headers


def _try(send: Post, url: str, body: bytes, headers: dict[str, str]) -> tuple[int | None, str]:
    """Return the status, if there was an answer, and what is wrong."""
    try:
        status, reason = send(url, body, headers)
    except (OSError, http.client.HTTPException, ValueError) as error:
        return None, str(getattr(error, "reason", error)) or type(error).__name__
    return status, f"the answer was {status} {reason}".strip()


class _NoRedirects(urllib.request.HTTPRedirectHandler):
    def redirect_request(self, *_: Any) -> None:
        return None


def _post(url: str, body: bytes, headers: dict[str, str]) -> tuple[int, str]:
    request = urllib.request.Request(url, data=body, headers=headers, method="POST")
    opener = urllib.request.build_opener(_NoRedirects)
    try:
        with opener.open(request, timeout=TIMEOUT_S) as answer:
            return answer.status, answer.reason
    except urllib.error.HTTPError as error:
        error.close()
        return error.code, str(error.reason)
