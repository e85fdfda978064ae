"""Golden files: `tests/golden/report/<sample>.<ext>`, written anew with UPDATE_GOLDEN=1 and read in review."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import pytest

GOLDEN = Path(__file__).parents[1] / "golden" / "report"


@pytest.fixture
def golden() -> Callable[[str, str], None]:
    """Compare a text with the golden file of that name, byte for byte."""

    def check(name: str, actual: str) -> None:
        path = GOLDEN / name
        if os.environ.get("UPDATE_GOLDEN"):
            path.write_bytes(actual.encode())
        assert path.read_bytes().decode() == actual, f"{name} changed; UPDATE_GOLDEN=1 writes it anew"

    return check


@pytest.fixture
def job_golden() -> Callable[[str, str], None]:
    """Compare a text with the golden file of that name among those of jobs."""

    def check(name: str, actual: str) -> None:
        path = GOLDEN.parent / "job" / name
        if os.environ.get("UPDATE_GOLDEN"):
            path.write_bytes(actual.encode())
        assert path.read_bytes().decode() == actual, f"{name} changed; UPDATE_GOLDEN=1 writes it anew"

    return check
