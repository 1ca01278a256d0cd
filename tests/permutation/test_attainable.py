"""Regroupings counted against all that permutations make, and what they allow of p."""

from __future__ import annotations

import numpy as np
import pytest

from grasp_core.model.annotations import Axis, Raters
from grasp_core.model.errors import SpecError
from grasp_core.model.groups import form_groups
from grasp_core.model.spec import AnalysisSpec
from grasp_core.permutation.draw import exchange_of, permutation
from grasp_core.permutation.testing.tail import Shuffles, check_something_moves, smallest_p
from tests.permutation.simulated import clustered

PERMUTATIONS = 6000


@pytest.mark.parametrize("strata", [(), ("region",)])
@pytest.mark.parametrize("cluster", [None, "team"])
@pytest.mark.parametrize("nested", [True, False])
def test_they_are_all_that_permutations_make(strata, cluster: str | None, nested: bool) -> None:
    """Enough permutations of eleven raters make every regrouping; at most 504 are there to be made."""
    _, raters = clustered(3, nested=nested, raters=11, unknown=0.1 if strata else 0)
    spec = AnalysisSpec(axes=(("gender",),), strata=strata, cluster=cluster)
    grouping, exchange = form_groups(raters, spec.axes), exchange_of(raters, spec)
    found = Shuffles.of(raters, grouping, spec)
    sources = [permutation(1, b, *exchange) for b in range(PERMUTATIONS)]
    for g in range(len(grouping.groups)):
        member, others = grouping.member[g], grouping.complement(g)
        made = {(member[source].tobytes(), others[source].tobytes()) for source in sources}
        assert len(made) == pytest.approx(np.exp(found.log_regroupings[g]))
        assert found.least_p[g] == pytest.approx(min(2 / len(made), 1))


def test_of_a_million_raters_they_are_a_logarithm() -> None:
    axis = Axis(("a", "b"), np.arange(10**6, dtype=np.int32) % 2)
    spec = AnalysisSpec(axes=(("x",),), strata=("workload",))
    raters = Raters(("",) * 10**6, {"x": axis}, np.arange(10**6))
    found = Shuffles.of(raters, form_groups(raters, spec.axes), spec)
    assert np.exp(found.log_regroupings / 200_000) == pytest.approx(10)  # of five raters two or three
    assert (found.least_p == 0).all()


def test_one_tail_reaches_half_as_far() -> None:
    of_ten = np.log([10.0])
    assert smallest_p(of_ten, "two-sided") == pytest.approx(0.2)
    assert smallest_p(of_ten, "paper") == pytest.approx(0.1)
    assert smallest_p(of_ten, "upper") == pytest.approx(0.1)


def test_axes_that_cannot_move_are_named() -> None:
    values = {"x": "aabbccdd", "y": "abababba", "z": "uuuuvvvv", "team": "qqqqqrrr"}
    raters = Raters(("",) * 8, {name: Axis.from_values([*text]) for name, text in values.items()})
    grouping = form_groups(raters, [("x",), ("y",)])
    check_something_moves(raters, grouping, AnalysisSpec(axes=(("x",), ("y",)), strata=("z",)))
    with pytest.raises(SpecError, match="the strata of x leave nothing to shuffle for x: "):
        check_something_moves(raters, grouping, AnalysisSpec(axes=(("x",), ("y",)), strata=("x",)))
    with pytest.raises(SpecError, match="each team has a size of its own, and "):
        check_something_moves(raters, grouping, AnalysisSpec(axes=(("x",), ("y",)), cluster="team"))
