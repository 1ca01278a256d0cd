"""Results read back, whatever their panel."""

from __future__ import annotations

from typing import Any

from grasp_core import result as cohesion
from grasp_core.panels.models import result as models
from grasp_core.result import Result, RunResult

_READERS = {cohesion.FORMAT: RunResult.from_dict, models.FORMAT: models.ModelsResult.from_dict}


def read_result(plain: Any) -> Result:
    """Read the JSON-ready form of a result, which says of which format it is.

    Raises
    ------
    DataError
        If it is no result, of another version, or damaged.
    """
    named = plain.get("format") if isinstance(plain, dict) else None
    return _READERS.get(str(named), RunResult.from_dict)(plain)
