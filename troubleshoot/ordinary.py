"""What healthy jobs print: a set of templates, to tell noise from news.

`ordinary.txt` holds a hash of each template of the corpus's healthy logs, made by `python benchmarks/ordinary.py`: what
a job that went well has printed is no sign of a fault. Hashes, because nobody needs the lines back.
"""

from __future__ import annotations

import functools
import hashlib
from collections.abc import Iterable
from importlib import resources

from troubleshoot.ingest.lines import lines_of
from troubleshoot.ingest.sources import OpenSource
from troubleshoot.suspects import template_of

TABLE = "ordinary.txt"


def hash_of(template: str) -> str:
    return hashlib.blake2b(template.encode("utf-8", "replace"), digest_size=6).hexdigest()


@functools.cache
def ordinary_templates() -> frozenset[str]:
    """Return the hashes of what the healthy logs of the corpus hold."""
    text = resources.files("troubleshoot").joinpath(TABLE).read_text("ascii")
    return frozenset(line for line in text.splitlines() if not line.startswith("#"))


def templates_in(sources: Iterable[OpenSource]) -> set[str]:
    """Return the hashes of all lines of logs."""
    found: set[str] = set()
    for opened in sources:
        for block in opened.blocks():
            for number, raw in lines_of(block):
                text = opened.normaliser.peel(raw.decode("utf-8", "replace"), number).text
                found.add(hash_of(template_of(text)))
    return found
