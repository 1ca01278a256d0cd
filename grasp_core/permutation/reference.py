"""The plain NumPy twin of the kernel: METHODS, line by line, one group at a time."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import numpy as np

from grasp_core.annotations import Annotations, FloatArray
from grasp_core.groups import Grouping
from grasp_core.permutation.design import tie_ranks
from grasp_core.permutation.shuffle import IndexArray
from grasp_core.spec import AnalysisSpec
from grasp_core.statistics.counts import count
from grasp_core.statistics.cross_group import cross_negentropy, voting_agreement, xrr
from grasp_core.statistics.estimable import NotEstimableError
from grasp_core.statistics.in_group import irr, negentropy, plurality_size


def evaluate(
    annotations: Annotations, grouping: Grouping, spec: AnalysisSpec, source: IndexArray
) -> tuple[FloatArray, list[dict[str, str]]]:
    """Compute every statistic of every group under one assignment of profiles.

    Parameters
    ----------
    annotations : Annotations
    grouping : Grouping
    spec : AnalysisSpec
    source : int64 array, shape (J,)
        Rater j has the profile of rater ``source[j]``.

    Returns
    -------
    values : float64 array, shape (G, 6)
        In the order of :data:`~grasp_core.permutation.kernel.KERNEL_STATISTICS`; NaN where not
        estimable.
    reasons : list of dict, length G
        Why a statistic (by name) of the group is not estimable.
    """
    ranks = tie_ranks(spec.ties, spec.seed, annotations.n_items, annotations.n_categories)
    values = np.full((len(grouping.groups), 6), np.nan)
    reasons: list[dict[str, str]] = []
    for g in range(len(grouping.groups)):
        c = count(annotations, grouping.member[g][source])
        d = count(annotations, grouping.complement(g)[source])
        definitions: dict[str, Callable[[], float]] = {
            "irr": partial(irr, c),
            "xrr": partial(xrr, c, d),
            "negentropy": partial(negentropy, c),
            "cross_negentropy": partial(cross_negentropy, c, d, spec.cross_negentropy),
            "plurality_size": partial(plurality_size, c),
            "voting_agreement": partial(voting_agreement, c, d, tuple(ranks)),
        }
        reasons.append({})
        for s, (name, definition) in enumerate(definitions.items()):
            try:
                values[g, s] = definition()
            except NotEstimableError as reason:
                reasons[g][name] = str(reason)
    return values, reasons
