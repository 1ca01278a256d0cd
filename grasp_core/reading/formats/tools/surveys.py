"""Surveys with a row per respondent: Qualtrics, SurveyMonkey, SoSci Survey; Prolific's demographics."""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Collection, Mapping, Sequence

import numpy as np

from grasp_core.model.data_spec import DataSpec
from grasp_core.model.errors import DataError
from grasp_core.model.text import agree, listed, number, quoted
from grasp_core.reading.files.headers import BETWEEN
from grasp_core.reading.formats.shapes.described import description
from grasp_core.reading.formats.shapes.rows import MAX_OPTIONS, proposed_axes
from grasp_core.reading.table import names
from grasp_core.reading.table.parsed import Parsed, compact, kinds_of, runs
from grasp_core.reading.table.table import Recipe

# Prolific: the demographic export of a study, as a raters file

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


def read_prolific(parsed: Parsed, name: str) -> Parsed | None:
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


# Surveys: which of the questions are items, and who answered them

_PANEL_IDS = re.compile(
    r"(prolific|participant|worker|mturk|annotator|rater|respondent|subject|assignment)?_?(p?id|code)", re.I
)
_NEVER_ITEMS = re.compile(
    r".*(_TEXT|_DO(_.*)?|[ _](First|Last) Click|[ _]Page Submit|[ _]Click Count|- Text|Timing)", re.I
)
"""Columns of what was typed, of the order that was shown, and of clicks."""
_SEPARATED = " - "
"""Stands in a text between a question and what it is asked of."""


@dataclasses.dataclass(frozen=True, slots=True)
class _Survey:
    """An export of a survey, as its tool's reader knows it.

    `own_id`: column of the tool's ids of responses.
    `known`: columns about the response that are no questions.
    `embedded`: those of them that the survey's maker set, such as a condition.
    """

    tool: str
    own_id: str
    known: Collection[str]
    texts: Mapping[str, str]
    embedded: Collection[str] = ()


def _folded(text: str) -> str:
    """Letters and digits alone, in lower case: how a survey's own columns are told."""
    return "".join(filter(str.isalnum, text.casefold()))


def _of_survey(parsed: Parsed, survey: _Survey, said: Sequence[str], name: str) -> Parsed:
    """The table with how to read it; without it where the columns hold several kinds of answers."""
    if not len(parsed.data):
        raise DataError(f"{name} ({survey.tool}) holds no responses besides its header rows and previews")
    rater, about = _rater(parsed, survey)
    questions = [column for column in parsed.columns if column not in survey.known and column != rater]
    questions = [
        one
        for one in questions
        if not any(map(_NEVER_ITEMS.fullmatch, (one, survey.texts.get(one, "")[-60:])))
    ]
    answers = {one: {*parsed.data.column(one).unique().to_pylist()} for one in questions}
    said_of = {one: {text for text in texts if text.strip()} for one, texts in answers.items()}
    distinct = {one: texts for one, texts in said_of.items() if len(texts) <= MAX_OPTIONS}
    items = _items(distinct, survey.texts)
    _check_one_question(items, distinct, survey, name)
    data = compact(parsed.data)
    spec = None
    if items:
        rest = tuple(column for column in parsed.columns if column not in {rater, *items})
        spec = DataSpec(layout="raters-by-items", rater=rater, profile=rest)
        said = [*said, f"the answers to {number(len(items), 'question')} ({listed(items, 3)}) are the labels"]
    kind = f"{survey.tool}, {parsed.kind}"
    place = parsed.columns.index
    last = max(map(place, questions), default=0)
    others = [one for one in parsed.columns if one != rater and one not in questions]
    embedded = tuple(one for one in others if one in survey.embedded and place(one) > last)
    aside = tuple(one for one in others if one not in embedded)
    recipe = Recipe(kind, spec, sentences=(about, *said), respondents=rater, aside=aside, embedded=embedded)
    return dataclasses.replace(parsed, kind=kind, data=data, recipe=recipe)


def _rater(parsed: Parsed, survey: _Survey) -> tuple[str, str]:
    """The column of the raters' ids, and why: a panel's id of the person, else the tool's of the response."""
    others = [column for column in parsed.columns if column != survey.own_id]
    panel = [column for column in others if _PANEL_IDS.fullmatch(column.strip())]
    for column in panel:
        distinct = parsed.data.column(column).unique().to_pylist()
        if len(distinct) == len(parsed.data) and all(text.strip() for text in distinct):
            return column, f"each row is a respondent, {quoted(column)} holds the rater ids"
    why = f"each row is a respondent, {quoted(survey.own_id)} holds the rater ids"
    if panel:
        why += f" ({quoted(panel[0])} has blank or repeated values)"
    return survey.own_id, why


def _items(distinct: Mapping[str, set[str]], texts: Mapping[str, str]) -> list[str]:
    """The longest run of questions with the same kind of answers; none where that is not certain."""
    closed = list(distinct)
    groups = [run for run in (*runs(closed), *_of_one_question(closed, texts)) if len(run) > 1]
    for run in sorted(groups, key=len, reverse=True):
        parts = kinds_of({one: distinct[one] for one in run})
        if not parts or len(parts[0].labels) < 2:
            continue
        other = [one for part in parts[1:] for one in part.columns if len(part.labels) > 1]
        if any(not _about_person(one, texts) for one in other) or len(parts[0].columns) < 2:
            return []
        items = [one for one in run if one not in other]
        # As many questions of other names that are answered in the same way: their names say little then.
        labels = parts[0].labels
        others = (one for one in distinct if one not in items and not _about_person(one, texts))
        alike = [one for one in others if len(distinct[one] & labels) > 1 and distinct[one] <= labels]
        return [] if len(alike) >= len(items) else items
    return []


def _of_one_question(questions: Sequence[str], texts: Mapping[str, str]) -> list[list[str]]:
    asked: dict[str, list[str]] = {}
    for one in questions:
        question, _, about = texts.get(one, "").partition(_SEPARATED)
        if about:
            asked.setdefault(question, []).append(one)
    return list(asked.values())


def _about_person(column: str, texts: Mapping[str, str]) -> bool:
    return names.mentions(column, names.DEMOGRAPHIC) or names.mentions(
        texts.get(column, ""), names.DEMOGRAPHIC | {"old", "born", "school", "job"}
    )


def _check_one_question(
    items: Sequence[str], distinct: Mapping[str, set[str]], survey: _Survey, name: str
) -> None:
    """Refuse several questions about the same things: as columns they would be taken for other items."""
    labels: set[str] = set().union(*(distinct[one] for one in items))
    asked = [
        run
        for run in _of_one_question(list(distinct), survey.texts)
        if len(run) > 1 and len(labels & set().union(*(distinct[one] for one in run))) > 1
    ]
    if len(asked) < 2:
        return
    shown = [survey.texts[run[0]].partition(_SEPARATED)[0] for run in asked]
    raise DataError(
        f"{name} ({survey.tool}): {quoted(asked[0][0])}, {quoted(asked[1][0])} and those like them answer "
        f"{number(len(asked), 'different question')} ({listed(shown, 3)}); keep the columns of one of "
        "them, or write a row per annotation with a column per question"
    )


def _without(parsed: Parsed, rows: Sequence[int]) -> Parsed:
    """The table without some of its rows; the others keep their numbers."""
    return parsed.kept(np.setdiff1d(np.arange(len(parsed.data)), np.asarray(rows, dtype=np.int64)))


# Qualtrics: CSV, TSV or XLSX, with two or three header rows, or cleaned of all but one

_NAMES = (
    "StartDate EndDate Status ResponseType IPAddress Progress DurationInSeconds Finished RecordedDate "
    "ResponseID RecipientLastName RecipientFirstName RecipientEmail ExternalReference ExternalDataReference "
    "LocationLatitude LocationLongitude LocationAccuracy DistributionChannel UserLanguage ResponseSet Name "
    "Email EmailAddress Q_RecaptchaScore Q_BallotBoxStuffing Q_RelevantIDDuplicate"
)
_OF_QUALTRICS = frozenset(map(_folded, _NAMES.split()))
_NEEDED_OF_QUALTRICS = 4
_IMPORT_ID = ('{"ImportId"', "{'ImportId'")
_MOST_HEADERS = 2
_PREVIEWS = frozenset({"survey preview", "survey test", "preview", "spam preview", "offline preview"})
_PREVIEW_CODES = frozenset({"1", "2", "9", "17"})
_UNFINISHED = frozenset({"false", "0"})


def read_qualtrics(parsed: Parsed, name: str) -> Parsed | None:
    """The responses with how to read them; None where the table is no Qualtrics export."""
    if not len(parsed.data):
        return None
    parsed = _with_names(parsed)
    own = {_folded(column): column for column in parsed.columns if _folded(column) in _OF_QUALTRICS}
    if (
        len(own) < _NEEDED_OF_QUALTRICS
        or "responseid" not in own
        or not own.keys() & {"startdate", "recordeddate"}
    ):
        return None
    texts: Mapping[str, str] = {}
    embedded: set[str] = set()
    headers = _headers(parsed, own)
    for row in _first_rows(parsed)[:headers]:
        if any(cell.startswith(_IMPORT_ID) for cell in row.values()):
            embedded = {
                column for column, cell in row.items() if cell.startswith(_IMPORT_ID) and "QID" not in cell
            }
            embedded -= {column for run in runs(embedded) if len(run) > 2 for column in run}  # answers, too
        else:
            texts = row
    previews, unfinished = _kept_apart(parsed, own, headers)
    parsed = _without(parsed, [*range(headers), *previews])
    said = [f"{headers} rows of question texts and import ids were left out"] if headers else []
    for count, what in ((len(previews), "previews and left out"), (unfinished, "unfinished and count")):
        said += [f"{number(count, 'response')} {agree(count, 'is', 'are')} {what}"] if count else []
    known, embedded = {*own.values(), *embedded}, embedded - {*own.values()}
    survey = _Survey("Qualtrics", own["responseid"], known, texts, embedded)
    return _of_survey(parsed, survey, said, name)


def _with_names(parsed: Parsed) -> Parsed:
    """An older export's columns V1, V2... under the names that stand below them."""
    first = _first_rows(parsed)[0]
    if parsed.columns[0] != "V1" or _folded(first["V1"]) != "responseid":
        return parsed
    found = {column: cell for column, cell in first.items() if _folded(column)[0] == "v"}
    taken = set(parsed.columns)
    new = [
        found[column]
        if column in found and _folded(found[column]) in _OF_QUALTRICS and found[column] not in taken
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
    rows = _first_rows(parsed)
    marked = [2 * sum(cell.startswith(_IMPORT_ID) for cell in cells.values()) > len(cells) for cells in rows]
    if any(marked):
        return len(rows) - marked[::-1].index(True)
    repeating = [
        2 * sum(_folded(cells[one]) in _OF_QUALTRICS for one in own.values()) > len(own) for cells in rows
    ]
    return repeating.index(False) if False in repeating else len(rows)


def _first_rows(parsed: Parsed) -> list[dict[str, str]]:
    rows = parsed.data.slice(0, _MOST_HEADERS).to_pylist()
    return [{column: cell.strip() for column, cell in row.items()} for row in rows]


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


# SurveyMonkey: all responses as CSV or XLSX, a row per respondent below questions and options

_OF_SURVEYMONKEY = re.compile(
    r"respondentid|collectorid|startdate|enddate|ipaddress|emailaddress|firstname|lastname|customdata\d*"
)


def read_surveymonkey(parsed: Parsed, name: str) -> Parsed | None:
    """The responses with how to read them; None where the table is no SurveyMonkey export."""
    own = {
        _folded(column): column for column in parsed.columns if _OF_SURVEYMONKEY.fullmatch(_folded(column))
    }
    if not {"respondentid", "collectorid"} <= own.keys():
        return None
    texts = {column: column.replace(BETWEEN, _SEPARATED, 1) for column in parsed.columns}
    said = ["the second row of the header, of options, was put together with the first"]
    return _of_survey(
        parsed, _Survey("SurveyMonkey", own["respondentid"], {*own.values()}, texts), said, name
    )


# SoSci Survey: CSV, TSV or XLSX, a row per interview, with or without labels of the variables

_OF_SOSCI = re.compile(
    r"CASE|SERIAL|REF|QUESTNNR|MODE|LANGUAGE|STARTED|LASTDATA|STATUS|FINISHED|Q_VIEWER|LASTPAGE|MAXPAGE"
    r"|MISSING|MISSREL|TIME\d{3}|TIME_SUM|TIME_RSI|DEG_TIME|MAILSENT"
)
_NEEDED_OF_SOSCI = 4


def read_sosci(parsed: Parsed, name: str) -> Parsed | None:
    """The interviews with how to read them; None where the table is no SoSci Survey export."""
    own = {column for column in parsed.columns if _OF_SOSCI.fullmatch(column.strip())}
    if len(own) < _NEEDED_OF_SOSCI or "CASE" not in own:
        return None
    texts = description(parsed)
    said = []
    if texts is not None:
        parsed = _without(parsed, [0])
        said = ["a row of the variables' labels was left out"]
    return _of_survey(parsed, _Survey("SoSci Survey", "CASE", own, texts or {}), said, name)
