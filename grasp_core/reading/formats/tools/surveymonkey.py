"""SurveyMonkey: all responses as CSV or XLSX, a row per respondent below questions and options."""

from __future__ import annotations

import re

from grasp_core.reading.files.headers import BETWEEN
from grasp_core.reading.formats.tools._respondents import SEPARATED, Survey, folded, of_survey
from grasp_core.reading.table.parsed import Parsed

_OWN = re.compile(
    r"respondentid|collectorid|startdate|enddate|ipaddress|emailaddress|firstname|lastname|customdata\d*"
)


def read_table(parsed: Parsed, name: str) -> Parsed | None:
    """The responses with how to read them; None where the table is no SurveyMonkey export.

    Raises DataError if several questions were asked about the same things.
    """
    own = {folded(column): column for column in parsed.columns if _OWN.fullmatch(folded(column))}
    if not {"respondentid", "collectorid"} <= own.keys():
        return None
    texts = {column: column.replace(BETWEEN, SEPARATED, 1) for column in parsed.columns}
    said = ["the second row of the header, of options, was put together with the first"]
    return of_survey(parsed, Survey("SurveyMonkey", own["respondentid"], {*own.values()}, texts), said, name)
