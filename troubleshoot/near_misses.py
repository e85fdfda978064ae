"""A new rule's signature -> the lines of other rules' examples that come closest to it.

A near-miss is what an author finds hardest to think of, and the pack knows thousands of lines.
"""

from __future__ import annotations

from troubleshoot.ingest.sources import open_text
from troubleshoot.model import Pattern, RulePack, Signature
from troubleshoot.nearest import Gatherer

MOST = 2
LINE_CHARS = 160


def near_misses(pack: RulePack, text: str) -> list[tuple[str, str]]:
    """Return the lines that match most of a text signature and not all of it, best first, each with its rule's id."""
    signature = Signature("new", (Pattern(-1, "text", text, ""),))
    gatherer = Gatherer([signature])
    for rule in pack.rules.values():
        examples = [text for example in rule.examples if example.expect == "match" for text in example.files.values()]
        opened = open_text("\n".join(examples), rule.id)
        for _block in gatherer.watch(opened, opened.blocks()):
            pass
    near = [each for each in gatherer.nearest(signature) if each.expected and len(each.text) <= LINE_CHARS]
    return [(each.text.strip(), each.source) for each in near[:MOST]]
