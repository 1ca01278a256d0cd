"""Surveys with a row per respondent: which of the questions are items, and who answered them."""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Collection, Mapping, Sequence

import numpy as np

from grasp_core.model.data_spec import DataSpec
from grasp_core.model.errors import DataError
from grasp_core.model.wording import agree, listed, number, quoted
from grasp_core.reading.formats.shapes.rows import MAX_OPTIONS
from grasp_core.reading.table import names
from grasp_core.reading.table.parsed import Parsed, compact, kinds_of, runs
from grasp_core.reading.table.table import Recipe

_PANEL_IDS = re.compile(
    r"(prolific|participant|worker|mturk|annotator|rater|respondent|subject|assignment)?_?(p?id|code)", re.I
)
_NEVER_ITEMS = re.compile(
    r".*(_TEXT|_DO(_.*)?|[ _](First|Last) Click|[ _]Page Submit|[ _]Click Count|- Text|Timing)", re.I
)
"""Columns of what was typed, of the order that was shown, and of clicks."""


@dataclasses.dataclass(frozen=True, slots=True)
class Survey:
    """An export of a survey, as its tool's reader knows it.

    `own_id`: column of the tool's ids of responses.
    `known`: columns about the response that are no questions.
    """

    tool: str
    own_id: str
    known: Collection[str]
    texts: Mapping[str, str]


def folded(text: str) -> str:
    """Letters and digits alone, in lower case: how a survey's own columns are told."""
    return "".join(filter(str.isalnum, text.casefold()))


def of_survey(parsed: Parsed, survey: Survey, said: Sequence[str], name: str) -> Parsed:
    """The table with how to read it; without it where the columns hold several kinds of answers.

    Raises DataError if several questions were asked about the same things.
    """
    if not len(parsed.data):
        raise DataError(f"{name} ({survey.tool}) holds no responses besides its header rows and previews")
    rater, about = _rater(parsed, survey)
    questions = [column for column in parsed.columns if column not in survey.known and column != rater]
    questions = [one for one in questions if not _about_answer(one, survey.texts.get(one, ""))]
    distinct = _answers(parsed, questions)
    items = _items(distinct, survey.texts)
    _check_one_question(items, distinct, survey, name)
    data = compact(parsed.data)
    spec = None
    if items:
        rest = tuple(column for column in parsed.columns if column not in {rater, *items})
        spec = DataSpec(layout="raters-by-items", rater=rater, profile=rest)
        said = [*said, f"the answers to {number(len(items), 'question')} ({listed(items, 3)}) are the labels"]
    kind = f"{survey.tool}, {parsed.kind}"
    aside = tuple(one for one in parsed.columns if one != rater and one not in questions)
    recipe = Recipe(kind, spec, sentences=(about, *said), respondents=rater, aside=aside)
    return dataclasses.replace(parsed, kind=kind, data=data, recipe=recipe)


def _about_answer(column: str, text: str) -> bool:
    return _NEVER_ITEMS.fullmatch(column) is not None or _NEVER_ITEMS.fullmatch(text[-60:]) is not None


def _rater(parsed: Parsed, survey: Survey) -> tuple[str, str]:
    """The column of the raters' ids, and why: a panel's id of the person, else the tool's of the response."""
    others = [column for column in parsed.columns if column != survey.own_id]
    panel = [column for column in others if _PANEL_IDS.fullmatch(column.strip())]
    whole = [column for column in panel if _is_id(parsed, column)]
    if whole:
        return whole[0], f"each row is a respondent, {quoted(whole[0])} holds the rater ids"
    why = f"each row is a respondent, {quoted(survey.own_id)} holds the rater ids"
    if panel:
        why += f" ({quoted(panel[0])} has blank or repeated values)"
    return survey.own_id, why


def _is_id(parsed: Parsed, column: str) -> bool:
    distinct = parsed.data.column(column).unique().to_pylist()
    return len(distinct) == len(parsed.data) and all(text.strip() for text in distinct)


def _answers(parsed: Parsed, questions: Sequence[str]) -> dict[str, set[str]]:
    """The answers to each question that are not too many for one with options."""
    found = {
        one: {text for text in parsed.data.column(one).unique().to_pylist() if text.strip()}
        for one in questions
    }
    return {one: answers for one, answers in found.items() if len(answers) <= MAX_OPTIONS}


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
        return [] if _as_many_alike(distinct, items, parts[0].labels, texts) else items
    return []


def _as_many_alike(
    distinct: Mapping[str, set[str]], items: Sequence[str], labels: set[str], texts: Mapping[str, str]
) -> bool:
    """Whether as many questions of other names are answered in the same way: their names say little then."""
    others = (one for one in distinct if one not in items and not _about_person(one, texts))
    alike = [one for one in others if len(distinct[one] & labels) > 1 and distinct[one] <= labels]
    return len(alike) >= len(items)


def _of_one_question(questions: Sequence[str], texts: Mapping[str, str]) -> list[list[str]]:
    asked: dict[str, list[str]] = {}
    for one in questions:
        question, _, about = texts.get(one, "").partition(SEPARATED)
        if about:
            asked.setdefault(question, []).append(one)
    return list(asked.values())


SEPARATED = " - "
"""Stands in a text between a question and what it is asked of."""


def _about_person(column: str, texts: Mapping[str, str]) -> bool:
    return names.mentions(column, names.DEMOGRAPHIC) or names.mentions(
        texts.get(column, ""), names.DEMOGRAPHIC | {"old", "born", "school", "job"}
    )


def _check_one_question(
    items: Sequence[str], distinct: Mapping[str, set[str]], survey: Survey, name: str
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
    shown = [survey.texts[run[0]].partition(SEPARATED)[0] for run in asked]
    raise DataError(
        f"{name} ({survey.tool}): {quoted(asked[0][0])}, {quoted(asked[1][0])} and those like them answer "
        f"{number(len(asked), 'different question')} ({listed(shown, 3)}); keep the columns of one of "
        "them, or write a row per annotation with a column per question"
    )


def without(parsed: Parsed, rows: Sequence[int]) -> Parsed:
    """The table without some of its rows; the others keep their numbers."""
    return parsed.kept(np.setdiff1d(np.arange(len(parsed.data)), np.asarray(rows, dtype=np.int64)))


def responses(count: int, what: str) -> str:
    """``2 responses are previews``."""
    return f"{number(count, 'response')} {agree(count, 'is', 'are')} {what}"
