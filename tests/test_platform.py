import pytest
import yaml
from evaluate.small_packs import build_pack, scan_plainly

from troubleshoot.errors import UsageError
from troubleshoot.model import Fix
from troubleshoot.platform import PLATFORMS, check_platform, choose_platform, order_variants

MARKS = {
    "platforms": {
        "runai": {"signature": "runai submit", "platform": "runai-cli", "weight": 100},
        "kubernetes": {"signature": "kubelet|kubectl", "platform": "kubernetes", "weight": 70},
        "torchrun": {"signature": "torchrun", "platform": "torchrun", "weight": 30},
        "broken": {"signature": "broken", "platform": "teleport"},
    }
}


def chosen(log):
    pack = build_pack({}, builtin=MARKS)
    return choose_platform(pack, scan_plainly(pack, log))


def test_what_started_the_job_outweighs_what_runs_inside_it():
    log = "torchrun train.py\ntorchrun train.py\nkubelet started\nrunai submit job\n"
    assert chosen(log) == "runai-cli"
    assert chosen("torchrun x\nkubectl logs y\n") == "kubernetes"


def test_no_mark_no_platform():
    assert chosen("hello") is None
    assert chosen("broken") is None


def test_variants_that_serve_stand_first():
    fix = Fix("x", variants={"slurm": "a", "kubernetes": "b", "yaml": "c", "runai-cli": "d"})
    assert list(order_variants(fix, "runai-cli").variants) == ["runai-cli", "yaml", "kubernetes", "slurm"]
    assert list(order_variants(fix, "python").variants) == list(fix.variants)
    assert order_variants(fix, None) == fix


def test_unknown_platform_is_refused_with_the_names():
    assert check_platform("slurm") == "slurm"
    assert check_platform(None) is None
    with pytest.raises(UsageError) as caught:
        check_platform("runai")
    assert "runai-cli" in caught.value.help


def test_shipped_marks_name_known_platforms():
    from pathlib import Path

    marks = yaml.safe_load((Path(__file__).parent.parent / "rules/_builtin/platforms.yaml").read_text())
    assert {mark["platform"] for mark in marks.values()} <= set(PLATFORMS)
    assert all(0 < mark["weight"] <= 100 for mark in marks.values())
