"""Log lines, as text or one JSON object each. Messages never quote data or secrets."""

from __future__ import annotations

import json
import logging
from datetime import UTC, datetime

_OURS = ("grasp", "grasp_core")


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


def without_query(record: logging.LogRecord) -> bool:
    """Take the query out of uvicorn's access lines: share links and sign-ins keep their keys there."""
    if isinstance(record.args, tuple):
        record.args = tuple(
            part.partition("?")[0] if isinstance(part, str) and part.startswith("/") else part
            for part in record.args
        )
    return True


def set_up_logs(log_format: str) -> None:
    """Send log lines to standard error: GRASP's own as told, uvicorn's without addresses' queries.

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
    for name in _OURS:
        logger = logging.getLogger(name)
        logger.handlers = [handler]
        logger.setLevel(logging.INFO)
        logger.propagate = False
    for name in ("uvicorn.access", "uvicorn.error"):
        logging.getLogger(name).addFilter(without_query)
