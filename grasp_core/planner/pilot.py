"""A plan's task from a data set, or from assumed figures."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from grasp_core.annotations import Annotations, BoolArray
from grasp_core.data_quality.power import thinned
from grasp_core.groups import Group, Grouping, form_groups
from grasp_core.io.dataset.load import Dataset
from grasp_core.planner.fitting import Pilot
from grasp_core.planner.make import PlanTask
from grasp_core.planner.matching import observed_difference
from grasp_core.planner.values import MOST, Assumed, Have, PlanSpec
from grasp_core.report.words.names import group_label

GROUP, OTHERS = "the group", "all others"
SMALLER = "smaller groups"
UNLESS_SAID: Mapping[str, Any] = {"share": 0.25, "raters": (20, 400), "items": (20, 1000)}
"""Fields of the spec of a plan without data."""
_ALL = 0.8
"""Of all pairs of raters and items, those labelled in data where every rater labels every item."""


def task_of(
    dataset: Dataset, group: Group, spec: PlanSpec, *, min_raters: int, question: int = 0
) -> PlanTask:
    """The task of planning for one group from a data set.

    Parameters
    ----------
    dataset : Dataset
    group : Group
    spec : PlanSpec
    min_raters : int
        Smaller groups are counted together.
    question : int
        Of several questions, the one that the difference is in.
    """
    annotations = dataset.questions[question]
    grouping = form_groups(dataset.raters, [group.axes], min_raters=min_raters)
    g = grouping.groups.index(group)
    n_pilot = annotations.n_raters, annotations.n_items, annotations.n_annotations
    pilot = _pilot(thinned(annotations, spec.seed), grouping.known[grouping.known_of[g]], grouping.member[g])
    if spec.label is None:
        use, _, _ = observed_difference(pilot, spec, annotations.categories)
        most = 0 if np.isnan(use).any() or not use.size else int(np.abs(use).argmax())
        spec = replace(spec, label=annotations.categories[most])
    return PlanTask(spec, annotations.categories, group, _have(grouping, g), pilot, n_pilot)


def usual(inside: int, raters: int, items: int, annotations: int) -> dict[str, Any]:
    """Fields of a plan's spec as a pilot suggests: its share, labels an item, a quarter of it to 4 times.

    Parameters
    ----------
    inside, raters : int
        Raters of the group, and in all.
    items, annotations : int
        Of one question.
    """
    share = min(max(round(inside / max(raters, 1), 3), 0.01), 0.99)
    of_item = annotations / max(items, 1)
    each = None if of_item > _ALL * raters else max(round(of_item), 2)
    fewest = min(max(math.ceil(2.5 / min(share, 1 - share)), raters // 4, each or 0, 4), MOST // 2)
    return {
        "share": share,
        "each": each,
        "raters": (fewest, min(max(4 * raters, 2 * fewest), MOST)),
        "items": (min(max(items // 4, 10), MOST // 2), min(max(4 * items, 40), MOST)),
    }


def assumed_task(spec: PlanSpec) -> PlanTask:
    """The task of planning without data."""
    assumed = spec.assumed or Assumed()
    categories = tuple(f"label {place + 1}" for place in range(assumed.labels))
    return PlanTask(spec, categories, None, (Have(GROUP, 0, True), Have(OTHERS, 0, False)), None, None)


def _have(grouping: Grouping, g: int) -> tuple[Have, ...]:
    """Raters of the pilot by group; those of groups that are not shown together."""
    found = [
        Have(group_label(group), int(n), place == g)
        for place, (group, n) in enumerate(zip(grouping.groups, grouping.n_raters, strict=True))
    ]
    left = int(grouping.known[grouping.known_of[g]].sum()) - sum(one.n_raters for one in found)
    return (*found, *([Have(SMALLER, left, False)] if left else []))


def _pilot(annotations: Annotations, known: BoolArray, member: BoolArray) -> Pilot:
    """The annotations of those who are in the group or known not to be."""
    rows = known[annotations.rater]
    return Pilot(
        annotations.item[rows].astype("int64"),
        annotations.rater[rows].astype("int64"),
        annotations.category[rows].astype("int64"),
        annotations.n_items,
        annotations.n_categories,
        member,
    )
