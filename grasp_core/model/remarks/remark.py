"""Remarks: a code, its numbers, and the sentence made of both."""

from __future__ import annotations

import shlex
import string
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from enum import Enum
from functools import cached_property
from typing import Any, TypeVar

from grasp_core.model.text import LISTED, agree, cut, number, one_line, quoted

Texts = tuple[str | int, ...]
"""Texts; a number at the end counts further texts that no sentence shows."""
T = TypeVar("T")


def worded(sentence: str, numbers: Mapping[str, Any]) -> str:
    """Return the sentence with its places filled."""
    return _WORDS.vformat(sentence, (), numbers)


def places(sentence: str) -> dict[str, set[str]]:
    """Return the places of a sentence by name, each with the formats that the sentence uses."""
    found: dict[str, set[str]] = {}
    for place, form in _places(sentence):
        found.setdefault(place, set()).add(form)
    return found


def kept(value: T, forms: set[str]) -> T | str | Texts:
    """Return the part of a value that a sentence shows; the rest, perhaps a whole column, is dropped."""
    if isinstance(value, str):
        return cut(value) if "q" in forms else value
    if not isinstance(value, tuple) or any(form.isalpha() for form in forms):
        return value
    if not all(isinstance(one, str | int) for one in value):
        return value  # remarks stay whole, since their numbers are used
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
            if format_spec in ("", "d"):
                return format(value, format_spec or ",")
            one, verb, many = format_spec.partition("/")
            return agree(value, one, many) if verb else number(value, one)
        if isinstance(value, tuple):
            if format_spec.isalpha():
                return f" {format_spec} ".join(_texts(value))
            texts, more = _first(value, {format_spec})
            if all(isinstance(one, Remark) for one in value):  # their sentences are not texts of the data
                texts = [one_line(text) for text in texts]
            else:
                texts = list(map(quoted, texts))
            return ", ".join(texts) + (f" and {more:,} more" if more else "")
        if isinstance(value, str) and format_spec in ("q", "s"):  # s: in an option that is to be typed
            return quoted(value) if format_spec == "q" else shlex.quote(value)
        return format(value if isinstance(value, str | float) else str(value), format_spec)


def _first(values: tuple[Any, ...], forms: set[str]) -> tuple[list[str], int]:
    """Return as many texts as the format with the highest limit shows, and the number of further ones."""
    texts, last = _texts(values), values[-1] if values else ""
    limit = max([int(form) for form in forms if form.isdigit()], default=LISTED)
    return texts[:limit], max(len(texts) - limit, 0) + (last if isinstance(last, int) else 0)


def _texts(values: tuple[Any, ...]) -> list[str]:
    return [str(one) for one in values if not isinstance(one, int)]


def _pattern(sentence: str) -> str:
    shown = ""
    for before, place, form, _ in string.Formatter().parse(sentence):
        shown += before
        if place and form and form[0] in "?!":
            shown += f"[{_pattern(form[1:])}]" if form[1:] else ""
        elif place:
            _, verb, many = (form or "").partition("/")
            shown += many if verb else f"*{place}*{_noun(form or '')}"
    return shown


def _noun(form: str) -> str:
    """Return the noun for a count, in the plural; other formats have none."""
    plain = form in ("q", "s", "d", "g", "or", "and") or not form[:1].isalpha()
    return "" if plain else f" {form}s"


_WORDS = _Words()


class Code(Enum):
    """Base of all codes: a member's value is its sentence, with places for numbers."""

    @property
    def key(self) -> str:
        """The code's name in files, e.g. ``small-groups``."""
        return self.name.lower().replace("_", "-")

    @property
    def pattern(self) -> str:
        """The sentence with the numbers' names in italics and optional parts in brackets."""
        return _pattern(self.value)

    @cached_property
    def places(self) -> dict[str, set[str]]:
        """The names of the numbers that the sentence takes, each with the formats that it uses."""
        return places(self.value)

    def __call__(self, **numbers: Value) -> Remark:
        """Return a remark with this code and the numbers that its sentence takes, cut to what it shows."""
        forms = self.places
        cut = ((name, kept(value, forms.get(name, set()))) for name, value in numbers.items())
        return Remark(self, tuple(sorted(cut, key=lambda pair: pair[0])))


@dataclass(frozen=True, slots=True)
class Remark:
    """A remark as a value: two are equal if code and numbers are; ``str`` gives the sentence.

    `numbers`: sorted by name. Whole numbers, numbers with decimals, texts, lists of texts, or another remark
        or a list of them.
    """

    code: Code
    numbers: tuple[tuple[str, Value], ...] = ()

    def __post_init__(self) -> None:
        if {name for name, _ in self.numbers} != self.code.places.keys():
            raise ValueError(f"{self.code.key} (expected the numbers {', '.join(sorted(self.code.places))})")

    def __str__(self) -> str:
        return worded(self.code.value, dict(self.numbers))

    @property
    def in_brief(self) -> str:
        """The first sentence alone: the finding without the remedy."""
        first, _, _ = self.code.value.partition(". ")
        return worded(first, dict(self.numbers))

    def reworded(self, **numbers: Value) -> Remark:
        """Return the remark with other numbers; numbers that its sentence does not take are ignored."""
        known = dict(self.numbers)
        return self.code(**known | {name: value for name, value in numbers.items() if name in known})

    def to_dict(self) -> dict[str, Any]:
        """JSON-ready form: the code for programs, the text for readers."""
        numbers = {name: _plain(value) for name, value in self.numbers}
        return {"code": self.code.key, "numbers": numbers, "text": str(self)}


Value = int | float | str | Remark | tuple[str | int | Remark, ...]


class Words(Code):
    """Sentences without a code of their own."""

    TEXT = "{text}"


def said(sentence: str) -> Remark:
    """Return a remark for a sentence without a known code, as in results of earlier versions."""
    return Words.TEXT(text=sentence)


def _plain(value: Value) -> Any:
    if isinstance(value, Remark):
        return value.to_dict()
    return [_plain(one) for one in value] if isinstance(value, tuple) else value
