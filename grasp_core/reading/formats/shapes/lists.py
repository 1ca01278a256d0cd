"""Data sets with a row per item and all its annotations: in lists, or in objects by rater.

One list has rater ids, and others of the same length have their labels. Parquet and JSON have lists, other
tables cells such as ``['P1', 'P2']`` or ``P1;P2``. Objects have each rater's answers under the rater's id:
``{"annotators": {"P01": {"label": 3}}}``.
"""

from __future__ import annotations

import dataclasses
import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from itertools import accumulate
from typing import Any

import numpy as np
import pyarrow as pa

from grasp_core.model.annotations import Int64Array, is_number
from grasp_core.model.errors import DataError
from grasp_core.model.text import listed, number, quoted
from grasp_core.reading.files import json_files
from grasp_core.reading.files.json_files import Record
from grasp_core.reading.formats.shapes import rows
from grasp_core.reading.formats.shapes.rows import joined, read_as_long
from grasp_core.reading.table import names
from grasp_core.reading.table.columns import check_cells, compact
from grasp_core.reading.table.table import Parsed

_PARALLEL = 0.9
"""Least share of the rows examined in which lists that belong together are equally long."""
_TRIED = 20
"""Most columns that are tried as the raters' list."""


@dataclasses.dataclass(frozen=True, slots=True)
class Lists:
    """Columns of lists that belong together.

    `rater`: the column of rater ids.
    `others`: columns with as many entries: labels, times, facts about raters.
    """

    rater: str
    others: tuple[str, ...]

    @property
    def all(self) -> tuple[str, ...]:
        """All columns, the raters' first."""
        return (self.rater, *self.others)

    def entries(self, lengths: Mapping[str, Int64Array], numbers: Int64Array, name: str) -> Int64Array:
        """Return the number of annotations of each row, by lengths (n,); refuse rows with unequal lists."""
        raters = lengths[self.rater]
        unequal = {path: np.flatnonzero(lengths[path] != raters) for path in self.others}
        if worst := [path for path in self.others if unequal[path].size]:
            path = min(worst, key=lambda one: int(unequal[one][0]))
            at = int(unequal[path][0])
            raise DataError(
                f"{name}, row {numbers[at]}: {quoted(path)} has "
                f"{number(int(lengths[path][at]), 'entry', 'entries')} and {quoted(self.rater)} has "
                f"{int(raters[at]):,}; give both one entry per annotation"
            )
        return raters


def parallel(lengths: Mapping[str, Int64Array]) -> Lists | None:
    """Return the lists of annotations, by lengths (n,): one named like rater ids, and equally long ones."""
    scores = {path: names.list_score(path) for path in lengths}
    # Of a whole data set's lists, annotations have items' ids; a list of raters beside them has none.
    whole = all(len(own) == 1 for own in lengths.values())
    ids = [path for path in lengths if whole and names.is_id(path) and names.id_score(path, names.ITEM)]
    rated = {path.rpartition(".")[0] for path in ids}
    able = [path for path in scores if scores[path]]
    able.sort(key=lambda path: (path.rpartition(".")[0] not in rated, -scores[path]))
    for rater in able[:_TRIED]:
        if others := _as_long(lengths, rater):
            return Lists(rater, others)
    return None


def _as_long(lengths: Mapping[str, Int64Array], rater: str) -> tuple[str, ...]:
    own = lengths[rater]
    alike = (path for path in lengths if own.any() and (lengths[path] == own).mean() >= _PARALLEL)
    return tuple(path for path in alike if path != rater)


def recognised(parsed: Parsed, lists: Lists, kind: str, unread: Sequence[str] = ()) -> Parsed:
    """Return a table with a row per annotation, and its reading; `parsed.lines` numbers the rows.

    `unread`: names of lists that are no annotations.
    """
    data = parsed.data
    rows = int(np.unique(parsed.lines).size) if parsed.lines is not None else len(data)
    others = [column for column in data.column_names if column not in lists.all]
    scores = {column: names.key_score(column, names.ITEM) for column in others}
    able = (column for column in others if scores[column] or names.is_id(column))
    named = sorted(able, key=lambda column: -scores[column])
    item = next((column for column in named if len(data.column(column).unique()) == rows), None)
    done = [f"each entry of the lists {listed(lists.all)} was given a row; row numbers are those of the file"]
    if item is None:
        own = {column: names.id_score(column, names.ITEM) for column in lists.others}
        item = max(
            (column for column in own if own[column] > 1), key=lambda column: own[column], default=None
        )
    if item is None and parsed.lines is not None:
        item = "item" if "item" not in data.column_names else "row number"
        column = pa.array([str(line) for line in parsed.lines.tolist()], pa.string())
        data = compact(data.add_column(0, item, column))
        done.append(f"no column tells the items apart, so {quoted(item)} holds the row numbers")
    if unread:
        done.append(f"the lists {listed(unread)} are no annotations and were left out")
    asked = [column for column in lists.others if column != item]
    return read_as_long(parsed, data, kind, (item, lists.rater), asked, done, data.column_names)


# Records

_LOOKED_AT = 1_000
_SIGNATURES = re.compile("completed_by|created_by|annotated_by|by|username|login|email|author|name|id")
"""Fields of an annotation that may name its rater."""
_OF_LABELS = frozenset(["name", "id"])
"""Those that possible labels have, too."""


def read(records: Sequence[Record], name: str) -> Parsed | None:
    """Return a row per annotation of JSON records with parallel lists; None for other files."""
    flat = _flattened(records)
    if flat is not None:
        return json_files.table(flat, name, "JSON")
    _refuse_by_label(records, name)
    records = _plain(records)
    opened = _opened(records, name)
    if opened is not None:
        return read(opened, name)
    lists = _found(records, name)
    by_rater = _as_lists(records, name) if lists is None else None
    if by_rater is not None:
        records, lists = by_rater, _found(by_rater, name)
    if lists is None:
        plain = _plain(records, inside=len(records) > 1)
        return None if plain is records else json_files.table(plain, name, "JSON")
    found = _all_lists(records)
    held = [dict(_held(record)) for record in records]
    lists = _fitting(lists, found, held)
    if any(rows.JOIN in json_files.text(one) for own in found for one in own.get(lists.rater, ())):
        raise DataError(
            f"{name}: an entry of {quoted(lists.rater)} holds several raters; write an entry for each of them"
        )
    beside = [_without_lists(record) for record in records]
    numbers = np.arange(1, len(records) + 1, dtype=np.int64)
    counts = lists.entries(_lengths(found, lists.all), numbers, name)
    check_cells(sum(n * (len(rest) + len(lists.all)) for n, rest in zip(counts, beside, strict=True)), name)
    annotations = [
        {**rest, **{path: own[path][entry] for path in lists.all}}
        for rest, own, count in zip(beside, found, counts.tolist(), strict=True)
        for entry in range(count)
    ]
    parsed = json_files.table(annotations, name, "JSON")
    if not set(lists.all) <= set(parsed.columns):
        return None
    own = {path for one in lists.all for path in (one, one.rpartition(".")[0])}
    unread = [path for path in dict.fromkeys(path for one in held for path in one) if path not in own]
    parsed = dataclasses.replace(parsed, lines=np.repeat(numbers, counts))
    return recognised(parsed, lists, "JSON with lists", unread)


def _refuse_by_label(records: Sequence[Record], name: str) -> None:
    """Refuse lists of raters, each named after a label: ``annotators_toxic``, ``{"label": {"no": []}}``."""
    looked_at = [_lists(record) for record in records[:_LOOKED_AT]]
    named: dict[str, dict[str, None]] = {}
    for path in (path for found in looked_at for path in found):
        outer, _, field = path.rpartition(".")
        first, *more = names.words(field) or ("",)
        if more and names.singular(first) in names.RATER and not names.list_score(path):
            named.setdefault(first, {})[path] = None
        elif not _singular(outer).isdisjoint(names.LABEL):
            named.setdefault(outer, {})[path] = None
    for key, paths in ((key, list(paths)) for key, paths in named.items() if len(paths) > 1):
        held = [
            {json_files.text(one) for found in looked_at for one in found.get(path, ())} for path in paths
        ]
        alike = all(len({len(found.get(path, ())) for path in paths}) == 1 for found in looked_at)
        people = names.singular(key) in names.RATER or all(map(_ID.fullmatch, set().union(*held)))
        again = all(own & set().union(*held[:at], *held[at + 1 :]) for at, own in enumerate(held))
        if people and again and not alike:
            raise DataError(
                f"{name}: {listed(paths)} are lists of raters, each named after what these answered; write "
                "one list of annotations per record, each with its rater and its label"
            )


def _opened(records: Sequence[Record], name: str) -> list[Record] | None:
    """Return a record per entry of a list whose entries have lists of annotations, as sentences of a text.

    An entry beyond the records examined that cannot have such lists is refused.
    """
    entries: dict[str, list[Any]] = {}
    for record in records[:_LOOKED_AT]:
        for field, own in record.items():
            if isinstance(own, list):
                entries.setdefault(field, []).extend(own)
    for field, inner in entries.items():
        found = [_lists(one) if isinstance(one, dict) else {} for one in inner]
        fits = bool(found) and all(
            parallel({path: np.array([len(one[path])]) for path in one}) for one in found
        )
        if fits or (all(isinstance(one, dict) for one in inner) and _opened(inner, name) is not None):
            return _a_record_each(records, field, name)
    return None


def _a_record_each(records: Sequence[Record], field: str, name: str) -> list[Record]:
    opened = []
    for count, record in enumerate(records, start=1):
        held = record.get(field)
        for entry in held if isinstance(held, list) else ():
            if not isinstance(entry, dict):
                raise DataError(
                    f"{name}, record {count}, {quoted(field)}: {quoted(json_files.text(entry))} is no object "
                    "with lists of annotations, as the others in this field are; correct it or leave it out"
                )
            own = {f"{field}.{inner}": value for inner, value in entry.items()}
            opened.append({**record, field: None, **own})
    return opened


def _lengths(found: Sequence[Mapping[str, Sequence[Any]]], paths: Sequence[str]) -> dict[str, Int64Array]:
    return {path: np.array([len(one.get(path, ())) for one in found], dtype=np.int64) for path in paths}


def _found(records: Sequence[Record], name: str) -> Lists | None:
    """Return the lists of annotations, found in the first records."""
    looked_at = _all_lists(records[:_LOOKED_AT])
    paths = list(dict.fromkeys(path for found in looked_at for path in found))
    signed: dict[str, list[str]] = {}
    for path in paths:
        outer, _, field = path.rpartition(".")
        if outer and names.id_score(field, names.RATER):
            signed.setdefault(field, []).append(path)
    for alike in signed.values():  # annotations in other lists would be left out
        if any(found.get(alike[0], []) != found.get(path, []) for path in alike[1:] for found in looked_at):
            raise DataError(
                f"{name}: {listed(alike)} are lists of different raters, so it is not clear which labels are "
                "theirs; write one list of annotations per record, each with its rater and its label"
            )
    lengths = _lengths(looked_at, paths)
    named = parallel(lengths)
    if named is not None:
        return named
    # Lists of annotations with raters in a field such as ``by``: once in a record, and again in others.
    for path in paths:
        outer, _, field = path.rpartition(".")
        about = _singular(outer) & (_OF_ANNOTATIONS | names.LABEL)
        if field in _OF_LABELS:
            about = _singular(outer.rpartition(".")[2]) & _OF_ANNOTATIONS
        if not _SIGNATURES.fullmatch(field) or not about:
            continue
        entries = [[json_files.text(entry) for entry in found.get(path, ())] for found in looked_at]
        once = all(len(set(found)) == len(found) for found in entries)
        total, distinct = sum(map(len, entries)), {entry for found in entries for entry in found}
        varies = len({frozenset(found) for found in entries if found}) > 1
        others = _as_long(lengths, path)
        if once and varies and 1 < len(distinct) < total and "" not in distinct and others:
            return Lists(path, others)
    return None


def _held(record: Record, outer: str = "") -> Iterator[tuple[str, list[Any]]]:
    """Yield a record's lists that are not empty, with their paths."""
    for field, value in record.items():
        if isinstance(value, dict):
            yield from _held(value, f"{outer}{field}.")
        elif isinstance(value, list) and value:
            yield f"{outer}{field}", value
            for entry in (entry for entry in value if isinstance(entry, dict)):
                yield from _held(entry, f"{outer}{field}.")


def _several_each(value: Sequence[Any]) -> bool:
    """Return whether a list has lists of words, such as each rater's choices; numbers may mark spans."""
    inside = [text for one in value for text in rows.several(one)]
    return all(isinstance(one, list) for one in value) and not any(
        not isinstance(text, str) or is_number(text) for text in inside
    )


def _fitting(
    lists: Lists, found: Sequence[Mapping[str, Sequence[Any]]], held: Sequence[Mapping[str, list[Any]]]
) -> Lists:
    """Return the lists, but for lists of lists that differ in length from the list of raters.

    `held`: the lists of each record as they are, by path.
    """
    nested = {path for one in held for path, value in one.items() if _several_each(value)}
    other = {
        path for path in nested for own in found if len(own.get(path, ())) != len(own.get(lists.rater, ()))
    }
    return Lists(lists.rater, tuple(path for path in lists.others if path not in other))


def _without_lists(record: Record) -> Record:
    rest = {
        field: _without_lists(value) if isinstance(value, dict) else value
        for field, value in record.items()
        if not isinstance(value, list)
    }
    return {field: value for field, value in rest.items() if value != {}}


def _all_lists(records: Sequence[Record]) -> list[dict[str, list[Any]]]:
    """Return each record's lists; a field that none of its annotations has is missing in all of them."""
    found = [_lists(record) for record in records]
    objects: dict[str, dict[str, None]] = {}
    for own, record in zip(found, records, strict=True):
        for outer, _ in _held(record):
            fields = (path for path in own if path.startswith(f"{outer}."))
            objects.setdefault(outer, {}).update(dict.fromkeys(fields))
    for own, record in zip(found, records, strict=True):
        for outer, value in _held(record):
            for path in objects[outer]:
                own.setdefault(path, [None] * len(value))
    return found


def _lists(record: Record) -> dict[str, list[Any]]:
    """Return lists of scalars or of several choices, and of each field in lists of objects, by path."""
    found: dict[str, list[Any]] = {}
    for field, value in record.items():
        if isinstance(value, dict):
            found |= {f"{field}.{path}": inner for path, inner in _lists(value).items()}
        if not isinstance(value, list) or not value:
            continue
        if not any(isinstance(entry, dict | list) for entry in value):
            found[field] = value
        elif _several_each(value):
            found[field] = [_text(entry) for entry in value]
        elif all(isinstance(entry, dict) for entry in value):
            entries = [_flat(entry) for entry in value]
            for inner in dict.fromkeys(inner for entry in entries for inner in entry):
                found[f"{field}.{inner}"] = [entry.get(inner) for entry in entries]
    return found


def _plain(records: Sequence[Record], *, inside: bool = False) -> Sequence[Record]:
    """Return the records with objects in place of lists of objects inside annotations, where these are clear.

    A list that always holds one object is that object. Objects with a name each, as the answers to several
    questions have, come under their names. `inside`: records are annotations.
    """
    found: dict[str, list[list[Any]]] = {}
    for path, value in (held for record in records for held in _held(record)):
        found.setdefault(path, []).append(value)
    inner = [
        path
        for path, lists in found.items()
        if (inside or any(outer in found for outer in accumulate(path.split(".")[:-1], "{}.{}".format)))
        and all(isinstance(one, dict) for held in lists for one in held)
    ]
    lone = {path for path in inner if all(len(held) == 1 for held in found[path])}
    named = {path for path in inner if path not in lone and _by_name(found[path])}

    def plain(value: Any, path: str) -> Any:
        if isinstance(value, dict):
            return {field: plain(one, f"{path}.{field}" if path else field) for field, one in value.items()}
        if not isinstance(value, list):
            return value
        entries = [plain(one, path) for one in value]
        if path in lone:
            return entries[0] if entries else None
        return {one["name"]: one for one in entries} if path in named else entries

    return [plain(record, "") for record in records] if lone or named else records


def _by_name(held: Sequence[Sequence[Record]]) -> bool:
    """Return whether objects are answers: within others, with names that recur, but never within a list."""
    called = [[one.get("name") for one in each] for each in held]
    if not all(isinstance(name, str) and name for each in called for name in each):
        return False
    often = Counter(name for each in called for name in each)
    once = all(len(set(each)) == len(each) for each in called)
    answers = all(any(isinstance(own, dict | list) for own in one.values()) for each in held for one in each)
    return once and answers and 2 * min(often.values()) >= len(held)


def _flat(entry: Record) -> Record:
    """Return an annotation's fields, nested ones as ``outer.inner``, and several choices as one label."""
    flat: Record = {}
    for field, value in entry.items():
        # A text may be an object as JSON, as in annotations of labelling jobs.
        opened = json_files.cell(value.strip()) if isinstance(value, str) and value[:1] == "{" else None
        value = opened if isinstance(opened, dict) else value
        if isinstance(value, dict):
            flat |= {f"{field}.{inner}": cell for inner, cell in _flat(value).items()}
        elif not isinstance(value, list) or not any(isinstance(one, dict) for one in value):
            flat[field] = _text(value) if isinstance(value, list) else value
    return flat


def _text(value: Any) -> str:
    """Return a value as a cell; several choices are one label, and none is ``[]``, which may be an answer."""
    if value and isinstance(value, list) and not any(isinstance(one, dict | list) for one in value):
        return joined(map(json_files.text, value))
    return json_files.text(value)


# Objects by rater

_RATER, _LABEL = "rater", "label"
"""Names of the fields for a key, and for a value that is no object."""
_DEPTH = 3
_FEW = 11
"""Most numbers that may be the points of a scale and no ids."""
_LIKE = 0.9
"""Least share of inner objects with a common field if they are of one form."""
_ITEMS = names.ITEM | {"q"}
_SPLITS = frozenset(["train", "training", "dev", "val", "valid", "validation", "eval", "test"])
_OF_ANNOTATIONS = names.RATER | names.word_set("annotation judgment judgement response vote rating review")
_OF_ITEMS = frozenset(["language", "locale", "country", "region"])
"""Fields that a text may have as well as a rater."""
_ID = re.compile(r".*[\d@].*")


def _flattened(records: Sequence[Record]) -> list[Record] | None:
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


def _singular(field: str) -> set[str]:
    return {word.removesuffix("s") for word in names.words(field)}


@dataclasses.dataclass(frozen=True, slots=True)
class _Map:
    """Objects under one path, one per record that has it.

    `named`: words of the path's last field.
    """

    path: Sequence[str]
    found: Sequence[Record]
    keys: Sequence[str]
    values: Sequence[Any]
    named: set[str]

    @classmethod
    def of(cls, path: Sequence[str], found: Sequence[Record]) -> _Map:
        """Collect the objects' keys and values."""
        keys = list(dict.fromkeys(key for one in found for key in one))
        return cls(path, found, keys, [value for one in found for value in one.values()], _singular(path[-1]))

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
        like_ids = 5 * sum(map(bool, map(_ID.fullmatch, self.keys))) >= 4 * len(self.keys)
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


def _as_lists(records: Sequence[Record], name: str) -> list[Record] | None:
    """Return the records with a list of objects, each with its key, in place of objects by rater.

    Return None if no field has objects by rater; refuse keys that may be raters or something else.
    """
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


# Lists in cells

_FIRST_CELLS = 200
_NESTED = 5
_NOTHING = frozenset(["", "None", "nan", "NaN", "null"])
_TOKEN = re.compile(
    r"\s*(?:(?P<mark>[\[\],])|'(?P<one>(?:[^'\\]|\\.)*+)'|\"(?P<two>(?:[^\"\\]|\\.)*+)\""
    r"|(?P<bare>[^\s\[\],'\"()]++))\s*",
    re.DOTALL,
)
_ESCAPE = re.compile(r"\\(.)", re.DOTALL)
_ESCAPED = {"n": "\n", "t": "\t", "r": "\r"}


def read_table(parsed: Parsed, name: str) -> Parsed | None:
    """Return a row per entry of a table's lists; None if no column lists raters."""
    raters = [column for column in parsed.columns if names.list_score(column)]
    head: dict[str, list[str]] = parsed.data.slice(0, _FIRST_CELLS).to_pydict() if raters else {}
    plural = {
        column
        for column in raters
        if any(word.endswith("s") or word == "list" for word in names.words(column)[-2:])
    }
    if parsed.recipe is not None or not any(
        column in plural or any(cell.startswith("[") for cell in head[column]) for column in raters
    ):
        return None
    bracketed = [
        column
        for column, cells in head.items()
        if any(cells) and all(structure(cell) is not None for cell in cells if cell)
    ]
    if len(bracketed) > 1:
        return _exploded(parsed, bracketed, lambda cell: structure(cell) or [], name)
    for separator in (";", "|", ","):
        counts = {column: tuple(cell.count(separator) for cell in cells) for column, cells in head.items()}
        alike = Counter(counts.values())
        listed_in = [
            column
            for column, found_in in counts.items()
            if 2 * sum(map(bool, found_in)) >= sum(map(bool, head[column])) and any(head[column])
        ]
        if any(column in plural and alike[counts[column]] > 1 for column in listed_in):
            return _exploded(parsed, listed_in, partial(_split, separator=separator), name)
    return None


def _split(cell: str, separator: str) -> list[Any]:
    return [entry.strip() for entry in cell.split(separator)] if cell.strip() else []


def structure(cell: str) -> list[Any] | None:
    """Return the list in a cell, as JSON or as Python or NumPy print it; None for other cells."""
    if not (cell.startswith("[") and cell.endswith("]")):
        return None
    found = json_files.cell(cell)
    return found if isinstance(found, list) else _printed(cell)


def _printed(cell: str) -> list[Any] | None:
    """Read a list as Python prints it, with texts in either quotes, and commas or spaces between entries."""
    stack: list[list[Any]] = [[]]
    at = 0
    while at < len(cell):
        token = _TOKEN.match(cell, at)
        if token is None:
            return None
        at = token.end()
        if token["mark"] == "[":
            stack.append([])
        elif token["mark"] == "]" and len(stack) > 1:
            inner = stack.pop()
            stack[-1].append(inner)
        elif token["mark"] == "]" or len(stack) > _NESTED or token["bare"] == "...":
            return None
        elif token["bare"] is not None:
            stack[-1].append(None if token["bare"] in _NOTHING else token["bare"])
        elif token["mark"] is None:
            text = token["one"] if token["one"] is not None else token["two"]
            stack[-1].append(_ESCAPE.sub(lambda found: _ESCAPED.get(found[1], found[1]), text))
        if len(stack) == 1 and at < len(cell):
            return None
    whole = stack[0][0] if len(stack) == 1 and stack[0] else None
    return whole if isinstance(whole, list) else None


def _exploded(
    parsed: Parsed, columns_of_lists: Sequence[str], opened: Callable[[str], list[Any]], name: str
) -> Parsed | None:
    cells: dict[str, list[str]] = parsed.data.select(columns_of_lists).to_pydict()
    found = {column: [opened(cell) for cell in own] for column, own in cells.items()}
    lengths = {
        column: np.array([len(entries) for entries in own], dtype=np.int64) for column, own in found.items()
    }
    lists = parallel(lengths)
    if lists is None:
        return None
    raters = lists.entries(lengths, parsed.numbers, name)
    check_cells(int(raters.sum()) * len(parsed.columns), name)
    rest = [column for column in parsed.columns if column not in lists.all]  # each row recurs per entry
    made = dataclasses.replace(parsed, data=parsed.data.select(rest))
    made = made.kept(np.repeat(np.arange(len(parsed)), raters))
    columns = dict.fromkeys(parsed.columns) | {column: made.data.column(column) for column in rest}
    for column in lists.all:
        texts = [_text(entry) for entries in found[column] for entry in entries]
        columns[column] = pa.chunked_array([texts], pa.string())
    made = dataclasses.replace(made, data=compact(pa.table(columns)))
    return recognised(made, lists, f"{parsed.kind} with lists")
