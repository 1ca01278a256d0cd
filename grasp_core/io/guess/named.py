"""Columns that a person has named: the rest is guessed around it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from grasp_core.data_spec import Layout

ANY = "*"
"""Stands for anything in a pattern of columns' names."""


@dataclass(frozen=True, slots=True)
class Named:
    """Layout and columns that are sure, for somebody named them; None is what is to be guessed.

    Parameters
    ----------
    layout : {"long", "items-by-raters", "raters-by-items"} or None
    item, rater, label : str or None
        Columns, as in :class:`~grasp_core.data_spec.DataSpec`; the label of a matrix is a pattern of the
        names of its columns of labels.
    """

    layout: Layout | None = None
    item: str | None = None
    rater: str | None = None
    label: str | None = None

    @classmethod
    def among(cls, given: Mapping[str, Any]) -> Named:
        """Those of `given`, which may name more."""
        return cls(**{name: given[name] for name in cls.__slots__ if given.get(name) is not None})

    @property
    def fields(self) -> dict[str, str]:
        """Names by field, without those that are to be guessed."""
        named = {name: getattr(self, name) for name in self.__slots__}
        return {name: value for name, value in named.items() if value is not None}

    @property
    def cells(self) -> bool:
        """Whether the label is a pattern of a matrix's columns, as ``q*_rating``."""
        return self.label is not None and ANY in self.label

    @property
    def long(self) -> bool | None:
        """Whether the file has a row per annotation; None where nothing named says so."""
        if self.layout is not None:
            return self.layout == "long"
        if self.cells:
            return False
        return True if self.label is not None or (self.item is not None and self.rater is not None) else None

    @property
    def whole(self) -> bool:
        """Whether nothing is left to be guessed."""
        if self.cells:
            return False
        needed = {
            "items-by-raters": ("item",),
            "raters-by-items": ("rater",),
        }.get(self.layout or "long", ("item", "rater", "label"))
        return all(getattr(self, name) is not None for name in needed)
