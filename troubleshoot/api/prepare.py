"""Loads a changed pack in a process of its own, so that a running service does not stand still for it.

    python -m troubleshoot.api.prepare '{"rules": [...], "drafts": false, "default_rules": true}'

Reading hundreds of rule files and planning their search takes seconds of Python. Done here, both are in the cache when
the service loads the pack: that takes milliseconds. Prints the problems of a pack that does not load, as a JSON list.
"""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

PREPARE_S = 120.0


def prepare_pack(options: Mapping[str, Any], environment: Mapping[str, str]) -> tuple[str, ...]:
    """Have the pack loaded and its database made; return the problems that keep it from loading."""
    command = [sys.executable, "-m", "troubleshoot.api.prepare", json.dumps(options)]
    try:
        done = subprocess.run(command, env=dict(environment), capture_output=True, timeout=PREPARE_S, check=True)
        return tuple(json.loads(done.stdout))
    except (OSError, subprocess.SubprocessError, ValueError):
        return ()  # whatever it was, the service meets it too when it loads the pack, and tells it


def main() -> None:
    """Load the pack that the argument names, into the cache."""
    from troubleshoot.engine import Engine
    from troubleshoot.errors import TroubleshootError
    from troubleshoot.rulepack.load import load_pack

    options = json.loads(sys.argv[1])
    try:
        pack = load_pack([Path(each) for each in options.pop("rules")], strict=True, **options)
    except TroubleshootError as error:
        print(json.dumps([str(problem) for problem in error.problems] or [error.text]))
        return
    Engine(pack).scan_text("RuntimeError: warm-up\n")
    print("[]")


if __name__ == "__main__":
    main()
