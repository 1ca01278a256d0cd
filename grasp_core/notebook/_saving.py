"""Files whose ending says what they hold."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TypeVar

from grasp_core.model.errors import DataError

R = TypeVar("R")


def save(path: str | Path, kinds: Mapping[str, Callable[[R], bytes]], result: R) -> None:
    """Write a result as the file's ending asks; the longest ending that fits counts.

    `kinds`: makes the file's content.

    Raises DataError if the ending is none of them, or the file cannot be written.
    """
    target = Path(path)
    ending = max((one for one in kinds if target.name.endswith(one)), key=len, default=None)
    if ending is None:
        raise DataError(f"{target.name} has to end in one of {', '.join(kinds)}")
    content = kinds[ending](result)
    try:
        target.write_bytes(content)
    except OSError as error:
        raise DataError(f"{target} cannot be written: {error.strerror}") from None
