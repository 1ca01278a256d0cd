"""Potato: annotations by user, as JSON Lines and tables."""

import re
from collections.abc import Iterable, Mapping, Sequence
from pathlib import PurePosixPath
from typing import Any

from grasp_core.model.errors import DataError
from grasp_core.model.remarks.remark import worded
from grasp_core.model.text import quoted
from grasp_core.reading.archives.containers import Archive
from grasp_core.reading.files import delimited, encodings, json_files
from grasp_core.reading.files.json_files import Record
from grasp_core.reading.formats.shapes import rows
from grasp_core.reading.formats.shapes.rows import Export, Row, joined
from grasp_core.reading.table import names
from grasp_core.reading.table.parsed import unwatched
from grasp_core.reading.table.table import Parsed

_ITEM, _RATER, _TEXT = ("instance_id", "id"), ("user", "user_id", "username"), ("displayed_text", "text")
"""Names of fields and columns, in the order of search."""
_OLD = ":::"  # text between question and option in tables of version 1; later versions use a dot
_PROSE = 25  # length above which a cell may be prose
_GOLD = frozenset(["gold", "truth", "groundtruth", "expert", "reference", "majority"])
_INTERNAL = ("_spans", "_room", "_room_id", "_data")
_STATE = "instance_id_to_label_to_value"
_TABLES = ("annotated_instances.csv", "annotated_instances.tsv")
_FILES = ("user_state.json", "annotated_instances.jsonl", "annotated_instances.json", *_TABLES)
"""Files of an annotator's folder, the best first."""
_NO, _MARKS = frozenset({"", "false", "none", "null"}), frozenset({"true", "on", "0", "1"})
_OWN_WORDS = frozenset({"free_response", "other", "text_box"})
_ENOUGH = 10  # fewest answers that can distinguish free text from options
_TIME = re.compile(r"(\d+)d (\d+)h (\d+)m (\d+)s")

_Given = dict[str, dict[str, str]]
"""Values of options by question; the option "" stands for the question itself."""


_Answered = tuple[Row, _Given]  # a row before its questions are known, and its values


def is_table(columns: Sequence[str]) -> bool:
    """Return whether columns are those of an export as CSV, TSV or Parquet."""
    old = any(_OLD in column for column in columns) and _first(_ITEM, columns) and _first(_RATER, columns)
    return bool(old) or tuple(columns[:2]) == ("instance_id", "user_id")


def read(records: Sequence[Record], name: str) -> Parsed | None:
    """Return a row per item and annotator of a state or of JSON Lines; None if they are not Potato's."""
    if not _is_potato(records):
        return None
    return _parsed(list(_from_records(records, name, "")), name, "JSON")


def read_table(parsed: Parsed, name: str) -> Parsed | None:
    """Return a row per item and annotator of a CSV, TSV or Parquet export; None if it is not Potato's."""
    if not is_table(parsed.columns):
        return None
    ids = _first(_ITEM, parsed.columns), _first(_RATER, parsed.columns)
    return _parsed(_from_table(parsed, ""), name, parsed.kind, ids)


def read_archive(archive: Archive) -> Parsed | None:
    """Read the answers of all annotators, a folder each; None if the archive is not Potato's."""
    folders: dict[str, list[tuple[int, str]]] = {}
    for path in archive.names:
        *_, folder, file = ("", *PurePosixPath(path).parts)
        if folder and file in _FILES:
            folders.setdefault(folder, []).append((_FILES.index(file), path))
    answered: list[_Answered] = []
    read = False
    for rater, paths in folders.items():
        for _, path in sorted(paths, key=lambda pair: pair[0]):
            found = _from_member(archive.member(path), f"{archive.name}, {path}", rater)
            if found is not None:
                answered += found
                read = True
                break
    return _parsed(answered, archive.name, "zip") if read else None


def _from_member(content: bytes, where: str, rater: str) -> list[_Answered] | None:
    text, _, _ = encodings.to_utf8(content, where)
    if where.endswith(_TABLES):
        parsed = delimited.parse(text, where, unwatched)
        known = any(_OLD in column for column in parsed.columns) and _first(_ITEM, parsed.columns)
        return _from_table(parsed, rater) if known else None
    # A state is one record, whatever lists it has.
    records, _ = json_files.records(b"[" + text + b"]" if where.endswith(_FILES[0]) else text, where)
    return list(_from_records(records, where, rater)) if _is_potato(records) else None


def _first(able: Sequence[str], fields: Iterable[str]) -> str:
    """Return the first of some names that is among the fields, or an empty text."""
    present = set(fields)
    return next((field for field in able if field in present), "")


def _option_values(value: Any) -> dict[str, str]:
    """Return values of options in an answer: a list names chosen ones, "" stands for the question itself."""
    if isinstance(value, dict):
        return {option: json_files.text(inner) for option, inner in value.items()}
    if isinstance(value, list):
        return {json_files.text(option): "true" for option in value}
    return {} if value is None else {"": json_files.text(value)}


# Tables


def _from_table(parsed: Parsed, folder: str) -> list[_Answered]:
    """Return the answers of each row; `folder` is the annotator if the table is in an annotator's folder."""
    cells = {column: parsed.column(column).cells for column in parsed.columns}
    item, text = _first(_ITEM, cells), _first(_TEXT, cells)
    rater = "" if folder else _first(_RATER, cells)
    items = cells[item] if item else [""] * len(parsed)
    raters = cells[rater] if rater else [folder] * len(parsed)
    old = any(_OLD in column for column in cells)
    questions: dict[str, tuple[str, str]] = {}
    for column in cells:
        question, dot, option = column.partition(_OLD if old else ".")
        if column not in (item, rater, text) and bool(dot) >= old and option not in _INTERNAL:
            questions[column] = question, option
    beside = [column for column in cells if column.startswith("annotator_origin")]
    beside += _not_asked(
        {one: cells[one] for one, (_, option) in questions.items() if not option}, items, raters
    )
    asked = {column: _given_cells(cells[column]) for column in questions if column not in beside}
    answered = []
    for at, line in enumerate(parsed.numbers.tolist()):
        given: _Given = {}
        for column, found in asked.items():
            question, option = questions[column]
            for inner, value in found[at].items():
                given.setdefault(question, {})[inner or option] = value
        about = {"text": cells[text][at]} if text else {}
        extra = {column: cells[column][at] for column in beside}
        answered.append((Row(line, items[at], raters[at], {}, about, extra), given))
    return answered


def _not_asked(
    columns: Mapping[str, Sequence[str]], items: Sequence[str], raters: Sequence[str]
) -> list[str]:
    """Return columns beside the questions: demographics that raters determine, texts that items determine."""

    def decided(ids: Sequence[str], cells: Sequence[str]) -> bool:
        found: dict[str, str] = {}
        pairs = zip(ids, cells, strict=True)
        return all(found.setdefault(key, cell) == cell for key, cell in pairs if key and cell)

    repeated = len(set(items)) < len(items)
    return [
        column
        for column, cells in columns.items()
        if (names.mentions(column, names.DEMOGRAPHIC) and decided(raters, cells))
        or (repeated and (_wordy(cells) or names.mentions(column, _GOLD)) and decided(items, cells))
    ]


def _wordy(cells: Sequence[str]) -> bool:
    """Return whether most of the cells are prose."""
    said = [cell for cell in cells if cell]
    return 2 * sum(len(cell) > _PROSE and " " in cell for cell in said) > len(said)


def _given_cells(cells: Sequence[str]) -> list[dict[str, str]]:
    """Return values of options in each cell of a column; cells are JSON only if all of them are."""
    told = [json_files.cell(cell) for cell in cells]
    if any(cell and found is None for cell, found in zip(cells, told, strict=True)):
        return [{"": cell} if cell else {} for cell in cells]
    return [_option_values(found) for found in told]


# JSON


def _is_potato(records: Sequence[Record]) -> bool:
    if not records:
        return False
    labelled = "label_annotations" in records[0] or {"user_id", "labels", "spans"} <= records[0].keys()
    return _STATE in records[0] or (labelled and bool(_first(_ITEM, records[0])))


def _from_records(records: Sequence[Record], name: str, folder: str) -> Iterable[_Answered]:
    for line, record in rows.entries(records, name):
        fields, where = record.fields, record.where
        rater = folder or rows.want_text(fields.get(_first(_RATER, fields)), where, "the annotator")
        if not rater:
            raise DataError(
                f"{where}: it does not say which annotator answered; pack the folders of all annotators, "
                "as they are in 'annotation_output', into one zip archive"
            )
        if _STATE in fields:
            told = fields.get("instance_id_to_behavioral_data")
            times = told if isinstance(told, dict) else {}
            for item, raw in record.inner(_STATE).items():
                given = _given(raw, f"{where}, item {quoted(item)}")
                yield Row(1, item, rater, {}, {}, _seconds(times.get(item))), given
            continue
        item = rows.want_text(fields.get(_first(_ITEM, fields)), where, "the item's id")
        answers = fields.get(_first(("label_annotations", "labels"), fields))
        shown = _first(_TEXT, fields)
        about = {"text": json_files.text(fields[shown])} if shown else {}
        seconds = _seconds(fields.get("behavioral_data"))
        yield Row(line, item, rater, {}, about, seconds), _given(answers, where)


def _given(raw: Any, where: str) -> _Given:
    """Return questions and options of one answer, in any of the forms that versions of Potato write."""
    given: _Given = {}
    if isinstance(raw, list):  # in states: a label, which is an object of schema and name, and its value
        for pair in raw:
            if len(rows.want_list(pair, where, "an answer")) != 2:
                raise rows.damaged(where, "an answer", pair, "a label and its value")
            label = rows.want_object(pair[0], where, "a label")
            question, option = (
                rows.want_text(label.get(key), where, f"a label's {key}") for key in ("schema", "name")
            )
            given.setdefault(question, {})[option] = json_files.text(pair[1])
    elif raw is not None:
        for question, options in rows.want_object(raw, where, "the answers").items():
            wrapped = isinstance(options, dict) and list(options) == ["labels"]
            given[question] = _option_values(options["labels"] if wrapped else options)
    return given


def _seconds(behaviour: Any) -> dict[str, str]:
    """Return the seconds that the annotator spent on the item, if Potato recorded them."""
    if not isinstance(behaviour, dict):
        return {}
    told, spent = behaviour.get("time_string"), behaviour.get("time_spent")
    if found := _TIME.search(told) if isinstance(told, str) else None:
        days, hours, minutes, seconds = map(int, found.groups())
        spent = str(((days * 24 + hours) * 60 + minutes) * 60 + seconds)
    return {"seconds": spent} if isinstance(spent, str) and spent else {}


# Questions


def _parsed(answered: Sequence[_Answered], name: str, kind: str, ids: tuple[str, ...] = ()) -> Parsed:
    kept = [(row, given) for row, given in answered if given]
    if not kept:
        raise DataError(
            f"{name} is an export of Potato without answers; export it again after annotation, "
            "spans alone are not read"
        )
    options: dict[str, dict[str, set[str]]] = {}
    for _, given in kept:
        for question, values in given.items():
            for option, value in values.items():
                options.setdefault(question, {}).setdefault(option, set()).add(value)
    choices = {
        question
        for question, values in options.items()
        if all(_is_mark(option, said) for option, said in values.items() if option not in {"", *_OWN_WORDS})
    }
    found = Export(name, f"Potato, {kind}", ids)
    texts: dict[str, list[str]] = {}
    for row, given in kept:
        row.answers.update(_answers(given, choices, options))
        found.rows.append(row)
        for question, answer in row.answers.items():
            texts.setdefault(question, []).extend([answer] if answer else [])
    if texts and all(
        len(said) >= _ENOUGH and _wordy(said) and len(set(said)) > 0.9 * len(said) for said in texts.values()
    ):
        sentence = (
            "{name}: its {n:question/questions} {questions} {n:has/have} free texts as answers, which nobody "
            "gives twice, so there is no agreement to measure; a question with options or a rating would do"
        )
        raise DataError(worded(sentence, {"name": name, "n": len(options), "questions": tuple(options)}))
    found.said.append("the options chosen for a question are in one column; spans are left out")
    found.say("{n:item} without an answer left out", len(answered) - len(kept))
    return found.table()


def _is_mark(option: str, texts: set[str]) -> bool:
    said = {text for text in texts if text.casefold() not in _NO}
    marked = {text.casefold() for text in said} <= _MARKS or said == {option}
    return marked or (len(said) == 1 and next(iter(said)).isdigit())  # an option's number in older versions


def _answers(
    given: _Given, choices: set[str], options: Mapping[str, Mapping[str, set[str]]]
) -> dict[str, str]:
    """Return one answer per question with options, and one per field of other questions."""
    answers: dict[str, str] = {}
    for question, values in given.items():
        if question in choices:
            answers[question] = values.get("") or joined(_chosen(values))
            values = {option: text for option, text in values.items() if option in _OWN_WORDS}
        alone = len(options[question]) == 1
        for option, text in values.items():
            answers[question if alone or not option else f"{question}.{option}"] = text
    return {question: text for question, text in answers.items() if question}


def _chosen(values: Mapping[str, str]) -> list[str]:
    """Return the marked options; 0 marks an option only if it is alone, as the number of an option."""
    said = {
        option: text
        for option, text in values.items()
        if option and option not in _OWN_WORDS and text.casefold() not in _NO
    }
    marked = {option: text for option, text in said.items() if text != "0"}
    marked = said if len(said) == 1 and not marked else marked
    return [text if option.startswith("scale_") else option for option, text in marked.items()]
