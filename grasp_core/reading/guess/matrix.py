"""The reading of a matrix: which columns hold labels, and whether its rows are items or raters."""

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from grasp_core.model.annotations import is_number
from grasp_core.model.data_spec import DataSpec, Layout
from grasp_core.model.errors import DataError
from grasp_core.model.text import agree, listed, number, quoted
from grasp_core.reading.dataset.votes import cell_columns
from grasp_core.reading.formats.shapes.column_groups import product
from grasp_core.reading.guess.advice import Confidence, Named, Reading, Reason
from grasp_core.reading.guess.label_columns import (
    QUESTION_WORDS,
    QUESTIONS,
    LabelColumns,
    columns_apart,
    is_called,
    label_columns,
    labels_of,
    majority_column,
    may_be_labels,
    most_shared,
    of_one_kind,
    others_than,
    questions_of,
    settled,
)
from grasp_core.reading.guess.long import guess_long
from grasp_core.reading.guess.look import MOST_QUESTIONS, TEXT_LENGTH, Look
from grasp_core.reading.guess.values import aggregated_cells
from grasp_core.reading.table import names, parsed
from grasp_core.reading.table.parsed import ANY, ITEMS, PLUS, RATERS
from grasp_core.reading.table.table import Recipe, Table

_INITIALS = re.compile(r"(.+[_ .-])([^\W\d_]{1,3})")  # form of names that end in a coder's initials
_POINTS = 2  # most digits of a scale's points; longer numbers are ids
_ASKED = frozenset({"q", "stim", "img", "trial"}) | names.ITEM
"""Words for what respondents are asked about; parts and outputs may belong to the subject of a row."""
_GROUP = re.compile(r"(.+[_ .-])[^\W\d_]{1,2}\*")
"""Form of a pattern of columns that end in a group's letter and a number."""
_PARTS = 8  # largest number of columns that are tried as parts of the rows' ids


class _Side(NamedTuple):
    """Direction of a matrix: whether rows are raters, why, and how sure that is."""

    by_rater: bool
    why: str
    confidence: Confidence


def guess_matrix(look: Look, raters: Table | None, *, by_values: bool = False) -> Reading | None:
    """Guess the reading of a matrix, or None if the file looks long; `by_values`: also by values alone."""
    item, rater = look.ids
    if rater is not None and not look.unique(rater):
        plain = names.id_score(rater, names.RATER) == 3  # beside it, unique ids may be row numbers
        people = () if raters is None else (text for name in raters.columns for text in raters.distinct(name))
        if (plain or item is None or not look.unique(item)) and rater not in people:
            return None
    key = _row_ids(look, raters)
    # Coders who have not begun have empty columns.
    empty = {name: not any(look.whole.distinct(name)) for name in look.columns if name != key}
    others = [name for name, nothing in empty.items() if not nothing]
    cells = label_columns(look, others, raters, key is None, by_values)
    if cells is None:
        return None
    made = majority_column(look, cells.columns, cells.rest)
    labels = labels_of(look, cells.columns)
    also = [name for name in cells.rest if made is None and may_be_labels(look, name, labels)]
    if also and (made := majority_column(look, [*cells.columns, *also], cells.rest)) is not None:
        all_cells = [name for name in others if name in (*cells.columns, *also)]
        cells = columns_apart(others, all_cells, f"{cells.why}, with {listed(also, 3)}", cells.confidence)
    side = _side(look, key, cells, raters, made)
    side = side._replace(confidence="unsure") if by_values else side
    first = cells.columns[0]  # numbered columns may be places in a task, with other people in each batch
    crowd = parsed.stem(first) in names.CROWD or any(
        names.mentions(name, names.ROUNDS) for name in cells.rest
    )
    about = [one for one in cells.rest if one.startswith(first) and names.mentions(one, names.DEMOGRAPHIC)]
    crowd = crowd or any(len(look.texts(one)) > 1 for one in about)  # rater1_gender differs
    numbered = all(name[-1:].isdigit() for name in cells.columns)
    places = raters is None and not side.by_rater and crowd and numbered
    pattern = parsed.pattern_of(cells.columns, look.columns) if places else None
    first, last = quoted(cells.columns[0]), quoted(cells.columns[-1])
    who = (
        f"if {first} to {last} are the same people in all rows; else the file does not tell who gave "
        "which label, and what would do is a row per annotation with a column of who gave it"
    )
    if places and pattern is None:
        side = _Side(False, who, "unsure")
    if key is None and len(cells.columns) == 2:  # two coders, or two questions
        side = side._replace(by_rater=False, confidence="unsure")
    spec, reasons = _reading(look, key, cells, side, raters)
    if unused := tuple(name for name, nothing in empty.items() if nothing):
        spec = replace(spec, ignore=(*spec.ignore, *unused))
        reasons.append(Reason("ignore", f"{listed(unused)}: no cell holds anything"))
    questions = questions_of(look, others)
    if pattern is not None:  # asked whatever layout is named
        reasons.append(Reason("label", who, "unsure", (pattern,)))
    elif len(questions) > 1 and any(cells.columns[0] in parsed.matching(one, others) for one in questions):
        why = f"{listed(questions)} are columns of different kinds, as of several questions"
        coded = _questions_of_coders(look, 2)  # hate_AB, hate_CD: *_AB has two questions to one coder
        patterns = [*(() if coded is None else coded.candidates), *questions, *_of_groups(questions)]
        letters = not cells.rest and all(len(one) == len("M*") for one in questions)
        patterns += [ANY] if letters else []  # M1, M2, F1, F2 may all be raters
        reasons.append(Reason("label", why, "unsure", tuple(dict.fromkeys(patterns))))
    return spec, reasons


def _of_groups(patterns: Sequence[str]) -> Iterator[str]:
    """Yield the pattern of each question to several groups of raters: ``hate_*`` of ``hate_T*, hate_C*``."""
    wider: dict[str, int] = {}
    for pattern in patterns:
        if (told := _GROUP.fullmatch(pattern)) is not None:
            wider[told[1]] = wider.get(told[1], 0) + 1
    yield from (f"{start}*" for start, often in wider.items() if often > 1)


def named_matrix(look: Look, raters: Table | None) -> Reading:
    """Return the reading of a matrix whose columns of labels the user named by a pattern."""
    pattern = str(look.named.label)
    found = parsed.matching(pattern, look.columns)
    own = [name for name in found if not settled(name)]
    found = own if len(own) > 1 else found
    if len(found) < 2:
        raise DataError(
            f"{look.whole.name} has {number(len(found), 'column')} like {quoted(pattern)}, and a matrix has "
            f"several of labels; its columns are {listed(look.columns)}"
        )
    given = {look.named.item, look.named.rater}
    key = next((name for name in look.columns if name in given), None) or _row_ids(look, raters)
    found = [name for name in found if pattern != ANY or name != key]
    rest = tuple(name for name in look.columns if name not in (*found, key))
    cells = LabelColumns(tuple(found), rest, f"{quoted(pattern)} names the columns of labels", "sure")
    side = _side(look, key, cells, raters)
    if look.named.layout is not None:
        side = _Side(look.named.layout == "raters-by-items", "the layout is named", "sure")
    return _reading(look, key, cells, side, raters)


def survey(annotations: Table, raters: Table | None, named: Named, recipe: Recipe) -> Reading:
    """Return the reading of a survey with a row per respondent; ask which columns are items."""
    given = replace(named, layout="raters-by-items", rater=named.rater or recipe.respondents)
    beside = {*recipe.aside, *recipe.embedded}
    look = Look(annotations.without(beside), given)
    reasons = [Reason("layout", f"the file is known: {recipe.name}; {'; '.join(recipe.sentences)}", "sure")]
    if named.cells:
        spec, found = named_matrix(look, raters)
    else:
        found = []
        others = [name for name in look.columns if name != given.rater]
        questions = recipe.questions or tuple(questions_of(look, others))
        why = "which of the questions are items is to be chosen, as a pattern of their columns' names"
        reasons.append(Reason("label", why, "unsure", questions))
        spec = DataSpec(layout="raters-by-items", rater=given.rater)
    reasons += [reason for reason in found if reason.field != "layout"]
    if recipe.embedded:
        why = f"{listed(recipe.embedded)}: set by the survey, and not asked"
        reasons.append(Reason("profile", why))
    profile, ignore = (*spec.profile, *recipe.embedded), (*spec.ignore, *recipe.aside)
    return replace(spec, profile=profile, ignore=ignore), reasons


def row_per_rater(look: Look) -> Reading | None:
    """Return the reading of a row per rater, by the id's name; ask which columns of questions are items."""
    item, rater = look.ids
    asked = questions_of(look, [name for name in look.columns if name != rater])
    if item is not None or rater is None or not look.unique(rater) or not asked:
        return None
    why = f"{quoted(rater)} has another value in each row, as a row per rater has"
    return DataSpec(layout="raters-by-items", rater=rater), [Reason("label", why, "unsure", tuple(asked))]


def column_per_coder(look: Look) -> Reading | None:
    """Return the reading of a file with a column per coder for each of several questions; else None."""
    which = _questions_of_coders(look)
    return None if which is None else (DataSpec(layout="items-by-raters"), [which])


def _questions_of_coders(look: Look, least: int = QUESTIONS) -> Reason | None:
    """Return the question which of several questions is meant, if names end in the coders' initials."""
    ends: dict[str, dict[str, str]] = {}
    for name in look.columns:
        if (told := _INITIALS.fullmatch(name)) is not None and look.kind(name) in ("words", "numbers"):
            ends.setdefault(told[1], {})[told[2]] = name
    often = Counter(frozenset(by) for by in ends.values() if len(by) > 1).most_common(1)
    if not often or often[0][1] < least:
        return None
    coders = sorted(often[0][0])
    asked = {f"{start}{ANY}": [*by.values()] for start, by in ends.items() if {*by} == {*coders}}
    closed = (one for one, columns in asked.items() if 1 < len(labels_of(look, columns)) <= MOST_QUESTIONS)
    patterns = [one for one in closed if not any(map(look.decimals, asked[one]))]
    why = f"the same ends of names, {listed(coders)}, may be those who answered, each in a column"
    return Reason("label", why, "unsure", tuple(patterns), explained=True) if patterns else None


def _row_ids(look: Look, raters: Table | None) -> str | None:
    """Return the column of row ids: one that the raters file has, or one named like ids, or the first."""
    able = [
        name
        for name in look.columns
        if look.unique(name)
        and look.kind(name) != "time"
        and not names.mentions(name, names.DEMOGRAPHIC | names.WHEN)
    ]
    parts = {name for run in parsed.runs(look.columns) for name in run}  # as the tasks' ids in `Task_1_ID`
    able = [name for name in able if name not in parts] or able
    if raters is not None:
        about = [name for name in raters.columns if not names.mentions(name, names.DEMOGRAPHIC)]
        known = {text for name in about for text in raters.distinct(name)}
        hits = {name: len(known.intersection(look[name].values)) for name in able}
        best = max(able, key=lambda name: (hits[name], name in look.ids), default=None)
        if best is not None and 2 * hits[best] > look.n:
            return best
    named = [name for name in look.ids if name in able]
    named += [name for name in able if names.mentions(name, names.ROW_IDS)]
    able = [name for name in _unique(look, able) if not names.mentions(name, names.AGGREGATE)]
    people = (name for name in look.columns if names.mentions(name, names.PEOPLE))
    # some people may have several rows: loading says which
    repeated = [name for name in people if look.n < 2 * len(look[name].values) < 2 * look.n]
    return next(iter([*named, *repeated, *able]), None)


def _unique(look: Look, able: Sequence[str]) -> tuple[str, ...]:
    """Return columns in which no value occurs twice, except in runs of like columns, where that is chance."""
    like = {name for run in parsed.runs(look.columns) for name in run if not names.is_id(name)}
    return tuple(name for name in able if name not in like and look.unique(name))


def _side(
    look: Look, key: str | None, cells: LabelColumns, raters: Table | None, made: str | None = None
) -> _Side:
    """Decide whether rows are raters: by a raters file, then by names; `made`: what cells agree on."""
    by_file = _by_raters_file(look, key, cells, raters)
    found = [*by_file, *_by_names(key, cells)]
    if not found and made is not None:
        return _Side(False, f"{quoted(made)} says what the cells of a row agree on, as raters do", "likely")
    if not found:
        shown = f"{quoted(cells.columns[0])} to {quoted(cells.columns[-1])}"
        why = f"if {shown} are the same people in all rows; where they are labels, cells are counts of votes"
        return _Side(False, why, "unsure")
    first = found[0]
    # Columns that are named by the points of a scale, with some cells that are 0, as of counts.
    of_scale = all(name.isdigit() and len(name) <= _POINTS for name in cells.columns)
    counted = not by_file and of_scale and any("0" in look.texts(name) for name in cells.columns)
    called, labels = {parsed.stem(name) for name in cells.columns}, labels_of(look, cells.columns)
    agreed = made is not None and (not called & names.LABEL or _of_persons(look, cells.columns))
    people = by_file or agreed or parsed.may_be_people(cells.columns)
    if not first.by_rater and (counted or not people):
        why = f"that {quoted(cells.columns[0])} is a person is not said, nor who gave which of the labels"
        if "0" in labels and all(text.isdigit() for text in labels) and len(labels) > 2:
            why += "; if cells say how many gave an answer, the file cannot be analysed"
        return _Side(False, f"{first.why}, but {why}", "unsure")
    if first == _Side(True, first.why, "likely"):
        plain = key is None or names.mentions(key, names.RESPONDENTS)
        plain = plain or names.ROW_IDS.issuperset(names.words(str(key)))
        alone = len(found) == 1 and any(is_called(name, ITEMS) for name in cells.columns)
        if alone and not (plain and called & _ASKED):
            return _Side(True, f"{first.why}, but that the rows are people is not said", "unsure")
        if len(labels) > MOST_QUESTIONS and all(map(is_number, labels)):
            why = f"{len(labels)} different numbers may be points of tests, which nobody judged"
            return _Side(True, f"{first.why}, but {why}", "unsure")
    against = next((other for other in found[1:] if other.by_rater != first.by_rater), None)
    if against is not None:
        return _Side(first.by_rater, f"{first.why}; but {against.why}", "unsure")
    return first


def _of_persons(look: Look, cells: Sequence[str]) -> bool:
    """Return whether most rows have a blank before a filled cell, unlike lists, filled from the left."""
    filled = np.stack([~look[name].among([""]) for name in cells])
    return 2 * int((~filled[:-1] & filled[1:]).any(axis=0).sum()) > look.n


def _by_raters_file(look: Look, key: str | None, cells: LabelColumns, raters: Table | None) -> list[_Side]:
    if raters is None:
        return []
    as_rows = 0 if key is None else most_shared(raters, look[key].values)[1]
    as_columns = most_shared(raters, cells.columns)[1]
    rows, columns = 2 * as_rows > look.n, 2 * as_columns > len(cells.columns)
    if as_rows == as_columns or (rows and columns):  # ids such as 1, 2, 3 may be items' too
        return []
    where = f"the rows of {quoted(str(key))}" if as_rows > as_columns else "the column names"
    why = f"{where} are the rater ids of {raters.name}"
    return [_Side(as_rows > as_columns, why, "sure" if rows or columns else "unsure")]


def _by_names(key: str | None, cells: LabelColumns) -> list[_Side]:
    found: list[_Side] = []
    for kinds, by_rater, what in ((names.RATER, True, "raters"), (names.ITEM, False, "items")):
        if key is not None and names.id_score(key, kinds):
            found.append(_Side(by_rater, f"the name {quoted(key)} says that the rows are {what}", "sure"))
    by_key = bool(found) and not names.mentions(str(key), names.RESPONDENTS)
    for kinds, by_rater, what in ((RATERS, False, "raters"), (ITEMS, True, "items")):
        if 2 * sum(is_called(name, kinds) for name in cells.columns) > len(cells.columns):
            why = f"the columns are named like {what}, {quoted(cells.columns[0])} for one"
            found.append(_Side(by_rater, why, "likely"))
    about = [
        name
        for name in cells.rest
        if names.mentions(name, names.RATER) or names.about_raters(name, key or "")
    ]
    # The word, or short form, that names rows as items may also be one for people.
    if about and len(found) < 2 and not by_key:
        why = f"{listed(about, 5)} {agree(len(about), 'describes', 'describe')} the rows, as of raters"
        found.append(_Side(True, why, "likely"))
    return found


def _reading(look: Look, key: str | None, cells: LabelColumns, side: _Side, raters: Table | None) -> Reading:
    rows, columns = ("rater", "item") if side.by_rater else ("item", "rater")
    about_key = _about_key(look, key, rows, cells.rest, raters)
    # A column in which no value occurs twice may be anything, in a long file too.
    unsure = "unsure" in (side.confidence, cells.confidence, about_key.confidence)
    what = f"a row per {rows} and a column per {columns}: {side.why}; {cells.why}"
    reasons = [Reason("layout", what, "unsure" if unsure else side.confidence), about_key]
    among = f"the {number(len(cells.columns), columns + ' column')}"
    spec, beside = _with_beside(look, side.by_rater, key, cells.rest, among)
    if raters is not None and not side.by_rater:
        id_column = most_shared(raters, cells.columns)[0]
        spec = replace(spec, rater=id_column)
        why = f"{quoted(id_column)} of {raters.name}: it holds the names of the rater columns"
        reasons.append(Reason("rater", why))
    return spec, [*reasons, *beside]


def _with_beside(look: Look, by_rater: bool, key: str | None, beside: Sequence[str], among: str) -> Reading:
    """Return the reading of a matrix with roles for columns beside the labels; `among` names the others."""
    about = tuple(_about_raters(look, key, beside)) if by_rater else ()
    rest = tuple(name for name in beside if name not in about)
    reasons = [Reason("profile", f"{listed(about)}: not among the item columns")] if about else []
    text = None if by_rater or key is None else _text(look, rest)
    if text is not None:
        reasons.append(Reason("text", f"{quoted(text)}: texts, one per item"))
    if others := [name for name in rest if name != text]:
        reasons.append(Reason("ignore", f"{listed(others)}: not among {among}"))
    if by_rater:
        return DataSpec(layout="raters-by-items", rater=key, profile=about, ignore=rest), reasons
    # The text is ignored, too: if another column is named as the text, it does not become a rater's labels.
    return DataSpec(layout="items-by-raters", item=key, ignore=rest, text=text), reasons


def _text(look: Look, beside: Sequence[str]) -> str | None:
    """Return the column of the items' texts: long ones, or named so, of which most differ; None without."""
    able = [
        name
        for name in beside
        if (names.mentions(name, names.TEXT) or look.length(name) > TEXT_LENGTH)
        and not (names.is_id(name) or look.kind(name) in ("numbers", "time", "link"))
        and 2 * len(look.texts(name)) > look.n
    ]
    return max(able, key=lambda name: (names.mentions(name, names.TEXT), look.length(name)), default=None)


def _about_raters(look: Look, key: str | None, beside: Sequence[str]) -> Iterator[str]:
    """Yield columns that describe raters: neither made of labels nor answers to other questions."""
    asked = {name for one in questions_of(look, beside) for name in parsed.matching(one, beside)}
    labels = labels_of(look, others_than(look.columns, [*beside, *([] if key is None else [key])]))
    for name in beside:
        made = names.mentions(name, names.AGGREGATE) or names.is_index(name)
        answers = len(names.words(name)) >= QUESTION_WORDS and may_be_labels(look, name, labels)
        if name not in asked and not answers and (names.mentions(name, names.DEMOGRAPHIC) or not made):
            yield name


def _about_key(look: Look, key: str | None, rows: str, rest: Sequence[str], raters: Table | None) -> Reason:
    if key is None:
        people = [name for name in rest if names.key_score(name) or look.id_score(name, names.RATER)]
        recurring = people if rows == "rater" else [name for name in rest if names.is_id(name)]
        # Ids that identify rows only together are parts of one id, unless one of them is the rater's.
        parts = len(recurring) > 1 and look.identify_rows(*recurring[:2])
        if recurring and (not parts or not set(people).isdisjoint(recurring)):
            why = f"{quoted(recurring[0])} has values that recur, so that one {rows} may have several rows"
            together = () if people else _together(look, recurring[0], rest)
            return Reason(rows, why, "unsure", (*together, *recurring))
        ages = [one for one in rest if names.mentions(one, names.DEMOGRAPHIC) and look.kind(one) == "numbers"]
        unique = _unique(look, [name for name in rest if name not in ages])
        if unique and look.n > 1:
            return Reason(rows, f"{quoted(unique[0])} may hold ids of the rows, or none does", "unsure")
        return Reason(
            rows,
            f"no column holds ids of the rows, so each row is {'an item' if rows == 'item' else 'a rater'}",
            "likely",
        )
    named = key in look.ids or names.mentions(key, names.ROW_IDS)
    if not look.unique(key):
        return Reason(rows, f"{quoted(key)}: its name says whose a row is; some have several", "likely")
    untimed = [name for name in look.columns if look.kind(name) != "time"]  # a form's times come first
    alone = (
        look.kind(key) == "words" and _unique(look, untimed) == (key,) and len(untimed) < len(look.columns)
    )
    first = key == look.columns[0] or alone
    known = raters is not None and 2 * most_shared(raters, look[key].values)[1] > look.n
    confidence: Confidence = "sure" if named or known else "likely" if first else "unsure"
    return Reason(rows, f"{quoted(key)}: no value occurs twice", confidence)


def _of_other_kinds(look: Look, cells: Sequence[str], layout: Layout) -> Reason | None:
    """Ask which columns have the labels if the cells have labels of different kinds; else return None."""
    most = parsed.kinds_of({name: look.texts(name) for name in cells})[0].columns
    beside = others_than(cells, of_one_kind(look, cells, most))
    if not beside:
        return None
    if layout == "items-by-raters" and (of_coders := _questions_of_coders(look)) is not None:
        return of_coders
    why = f"{listed(most, 3)} and {listed(beside, 3)} hold values of different kinds"
    patterns = questions_of(look, look.columns)
    if len(patterns) > 1 and not (layout == "raters-by-items" and product(look.columns)):
        return Reason("label", why, "unsure", tuple(patterns))
    return Reason("profile" if layout == "raters-by-items" else "ignore", why, "unsure", tuple(beside))


def around_matrix(look: Look, found: Reading | None, named: Named) -> Reading:
    """Return the reading of a matrix with the named fields; `found` is the guess, None if none was made."""
    bare = found is None
    unique = _unique(look, [name for name in look.columns if look.kind(name) != "time"])
    if found is None:  # a matrix because the user says so: ids in the first column that may have them
        own = next(iter([*(name for name in look.ids if name in unique), *unique]), None)
        told = _about_key(look, None, "item", look.columns, None)
        if own is not None:
            told = Reason("item", f"{quoted(own)}: no value occurs twice", "likely")
        beside = tuple(
            n for n in look.columns if n != own and names.mentions(n, names.BESIDE | names.ADDRESS)
        )
        spec, aside = _with_beside(look, False, own, beside, "the columns of labels")
        found = spec, [told, *aside]
    spec, reasons = found
    layout = named.layout
    if layout is None and (named.item is not None or named.rater in look.columns):
        layout = "items-by-raters" if named.item is not None else "raters-by-items"
    if layout is not None:
        if spec.layout != layout:
            spec, reasons = _turned(look, spec, reasons)
        reasons = [reason for reason in reasons if reason.field != "layout"]
    cells = cell_columns(look.table, spec)
    if (refused := aggregated_cells(look, cells, spec.layout)) is not None:
        told = Reason("aggregated", refused, "unsure")
        return spec, [told, *(one for one in reasons if one.field != "layout" and one.confidence != "unsure")]
    if bare and cells and (other := _of_other_kinds(look, cells, spec.layout)) is not None:
        reasons = [*reasons, other]
    asked = named.cells or any(one.field == "label" for one in reasons)
    by_item = spec.layout == "items-by-raters"  # items may be named so, too
    if by_item and not asked and (crossed := product(cells)):
        why = f"{listed(cells, 3)} may be several questions to each rater"
        patterns = tuple(questions_of(look, cells))
        if len(patterns) == 1:  # it would take all questions for raters
            patterns = (
                tuple(filter(None, (parsed.pattern_of(one, look.columns) for one in crossed))) or patterns
            )
        several = Reason("label", why, "unsure", patterns)
        of_coders = None if several.candidates else _questions_of_coders(look)
        reasons = [*reasons, of_coders or several]
    key = _key_field(spec)
    given = {name: value for name, value in named.fields.items() if name in ("item", "rater")}
    if named.rater in look.columns and key == "item":
        del given["rater"]
    spec = replace(spec, item=given.get("item", spec.item), rater=given.get("rater", spec.rater))
    reasons = [reason for reason in reasons if reason.field not in given]
    candidates = {"layout": ("items-by-raters", "raters-by-items"), key: unique}
    return spec, [
        replace(reason, candidates=candidates.get(reason.field, ()))
        if reason.confidence == "unsure" and not reason.candidates
        else reason
        for reason in reasons
    ]


def long_or_wide(look: Look, wide: DataSpec) -> Reading | None:
    """Return the long reading of a file that may also be a matrix; None if it needs columns of the cells."""
    spec, reasons = guess_long(look)
    cells, (item, rater) = set(cell_columns(look.table, wide)), (str(spec.item), str(spec.rater))
    unsure = [one for one in reasons if one.field in ("item", "rater") and one.confidence == "unsure"]
    if unsure or item in cells or rater in cells:
        told = any(cells.intersection(run) for run in parsed.runs(look.columns)) or set(look.ids) != {None}
        ids = {item, rater}.intersection(look.columns)
        many = [one for one in ids if len(look.texts(one)) > MOST_QUESTIONS and not look.unique(one)]
        if told or len(many) < 2 or not look.identify_rows(*many):
            return None
    why = (
        f"{quoted(item)} and {quoted(rater)} tell the rows apart as items and raters do, "
        f"but {listed(sorted(cells), 3)} may be columns of a matrix"
    )
    asked = Reason("layout", why, "unsure", ("long", wide.layout))
    return spec, [asked, *(one for one in reasons if one.field != "layout")]


def _key_field(spec: DataSpec) -> str:
    return "item" if spec.layout == "items-by-raters" else "rater"


def _turned(look: Look, spec: DataSpec, reasons: list[Reason]) -> Reading:
    """Swap rows and columns in the reading of a matrix, with the reason for the rows' ids."""
    by_rater, key = spec.layout == "items-by-raters", getattr(spec, _key_field(spec))
    rest = [*spec.profile, *spec.ignore]
    turned, beside = _with_beside(look, by_rater, key, rest, "the columns of labels")
    rows = _key_field(turned)
    ids = [replace(one, field=rows) for one in reasons if one.field == _key_field(spec)]
    if key is None:
        ids = [_about_key(look, None, rows, [*turned.profile, *turned.ignore], None)]
    questions = [one for one in reasons if one.field == "label" and len(one.candidates) > 1]
    if product(look.columns):  # items may be named so
        questions = []
    return turned, [*ids, *beside, *questions]


def _together(look: Look, key: str, rest: Sequence[str]) -> tuple[str, ...]:
    """Return the columns, written ``a+b``, that identify rows together with `key`; none if they do not."""
    aside = names.BESIDE | names.RATER
    able = [n for n in rest if n != key and not (look.decimals(n) or names.mentions(n, aside))][:_PARTS]

    def apart(parts: Sequence[str]) -> bool:
        return len(set(zip(*(look[one].codes.tolist() for one in parts), strict=True))) == look.n

    parts = [key, *able]
    for name in reversed(able):
        fewer = [one for one in parts if one != name]
        parts = fewer if apart(fewer) else parts
    return (PLUS.join(one for one in look.columns if one in parts),) if apart(parts) else ()
