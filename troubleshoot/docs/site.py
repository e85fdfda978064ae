"""A pack -> a folder of pages that need no server: one per rule, indexes by domain and by symptom, the reference.

In: a pack. Out: files below a folder, which link to one another and to nothing outside but the rules' own references.
The search is a script with its index in a second script, for a page opened from a folder may fetch nothing:

    index.html  rules/efa/not-used.html  domains/efa.html  symptoms.html  reference/codes.html  search-index.js
"""

from __future__ import annotations

import itertools
import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from troubleshoot.docs.reference import kept_pages, title_of
from troubleshoot.docs.render import html_of
from troubleshoot.model import Kind, Rule, RulePack
from troubleshoot.rulepack.docs import rule_page, untold, write_files

if TYPE_CHECKING:
    from jinja2 import Environment

HERE = Path(__file__).parent / "templates"
GOOD_NEWS_WEIGHT = 0.6  # who searches for a line has a fault
REFERENCE_WEIGHT = 0.3
LEAST_LETTERS = 8  # of a text that tells anything
ASSETS = ("site.css", "search.js")
_HOLE = re.compile(r"\{(\w+)(?::\w+)?\}")
_GROUP = re.compile(r"\(\?P<(\w+)>(?:[^()\\]|\\.|\([^()]*\))*\)[+*?]?")


@dataclass(frozen=True, slots=True)
class Page:
    """A page to be written. `path` is relative to the site; it is found by `search` and `seen`, if it has any."""

    path: str
    title: str
    body: str
    search: str = ""
    seen: str = ""  # what programs print, which counts for more
    weight: float = 1.0  # of the page among those found


def build_site(pack: RulePack, folder: Path) -> list[Path]:
    """Write the site below `folder`; return the files written. Raises OSError."""
    from jinja2 import Environment, FileSystemLoader

    templates = Environment(loader=FileSystemLoader(HERE), autoescape=True, trim_blocks=True, lstrip_blocks=True)
    templates.globals["rule_path"] = rule_path
    templates.filters["untold"] = untold
    pages = [*_pages(pack, templates)]
    frame = templates.get_template("site.html")
    files = {page.path: frame.render(page=page, up="../" * page.path.count("/"), pack=pack) for page in pages}
    files |= {name: (HERE / name).read_text("utf-8") for name in ASSETS}
    rows = [[page.path, page.title, page.seen, page.search, page.weight] for page in pages if page.search]
    index = json.dumps(rows, ensure_ascii=False, separators=(",", ":")).replace("</", "<\\/")
    files["search-index.js"] = f"window.SEARCH_INDEX = {index};\n"
    return write_files(files, folder)


def rule_path(rule_id: str) -> str:
    """Return where a rule's page stands in the site."""
    return f"rules/{rule_id}.html"


def symptoms_of(rule: Rule) -> list[str]:
    """Return what people see: the rule's own signatures, holes as dots; where there are none to read, its examples."""
    found = []
    for signature in rule.signatures.values():
        for pattern in signature.patterns if not signature.shared else ():
            text = _HOLE.sub("…", pattern.source) if pattern.kind == "text" else _readable(pattern.source)
            if sum(char.isalpha() for char in text) >= LEAST_LETTERS:
                found.append(" ".join(text.split()))
    return list(dict.fromkeys(found or _lines_of_examples(rule)))


def _lines_of_examples(rule: Rule) -> list[str]:
    texts = [text for example in rule.examples if example.expect == "match" for text in example.files.values()]
    lines = [" ".join(line.split()) for text in texts for line in text.splitlines()]
    return [line for line in lines if sum(char.isalpha() for char in line) >= LEAST_LETTERS]


def _readable(regex: str) -> str:
    """Return a pattern as the text it looks for, as far as it is fixed text with holes; else nothing."""
    text = _GROUP.sub("…", regex)
    text = re.sub(r"\\[dwSs][+*]?|\[\^?[^\]]*\][+*?]?|\.[+*]\??", "…", text)
    text = re.sub(r"\\([^\w\s])|\\[bAZB]|^\^|\$$", r"\1", text)
    return "" if re.search(r"[\\(|{*?+]", text) else re.sub(r"…+", "…", text)


def _pages(pack: RulePack, templates: Environment) -> Iterator[Page]:
    def body(name: str, **values: object) -> str:
        return templates.get_template(name).render(**values)

    rules = sorted(pack.rules.values(), key=lambda rule: rule.id)
    domains = {domain: [*group] for domain, group in itertools.groupby(rules, key=lambda rule: rule.domain)}
    references = {name: (title_of(text), text) for name, text in kept_pages().items()}
    titles = {name: title for name, (title, _) in references.items()}
    yield Page("index.html", "Rules", body("start.html", rules=rules, domains=domains, references=titles))
    for domain, members in domains.items():
        yield Page(f"domains/{domain}.html", domain, body("domain.html", domain=domain, rules=members), domain)
    yield Page("symptoms.html", "What programs print", body("symptoms.html", letters=_by_letter(rules)))
    ids = {rule.id for rule in rules}
    for rule in rules:
        up = "../" * rule_path(rule.id).count("/")
        shown = html_of(rule_page(rule), ids, lambda id, up=up: up + rule_path(id))  # type: ignore[misc]
        words = (rule.id, *rule.systems, *rule.tags, rule.explanation, *(fix.title for fix in rule.fixes))
        seen = " ".join((*symptoms_of(rule), *_lines_of_examples(rule)))
        weight = GOOD_NEWS_WEIGHT if rule.kind is Kind.CONFIRMATION else 1.0
        yield Page(rule_path(rule.id), untold(rule.title), str(shown), " ".join(words), seen, weight)
    for name, (title, text) in references.items():
        yield Page(f"reference/{name}.html", title, str(html_of(text)), text, weight=REFERENCE_WEIGHT)


def _by_letter(rules: list[Rule]) -> list[tuple[str, list[tuple[str, Rule]]]]:
    """Return what programs print, with the rule that knows it, by its first letter or digit."""

    def letters(row: tuple[str, Rule]) -> str:
        return re.sub(r"\W+", "", row[0].lower())

    rows = sorted(((text, rule) for rule in rules for text in symptoms_of(rule)), key=letters)
    return [
        (letter or "…", [*group]) for letter, group in itertools.groupby(rows, lambda row: letters(row)[:1].upper())
    ]
