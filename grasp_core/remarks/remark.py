"""A remark: a code, and the numbers that complete its sentence."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from functools import cached_property
from typing import Any

from grasp_core.remarks.sentences import kept, places, worded


class Code(Enum):
    """Base of all codes: a member's value is its sentence (see :mod:`grasp_core.remarks.sentences`)."""

    @property
    def key(self) -> str:
        """The code in files, e.g. ``small-groups``."""
        return self.name.lower().replace("_", "-")

    @cached_property
    def places(self) -> dict[str, set[str]]:
        """The numbers that its sentence takes, and the forms in which it shows each."""
        return places(self.value)

    def __call__(self, **numbers: Value) -> Remark:
        """A remark with this code; `numbers` are those that its sentence takes, cut to what it shows."""
        forms = self.places
        cut = ((name, kept(value, forms.get(name, set()))) for name, value in numbers.items())
        return Remark(self, tuple(sorted(cut, key=lambda pair: pair[0])))


@dataclass(frozen=True, slots=True)
class Remark:
    """Something said, as a value: two are equal if code and numbers are; ``str`` gives the sentence.

    Parameters
    ----------
    code : Code
    numbers : tuple of (name, value)
        Sorted by name. Whole numbers, numbers with decimals, texts, lists of texts, or another remark
        or a list of them.

    Raises
    ------
    ValueError
        If they are not the ones that the code's sentence takes.
    """

    code: Code
    numbers: tuple[tuple[str, Value], ...] = ()

    def __post_init__(self) -> None:
        if {name for name, _ in self.numbers} != self.code.places.keys():
            raise ValueError(f"{self.code.key} (expected the numbers {', '.join(sorted(self.code.places))})")

    def __str__(self) -> str:
        return worded(self.code.value, dict(self.numbers))

    def reworded(self, **numbers: Value) -> Remark:
        """The same with other numbers, as far as its sentence takes them."""
        known = dict(self.numbers)
        return self.code(**known | {name: value for name, value in numbers.items() if name in known})

    def to_dict(self) -> dict[str, Any]:
        """JSON-ready form: the code for programs, the text for readers."""
        numbers = {name: _plain(value) for name, value in self.numbers}
        return {"code": self.code.key, "numbers": numbers, "text": str(self)}


Value = int | float | str | Remark | tuple[str | int | Remark, ...]


class Words(Code):
    """Sentences of which only the words are known."""

    TEXT = "{text}"


def said(sentence: str) -> Remark:
    """A sentence of which no code is known, as results of earlier versions have them."""
    return Words.TEXT(text=sentence)


def _plain(value: Value) -> Any:
    if isinstance(value, Remark):
        return value.to_dict()
    return [_plain(one) for one in value] if isinstance(value, tuple) else value
