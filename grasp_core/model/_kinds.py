"""Checks of kinds in specs' constructors, where they are made without JSON; `name` is the field's."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import get_args

from grasp_core.model.errors import SpecError


def is_number(value: object) -> bool:
    """Whether it is a finite number."""
    return isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value)


def check_text_or_none(name: str, value: object) -> None:
    """Refuse what is neither a text nor None."""
    if not isinstance(value, str | None):
        raise SpecError(f"{name} must be a text or nothing; found {value!r}")


def check_texts(name: str, values: object) -> None:
    """Refuse what is no tuple of texts."""
    if not isinstance(values, tuple) or not all(isinstance(value, str) for value in values):
        raise SpecError(f"{name} must be a list of texts; found {values!r}")


def check_choice(name: str, value: object, kind: object) -> None:
    """Refuse what is none of a literal type's values."""
    choices = get_args(kind)
    if value not in choices:
        raise SpecError(f"`{name}` must be one of {', '.join(choices)}; found {value!r}")


def check_whole(name: str, value: object, low: int, high: int) -> None:
    """Refuse what is no whole number in a range."""
    if not isinstance(value, int) or isinstance(value, bool) or not low <= value <= high:
        raise SpecError(f"`{name}` must be a whole number from {low} to {high}; found {value!r}")


def check_unique(name: str, values: Sequence[str], what: str) -> None:
    """Refuse a value that is there twice."""
    if len(set(values)) != len(values):
        raise SpecError(f"{name} names {what} twice")


def check_pairs(name: str, values: object) -> None:
    """Refuse what is no tuple of pairs of texts."""
    if not isinstance(values, tuple):
        raise SpecError(f"{name} must be a list of pairs; found {values!r}")
    for pair in values:
        check_texts(name, pair)
        if len(pair) != 2:
            raise SpecError(f"{name} must hold pairs of texts; found {pair!r}")
