"""Reading of saved results of every panel."""

from typing import Any

from grasp_core.analysis.models import result as models
from grasp_core.model import result as cohesion
from grasp_core.model.errors import DataError
from grasp_core.model.result import Result, RunResult

_READERS = {cohesion.FORMAT: RunResult.from_dict, models.FORMAT: models.ModelsResult.from_dict}


def read_result(plain: Any, *, final: bool = True) -> Result:
    """Read a result's JSON-ready form; raises DataError if it is damaged, or provisional and `final`."""
    named = plain.get("format") if isinstance(plain, dict) else None
    found = _READERS.get(str(named), RunResult.from_dict)(plain)
    if final and found.later is not None:
        raise DataError(
            f"this result is provisional: {found.later} were still computed; take the final one from the run"
        )
    if final and found.provisional:
        raise DataError(
            f"this result is provisional, after {found.permutations:,} permutations of a run that went on; "
            "take the final one from the run"
        )
    return found
