"""Records that hold each rater's answers under the rater's id: ``{"annotators": {"P01": {"label": 3}}}``."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from grasp_core.model.annotations import is_number
from grasp_core.model.errors import DataError
from grasp_core.model.text import listed, quoted
from grasp_core.reading.files.json_files import Record
from grasp_core.reading.formats.shapes.rows import LOOKED_AT
from grasp_core.reading.table import names

KEY = "rater"
"""Name of the field that a key becomes."""
VALUE = "label"
"""Name of the field that a value becomes which is no object."""
_DEPTH = 3
_FEW = 11
"""So few numbers may be the points of a scale rather than ids."""
_LIKE = 0.9
"""Share of inner objects that have a field, for them to be of one form."""
_ITEMS = names.ITEM | {"q"}
_SPLITS = frozenset(["train", "training", "dev", "val", "valid", "validation", "eval", "test"])
_ANNOTATIONS = frozenset(["annotation", "judgment", "judgement", "response", "vote", "rating", "review"])
_OF_ITEMS = frozenset(["language", "locale", "country", "region"])
"""Fields that a text may have as well as a rater."""
_ID = re.compile(r".*[\d@].*")

Path = tuple[str, ...]


@dataclass(frozen=True, slots=True)
class _Map:
    """The objects found under one path.

    `found`: one per record that has it.
    """

    path: Path
    found: list[Record]

    @property
    def keys(self) -> dict[str, None]:
        return dict.fromkeys(key for one in self.found for key in one)

    @property
    def values(self) -> list[Any]:
        return [value for one in self.found for value in one.values()]

    def vary(self) -> bool:
        """Whether records have different keys, as fields of a structure hardly do."""
        return len({frozenset(one) for one in self.found if one}) > 1

    def like_ids(self) -> bool:
        """Whether most keys hold digits or are addresses, as ids do."""
        return 5 * sum(_ID.fullmatch(key) is not None for key in self.keys) >= 4 * len(self.keys)

    def of_items(self) -> bool:
        """Whether most keys are named as items or questions are, e.g. ``q1``."""
        stems = [key.rstrip("0123456789").rstrip("_- .").casefold() for key in self.keys]
        return 2 * sum(stem in _ITEMS or f"{stem}s" in _ITEMS for stem in stems) > len(stems)

    def may_be_a_scale(self) -> bool:
        """Whether keys and values are few numbers: how often each point was chosen."""
        return (
            len(self.keys) <= _FEW
            and all(is_number(key) for key in self.keys)
            and all(isinstance(value, str) and is_number(value) for value in self.values)
        )

    def of_objects(self) -> bool:
        """Whether all values are objects with a field in common."""
        values = self.values
        if not all(isinstance(value, dict) and value for value in values):
            return False
        fields = Counter(field for value in values for field in value)
        return any(count >= _LIKE * len(values) for count in fields.values())

    def of_answers(self) -> bool:
        """Whether all values are scalars, or lists of some, as several choices are."""
        inside = (value if isinstance(value, list) else [value] for value in self.values)
        return not any(isinstance(one, dict | list) for several in inside for one in several)


def as_lists(records: Sequence[Record], name: str) -> list[Record] | None:
    """The records with a list of objects, each with its key as `KEY`, in place of the raters' objects.

    Returns none where no field holds objects by raters.
    Raises DataError where the keys may be raters or something else.
    """
    if any(
        isinstance(value, str)
        and (names.id_score(field, names.RATER) or names.mentions(field, names.DEMOGRAPHIC - _OF_ITEMS))
        for record in records[:LOOKED_AT]
        for field, value in record.items()
    ):
        return None  # a record is about one rater, so that its objects are not
    maps = [found for found in _maps(records) if len(found.keys) > 1 and not found.of_items()]
    chosen = next((found for found in maps if _is_of_raters(found)), None)
    if chosen is not None:
        return [_replaced(record, chosen.path) for record in records]
    for unclear in (found for found in maps if _named(found.path[-1])[1]):
        if not (unclear.of_answers() and unclear.vary()) and not (
            unclear.of_objects() and not unclear.vary()
        ):
            continue
        field = ".".join(unclear.path)
        raise DataError(
            f"{name}: the keys of {quoted(field)} ({listed(list(unclear.keys))}) may be raters or something "
            "else, such as labels; call the field 'annotators' if they are raters, or write a row per "
            "annotation with its rater"
        )
    return None


def flattened(records: Sequence[Record]) -> list[Record] | None:
    """A record per annotation of an object with a list of them per item, rater or split; None for others."""
    lists = records[0] if len(records) == 1 else {}
    entries = [entry for inner in lists.values() if isinstance(inner, list) for entry in inner]
    if len(lists) < 2 or not entries or not all(isinstance(inner, list) for inner in lists.values()):
        return None
    if not all(isinstance(entry, dict) for entry in entries):
        return None
    fields = Counter(field for entry in entries for field in entry)
    if any(count < _LIKE * len(entries) for count in fields.values()):
        return None
    # The keys are what the entries lack.
    has_rater = any(names.id_score(field, names.RATER) for field in fields)
    has_item = any(names.id_score(field, names.ITEM) or field.casefold() == "id" for field in fields)
    if {name.casefold() for name in lists} <= _SPLITS or (has_rater and has_item):
        able = ("split", "part", "_part")
    elif has_rater or has_item:
        able = ("item", "item_id", "_item") if has_rater else (KEY, "rater_id", "_rater")
    else:
        return None
    key = next(name for name in able if name not in fields)
    return [{key: one, **entry} for one, inner in lists.items() for entry in inner]


def is_of_annotations(field: str) -> bool:
    """Whether a field's name speaks of annotations or raters, rather than of the labels that there are."""
    found = {word.removesuffix("s") for word in names.words(field)}
    return not found.isdisjoint(names.RATER | _ANNOTATIONS)


def _maps(records: Sequence[Record]) -> list[_Map]:
    """Objects by their path, but for those that are something else in a record."""
    found: dict[Path, list[Record]] = {}
    other: set[Path] = set()
    for record in records:
        for path, value in _fields(record, ()):
            if isinstance(value, dict):
                found.setdefault(path, []).append(value)
            elif value is not None:
                other.add(path)
    return [_Map(path, objects) for path, objects in found.items() if path not in other]


def _fields(record: Record, outer: Path) -> Iterator[tuple[Path, Any]]:
    for field, value in record.items():
        path = (*outer, field)
        yield path, value
        if isinstance(value, dict) and len(path) < _DEPTH:
            yield from _fields(value, path)


def _is_of_raters(found: _Map) -> bool:
    of_raters, of_labels = _named(found.path[-1])
    if found.of_objects():
        labelled = of_labels or any(names.label_score(field) for value in found.values for field in value)
        if of_raters and (labelled or found.vary()):
            return True
        return (labelled and found.like_ids()) or (of_labels and found.vary())
    if not found.of_answers():
        return False
    if of_raters:
        return found.like_ids() or found.vary()
    return of_labels and found.like_ids() and not found.may_be_a_scale()


def _named(field: str) -> tuple[bool, bool]:
    """Whether a field is named after raters, and after labels."""
    found = {word.removesuffix("s") for word in names.words(field)}
    return not names.RATER.isdisjoint(found), not names.LABEL.isdisjoint(found)


def _replaced(record: Record, path: Path) -> Record:
    """The record with a list in place of the object at the path."""
    field, *rest = path
    inner = record.get(field)
    if not isinstance(inner, dict):
        return record
    if rest:
        return {**record, field: _replaced(inner, tuple(rest))}
    entries = []
    for key, value in inner.items():
        entry = value if isinstance(value, dict) else {VALUE: value}
        name = KEY
        while name in entry:
            name = f"{name}_{KEY}"
        entries.append({name: key, **entry})
    return {**record, field: entries}
