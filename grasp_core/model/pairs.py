"""What was found about two groups, each held against the other alone."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from grasp_core.model.groups import Group
from grasp_core.model.json_values import ADDED, in_file
from grasp_core.model.outcome import Direction, Histogram, LabelUse, Outcome, Shift
from grasp_core.model.verdict import Verdict

PAIR_STATISTICS: Mapping[str, str] = {
    "distance": "distance",
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
    All are tested by shuffling profiles within the two groups alone. Its `verdict` is that of its tests
    together, corrected over all pairs of the run; results of earlier versions and of runs that go on have
    none.
    """

    a: Group
    b: Group
    n_raters_a: int
    n_raters_b: int
    statistics: Mapping[str, Outcome]
    label_use: LabelUse | None = None
    verdict: Verdict | None = field(default=None, metadata=ADDED)

    def turned(self) -> PairResult:
        """The same pair as `b` beside `a`."""
        signed = ("irr_difference", "gai_difference")
        sides = {"gap_a": "gap_b", "gap_b": "gap_a"}
        found = {
            sides.get(name, name): _negative(outcome) if name in signed else outcome
            for name, outcome in self.statistics.items()
        }
        statistics = {name: found[name] for name in PAIR_STATISTICS if name in found}
        use = self.label_use
        turned_use = None
        if use is not None:
            labels = {label: _opposite(shift) for label, shift in use.labels.items()}
            turned_use = replace(use, labels=labels, mean=None if use.mean is None else _opposite(use.mean))
        sizes = self.n_raters_b, self.n_raters_a
        return PairResult(self.b, self.a, *sizes, statistics, turned_use, self.verdict)


_OTHER_WAY: Mapping[Direction, Direction] = {"up": "down", "down": "up"}


def _negative(outcome: Outcome) -> Outcome:
    """An outcome of minus the value."""
    interval = outcome.interval
    return replace(
        outcome,
        value=_minus(outcome.value),
        null_median=_minus(outcome.null_median),
        direction=None if outcome.direction is None else _OTHER_WAY[outcome.direction],
        null=_mirrored(outcome.null),
        interval=None if interval is None else replace(interval, low=-interval.high, high=-interval.low),
    )


def _opposite(shift: Shift) -> Shift:
    return replace(
        shift,
        value=_minus(shift.value),
        low=_minus(shift.high),
        high=_minus(shift.low),
        null=_mirrored(shift.null),
    )


def _minus(value: float | None) -> float | None:
    return None if value is None else 0.0 - value


def _mirrored(null: Histogram | None) -> Histogram | None:
    return None if null is None else Histogram(-null.high, -null.low, null.counts[::-1])


def _with_axis(fields: dict[str, Any]) -> dict[str, Any]:
    a, b = fields.pop("a"), fields.pop("b")
    return {"axis": a["axis"], "a": a["group"], "b": b["group"], **fields}


def _sides(row: dict[str, Any]) -> dict[str, Any]:
    sides = {side: {"axis": row["axis"], "group": row[side]} for side in ("a", "b")}
    known = {name: row["statistics"][name] for name in PAIR_STATISTICS if name in row["statistics"]}
    return {**row, **sides, "statistics": known}


in_file(PairResult, _with_axis, _sides)
