"""How long permutations take, by a model of the data's shape: long runs stop early by default.

The model knows nothing of the machine, so that the same question is asked of the same data everywhere. Its
constants are nanoseconds on one core of the machine of docs/scaling.md.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations

from grasp_core.groups import AxisSet, Grouping, form_groups
from grasp_core.io.dataset.load import Dataset
from grasp_core.panels.pairs.panel import compared
from grasp_core.spec import DEFAULT_PERMUTATIONS

LONG_SECONDS = 10.0
"""Runs that would take longer stop early by default."""
CORES = 2
_ITEM_AND_GROUP = 20e-9
"""Statistics of one group's counts on one item."""
_ITEM_AND_MODEL = 3.5e-9
"""A model's agreement with one group on one item."""
_BY_ANNOTATION, _BY_WORD = 2e-9, 0.4e-9
"""Counting an annotation for an axis, or a label's raters for a group, 64 at once."""
_TABLED_LABELS, _TABLED_RATERS = 3, 128
"""Where everybody labels everything, up to so many of both, statistics are looked up..."""
_LOOK_UP = 5e-9
"""...at this cost for an item and a group."""


def default_seconds(
    dataset: Dataset, axes: Sequence[AxisSet], min_raters: int, slices: Sequence[str] = ()
) -> float:
    """Seconds that the default number of permutations takes on two cores.

    Parameters
    ----------
    dataset : Dataset
    axes : sequence of axis sets
        All of them in the data.
    min_raters : int
        Smallest group.
    slices : sequence of str
        Columns of the data set's attributes: each asks once more for the items that have a value in it.
    """
    grouping = form_groups(dataset.raters, axes, min_raters=min_raters)
    each = _counting(dataset, grouping, axes)
    if not (_looked_up(dataset) and bool(grouping.known.all())):
        each += _ITEM_AND_GROUP * dataset.summary.items * len(grouping.groups)
    asked = 1 + sum(float((dataset.attributes[name].codes >= 0).mean()) for name in slices)
    return DEFAULT_PERMUTATIONS * each * asked * len(dataset.questions) / CORES


def models_seconds(dataset: Dataset, n_models: int, axes: Sequence[AxisSet], min_raters: int) -> float:
    """Seconds that the default number of permutations takes on two cores, of models as raters.

    Parameters
    ----------
    dataset, axes, min_raters
        As :func:`default_seconds`.
    n_models : int
    """
    grouping = form_groups(dataset.raters, axes, min_raters=min_raters)
    on_items = _ITEM_AND_MODEL * dataset.summary.items * len(grouping.groups) * n_models
    return DEFAULT_PERMUTATIONS * (_counting(dataset, grouping, axes) + on_items) / CORES


def pairs_seconds(dataset: Dataset, axes: Sequence[AxisSet], min_raters: int) -> float:
    """Seconds that the default number of permutations takes within each pair of groups, on two cores.

    Parameters
    ----------
    dataset, axes, min_raters
        As :func:`default_seconds`.
    """
    shape, labels = dataset.summary, len(dataset.summary.categories)
    grouping = form_groups(dataset.raters, axes, min_raters=min_raters)
    per_rater = shape.annotations / max(shape.raters, 1)
    on_item = _LOOK_UP if _looked_up(dataset) else _ITEM_AND_GROUP
    each = 0.0
    for of_axis in compared(grouping, axes):
        for a, b in combinations(grouping.n_raters[of_axis].tolist(), 2):
            annotations = per_rater * (a + b)
            items = min(shape.items, annotations)
            by_word = _BY_WORD * items * 2 * labels * -(-(a + b) // 64)
            counting = by_word if _looked_up(dataset) else min(_BY_ANNOTATION * annotations, by_word)
            each += 2 * on_item * items + counting
    return DEFAULT_PERMUTATIONS * each * len(dataset.questions) / CORES


def _counting(dataset: Dataset, grouping: Grouping, axes: Sequence[AxisSet]) -> float:
    """Counting the labels of all groups, by annotations or by words of raters."""
    shape = dataset.summary
    words = -(-shape.raters // 64)
    by_word = _BY_WORD * shape.items * len(grouping.groups) * len(shape.categories) * words
    return min(_BY_ANNOTATION * shape.annotations * len(axes), by_word)


def _looked_up(dataset: Dataset) -> bool:
    """Whether statistics are looked up, unless some values are unknown."""
    shape = dataset.summary
    small = len(shape.categories) <= _TABLED_LABELS and shape.raters <= _TABLED_RATERS
    return small and shape.annotations == shape.items * shape.raters
