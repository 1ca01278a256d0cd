"""What permutations can show of a run's groups, told before it."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from grasp_core.model.annotations import BoolArray, Raters
from grasp_core.model.groups import Grouping, axis_label, group_label, one_line
from grasp_core.model.remarks.cautions import Caution
from grasp_core.model.spec import LEVEL, WORKLOAD, AnalysisSpec
from grasp_core.model.text import number
from grasp_core.permutation.draw import clusters_of, strata_of
from grasp_core.permutation.testing.tail import Shuffles
from grasp_core.report.words.names import format_p_value

MOST_BOXES = 8
"""Strata that are drawn before the others are only counted."""
TOLD = 5
"""Groups that are named before the others are only counted."""
_COUNTED = math.log(1e6)


def few_regroupings(grouping: Grouping, shuffles: Shuffles) -> list[str]:
    """A sentence for each group of which no two-sided p can be below the level of marks."""
    few = np.flatnonzero(shuffles.least_p > LEVEL).tolist()
    found = [
        f"{group_label(grouping.groups[g])} can be regrouped in {ways(shuffles.log_regroupings[g])}: "
        f"{least(shuffles.least_p[g], shuffles.least_of_one_tail[g])}"
        for g in few[:TOLD]
    ]
    if len(few) > TOLD:
        found.append(f"the same holds of {number(len(few) - TOLD, 'further group')}")
    return found


def least(p: float, of_one_tail: float) -> str:
    """Below what no p of a group can be, of tests of two tails and of one."""
    told = f"no p of it is below about {format_p_value(p)}"
    if of_one_tail == p:
        return told
    return f"{told}, or {format_p_value(of_one_tail)} where one tail alone counts (distance, label use)"


def least_of(p: float, spec: AnalysisSpec) -> str:
    """:func:`least` of a result's row; the paper's p are of one tail themselves."""
    return least(p, p / 2 if spec.p_value == "two-sided" else p)


def staying(shuffles: Shuffles) -> list[str]:
    """That raters of some clusters keep their profiles, with how many others do not."""
    stay, everybody = shuffles.n_fixed, shuffles.exchange.order.size
    if not stay:
        return []
    caution = str(Caution.CLUSTERS_STAY(raters=stay, all=everybody))
    return [f"{caution}; that leaves {number(everybody - stay, 'rater')} to shuffle"]


class Box(NamedTuple):
    """A stratum, within which profiles move: its name, its raters, and who they are, in counts."""

    label: str
    n_raters: int
    lines: tuple[str, ...]


def boxes(raters: Raters, grouping: Grouping, spec: AnalysisSpec) -> tuple[list[Box], str]:
    """The largest strata, and a sentence of the others; none that is smaller than the smallest group."""
    strata = strata_of(raters, spec)
    sizes = np.bincount(strata)
    largest = [int(s) for s in np.argsort(-sizes, kind="stable") if sizes[s] >= spec.min_raters][:MOST_BOXES]
    found = []
    for s in largest:
        inside, parts = strata == s, []  # what the raters of a stratum have in common
        first = int(np.flatnonzero(inside)[0])
        for name in spec.strata:
            if name == WORKLOAD and raters.workload is not None:
                given = raters.workload[inside]
                parts.append(f"{given.min():,} to {given.max():,} annotations")
            else:
                axis = raters.axes[name]
                code = int(axis.codes[first])
                value = "unknown" if code < 0 else one_line(axis.values[code])
                parts.append(f"{axis_label((name,))} {value}")
        lines = _groups(grouping, spec, inside)
        if spec.cluster is not None:
            _, size_of = np.unique(clusters_of(raters, spec.cluster)[inside], return_counts=True)
            pairs = zip(*(one.tolist() for one in np.unique(size_of, return_counts=True)), strict=True)
            each = [f"{n:,} of {number(size, 'rater')}" for size, n in pairs]
            lines.append(f"{axis_label((spec.cluster,))}: {', '.join(each)}")
        found.append(Box(", ".join(parts) or "All raters", int(sizes[s]), tuple(lines)))
    left = sizes.size - len(largest)
    others = int(sizes.sum() - sizes[largest].sum())
    strata_left = number(left, "further stratum", "further strata")
    return found, f"{strata_left}: {number(others, 'rater')} in all." if left else ""


def fewest_ways(grouping: Grouping, shuffles: Shuffles) -> str:
    """How many regroupings there are of the group that has the fewest."""
    g = int(np.argmin(shuffles.log_regroupings))
    least = ways(shuffles.log_regroupings[g])
    return f"{group_label(grouping.groups[g])} can be regrouped in {least}, the fewest of all groups."


def _groups(grouping: Grouping, spec: AnalysisSpec, inside: BoolArray) -> list[str]:
    """A line for each axis: how many of each group, where they are as many as a group has to be."""
    lines = []
    for axes in spec.axes:
        counts = [
            (int(row[inside].sum()), group_label(group))
            for group, row in zip(grouping.groups, grouping.member, strict=True)
            if group.axes == axes
        ]
        told = [f"{n:,} {label}" for n, label in counts if n >= spec.min_raters]
        rest = int(inside.sum()) - sum(n for n, _ in counts if n >= spec.min_raters)
        lines.append(f"{axis_label(axes)}: {', '.join([*told, *([f'{rest:,} others'] if rest else [])])}")
    return lines


def ways(log_regroupings: float) -> str:
    """A number of regroupings, given as its logarithm: whole up to a million, then a power of ten."""
    if log_regroupings <= _COUNTED:
        return number(round(math.exp(log_regroupings)), "way")
    return f"about 10^{log_regroupings / math.log(10):,.0f} ways"
