"""Takes apart what a terminal showed side by side: panes of tmux, panels of rich, the gutter of `bat`.

In: the `Text` of a paste in which most lines have a vertical line drawn in the same column. Out: the panes one below
the other, each line still placed where it stands:

    "│step 1   │top - 20:15"          "step 1"
    "│Killed   │%Cpu(s): 1.2"   ->    "Killed"
                                      "top - 20:15"
                                      "%Cpu(s): 1.2"
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from troubleshoot import late
from troubleshoot.normalise.origins import Place, Text

SHARE = 0.6  # of the lines that are not blank have the border there
LEAST_LINES = 3
MOST_BORDERS = 3  # more are the columns of a table
_BORDER = late.compile(r"[│┃║▏▕]")
_SIGNS = tuple(border.encode() for border in "│┃║▏▕")
_FRAME = late.compile(r"[\s─━═╭╮╰╯┌┐└┘├┤┬┴┼╞╡╪+-]*$|\s*[╭╰┌└├╞]")


def split_panes(text: Text) -> Text:
    """Return the text with its panes one below the other."""
    if not any(sign in text.data for sign in _SIGNS):
        return text
    rows = text.data.decode("utf-8", "replace").removesuffix("\n").split("\n")
    columns: Counter[int] = Counter(m.start() for row in rows for m in _BORDER.finditer(row))
    written = [row for row in rows if not _FRAME.match(row)]
    borders = sorted(at for at, count in columns.items() if count >= max(LEAST_LINES, SHARE * len(written)))
    if not 1 <= len(borders) <= MOST_BORDERS:
        return text
    out: list[bytes] = []
    places: list[Place] = []
    for begin, end in zip([0, *(at + 1 for at in borders)], [*borders, None], strict=True):
        pane = _pane(rows, borders, begin, end, is_first=begin == (0 if borders[0] else 1))
        blanks = min((len(piece) - len(piece.lstrip(" ")) for _, start, piece in pane if start == begin > 0), default=0)
        for i, start, piece in pane:
            begun = start + (blanks if start == begin > 0 else 0)
            out.append(piece[begun - start :].encode("utf-8", "replace"))
            places.append((i, len(rows[i][:begun].encode("utf-8", "replace"))))
    data = b"".join(line + b"\n" for line in out)
    return text.with_lines(data, lambda: places) if out else text


def _pane(
    rows: Sequence[str], borders: Sequence[int], begin: int, end: int | None, *, is_first: bool
) -> list[tuple[int, int, str]]:
    """Return the rows of a pane that are not blank, with their numbers and where they begin. The rows without a border
    are the first pane's, whole."""
    pane = []
    for i, row in enumerate(rows):
        is_bordered = any(_BORDER.match(row, at) for at in borders)
        if not is_bordered and not is_first:
            continue
        start, piece = (begin, row[begin:end]) if is_bordered else (0, row)
        bare = piece.rstrip()
        if bare:  # a blank in the last column is one that a line broken there goes on behind
            pane.append((i, start, piece if is_bordered and len(piece) == len(bare) + 1 else bare))
    return pane
