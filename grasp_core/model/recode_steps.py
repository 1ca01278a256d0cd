"""Steps that recode values: map them, cut numbers into ranges, combine questions."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any, Literal

from grasp_core.model._kinds import check_pairs, check_text_or_none, check_texts, is_number
from grasp_core.model.errors import SpecError
from grasp_core.model.json_values import CONVERTER, closed, from_json


@closed
@dataclass(frozen=True, slots=True)
class MapValues:
    """Replace values: rename, merge, or treat as missing.

    `column`: a column of either file; None for the labels, whatever the layout, the experts' among them.
    `values`: an empty `to` means "no value". Values not named stay as they are.
    """

    column: str | None
    values: tuple[tuple[str, str], ...]
    kind: Literal["map"] = field(default="map", init=False)

    def __post_init__(self) -> None:
        check_text_or_none("recode: `column`", self.column)
        check_pairs("recode: `values`", self.values)
        if len({old for old, _ in self.values}) != len(self.values):
            raise SpecError("a value is mapped twice", field="recode")


@closed
@dataclass(frozen=True, slots=True)
class Bins:
    """Cut numbers into ranges: ages, or a rating scale at a threshold.

    `column`: a column of either file; None for the labels, as in :class:`MapValues`.
    `edges`: ascending; range i holds ``edges[i - 1] <= x < edges[i]``, the first and the last are open.
    `labels`: a name per range, one more than there are edges, no two equal.
    """

    column: str | None
    edges: tuple[float, ...]
    labels: tuple[str, ...]
    kind: Literal["bins"] = field(default="bins", init=False)

    def __post_init__(self) -> None:
        check_text_or_none("recode: `column`", self.column)
        check_texts("recode: `labels`", self.labels)
        numbers = isinstance(self.edges, tuple) and all(is_number(edge) for edge in self.edges)
        if not numbers or not self.edges or list(self.edges) != sorted(set(self.edges)):
            raise SpecError(f"`edges` must be ascending numbers; found {self.edges!r}", field="recode")
        if len(self.labels) != len(self.edges) + 1 or len(set(self.labels)) != len(self.labels):
            raise SpecError(
                f"{len(self.edges)} edges need {len(self.edges) + 1} different labels;"
                f" found {len(self.labels)}",
                field="recode",
            )
        if not all(self.labels):
            raise SpecError("a range's label is empty", field="recode")
        object.__setattr__(self, "edges", tuple(float(edge) for edge in self.edges))  # 18 and 18.0 are one


def range_labels(edges: Sequence[float]) -> tuple[str, ...]:
    """Names for the ranges between edges: ``under 25``, ``25-39``, ``40 and over`` for whole numbers."""
    if not edges:
        return ()
    whole = all(float(edge).is_integer() for edge in edges)
    between = [
        (f"{low:g}-{high - 1:g}" if high - low > 1 else f"{low:g}") if whole else f"{low:g} to under {high:g}"
        for low, high in pairwise(edges)
    ]
    return (f"under {edges[0]:g}", *between, f"{edges[-1]:g} and over")


@closed
@dataclass(frozen=True, slots=True)
class Combine:
    """One answer from several questions: the first value of `priority` that any of them has.

    `columns`: the questions' columns in the annotations file.
    `priority`: E.g. ``("Unsafe", "Unsure", "Safe")``: any Unsafe, else any Unsure, else Safe.
    `into`: name of the new column.
    """

    columns: tuple[str, ...]
    priority: tuple[str, ...]
    into: str
    kind: Literal["combine"] = field(default="combine", init=False)

    def __post_init__(self) -> None:
        check_texts("recode: `columns`", self.columns)
        check_texts("recode: `priority`", self.priority)
        if not isinstance(self.into, str) or not self.into.strip():
            raise SpecError("the combined column needs a name", field="recode")
        if not self.columns or len(set(self.columns)) != len(self.columns):
            raise SpecError("name the columns to combine, each once", field="recode")
        if len(self.priority) < 2 or len(set(self.priority)) != len(self.priority):
            raise SpecError("`priority` needs at least two different values", field="recode")


Recode = MapValues | Bins | Combine
_RECODES: Mapping[str, type[Recode]] = {"map": MapValues, "bins": Bins, "combine": Combine}


def _recode(plain: Any, _: Any) -> Recode:
    kind = plain.get("kind") if isinstance(plain, dict) else None
    if not isinstance(kind, str) or kind not in _RECODES:
        raise SpecError(
            f"a step's `kind` must be one of {', '.join(_RECODES)}; found {kind!r}", field="recode"
        )
    return from_json({name: value for name, value in plain.items() if name != "kind"}, _RECODES[kind])


CONVERTER.register_structure_hook(Recode, _recode)
