"""Files that commands write, and how they write a day."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

from grasp_core.model.errors import DataError


def check_target(target: Path | None) -> None:
    """Refuse, before any work, a file that cannot be written; None stands for no file.

    Raises
    ------
    DataError
    """
    if target is not None and not target.parent.is_dir():
        raise DataError(f"{target}: cannot be written, there is no folder {target.parent}")
    if target is not None and target.is_dir():
        raise DataError(f"{target}: cannot be written, it is a folder; name a file in it")


def write_text(target: Path | None, text: str) -> None:
    """Write a text as UTF-8 with its own line ends; None stands for no file.

    Raises
    ------
    DataError
        If it cannot be written.
    """
    if target is not None:
        write_bytes(target, text.encode("utf-8"))


def write_bytes(target: Path, content: bytes) -> None:
    """Write a file; raises as :func:`write_text`."""
    try:
        target.write_bytes(content)
    except OSError as error:
        raise DataError(f"{target}: cannot be written ({error.strerror})") from None


def day(moment: float) -> str:
    """The day of a moment, seconds since 1970, such as ``2026-11-24``."""
    return f"{datetime.fromtimestamp(moment, UTC):%Y-%m-%d}"
