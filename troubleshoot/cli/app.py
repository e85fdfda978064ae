"""The top of the command line: which command is meant, with which settings, and what becomes of errors.

`troubleshoot PATH` is `troubleshoot scan PATH`, so a first word that names no command is a path; a path that is named
like a command is written `./rules`. A command's module loads when it is called.
"""

from __future__ import annotations

import importlib
import os
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import click

from troubleshoot.cli import failing
from troubleshoot.cli.options import is_stdin_terminal
from troubleshoot.cli.output import flush
from troubleshoot.config import Settings, load_settings

PROGRAM = "troubleshoot"
COMMANDS = {  # name -> where its click command is
    "scan": "scan:scan",
    "postmortem": "postmortem:postmortem",
    "why": "why:why",
    "collect": "collect:collect_command",
    "corpus": "corpus:corpus",
    "rules": "rules:rules",
    "serve": "serve:serve",
    "keys": "keys:keys",
    "mcp": "mcp:mcp",
    "config": "settings:config",
    "completion": "completion:completion",
}
GROUPS = ("corpus", "rules", "keys", "config")  # whose commands take the options, and not they themselves
COMMON_FLAGS = ("--debug", "--isolated", "--no-pager", "--quiet", "-q")
COMMON_VALUES = ("--config", "--color")  # options that any command takes and that may stand before it
PACK_KEYS = ("rules", "default-rules", "drafts", "color", "quiet")
SCAN_KEYS = (
    *PACK_KEYS,
    *("format", "fail-on", "on", "select", "ignore", "min-severity", "min-confidence", "max-findings"),
    *("explain-sources", "lang", "anonymize"),
)
POSTMORTEM_KEYS = (*PACK_KEYS, "format", "fail-on", "on", "lang", "anonymize")
SERVE_KEYS = (
    *PACK_KEYS,
    *("lang", "host", "port", "workers", "max-bytes", "keys", "insecure", "rate", "store", "keep-days", "history-days"),
    *("keep-logs", "slack", "mcp", "scan-processes", "scan-seconds", "scan-mb"),
)

EXAMPLES = """\
  troubleshoot job.log                    one log
  troubleshoot logs/ launcher.log.gz      a folder and an archive, taken together as one job
  kubectl logs pod-0 | troubleshoot       standard input
  troubleshoot postmortem logs/ -f html   a failed job: who failed first, whom it reached
  troubleshoot rules list                 what is known
  troubleshoot why RULE job.log           why a rule did or did not fire"""

EXIT_CODES = """\
  0  it ran, whatever it found      1  what --fail-on names was found      2  it could not run"""


class CommandLine(click.Group):
    """The group of all commands, with `scan` as the one that is meant when none is named."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in COMMANDS:
            return None
        module, _, name = COMMANDS[cmd_name].partition(":")
        command: click.Command = getattr(importlib.import_module(f"troubleshoot.cli.{module}"), name)
        return command

    def make_context(
        self, info_name: str | None, args: list[str], parent: click.Context | None = None, **extra: Any
    ) -> click.Context:
        settings = load_settings(
            Path.cwd(), os.environ, config=_config_in(args), isolated="--isolated" in _before_dashes(args)
        )
        extra.setdefault("obj", settings)
        extra.setdefault("default_map", default_map(settings))
        return super().make_context(info_name, route(args, is_stdin_terminal()), parent, **extra)

    def main(self, args: Sequence[str] | None = None, *_: Any, **extra: Any) -> Any:
        """Run and exit. Every way in ends here, so the exit codes hold everywhere."""
        given = list(sys.argv[1:] if args is None else args)
        with failing.guard(debug="--debug" in _before_dashes(given)) as outcome:
            outcome.code = super().main(given, **{**extra, "prog_name": PROGRAM, "standalone_mode": False}) or 0
            flush()
        sys.exit(outcome.code)

    def format_help(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the help of the program: that of `scan`, which is what most people want, and the commands."""
        scan = self.get_command(ctx, "scan")
        assert scan is not None, "scan is in COMMANDS"
        formatter.write_usage(PROGRAM, "[OPTIONS] [PATH]...")
        formatter.write_usage(PROGRAM, "COMMAND ...", prefix="       ")
        self.format_help_text(ctx, formatter)
        _write_literally(formatter, "Examples", EXAMPLES)
        scan.format_options(click.Context(scan, info_name="scan"), formatter)
        self.format_commands(ctx, formatter)
        _write_literally(formatter, "Exit codes", EXIT_CODES)


def route(args: Sequence[str], is_terminal: bool) -> list[str]:
    """Return the arguments with the command in front that they mean."""
    if not args:
        return ["--help"] if is_terminal else ["scan"]
    if args[0] in ("--help", "-h", "--version"):
        return list(args)
    at = _end_of_common(args)
    if at < len(args) and args[at] in COMMANDS:
        name, rest = args[at], args[at + 1 :]
        if name not in GROUPS:
            return [name, *args[:at], *rest]
        return [name, rest[0], *args[:at], *rest[1:]] if rest and not rest[0].startswith("-") else [name, *rest]
    return ["scan", *args]


def _end_of_common(args: Sequence[str]) -> int:
    at = 0
    while at < len(args):
        if args[at] in COMMON_FLAGS or args[at].startswith(tuple(f"{each}=" for each in COMMON_VALUES)):
            at += 1
        elif args[at] in COMMON_VALUES:
            at += 2
        else:
            break
    return at


def default_map(settings: Settings) -> dict[str, Any]:
    """Return the settings as click takes them: per command, by the names of its parameters."""

    def of(keys: Sequence[str]) -> dict[str, Any]:
        return {key.replace("-", "_"): settings[key].value for key in keys if key in settings}

    pack = of(PACK_KEYS)
    of_rules = ("list", "show", "check", "test", "suggest", "schema", "new", "docs", "packs", "stats")
    rules = dict.fromkeys(of_rules, pack)
    for name in ("list", "show"):
        rules[name] = {**pack, **of(("lang",))}
    return {
        "scan": of(SCAN_KEYS),
        "postmortem": of(POSTMORTEM_KEYS),
        "why": pack,
        "serve": of(SERVE_KEYS),
        "keys": dict.fromkeys(
            ("new", "list", "revoke"), {"file": settings["keys"].value} if "keys" in settings else {}
        ),
        "rules": rules,
        "config": {"show": pack},
    }


def _before_dashes(args: Sequence[str]) -> Sequence[str]:
    return args[: args.index("--")] if "--" in args else args


def _config_in(args: Sequence[str]) -> Path | None:
    """Return the file that --config names. It is needed before click reads the arguments it gives defaults for."""
    options = _before_dashes(args)
    for index, arg in enumerate(options):
        if arg.startswith("--config="):
            return Path(arg.partition("=")[2])
        if arg == "--config" and index + 1 < len(options):
            return Path(options[index + 1])
    return None


def _write_literally(formatter: click.HelpFormatter, title: str, text: str) -> None:
    formatter.write_paragraph()
    formatter.write(f"{title}:\n{text}\n")


def _print_version(ctx: click.Context, _param: click.Parameter, is_wanted: bool) -> None:
    if not is_wanted or ctx.resilient_parsing:
        return
    import platform

    from troubleshoot import __version__
    from troubleshoot.rulepack.load import load_pack

    pack = load_pack()
    click.echo(
        f"{PROGRAM} {__version__}, rules {pack.version} ({len(pack.rules)}, {pack.hash[:12]}), "
        f"Python {platform.python_version()}"
    )
    ctx.exit()


@click.command(cls=CommandLine, context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100})
@click.option(
    "--version",
    is_flag=True,
    expose_value=False,
    is_eager=True,
    callback=_print_version,
    help="Print the versions of program, rules and Python.",
)
def cli() -> None:
    """Find the known fault in the log of a failed distributed training job, with its evidence and its fix.

    PATH is a file, folder, archive or glob, or - for standard input. Several are taken together as one job.
    """
