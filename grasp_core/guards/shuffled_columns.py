"""What is said of the columns by which profiles move: strata, clusters, axes that others are given."""

from __future__ import annotations

from collections.abc import Sequence

from grasp_core.annotations import Raters
from grasp_core.errors import Problem
from grasp_core.permutation.exchange import axes_in_clusters, clusters_of
from grasp_core.remarks.cautions import ShuffleCaution
from grasp_core.remarks.problems import DataProblem
from grasp_core.remarks.remark import Remark
from grasp_core.spec import AnalysisSpec

_OF_GROUPS = (DataProblem.UNKNOWN_ON_AXIS, DataProblem.AXIS_OF_ONE_VALUE, DataProblem.AXIS_WITHOUT_VALUE)


def said_of_columns(raters: Raters, analysis: AnalysisSpec, problems: Sequence[Problem]) -> list[Remark]:
    """What is odd in the columns of a run: those by which profiles only move need form no groups.

    Parameters
    ----------
    raters : Raters
    analysis : AnalysisSpec
    problems : sequence of Problem
        Of the data; those of other columns are left out.
    """
    found = [
        _of_shuffles(name, raters, analysis)
        if name not in analysis.tested and problem.remark.code in _OF_GROUPS
        else problem.remark
        for name in analysis.columns
        for problem in problems
        if problem.axis == name
    ]
    mixed = mixed_clusters(raters, analysis)
    # A column may have several problems, which are one where it forms no groups.
    return [*dict.fromkeys(found), *([] if mixed is None else [mixed])]


def _of_shuffles(name: str, raters: Raters, analysis: AnalysisSpec) -> Remark:
    codes = raters.axes[name].codes
    unknown = int((codes < 0).sum())
    if name == analysis.cluster:
        return ShuffleCaution.UNKNOWN_CLUSTER(unknown=unknown, raters=codes.size, column=name)
    if unknown in (0, codes.size):
        return ShuffleCaution.ONE_STRATUM(column=name)
    return ShuffleCaution.UNKNOWN_STRATUM(unknown=unknown, raters=codes.size, column=name)


def mixed_clusters(raters: Raters, analysis: AnalysisSpec) -> Remark | None:
    """That some axes differ inside clusters, so that the others do not move by whole clusters either."""
    if analysis.cluster is None:
        return None
    whole, mixed = axes_in_clusters(raters, analysis)
    if not whole or not mixed:
        return None
    cluster = clusters_of(raters, analysis.cluster)
    return ShuffleCaution.MIXED_CLUSTERS(
        cluster=analysis.cluster, clusters=int(cluster.max()) + 1, mixed=mixed, whole=whole
    )
