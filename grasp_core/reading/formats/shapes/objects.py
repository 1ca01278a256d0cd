"""Objects of JSON whose keys are raters, items or splits, turned into lists of records."""

from __future__ import annotations

import dataclasses
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Any

from grasp_core.model.annotations import is_number
from grasp_core.model.errors import DataError
from grasp_core.model.text import listed, quoted
from grasp_core.reading.files.json_files import Record
from grasp_core.reading.formats.shapes import rows
from grasp_core.reading.table import names

_RATER, _LABEL = "rater", "label"  # names of the fields for a key, and for a value that is no object
_DEPTH = 3
_FEW = 11  # most numbers that may be the points of a scale and no ids
_LIKE = 0.9  # least share of inner objects with a common field if they are of one form
_ITEMS = names.ITEM | {"q"}
_SPLITS = frozenset(["train", "training", "dev", "val", "valid", "validation", "eval", "test"])
OF_ANNOTATIONS = names.RATER | names.word_set("annotation judgment judgement response vote rating review")
_OF_ITEMS = frozenset(["language", "locale", "country", "region"])
"""Fields that a text may have as well as a rater."""
ID = re.compile(r".*[\d@].*")


def flattened(records: Sequence[Record]) -> list[Record] | None:
    """Return a record per annotation of an object with a list per item, rater or split; None for others."""
    lists = records[0] if len(records) == 1 else {}
    if len(lists) < 2 or not all(isinstance(inner, list) for inner in lists.values()):
        return None
    entries = [entry for inner in lists.values() for entry in inner]
    if not entries or not all(isinstance(entry, dict) for entry in entries):
        return None
    fields = Counter(field for entry in entries for field in entry)
    if any(count < _LIKE * len(entries) for count in fields.values()):
        return None
    # The keys are the ids, or splits, that the entries lack.
    has_rater = any(names.id_score(field, names.RATER) for field in fields)
    has_item = any(names.id_score(field, names.ITEM) or field.casefold() == "id" for field in fields)
    if {name.casefold() for name in lists} <= _SPLITS or (has_rater and has_item):
        able = ("split", "part", "_part")
    elif has_rater or has_item:
        able = ("item", "item_id", "_item") if has_rater else (_RATER, "rater_id", "_rater")
    else:
        return None
    key = next(name for name in able if name not in fields)
    return [{key: one, **entry} for one, inner in lists.items() for entry in inner]


def singular(field: str) -> set[str]:
    """Return the words of a field's name, each without a last s."""
    return {word.removesuffix("s") for word in names.words(field)}


@dataclasses.dataclass(frozen=True, slots=True)
class _Map:
    """Objects under one path, one per record that has it; `named` are the words of the path's last field."""

    path: Sequence[str]
    found: Sequence[Record]
    keys: Sequence[str]
    values: Sequence[Any]
    named: set[str]

    @classmethod
    def of(cls, path: Sequence[str], found: Sequence[Record]) -> _Map:
        """Collect the objects' keys and values."""
        keys = list(dict.fromkeys(key for one in found for key in one))
        return cls(path, found, keys, [value for one in found for value in one.values()], singular(path[-1]))

    def vary(self) -> bool:
        """Return whether records have different keys, as fields of a structure hardly have."""
        return len({frozenset(one) for one in self.found if one}) > 1

    def of_items(self) -> bool:
        """Return whether most keys are named like items or questions, e.g. ``q1``."""
        stems = [key.rstrip("0123456789").rstrip("_- .").casefold() for key in self.keys]
        return 2 * sum(stem in _ITEMS or f"{stem}s" in _ITEMS for stem in stems) > len(stems)

    def may_be_a_scale(self) -> bool:
        """Return whether keys and values are few numbers, as frequencies of a scale's points."""
        scalars = all(isinstance(value, str) for value in self.values)
        return len(self.keys) <= _FEW and scalars and all(map(is_number, (*self.keys, *self.values)))

    def of_objects(self) -> bool:
        """Return whether all values are objects with a field in common."""
        if not all(isinstance(value, dict) and value for value in self.values):
            return False
        fields = Counter(field for value in self.values for field in value)
        return any(count >= _LIKE * len(self.values) for count in fields.values())

    def of_answers(self) -> bool:
        """Return whether all values are scalars, or lists of scalars, as for several choices."""
        inside = (rows.several(value) for value in self.values)
        return not any(isinstance(one, dict | list) for several in inside for one in several)

    def of_raters(self) -> bool:
        """Return whether the keys are raters."""
        by_rater, by_label = (not words.isdisjoint(self.named) for words in (names.RATER, names.LABEL))
        like_ids = 5 * sum(map(bool, map(ID.fullmatch, self.keys))) >= 4 * len(self.keys)
        if self.of_objects():
            labelled = by_label or any(names.label_score(field) for value in self.values for field in value)
            if by_rater and (labelled or self.vary()):
                return True
            return (labelled and like_ids) or (by_label and self.vary())
        if not self.of_answers():
            return False
        if by_rater:
            return like_ids or self.vary()
        return by_label and like_ids and not self.may_be_a_scale()

    def unclear(self) -> bool:
        """Return whether the keys may be raters or something else."""
        if names.LABEL.isdisjoint(self.named):
            return False
        return (self.of_answers() and self.vary()) or (self.of_objects() and not self.vary())


def as_lists(records: Sequence[Record], name: str) -> list[Record] | None:
    """Return the records with lists in place of objects by rater, else None; refuse unclear keys."""
    if any(
        isinstance(value, str)
        and (names.id_score(field, names.RATER) or names.mentions(field, names.DEMOGRAPHIC - _OF_ITEMS))
        for record in records[: rows.LOOKED_AT]
        for field, value in record.items()
    ):
        return None  # a record is about one rater, so objects are not by rater
    objects: dict[tuple[str, ...], list[Record]] = {}
    other: set[tuple[str, ...]] = set()  # paths with another value in a record
    for path, value in (pair for record in records for pair in _fields(record, ())):
        if isinstance(value, dict):
            objects.setdefault(path, []).append(value)
        elif value is not None:
            other.add(path)
    maps = [_Map.of(path, found) for path, found in objects.items() if path not in other]
    maps = [found for found in maps if len(found.keys) > 1 and not found.of_items()]
    if (chosen := next((found for found in maps if found.of_raters()), None)) is not None:
        return [_replaced(record, chosen.path) for record in records]
    for found in (found for found in maps if found.unclear()):
        raise DataError(
            f"{name}: the keys of {quoted('.'.join(found.path))} ({listed(found.keys)}) may be raters or "
            "something else, such as labels; call the field 'annotators' if they are raters, or write a row "
            "per annotation with its rater"
        )
    return None


def _fields(record: Record, outer: tuple[str, ...]) -> Iterator[tuple[tuple[str, ...], Any]]:
    for field, value in record.items():
        path = (*outer, field)
        yield path, value
        if isinstance(value, dict) and len(path) < _DEPTH:
            yield from _fields(value, path)


def _replaced(record: Record, path: Sequence[str]) -> Record:
    """Return the record with a list in place of the object at the path."""
    field, *rest = path
    inner = record.get(field)
    if not isinstance(inner, dict):
        return record
    if rest:
        return {**record, field: _replaced(inner, rest)}
    entries = []
    for key, value in inner.items():
        entry = value if isinstance(value, dict) else {_LABEL: value}
        name = _RATER
        while name in entry:
            name = f"{name}_{_RATER}"
        entries.append({name: key, **entry})
    return {**record, field: entries}
