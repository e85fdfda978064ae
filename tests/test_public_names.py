"""The public names of the package work in whatever order things are loaded."""

from __future__ import annotations

import subprocess
import sys


def run(code: str) -> str:
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False, timeout=120)
    assert done.stderr == ""
    return done.stdout.strip()


def test_scan_works_a_second_time() -> None:
    code = """if True:
        import troubleshoot
        for _ in range(2):
            report = troubleshoot.scan("CUDA error: uncorrectable ECC error encountered\\n")
            print(report.findings[0].rule)
    """
    assert run(code).split() == ["gpu/memory-fault"] * 2


def test_scan_works_after_a_part_of_it_was_imported() -> None:
    code = """if True:
        import troubleshoot, troubleshoot.engine
        print(troubleshoot.scan("all is well\\n").verdict.name)
    """
    assert run(code) == "CLEAN"
