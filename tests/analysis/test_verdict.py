"""Verdicts from values: hypotheses, tests that stand in or are left out, codes, the correction over all."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from scipy import stats

from grasp_core.analysis.cohesion.columns import DISTANCE, GAI, Places
from grasp_core.analysis.cohesion.verdict import (
    Joint,
    hypotheses,
    joint_tests,
    values_together,
    with_verdicts,
)
from grasp_core.analysis.intervals import Spread, Spreads
from grasp_core.model.annotations import Axis, Raters
from grasp_core.model.groups import form_groups
from grasp_core.model.spec import STATISTICS
from tests.results import make_group

USE, DIST, GROUP_GAI, GAP = range(4)
LIKE = (0, 1, 2, 3)


def values(n: int = 1000, groups: int = 4, seed: int = 1) -> np.ndarray:
    """Values by chance, the observed ones first."""
    return np.random.default_rng(seed).normal(size=(n, groups, 4))


def single(groups: int = 4) -> list[tuple[int, ...]]:
    return [(g,) for g in range(groups)]


def axis(*codes: int) -> Axis:
    return Axis(tuple("abc"[: max(codes) + 1]), np.array(codes, np.int32))


def grouping(**axes: Axis):
    raters = Raters(tuple("uvwxyz"), axes)
    return form_groups(raters, [(name,) for name in axes])


def test_the_two_groups_of_an_axis_are_one_hypothesis() -> None:
    found = grouping(two=axis(0, 1, 0, 1, 1, 1), three=axis(0, 1, 2, 2, 1, 0))
    assert hypotheses(found) == [(0, 1), (2,), (3,), (4,)]
    # A third group that is too small to be shown is in the complements of both.
    raters = Raters(tuple("uvwxyz"), {"race": axis(0, 0, 1, 1, 1, 2)})
    assert hypotheses(form_groups(raters, [("race",)], min_raters=2)) == [(0,), (1,)]


def test_one_group_far_out_is_found_and_named() -> None:
    found = values()
    found[0, 2, USE] = 9
    tested = joint_tests(found, single(), LIKE, {})
    assert [one.p < 0.05 for one in tested] == [False, False, True, False]
    assert tested[2].kinds == ("labels",)
    assert tested[2].p <= tested[2].q <= tested[2].bound
    assert tested[2].strength > 8


@pytest.mark.parametrize(("place", "kind"), [(DIST, "items"), (GROUP_GAI, "cohesion")])
def test_kinds_of_the_other_tests(place: int, kind: str) -> None:
    found = values(3000)
    found[0, 0] = np.median(found[:, 0], axis=0)
    found[0, 0, place] = -9 if place == GROUP_GAI else 9
    assert joint_tests(found, single(), LIKE, {})[0].kinds == (kind,)


def test_the_order_of_groups_changes_no_digit() -> None:
    found = values()
    found[0, 2, USE] = found[0, 1, DIST] = 3
    order = [3, 1, 0, 2]
    first, second = (joint_tests(found, single(), LIKE, {}), joint_tests(found[:, order], single(), LIKE, {}))
    assert [second[order.index(g)]._replace(groups=(g,)) for g in range(4)] == first


def test_both_gais_of_an_axis_of_two_groups_enter() -> None:
    found = values()
    found[0, 1, GROUP_GAI] = 9
    (whole,) = joint_tests(found, [(0, 1)], LIKE, {})
    (alone,) = joint_tests(found, [(0,)], LIKE, {})
    assert whole.p < 0.01 < alone.p


def test_groups_that_are_alike_have_their_place_among_the_values_of_both() -> None:
    """Of two mirrored groupings, which chance drew 40 and 20 times, either is as far out as the other."""
    one = np.array([[4, 4, 9, 0], [4, 4, 0.5, 0]])
    mirror = one.copy()
    mirror[:, GROUP_GAI] = [0.5, 9]
    found = values(groups=2)
    found[:40], found[40:60] = one, mirror
    rarer = found.copy()
    rarer[0], rarer[59] = mirror, one

    def p(like: tuple[int, int]) -> list[float]:
        return [joint_tests(of, [(0, 1)], like, {})[0].p for of in (found, rarer)]

    assert len(set(p((0, 0)))) == 1
    assert len(set(p((0, 1)))) == 2


def test_the_gap_stands_in_where_gai_is_often_lost() -> None:
    found = values()
    found[0, 0, GAP] = 9
    few, many, observed = found.copy(), found.copy(), found.copy()
    few[1:11, 0, GROUP_GAI] = np.nan
    many[1:12, 0, GROUP_GAI] = np.nan
    observed[0, 0, GROUP_GAI] = np.nan
    p = [joint_tests(one, single(), LIKE, {})[0].p for one in (few, many, observed)]
    assert p[0] > 0.05 > max(p[1:])
    assert p[1] == p[2]  # GAI takes no part, in observed and shuffled values alike


def test_a_test_without_values_is_left_out_and_without_any_there_is_no_verdict() -> None:
    found = values()
    whole = joint_tests(found, single(), LIKE, {})
    found[:, 1, DIST] = np.nan
    found[:, 2] = np.nan
    found[:, 3] = 0.5
    tested = joint_tests(found, single(), LIKE, {})
    assert tested[0].p == whole[0].p
    assert tested[1].p != whole[1].p
    assert [one.why for one in tested] == [None, None, "not-estimable", "not-estimable"]


def test_groups_that_cannot_be_tested_take_no_part_in_the_correction() -> None:
    found = values()
    found[0, 0, USE] = 3
    tested = joint_tests(found, single(), LIKE, {2: "few-raters", 3: "other-items"})
    assert [one.why for one in tested] == [None, None, "few-raters", "other-items"]
    assert tested[:2] == joint_tests(found[:, :2], single(2), LIKE, {})


def test_few_permutations_test_nothing() -> None:
    assert {one.why for one in joint_tests(values(100), single(), LIKE, {})} == {"few-permutations"}
    assert {one.why for one in joint_tests(values(101), single(), LIKE, {})} == {None}


@pytest.mark.parametrize(
    ("q", "bound", "permutations", "code"),
    [
        (0.04, 0.049, 3000, "clear"),
        (0.04, 0.049, 2999, "hint"),
        (0.04, 0.051, 3000, "hint"),
        (0.06, 0.07, 3000, "hint"),
    ],
)
def test_what_is_clear(q: float, bound: float, permutations: int, code: str) -> None:
    rows = (make_group("A"), make_group("B"))
    tested = [Joint((0,), None, ("labels",), 0.01, q, bound, 3.0), Joint((1,), None, (), 0.06, 0.3, 0.31)]
    first, second = with_verdicts(rows, tested, permutations)
    assert first.verdict is not None
    assert second.verdict is not None
    assert (first.verdict.code, second.verdict.code) == (code, "none")


def test_both_groups_of_an_axis_have_its_verdict() -> None:
    rows = (make_group("A"), make_group("B"))
    one, other = (row.verdict for row in with_verdicts(rows, [Joint((0, 1), p=0.01, q=0.02)], 3000))
    assert one is not None
    assert other is not None
    assert (one.other, other.other) == (rows[1].group, rows[0].group)
    assert replace(one, other=None) == replace(other, other=None)


PLACES = Places(1, 2)


def test_values_are_those_of_the_columns() -> None:
    found = np.random.default_rng(2).normal(size=(50, PLACES.dsi(0)))
    kept = values_together(found[1:], found[0], PLACES, [False])[:, 0]
    places = (PLACES.label_use, DISTANCE, GAI, STATISTICS.index("gap"))
    np.testing.assert_array_equal(kept, found[:, [PLACES.column(0, place) for place in places]])
    shares = values_together(found[1:], found[0], PLACES, [True])[:, 0]
    assert np.isnan(shares[:, DIST]).all()
    without = Places(1)
    none = values_together(found[1:, : without.dsi(0)], found[0, : without.dsi(0)], without, [False])[:, 0]
    assert np.isnan(none[:, USE]).all()
    np.testing.assert_array_equal(none[:, 1:], kept[:, 1:])


def spread(values: list[float], whole: float = 0.5) -> Spread:
    found = Spread.around(np.array([whole]))
    found.add(np.array(values)[:, None])
    return found


GROUP, OTHERS = spread([0.4, 0.5, 0.6, 0.55]), spread([0.5, 0.52, 0.47])
ITEMS, ANNOTATIONS = spread([0.45, 0.5, 0.58, 0.51, 0.5]), spread([0.5, 0.51, 0.49])


def test_variance_is_the_jackknifes_and_units_that_are_alike_are_added_once() -> None:
    values = np.array([0.4, 0.5, 0.6, 0.55])
    assert GROUP.variance[0] == pytest.approx(3 * np.var(values))  # (n - 1) / n times the sum of squares
    together = Spread.around(np.array([0.5]))
    together.add(np.array([[0.4], [0.6]]), np.array([3.0, 2.0]))
    assert together.variance == pytest.approx(spread([0.4, 0.4, 0.4, 0.6, 0.6]).variance)
    assert together.n == 5


@pytest.mark.parametrize(
    ("target", "used"), [("raters", (GROUP, OTHERS)), ("items", (ITEMS,)), ("both", (GROUP, OTHERS, ITEMS))]
)
def test_students_interval_by_its_formula(target, used) -> None:
    variances = [float(one.variance[0]) for one in used]
    total = sum(variances) - (ANNOTATIONS.variance[0] if target == "both" else 0.0)
    assert total > max(GROUP.variance[0] + OTHERS.variance[0], ITEMS.variance[0]) or target != "both"
    shares = [v**2 / float(one.freedom[0]) for v, one in zip(variances, used, strict=True)]
    freedom = sum(variances) ** 2 / sum(shares)
    reach = stats.t.ppf(0.975, freedom) * np.sqrt(total)
    found = Spreads(GROUP, OTHERS, ITEMS, ANNOTATIONS).interval(target)
    assert found == pytest.approx(np.array([[0.5 - reach, 0.5 + reach]]))


def test_few_units_that_carry_all_that_varies_have_few_degrees_of_freedom() -> None:
    values = np.random.default_rng(1).normal(0.5, 0.1, 400)
    assert 300 < spread(values.tolist()).freedom[0] <= 399
    kurtosis = stats.kurtosis([0.4] * 3 + [0.5] * 97, fisher=False)
    found = spread([0.4] * 3 + [0.5] * 97).freedom[0]
    assert found == pytest.approx(200 / (kurtosis - 1))
    assert found < 8
    assert spread([0.4, 0.6, 0.4, 0.6]).freedom[0] == 3  # never more than without one


def test_both_is_never_narrower_than_either_source() -> None:
    noisy = spread([0.2, 0.9, 0.1, 0.8])
    variance = Spreads(GROUP, OTHERS, ITEMS, noisy)
    raters, items, both = (np.diff(variance.interval(target))[0, 0] for target in ("raters", "items", "both"))
    assert noisy.variance > GROUP.variance + OTHERS.variance + ITEMS.variance
    assert both == max(raters, items)


def test_without_a_value_for_some_unit_there_is_no_interval_and_without_variance_no_width() -> None:
    lost, still = spread([0.4, np.nan, 0.6]), spread([0.5, 0.5, 0.5])
    assert np.isnan(Spreads(lost, OTHERS, ITEMS, ANNOTATIONS).interval("both")).all()
    assert not np.isnan(Spreads(lost, OTHERS, ITEMS, ANNOTATIONS).interval("items")).any()
    assert Spreads(still, still, still, still).interval("both").tolist() == [[0.5, 0.5]]
