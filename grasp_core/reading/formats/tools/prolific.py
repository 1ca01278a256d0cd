"""Prolific: the demographic export of a study, as a raters file."""

from __future__ import annotations

import dataclasses
import re

from grasp_core.model.text import quoted
from grasp_core.reading.formats.shapes.rows import proposed_axes
from grasp_core.reading.table.parsed import Parsed
from grasp_core.reading.table.table import Recipe

MISSING = ("CONSENT_REVOKED", "DATA_EXPIRED")
"""Texts of cells that Prolific may not, or can no longer, show."""
_IDS = ("Participant id", "Participant ID", "participant_id")
_MARKS = re.compile(
    "archived at|completed at|completed_date_time|completion code|custom study tncs accepted at|entered_code"
    "|num_approvals|num_rejections|prolific_score|reviewed at|reviewed_at_datetime|session_id|started at"
    "|started_datetime|status|submission id|time taken|time_taken|total approvals"
)
_NEEDED_MARKS = 3
_JOINED = 2
"""Rows of a participant, on average, in a table of answers to which the export was joined."""
_AXES = (
    "sex|gender|ethnicity simplified|ethnicity|age|country of residence|current country of residence"
    "|country of birth|nationality|language|first language|student status|employment status"
)


def read_table(parsed: Parsed, name: str) -> Parsed | None:
    """The export with its texts for "no value" and the axes it offers; None where it is not that alone."""
    by_name = {column.strip().casefold(): column for column in parsed.columns}
    ids = [column for column in _IDS if column in parsed.columns]
    if not ids or len([one for one in by_name if _MARKS.fullmatch(one)]) < _NEEDED_MARKS:
        return None
    people = parsed.data.column(ids[0]).to_pylist()
    if len(people) >= _JOINED * len(set(people)):
        return None
    able = {
        by_name[axis]: parsed.data.column(by_name[axis]).to_pylist()
        for axis in _AXES.split("|")
        if axis in by_name
    }
    recipe = Recipe(
        "Prolific",
        axes=proposed_axes(able, MISSING),
        missing=MISSING,
        raters=True,
        sentences=(
            f"{quoted(ids[0])} holds the rater ids",
            "CONSENT_REVOKED and DATA_EXPIRED mean no value, 'Prefer not to say' is kept as an answer",
        ),
    )
    return dataclasses.replace(parsed, kind=f"Prolific, {parsed.kind}", recipe=recipe)
