"""SoSci Survey: the data set as CSV, TSV or XLSX, a row per interview, with or without variable labels."""

from __future__ import annotations

import re

from grasp_core.reading.formats.shapes.described import description
from grasp_core.reading.formats.tools._respondents import Survey, of_survey, without
from grasp_core.reading.table.parsed import Parsed

_OWN = re.compile(
    r"CASE|SERIAL|REF|QUESTNNR|MODE|LANGUAGE|STARTED|LASTDATA|STATUS|FINISHED|Q_VIEWER|LASTPAGE|MAXPAGE"
    r"|MISSING|MISSREL|TIME\d{3}|TIME_SUM|TIME_RSI|DEG_TIME|MAILSENT"
)
_NEEDED = 4


def read_table(parsed: Parsed, name: str) -> Parsed | None:
    """The interviews with how to read them; None where the table is no SoSci Survey export.

    Raises DataError if several questions were asked about the same things.
    """
    own = {column for column in parsed.columns if _OWN.fullmatch(column.strip())}
    if len(own) < _NEEDED or "CASE" not in own:
        return None
    texts = description(parsed)
    said = []
    if texts is not None:
        parsed = without(parsed, [0])
        said = ["a row of the variables' labels was left out"]
    return of_survey(parsed, Survey("SoSci Survey", "CASE", own, texts or {}), said, name)
