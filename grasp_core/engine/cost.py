"""How long permutations take, by a model of the data's shape: long runs stop early by default.

The model knows nothing of the machine, so that the same question is asked of the same data everywhere. Its
constants are nanoseconds on one core of the machine of docs/scaling.md.
"""

from __future__ import annotations

from collections.abc import Sequence

from grasp_core.groups import AxisSet, form_groups
from grasp_core.io.dataset.load import Dataset
from grasp_core.spec import DEFAULT_PERMUTATIONS

LONG_SECONDS = 10.0
"""Runs that would take longer stop early by default."""
CORES = 2
_ITEM_AND_GROUP = 20e-9
"""Statistics of one group's counts on one item."""
_BY_ANNOTATION, _BY_WORD = 2e-9, 0.4e-9
"""Counting an annotation for an axis, or a label's raters for a group, 64 at once."""
_TABLED_LABELS, _TABLED_RATERS = 3, 128
"""Where everybody labels everything, up to so many of both, statistics are looked up."""


def default_seconds(dataset: Dataset, axes: Sequence[AxisSet], min_raters: int) -> float:
    """Seconds that the default number of permutations takes on two cores.

    Parameters
    ----------
    dataset : Dataset
    axes : sequence of axis sets
        All of them in the data.
    min_raters : int
        Smallest group.
    """
    shape, questions = dataset.summary, len(dataset.questions)
    grouping = form_groups(dataset.raters, axes, min_raters=min_raters)
    groups, labels = len(grouping.groups), len(shape.categories)
    by_word = _BY_WORD * shape.items * groups * labels * -(-shape.raters // 64)
    crossed = shape.annotations == shape.items * shape.raters and bool(grouping.known.all())
    if crossed and labels <= _TABLED_LABELS and shape.raters <= _TABLED_RATERS:
        each = by_word
    else:
        counting = min(_BY_ANNOTATION * shape.annotations * len(axes), by_word)
        each = _ITEM_AND_GROUP * shape.items * groups + counting
    return DEFAULT_PERMUTATIONS * each * questions / CORES
