"""Regular expressions that are compiled when they are first used.

In: what `re.compile` takes. Out: what it returns, as far as its methods go. The wrappers, secrets and documents that
this package knows take 280 expressions, a log shows a few of them, and compiling all took a third of a cold start.

    STAMP = late.compile(r"\\d{4}-\\d\\d-\\d\\d")     costs nothing
    STAMP.match(line)                             compiles it once; from then on as fast as the compiled one
"""

from __future__ import annotations

import re
from typing import Any, AnyStr, cast

_METHODS = ("match", "search", "fullmatch", "finditer", "findall", "sub", "subn", "split", "pattern", "groupindex")


class _Late:
    """An expression that has not been used yet; once it has, the compiled one's methods are its own."""

    def __init__(self, pattern: str | bytes, flags: int | re.RegexFlag) -> None:
        self._asked = pattern, flags

    def __getattr__(self, name: str) -> Any:
        if name not in _METHODS:
            raise AttributeError(name)
        # two threads may both compile it, and both get the same
        compiled: re.Pattern[Any] = re.compile(*cast(Any, self._asked))
        for method in _METHODS:
            setattr(self, method, getattr(compiled, method))
        return getattr(compiled, name)

    def __reduce__(self) -> Any:
        return _Late, self._asked


def compile(pattern: AnyStr, flags: int | re.RegexFlag = 0) -> re.Pattern[AnyStr]:
    """Return the expression, not compiled yet. A mistake in it shows when it is first used: a test compiles all."""
    return cast("re.Pattern[AnyStr]", _Late(pattern, flags))
