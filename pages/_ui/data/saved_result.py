"""Results that were saved as files: opened again, nothing is computed."""

from __future__ import annotations

import json

from grasp_core.errors import DataError
from grasp_core.io.archives.bounded import MIB, check_size
from grasp_core.panels.results import read_result
from grasp_core.report.contents import run_title
from grasp_core.store.runs import RunRecord
from pages._ui.session.permissions import require_run
from pages._ui.session.projects import here
from pages._ui.session.state import work

MAX_RESULT_MB = 50
_MAX_VALUES = 4_000_000
_BEGINNING, _MARK = 200, b'"grasp-'


def is_saved_result(content: bytes) -> bool:
    """Whether a file begins as the results that GRASP writes do."""
    return _MARK in content[:_BEGINNING]


def open_result(content: bytes, name: str) -> RunRecord:
    """A saved result as a run of the project.

    Raises
    ------
    DataError
        If it is no result, or too large; the message names the file.
    """
    user = require_run()
    try:
        check_size(len(content), MAX_RESULT_MB * MIB, name, "a saved result")
        result = read_result(_json(content))
    except DataError as error:
        raise DataError(f"{name}: {error}") from None
    run = here().runs.add(result, title=run_title(result.spec), owner=user.id)
    work().remember(run)
    return run


def _json(content: bytes) -> object:
    if sum(map(content.count, (b",", b"[", b"{"))) > _MAX_VALUES:  # each takes many bytes once it is read
        raise DataError(
            f"this has more than {_MAX_VALUES:,} values; expected the result file that GRASP wrote"
        )
    try:
        return json.loads(content)
    except (ValueError, RecursionError) as error:  # e.g. a number of thousands of digits
        place = f" (line {error.lineno})" if isinstance(error, json.JSONDecodeError) else ""
        raise DataError(f"this is not JSON{place}; expected the result file that GRASP wrote") from None
