"""What the program says: every text that `say` is called with, from the code, the templates and the page's modules."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

from troubleshoot.api.site import RECORDS
from troubleshoot.model import Confidence, Severity
from troubleshoot.report import html, job_words, words
from troubleshoot.rulepack import docs
from troubleshoot.slack import answer, bot

PACKAGE = Path(words.__file__).parent.parent
PAGE = PACKAGE / "api" / "page"
# `say("...")` and `say(a ? "..." : "...")` in a template or a module of the page
_CALL = re.compile(
    r"\b(?:say|sayCount)\(\s*((?:[^()\"'`]|\"(?:[^\"\\]|\\.)*\"|`[^`$]*`)*?)(?:,\s*\{|,\s*\w+=|\))", re.DOTALL
)
_COUNT = re.compile(r"\bcount\([^\"]*\"(\w[\w ]*)\"\)")
_TEXT = re.compile(r"\"((?:[^\"\\]|\\.)*)\"|`([^`$]*)`")


def said_by_the_program() -> set[str]:
    """Return the texts that Python code and the templates of reports say."""
    said = {text for path in PACKAGE.rglob("*.py") for text in _said_in(path)}
    said |= {text for path in (PACKAGE / "report" / "templates").glob("*.html") for text in _said_by_markup(path)}
    tables = (html.TITLES, job_words.KIND_WORDS, words.OWNER_WORDS, words.RETRY_WORDS)
    said |= {text for table in tables for text in table.values()}
    said |= {*docs._HEADS.values(), *(text for pair in docs._FLAT.values() for text in pair)}
    said |= {each.word for each in (*Severity, *Confidence)} | {each.word.upper() for each in Severity}
    said |= {label for _verdict, label in answer.BUTTONS}
    said |= {bot.HELP, "Thank you, noted.", "Thank you. (This service has no store to note it in.)"}
    return said | {"failed", "echoing", "silent", "quiet"}  # the fates of ranks


def said_by_the_pages() -> set[str]:
    """Return the texts that the templates and modules of the pages say."""
    files = (*(PAGE / "templates").glob("*.html"), *(PAGE / "static").rglob("*.js"))
    said = {text for path in files for text in _said_by_markup(path)}
    said |= {f"{{number}} {noun}" for path in files for noun in _COUNT.findall(path.read_text("utf-8"))}
    said |= {text for path in (PAGE.parent).glob("*.py") for text in _missed_in(path)}
    return said | {*RECORDS.values(), *(each.word for each in (*Severity, *Confidence))}


def _missed_in(path: Path) -> Iterator[str]:
    """Yield what pages say of things that are not there: the texts that `site.missing` is called with."""
    for node in ast.walk(ast.parse(path.read_text("utf-8"))):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == "missing":
            yield from (each.value for each in node.args if isinstance(each, ast.Constant))


def _said_in(path: Path) -> Iterator[str]:
    text = path.read_text("utf-8")
    speaks = re.search(r"^from troubleshoot\.language import .*\bsay\b", text, re.M) is not None
    for node in ast.walk(ast.parse(text)):
        if not isinstance(node, ast.Call) or not node.args:
            continue
        name = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
        if (name == "say" and speaks) or name == "_said":
            branches = [node.args[0]]
            if isinstance(node.args[0], ast.IfExp):
                branches = [node.args[0].body, node.args[0].orelse]
            yield from (each.value for each in branches if isinstance(each, ast.Constant))
        elif (
            name == "count"
            and path.parent.name == "report"
            and len(node.args) == 2
            and isinstance(node.args[1], ast.Constant)
        ):
            yield f"{{number}} {node.args[1].value}"


def _said_by_markup(path: Path) -> Iterator[str]:
    text = path.read_text("utf-8")
    for call in _CALL.finditer(text):
        yield from (double or ticks for double, ticks in _TEXT.findall(call[1]))
