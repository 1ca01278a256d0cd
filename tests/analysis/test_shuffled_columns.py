"""What is said of strata and clusters, and which of them are refused."""

from __future__ import annotations

import pytest

from grasp_core.analysis.design import said_of_columns
from grasp_core.model.annotations import Axis, Raters
from grasp_core.model.errors import Problem, SpecError
from grasp_core.model.groups import form_groups
from grasp_core.model.remarks.cautions import ShuffleCaution
from grasp_core.model.remarks.problems import DataProblem
from grasp_core.model.spec import AnalysisSpec
from grasp_core.permutation.testing.tail import check_something_moves

UNKNOWN = DataProblem.UNKNOWN_ON_AXIS(unknown=2, raters=6, axis="some")
OF_TWO = Problem(False, UNKNOWN, axis="some")


def raters(**values: str) -> Raters:
    """One letter a rater; a blank is unknown."""
    axes = {name: Axis.from_values([one.strip() or None for one in text]) for name, text in values.items()}
    return Raters(("",) * len(next(iter(values.values()))), axes)


def test_raters_unknown_on_a_stratum_or_cluster_take_part_and_are_said_to() -> None:
    of = raters(x="ababab", some="uu vv ")
    told = {"unknown": 2, "raters": 6, "column": "some"}
    within = AnalysisSpec(axes=(("x",),), strata=("some",))
    assert said_of_columns(of, within, [OF_TWO]) == [ShuffleCaution.UNKNOWN_STRATUM(**told)]
    clustered = AnalysisSpec(axes=(("x",),), cluster="some")
    assert said_of_columns(of, clustered, [OF_TWO]) == [ShuffleCaution.UNKNOWN_CLUSTER(**told)]
    tested = AnalysisSpec(axes=(("some",),), strata=("some",))
    assert said_of_columns(of, tested, [OF_TWO]) == [UNKNOWN]
    assert said_of_columns(of, AnalysisSpec(axes=(("x",),)), [OF_TWO]) == []


@pytest.mark.parametrize("values", ["uuuuuu", "      "])
def test_a_stratum_of_everybody_is_said_to_change_nothing(values: str) -> None:
    of = raters(x="ababab", some=values)
    alone = Problem(False, DataProblem.AXIS_WITHOUT_VALUE(axis="some"), axis="some")
    spec = AnalysisSpec(axes=(("x",),), strata=("some",))
    assert said_of_columns(of, spec, [alone]) == [ShuffleCaution.ONE_STRATUM(column="some")]


def test_an_axis_that_differs_inside_clusters_is_said_to_hold_the_others_up() -> None:
    of = raters(x="aabbbb", y="abbaab", team="rrssss")
    spec = AnalysisSpec(axes=(("x",), ("y",)), cluster="team")
    (told,) = said_of_columns(of, spec, [])
    assert told == ShuffleCaution.MIXED_CLUSTERS(cluster="team", clusters=2, mixed=("y",), whole=("x",))
    assert "test x in a run without y" in str(told)
    assert said_of_columns(of, AnalysisSpec(axes=(("x",),), cluster="team"), []) == []
    assert said_of_columns(of, AnalysisSpec(axes=(("y",),), cluster="team"), []) == []


def test_clusters_each_of_its_own_size_are_refused_for_their_sizes() -> None:
    of = raters(x="ababab", team="rrssst")
    spec = AnalysisSpec(axes=(("x",),), cluster="team")
    grouping = form_groups(of, spec.axes)
    with pytest.raises(SpecError, match=r"each team has a size of its own.* shuffle within team"):
        check_something_moves(of, grouping, spec)
