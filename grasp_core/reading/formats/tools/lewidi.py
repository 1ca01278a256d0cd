"""Learning with Disagreements (LeWiDi) and other data sets in its JSON."""

import dataclasses
import re
from collections.abc import Mapping, Sequence
from typing import Any

from grasp_core.model.data_spec import DataSpec
from grasp_core.model.errors import DataError
from grasp_core.model.text import number, quoted
from grasp_core.reading.files.json_files import Record, text
from grasp_core.reading.formats.shapes.rows import Export, JsonRecord, entries, joined, raters_file
from grasp_core.reading.formats.tools.surveys import MISSING
from grasp_core.reading.table import names
from grasp_core.reading.table.parsed import from_rows, name_columns
from grasp_core.reading.table.table import Parsed

_MARKS = frozenset({"annotation task", "soft_label", "hard_label", "disagreement", "other_info"}) | {
    f"number of {what}" for what in ("annotations", "annotators")
}
_NUMBERED = re.compile(r"ann(otator)?[ _-]?\d+", re.IGNORECASE)
_NUMBER = re.compile(r"\d+")
_TOLD = (
    *("age", "gender", "nationality", "education", "ethnicity simplified", "country of birth"),
    *("country of residence", "student status", "employment status", "language"),
)
"""Fields of annotators in the 3rd edition; some of its files omit the "Ann" before annotators' numbers."""
_ABOUT_ITEM = ("text", "split", "lang")
_OWN_COLUMNS = frozenset({"item", "rater", "label", *_ABOUT_ITEM})
_FORM = "'annotations' must hold a label for each of 'annotators', in their order"


def read(records: Sequence[Record], name: str) -> Parsed | None:
    """Return a row per annotation, or per annotator in a file that describes them; None for other files."""
    if not records:
        return None
    if {"annotations", "annotators"} <= records[0].keys() and not _MARKS.isdisjoint(records[0]):
        return _annotations(records, name)
    return _raters(records, name) if all(map(_describes_rater, records)) else None


def _annotations(records: Sequence[Record], name: str) -> Parsed:
    found = Export(name, "LeWiDi, JSON")
    found.said.append("each annotation was given a row; row numbers are those of the items")
    unread: dict[str, None] = {}
    for line, record in entries(records, name):
        labels = _labels(record)
        others, about = _other_info(record.fields, [rater for rater, _ in labels], unread)
        about |= {key: _prose(record.fields[key]) for key in _ABOUT_ITEM if key in record.fields}
        item = text(record.fields.get("key", record.fields.get("id"))) or str(line)
        for at, (rater, label) in enumerate(labels):
            if label:
                more = {question: given[at] for question, given in others.items()}
                found.add(line, item, rater, {"label": label, **more}, about)
    if not found.rows:
        raise DataError(
            f"{name} holds no label in its {number(len(records), 'record')}, as test sets whose labels are "
            "kept back; read the file with the labels"
        )
    found.said += [f"{quoted(field)} was left out: it is no annotator's, and no item's" for field in unread]
    made = found.table()
    shown = "text" if "text" in made.columns else None
    spec = DataSpec(item="item", rater="rater", label="label", text=shown)
    return dataclasses.replace(made, recipe=made.recipe and dataclasses.replace(made.recipe, spec=spec))


def _labels(record: JsonRecord) -> list[tuple[str, str]]:
    """Return annotators and their labels; an annotator without a label has an empty one."""
    labels = record.fields.get("annotations")
    if isinstance(labels, Mapping):
        return [(rater.strip(), _chosen(label)) for rater, label in labels.items()]
    given, raters = (_listed(record.fields.get(key), record.where) for key in ("annotations", "annotators"))
    if given and len(given) != len(raters):
        raise DataError(
            f"{record.where}: {number(len(given), 'annotation')} of {number(len(raters), 'annotator')} "
            f"were found; {_FORM}"
        )
    return list(zip(raters, given, strict=True)) if given else []


def _chosen(label: Any) -> str:
    """Return a label, or several, which the 3rd edition's inference task joins by commas."""
    chosen = map(text, label) if isinstance(label, list) else text(label).split(",")
    return joined(one.strip() for one in chosen if one.strip())


def _listed(value: Any, where: str) -> list[str]:
    if isinstance(value, list):
        return [text(entry).strip() for entry in value]
    if value is None or isinstance(value, str):
        return [entry.strip() for entry in value.split(",")] if value and value.strip() else []
    raise DataError(f"{where}: {quoted(text(value))} is neither a text nor a list; {_FORM}")


def _other_info(
    record: Mapping[str, Any], raters: Sequence[str], unread: dict[str, None]
) -> tuple[dict[str, list[str]], dict[str, str]]:
    """Return fields of `other_info` by annotator, and about the item; note other fields in `unread`."""
    by_rater: dict[str, list[str]] = {}
    about: dict[str, str] = {}
    info = record.get("other_info")
    if not isinstance(info, Mapping):
        return by_rater, about
    if info and set(info) <= set(raters):
        info = {"other_info": info}
    for field, value in info.items():
        of_others = field == "other annotations" and isinstance(value, Mapping)
        for key, held in (value if of_others else {field: value}).items():
            own = key.strip() if key.strip() not in _OWN_COLUMNS else f"other_info.{key.strip()}"
            several = held.split(",") if of_others and isinstance(held, str) else held
            if isinstance(held, Mapping) and set(held) <= set(raters):
                by_rater[own] = [text(held.get(rater)).strip() for rater in raters]
            elif isinstance(several, list) and len(several) == len(raters):
                by_rater[own] = [text(one).strip() for one in several]
            elif of_others or isinstance(held, Mapping | list) or not own:
                unread[own] = None
            else:
                about[own] = text(held)
    return by_rater, about


def _prose(value: Any) -> str:
    """Return a text, or its parts joined, e.g. context and response."""
    if isinstance(value, Mapping):
        return "\n".join(f"{part}: {text(inner)}" for part, inner in value.items())
    return text(value)


def _describes_rater(record: Record) -> bool:
    key = record.get("key")
    if not isinstance(key, str) or len(record) < 2:
        return False
    fields = {field.casefold() for field in record if field != "key"}
    by_number = _NUMBER.fullmatch(key.strip()) and {"age", "gender"} <= fields <= set(_TOLD)
    plain = not any(isinstance(value, Mapping | list) for value in record.values())
    person = any(field in _TOLD or names.mentions(field, names.DEMOGRAPHIC) for field in fields)
    return plain and person and bool(_NUMBERED.fullmatch(key.strip()) or by_number)


def _raters(records: Sequence[Record], name: str) -> Parsed:
    """Return a row per annotator; bare numbers get the prefix "Ann" that they have in the annotations."""
    keys = [record["key"].strip() for record in records]
    numbers = any(map(_NUMBER.fullmatch, keys))
    described = dict.fromkeys(field for record in records for field in record if numbers or field != "key")
    columns, notes = name_columns(["rater", *described], name, "record 1")
    ids = [f"Ann{key}" if _NUMBER.fullmatch(key) else key for key in keys]
    cells = [
        [own, *(text(record.get(field)).strip() for field in described)]
        for own, record in zip(ids, records, strict=True)
    ]
    said = ["CONSENT_REVOKED, DATA_EXPIRED and NaN mean no value"]
    if numbers:
        said.append("the ids are numbers, which the annotations write as 'Ann0', 'Ann1' and so on")
    kind = "LeWiDi annotators, JSON"
    made = Parsed(from_rows(columns, cells), kind, first_row=1, problems=tuple(notes))
    axes = [column for column in columns[1:] if column != "key"]
    return raters_file(made, kind, axes, (*MISSING, "nan", "NaN"), said)
