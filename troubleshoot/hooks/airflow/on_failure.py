"""Airflow: a callback that reports on a task that failed, and links nothing but what it found.

    from on_failure import report_failure
    with DAG(..., default_args={"on_failure_callback": report_failure}): ...

It reads the folder in the task's parameter `log_folder`, where the training wrote, and the task's own log if that is a
file here. It never raises: a callback that fails would hide the failure it is about.
"""

from __future__ import annotations

import logging
from pathlib import Path
from typing import Any

log = logging.getLogger(__name__)


def report_failure(context: dict[str, Any]) -> None:
    """Log the report on a failed task, its answer first."""
    try:
        paths = [path for path in _paths(context) if path.exists()]
        if not paths:
            log.warning("no logs to report on: give the task params={'log_folder': ...}")
            return
        from troubleshoot.engine import Engine
        from troubleshoot.report import RENDERERS

        report = Engine.default().postmortem_paths(paths)
        log.error("%s", RENDERERS["text"](report))
        page = paths[0].with_suffix(".postmortem.html") if paths[0].is_file() else paths[0] / "postmortem.html"
        page.write_text(RENDERERS["html"](report), encoding="utf-8")
        log.info("the whole report: %s", page)
    except Exception:  # whatever goes wrong here must not stand in front of what went wrong there
        log.exception("no report on the failed task")


def _paths(context: dict[str, Any]) -> list[Path]:
    params = context.get("params") or {}
    task = context.get("task_instance") or context.get("ti")
    named = [params.get("log_folder"), getattr(task, "log_filepath", None)]
    return [Path(each) for each in named if each]
