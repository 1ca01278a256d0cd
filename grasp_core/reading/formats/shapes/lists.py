"""Data sets with a row per item, a list of rater ids, and equally long lists of their labels."""

from __future__ import annotations

import dataclasses
import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
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
from grasp_core.reading.formats.shapes.objects import ID, OF_ANNOTATIONS, as_lists, flattened, singular
from grasp_core.reading.formats.shapes.rows import joined, read_as_long
from grasp_core.reading.table import names
from grasp_core.reading.table.columns import check_cells, compact
from grasp_core.reading.table.table import Parsed

_PARALLEL = 0.9  # least share of the rows examined in which lists that belong together are equally long
_TRIED = 20  # most columns that are tried as the raters' list


@dataclasses.dataclass(frozen=True, slots=True)
class Lists:
    """The column of lists of raters, and `others` with as many entries: labels, times, facts."""

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
    """Return a row per annotation, with its reading; `parsed.lines` numbers them, `unread` are left out."""
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
_OF_LABELS = frozenset(["name", "id"])  # those that possible labels have, too


def read(records: Sequence[Record], name: str) -> Parsed | None:
    """Return a row per annotation of JSON records with parallel lists; None for other files."""
    flat = flattened(records)
    if flat is not None:
        return json_files.table(flat, name, "JSON")
    _refuse_by_label(records, name)
    records = _plain(records)
    opened = _opened(records, name)
    if opened is not None:
        return read(opened, name)
    lists = _found(records, name)
    by_rater = as_lists(records, name) if lists is None else None
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
        elif not singular(outer).isdisjoint(names.LABEL):
            named.setdefault(outer, {})[path] = None
    for key, paths in ((key, list(paths)) for key, paths in named.items() if len(paths) > 1):
        held = [
            {json_files.text(one) for found in looked_at for one in found.get(path, ())} for path in paths
        ]
        alike = all(len({len(found.get(path, ())) for path in paths}) == 1 for found in looked_at)
        people = names.singular(key) in names.RATER or all(map(ID.fullmatch, set().union(*held)))
        again = all(own & set().union(*held[:at], *held[at + 1 :]) for at, own in enumerate(held))
        if people and again and not alike:
            raise DataError(
                f"{name}: {listed(paths)} are lists of raters, each named after what these answered; write "
                "one list of annotations per record, each with its rater and its label"
            )


def _opened(records: Sequence[Record], name: str) -> list[Record] | None:
    """Return a record per entry of a list whose entries have lists of annotations, as sentences of a text."""
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
        about = singular(outer) & (OF_ANNOTATIONS | names.LABEL)
        if field in _OF_LABELS:
            about = singular(outer.rpartition(".")[2]) & OF_ANNOTATIONS
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
    """Return the lists without lists of lists, in `held` by path, that are not as long as the raters'."""
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
            found[field] = [cell_text(entry) for entry in value]
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
            flat[field] = cell_text(value) if isinstance(value, list) else value
    return flat


def cell_text(value: Any) -> str:
    """Return a value as a cell; several choices are one label, and none is ``[]``, which may be an answer."""
    if value and isinstance(value, list) and not any(isinstance(one, dict | list) for one in value):
        return joined(map(json_files.text, value))
    return json_files.text(value)
