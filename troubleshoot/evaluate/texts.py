"""A rule's texts with captures set in: `GLIBC_{needed}` becomes `GLIBC_2.34`.

`{{name}}` stands for `{name}`. A name that is nobody's stays as written, so shell and Go templates pass through.

Prose and commands differ. In prose a capture that this log did not give reads `?`, and a title goes without the part
at its end, after a colon or in brackets (Chinese ones too), that would hold one. A command is there to be copied into
a shell, and captures come from a log that anybody may have written: there a value is set in only if it is one plain
word that no shell can take for more; otherwise the placeholder stays, to be filled in by hand.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping
from dataclasses import replace

from troubleshoot import late, limits
from troubleshoot.model import Fix

_FIELD = late.compile(r"\{\{(?P<doubled>[a-z_][a-z0-9_]*)\}\}|\{(?P<name>[A-Za-z_]\w*)\}", re.ASCII)
_CLOSING_PART = late.compile(r"(?:: |：| \((?=[^()]*\)\Z)|（(?=[^（）]*）\Z))(?P<part>[^:：]*)\Z")
_PLAIN_WORD = late.compile(r"(?!-\D|[~=])[\w./:@%+=,~-]{1,400}\Z", re.ASCII)
_BLANKS = late.compile(r"\s+")
_RANKS = late.compile(r"[\d,-]{1,400}\Z", re.ASCII)

COMMAND_PLATFORMS = frozenset({"shell", "docker", "kubernetes", "runai-cli", "slurm", "mpirun", "torchrun"})


class Texts:
    """Renders templates with one finding's captures. `known` are the names that the rule could have captured."""

    def __init__(self, captures: Mapping[str, str], known: Collection[str] = ()) -> None:
        self._captures = captures
        self._known = known

    def prose(self, template: str) -> str:
        """Return the text for a reader; a long capture is cut, line breaks within one become blanks."""
        return _FIELD.sub(self._in_prose, template)

    def title(self, template: str) -> str:
        """Return the text for a headline, without a closing part of which something is unknown."""
        closing = _CLOSING_PART.search(template)
        names = (field["name"] for field in _FIELD.finditer(closing["part"])) if closing is not None else ()
        if closing is not None and any(name in self._known and name not in self._captures for name in names):
            template = template[: closing.start()]
        return self.prose(template)

    def command(self, template: str) -> str:
        """Return the text for a shell; only plain words are set in."""
        return _FIELD.sub(self._in_command, template)

    def fix(self, fix: Fix) -> Fix:
        verify = fix.verify
        if verify is not None:
            verify = replace(verify, run=self.command(verify.run), expect=self.prose(verify.expect))
        variants = {
            platform: self.command(text) if platform in COMMAND_PLATFORMS else self.prose(text)
            for platform, text in fix.variants.items()
        }
        return replace(
            fix,
            title=self.prose(fix.title),
            do=self.prose(fix.do),
            run=tuple(self.command(each) for each in fix.run),
            variants=variants,
            verify=verify,
        )

    def _in_prose(self, field: re.Match[str]) -> str:
        if field["doubled"] is not None:
            return "{" + field["doubled"] + "}"
        value = self._captures.get(field["name"])
        if value is None:
            return "?" if field["name"] in self._known else field[0]
        value = _BLANKS.sub(" ", value).strip()
        return value if len(value) <= limits.CAPTURE_CHARS else value[: limits.CAPTURE_CHARS - 3] + "..."

    def _in_command(self, field: re.Match[str]) -> str:
        if field["doubled"] is not None:
            return "{" + field["doubled"] + "}"
        value = self._captures.get(field["name"], "").strip()
        return value if _PLAIN_WORD.match(value) else field[0]
