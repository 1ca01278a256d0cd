"""Checks of kinds in specs' constructors, where they are made without JSON; `name` is the field's."""

from __future__ import annotations

import math

from grasp_core.model.errors import SpecError


def is_number(value: object) -> bool:
    """Whether it is a finite number."""
    return isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value)


def check_text_or_none(name: str, value: object) -> None:
    """Refuse what is neither a text nor None.

    Raises SpecError.
    """
    if not isinstance(value, str | None):
        raise SpecError(f"{name} must be a text or nothing; found {value!r}")


def check_texts(name: str, values: object) -> None:
    """Refuse what is no tuple of texts.

    Raises SpecError.
    """
    if not isinstance(values, tuple) or not all(isinstance(value, str) for value in values):
        raise SpecError(f"{name} must be a list of texts; found {values!r}")


def check_pairs(name: str, values: object) -> None:
    """Refuse what is no tuple of pairs of texts.

    Raises SpecError.
    """
    if not isinstance(values, tuple):
        raise SpecError(f"{name} must be a list of pairs; found {values!r}")
    for pair in values:
        check_texts(name, pair)
        if len(pair) != 2:
            raise SpecError(f"{name} must hold pairs of texts; found {pair!r}")
