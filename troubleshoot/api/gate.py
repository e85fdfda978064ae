"""What every request passes first and last: id, address, key, rate; then the access log and the counters.

    request -> id -> is it for us -> is it from here -> whose key, may it -> how many a minute -> the application

Plain ASGI, since a middleware that wraps requests and responses in objects would cost more than the routes do. What is
not named in `OPEN` or `SCOPES` asks for an admin key, so a route that somebody adds is closed until it is opened.
"""

from __future__ import annotations

import base64
import binascii
import logging
import re
import secrets
import time
from collections.abc import Iterable, Mapping
from typing import Any
from urllib.parse import urlsplit

from starlette.requests import ClientDisconnect, Request
from starlette.responses import Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from troubleshoot.api.journal import access
from troubleshoot.api.keys import SCOPES as ALL_SCOPES
from troubleshoot.api.keys import ApiKey, KeyRing
from troubleshoot.api.metrics import Metrics
from troubleshoot.api.options import ServiceOptions
from troubleshoot.api.problems import problem
from troubleshoot.api.rates import Buckets, address_group

log = logging.getLogger("troubleshoot.api")

REQUEST_ID = re.compile(r"[A-Za-z0-9._-]{1,128}")
TRACE = re.compile(r"[0-9a-f]{2}-([0-9a-f]{32})-[0-9a-f]{16}-[0-9a-f]{2}")
ASK_BROWSER = 'Basic realm="troubleshoot: any name, an API key as the password", charset="UTF-8"'
ASK_PROGRAM = 'Bearer realm="troubleshoot"'
CLIENT_GONE = 499  # as nginx writes it down
SLACK = "/slack/events"
SAFE_METHODS = ("GET", "HEAD", "OPTIONS")

OPEN = frozenset({"/healthz", "/readyz", SLACK})  # Slack signs its requests
OPEN_BELOW = ("/static/",)
UNCOUNTED = frozenset({"/healthz", "/readyz", SLACK})  # a probe that is turned away restarts the service
SCOPES: tuple[tuple[str, str, str], ...] = (  # method, path or its beginning, scope
    ("POST", "/v1/scan", "scan"),
    ("POST", "/v1/log", "scan"),
    ("POST", "/v1/feedback", "scan"),
    ("POST", "/", "scan"),
    ("*", "/mcp", "scan"),
    ("GET", "/v1/reports", "admin"),
    ("GET", "/v1/reports/*", "read"),
    ("DELETE", "/v1/reports/*", "scan"),  # and the report's own delete token, or an admin's key
    ("GET", "/v1/unknown-faults", "admin"),
    ("GET", "/v1/unknown-faults/*", "admin"),
    ("GET", "/v1/feedback", "admin"),
    ("GET", "/v1/*", "read"),
    ("GET", "/", "read"),
    ("GET", "/rules", "read"),
    ("GET", "/rules/*", "read"),
    ("GET", "/r/*", "read"),
    ("GET", "/statistics", "read"),
    ("GET", "/history", "admin"),
    ("GET", "/unknown-faults", "admin"),
    ("GET", "/unknown-faults/*", "admin"),
    ("GET", "/openapi.json", "read"),
    ("GET", "/metrics", "read"),
)


# Where others reach a service without keys, nobody is its admin: links that cannot be guessed are not listed either.
EVERYBODYS_SCOPES = tuple(scope for scope in ALL_SCOPES if scope != "admin")


def scope_for(method: str, path: str) -> str | None:
    """Return the scope that a request needs, or None where anybody may send it."""
    if path in OPEN or path.startswith(OPEN_BELOW):
        return None
    method = "GET" if method == "HEAD" else method
    for each, pattern, scope in SCOPES:
        if each in (method, "*") and (path == pattern or (pattern.endswith("*") and path.startswith(pattern[:-1]))):
            return scope
    return "admin"


def may(request: Request, path: str, method: str = "GET") -> bool:
    """Say whether whoever sends this request might also ask for `path`: what a page need not offer otherwise."""
    needed = scope_for(method, path)
    allowed = getattr(request.state, "scopes", None)
    return needed is None or allowed is None or needed in allowed or "admin" in allowed


class Gate:
    """Lets requests through to the application, or answers in its place."""

    def __init__(self, app: ASGIApp, *, metrics: Metrics, keys: KeyRing | None, options: ServiceOptions) -> None:
        self._app = app
        self._metrics = metrics
        self._keys = keys
        self._rate_per_minute = options.rate_per_minute / options.workers
        self._buckets = Buckets(self._rate_per_minute) if self._rate_per_minute else None
        self._hosts = frozenset(options.hosts)
        self._without_keys = ALL_SCOPES if options.is_private else EVERYBODYS_SCOPES

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        began = time.perf_counter()
        headers = {key: value for key, value in scope["headers"] if key in WANTED}
        given = headers.get(b"x-request-id", b"").decode("latin-1")
        request_id = given if REQUEST_ID.fullmatch(given) else secrets.token_hex(8)
        state = scope.setdefault("state", {})
        state["request_id"] = request_id
        id_header = (b"x-request-id", request_id.encode())
        status = bytes_in = bytes_out = 0

        async def counted_receive() -> Message:
            nonlocal bytes_in
            message = await receive()
            bytes_in += len(message.get("body", b""))
            return message

        async def counted_send(message: Message) -> None:
            nonlocal status, bytes_out
            if message["type"] == "http.response.start":
                status = message["status"]
                message["headers"] = _with_headers(message.get("headers", ()), id_header, scope["path"])
            else:
                bytes_out += len(message.get("body", b""))
            await send(message)

        try:
            refusal = self._refusal(scope, headers)
            if refusal is not None:
                await refusal(scope, receive, counted_send)
            else:
                is_head = scope["method"] == "HEAD"  # answered as a GET; the server keeps the body to itself
                inner = {**scope, "method": "GET"} if is_head else scope
                try:
                    await self._app(inner, counted_receive, counted_send)
                finally:
                    scope["route"] = inner.get("route")
        except ClientDisconnect:
            status = status or CLIENT_GONE  # it sent half a body and left: nobody is there to be told
        except Exception as error:
            log.exception("unhandled error", exc_info=error, extra={"fields": {"request_id": request_id}})
            if status:
                raise  # half of an answer is out: the server cuts the connection
            await _bug(Request(scope))(scope, receive, counted_send)
        finally:
            route = route_of(scope)
            seconds = time.perf_counter() - began
            self._metrics.requests.labels(route, str(status)).inc()
            self._metrics.request_seconds.labels(route).observe(seconds)
            if access.isEnabledFor(logging.INFO):
                trace = TRACE.fullmatch(headers.get(b"traceparent", b"").decode("latin-1"))
                key = state.get("key")
                access.info(
                    "request",
                    extra={
                        "fields": {
                            "request_id": request_id,
                            "method": scope["method"],
                            "route": route,
                            "status": status,
                            "seconds": round(seconds, 6),
                            "bytes_in": bytes_in,
                            "bytes_out": bytes_out,
                            "client": (scope.get("client") or ("",))[0],
                            "key": key.id if key else None,
                            **({"trace_id": trace[1]} if trace else {}),
                        }
                    },
                )

    def _refusal(self, scope: Scope, headers: Mapping[bytes, bytes]) -> Response | None:
        """Return the answer to a request that must not reach the application."""
        is_ours = _host_name(headers.get(b"host", b"")) in self._hosts
        if self._hosts and not is_ours and scope["path"] != SLACK:  # which comes through a tunnel, and is signed
            return self._refuse(scope, "host", 421, "this service does not go by that name")
        if scope["method"] not in SAFE_METHODS and is_cross_site(headers):
            return self._refuse(scope, "cross-site", 403, "requests of other sites' pages are not taken")
        needed = scope_for(scope["method"], scope["path"])
        key = None
        is_forwarded = b"x-forwarded-for" in headers or b"forwarded" in headers  # a proxy lets others in
        allowed = EVERYBODYS_SCOPES if is_forwarded else self._without_keys
        if self._keys is not None:
            key = scope["state"]["key"] = self._key_in(headers)
            allowed = key.scopes if key else ()
        scope["state"]["scopes"] = allowed
        sender = f"key {key.id}" if key else address_group((scope.get("client") or ("?",))[0])
        if self._buckets is not None and scope["path"] not in UNCOUNTED and (wait_s := self._buckets.take(sender)):
            response = self._refuse(scope, "rate", 429, f"more than {self._rate_per_minute:g} requests a minute")
            response.headers["Retry-After"] = str(int(wait_s) + 1)
            response.headers["RateLimit-Policy"] = f'"default";q={self._rate_per_minute:g};w=60'
            return response
        if needed is None or needed in allowed or "admin" in allowed:
            return None
        if self._keys is None:
            return self._refuse(scope, "scope", 403, "this takes an admin's key, and this service asks for no keys")
        if key is None:
            response = self._refuse(scope, "key", 401, "an API key is needed: Authorization: Bearer ts_...")
            wants_page = b"text/html" in headers.get(b"accept", b"")
            response.headers["WWW-Authenticate"] = ASK_BROWSER if wants_page else ASK_PROGRAM
            return response
        return self._refuse(scope, "scope", 403, f"this key has not the scope {needed!r}")

    def _refuse(self, scope: Scope, reason: str, status: int, detail: str) -> Response:
        self._metrics.refused.labels(reason).inc()
        return problem(Request(scope), status, detail)

    def _key_in(self, headers: Mapping[bytes, bytes]) -> ApiKey | None:
        """Return the key that a request brings: as a bearer token, as X-API-Key, or as a browser's password."""
        assert self._keys is not None, "asked only where there are keys"
        kind, _, value = headers.get(b"authorization", b"").decode("latin-1").partition(" ")
        secret = headers.get(b"x-api-key", b"").decode("latin-1")
        if kind.lower() == "bearer":
            secret = value.strip()
        elif kind.lower() == "basic":
            try:
                secret = base64.b64decode(value, validate=True).decode("utf-8").partition(":")[2]
            except (binascii.Error, UnicodeDecodeError):
                return None
        return self._keys.find(secret) if secret else None


def _with_headers(
    given: Iterable[tuple[bytes, bytes]], id_header: tuple[bytes, bytes], path: str
) -> list[tuple[bytes, bytes]]:
    """Return headers with the request's id, and those of caution where a route has none of its own."""
    headers = [*given, id_header]
    names = {name.lower() for name, _ in headers}
    if b"x-content-type-options" not in names:
        headers.append((b"x-content-type-options", b"nosniff"))
    if b"cache-control" not in names and path.startswith("/v1/"):
        headers.append((b"cache-control", b"no-store"))
    return headers


WANTED = frozenset(
    {
        *(b"x-request-id", b"authorization", b"x-api-key", b"host", b"origin", b"sec-fetch-site"),
        *(b"accept", b"traceparent", b"x-forwarded-for", b"forwarded"),
    }
)


def route_of(scope: Scope) -> str:
    """Return the template of the route that took a request, never its path: labels and logs stay bounded."""
    route = scope.get("route")
    path: Any = getattr(route, "path", None)
    if isinstance(path, str) and path:
        return path
    return next((below.rstrip("/") for below in (*OPEN_BELOW, "/mcp") if scope["path"].startswith(below)), "-")


def is_cross_site(headers: Mapping[bytes, bytes]) -> bool:
    """Say whether another site's page makes a browser send this, with the user's address and stored password."""
    site = headers.get(b"sec-fetch-site")
    if site is not None:
        return site not in (b"same-origin", b"none")
    origin = headers.get(b"origin")
    return origin is not None and urlsplit(origin).netloc.lower() != headers.get(b"host", b"").lower()


def _host_name(host: bytes) -> str:
    name = host.decode("latin-1").lower()
    return name[: name.index("]") + 1] if name.startswith("[") and "]" in name else name.partition(":")[0]


def _bug(request: Request) -> Response:
    return problem(request, 500, "an internal error; the service's log has it under this request's id")
