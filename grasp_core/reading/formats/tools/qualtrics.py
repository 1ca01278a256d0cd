"""Qualtrics: responses as CSV, TSV or XLSX, with two or three header rows, or cleaned of all but one."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping

from grasp_core.reading.formats.tools._respondents import Survey, folded, of_survey, responses, without
from grasp_core.reading.table.parsed import Parsed, runs

_NAMES = (
    "StartDate EndDate Status ResponseType IPAddress Progress DurationInSeconds Finished RecordedDate "
    "ResponseID RecipientLastName RecipientFirstName RecipientEmail ExternalReference ExternalDataReference "
    "LocationLatitude LocationLongitude LocationAccuracy DistributionChannel UserLanguage ResponseSet Name "
    "Email EmailAddress Q_RecaptchaScore Q_BallotBoxStuffing Q_RelevantIDDuplicate"
)
_OWN = frozenset(map(folded, _NAMES.split()))
_NEEDED = 4
_IMPORT_ID = ('{"ImportId"', "{'ImportId'")
_MOST_HEADERS = 2
_PREVIEWS = frozenset({"survey preview", "survey test", "preview", "spam preview", "offline preview"})
_PREVIEW_CODES = frozenset({"1", "2", "9", "17"})
_UNFINISHED = frozenset({"false", "0"})


def read_table(parsed: Parsed, name: str) -> Parsed | None:
    """The responses with how to read them; None where the table is no Qualtrics export.

    Raises DataError if only previews are left, or several questions were asked about the same things.
    """
    if not len(parsed.data):
        return None
    parsed = _with_names(parsed)
    own = {folded(column): column for column in parsed.columns if folded(column) in _OWN}
    if len(own) < _NEEDED or "responseid" not in own or not own.keys() & {"startdate", "recordeddate"}:
        return None
    texts: Mapping[str, str] = {}
    embedded: set[str] = set()
    headers = _headers(parsed, own)
    for number in range(headers):
        row = _cells(parsed, number)
        if any(cell.startswith(_IMPORT_ID) for cell in row.values()):
            embedded = {
                column for column, cell in row.items() if cell.startswith(_IMPORT_ID) and "QID" not in cell
            }
            embedded -= {column for run in runs(embedded) if len(run) > 2 for column in run}  # answers, too
        else:
            texts = row
    previews, unfinished = _kept_apart(parsed, own, headers)
    parsed = without(parsed, [*range(headers), *previews])
    said = [f"{headers} rows of question texts and import ids were left out"] if headers else []
    said += [f"{responses(len(previews), 'previews')} and left out"] if previews else []
    said += [f"{responses(unfinished, 'unfinished')} and count"] if unfinished else []
    survey = Survey("Qualtrics", own["responseid"], {*own.values(), *embedded}, texts)
    return of_survey(parsed, survey, said, name)


def _with_names(parsed: Parsed) -> Parsed:
    """An older export's columns V1, V2... under the names that stand below them."""
    if parsed.columns[0] != "V1" or folded(_cell(parsed, "V1", 0)) != "responseid":
        return parsed
    found = {column: _cell(parsed, column, 0) for column in parsed.columns if folded(column)[0] == "v"}
    taken = set(parsed.columns)
    new = [
        found[column]
        if column in found and folded(found[column]) in _OWN and found[column] not in taken
        else column
        for column in parsed.columns
    ]
    if len(set(new)) < len(new):
        return parsed
    return dataclasses.replace(parsed, columns=tuple(new), data=parsed.data.rename_columns(new))


def _headers(parsed: Parsed, own: Mapping[str, str]) -> int:
    """How many rows belong to the header.

    Those down to the import ids do, in whatever language the texts above them are; without import ids the
    first rows that repeat the names.
    """
    rows = [_cells(parsed, row) for row in range(min(_MOST_HEADERS, len(parsed.data)))]
    marked = [2 * sum(cell.startswith(_IMPORT_ID) for cell in cells.values()) > len(cells) for cells in rows]
    if any(marked):
        return len(rows) - marked[::-1].index(True)
    repeating = [2 * sum(folded(cells[one]) in _OWN for one in own.values()) > len(own) for cells in rows]
    return repeating.index(False) if False in repeating else len(rows)


def _cells(parsed: Parsed, row: int) -> dict[str, str]:
    return {column: _cell(parsed, column, row) for column in parsed.columns}


def _kept_apart(parsed: Parsed, own: Mapping[str, str], headers: int) -> tuple[list[int], int]:
    """Rows of previews, and how many of the other responses are unfinished."""
    cells = {
        key: [text.strip().casefold() for text in parsed.data.column(own[key]).to_pylist()[headers:]]
        for key in ("status", "distributionchannel", "finished")
        if key in own
    }
    codes = all(text.isdigit() for text in cells.get("status", ()))
    previews = _PREVIEWS | (_PREVIEW_CODES if codes else set())
    rows = set()
    for key in ("status", "distributionchannel"):
        rows |= {row for row, text in enumerate(cells.get(key, ())) if text in previews}
    unfinished = sum(
        text in _UNFINISHED for row, text in enumerate(cells.get("finished", ())) if row not in rows
    )
    return sorted(row + headers for row in rows), unfinished


def _cell(parsed: Parsed, column: str, row: int) -> str:
    return str(parsed.data.column(column)[row].as_py()).strip()
