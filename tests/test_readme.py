"""What the READMEs show is what the program prints, and what they tell to type can be typed."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator
from pathlib import Path

import click
import pytest
from click.testing import CliRunner

from troubleshoot.cli.app import COMMON_FLAGS, cli, route

ROOT = Path(__file__).parents[1]
READMES = (
    "README.md",
    "rules/README.md",
    "corpus/README.md",
    "troubleshoot/deploy/README.md",
    "troubleshoot/hooks/README.md",
)
LEASE = (
    "2026-11-30 20:13:55,123 INFO starting training on 2 nodes\n"
    "2026-11-30 20:13:56,201 INFO rank 0 of 16 on gpu-node-3\n"
    "2026-11-30 20:14:01,884 INFO step 1 loss 11.2\n"
    "2026-11-30 20:14:03,884 INFO step 2 loss 10.9\n"
    "2026-11-30 20:15:04,010 ERROR lease of /fsx/shards/00017.tar is held by gpu-node-9 since 4012 s, giving up\n"
    "2026-11-30 20:15:04,011 ERROR lease of /fsx/shards/00021.tar is held by gpu-node-9 since 4011 s, giving up\n"
    "slurmstepd: error: *** JOB 4711 ON gpu-node-3 CANCELLED AT 2026-11-30T20:15:14 DUE TO TIME LIMIT ***\n"
)
OTHER = (
    "2026-11-30 20:14:01 step\n" * 30
    + "2026-11-30 20:14:02 lease of /fsx/shards/00017.tar is hold by gpu-node-9 since 2 s\n"
)


def blocks(readme: str) -> Iterator[list[str]]:
    """Yield the indented blocks of a README, without their indent."""
    text = (ROOT / readme).read_text("utf-8")
    for block in re.findall(r"(?m)(?:^(?: {4}.*)?\n)*^ {4}.*\n", text):
        lines = [line[4:] for line in block.split("\n")]
        while lines and not lines[0]:
            lines.pop(0)
        yield lines


def shows(wanted: list[str], printed: str) -> str | None:
    """Return the first of the wanted lines that was not printed in its place; `...` stands for any lines."""
    lines = printed.split("\n")
    at, may_skip = 0, True  # what is shown may begin in the middle
    for line in wanted:
        if line.strip() == "...":
            may_skip = True
            continue
        found = next((n for n in range(at, len(lines)) if lines[n].rstrip() == line.rstrip()), None)
        if found is None or (found > at and not may_skip):
            return line
        at, may_skip = found + 1, False
    return None


def run(*arguments: str) -> str:
    return CliRunner().invoke(cli, arguments).stdout


def test_the_demo_prints_what_the_readme_shows(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(ROOT)
    sample = re.search(r"corpus/\S+\.log", (ROOT / ".ci/demo").read_text())
    assert sample is not None
    (shown,) = [block for block in blocks("README.md") if "Evidence" in block]
    printed = run(sample[0])
    assert shows([line for line in shown if line], "\n".join(filter(None, printed.split("\n")))) is None


def test_the_ten_minutes_print_what_the_readme_shows(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("job.log").write_text(LEASE)
    Path("other.log").write_text(OTHER)
    rule = Path("my-rules/storage/lease-held.yaml")
    tried = 0
    for first, *shown in blocks("rules/README.md"):
        if not first.startswith("$ troubleshoot "):
            continue
        text = rule.read_text() if rule.exists() else ""
        if " rules check " in first:
            rule.write_text(re.sub("severity: high.*", "severity: hihg", text))
        printed = run(*(each for each in shlex.split(first)[2:] if each != "--watch"))
        assert shows(shown, printed) is None, (first, printed)
        if " rules check " in first:
            rule.write_text(text)
        tried += 1
    assert tried == 5
    rule.write_text(rule.read_text().replace("status: draft", "status: stable"))
    assert "storage/lease-held" in run("job.log", "--rules", "my-rules")


def commands(readme: str) -> Iterator[str]:
    """Yield what a README tells to type, from the word `troubleshoot` to the end of its code."""
    text = (ROOT / readme).read_text("utf-8")
    code = [*re.findall(r"`([^`\n]+)`", text.replace("\\|", "|")), *re.findall(r"(?m)^(?: {4}|\$ )(.+)$", text)]
    for each in code:
        for found in re.finditer(r"(?:^|[|$] ?|&& )troubleshoot ([^|>&#]*)", each):
            yield found[1].split(" #")[0].strip()


@pytest.mark.parametrize("readme", READMES)
def test_what_a_readme_tells_to_type_has_only_options_that_there_are(readme: str) -> None:
    wrong = [each for each in commands(readme) if not is_known(shlex.split(each.replace("'", "").replace("...", "")))]
    assert wrong == []


def test_readmes_tell_to_type_something() -> None:
    assert sum(1 for readme in READMES for _ in commands(readme)) > 30


def is_known(arguments: list[str]) -> bool:
    command: click.Command = cli
    context = click.Context(cli)
    rest = route(arguments, is_terminal=False)
    while isinstance(command, click.Group) and rest and not rest[0].startswith("-"):
        found = command.get_command(context, rest.pop(0))
        if found is None:
            return False
        command = found
    options = {name for each in command.params for name in (*each.opts, *each.secondary_opts)} | {"--help", "-h"}
    options |= {"--version", *COMMON_FLAGS} if command is cli else set()
    return all(each.partition("=")[0] in options for each in rest if each.startswith("-") and each != "-")
