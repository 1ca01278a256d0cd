"""Log lines, as text or one JSON object each. Messages never quote data or secrets."""

import json
import logging
from datetime import UTC, datetime
from typing import Any

_OURS = ("grasp", "grasp_core")
_SERVERS = ("uvicorn", "streamlit", "websockets")


class JsonLines(logging.Formatter):
    """One JSON object a line: time, level, logger, message, and the error's type."""

    def format(self, record: logging.LogRecord) -> str:
        """Return the record as JSON."""
        line = {
            "time": datetime.fromtimestamp(record.created, UTC).isoformat(timespec="milliseconds"),
            "level": record.levelname.lower(),
            "logger": record.name,
            "message": record.getMessage(),
        }
        if record.exc_info and record.exc_info[0]:
            line["error"] = record.exc_info[0].__name__
        return json.dumps(line, ensure_ascii=False)


class TextLines(logging.Formatter):
    """One line of text; for an error only its type, because its message could quote data."""

    def __init__(self) -> None:
        super().__init__("%(asctime)s %(levelname)s %(name)s %(message)s")

    def format(self, record: logging.LogRecord) -> str:
        """Return the record as text."""
        record.exc_text = None  # drop the traceback that another formatter kept
        return super().format(record)

    def formatException(self, ei: Any) -> str:  # noqa: N802  # logging's own name
        """Return the name of the error's type."""
        return "" if ei[0] is None else str(ei[0].__name__)


def without_query(record: logging.LogRecord) -> bool:
    """Remove the query from uvicorn's access lines, since share links and sign-ins have their keys there."""
    if isinstance(record.args, tuple):
        record.args = tuple(
            part.partition("?")[0] if isinstance(part, str) and part.startswith("/") else part
            for part in record.args
        )
    return True


class _Ours(logging.Logger):
    """A logger that replaces the format of handlers that servers add later by ours."""

    lines: logging.Formatter

    def addHandler(self, hdlr: logging.Handler) -> None:  # noqa: N802  # logging's own name
        """Add a handler, with our format if the logger is a server's."""
        if self.name.partition(".")[0] in _SERVERS:
            hdlr.setFormatter(self.lines)
        super().addHandler(hdlr)


def set_up_logs(log_format: str) -> None:
    """Send log lines to standard error, in one format; lines of uvicorn, Streamlit and others too."""
    lines = JsonLines() if log_format == "json" else TextLines()
    handler = logging.StreamHandler()
    handler.setFormatter(lines)
    for name in _OURS:
        logger = logging.getLogger(name)
        logger.handlers = [handler]
        logger.setLevel(logging.INFO)
        logger.propagate = False
    if not logging.root.handlers:  # for all other loggers' lines, warnings too
        logging.root.addHandler(handler)
    logging.captureWarnings(True)
    _Ours.lines = lines
    logging.setLoggerClass(_Ours)
    for name in list(logging.root.manager.loggerDict):
        if name.partition(".")[0] in _SERVERS:
            logger = logging.getLogger(name)
            if type(logger) is logging.Logger:  # an existing logger; Streamlit adds a handler once it serves
                logger.__class__ = _Ours
            for theirs in logger.handlers:
                theirs.setFormatter(lines)
    for name in ("uvicorn.access", "uvicorn.error"):
        logging.getLogger(name).addFilter(without_query)
