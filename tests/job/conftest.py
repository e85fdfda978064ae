"""An engine over the shipped rules, and bundles of logs to run it on."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path

import pytest

from troubleshoot.engine import Engine


@pytest.fixture(scope="session")
def engine() -> Engine:
    return Engine.default()


@pytest.fixture
def bundle(tmp_path: Path) -> Callable[[Mapping[str, str]], Path]:
    """Write logs by name into a folder."""

    def write(files: Mapping[str, str]) -> Path:
        for name, text in files.items():
            path = tmp_path / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text)
        return tmp_path

    return write
