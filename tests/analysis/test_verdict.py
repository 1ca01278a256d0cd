"""Verdicts from values; label use: the test of all labels together, intervals, when there is none."""

import itertools
from dataclasses import replace

import numpy as np
import pytest
from scipy import stats

from benchmarks.planted import EFFECTS, NOTHING, Effect, drawn, run_spec
from grasp_core.analysis.cohesion.columns import DISTANCE, GAI, Places
from grasp_core.analysis.cohesion.combined_test import (
    Joint,
    hypotheses,
    joint_tests,
    pick_verdict_values,
    with_verdicts,
)
from grasp_core.analysis.cohesion.panel import Cohesion
from grasp_core.analysis.intervals import Jackknife, Jackknives
from grasp_core.model.annotations import Axis, Raters
from grasp_core.model.groups import form_groups
from grasp_core.model.outcome import LabelUse
from grasp_core.model.remarks.reasons import NoInterval, NoValue
from grasp_core.model.result import GroupResult, RunResult
from grasp_core.model.spec import STATISTICS, AnalysisSpec, Level, RunSpec
from grasp_core.model.text import Sentence
from grasp_core.permutation import design
from grasp_core.permutation.draw import identity, over_all, permutation
from grasp_core.permutation.testing.tail import Symmetry
from grasp_core.reading.dataset.load import Dataset
from grasp_core.report.words.label_use import manner
from grasp_core.statistics.items import count
from grasp_core.statistics.label_use import label_use
from grasp_core.statistics.rater_residuals import evidence
from tests.computing import compute_in_threads
from tests.permutation import reference
from tests.permutation.naive import naive_step_up
from tests.permutation.simulated import DATA_SPEC, dataset
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


def test_the_two_groups_of_an_axis_are_one_hypothesis_with_one_verdict() -> None:
    found = grouping(two=axis(0, 1, 0, 1, 1, 1), three=axis(0, 1, 2, 2, 1, 0))
    assert hypotheses(found) == [(0, 1), (2,), (3,), (4,)]
    # A third group that is too small to be shown is in the complements of both.
    raters = Raters(tuple("uvwxyz"), {"race": axis(0, 0, 1, 1, 1, 2)})
    assert hypotheses(form_groups(raters, [("race",)], min_raters=2)) == [(0,), (1,)]
    rows = (make_group("A"), make_group("B"))
    one, other = (row.verdict for row in with_verdicts(rows, [Joint((0, 1), p=0.01, q=0.02)], 3000))
    assert (one.other, other.other) == (rows[1].group, rows[0].group)
    assert replace(one, other=None) == replace(other, other=None)


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


def test_the_order_of_groups_changes_no_digit_and_both_gais_of_two_groups_enter() -> None:
    found = values()
    found[0, 2, USE] = found[0, 1, DIST] = 3
    order = [3, 1, 0, 2]
    first, second = (joint_tests(found, single(), LIKE, {}), joint_tests(found[:, order], single(), LIKE, {}))
    assert [second[order.index(g)]._replace(groups=(g,)) for g in range(4)] == first
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


def test_the_gap_stands_in_where_gai_is_often_lost_and_tests_without_values_are_left_out() -> None:
    found = values()
    found[0, 0, GAP] = 9
    few, many, observed = found.copy(), found.copy(), found.copy()
    few[1:11, 0, GROUP_GAI] = np.nan
    many[1:12, 0, GROUP_GAI] = np.nan
    observed[0, 0, GROUP_GAI] = np.nan
    p = [joint_tests(one, single(), LIKE, {})[0].p for one in (few, many, observed)]
    assert p[0] > 0.05 > max(p[1:])
    assert p[1] == p[2]  # GAI takes no part, in observed and shuffled values alike
    found = values()
    whole = joint_tests(found, single(), LIKE, {})
    found[:, 1, DIST] = np.nan
    found[:, 2] = np.nan
    found[:, 3] = 0.5
    tested = joint_tests(found, single(), LIKE, {})
    assert tested[0].p == whole[0].p
    assert tested[1].p != whole[1].p
    assert [one.why for one in tested] == [None, None, "not-estimable", "not-estimable"]


def test_few_permutations_test_nothing_and_untested_groups_take_no_part_in_the_correction() -> None:
    assert {one.why for one in joint_tests(values(100), single(), LIKE, {})} == {"few-permutations"}
    assert {one.why for one in joint_tests(values(101), single(), LIKE, {})} == {None}
    found = values()
    found[0, 0, USE] = 3
    tested = joint_tests(found, single(), LIKE, {2: "few-raters", 3: "other-items"})
    assert [one.why for one in tested] == [None, None, "few-raters", "other-items"]
    assert tested[:2] == joint_tests(found[:, :2], single(2), LIKE, {})


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
    assert (first.verdict.code, second.verdict.code) == (code, "none")


PLACES = Places(1, 2)


def test_values_are_those_of_the_columns() -> None:
    found = np.random.default_rng(2).normal(size=(50, PLACES.dsi(0)))
    kept = pick_verdict_values(found[1:], found[0], PLACES, [False])[:, 0]
    places = (PLACES.label_use, DISTANCE, GAI, STATISTICS.index("gap"))
    np.testing.assert_array_equal(kept, found[:, [PLACES.column(0, place) for place in places]])
    shares = pick_verdict_values(found[1:], found[0], PLACES, [True])[:, 0]
    assert np.isnan(shares[:, DIST]).all()
    without = Places(1)
    none = pick_verdict_values(found[1:, : without.dsi(0)], found[0, : without.dsi(0)], without, [False])[
        :, 0
    ]
    assert np.isnan(none[:, USE]).all()
    np.testing.assert_array_equal(none[:, 1:], kept[:, 1:])


def spread(values: list[float], whole: float = 0.5) -> Jackknife:
    found = Jackknife.around(np.array([whole]))
    found.add(np.array(values)[:, None])
    return found


GROUP, OTHERS = spread([0.4, 0.5, 0.6, 0.55]), spread([0.5, 0.52, 0.47])
ITEMS, ANNOTATIONS = spread([0.45, 0.5, 0.58, 0.51, 0.5]), spread([0.5, 0.51, 0.49])


def test_variance_is_the_jackknifes_and_few_units_that_carry_it_have_few_degrees_of_freedom() -> None:
    values = np.array([0.4, 0.5, 0.6, 0.55])
    assert GROUP.variance[0] == pytest.approx(3 * np.var(values))  # (n - 1) / n times the sum of squares
    together = Jackknife.around(np.array([0.5]))
    together.add(np.array([[0.4], [0.6]]), np.array([3.0, 2.0]))
    assert together.variance == pytest.approx(spread([0.4, 0.4, 0.4, 0.6, 0.6]).variance)
    assert together.n == 5
    values = np.random.default_rng(1).normal(0.5, 0.1, 400)
    assert 300 < spread(values.tolist()).freedom[0] <= 399
    kurtosis = stats.kurtosis([0.4] * 3 + [0.5] * 97, fisher=False)
    found = spread([0.4] * 3 + [0.5] * 97).freedom[0]
    assert found == pytest.approx(200 / (kurtosis - 1))
    assert found < 8
    assert spread([0.4, 0.6, 0.4, 0.6]).freedom[0] == 3  # never more than without one


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
    found = Jackknives(GROUP, OTHERS, ITEMS, ANNOTATIONS).interval(target)
    assert found == pytest.approx(np.array([[0.5 - reach, 0.5 + reach]]))
    p = Jackknives(GROUP, OTHERS, ITEMS, ANNOTATIONS).p()
    if target == "both":
        assert p == pytest.approx(2 * stats.t.sf(0.5 / np.sqrt(total), freedom))


def test_both_is_never_narrower_than_either_source_and_some_intervals_have_no_width_or_are_none() -> None:
    noisy, still = spread([0.2, 0.9, 0.1, 0.8]), spread([0.5, 0.5, 0.5])
    variance = Jackknives(GROUP, OTHERS, ITEMS, noisy)
    raters, items, both = (np.diff(variance.interval(target))[0, 0] for target in ("raters", "items", "both"))
    assert noisy.variance > GROUP.variance + OTHERS.variance + ITEMS.variance
    assert both == max(raters, items)
    assert Jackknives(still, still, still, still).interval("both").tolist() == [[0.5, 0.5]]
    found = Jackknives(spread([0.4, np.nan, 0.6]), OTHERS, ITEMS, ANNOTATIONS)
    assert np.isnan(found.interval("both")).all()
    assert np.isnan(found.p()).all()
    assert np.isnan(Jackknives(still, still, still, still).p()).all()
    assert not np.isnan(found.interval("items")).any()


# Label use
AXES = (("gender",), ("race",))
SHAPES = {"crossed": {}, "sparse": {"items": 60, "missing": 0.7}, "unknown": {"missing": 0.4, "unknown": 0.2}}


def asked(data: Dataset, **analysis: object) -> RunResult:
    spec = RunSpec(DATA_SPEC, AnalysisSpec(**{"axes": AXES, "permutations": 120, "pairs": False, **analysis}))  # type: ignore[arg-type]
    return compute_in_threads(data, spec)


def uses(result: RunResult) -> list[LabelUse]:
    found = [row.label_use for row in result.groups]
    assert all(use is not None for use in found)
    return found  # type: ignore[return-value]


@pytest.mark.parametrize(
    ("shape", "level"), [*((shape, "ordinal") for shape in SHAPES), ("unknown", "nominal")]
)
def test_values_and_p_are_those_of_the_definitions(shape: str, level: Level) -> None:
    """p of a group: how often the strongest difference of labels, or of their mean, is as strong."""
    data = dataset(3, raters=30, **SHAPES[shape])
    annotations, grouping = data.annotations, form_groups(data.raters, AXES, min_raters=2)
    layout = over_all(annotations.n_raters)
    sources = [identity(annotations.n_raters), *(permutation(1, b, *layout) for b in range(120))]
    spec = AnalysisSpec(axes=AXES, level=level)
    differences = np.array([reference.differences(annotations, grouping, spec, one) for one in sources])
    for g, use in enumerate(uses(asked(data, level=level))):
        sides = (grouping.member[g], grouping.complement(g))
        values = label_use(*(count(annotations, side) for side in sides))
        np.testing.assert_allclose([one.value for one in use.labels.values()], values, atol=1e-12)
        mean, t = differences[:, g, 0], differences[:, g, 1:]
        far = evidence(t, mean, 2)
        assert use.p == pytest.approx((far >= far[0] - 1e-9).sum() / 121)
        most = use.labels[str(use.most)]
        of_labels = list(zip(use.labels.values(), t.T, strict=True))
        assert abs(dict(of_labels)[most][0]) == pytest.approx(np.abs(t[0]).max())
        assert (use.mean is None) == (level == "nominal")
        for one, drawn_t in [*of_labels, *([] if use.mean is None else [(use.mean, mean)])]:
            tails = [(drawn_t <= drawn_t[0] + 1e-9).sum(), (drawn_t >= drawn_t[0] - 1e-9).sum()]
            assert one.p == pytest.approx(min(1.0, 2 * min(tails) / 121))
            assert (one.null is not None) == (one in (most, use.mean))
            assert one.low is not None
            assert one.high is not None
            assert one.low < one.value < one.high


def test_labels_are_a_family_of_their_own_and_adaptive_runs_and_max_t_have_it_too() -> None:
    found = uses(asked(dataset(1, raters=30)))
    q = naive_step_up([use.p for use in found], harmonic=False)
    np.testing.assert_allclose([use.q for use in found], q)
    data = dataset(4, raters=30)
    plain = [use.labels for use in uses(asked(data))]
    for analysis in ({"adaptive": True}, {"correction": "max-t"}, {"correction": "max-t", "family": "all"}):
        found = uses(asked(data, **analysis))
        assert [{name: one.value for name, one in use.labels.items()} for use in found] == [
            {name: one.value for name, one in labels.items()} for labels in plain
        ]
        assert all(use.q is not None and use.p is not None and use.q >= use.p for use in found)


@pytest.mark.parametrize("level", ["ordinal", "interval", "ratio"])
def test_the_mean_shifts_where_labels_have_an_order(level) -> None:
    data = dataset(2, raters=30)
    numbers = replace(data.annotations, categories=("1", "2", "4"))
    for use in uses(asked(replace(data, annotations=numbers), level=level)):
        assert use.mean.low < use.mean.value < use.mean.high
        if level == "interval":
            shares = np.array([one.value for one in use.labels.values()])
            assert use.mean.value == pytest.approx(shares @ [1, 2, 4])


def test_small_groups_have_no_interval_and_many_labels_no_label_use(monkeypatch: pytest.MonkeyPatch) -> None:
    small = [use for use in uses(asked(dataset(1, raters=12))) if use.no_interval is not None]
    assert small
    for use in small:
        assert use.no_interval.code in (NoInterval.FEW_RATERS_INSIDE, NoInterval.FEW_RATERS_OUTSIDE)
        assert all(one.low is None and one.high is None for one in use.labels.values())
    monkeypatch.setattr(design, "MOST_LABELS_USED", 2)
    monkeypatch.setattr("grasp_core.analysis.cohesion.results.MOST_LABELS_USED", 2)
    monkeypatch.setattr("grasp_core.permutation.label_use.MOST_LABELS_USED", 2)
    result = asked(dataset(1, raters=30))
    assert {use.reason for use in uses(result)} == {NoValue.MANY_LABELS(most=2)}
    assert result.groups[0].statistics["distance"].p is not None


def test_where_most_items_have_one_label_of_the_group_shares_are_compared() -> None:
    data = dataset(5, items=200, raters=40, missing=0.93)
    result = asked(data, axes=(("race",),))
    compared = 0
    for row in result.groups:
        shares = np.array([one.value for one in row.label_use.labels.values()])
        alike = row.statistics["distance"].value == pytest.approx((shares**2).sum(), abs=1e-12)
        compared += alike
    assert compared > 0


DATA_SETS, WITH_SHIFT, PERMUTATIONS = 100, 40, 199
SHIFT = next(effect for effect in EFFECTS if "15 points" in effect.name)


def inside(effect: Effect, seed: int) -> GroupResult:
    result = compute_in_threads(drawn(effect, seed), run_spec(seed, PERMUTATIONS))
    return next(row for row in result.groups if row.group.values == ("in",))


@pytest.mark.long
def test_a_shift_of_15_points_is_found_and_told_with_label_and_direction() -> None:
    """It is in 86 of 100 data sets; of 40 fewer than 28 would then be found once in 300 times."""
    told = 0
    for seed in range(WITH_SHIFT):
        use = inside(SHIFT, seed).label_use
        words = Sentence.of(*manner(use)).plain
        said = words.startswith("say “label c” ") and " points more often than the others" in words
        told += use.significance == "corrected" and said
    assert told >= 28


@pytest.mark.long
def test_nothing_is_rarely_taken_for_a_shift() -> None:
    """Of 100 data sets without any difference at most 11 are called at .05, but for a chance of .4 %."""
    called = sum(inside(NOTHING, seed).label_use.p < 0.05 for seed in range(DATA_SETS))
    assert called <= 11


@pytest.mark.parametrize(
    ("raters", "inside", "effect"), [(10, 5, EFFECTS[0]), (10, 5, NOTHING), (9, 4, NOTHING)]
)
def test_with_few_regroupings_p_is_that_of_all_of_them(raters: int, inside: int, effect: Effect) -> None:
    data = drawn(effect, 6, items=12, raters=raters, inside=inside)
    p = {
        row.verdict.p
        for seed in range(3)
        for row in compute_in_threads(data, run_spec(seed, 4000)).groups
        if row.verdict is not None
    }
    spec = run_spec(0, 4000).analysis
    formed = form_groups(data.raters, spec.axes)
    rows = []
    for chosen in itertools.combinations(range(raters), int(formed.n_raters[0])):
        member = np.isin(np.arange(raters), chosen)
        panel = Cohesion(data, replace(formed, member=np.stack([member, ~member])), spec)
        rows.append((not np.array_equal(member, formed.member[0]), panel.observed))
    rows.sort(key=lambda one: one[0])
    observed, *others = (values for _, values in rows)
    found = pick_verdict_values(np.stack(others), observed, panel.places, [False, False])
    like = Symmetry.of(data.raters, formed, spec).like.tolist()
    (exact,) = joint_tests(found, hypotheses(formed), like, {})
    assert p == {exact.p}
