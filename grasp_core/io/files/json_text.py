"""Values of JSON, with numbers as the file writes them, or a sentence that says where it is none."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterable
from typing import Any

from grasp_core.errors import DataError
from grasp_core.wording import quoted

MAX_DEPTH = 100
"""Deepest nesting of objects and lists."""
FORM = "write a list of objects, or one object per line"
_SPACE = re.compile(r"[ \t\n\r]*")
_SURROGATE = re.compile(r"\\u[dD][89a-fA-F]")
_ESCAPES = re.compile(
    r"(\\u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2}|\\[^u])|\\u[dD][89a-fA-F][0-9a-fA-F]{2}"
)
"""A pair of surrogates and every other escape are kept (group 1), half a pair is not."""


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
    """The first field that occurs twice, as one does."""
    counts = Counter(field for field, _ in pairs)
    return next(field for field, count in counts.items() if count > 1)


def _constant(name: str) -> str | None:
    """NaN is no value, as null is; infinity is a number."""
    return None if name == "NaN" else Number(name)


_DECODER = json.JSONDecoder(
    parse_int=Number, parse_float=Number, parse_constant=_constant, object_pairs_hook=_object
)


def whole_characters(document: str) -> str:
    """JSON whose escapes of half a character are those of U+FFFD, as half of one is no text."""
    if not _SURROGATE.search(document):
        return document
    return _ESCAPES.sub(lambda found: found[1] or "\\ufffd", document)


def end_of_space(text: str, start: int) -> int:
    """The place of what follows white space."""
    space = _SPACE.match(text, start)
    return space.end() if space else start


def decoded(text: str, start: int, name: str, line: int | None = None) -> tuple[Any, int]:
    """The value that begins at `start`, and where it ends; `line` is the text's number if it is a line.

    Raises
    ------
    DataError
        If it is no JSON, nested too deep, or an object has a field twice.
    """
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
