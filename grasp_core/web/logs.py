"""Log lines, as text or one JSON object each. Messages never quote data or secrets."""

from __future__ import annotations

import json
import logging
from datetime import UTC, datetime


class JsonLines(logging.Formatter):
    """One JSON object a line: time, level, logger, message, and the error's type."""

    def format(self, record: logging.LogRecord) -> str:
        """The record as JSON."""
        line = {
            "time": datetime.fromtimestamp(record.created, UTC).isoformat(timespec="milliseconds"),
            "level": record.levelname.lower(),
            "logger": record.name,
            "message": record.getMessage(),
        }
        if record.exc_info and record.exc_info[0]:
            line["error"] = record.exc_info[0].__name__
        return json.dumps(line, ensure_ascii=False)


def set_up_logs(log_format: str) -> None:
    """Send GRASP's own log lines to standard error.

    Parameters
    ----------
    log_format : {"text", "json"}
    """
    handler = logging.StreamHandler()
    handler.setFormatter(
        JsonLines()
        if log_format == "json"
        else logging.Formatter("%(asctime)s %(levelname)s %(name)s %(message)s")
    )
    for name in ("grasp", "grasp_core"):
        logger = logging.getLogger(name)
        logger.handlers = [handler]
        logger.setLevel(logging.INFO)
        logger.propagate = False
