"""Surveys with a row per respondent: Qualtrics, SurveyMonkey, SoSci Survey, LimeSurvey; and Prolific's."""

import dataclasses
import re
from collections.abc import Collection, Mapping, Sequence
from itertools import takewhile

import numpy as np

from grasp_core.model.data_spec import DataSpec
from grasp_core.model.errors import DataError
from grasp_core.model.text import agree, listed, number, quoted
from grasp_core.reading.files.headers import BETWEEN, description
from grasp_core.reading.formats.shapes.rows import MAX_OPTIONS, raters_file
from grasp_core.reading.table import names
from grasp_core.reading.table.columns import compact
from grasp_core.reading.table.parsed import kinds_of, pattern_of, questions_in, runs
from grasp_core.reading.table.table import Parsed, Recipe


def read_table(parsed: Parsed, name: str) -> Parsed | None:
    """Return the table with its reading; None if it is no export of these tools."""
    if (of_raters := _of_prolific(parsed)) is not None:
        return of_raters
    found = (read(parsed) for read in (_of_qualtrics, _of_surveymonkey, _of_sosci, _of_lime))
    survey = next((survey for survey in found if survey is not None), None)
    return None if survey is None else _of_survey(survey, name)


# Prolific: the demographic export of a study, as a raters file

MISSING = ("CONSENT_REVOKED", "DATA_EXPIRED")
"""Texts in cells whose values Prolific may not, or can no longer, show."""
_IDS = ("Participant id", "Participant ID", "participant_id")
_MARKS = re.compile(
    "archived at|completed at|completed_date_time|completion code|custom study tncs accepted at|entered_code"
    "|num_approvals|num_rejections|prolific_score|reviewed at|reviewed_at_datetime|session_id|started at"
    "|started_datetime|status|submission id|time taken|time_taken|total approvals"
)
_NEEDED_MARKS = 3
_JOINED = 2  # rows per participant, on average, from which a table is one of answers joined to the export
_AXES = (
    "sex|gender|ethnicity simplified|ethnicity|age|country of residence|current country of residence"
    "|country of birth|nationality|language|first language|student status|employment status"
)


def _of_prolific(parsed: Parsed) -> Parsed | None:
    """Return the export with its texts for "no value" and proposed axes; None if it is another table."""
    by_name = {column.strip().casefold(): column for column in parsed.columns}
    own_id = next((column for column in _IDS if column in parsed.columns), None)
    if own_id is None or sum(map(bool, map(_MARKS.fullmatch, by_name))) < _NEEDED_MARKS:
        return None
    if len(parsed) >= _JOINED * len(parsed.distinct(own_id)):
        return None
    said = (
        f"{quoted(own_id)} holds the rater ids",
        "CONSENT_REVOKED and DATA_EXPIRED mean no value, 'Prefer not to say' is kept as an answer",
    )
    axes = [by_name[axis] for axis in _AXES.split("|") if axis in by_name]
    made = dataclasses.replace(parsed, kind=f"Prolific, {parsed.kind}")
    return raters_file(made, "Prolific", axes, MISSING, said)


# Surveys: which of the questions are items, and who answered them

_PANEL_IDS = re.compile(
    r"(prolific|participant|worker|mturk|annotator|rater|respondent|subject|assignment)?_?(p?id|code)|token",
    re.I,
)
_NEVER_ITEMS = re.compile(
    r".*(_TEXT|_DO(_.*)?|[ _](First|Last) Click|[ _]Page Submit|[ _]Click Count|- Text|Timing)", re.I
)
"""Columns of typed texts, of the order of display, and of clicks."""
_SEPARATED = " - "  # separator in a text between a question and its subject


@dataclasses.dataclass(frozen=True, slots=True)
class _Survey:
    """An export of a survey, as its tool's reader describes it."""

    tool: str
    parsed: Parsed  # the responses only
    own_id: str  # column of the tool's ids of responses
    known: Collection[str]  # columns about the response that are no questions
    texts: Mapping[str, str]  # texts of the questions
    said: Sequence[str]  # sentences on the changes to the file
    embedded: Collection[str] = ()  # columns of `known` that the survey's maker set, such as a condition

    def asked(self, questions: Sequence[str]) -> dict[str, list[str]]:
        """Group columns of one question about several things, by its text."""
        found: dict[str, list[str]] = {}
        for one in questions:
            question, _, about = self.texts.get(one, "").partition(_SEPARATED)
            if about:
                found.setdefault(question, []).append(one)
        return found

    def about_person(self, column: str) -> bool:
        """Return whether a question is about the respondent, by its name or text."""
        more = names.DEMOGRAPHIC | {"old", "born", "school", "job"}
        return names.mentions(column, names.DEMOGRAPHIC) or names.mentions(self.texts.get(column, ""), more)


def _folded(text: str) -> str:
    """Return letters and digits only, in lower case, for comparison with a survey's own columns."""
    return "".join(filter(str.isalnum, text.casefold()))


def _of_survey(survey: _Survey, name: str) -> Parsed:
    """Return the table with its reading, or without `spec` if columns have several kinds of answers."""
    parsed, texts = survey.parsed, survey.texts
    if not len(parsed):
        raise DataError(f"{name} ({survey.tool}) holds no responses besides its header rows and previews")
    rater, about = _rater(parsed, survey.own_id)
    questions = [
        column
        for column in parsed.columns
        if column not in survey.known
        and column != rater
        and not any(map(_NEVER_ITEMS.fullmatch, (column, texts.get(column, "")[-60:])))
    ]
    said_of = {one: {text for text in parsed.distinct(one) if text.strip()} for one in questions}
    distinct = {one: found for one, found in said_of.items() if len(found) <= MAX_OPTIONS}
    items = _items(distinct, survey)
    patterns = _patterns(items, distinct, survey, name)
    said = [about, *survey.said]
    spec = None
    if items and not patterns:
        rest = tuple(column for column in parsed.columns if column not in {rater, *items})
        spec = DataSpec(layout="raters-by-items", rater=rater, profile=rest)
        said.append(f"the answers to {number(len(items), 'question')} ({listed(items, 3)}) are the labels")
    kind = f"{survey.tool}, {parsed.kind}"
    asked = {*questions}
    last = max((place for place, one in enumerate(parsed.columns) if one in asked), default=0)
    others = [(place, one) for place, one in enumerate(parsed.columns) if one != rater and one not in asked]
    embedded = tuple(one for place, one in others if place > last and one in survey.embedded)
    aside = tuple(one for place, one in others if place <= last or one not in survey.embedded)
    recipe = Recipe(
        kind, spec, sentences=(*said,), respondents=rater, aside=aside, embedded=embedded, questions=patterns
    )
    return dataclasses.replace(parsed, kind=kind, data=compact(parsed.data), recipe=recipe)


def _rater(parsed: Parsed, own_id: str) -> tuple[str, str]:
    """Return the column of rater ids, and why: a panel's id of the person, else the tool's id."""
    why = "each row is a respondent, {} holds the rater ids"
    panel = [one for one in parsed.columns if one != own_id and _PANEL_IDS.fullmatch(one.strip())]
    for column in panel:
        distinct = parsed.distinct(column)
        if len(distinct) == len(parsed) and all(text.strip() for text in distinct):
            return column, why.format(quoted(column))
    unfit = f" ({quoted(panel[0])} has blank or repeated values)" if panel else ""
    return own_id, why.format(quoted(own_id)) + unfit


def _items(distinct: Mapping[str, set[str]], survey: _Survey) -> list[str]:
    """Return the longest run of questions with the same kind of answers; none if that is not certain."""
    closed = list(distinct)
    groups = [run for run in (*runs(closed), *survey.asked(closed).values()) if len(run) > 1]
    for run in sorted(groups, key=len, reverse=True):
        parts = kinds_of({one: distinct[one] for one in run})
        if not parts or len(parts[0].labels) < 2:
            continue
        other = [one for part in parts[1:] for one in part.columns if len(part.labels) > 1]
        if not all(map(survey.about_person, other)) or len(parts[0].columns) < 2:
            return []
        items = [one for one in run if one not in other]
        # If as many questions of other names have the same answers, names say little.
        labels = parts[0].labels
        others = (one for one in distinct if one not in items and not survey.about_person(one))
        alike = [one for one in others if len(distinct[one] & labels) > 1 and distinct[one] <= labels]
        return [] if len(alike) >= len(items) else items
    return []


def _patterns(
    items: Sequence[str], distinct: Mapping[str, set[str]], survey: _Survey, name: str
) -> tuple[str, ...]:
    """Return patterns of several questions about the same things, for a choice of one; or refuse the file."""
    labels: set[str] = set().union(*(distinct[one] for one in items))
    asked = {
        question: run
        for question, run in survey.asked(list(distinct)).items()
        if len(run) > 1 and len(labels & set().union(*(distinct[one] for one in run))) > 1
    }
    if len(asked) < 2:  # names may show it, too
        asked = {run[0]: run for run in questions_in(items) if run}
    if len(asked) < 2:
        return ()
    patterns = [pattern_of(run, list(distinct)) for run in asked.values()]
    if all(patterns):
        return tuple(map(str, patterns))
    first, second, *_ = (quoted(run[0]) for run in asked.values())
    raise DataError(
        f"{name} ({survey.tool}): {first}, {second} and those like them answer "
        f"{number(len(asked), 'different question')} ({listed(list(asked), 3)}); keep the columns of one "
        "of them, or write a row per annotation with a column per question"
    )


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


def _of_qualtrics(parsed: Parsed) -> _Survey | None:
    if not len(parsed):
        return None
    parsed = _with_names(parsed)
    own = {_folded(column): column for column in parsed.columns if _folded(column) in _OF_QUALTRICS}
    dated = not own.keys().isdisjoint({"startdate", "recordeddate"})
    if len(own) < _NEEDED_OF_QUALTRICS or "responseid" not in own or not dated:
        return None
    texts: Mapping[str, str] = {}
    embedded: set[str] = set()
    # The header ends with the import ids, in whatever language the texts above them are; without ids, it ends
    # with the last row that repeats the names.
    head = _first_rows(parsed)
    marked = [at for at, row in enumerate(head) if 2 * len(_import_ids(row)) > len(row)]
    again = [sum(_folded(row[one]) in _OF_QUALTRICS for one in own.values()) for row in head]
    repeated = takewhile(lambda count: 2 * count > len(own), again)
    headers = marked[-1] + 1 if marked else len(list(repeated))
    for row in head[:headers]:
        if ids := _import_ids(row):
            embedded = {column for column, cell in ids.items() if "QID" not in cell}
            embedded -= {column for run in runs(embedded) if len(run) > 2 for column in run}  # answers
        else:
            texts = row
    previews, unfinished = _kept_apart(parsed, own, headers)
    said = [f"{headers} rows of question texts and import ids were left out"] if headers else []
    for count, what in ((len(previews), "previews and left out"), (unfinished, "unfinished and count")):
        said += [f"{number(count, 'response')} {agree(count, 'is', 'are')} {what}"] if count else []
    known, embedded = {*own.values(), *embedded}, embedded - {*own.values()}
    responses = _without(parsed, [*range(headers), *previews])
    return _Survey("Qualtrics", responses, own["responseid"], known, texts, said, embedded)


def _without(parsed: Parsed, rows: Sequence[int]) -> Parsed:
    """Return the table without some of its rows; the others keep their numbers."""
    return parsed.kept(np.setdiff1d(np.arange(len(parsed)), np.asarray(rows, dtype=np.int64)))


def _with_names(parsed: Parsed) -> Parsed:
    """Rename an older export's columns V1, V2... by the names in the row below them."""
    first = _first_rows(parsed)[0]
    if parsed.columns[0] != "V1" or _folded(first["V1"]) != "responseid":
        return parsed
    new = [
        first[column]
        if _folded(column)[:1] == "v"
        and _folded(first[column]) in _OF_QUALTRICS
        and first[column] not in parsed.columns
        else column
        for column in parsed.columns
    ]
    if len(set(new)) < len(new):
        return parsed
    return dataclasses.replace(parsed, data=parsed.data.rename_columns(new))


def _import_ids(row: Mapping[str, str]) -> dict[str, str]:
    return {column: cell for column, cell in row.items() if cell.startswith(_IMPORT_ID)}


def _first_rows(parsed: Parsed) -> list[dict[str, str]]:
    rows = parsed.data.slice(0, _MOST_HEADERS).to_pylist()
    return [{column: cell.strip() for column, cell in row.items()} for row in rows]


def _kept_apart(parsed: Parsed, own: Mapping[str, str], headers: int) -> tuple[list[int], int]:
    """Return rows of previews, and the number of other responses that are unfinished."""

    def cells(key: str) -> list[str]:
        found = parsed.data.column(own[key]).to_pylist()[headers:] if key in own else []
        return [text.strip().casefold() for text in found]

    status = cells("status")
    previews = _PREVIEWS | (_PREVIEW_CODES if all(map(str.isdigit, status)) else set())
    marked = (status, cells("distributionchannel"))
    rows = {row for told in marked for row, text in enumerate(told) if text in previews}
    finished = enumerate(cells("finished"))
    unfinished = sum(text in _UNFINISHED for row, text in finished if row not in rows)
    return sorted(row + headers for row in rows), unfinished


# SurveyMonkey: all responses as CSV or XLSX, a row per respondent below questions and options

_OF_SURVEYMONKEY = re.compile(
    r"respondentid|collectorid|startdate|enddate|ipaddress|emailaddress|firstname|lastname|customdata\d*"
)


def _of_surveymonkey(parsed: Parsed) -> _Survey | None:
    folded = {_folded(column): column for column in parsed.columns}
    own = {key: column for key, column in folded.items() if _OF_SURVEYMONKEY.fullmatch(key)}
    if not {"respondentid", "collectorid"} <= own.keys():
        return None
    texts = {column: column.replace(BETWEEN, _SEPARATED, 1) for column in parsed.columns}
    said = ["the second row of the header, of options, was put together with the first"]
    return _Survey("SurveyMonkey", parsed, own["respondentid"], {*own.values()}, texts, said)


# SoSci Survey: CSV, TSV or XLSX, a row per interview, with or without labels of the variables

_OF_SOSCI = re.compile(
    r"CASE|SERIAL|REF|QUESTNNR|MODE|LANGUAGE|STARTED|LASTDATA|STATUS|FINISHED|Q_VIEWER|LASTPAGE|MAXPAGE"
    r"|MISSING|MISSREL|TIME\d{3}|TIME_SUM|TIME_RSI|DEG_TIME|MAILSENT"
)
_NEEDED_OF_SOSCI = 4


def _of_sosci(parsed: Parsed) -> _Survey | None:
    own = {column for column in parsed.columns if _OF_SOSCI.fullmatch(column.strip())}
    if len(own) < _NEEDED_OF_SOSCI or "CASE" not in own:
        return None
    texts, said = description(parsed), []
    if texts is not None:
        parsed, said = _without(parsed, [0]), ["a row of the variables' labels was left out"]
    return _Survey("SoSci Survey", parsed, "CASE", own, texts or {}, said)


# LimeSurvey: CSV or XLSX, a row per response, columns have codes as names, alone or before the texts

_OF_LIME = names.word_set(
    "id submitdate lastpage startlanguage seed token startdate datestamp ipaddr refurl interviewtime"
)
_NEEDED_OF_LIME = frozenset({"id", "lastpage", "startlanguage"})
_BESIDE_LIME = re.compile(r"groupTime\d+|.*\[(comment|.*other)\]")
"""Codes of comments on an answer, and of the time on a page."""
_PART = re.compile(r"(.*)\[([^\[\]]+)\]\s*")
"""Form of a question with one of its parts in brackets at the end."""


def _of_lime(parsed: Parsed) -> _Survey | None:
    both = {column: column.partition(". ") for column in parsed.columns}
    codes = {column: code.strip() for column, (code, _, _) in both.items()}
    if not set(codes.values()) >= _NEEDED_OF_LIME or len(set(codes.values())) < len(codes):
        return None
    texts = {codes[column]: _PART.sub(rf"\1{_SEPARATED}\2", text) for column, (_, _, text) in both.items()}
    timed = {f"{code}Time" for code in texts}
    known = {code for code in texts if code in _OF_LIME | timed or _BESIDE_LIME.fullmatch(code)}
    said = [] if [*texts] == [*parsed.columns] else ["columns are called by their codes alone"]
    named = dataclasses.replace(parsed, data=parsed.data.rename_columns([*texts]))
    sent = named.data.column("submitdate").to_pylist() if "submitdate" in texts else []
    if unfinished := sum(not text.strip() for text in sent):
        counted = agree(unfinished, "is unfinished and counts", "are unfinished and count")
        said += [f"{number(unfinished, 'response')} {counted}"]
    return _Survey("LimeSurvey", named, "id", known, texts, said)
