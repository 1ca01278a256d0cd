"""What permutations can show of a run's groups, told before it."""

from __future__ import annotations

import math

import numpy as np

from grasp_core.groups import Grouping
from grasp_core.permutation.testing.attainable import Shuffles
from grasp_core.remarks.cautions import Caution
from grasp_core.report.words import format_p_value, group_label
from grasp_core.spec import LEVEL
from grasp_core.wording import number

TOLD = 5
"""Groups that are named before the others are only counted."""
_COUNTED = math.log(1e6)


def few_regroupings(grouping: Grouping, shuffles: Shuffles) -> list[str]:
    """A sentence for each group of which no p can be below the level of marks."""
    few = np.flatnonzero(shuffles.least_p > LEVEL).tolist()
    found = [
        f"{group_label(grouping.groups[g])} can be regrouped in {ways(shuffles.log_regroupings[g])}: "
        f"no p of it is below {format_p_value(shuffles.least_p[g])}"
        for g in few[:TOLD]
    ]
    if len(few) > TOLD:
        found.append(f"the same holds of {number(len(few) - TOLD, 'further group')}")
    return found


def staying(shuffles: Shuffles) -> list[str]:
    """That raters of some clusters keep their profiles, with how many others do not."""
    stay, everybody = shuffles.n_fixed, shuffles.exchange.order.size
    if not stay:
        return []
    caution = str(Caution.CLUSTERS_STAY(raters=stay, all=everybody))
    return [f"{caution}; that leaves {number(everybody - stay, 'rater')} to shuffle"]


def ways(log_regroupings: float) -> str:
    """A number of regroupings, given as its logarithm: whole up to a million, then a power of ten."""
    if log_regroupings <= _COUNTED:
        return number(round(math.exp(log_regroupings)), "way")
    return f"about 10^{log_regroupings / math.log(10):,.0f} ways"
