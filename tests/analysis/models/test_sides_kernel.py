"""The compiled kernel against its plain twin, and the twin against other software."""

import dataclasses
import itertools
import json
import math
import pickle
from pathlib import Path

import numpy as np
import pytest
from scipy.spatial.distance import jensenshannon
from sklearn.metrics import f1_score

from grasp_core.analysis.models import kernel, statistics
from grasp_core.analysis.models.result import ModelsResult
from grasp_core.model.groups import form_groups
from grasp_core.model.remarks.reasons import NoValue
from grasp_core.model.spec import SIDES, AnalysisSpec
from grasp_core.permutation import design as design_module
from grasp_core.permutation.design import first_ranks, tie_ranks
from grasp_core.permutation.draw import exchange_of, identity, permutation
from grasp_core.permutation.testing.p_values import tails
from grasp_core.statistics.items import count
from tests.analysis.models import definitions as plain
from tests.analysis.models.cases import ask, crowd_and_half, model, random_labels
from tests.permutation.simulated import NUMBERS, SHAPES, dataset, simulate

AXES = (("gender",), ("race",), ("gender", "race"))


ALL = np.ones(3, np.bool_)


def classes_of(annotations) -> np.ndarray:
    """All but the last, which are then left out of macro-F1 on both sides."""
    return np.arange(annotations.n_categories) < max(annotations.n_categories - 1, 2)


def twin(annotations, grouping, spec, labels, source) -> np.ndarray:
    ranks = tie_ranks(annotations, spec)[0]
    counts = [count(annotations, member[source]) for member in grouping.member]
    return np.array(
        [[plain.all_sides(x, c, ranks, classes_of(annotations))[0] for c in counts] for x in labels]
    )


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("dense", [True, False], ids=["dense", "sparse"])
@pytest.mark.parametrize(("strata", "ties"), [((), "first"), (("region",), "random")])
def test_every_option_on_every_shape(shape, dense, strata, ties) -> None:
    annotations, raters = simulate(3, **SHAPES[shape])
    spec = AnalysisSpec(axes=AXES, min_raters=1, seed=9, strata=strata, ties=ties)
    grouping = form_groups(raters, AXES)
    labels = random_labels(1, annotations)
    given = (annotations, raters, grouping, spec, labels, classes_of(annotations))
    design = kernel.build_design(*given, dense=dense)
    expected = twin(annotations, grouping, spec, labels, identity(annotations.n_raters))
    np.testing.assert_allclose(kernel.observed(design), expected, rtol=0, atol=1e-10)
    layout = exchange_of(raters, spec)
    found = kernel.shuffled(design, 9, NUMBERS.start, NUMBERS.stop)
    for b, values in zip(NUMBERS, found, strict=True):
        expected = twin(annotations, grouping, spec, labels, permutation(9, b, *layout))
        np.testing.assert_allclose(values, expected, rtol=0, atol=1e-10)  # NaN equals NaN only


def test_items_cut_into_blocks(monkeypatch) -> None:
    annotations, raters = simulate(4, missing=0.5)
    spec = AnalysisSpec(axes=AXES)
    grouping, labels = form_groups(raters, AXES), random_labels(2, annotations)
    given = (annotations, raters, grouping, spec, labels, classes_of(annotations))
    whole = kernel.observed(kernel.build_design(*given))
    monkeypatch.setattr(design_module, "ITEM_BLOCK", 7)
    cut = kernel.observed(kernel.build_design(*given))
    np.testing.assert_allclose(cut, whole, rtol=0, atol=1e-12)


def test_neither_blocks_of_permutations_nor_workers_nor_further_models_change_a_bit() -> None:
    annotations, raters = simulate(9, missing=0.3)
    spec = AnalysisSpec(axes=AXES)
    grouping, labels = form_groups(raters, AXES), random_labels(3, annotations)
    design = kernel.build_design(annotations, raters, grouping, spec, labels, classes_of(annotations))
    whole = kernel.shuffled(design, 1, 0, 40)
    cuts = itertools.pairwise((0, 1, 2, 17, 40))
    sent = pickle.loads(pickle.dumps(design))  # as an executor sends it
    parts = [kernel.shuffled(sent, 1, start, stop) for start, stop in cuts]
    np.testing.assert_array_equal(np.concatenate(parts), whole)
    alone = kernel.build_design(annotations, raters, grouping, spec, labels[1:2], classes_of(annotations))
    np.testing.assert_array_equal(kernel.shuffled(alone, 1, 0, 40)[:, 0], whole[:, 1])


@pytest.mark.parametrize("categories", [2, 3, 7])
def test_macro_f1_and_share_are_scikit_learns(categories: int) -> None:
    rng = np.random.default_rng(categories)
    x = rng.integers(0, categories, 60)
    c = rng.integers(0, 4, (60, categories)) + (np.arange(categories) == 0)
    first = first_ranks(60, categories)[0]
    gold = c.argmax(axis=1)
    f1, share = plain.against_plurality(x, c, first, np.ones(categories, np.bool_))
    assert f1 == pytest.approx(f1_score(gold, x, average="macro"), abs=1e-12)
    assert share == pytest.approx((gold == x).mean(), abs=1e-12)


def test_one_set_of_classes_for_all_that_is_compared_and_members_by_counting_one_by_one() -> None:
    """A model of two labels against a group of three, one of which is never its plurality."""
    x = np.array([0, 0, 1, 1, 1])
    c = np.array([[3, 1, 0], [2, 1, 1], [0, 4, 0], [1, 2, 1], [2, 1, 1]])
    ranks = first_ranks(5, 3)[0]
    classes = statistics.compared_classes([x], c, ranks)
    assert classes.tolist() == [True, True, False]
    gold = c.argmax(axis=1)
    expected = f1_score(gold, x, labels=[0, 1], average="macro")
    assert plain.against_plurality(x, c, ranks, classes)[0] == pytest.approx(expected)
    # The members' third label counts against them where they gave it, but is no third class.
    whole = statistics.members_macro_f1(x, c, ranks, ALL)
    assert statistics.members_macro_f1(x, c, ranks, classes) == pytest.approx(1.5 * whole)
    rng = np.random.default_rng(6)
    labels = rng.integers(0, 3, (20, 7))  # items by members
    c = (labels[:, :, None] == np.arange(3)).sum(axis=1)
    ranks = first_ranks(20, 3)[0]
    x = np.where(np.arange(20) < 15, 0, -1)
    gold, given = [], []
    for item in range(15):
        for j in range(7):
            rest = np.bincount(np.delete(labels[item], j), minlength=3)
            gold.append(rest.argmax())
            given.append(labels[item, j])
    expected = f1_score(gold, given, average="macro")
    assert statistics.members_macro_f1(x, c, ranks, ALL) == pytest.approx(expected, abs=1e-12)


def test_divergence_is_scipys_cross_entropy_and_xrr_of_a_model_as_one_rater_by_hand() -> None:
    rng = np.random.default_rng(5)
    x, c = rng.integers(0, 4, 50), rng.integers(0, 3, (50, 4)) + np.array([1, 0, 0, 0])
    one_hot = np.eye(4)[x]
    expected = np.mean([jensenshannon(p, e) ** 2 for p, e in zip(c, one_hot, strict=True)])
    assert plain.js_divergence(x, c) == pytest.approx(expected, abs=1e-12)
    # K = 2: q is 3/4 for the model's label and 1/4 for the other. One item 3:1, one 0:2, both labelled 0
    c, x = np.array([[3, 1], [0, 2], [5, 5]]), np.array([0, 0, -1])
    first = -(0.75 * np.log(0.75) + 0.25 * np.log(0.25))
    assert plain.cross_entropy(x, c) == pytest.approx((first - np.log(0.25)) / 2, abs=1e-12)
    # Labels 0, 1 against 3:1 and 1:1. D_o = (5 * 1/4 + 3 * 1/2) / 8, D_e = 1 - (1/2 * 4/6 + 1/2 * 2/6).
    c, x = np.array([[3, 1], [1, 1]]), np.array([0, 1])
    assert plain.xrr(x, c) == pytest.approx(1 - (2.75 / 8) / 0.5, abs=1e-12)


def test_not_estimable_says_why_and_one_label_per_item_gives_no_members_figure() -> None:
    c, none = np.array([[2, 0], [3, 0]]), np.zeros((2, 2), int)
    values, reasons = plain.all_sides(np.array([0, 0]), c, none, ALL[:2])
    assert np.isnan(values[0])
    assert reasons == {"xrr": NoValue.ONE_LABEL_WITH_MODEL()}
    values, reasons = plain.all_sides(np.array([-1, -1]), c, none, ALL[:2])
    assert np.isnan(values).all()
    assert set(reasons.values()) == {NoValue.NO_ITEM_WITH_BOTH()}
    alone = (np.zeros(3, int), np.eye(3, dtype=int), np.zeros((3, 3), int))
    assert np.isnan(statistics.members_macro_f1(*alone, ALL))


DATA_SETS = 400
SPEC = AnalysisSpec(axes=(("race",),), permutations=199)


@pytest.fixture(scope="module")
def p() -> np.ndarray:
    """p of the first group's statistics in every data set, shape (data sets, 5)."""
    found = []
    for seed in range(DATA_SETS):
        annotations, raters = simulate(seed, items=15, raters=20, missing=0.2)
        grouping = form_groups(raters, SPEC.axes, min_raters=2)
        labels = np.random.default_rng(seed).integers(0, 3, (1, 15))
        design = kernel.build_design(annotations, raters, grouping, SPEC, labels, np.ones(3, np.bool_))
        observed, null = kernel.observed(design)[0, 0], kernel.shuffled(design, seed, 0, 199)[:, 0, 0]
        values = [tails(observed[s], null[:, s][~np.isnan(null[:, s])]).p("two-sided") for s in range(5)]
        found.append([np.nan if value is None else value for value in values])
    return np.array(found)


@pytest.mark.parametrize("statistic", range(5), ids=SIDES)
@pytest.mark.parametrize("level", [0.01, 0.05, 0.1, 0.2, 0.5])
def test_the_level_is_kept(p: np.ndarray, statistic: int, level: float) -> None:
    column = p[:, statistic][~np.isnan(p[:, statistic])]
    assert column.size > 0.9 * DATA_SETS
    assert (column <= level).mean() <= level + 3 * math.sqrt(level * (1 - level) / column.size)


@pytest.mark.parametrize("statistic", ["xrr", "cross_entropy", "js_divergence"])
def test_it_is_not_needlessly_cautious(p: np.ndarray, statistic: str) -> None:
    """The two others take few values in small data, so their ties make them cautious."""
    column = p[:, SIDES.index(statistic)]
    assert (column <= 0.05).mean() >= 0.05 - 3 * math.sqrt(0.05 * 0.95 / DATA_SETS)


EARLIER = json.loads(Path(__file__).with_name("earlier.json").read_text())


def with_gaps() -> ModelsResult:
    gaps = dataset(8, items=30, raters=30, missing=0.7, unknown=0.2)
    labels = random_labels(1, gaps.annotations)
    how = {"ties": "first", "p_value": "paper", "min_raters": 1, "permutations": 300}
    how |= {"family": "statistic-axis", "correction": "benjamini-yekutieli"}
    axes = (("race",), ("gender", "race"))
    return ask(gaps, [model("any", labels[0]), model("one", labels[-1])], axes=axes, **how)


STRICT = {"correction": "max-t", "family": "all", "strata": ("region",), "ties": "random", "seed": 9}
CASES = {
    "usual": crowd_and_half,
    "max-T over all tests": lambda: crowd_and_half(**STRICT),
    "paper's p": with_gaps,
}


@pytest.mark.parametrize("case", CASES)
def test_every_digit_is_the_same(case: str) -> None:
    before, now = ModelsResult.from_dict(EARLIER[case]), CASES[case]()
    assert now.models == before.models
    analysis = dataclasses.replace(now.spec.analysis, statistics=before.spec.analysis.statistics)
    assert dataclasses.replace(now.spec, analysis=analysis) == before.spec  # cohesion has two more by now
    for row, earlier in zip(now.groups, before.groups, strict=True):
        for field in ("group", "n_raters", "n_annotations"):
            assert getattr(row, field) == getattr(earlier, field)
        for name, side in earlier.models.items():
            assert row.models[name].members_f1 == side.members_f1
            for statistic, outcome in side.statistics.items():
                same(row.models[name].statistics[statistic], outcome)


def same(now, before) -> None:
    """Logarithms of another processor may differ in the last digit; p and q count, and do not."""
    assert now.value == pytest.approx(before.value, rel=1e-14)
    if now.reason == NoValue.OTHER_ITEMS():  # earlier versions tested such groups
        return
    assert now.null_median == pytest.approx(before.null_median, rel=1e-14)
    exact = {"value": None, "null_median": None}
    assert dataclasses.replace(now, **exact) == dataclasses.replace(before, **exact)
