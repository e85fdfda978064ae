"""The reference says what the code does."""

from __future__ import annotations

import pytest

from troubleshoot.docs.reference import PAGES, kept_pages, reference_pages

MADE = reference_pages()


@pytest.mark.parametrize("name", sorted(MADE))
def test_the_kept_page_is_what_the_code_says(name: str) -> None:
    """Renew them with `python -m troubleshoot.docs`."""
    assert kept_pages()[name] == MADE[name], "stale: python -m troubleshoot.docs"


def test_no_page_is_left_over() -> None:
    assert {path.stem for path in PAGES.iterdir()} == set(MADE) == set(kept_pages())


@pytest.mark.parametrize(
    ("name", "texts"),
    [
        ("rule-language", ("`signatures`", "`within`", "`missing`", "`lookup`", "`disable`")),
        ("command-line", ("## troubleshoot rules suggest", "`--since`", "## troubleshoot postmortem")),
        ("http-api", ("## POST /v1/scan", "`anonymize`", "| 413 |")),
        ("report-format", ("## `findings`", "`first_failure`", "RFC 3339")),
        ("codes", ("`R014`", "`L018`", "| `141` | the reader closed the pipe |")),
    ],
)
def test_a_page_holds_what_its_reader_looks_for(name: str, texts: tuple[str, ...]) -> None:
    for text in texts:
        assert text in MADE[name]
