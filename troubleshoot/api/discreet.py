"""What is wrong with rule files, as strangers may read it: which rule and where in its file, not where the file lies.

error[R001]: not valid YAML          error[R001]: not valid YAML
  /srv/acme/rules/net/a.yaml:3:8  ->   net/a.yaml:3:8
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from pathlib import Path

from troubleshoot.errors import Problem


class Discretion:
    """Takes the folders of rules out of texts."""

    def __init__(self, folders: Iterable[Path]) -> None:
        found: dict[str, str] = {}
        for folder in folders:
            for path in (folder, folder.absolute(), folder.resolve()):
                found[f"{path}/"] = ""
                found[str(path)] = folder.name
        found.pop("./", None)
        found.pop(".", None)
        self._names = sorted(found.items(), key=lambda item: -len(item[0]))

    def text(self, text: str) -> str:
        """Return a text without the folders; a caret below a place stays below its character."""
        lines: list[str] = []
        shift = 0
        for line in text.split("\n"):
            if line.strip() == "^":
                lines.append(line[shift:])
                continue
            told = line
            for path, name in self._names:
                told = told.replace(path, name)
            shift = max(0, len(line) - len(told))
            lines.append(told)
        return "\n".join(lines)

    def problem(self, problem: Problem) -> Problem:
        place = replace(problem.place, path=self.text(problem.place.path)) if problem.place is not None else None
        return replace(problem, text=self.text(problem.text), help=self.text(problem.help), place=place)

    def problems(self, problems: Sequence[Problem]) -> tuple[Problem, ...]:
        return tuple(map(self.problem, problems))
