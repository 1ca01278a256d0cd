"""The map of raters as people without an account may see it."""

from __future__ import annotations

from collections import Counter

from grasp_core.rater_map.values import RaterMap
from grasp_core.report.small_groups.cover import LEAST
from grasp_core.report.small_groups.hiding import some_hidden
from grasp_core.result import Result


def map_without_small_groups(found: RaterMap | None, result: Result) -> RaterMap | None:
    """The map where nobody on it is one of few, else None.

    Parameters
    ----------
    found : RaterMap or None
    result : Result
        As it is shown: without small groups.

    Notes
    -----
    Points can be counted, by all the values that they tell together. So a map is shown only where the result
    lost no group and each point shares all that is known of its rater with enough others.
    """
    if found is None or some_hidden(result):
        return None
    sizes = [row.n_raters for axis in found.axes for row in axis.groups]
    alike = Counter(point.values for point in found.points).values()
    whole = found.n_reduced == 0 and len(found.points) == found.n_placed
    return found if whole and min((*sizes, *alike), default=LEAST) >= LEAST else None
