"""Cursors: where a page of a list ended, as a text that only this API reads."""

from __future__ import annotations

import base64
import binascii
import json
import math
from http import HTTPStatus

from grasp_core.server.problem import ProblemError
from grasp_core.store.runs import RunRecord


def cursor_after(record: RunRecord) -> str:
    """The cursor of the page that begins after a run."""
    place = json.dumps([record.created_at, record.id]).encode("ascii")
    return base64.urlsafe_b64encode(place).decode("ascii")


def place_of(cursor: str) -> tuple[float, str]:
    """Time and id of the run that a page begins after; raises ProblemError if it is no cursor."""
    try:
        created_at, run_id = json.loads(base64.b64decode(cursor.encode("ascii"), b"-_", validate=True))
        if isinstance(created_at, float) and math.isfinite(created_at) and isinstance(run_id, str):
            return created_at, run_id
    except (ValueError, TypeError, binascii.Error, RecursionError):
        pass
    raise ProblemError(
        HTTPStatus.NOT_FOUND,
        "There is no page of that cursor: give the `next` of the page before, unchanged.",
    )
