"""Reading of JSON and JSON Lines as records."""

import json
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from grasp_core.model.errors import DataError
from grasp_core.model.text import number, quoted
from grasp_core.reading.table import names
from grasp_core.reading.table.columns import MAX_WRITTEN
from grasp_core.reading.table.parsed import check_filled, from_cells, name_columns, no_rows
from grasp_core.reading.table.table import Parsed

MAX_DEPTH = 100  # deepest nesting of objects and lists
FORM = "write a list of objects, or one object per line"
_SPACE = re.compile(r"[ \t\n\r]*")
_SURROGATE = re.compile(r"\\u[dD][89a-fA-F]")
_ESCAPES = re.compile(
    r"(\\u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2}|\\[^u])|\\u[dD][89a-fA-F][0-9a-fA-F]{2}"
)
"""Escapes: a pair of surrogates and every other escape are kept (group 1), half a pair is not."""


class Number(str):
    """A number as the file writes it."""

    __slots__ = ()


class _RepeatedFieldError(Exception):
    pass


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    record = dict(pairs)
    if len(record) < len(pairs):
        raise _RepeatedFieldError(first_twice(pairs))
    return record


def first_twice(pairs: Iterable[tuple[str, Any]]) -> str:
    """Return the first field that occurs twice; one does."""
    counts = Counter(field for field, _ in pairs)
    return next(field for field, count in counts.items() if count > 1)


# NaN is no value, as null is; infinity is a number.
_DECODER = json.JSONDecoder(
    parse_int=Number,
    parse_float=Number,
    parse_constant=lambda name: None if name == "NaN" else Number(name),
    object_pairs_hook=_object,
)


def whole_characters(document: str) -> str:
    """Replace escapes of half a character in JSON by U+FFFD, since half a character is no text."""
    if not _SURROGATE.search(document):
        return document
    return _ESCAPES.sub(lambda found: found[1] or "\\ufffd", document)


def end_of_space(text: str, start: int) -> int:
    """Return the position after white space."""
    space = _SPACE.match(text, start)
    return space.end() if space else start


def decoded(text: str, start: int, name: str, line: int | None = None) -> tuple[Any, int]:
    """Return the value that begins at `start`, and its end; `line` is the text's number if it is a line."""
    where = name if line is None else f"{name}, row {line}"
    try:
        value, end = _DECODER.raw_decode(text, start)
    except json.JSONDecodeError as error:
        what = f"{error.msg.lower()}, at character {error.colno:,}"
        raise DataError(f"{name}, row {line or error.lineno}: this is not JSON ({what}); {FORM}") from None
    except _RepeatedFieldError as error:
        raise DataError(
            f"{where}: an object has the field {quoted(str(error))} twice; give each field a name of its own"
        ) from None
    except RecursionError:
        raise _too_deep(where) from None
    if _is_deep(value):
        raise _too_deep(where)
    return value, end


def _is_deep(value: Any) -> bool:
    level = [value]
    for _ in range(MAX_DEPTH):
        level = [
            inside
            for outer in level
            for inside in (outer.values() if isinstance(outer, dict) else outer)
            if isinstance(inside, dict | list)
        ]
        if not level:
            return False
    return True


def _too_deep(where: str) -> DataError:
    return DataError(f"{where}: nested more than {MAX_DEPTH} deep, which is no table; {FORM}")


MAX_JSON_BYTES = 512 * 2**20  # largest JSON file that is read, in bytes
MAX_VALUES = 1 << 24
"""Most values in a file: each takes about a hundred bytes in memory, however short it is written."""
MAX_NAME = 4_096  # longest name of a field with nested fields: each of them repeats it
_WRAPPERS = frozenset({"data", "records", "items", "rows", "results", "tasks", "examples", "documents"})
"""Fields that may contain all records; a record's own list, such as its annotations, is not among them."""
_COMMAS = re.compile(r'"(?:[^"\\]|\\.)*+"?|,[ \t\n\r]*(?=[\]}])', re.DOTALL)
"""Texts, and commas at the end of a list or object, which people write by hand."""


Record = dict[str, Any]
"""An object whose scalars are text, True, False or None; numbers are the text in the file."""


def records(content: bytes, name: str) -> tuple[list[Record], str]:
    """Return the objects of a JSON file in UTF-8 (forms: docs/formats.md), and "JSON" or "JSON Lines"."""
    if len(content) > MAX_JSON_BYTES:
        raise DataError(
            f"{name} is JSON of more than {MAX_JSON_BYTES / 2**20:.0f} MiB, the most that is read; "
            "save it as CSV or Parquet, or split it"
        )
    values = sum(content.count(mark) for mark in (b",", b"[", b"{"))
    if values > MAX_VALUES:
        raise DataError(
            f"{name} is JSON of about {values:,} values, at most {MAX_VALUES:,} are read; "
            "save it as CSV or Parquet, or split it"
        )
    document = whole_characters(content.decode("utf-8"))
    try:
        whole, end = decoded(document, end_of_space(document, 0), name)
    except DataError:
        mended = _COMMAS.sub(lambda found: found[0] if found[0].startswith('"') else found[0][1:], document)
        if len(mended) == len(document):
            raise
        document = mended
        whole, end = decoded(document, end_of_space(document, 0), name)
    if end_of_space(document, end) < len(document):
        del whole
        return list(_lines(document, name)), "JSON Lines"
    return _listed(whole, name), "JSON"


def cell(content: str) -> Any:
    """Return the list or object that a cell contains as JSON; None for any other cell."""
    if not content.startswith(("[", "{")):
        return None
    document = whole_characters(content)
    try:
        found, end = decoded(document, 0, "a cell")
    except DataError:
        return None
    return found if end_of_space(document, end) == len(document) else None


def _lines(document: str, name: str) -> Iterator[Record]:
    for count, line in enumerate(document.split("\n"), start=1):
        start = end_of_space(line, 0)
        if start == len(line):
            continue
        if line[start] not in "{[":
            raise DataError(f"{name}, row {count}: {quoted(line.strip())} is no object; {FORM}")
        record, end = decoded(line, start, name, count)
        end = end_of_space(line, end)
        if end < len(line):
            raise DataError(
                f"{name}, row {count}: {quoted(line[end:])} follows the object; end the line after it"
            )
        yield _checked(record, f"{name}, row {count}")


def _checked(record: Any, where: str) -> Record:
    if not isinstance(record, dict):
        raise DataError(f"{where}: {quoted(text(record))} is no object; {FORM}")
    return record


def _listed(whole: Any, name: str) -> list[Record]:
    if isinstance(whole, list):
        found = [_checked(record, f"{name}, record {count}") for count, record in enumerate(whole, start=1)]
    else:
        found = _from_object(whole, name)
    if not any(found):
        raise DataError(f"{name} is JSON without records; {FORM}")
    return found


def _from_object(whole: Record, name: str) -> list[Record]:
    values = list(whole.values())
    if whole and all(isinstance(value, dict) for value in values):
        return _from_objects(whole)
    lists = [value for value in values if isinstance(value, list)]
    if whole.keys() == {"columns", "index", "data"} and len(lists) == len(values):
        return _from_split(whole["columns"], whole["data"], name)
    if len(values) > 1 and len(lists) == len(values) and len({len(value) for value in lists}) == 1:
        return [dict(zip(whole, row, strict=True)) for row in zip(*values, strict=True)]
    if values == [[]]:
        return []
    told = names.LABEL | names.RATER  # lists of annotations or raters beside a list of items are records, too
    beside = (
        key for key, value in whole.items() if isinstance(value, list) and value and key not in _WRAPPERS
    )
    alone = all(told.isdisjoint(map(names.singular, names.words(key))) for key in beside)
    inside = [
        value
        for key, value in whole.items()
        if alone and key in _WRAPPERS and isinstance(value, list) and value
    ]
    inside = inside or [value for value in lists if len(lists) == 1 and _of_several_items(value)]
    return _listed(inside[0], name) if len(inside) == 1 else [whole]


def _of_several_items(entries: Sequence[Any]) -> bool:
    """Return whether the objects of a list have ids of items, and these differ."""
    first = entries[0] if entries and all(isinstance(entry, dict) for entry in entries) else {}
    named = [field for field in first if names.is_id(field) and names.id_score(field, names.ITEM)]
    return any(len({text(entry.get(field)) for entry in entries}) > 1 for field in named)


def _from_objects(whole: Mapping[str, Record]) -> list[Record]:
    """Return records by their key; or records from columns with rows by number, as pandas writes."""
    columns = list(whole.values())
    numbers = [str(row) for row in range(len(columns[0]))]
    if numbers and all(list(column) == numbers for column in columns):
        return [{column: cells[row] for column, cells in whole.items()} for row in numbers]
    key = "key"
    while any(key in record for record in columns):
        key = f"_{key}"
    return [{key: name, **record} for name, record in whole.items()]


def _from_split(columns: Sequence[Any], rows: Sequence[Any], name: str) -> list[Record]:
    header = name_columns([text(column) for column in columns], name, "'columns'")[0]
    for count, row in enumerate(rows, start=1):
        if not isinstance(row, list) or len(row) != len(header):
            raise DataError(
                f"{name}, record {count}: {quoted(text(row))} is no list of {number(len(header), 'value')}, "
                "one for each of the columns; write the table again"
            )
    return [dict(zip(header, row, strict=True)) for row in rows]


def table(found: Sequence[Mapping[str, Any]], name: str, kind: str) -> Parsed:
    """Make a table of records: nested objects become columns ``outer.inner``, lists their JSON text."""
    columns: dict[str, None] = {}
    filled = 0
    for count, record in enumerate(found, start=1):
        own = _flat(record, f"{name}, record {count}")
        columns.update(dict.fromkeys(own))
        filled += len(own)
    if not found or not columns:
        raise no_rows(name)
    header, notes = name_columns(list(columns), name, "record 1")
    if len(found) * len(columns) > MAX_WRITTEN:  # a field of a few records takes a cell in each
        raise DataError(
            f"{name}: {number(len(found), 'record')} with {number(len(columns), 'different field')} are more "
            f"than {MAX_WRITTEN:,} cells, the most that is read; leave fields out or save it as Parquet"
        )
    check_filled(len(found), len(columns), filled, name)
    # Flattened again, one by one: a second copy of all records would take as much memory as the first.
    flat = (_flat(record, name) for record in found)
    data = from_cells(list(columns), flat).rename_columns(header)
    return Parsed(data, kind, first_row=1, problems=tuple(notes))


def _flat(record: Mapping[str, Any], where: str) -> dict[str, str]:
    pairs = list(_cells(record, "", where))
    flat = dict(pairs)
    if len(flat) < len(pairs):
        twice = quoted(first_twice(pairs))
        raise DataError(
            f"{where}: both a field and a nested one become the column {twice}; rename one of them"
        )
    return flat


def _cells(record: Mapping[str, Any], prefix: str, where: str) -> Iterator[tuple[str, str]]:
    if len(prefix) > MAX_NAME:
        raise DataError(
            f"{where}: a field of a name of {len(prefix):,} characters, {quoted(prefix)}, holds others; "
            "shorten the name"
        )
    for key, value in record.items():
        if isinstance(value, dict):
            yield from _cells(value, f"{prefix}{key}.", where)
        else:
            yield prefix + key, text(value)


def text(value: Any) -> str:
    """Return a value as the text of a cell: empty for null, JSON for lists and objects."""
    if value is None:
        return ""
    if isinstance(value, str):
        return value
    return str(value) if isinstance(value, bool) else _json(value)


def _json(value: Any) -> str:
    """Return a value as JSON, with numbers as in the file."""
    if isinstance(value, Number):
        return str(value)
    if isinstance(value, list):
        return "[" + ", ".join(map(_json, value)) + "]"
    if isinstance(value, Mapping):
        fields = (f"{json.dumps(key, ensure_ascii=False)}: {_json(inner)}" for key, inner in value.items())
        return "{" + ", ".join(fields) + "}"
    return json.dumps(value, ensure_ascii=False)
