"""Sentences with places for numbers, as :meth:`str.format` has them.

How a place is filled: whole numbers with thousands separated, ``{n:row}`` with the noun in the right form,
``{n:is/are}`` the verb alone, ``{n:d}`` the digits alone; texts as they are, ``{x:q}`` quoted; lists of texts
quoted with commas, ``{x:3}`` the first three and how many more, ``{x:or}`` as they are with that word between
them; lists of remarks as those of what they say; numbers with decimals by their format. ``{x:?text}`` is
`text` where x is neither 0 nor empty, ``{x:!text}`` where it is; places may stand in it.
"""

from __future__ import annotations

import string
from collections.abc import Iterator, Mapping
from typing import Any, TypeVar

from grasp_core.wording import LISTED, agree, cut, number, quoted

Texts = tuple[str | int, ...]
"""Texts; a number at the end says how many more there are that no sentence shows."""
T = TypeVar("T")


def worded(sentence: str, numbers: Mapping[str, Any]) -> str:
    """The sentence with its places filled."""
    return _WORDS.vformat(sentence, (), numbers)


def places(sentence: str) -> dict[str, set[str]]:
    """The places of a sentence, by name, with the forms in which each stands."""
    found: dict[str, set[str]] = {}
    for place, form in _places(sentence):
        found.setdefault(place, set()).add(form)
    return found


def kept(value: T, forms: set[str]) -> T | str | Texts:
    """What a sentence shows of a value; the rest, which may be all of a column, is not passed on."""
    if isinstance(value, str):
        return cut(value) if "q" in forms else value
    if not isinstance(value, tuple) or any(form.isalpha() for form in forms):
        return value
    if not all(isinstance(one, str | int) for one in value):
        return value  # remarks, which are asked for their numbers
    texts, more = _first(value, forms)
    return (*map(cut, texts), *([more] if more else []))


def _places(sentence: str) -> Iterator[tuple[str, str]]:
    for _, place, form, _ in string.Formatter().parse(sentence):
        if place:
            yield place, form or ""
            yield from _places(form or "")


class _Words(string.Formatter):
    def format_field(self, value: Any, format_spec: str) -> str:
        """Fill a place."""
        if format_spec[:1] in ("?", "!"):
            return format_spec[1:] if bool(value) == (format_spec[0] == "?") else ""
        if isinstance(value, int):
            return _counted(value, format_spec)
        if isinstance(value, tuple):
            return _joined(value, format_spec)
        if isinstance(value, str) and format_spec == "q":
            return quoted(value)
        return format(value if isinstance(value, str | float) else str(value), format_spec)


def _counted(count: int, form: str) -> str:
    if form in ("", "d"):
        return format(count, form or ",")
    one, verb, many = form.partition("/")
    return agree(count, one, many) if verb else number(count, one)


def _joined(values: tuple[Any, ...], form: str) -> str:
    if form.isalpha():
        return f" {form} ".join(_texts(values))
    texts, more = _first(values, {form})
    return ", ".join(map(quoted, texts)) + (f" and {more:,} more" if more else "")


def _first(values: tuple[Any, ...], forms: set[str]) -> tuple[list[str], int]:
    """As many as the form with the highest limit shows, and how many more there are."""
    texts, last = _texts(values), values[-1] if values else ""
    limit = max([int(form) for form in forms if form.isdigit()], default=LISTED)
    return texts[:limit], max(len(texts) - limit, 0) + (last if isinstance(last, int) else 0)


def _texts(values: tuple[Any, ...]) -> list[str]:
    return [str(one) for one in values if not isinstance(one, int)]


_WORDS = _Words()
