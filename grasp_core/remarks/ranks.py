"""Which warnings of a run matter most: they are shown first."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from grasp_core.remarks.cautions import Caution, ScreenCaution
from grasp_core.remarks.guards import GuardCaution, ShuffleCaution
from grasp_core.remarks.remark import Code, Remark

OF_DATA = 6
"""The rank of what is odd in the data, and of sentences without a code."""

RANKS: Mapping[Code, int] = {
    GuardCaution.OWN_WORKLOAD: 0,
    GuardCaution.OWN_ITEMS: 0,
    GuardCaution.OWN_WORKLOAD_WITH_MODELS: 0,
    GuardCaution.OWN_ITEMS_WITH_MODELS: 0,
    GuardCaution.GAI_OF_OTHER_ITEMS: 1,
    GuardCaution.AXES_TOGETHER: 1,
    Caution.RANDOM_RESPONDERS: 1,
    Caution.CONSTANT_RATERS: 1,
    Caution.NEAR_DUPLICATES: 1,
    ScreenCaution.SCREENED_IN_GROUPS: 1,
    Caution.TOO_FEW_FOR_P: 2,
    Caution.TOO_FEW_FOR_CORRECTION: 3,
    Caution.FEW_REGROUPINGS: 3,
    Caution.CLUSTERS_STAY: 3,
    ShuffleCaution.MIXED_CLUSTERS: 3,
    Caution.PAPER_P: 4,
    Caution.NO_GROUP_IN_SLICES: 5,
    ShuffleCaution.UNKNOWN_STRATUM: 6,
    ShuffleCaution.UNKNOWN_CLUSTER: 6,
    ShuffleCaution.ONE_STRATUM: 6,
    Caution.TOO_MANY_PAIRS: 7,
    Caution.SMALL_GROUPS: 8,
    Caution.FEW_RATERS_HIDDEN: 8,
    Caution.ITEMS_WITHOUT_PAIRS: 8,
    Caution.DISTANCE_OF_SHARES: 8,
    Caution.SOME_NOT_ESTIMABLE: 9,
    Caution.PAPER_CROSS_NEGENTROPY: 9,
}
"""By code, lowest first: what makes marks wrong, what leaves them out, what was asked and is not there."""


_GRAVE = 3
"""The last rank of warnings that may undo what a run finds, or be why it finds nothing."""


def may_undo(warning: Remark) -> bool:
    """Whether a warning may undo what is found, so that it is read before."""
    return RANKS.get(warning.code, OF_DATA) <= _GRAVE


def ranked(warnings: Iterable[Remark]) -> tuple[Remark, ...]:
    """Warnings by rank; those of one rank as they came."""
    return tuple(sorted(warnings, key=lambda one: RANKS.get(one.code, OF_DATA)))
