"""The codes that problems, notes and the process end with."""

from __future__ import annotations

from troubleshoot import late
from troubleshoot.docs.tables import cell, code_cell, table

_EXIT_CODE = late.compile(r"(?<!\S)(\d{1,3}) {2,}(\S+(?: \S+)*)")
KINDS = {
    "R": "What keeps a rule from loading",
    "P": "Packs beside each other, and overrides",
    "L": "Lints: the rule loads, and would disappoint",
    "T": "Translations",
}


def codes_page() -> str:
    """Return the codes of problems in rule files, and exit codes."""
    from troubleshoot.cli import __doc__ as told
    from troubleshoot.errors import CODES

    parts = [
        "# Codes",
        "A code is permanent: it is never given a second meaning. `troubleshoot rules check` shows each problem with "
        "its place, the excerpt, and what to do.",
    ]
    for letter, title in KINDS.items():
        rows = [(code_cell(code), cell(text)) for code, text in CODES.items() if code[0] == letter]
        parts += [f"## {title}", table(("code", "means"), rows)]
    rows = [(code_cell(code), cell(text)) for code, text in _EXIT_CODE.findall(told or "")]
    parts += ["## Exit codes", table(("code", "means"), rows)]
    return "\n\n".join(parts) + "\n"
