"""What was found about two groups, each held against the other alone."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from grasp_core.groups import Group
from grasp_core.json_values import in_file
from grasp_core.outcome import LabelUse, Outcome

PAIR_STATISTICS: Mapping[str, str] = {
    "xrr": "xrr",
    "gap_a": "gap",
    "gap_b": "gap",
    "irr_difference": "irr",
    "gai_difference": "gai",
}
"""Statistics of a pair, each with the one of groups with which it is asked."""


@dataclass(frozen=True, slots=True)
class PairResult:
    """Two groups of one axis or intersection, each the other's only others.

    `statistics` has those of :data:`PAIR_STATISTICS` that were asked, `label_use` is that of `a` beside `b`.
    All are tested by shuffling profiles within the two groups alone.
    """

    a: Group
    b: Group
    n_raters_a: int
    n_raters_b: int
    statistics: Mapping[str, Outcome]
    label_use: LabelUse | None = None


def _with_axis(fields: dict[str, Any]) -> dict[str, Any]:
    a, b = fields.pop("a"), fields.pop("b")
    return {"axis": a["axis"], "a": a["group"], "b": b["group"], **fields}


def _sides(row: dict[str, Any]) -> dict[str, Any]:
    sides = {side: {"axis": row["axis"], "group": row[side]} for side in ("a", "b")}
    known = {name: row["statistics"][name] for name in PAIR_STATISTICS if name in row["statistics"]}
    return {**row, **sides, "statistics": known}


in_file(PairResult, _with_axis, _sides)
