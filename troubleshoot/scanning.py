"""The Python front end: one call from a path or a text to a report, over the shipped pack."""

from __future__ import annotations

import functools
import os
from collections.abc import Sequence
from pathlib import Path

from troubleshoot.engine import Engine
from troubleshoot.errors import UsageError
from troubleshoot.language import ENGLISH
from troubleshoot.model import Report


def scan(
    what: str | os.PathLike[str] | bytes,
    *,
    rules: Sequence[str | os.PathLike[str]] = (),
    platform: str | None = None,
    language: str = ENGLISH,
) -> Report:
    """Return the report over a path (file, folder, archive) or a text. `language`: of its texts, as a tag (`zh-CN`).

    A `str` that holds a line break, and `bytes`, are a text; any other `str` is a path and must exist.
    Raises UsageError for a path that does not exist, SourceError when nothing can be read.
    """
    if isinstance(what, bytes) or (isinstance(what, str) and "\n" in what):
        return scan_text(what, rules=rules, platform=platform, language=language)
    path = Path(what)
    if not path.exists():
        raise UsageError(f"no such file or folder: {path}", help="for a text of one line use scan_text()")
    engine = _engine(tuple(os.fspath(folder) for folder in rules))
    return _in_language(engine.scan_paths([path], platform=platform), engine, language)


def scan_text(
    text: str | bytes,
    name: str = "paste",
    *,
    rules: Sequence[str | os.PathLike[str]] = (),
    platform: str | None = None,
    language: str = ENGLISH,
) -> Report:
    """Return the report over a text; `name` stands for it in the evidence."""
    engine = _engine(tuple(os.fspath(folder) for folder in rules))
    return _in_language(engine.scan_text(text, name, platform=platform), engine, language)


def _in_language(report: Report, engine: Engine, language: str) -> Report:
    if language == ENGLISH:
        return report
    from troubleshoot.localise import localise  # English pays for none of it

    return localise(report, engine.pack, language)


@functools.lru_cache(maxsize=8)
def _engine(rules: tuple[str, ...]) -> Engine:
    return Engine.default(rules)
