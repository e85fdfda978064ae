"""`corpus check` tells a wrong answer from a right one."""

from __future__ import annotations

from pathlib import Path

import pytest

from troubleshoot.corpus import check_corpus, check_incident, read_expected
from troubleshoot.engine import Engine
from troubleshoot.errors import UsageError

LOG = "RuntimeError: No CUDA GPUs are available\n"


@pytest.fixture(scope="module")
def engine() -> Engine:
    return Engine.default()


@pytest.fixture
def incident(tmp_path: Path) -> Path:
    folder = tmp_path / "no-gpu"
    folder.mkdir()
    (folder / "job.log").write_text(LOG)
    (folder / "README.md").write_text("RuntimeError: CUDA error: device-side assert triggered\n")
    return folder


@pytest.mark.parametrize(
    ("expected", "difference"),
    [
        ("first: cuda/no-device\n", None),
        ("first: cuda/out-of-memory\n", "first is cuda/no-device, expected cuda/out-of-memory, not found"),
        ("first: cuda/no-device\nverdict: clean\n", "verdict is fault, expected clean"),
        ("first: null\nhealthy: true\nverdict: fault\n", "false alarm: cuda/no-device (high)"),
        ("first: null\nnever: [cuda]\n", "forbidden: cuda/no-device"),
        ("first: null\n", "unlisted: cuda/no-device"),
        ("first: cuda/no-device\nconfirmed: [efa/in-use]\n", "not confirmed: efa/in-use"),
        ("first: cuda/no-device\nundecided: [efa/in-use]\n", "not undecided: efa/in-use"),
    ],
)
def test_each_difference_is_told(engine: Engine, incident: Path, expected: str, difference: str | None) -> None:
    (incident / "expected.yaml").write_text(expected)
    differences = check_incident(engine, incident).differences
    assert (difference in differences) if difference else differences == ()


def test_figures_by_domain_and_rules_without_an_incident(engine: Engine, incident: Path) -> None:
    (incident / "expected.yaml").write_text("first: cuda/no-device\n")
    result = check_corpus(engine, incident.parent)
    assert result.domains["cuda"].first == result.domains["cuda"].incidents == 1
    assert "cuda/no-device" not in result.unused
    assert "efa/in-use" in result.unused


@pytest.mark.parametrize("text", ["", "- a\n", "also: []\n", "first: a/b\nfrist: c\n", "first: [\n", "\xff"])
def test_an_expected_file_of_another_form_is_refused(incident: Path, text: str) -> None:
    (incident / "expected.yaml").write_bytes(text.encode("latin-1"))
    with pytest.raises(UsageError):
        read_expected(incident)
