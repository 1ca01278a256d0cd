"""Values read back from JSON: each checked for its kind, and what is wrong with a file said in one way."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any, TypeVar

from grasp_core.errors import DataError, GraspError

T = TypeVar("T")


def require_header(plain: Any, kind: str, name: str, version: int) -> Mapping[str, Any]:
    """A file's content that says what it is.

    Parameters
    ----------
    plain : object
        What the JSON holds.
    kind : str
        What is expected, as people call it, e.g. "a GRASP result".
    name : str
        Its "format".
    version : int

    Raises
    ------
    DataError
        If it is of another format or version.
    """
    if not isinstance(plain, dict) or plain.get("format") != name:
        raise DataError(f'this is not {kind}: it lacks "format": "{name}"')
    if plain.get("version") != version:
        raise DataError(f"the result has format version {plain.get('version')!r}; this GRASP reads {version}")
    return plain


@contextmanager
def damaged(what: str) -> Iterator[None]:
    """Say of a missing field, or one of the wrong kind or value, that the file is damaged.

    Raises
    ------
    DataError
    """
    try:
        yield
    except (KeyError, TypeError, ValueError, AttributeError, IndexError, OverflowError) as error:
        raise DataError(f"{what} is damaged: {type(error).__name__} at {error}") from None
    except GraspError as error:
        raise DataError(f"{what} is damaged: {error}") from None


def text(value: Any) -> str:
    """A text.

    Raises
    ------
    TypeError
    """
    if not isinstance(value, str):
        raise TypeError(f"{value!r} (expected text)")
    return value


def texts(values: Any) -> tuple[str, ...]:
    """A list of texts.

    Raises
    ------
    TypeError
    """
    if not isinstance(values, list):
        raise TypeError(f"{values!r} (expected a list of texts)")
    return tuple(map(text, values))


def number(value: Any) -> float:
    """A finite number.

    Raises
    ------
    TypeError
    """
    found = float(value)
    if isinstance(value, str | bool) or not math.isfinite(found):
        raise TypeError(f"{value!r} (expected a finite number)")
    return found


def optional(convert: Callable[[Any], T], value: Any) -> T | None:
    """What `convert` makes of a value; None of none."""
    return None if value is None else convert(value)


def one_of(value: Any, choices: tuple[Any, ...]) -> Any:
    """One of a few values.

    Raises
    ------
    ValueError
    """
    if value not in choices:
        raise ValueError(f"{value!r} (expected one of {choices})")
    return value
