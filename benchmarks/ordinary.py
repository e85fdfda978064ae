"""Writes troubleshoot/ordinary.txt from the healthy logs of the corpus: `python benchmarks/ordinary.py`.

`troubleshoot rules suggest` ranks lines low that a job that went well has printed too.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import yaml

from troubleshoot.corpus import NOT_SOURCES
from troubleshoot.ingest.sources import open_sources
from troubleshoot.ordinary import TABLE, templates_in

ROOT = Path(__file__).parent.parent
HEAD = "# hashes of the templates of lines in the healthy logs of corpus/; made by benchmarks/ordinary.py\n"


def healthy_logs() -> Iterator[Path]:
    for expected in sorted((ROOT / "corpus").glob("*/expected.yaml")):
        if yaml.safe_load(expected.read_text("utf-8")).get("healthy"):
            yield from sorted(
                path for path in expected.parent.rglob("*") if path.is_file() and path.name not in NOT_SOURCES
            )


def main() -> None:
    found: set[str] = set()
    logs = 0
    for path in healthy_logs():
        found |= templates_in(open_sources([path]))
        logs += 1
    (ROOT / "troubleshoot" / TABLE).write_text(HEAD + "".join(f"{each}\n" for each in sorted(found)), "ascii")
    print(f"{len(found)} templates of {logs} healthy logs")


if __name__ == "__main__":
    main()
