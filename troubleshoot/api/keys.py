"""API keys: made once, shown once, kept as hashes with what they may do.

    troubleshoot keys new --name slack-bot --scope scan      ->  ts_3f9c0a1b_kq0r...   (shown this once)
    keys.json: [{"id": "3f9c0a1b", "name": "slack-bot", "scopes": ["scan"], "sha256": "...", "created": "..."}]

A key is 256 random bits, so a plain SHA-256 keeps it: there is nothing to guess, and a slow hash would only slow
requests down. Two keys of one name may live at once, so a key is changed without a gap. A changed file is read
again.
"""

from __future__ import annotations

import hashlib
import hmac
import json
import os
import re
import secrets
import time
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from troubleshoot.errors import UsageError

SCOPES = ("scan", "read", "admin")
KEY = re.compile(r"ts_([0-9a-f]{8})_([A-Za-z0-9_-]{43})")
LOOK_S = 1.0  # between looks at the file: a key taken away works no longer than this
NOBODY = hashlib.sha256(b"").hexdigest()  # compared with when no key has the id, so that both take the same time


@dataclass(frozen=True, slots=True)
class ApiKey:
    """A key as it is kept: everything but the key."""

    id: str
    name: str
    scopes: tuple[str, ...]
    sha256: str
    created: str
    expires: str | None = None

    def may(self, scope: str) -> bool:
        return scope in self.scopes or "admin" in self.scopes

    def is_expired(self, now: datetime) -> bool:
        return self.expires is not None and datetime.fromisoformat(self.expires) <= now

    def as_json(self) -> dict[str, Any]:
        return {
            "id": self.id,
            "name": self.name,
            "scopes": list(self.scopes),
            "sha256": self.sha256,
            "created": self.created,
            "expires": self.expires,
        }


def new_key(name: str, scopes: Sequence[str], days: int | None = None) -> tuple[str, ApiKey]:
    """Return a new key as its user will send it, and what is kept of it."""
    unknown = [each for each in scopes if each not in SCOPES]
    if unknown or not scopes:
        raise UsageError(f"no such scope: {', '.join(unknown) or 'none given'}", help=f"scopes: {', '.join(SCOPES)}")
    secret = f"ts_{secrets.token_hex(4)}_{secrets.token_urlsafe(32)}"
    now = datetime.now(UTC).replace(microsecond=0)
    expires = None if days is None else (now + timedelta(days=days)).isoformat()
    return secret, ApiKey(secret[3:11], name, tuple(scopes), _hash(secret), now.isoformat(), expires)


def read_keys(path: Path) -> tuple[ApiKey, ...]:
    """Return the keys of a file. Raises UsageError for a file that cannot be read or is no list of keys."""
    try:
        rows = json.loads(path.read_text(encoding="utf-8"))
        keys = tuple(ApiKey(**{**row, "scopes": tuple(row["scopes"])}) for row in rows)
        for key in keys:
            key.is_expired(datetime.now(UTC))  # a date that is none is told now, not at the first request
    except OSError as error:
        raise UsageError(f"{path}: {error.strerror}", help="make one with `troubleshoot keys new`") from error
    except (ValueError, TypeError, KeyError) as error:
        raise UsageError(f"{path} is not a file of API keys", help="make one with `troubleshoot keys new`") from error
    return keys


def write_keys(path: Path, keys: Iterable[ApiKey]) -> None:
    """Write the file whole or not at all, for its owner's eyes only."""
    text = json.dumps([key.as_json() for key in keys], indent=2) + "\n"
    temporary = path.with_name(f".{path.name}.{secrets.token_hex(4)}")
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    handle = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    with os.fdopen(handle, "w", encoding="utf-8") as stream:
        stream.write(text)
    temporary.replace(path)


class KeyRing:
    """The keys of a file, looked up by what a request brings."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._keys = {key.id: key for key in read_keys(path)}
        self._stamp = self._look()
        self._looked = time.monotonic()

    def find(self, secret: str) -> ApiKey | None:
        """Return the key that this is, or None. Takes as long for a wrong key as for a right one."""
        self._refresh()
        match = KEY.fullmatch(secret)
        key = self._keys.get(match[1]) if match else None
        same = hmac.compare_digest(_hash(secret), key.sha256 if key else NOBODY)
        return key if key is not None and same and not key.is_expired(datetime.now(UTC)) else None

    def _refresh(self) -> None:
        now = time.monotonic()
        if now - self._looked < LOOK_S:
            return
        self._looked = now
        stamp = self._look()
        if stamp != self._stamp:
            try:
                self._keys = {key.id: key for key in read_keys(self._path)}
            except UsageError:
                return  # half written by another hand; the keys that were good stay, and we look again
            self._stamp = stamp

    def _look(self) -> tuple[int, int] | None:
        try:
            stat = self._path.stat()
        except OSError:
            return None
        return stat.st_mtime_ns, stat.st_size


def _hash(secret: str) -> str:
    return hashlib.sha256(secret.encode("utf-8", "surrogateescape")).hexdigest()
