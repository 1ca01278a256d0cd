"""Intervals beside outcomes, how often they hold what they are for; power; statistics without each unit."""

import json
import math
from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import pytest
from scipy.special import expit, logit
from scipy.stats import t as student

from benchmarks.confounded import CONFOUNDED
from benchmarks.confounded import drawn as confounded
from benchmarks.planted import AXIS
from grasp_core.analysis import power
from grasp_core.analysis.cohesion.columns import LABELS, Places, group_columns
from grasp_core.analysis.cohesion.untested import Jackknifed, jackknifed
from grasp_core.analysis.intervals import (
    Jackknives,
    Scales,
    Sides,
    answers_of,
    intervals,
    jackknives,
    lay_out,
)
from grasp_core.analysis.power import PowerTask, estimate, group_gai, power_tasks
from grasp_core.model.annotations import Annotations, Axis, BoolArray, FloatArray, Raters
from grasp_core.model.groups import Grouping, form_groups
from grasp_core.model.remarks.reasons import NoInterval, NoValue
from grasp_core.model.result import RunResult
from grasp_core.model.spec import IN_GROUP, STATISTICS, AnalysisSpec, RunSpec
from grasp_core.permutation import compiled
from grasp_core.permutation import questions as of_questions
from grasp_core.permutation.design import build_design
from grasp_core.permutation.draw import identity
from grasp_core.permutation.testing.p_values import tails
from grasp_core.reading.dataset.load import Dataset, load
from grasp_core.reading.sandbox.read import read_table
from grasp_core.report.quality import quality_json, quality_report
from grasp_core.statistics.association import gai
from grasp_core.statistics.cross_group import xrr
from grasp_core.statistics.in_group import irr
from grasp_core.statistics.items import count
from grasp_core.statistics.label_use import label_use
from tests.computing import compute_in_threads
from tests.permutation.reference import evaluate
from tests.permutation.simulated import DATA_SPEC, coded, dataset, part, simulate

AXES = (("gender",), ("race",))


def asked(seed: int, **analysis: object) -> RunResult:
    spec = RunSpec(DATA_SPEC, AnalysisSpec(axes=AXES, permutations=120, **analysis))  # type: ignore[arg-type]
    return compute_in_threads(dataset(seed, raters=30), spec)


@pytest.mark.parametrize("target", ["both", "raters", "items"])
def test_every_value_has_the_interval_asked_for(target) -> None:
    result = asked(1, interval=target)
    data, analysis = dataset(1, raters=30), result.spec.analysis
    grouping = form_groups(data.raters, AXES, min_raters=2)
    names = Places(len(grouping.groups), data.annotations.n_categories).names
    given = (data.questions, data.raters, grouping, analysis)
    right = intervals(*given, lambda of, g: group_columns(of, analysis), names)
    for row, ends in zip(result.groups, right, strict=True):
        for outcome, (low, high, _) in zip(row.statistics.values(), ends, strict=False):
            assert outcome.no_interval is None
            assert (outcome.interval.low, outcome.interval.high) == (low, high)
            assert outcome.interval.low < outcome.value < outcome.interval.high
            assert outcome.interval.target == target
    for axis in result.dsi:
        (row,) = (row for row in result.groups if row.group == axis.group)
        assert axis.outcome.interval == row.statistics["gai"].interval
    assert RunResult.from_dict(json.loads(json.dumps(result.to_dict()))) == result


def test_small_groups_and_values_that_hang_on_one_unit_have_no_interval_and_a_reason() -> None:
    spec = RunSpec(DATA_SPEC, AnalysisSpec(axes=(("gender",),), permutations=120))
    sizes = {}
    for seed in range(40):  # until one side has fewer than five of eleven raters
        result = compute_in_threads(dataset(seed, raters=11), spec)
        sizes = {row.n_raters: row for row in result.groups}
        if min(sizes) < 5:
            break
    small, large = sizes[min(sizes)], sizes[max(sizes)]
    for outcome in small.statistics.values():
        assert outcome.interval is None
        assert outcome.no_interval == NoInterval.FEW_RATERS_INSIDE(raters=small.n_raters, least=5)
    for name, outcome in large.statistics.items():
        if name in IN_GROUP:
            assert outcome.interval is not None
        else:
            assert outcome.no_interval == NoInterval.FEW_RATERS_OUTSIDE(raters=small.n_raters, least=5)
    # Of items with two labels of the group there is one alone, so IRR has no value without it
    votes = [("i0", f"r{j}", "yes" if j % 2 else "no") for j in range(12)]
    votes += [(f"i{j}", f"r{j}", "yes") for j in range(1, 6)]
    annotations = "\n".join(["item,rater,label", *map(",".join, votes)]).encode()
    raters = "\n".join(["rater,gender", *(f"r{j},{'in' if j < 6 else 'out'}" for j in range(12))]).encode()
    data = load(read_table(annotations, "a.csv"), read_table(raters, "r.csv"), DATA_SPEC, ("gender",))
    result = compute_in_threads(data, RunSpec(DATA_SPEC, AnalysisSpec(axes=(("gender",),), permutations=120)))
    outcomes = result.groups[0].statistics
    assert outcomes["irr"].value is not None
    assert outcomes["irr"].no_interval == NoInterval.NO_VALUE_WITHOUT_ONE()
    assert outcomes["plurality_size"].no_interval == NoInterval.FEW_RARER_LABELS(labels=3, least=20)
    use = result.groups[0].label_use
    assert use is not None
    assert use.no_interval == NoInterval.NO_VALUE_WITHOUT_ONE()  # label use takes all labels


def test_two_halves_of_an_axis_have_one_interval_of_what_is_one_number() -> None:
    """Even where one half gave few rare labels: the number says as little about the other one."""
    rare = [
        (i, j, (5 * i + j) % 17 == 0 if j < 6 else (i + j // 2) % 3 == 0)
        for i in range(40)
        for j in range(12)
    ]
    votes = [(f"i{i}", f"r{j}", "no" if one else "yes") for i, j, one in rare]
    annotations = "\n".join(["item,rater,label", *map(",".join, votes)]).encode()
    raters = "\n".join(["rater,gender", *(f"r{j},{'in' if j < 6 else 'out'}" for j in range(12))]).encode()
    data = load(read_table(annotations, "a.csv"), read_table(raters, "r.csv"), DATA_SPEC, ("gender",))
    result = compute_in_threads(data, RunSpec(DATA_SPEC, AnalysisSpec(axes=(("gender",),), permutations=120)))
    few, many = (row.statistics for row in result.groups)
    assert many["irr"].interval is not None
    given = sum(one for _, j, one in rare if j < 6)
    assert few["irr"].no_interval == NoInterval.FEW_RARER_LABELS(labels=given, least=20)
    for name in ("xrr", "distance", "voting_agreement", "gai"):
        assert few[name].interval is None
        assert many[name].interval is None, name
    why = NoInterval.FEW_RARER_LABELS_OUTSIDE(labels=given, least=20)
    assert many["distance"].no_interval == why


def test_other_raters_on_these_items_vary_less_than_both() -> None:
    def width(target: str) -> float:
        rows = asked(3, interval=target).groups
        found = [row.statistics[name].interval for row in rows for name in STATISTICS]
        return float(np.mean([one.high - one.low for one in found]))

    assert width("both") > max(width("raters"), width("items"))


NAMES = ("irr", "xrr", "voting_agreement", "distance", "mean")
SCALES = Scales.of(NAMES)


def ends(
    whole: list[float], plain: list[tuple[float, float]], logits: list[tuple[float, float]]
) -> np.ndarray:
    return SCALES.ends(np.array([*plain, *logits]), np.array(whole))


def test_logits_stand_behind_the_statistics_and_no_interval_goes_beyond_what_one_may_be() -> None:
    found = SCALES.with_scaled(np.array([[0.2, -0.1, 0.9, 0.0, 3.0], [1.0, 0.5, 0.9, 0.0, 3.0]]))
    assert found[:, :5].tolist() == [[0.2, -0.1, 0.9, 0.0, 3.0], [1.0, 0.5, 0.9, 0.0, 3.0]]
    assert found[0, 5] == pytest.approx(logit(0.2))
    assert found[1, 6] == pytest.approx(0)
    assert np.isnan(found[[0, 1, 0], [6, 5, 7]]).all()
    plain = [(0.5, 1.3), (-1.4, -0.2), (0.7, 1.2), (-0.1, 0.2), (-9.0, 9.0)]
    found = ends([0.9, -0.8, 0.95, 0.05, 0.0], plain, [(np.nan, np.nan)] * 3)
    upper = 0.05 * np.exp(1.5)  # a small distance: its half width is three times its size, and 1.5 the most
    assert found == pytest.approx(
        np.array([[0.5, 1.0], [-1.0, -0.2], [0.7, 1.0], [-0.1, upper], [-9.0, 9.0]])
    )


def test_clear_agreement_has_the_ends_of_its_logit_and_chance_keeps_its_own() -> None:
    plain = [(0.05, 0.25), (-0.02, 0.22), (0.7, 0.9), (0.0, 0.2), (0.0, 1.0)]
    of_logit = [(-3.0, -0.5), (-4.0, 0.0), (-5.0, -1.0)]
    clear = ends([0.15, 0.1, 0.8, 0.1, 0.5], plain, of_logit)
    assert clear[0] == pytest.approx(expit(of_logit[0]))
    assert clear[1] == pytest.approx([-0.02, expit(0.0)])
    assert clear[3] == pytest.approx([0.0, np.exp(-1)])
    hardly = ends([0.15, 0.02, 0.8, 0.1, 0.5], plain, of_logit)
    assert hardly[1].tolist() == [-0.02, 0.22]


# Coverage
SPEC = AnalysisSpec(axes=(("side",),))
DATA_SETS = 150


def drawn(
    seed: int, inside: int, raters: int, items: int, per_item: int | None
) -> tuple[Annotations, Raters]:
    """Raters of different skill and leaning; three in ten labels of the group follow a view of its own."""
    rng = np.random.default_rng(seed)
    common, own = rng.dirichlet(np.full(3, 0.6), (2, items, 1))
    skill = rng.beta(6, 2, raters)[:, None]
    leaning = rng.dirichlet(np.full(3, 3.0), raters)
    mixed = np.where(np.arange(raters) < inside, 0.3, 0.0)[:, None]
    shares = skill * ((1 - mixed) * common + mixed * own) + (1 - skill) * leaning
    labels = (rng.random((items, raters, 1)) > shares.cumsum(axis=2)[:, :, :-1]).sum(axis=2)
    place = rng.random((items, raters)).argsort(axis=1).argsort(axis=1)
    item, rater = np.nonzero(place < (per_item or raters))
    annotations = coded(item, rater, labels[item, rater], 3, (items, raters))
    values = ["in" if j < inside else "out" for j in range(raters)]
    return annotations, Raters(annotations.rater_ids, {"side": Axis.from_values(values)})


def estimated(annotations: Annotations, raters: Raters) -> tuple[FloatArray, FloatArray]:
    """Values of the first group, and their intervals with p."""
    grouping = form_groups(raters, SPEC.axes).some([0])
    design = build_design(annotations, raters, grouping, SPEC)
    given = ([annotations], raters, grouping, SPEC, lambda of, g: group_columns(of, SPEC))
    found = intervals(*given, Places(1, annotations.n_categories).names)
    return group_columns(compiled.observed(design), SPEC)[0], np.array(found[0])


@pytest.mark.parametrize(
    "shape",
    [
        pytest.param((10, 40, 50, None), id="crossed", marks=pytest.mark.long),
        pytest.param((5, 30, 50, None), id="five"),
        pytest.param((20, 80, 120, 8), id="sparse", marks=pytest.mark.long),
    ],
)
def test_intervals_for_other_raters_and_items_hold_their_value(shape) -> None:
    """What is estimated is the mean over endless data sets of this size, here over these."""
    sets = [drawn(seed, *shape) for seed in range(DATA_SETS)]
    found, ends = map(np.array, zip(*(estimated(*one) for one in sets), strict=True))
    # Not of the largest difference of shares, which is folded at 0, and of the mean, which names do not have.
    kept = [*range(len(STATISTICS)), *range(LABELS, found.shape[1])]
    names = [*STATISTICS, *sets[0][0].categories]
    found, ends = found[:, kept], ends[:, kept]
    truth, (low, high, p) = np.mean(found, axis=0), np.moveaxis(ends, 2, 0)
    held = ((low <= truth) & (truth <= high)).mean(axis=0)
    assert (held >= 0.9).all(), dict(zip(names, held, strict=True))
    of_labels = slice(len(STATISTICS), None)  # p is below the level just where the interval leaves out 0
    leaves_out_0 = (low > 0) | (high < 0)
    assert ((p < 0.05) == leaves_out_0)[:, of_labels].all()
    assert (p < 0.05)[:, of_labels].mean(axis=0).max() <= 0.1
    width = (high - low).mean(axis=0) / (2 * 1.96 * np.std(found, axis=0))
    smooth = [STATISTICS.index(name) for name in ("irr", "xrr", "gai")]  # a plurality of few labels jumps
    assert (width[smooth] < 2).all(), dict(zip(names, width, strict=True))


def test_a_small_distance_is_held_where_a_label_is_rare() -> None:
    """5 % of the labels of 50 items, of which the group has its own view: ends miss above if at all."""
    rng = np.random.default_rng(0)
    raters = Raters(tuple(map(str, range(60))), {"side": Axis.from_values(["in"] * 15 + ["out"] * 45)})
    found = []
    for _ in range(300):
        odds = -4.0 + rng.normal(0, 1.5, 50) + rng.normal(0, 0.7, (60, 1))
        odds[:15] += rng.normal(0, 1.5, 50)
        label = (rng.random((60, 50)) < expit(odds)).T
        item, rater = np.indices(label.shape)
        annotations = coded(item.ravel(), rater.ravel(), label.ravel().astype(int), 2, label.shape)
        found.append(estimated(annotations, raters))
    values, ends = map(np.array, zip(*found, strict=True))
    place = STATISTICS.index("distance")
    truth, (low, high, _) = values[:, place].mean(), ends[:, place].T
    assert ((low <= truth) & (truth <= high)).mean() >= 0.9


# Power
RUNS = 200


@pytest.fixture(scope="module")
def task() -> PowerTask:
    annotations, raters = simulate(3, items=80, raters=48, missing=0.3, unknown=0.1)
    return next(
        one for one in power_tasks(annotations, raters, [("race",)]) if one.group.values == ("Black",)
    )


def planted(
    rng: np.random.Generator, annotations: Annotations, member: BoolArray, strength: float, direction: str
) -> Annotations:
    """The effect of docs/quality.md, written once more: a shared view, or labels that ignore the item."""
    k = annotations.n_categories
    counts = np.bincount(annotations.item * k + annotations.category, minlength=annotations.n_items * k)
    counts = counts.reshape(-1, k)
    view = np.array([rng.choice(k, p=row / row.sum()) for row in counts])
    any_item = rng.choice(k, p=counts.sum(axis=0) / counts.sum(), size=annotations.n_annotations)
    new = view[annotations.item] if direction == "up" else any_item
    change = member[annotations.rater] & (rng.random(annotations.n_annotations) < strength)
    category = np.where(change, new, annotations.category).astype(np.int32)
    return replace(annotations, category=category)


def runs(task: PowerTask, strength: float, direction: str) -> tuple[float, float]:
    """Share of whole runs with p < 0.05, and their median GAI: every data set with a null of its own."""
    rng = np.random.default_rng(5)
    detected, values = 0, []
    for run in range(RUNS):
        source = rng.permutation(task.member.size)
        known, member = task.known[source][None], task.member[source][None]
        grouping = Grouping((task.group,), member, known, np.zeros(1, dtype=np.intp))
        data = planted(rng, task.annotations, member[0], strength, direction)
        spec = AnalysisSpec(axes=(task.group.axes,))
        design = build_design(data, Raters(data.rater_ids, {}), grouping, spec)
        shuffled = compiled.shuffled(design, run, 0, 399)
        counted = np.concatenate([compiled.observed(design)[None], shuffled])[:, 0]
        index = gai(counted[:, 0], counted[:, 1])
        values.append(index[0])
        p = None if np.isnan(index[0]) else tails(index[0], index[1:][~np.isnan(index[1:])]).p("two-sided")
        detected += p is not None and p < 0.05
    return detected / RUNS, float(np.nanmedian(values))


@pytest.mark.parametrize("direction", ["up", pytest.param("down", marks=pytest.mark.long)])
def test_about_four_in_five_runs_detect_the_reported_shift(task, direction):
    shift = getattr(estimate(task), direction)
    share, middle = runs(task, shift.strength, direction)
    # Binomial error of 200 runs 0.028; the estimate's own, from 200 replicates and 6 null sets, about 0.04.
    assert share == pytest.approx(0.8, abs=0.13)
    assert middle == pytest.approx(shift.gai, abs=4 * shift.error + 0.01)


def test_without_a_shift_one_run_in_twenty_is_marked_and_both_directions_are_told(task):
    share, middle = runs(task, 0.0, "up")
    assert share <= 0.05 + 3 * 0.016  # binomial error of 200 runs at 0.05
    found = estimate(task)
    assert middle == pytest.approx(found.expected, abs=0.03)
    assert found.up.change > 0 > found.down.change
    assert found.up.gai == pytest.approx(found.expected + found.up.change)
    assert found == estimate(task)


def test_more_raters_find_smaller_shifts():
    annotations, raters = simulate(4, items=80, raters=60)
    small, large = (
        replace(task, member=np.arange(60) < size)
        for size in (4, 30)
        for task in power_tasks(annotations, raters, [("gender",)])[:1]
    )
    assert estimate(large).up.change < estimate(small).up.change
    assert estimate(large).n_raters == 30


def test_a_group_without_a_gai_has_a_reason():
    data = dataset(1, items=20, raters=20, categories=2, unused=1)  # one label only
    found = estimate(power_tasks(data.annotations, data.raters, [("gender",)])[0])
    assert found.reason == NoValue.GAI_RARELY_ESTIMABLE()
    assert found.expected is found.up is found.down is None
    (written,) = json.loads(quality_json(quality_report(data, power=[found])))["power"]
    assert written["reason"]["text"] == "GAI has no value in most random groupings of this size"
    annotations, raters = simulate(1, items=6, raters=8)
    few = power_tasks(annotations, raters, [("gender",)])[0]
    found = estimate(replace(few, member=np.arange(8) < 2))
    assert found.reason is not None or found.down is None  # what cannot be found


def test_group_gai_is_that_of_the_definitions():
    annotations, _ = simulate(2, items=30, raters=20, missing=0.6)
    rng = np.random.default_rng(1)
    members = [rng.random(20) < 0.4 for _ in range(8)]
    c = np.stack([count(annotations, member) for member in members])
    d = np.stack([count(annotations, ~member) for member in members])
    expected = [gai(np.array(irr(x)), np.array(xrr(x, y))) for x, y in zip(c, d, strict=True)]
    np.testing.assert_allclose(group_gai(c.astype(float), d.astype(float)), expected, rtol=1e-12)


def test_large_data_are_thinned_to_whole_items_and_say_so(monkeypatch):
    annotations, raters = simulate(2, items=100, raters=30)
    monkeypatch.setattr(power, "MAX_ANNOTATIONS", 1_000)
    task = power_tasks(annotations, raters, [("gender",)])[0]
    assert task.annotations.n_annotations <= 1_000
    assert task.annotations.n_items == 33
    assert (np.diff(task.annotations.indptr) == 30).all()
    assert task.all_items == 100


# Without each unit, against computing anew from the data that are left
FIRST = AnalysisSpec(axes=(("gender",),), ties="first")  # drawn ones follow who is there


def found(questions: Sequence[Annotations], raters: Raters, spec: AnalysisSpec, g: int) -> Jackknives:
    grouping = form_groups(raters, spec.axes)
    design = lay_out(questions, raters, grouping, spec)
    sides = Sides(grouping.member[g], grouping.complement(g))
    designs = design.designs
    answers = [answers_of(one, of_one, sides) for one, of_one in zip(questions, designs, strict=True)]

    def statistics(sums: FloatArray) -> FloatArray:
        return group_columns(of_questions.joint_statistics(of_questions.components(design, sums)), spec)

    return jackknives(answers, sides, statistics)


def naive(questions: Sequence[Annotations], grouping: Grouping, spec: AnalysisSpec, g: int) -> list:
    """The jackknife's variances, each value computed anew: raters of both sides, items, annotations."""
    everybody = identity(questions[0].n_raters)

    def without(out: Sequence[np.ndarray]) -> FloatArray:
        left = [part(one, ~gone) for one, gone in zip(questions, out, strict=True)]
        return group_columns(evaluate(left, grouping, spec, everybody)[0], spec)[g]

    def variance(units: list) -> FloatArray:
        values = np.array([without(unit) for unit in units])
        return (len(values) - 1) / len(values) * ((values - values.mean(axis=0)) ** 2).sum(axis=0)

    sides = (grouping.member[g], grouping.complement(g))
    pairs = {
        (item, rater)
        for one in questions
        for item, rater in zip(one.item, one.rater, strict=True)
        if sides[0][rater] or sides[1][rater]
    }
    present = {rater for _, rater in pairs}
    by_rater = [
        [[one.rater == j for one in questions] for j in np.flatnonzero(side) if j in present]
        for side in sides
    ]
    by_item = [[one.item == i for one in questions] for i in {item for item, _ in pairs}]
    by_pair = [[(one.item == i) & (one.rater == j) for one in questions] for i, j in pairs]
    return [variance(units) for units in (*by_rater, by_item, by_pair)]


def agree(questions: Sequence[Annotations], raters: Raters, spec: AnalysisSpec, g: int) -> None:
    ours = found(questions, raters, spec, g)
    right = naive(questions, form_groups(raters, spec.axes), spec, g)
    for spread, variance in zip((ours.group, ours.others, ours.items, ours.annotations), right, strict=True):
        np.testing.assert_allclose(spread.variance, variance, rtol=1e-9, atol=1e-14)


@pytest.mark.parametrize(
    "changed",
    [
        {},
        {"level": "ordinal"},
        {"cross_negentropy": "paper", "voting_agreement": "kappa"},
        {"gai": ("irr", "voting_agreement"), "voting_agreement": "kappa"},
        {"gai": ("negentropy", "voting_agreement")},
    ],
    ids=str,
)
def test_variances_are_those_of_values_computed_anew(changed) -> None:
    for shape in ({"missing": 0.3, "unknown": 0.2}, *([] if changed else [{}])):  # with gaps, and crossed
        annotations, raters = simulate(5, items=8, raters=13, **shape)
        agree([annotations], raters, replace(FIRST, **changed), 1)


def test_many_labels_of_which_items_have_few_and_answers_to_several_questions_left_out_whole() -> None:
    annotations, raters = simulate(4, items=9, raters=30, categories=40, missing=0.8)
    for level in ("nominal", "ordinal"):
        agree([annotations], raters, replace(FIRST, level=level), 0)
    first, raters = simulate(2, items=7, raters=12, missing=0.2)
    second, _ = simulate(3, items=7, raters=12, missing=0.4, categories=2)
    agree([first, second], raters, FIRST, 0)


def test_a_published_item_left_out() -> None:
    """Krippendorff's nominal example, alpha .743; krippendorffsalpha (R) gives -.114 as dfbeta of unit 6."""
    labels = (
        (1, 2, 3, 3, 2, 1, 4, 1, 2, 0, 0, 0),
        (1, 2, 3, 3, 2, 2, 4, 1, 2, 5, 0, 3),
        (0, 3, 3, 3, 2, 3, 4, 2, 2, 5, 1, 0),
        (1, 2, 3, 3, 2, 4, 4, 1, 2, 5, 1, 0),
    )
    rater, item = np.nonzero(labels)
    annotations = coded(item, rater, np.array(labels)[rater, item] - 1, 5)
    raters = Raters(annotations.rater_ids, {"gender": Axis.from_values(["x"] * 4)})
    grouping = form_groups(raters, FIRST.axes)
    design = lay_out([annotations], raters, grouping, FIRST)
    (only,) = design.designs
    answers = answers_of(annotations, only, Sides(grouping.member[0], grouping.complement(0)))
    added = answers.added(np.arange(12))
    sums = np.stack([added.sum(axis=0), added.sum(axis=0) - added[5]])
    alpha, without_6 = of_questions.joint_statistics(of_questions.components(design, sums))[:, 0]
    assert alpha == pytest.approx(0.743, abs=5e-4)
    assert alpha - without_6 == pytest.approx(-0.114, abs=5e-4)


def one_by_one(annotations: Annotations, group: BoolArray, others: BoolArray) -> FloatArray:
    """t of each label, from the plain definition on data without each rater."""

    def use(of: Annotations) -> FloatArray:
        return label_use(count(of, group), count(of, others))

    variance = 0.0
    for side in (group, others):
        left = np.stack([use(part(annotations, annotations.rater != j)) for j in np.flatnonzero(side)])
        variance = variance + (len(left) - 1) / len(left) * ((left - left.mean(axis=0)) ** 2).sum(axis=0)
    return np.asarray(use(annotations) / np.sqrt(variance))


def test_it_is_the_jackknife_of_the_plain_definition() -> None:
    data = confounded(replace(CONFOUNDED[0], raters=20, inside=6, items=30, each=12), 3)
    group, others, found = without_raters(data, np.array([0.0, 1.0, 2.0]))
    expected = 2 * student.sf(np.abs(one_by_one(data.annotations, group, others)), 5)
    np.testing.assert_allclose(found.of_labels, expected, rtol=1e-9)
    assert found.p == pytest.approx(min(1.0, 3 * expected.min()))
    assert 0 < found.of_mean < 1


def without_raters(data: Dataset, *positions: np.ndarray) -> tuple[BoolArray, BoolArray, Jackknifed | None]:
    """Both sides, and the test of label use that leaves raters out."""
    grouping = form_groups(data.raters, [(AXIS,)])
    sides = grouping.member[0], grouping.complement(0)
    return *sides, jackknifed(data.questions, *sides, [*positions])


def test_two_labels_are_one_test() -> None:
    *_, found = without_raters(confounded(CONFOUNDED[1], 1, categories=2))
    assert found.of_labels[0] == pytest.approx(found.of_labels[1])
    assert found.p == pytest.approx(found.of_labels[0])
    assert math.isnan(found.of_mean)


def test_few_raters_on_either_side_are_too_few_and_labels_that_nobody_could_vary_have_no_test() -> None:
    for inside in (4, 56):
        *_, found = without_raters(confounded(replace(CONFOUNDED[0], inside=inside), 1))
        assert found is None
    data = confounded(CONFOUNDED[0], 1)
    same = replace(data.annotations, category=np.zeros_like(data.annotations.category))
    *_, found = without_raters(replace(data, annotations=same))
    assert np.isnan(found.of_labels).all()
    assert found.p == 1.0


def test_pieces_and_blocks_change_nothing(monkeypatch) -> None:
    """Large data are sorted into kinds piece by piece, and added to raters block by block."""
    spec = RunSpec(DATA_SPEC, AnalysisSpec(axes=(("gender",),), permutations=100))
    data = dataset(4, missing=0.3)

    def found() -> RunResult:
        return replace(compute_in_threads(data, spec), timing=None)

    whole = found()
    monkeypatch.setattr("grasp_core.model.annotations.PIECE", 7)
    assert found() == whole
    monkeypatch.setattr("grasp_core.analysis.intervals.BLOCK", 5)
    for before, after in zip(whole.groups, found().groups, strict=True):
        for name, outcome in before.statistics.items():
            interval = after.statistics[name].interval
            assert (interval is None) == (outcome.interval is None)
            if outcome.interval is not None and interval is not None:
                ends = (outcome.interval.low, outcome.interval.high)
                assert (interval.low, interval.high) == pytest.approx(ends, rel=1e-9)
