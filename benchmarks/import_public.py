"""Imports a public set of rules from a checkout and says how well they run here.

    git clone https://github.com/prequel-dev/cre            python benchmarks/import_public.py cre
    git clone https://github.com/pytorch/test-infra         python benchmarks/import_public.py test-infra

Loaded, detected, false, and for every rule or log that falls short the reason. Of CRE rules each has a `test.log` it
must find and some a `test-fp.log` it must not. PyTorch's fixtures mark the line that its classifier lands on; there the
rules that fire are also compared, log by log, with those whose pattern alone says so. Nothing of a checkout is kept.
"""

from __future__ import annotations

import argparse
import json
import re
import sys
import tempfile
import time
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import regex

from troubleshoot.cli.packs import bench, import_document
from troubleshoot.engine import Engine
from troubleshoot.importers import FORMATS, Foreign, read_foreign, write_pack
from troubleshoot.model import RulePack

MARK, SOURCE = "#=MATCH=# ", "#=SOURCE=#"
# As aws/lambda/log-classifier/src/log.rs prepares a line.
_STAMP = re.compile(r"^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}\.\d{7}Z ")
_ESCAPES = re.compile(r"(?:\x1B[@-Z\\-_]|[\x80-\x9A\x9C-\x9F]|(?:\x1B\[|\x9B)[0-?]*[ -/]*[@-~])")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("checkout", type=Path, nargs="+", help="checkouts of prequel-dev/cre or pytorch/test-infra")
    parser.add_argument("--json", action="store_true", help="print the figures as JSON")
    parser.add_argument("--keep", type=Path, metavar="DIR", help="write the imported packs there")
    options = parser.parse_args()
    told = [measure(checkout, options.keep) for checkout in options.checkout]
    if options.json:
        print(json.dumps(told, indent=2, ensure_ascii=False))
    else:
        for each in told:
            print("\n".join(_lines(each)))
    return 0 if all(not each["short"] and not each["refused"] and not each.get("short_logs") for each in told) else 1


def measure(checkout: Path, keep: Path | None = None) -> dict[str, Any]:
    """Return the figures of one checkout."""
    format, path = _what(checkout)
    with tempfile.TemporaryDirectory(prefix="import-public-") as temporary:
        output = (keep or Path(temporary)) / format
        began = time.monotonic()
        foreign = read_foreign(format, path)
        imported = write_pack(foreign, output, bench())
        told = import_document(foreign, imported, output)
        told["seconds"] = round(time.monotonic() - began, 1)
        told["title"] = foreign.title
        pack = bench().load(output)
        told["problems"] = [str(each) for each in pack.problems]
        if format == "cre":
            told |= _crosswise(foreign, pack)
        else:
            told |= _fixtures(foreign, pack, path)
    return told


def _what(checkout: Path) -> tuple[str, Path]:
    if (checkout / "rules").is_dir() and any(checkout.glob("rules/cre-*")):
        return "cre", checkout / "rules"
    found = next(iter(sorted(checkout.rglob("log-classifier/ruleset.toml"))), None)
    if found is not None:
        return "pytorch-ci", found
    raise SystemExit(f"{checkout}: neither prequel-dev/cre nor pytorch/test-infra; formats: {', '.join(FORMATS)}")


def _crosswise(foreign: Foreign, pack: RulePack) -> dict[str, Any]:
    """Return how often rules fire on the logs of other rules: `event.source` would keep most of them apart there."""
    scan = Engine(pack).scan_texts
    pairs: dict[str, int] = {}
    for rule in foreign.rules:
        for log in rule.logs:
            if log.expect == "match":
                for finding in scan({log.name: log.text}).findings:
                    if finding.rule != rule.id:
                        pairs[finding.rule] = pairs.get(finding.rule, 0) + 1
    broadest = sorted(pairs.items(), key=lambda each: (-each[1], each[0]))[:5]
    return {"crosswise": sum(pairs.values()), "broadest": [f"{rule} on {count}" for rule, count in broadest]}


# --- PyTorch ---------------------------------------------------------------------------------------------------------


def _fixtures(foreign: Foreign, pack: RulePack, ruleset: Path) -> dict[str, Any]:
    """Return how the fixtures come out: the rule that wins there among ours at the line it lands on, and the sets of
    rules that fire."""
    patterns = _reference(foreign, ruleset)
    scan = Engine(pack).scan_texts
    told: dict[str, Any] = {"fixtures": 0, "landed": 0, "missing": 0, "false": 0, "fired": 0, "short_logs": []}
    for file in sorted((ruleset.parent / "fixtures" / "classify").glob("*.txt")):
        lines = [line for line in file.read_text("utf-8").split("\n") if not line.startswith(SOURCE)]
        marked = next((number for number, line in enumerate(lines, 1) if line.startswith(MARK)), None)
        lines = [_unmarked(line) for line in lines]
        there = _fire(patterns, lines)
        found: dict[str, set[int]] = {}
        for finding in scan({file.name: "\n".join(lines)}).findings:
            hits = finding.outcome.hits if finding.outcome is not None else ()
            found.setdefault(finding.rule, set()).update(each.hit.record.line for each in hits)
        told["fixtures"] += 1
        told["fired"] += len(there)
        winner = next(iter(there), None)  # the rules are in the order of the file: the first that fires wins
        landed = marked in found.get(winner, ()) if winner is not None else marked is None and not found
        told["landed"] += landed
        missing, false = set(there) - found.keys(), found.keys() - set(there)
        told["missing"] += len(missing)
        told["false"] += len(false)
        if not landed or missing or false:
            told["short_logs"].append(
                {
                    "log": file.name,
                    "line": marked,
                    "winner": winner,
                    "landed": landed,
                    "missing": sorted(missing),
                    "false": sorted(false),
                }
            )
    return told


def _reference(foreign: Foreign, ruleset: Path) -> dict[str, Any]:
    written = tomllib.loads(ruleset.read_text("utf-8"))["rule"]
    by_name: dict[str, list[str]] = {}
    for rule in foreign.rules:
        by_name.setdefault(rule.origin, []).append(rule.id)
    taken = {name: iter(ids) for name, ids in by_name.items()}
    return {next(taken[each["name"]]): regex.compile(each["pattern"]) for each in written if each["name"] in taken}


def _fire(patterns: dict[str, Any], lines: list[str]) -> dict[str, int]:
    """Return the rules whose pattern is on a line, in the order of the file, with the last such line."""
    clean = [_ESCAPES.sub("", _STAMP.sub("", line)) for line in lines]
    fired = {}
    for rule, pattern in patterns.items():
        last = next((number for number in range(len(clean), 0, -1) if pattern.search(clean[number - 1])), None)
        if last is not None:
            fired[rule] = last
    return fired


def _unmarked(line: str) -> str:
    return line.removeprefix(MARK).replace("‹", "").replace("›", "") if line.startswith(MARK) else line


# --- text ------------------------------------------------------------------------------------------------------------


def _lines(told: dict[str, Any]) -> Iterator[str]:
    yield f"{told['title']} ({told['seconds']} s)"
    yield f"  loaded    {told['loaded']} of {told['rules'] + len(told['refused'])} rules"
    if told["logs"]:
        yield f"  detected  {told['detected']} of {told['logs']} logs that must be found"
        false = told["near_misses"] - told["silent"]
        yield f"  false     {false} of {told['near_misses']} near-misses"
    if "crosswise" in told:
        broadest = ", ".join(told["broadest"])
        yield f"  other rules fire {told['crosswise']} times on logs that are not theirs ({broadest})"
    if "fixtures" in told:
        yield f"  detected  {told['landed']} of {told['fixtures']} fixtures: the winning rule, at the marked line"
        yield f"  of {told['fired']} rules that fire there, {told['missing']} are missing; {told['false']} false ones"
    for each in told["refused"]:
        yield f"  refused   {each['origin']}: {each['why']}"
    for each in told["short"]:
        yield f"  short     {each['origin']}: {each['why']}"
    for each in told.get("short_logs", ()):
        where = (
            "the winning rule is not found at the marked line" if not each["landed"] else "the winning rule is right"
        )
        wrong = [f"missing: {', '.join(each['missing'])}"] * bool(each["missing"])
        wrong += [f"false: {', '.join(each['false'])}"] * bool(each["false"])
        yield f"  short     {each['log']}: {'; '.join([where, *wrong])}"
    for each in told["problems"]:
        yield f"  problem   {each}"
    yield from (f"  differs   {each}" for each in told["differences"])
    for rule, remarks in told["remarks"].items():
        yield from (f"  differs   {rule}: {each}" for each in remarks)


if __name__ == "__main__":
    sys.exit(main())
