"""What becomes of an error: one line that says what is wrong, one that helps, and the exit code. No traceback unless
`--debug`; a closed pipe is nobody's error."""

from __future__ import annotations

import os
import sys
import traceback
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

import click
from click.core import ParameterSource

from troubleshoot.config import Settings
from troubleshoot.errors import TroubleshootError
from troubleshoot.report.printable import visible

FOUND, COULD_NOT_RUN, INTERRUPTED, CLOSED_PIPE = 1, 2, 130, 141
PROBLEMS_SHOWN = 20


@dataclass
class Outcome:
    """The exit code that a run comes to."""

    code: int = 0


@contextmanager
def guard(*, debug: bool) -> Iterator[Outcome]:
    """Turn whatever is raised inside into a message on standard error and an exit code in the yielded outcome."""
    outcome = Outcome()
    try:
        yield outcome
    except BrokenPipeError:
        _let_go_of_stdout()
        outcome.code = CLOSED_PIPE
    except (KeyboardInterrupt, click.Abort):
        say("interrupted")
        outcome.code = INTERRUPTED
    except SystemExit as error:
        # click exits with 1 on a closed pipe, and so does nothing else here
        if error.code == 1:
            _let_go_of_stdout()
        outcome.code = CLOSED_PIPE if error.code == 1 else int(error.code or 0)
    except click.ClickException as error:
        _tell(_message_of(error), _help_of(error))
        outcome.code = COULD_NOT_RUN
    except TroubleshootError as error:
        for problem in error.problems[:PROBLEMS_SHOWN]:
            say(str(problem))
        _tell(error.text, error.help)
        outcome.code = error.exit_code
    except MemoryError:
        _tell("out of memory", "scan fewer sources at a time")
        outcome.code = COULD_NOT_RUN
    except OSError as error:
        _trace(debug)
        _tell(f"{error.filename or 'input or output'}: {error.strerror or error}", "")
        outcome.code = COULD_NOT_RUN
    except Exception as error:  # a bug of ours: said in one line, and shown whole with --debug
        _trace(debug)
        _tell(
            f"internal error: {type(error).__name__}: {error}", "" if debug else "--debug shows where; please report it"
        )
        outcome.code = COULD_NOT_RUN


def say(text: str) -> None:
    """Print to standard error what a log, file name or rule may have had a part in, made safe."""
    if sys.stderr is not None:  # closed by the caller; print would take standard output instead
        print(visible(text), file=sys.stderr)


def _tell(text: str, help: str) -> None:
    say(f"error: {text}" + (f"\nhelp: {help}" if help else ""))


def _trace(debug: bool) -> None:
    if debug:
        traceback.print_exc()


def _message_of(error: click.ClickException) -> str:
    text = error.format_message().rstrip(".")
    text = text[:1].lower() + text[1:]
    if not isinstance(error, click.BadParameter) or error.ctx is None or error.param is None:
        return text
    name = error.param.name or ""
    settings: Settings = error.ctx.obj or {}
    setting = settings.get(name.replace("_", "-"))
    if setting and error.ctx.get_parameter_source(name) is ParameterSource.DEFAULT_MAP:
        return f"{text} (set by {setting.origin})"
    return text


def _help_of(error: click.ClickException) -> str:
    if isinstance(error, click.UsageError) and (name := _file_like_an_option()):
        return f"a file of that name is given as ./{name}"
    if isinstance(error, click.UsageError) and error.ctx is not None:
        return f"{error.ctx.command_path} --help"
    return ""


def _file_like_an_option() -> str:
    """Return the argument that reads as an option and names a file, or nothing."""
    return next((each for each in sys.argv[1:] if each[:1] == "-" != each and os.path.exists(each)), "")  # noqa: PTH110


def _let_go_of_stdout() -> None:
    """Point standard output at nothing, so that the interpreter's own flush at its end stays quiet."""
    try:
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, sys.stdout.fileno())
    except (OSError, ValueError, AttributeError):  # no real file behind it, as in a test
        pass
