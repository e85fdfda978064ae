"""The service's own log: one JSON object per line, and never a word of the logs that it reads.

    {"time": "...", "level": "info", "logger": "troubleshoot.access", "message": "request", "method": "POST",
     "route": "/v1/scan", "status": 200, "seconds": 0.012, "bytes_in": 10240, "request_id": "..."}

Routes are templates and queries are left out: a path or query may hold what a stranger typed.
"""

from __future__ import annotations

import json
import logging
from datetime import UTC, datetime
from typing import Any

access = logging.getLogger("troubleshoot.access")


class JsonFormatter(logging.Formatter):
    """Formats a record as one line of JSON; what is in `extra={"fields": {...}}` becomes keys of its own."""

    def format(self, record: logging.LogRecord) -> str:
        line: dict[str, Any] = {
            "time": datetime.fromtimestamp(record.created, UTC).isoformat(timespec="milliseconds"),
            "level": record.levelname.lower(),
            "logger": record.name,
            "message": record.getMessage(),
            **getattr(record, "fields", {}),
        }
        if record.exc_info and record.exc_info[0] is not None:
            line["error"] = _error(record.exc_info[1])
        return json.dumps(line, ensure_ascii=True, default=str)


def log_config(level: str) -> dict[str, Any]:
    """Return the configuration of logging for uvicorn and for us: JSON to standard error."""
    return {
        "version": 1,
        "disable_existing_loggers": False,
        "formatters": {"json": {"()": "troubleshoot.api.journal.JsonFormatter"}},
        "handlers": {"stderr": {"class": "logging.StreamHandler", "formatter": "json"}},
        "root": {"handlers": ["stderr"], "level": "WARNING"},
        "loggers": {
            "uvicorn": {"level": level.upper()},
            "uvicorn.access": {"level": "CRITICAL", "propagate": False},  # it would write queries
            "troubleshoot": {"level": level.upper()},
        },
    }


def _error(error: BaseException | None) -> list[str]:
    """Return what was raised and through which places, outermost first, without the error's text: it may be a log's."""
    places = [type(error).__name__]
    trace = error.__traceback__ if error is not None else None
    while trace is not None:
        places.append(f"{trace.tb_frame.f_code.co_filename}:{trace.tb_lineno}")
        trace = trace.tb_next
    return places[:40]
