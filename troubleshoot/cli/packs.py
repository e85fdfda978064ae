"""`troubleshoot rules import|pull|packs`: bring other people's rules, and see which packs are in use."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from troubleshoot.cli.options import common_options, pack_options
from troubleshoot.cli.output import emit
from troubleshoot.report.printable import one_line, visible

if TYPE_CHECKING:
    from troubleshoot.importers import Bench, Foreign, Imported

FORMAT = click.option(
    "-f", "--format", "format", type=click.Choice(["text", "json"]), default="text", show_default=True
)
SHORT = 20  # rules that fall short and are told of by name
REFERENCE_LINES = 40_000  # 5 MB: a word on one line of ten thousand shows


# --- import ----------------------------------------------------------------------------------------------------------


@click.command("import", short_help="Turn rules of another format into rules of ours.")
@click.argument("foreign", metavar="FORMAT")
@click.argument("path", type=click.Path(path_type=Path))
@click.option(
    "-o", "--output", required=True, type=click.Path(file_okay=False, path_type=Path), help="Folder for the rules."
)
@FORMAT
@common_options
def import_rules(foreign: str, path: Path, output: Path, format: str, color: str, quiet: bool) -> None:
    """Turn rules of another format into rules of ours, in a folder that --rules takes.

    FORMAT is `cre` (prequel's CRE rules: a file, or a folder such as rules/ of prequel-dev/cre) or `pytorch-ci` (the
    ruleset.toml of PyTorch's log classifier). Each rule is tried on the logs that come with it.
    """
    from troubleshoot.importers import read_foreign, write_pack

    read = read_foreign(foreign, path)
    imported = write_pack(read, output, bench())
    if format == "json":
        from troubleshoot.report.json import dump

        emit(dump(import_document(read, imported, output), indent=2) + "\n", for_people=False)
        return
    emit(visible("\n".join(_import_lines(read, imported, output)) + "\n"))


def bench() -> Bench:
    """Return what it takes to try imported rules: by themselves, without the shipped ones."""
    from troubleshoot.engine import Engine
    from troubleshoot.importers import Bench
    from troubleshoot.rulepack.load import load_pack
    from troubleshoot.scan.planner import unsearchable

    return Bench(
        load=lambda folder: load_pack([folder], default_rules=False, drafts=True, cache=False, overrides=None),
        scanner=lambda pack: Engine(pack).scan_texts,
        why_slow=lambda pattern: next((reason for _, reason in unsearchable([pattern])), None),
    )


def import_document(read: Foreign, imported: Iterable[Imported], output: Path) -> dict[str, Any]:
    """Return what an import came to, as JSON-ready values."""
    imported = list(imported)
    return {
        "format": read.name,
        "output": str(output),
        "rules": len(imported),
        "loaded": sum(each.loaded for each in imported),
        "logs": sum(each.detected is not None for each in imported),
        "detected": sum(each.detected is True for each in imported),
        "near_misses": sum(each.silent is not None for each in imported),
        "silent": sum(each.silent is True for each in imported),
        "short": [
            {"rule": each.rule.id, "origin": each.rule.origin, "why": why}
            for each in imported
            if (why := shortfall(each))
        ],
        "refused": [{"origin": each.origin, "path": each.path, "why": each.why} for each in read.refused],
        "differences": [*read.differences],
        "remarks": {each.rule.id: list(each.rule.remarks) for each in imported if each.rule.remarks},
    }


def shortfall(imported: Imported) -> str:
    """Return in what an imported rule falls short of the one it was made from, or nothing."""
    if not imported.loaded:
        return "does not load: " + "; ".join(imported.problems or ("no reason told",))
    wrong = [note for note in imported.notes if note.startswith(("it fires", "it does not fire"))]
    return "; ".join(wrong)


def _import_lines(read: Foreign, imported: list[Imported], output: Path) -> Iterable[str]:
    told = import_document(read, imported, output)
    yield f"{told['loaded']} of {told['rules'] + len(read.refused)} rules of {read.title} are in {output} and load."
    if told["logs"]:
        yield (
            f"{told['detected']} of {told['logs']} are found in the log that came with them, "
            f"{told['silent']} of {told['near_misses']} silent on their near-miss."
        )
    for each in told["short"][:SHORT]:
        yield f"  {each['origin']}: {one_line(each['why'])}"
    if len(told["short"]) > SHORT:
        yield f"  and {len(told['short']) - SHORT} more (--format json names them)"
    for refusal in read.refused[:SHORT]:
        yield f"  not taken over: {refusal.origin} ({refusal.path}): {one_line(refusal.why)}"
    yield "What differs for all of them:"
    yield from (f"- {difference}" for difference in read.differences)
    remarks: dict[str, list[str]] = {}
    for one in imported:
        for remark in one.rule.remarks:
            remarks.setdefault(remark, []).append(one.rule.origin)
    if remarks:
        yield "And for some:"
    for remark, origins in remarks.items():
        yield f"- {one_line(remark)}: {', '.join(origins[:4])}" + (
            f" and {len(origins) - 4} more" if origins[4:] else ""
        )
    yield f"Use them: troubleshoot --rules {output} [--no-default-rules] LOG"


# --- pull and packs --------------------------------------------------------------------------------------------------


@click.command(short_help="Fetch a pack, verified, into your own packs.")
@click.argument("source", metavar="URL|ARCHIVE")
@click.option("--digest", metavar="sha256:...", help="The archive's digest. Nothing is unpacked without it.")
@click.option("--commit", metavar="HASH", help="Of a git URL: the full hash of the commit to take.")
@click.option(
    "--signature", type=click.Path(path_type=Path), metavar="FILE", help="The archive's signature (ssh-keygen -Y sign)."
)
@click.option(
    "--key",
    type=click.Path(path_type=Path),
    metavar="FILE",
    help="Who must have signed the archive or the commit: an SSH public key, or a file of allowed signers.",
)
@click.option("--name", metavar="NAME", help="What to call a pack that has no pack.yaml.")
@click.option("--subdir", metavar="DIR", help="Where in the archive or repository the pack lies.")
@click.option("--into", type=click.Path(file_okay=False, path_type=Path), metavar="DIR", help="Where packs are kept.")
@FORMAT
@common_options
def pull(source: str, format: str, color: str, quiet: bool, **options: Any) -> None:
    """Fetch a pack from a git URL (with --commit) or an archive (with --digest), verify it, and keep it.

    Afterwards `--rules NAME` uses it. Nothing of a pack is ever run, and only its rule files and texts are kept.
    """
    from troubleshoot.rulepack.pull import pull as pull_pack

    pulled = pull_pack(source, **options)
    if format == "json":
        from troubleshoot.report.json import dump

        row = {
            "name": pulled.name,
            "version": pulled.version or None,
            "path": str(pulled.path),
            "rules": pulled.rules,
            "pin": pulled.pin,
            "signer": pulled.signer or None,
            "problems": [str(each) for each in pulled.problems],
        }
        emit(dump(row, indent=2) + "\n", for_people=False)
        return
    version = f" {pulled.version}" if pulled.version else ""
    signed = f", signed by {pulled.signer}" if pulled.signer else ""
    lines = [f"Pack {pulled.name}{version}: {pulled.rules} rules in {pulled.path}", f"Pinned to {pulled.pin}{signed}."]
    lines += [str(each) for each in pulled.problems[:SHORT]]
    use = f"--rules {pulled.name}" if options["into"] is None else f"--rules {pulled.path}"
    lines.append(f"Use it: troubleshoot {use} LOG, or `rules` in config.toml")
    emit(visible("\n".join(lines) + "\n"))


@click.command(short_help="Show the packs in use, and what stands in for what.")
@FORMAT
@pack_options
@common_options
def packs(format: str, rules: tuple[str, ...], default_rules: bool, drafts: bool, color: str, quiet: bool) -> None:
    """Show the packs in use, lowest first, with what is wrong with them and which rules stand in for others."""
    from troubleshoot.rulepack.load import load_pack
    from troubleshoot.rulepack.overrides import active_file
    from troubleshoot.rulepack.pull import receipt_of

    pack = load_pack(rules, drafts=drafts, default_rules=default_rules)
    overrides = active_file()
    if format == "json":
        from troubleshoot.report.json import dump

        rows = [
            {
                "name": part.name,
                "version": part.version or None,
                "path": part.path,
                "rules": part.rules,
                "min_engine": part.min_engine or None,
                "left_out": part.left_out or None,
                "pulled": dict(receipt_of(Path(part.path))) or None,
            }
            for part in pack.parts
        ]
        told = {"packs": rows, "overrides": str(overrides) if overrides else None}
        emit(dump({**told, "problems": [str(each) for each in pack.problems]}, indent=2) + "\n", for_people=False)
        return
    width = max((len(part.name) for part in pack.parts), default=0)
    lines = []
    for part in pack.parts:
        origin = receipt_of(Path(part.path)).get("source")
        state = f"left out: {part.left_out}" if part.left_out else f"{part.rules} rules"
        lines.append(
            f"{part.name:<{width}}  {part.version or '-':<8}  {state}  {part.path}"
            + (f"  from {origin}" if origin else "")
        )
    if overrides is not None:
        lines.append(f"Overrides: {overrides}")
    lines += ["", *(f"{each}\n" for each in pack.problems)] if pack.problems else []
    emit(visible("\n".join(lines).rstrip("\n") + "\n"))


# --- stats -----------------------------------------------------------------------------------------------------------


@click.command(short_help="What each rule costs, covers and leans on.")
@click.argument("logs", nargs=-1, metavar="[LOG]...")
@click.option(
    "--corpus",
    type=click.Path(file_okay=False, path_type=Path),
    metavar="DIR",
    help="Incidents with known answers. Default: corpus/ beside the shipped rules, if it is there.",
)
@click.option("--top", type=click.IntRange(1), default=20, show_default=True, help="So many rules are shown as text.")
@FORMAT
@pack_options
@common_options
def stats(
    logs: tuple[str, ...],
    corpus: Path | None,
    top: int,
    format: str,
    rules: tuple[str, ...],
    default_rules: bool,
    drafts: bool,
    color: str,
    quiet: bool,
) -> None:
    """Show the quality of the rules as numbers, the most expensive first.

    What each signature costs on LOG, an ordinary log of a healthy job: lines that the search suspects, those in vain,
    time to confirm. Which incidents of a corpus a rule fires in, and what fires beside it. How old it and its sources
    are. Without LOG a reference log is made where the source tree is at hand; elsewhere the costs are estimates.
    """
    from troubleshoot import measure
    from troubleshoot.engine import Engine
    from troubleshoot.ingest.sources import open_sources, open_text
    from troubleshoot.rulepack.files import default_rules_dir
    from troubleshoot.rulepack.load import load_pack
    from troubleshoot.rulepack.stats import build_stats
    from troubleshoot.rulepack.stats_ages import last_changes
    from troubleshoot.rulepack.stats_report import stats_document, stats_lines

    pack = load_pack(rules, drafts=drafts, default_rules=default_rules)
    engine = Engine(pack)
    reference = None if logs else measure.reference_log(REFERENCE_LINES)
    if logs or reference:
        sources = open_sources(logs) if logs else [open_text(reference or b"", "the reference log")]
        costs, size = measure.measure_patterns(pack, sources)
    else:
        costs, size = measure.estimate_patterns(pack), 0
    folder = corpus or default_rules_dir().parent / "corpus"
    coverage, seen = measure.measure_corpus(engine, folder) if folder.is_dir() else (None, {})
    for id, names in measure.seen_in_examples(engine).items():
        seen.setdefault(id, set()).update(names)
    told = build_stats(
        pack,
        costs,
        size=size,
        log=", ".join(logs) or "the reference log",
        coverage=coverage,
        seen=seen,
        changed=last_changes(pack),
    )
    if format == "json":
        from troubleshoot.report.json import dump

        emit(dump(stats_document(told), indent=2) + "\n", for_people=False)
        return
    emit(visible("\n".join(stats_lines(told, top)) + "\n"))


COMMANDS = (import_rules, pull, packs, stats)
