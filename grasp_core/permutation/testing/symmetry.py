"""What the shuffles of a run are known to leave alike, without looking at a shuffled value."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Self

import numpy as np

from grasp_core.annotations import BoolArray, Int64Array, Raters
from grasp_core.groups import Grouping
from grasp_core.permutation.exchange import exchange_of
from grasp_core.spec import AnalysisSpec


@dataclass(frozen=True, slots=True, eq=False)
class Symmetry:
    """What is known of the null distributions of groups (docs/methods.md, "Mirrored regroupings").

    Parameters
    ----------
    like : int64 array, shape (G,)
        The first group of the same axis that has as many raters in every stratum: what is computed of a group
        has the same null distribution for both.
    centred : bool array, shape (G,)
        Groups that give no label more often than their others on average over all regroupings.
    """

    like: Int64Array
    centred: BoolArray

    @classmethod
    def of(cls, raters: Raters, grouping: Grouping, spec: AnalysisSpec) -> Self:
        """That of groups under the shuffles of a spec; errors are those of its exchange.

        Notes
        -----
        Where everybody changes places with everybody, the expected number of each label is the group's share
        of all. Else it is that where half of the raters of each stratum are the group's. Of clusters that
        change places rater by rater neither is known.
        """
        exchange = exchange_of(raters, spec)
        steps = exchange.bounds[exchange.bounds[:, 2] > 0]
        order = exchange.order[: steps[-1, 1]]
        inside = np.add.reduceat(grouping.member[:, order], steps[:, 0], axis=1, dtype=np.int64)
        n_groups = len(inside)
        if (steps[:, 2] > 1).any():
            return cls(np.arange(n_groups), np.zeros(n_groups, np.bool_))
        centred = np.ones(n_groups, np.bool_)
        if len(steps) > 1:
            known = np.add.reduceat(grouping.known[:, order], steps[:, 0], axis=1, dtype=np.int64)
            centred = (2 * inside == known[grouping.known_of]).all(axis=1)
        first: dict[object, int] = {}
        keys = zip((group.axes for group in grouping.groups), map(tuple, inside.tolist()), strict=True)
        like = [first.setdefault(key, g) for g, key in enumerate(keys)]
        return cls(np.array(like, np.int64), centred)
