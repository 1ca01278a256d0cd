"""Sentences with places for numbers, as :meth:`str.format` has them.

How a place is filled: whole numbers with thousands separated, ``{n:row}`` with the noun in the right form,
``{n:is/are}`` the verb alone, ``{n:d}`` the digits alone; texts as they are, ``{x:q}`` quoted; lists of texts
quoted with commas, ``{x:3}`` the first three and how many more, ``{x:or}`` as they are with that word between
them; numbers with decimals by their format. ``{x:?text}`` is `text` where x is neither 0 nor empty,
``{x:!text}`` where it is; places may stand in it.
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
    texts, more = _more(value)
    limit = max([int(form) for form in forms if form.isdigit()], default=LISTED)
    more += max(len(texts) - limit, 0)
    return (*map(cut, texts[:limit]), *([more] if more else []))


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


def _joined(values: Texts, form: str) -> str:
    texts, more = _more(values)
    if form.isalpha():
        return f" {form} ".join(texts)
    return ", ".join(map(quoted, texts)) + (f" and {more:,} more" if more else "")


def _more(values: Texts) -> tuple[list[str], int]:
    last = values[-1] if values else ""
    return [text for text in values if isinstance(text, str)], last if isinstance(last, int) else 0


_WORDS = _Words()
