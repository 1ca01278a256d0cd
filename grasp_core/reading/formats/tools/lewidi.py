"""Learning with Disagreements (LeWiDi) and other data sets in its JSON."""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Mapping, Sequence
from typing import Any

from grasp_core.model.data_spec import DataSpec
from grasp_core.model.errors import DataError
from grasp_core.model.text import number, quoted
from grasp_core.reading.files.json_files import Record, text
from grasp_core.reading.formats.shapes import rows
from grasp_core.reading.formats.shapes.rows import Row, joined, proposed_axes
from grasp_core.reading.formats.tools.surveys import MISSING
from grasp_core.reading.table.parsed import Parsed, from_rows, name_columns
from grasp_core.reading.table.table import Recipe

_MARKS = {
    "annotation task",
    "number of annotations",
    "number of annotators",
    "soft_label",
    "hard_label",
    "disagreement",
    "other_info",
}
_NUMBERED = re.compile(r"ann(otator)?[ _-]?\d+", re.IGNORECASE)
_NUMBER = re.compile(r"\d+")
_TOLD = (
    "age|gender|nationality|education|ethnicity simplified|country of birth|country of residence"
    "|student status|employment status|language"
)
"""Fields of annotators in the 3rd edition; some of its files leave the "Ann" before their numbers out."""
_ABOUT_ITEM = ("text", "split", "lang")
_OWN_COLUMNS = frozenset({"item", "rater", "label", *_ABOUT_ITEM})
_FORM = "'annotations' must hold a label for each of 'annotators', in their order"
_NOT_A_NUMBER = ("nan", "NaN")


def read(records: Sequence[Record], name: str) -> Parsed | None:
    """A row per annotation, or per annotator where the file describes those; None for other files."""
    if not records:
        return None
    if {"annotations", "annotators"} <= records[0].keys() and not _MARKS.isdisjoint(records[0]):
        return _annotations(records, name)
    return _raters(records, name) if _describes_raters(records) else None


def _annotations(records: Sequence[Record], name: str) -> Parsed:
    found: list[Row] = []
    unread: dict[str, None] = {}
    for position, record in enumerate(records, start=1):
        labels = _labels(record, f"{name}, record {position}")
        others, told, left = _other_info(record, [rater for rater, _ in labels])
        unread |= dict.fromkeys(left)
        about = told | {field: _prose(record[field]) for field in _ABOUT_ITEM if field in record}
        item = text(record.get("key", record.get("id"))) or str(position)
        for index, (rater, label) in enumerate(labels):
            if label:
                more = {question: given[index] for question, given in others.items()}
                found.append(Row(position, item, rater, {"label": label, **more}, about))
    if not found:
        raise DataError(
            f"{name} holds no label in its {number(len(records), 'record')}, as test sets whose labels are "
            "kept back; read the file with the labels"
        )
    said = (
        "each annotation was given a row; row numbers are those of the items",
        *(f"{quoted(field)} was left out: it is no annotator's, and no item's" for field in unread),
    )
    made = rows.parsed(found, name=name, kind="LeWiDi, JSON", sentences=said)
    spec = DataSpec(
        item="item", rater="rater", label="label", text="text" if "text" in made.columns else None
    )
    return dataclasses.replace(made, recipe=made.recipe and dataclasses.replace(made.recipe, spec=spec))


def _labels(record: Record, where: str) -> list[tuple[str, str]]:
    """Annotators and their labels; an annotator without a label has an empty one."""
    labels = record.get("annotations")
    if isinstance(labels, Mapping):
        return [(rater.strip(), _chosen(label)) for rater, label in labels.items()]
    given, raters = _listed(labels, where), _listed(record.get("annotators"), where)
    if given and len(given) != len(raters):
        raise DataError(
            f"{where}: {number(len(given), 'annotation')} of {number(len(raters), 'annotator')} were found; "
            f"{_FORM}"
        )
    return list(zip(raters, given, strict=True)) if given else []


def _chosen(label: Any) -> str:
    """A label, or several, which the 3rd edition's inference task joins by commas."""
    chosen = [text(one) for one in label] if isinstance(label, list) else text(label).split(",")
    return joined(one.strip() for one in chosen if one.strip())


def _listed(value: Any, where: str) -> list[str]:
    if isinstance(value, list):
        return [text(entry).strip() for entry in value]
    if value is None or isinstance(value, str):
        return [entry.strip() for entry in value.split(",")] if value and value.strip() else []
    raise DataError(f"{where}: {quoted(text(value))} is neither a text nor a list; {_FORM}")


def _other_info(
    record: Record, raters: Sequence[str]
) -> tuple[dict[str, list[str]], dict[str, str], list[str]]:
    """What `other_info` holds: texts by annotator, texts about the item, and names of what is neither."""
    info = record.get("other_info")
    if not isinstance(info, Mapping):
        return {}, {}, []
    if info and set(info) <= set(raters):
        info = {"other_info": info}
    by_rater: dict[str, list[str]] = {}
    about: dict[str, str] = {}
    unread: list[str] = []
    for field, value in info.items():
        inner = value if field == "other annotations" and isinstance(value, Mapping) else {field: value}
        for name, held in inner.items():
            own = name.strip() if name.strip() not in _OWN_COLUMNS else f"other_info.{name.strip()}"
            several = _by_rater(held, raters, split=held is not value)
            if several is not None:
                by_rater[own] = several
            elif isinstance(held, Mapping | list) or held is not value or not own:
                unread.append(own)
            else:
                about[own] = text(held)
    return by_rater, about, unread


def _by_rater(value: Any, raters: Sequence[str], *, split: bool) -> list[str] | None:
    """A text for each annotator; None where there are not as many."""
    if isinstance(value, Mapping):
        return [text(value.get(rater)).strip() for rater in raters] if set(value) <= set(raters) else None
    if isinstance(value, str) and split:
        value = value.split(",")
    if not isinstance(value, list) or len(value) != len(raters):
        return None
    return [text(one).strip() for one in value]


def _prose(value: Any) -> str:
    """A text, or the parts of one, e.g. context and response."""
    if isinstance(value, Mapping):
        return "\n".join(f"{part}: {text(inner)}" for part, inner in value.items())
    return text(value)


def _describes_raters(records: Sequence[Record]) -> bool:
    def numbered(record: Record) -> bool:
        key = record["key"].strip()
        fields = {field.casefold() for field in record if field != "key"}
        by_number = _NUMBER.fullmatch(key) and {"age", "gender"} <= fields <= set(_TOLD.split("|"))
        return bool(_NUMBERED.fullmatch(key) or by_number)  # the 3rd edition has ids that are numbers

    return all(
        isinstance(record.get("key"), str)
        and numbered(record)
        and len(record) > 1
        and not any(isinstance(value, Mapping | list) for value in record.values())
        for record in records
    )


def _raters(records: Sequence[Record], name: str) -> Parsed:
    """A row per annotator; numbers alone get the "Ann" that the annotations have before them."""
    keys = [record["key"].strip() for record in records]
    numbers = any(map(_NUMBER.fullmatch, keys))
    described = dict.fromkeys(field for record in records for field in record if numbers or field != "key")
    columns, notes = name_columns(["rater", *described], name, "record 1")
    cells = [
        [
            f"Ann{key}" if _NUMBER.fullmatch(key) else key,
            *(text(record.get(field)).strip() for field in described),
        ]
        for key, record in zip(keys, records, strict=True)
    ]
    said = (
        ("the ids are numbers, which the annotations write as 'Ann0', 'Ann1' and so on",) if numbers else ()
    )
    missing = (*MISSING, *_NOT_A_NUMBER)
    able = {
        field: [row[index] for row in cells]
        for index, field in enumerate(columns)
        if index and field != "key"
    }
    return Parsed(
        columns,
        from_rows(columns, cells),
        "LeWiDi annotators, JSON",
        first_row=1,
        problems=tuple(notes),
        recipe=Recipe(
            "LeWiDi annotators, JSON",
            axes=proposed_axes(able, missing),
            missing=missing,
            raters=True,
            sentences=("CONSENT_REVOKED, DATA_EXPIRED and NaN mean no value", *said),
        ),
    )
