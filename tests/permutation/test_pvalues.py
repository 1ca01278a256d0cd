"""p-values and corrections against naive re-implementations; what must not change one; how often they err."""

import dataclasses
import math

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from benchmarks import peers
from grasp_core.analysis.cohesion.columns import group_columns, members
from grasp_core.model.annotations import Annotations, Axis, FloatArray, Raters
from grasp_core.model.errors import SpecError
from grasp_core.model.example import AXES, example_spec
from grasp_core.model.groups import Grouping, form_groups
from grasp_core.model.spec import STATISTICS, AnalysisSpec
from grasp_core.permutation import compiled
from grasp_core.permutation.compiled import KERNEL_STATISTICS
from grasp_core.permutation.design import build_design
from grasp_core.permutation.draw import exchange_of, identity, permutation
from grasp_core.permutation.testing.corrections import q_values
from grasp_core.permutation.testing.p_values import median, tails
from grasp_core.permutation.testing.tail import Shuffles, check_something_moves, smallest_p
from grasp_core.reading.dataset.load import load
from grasp_core.reading.sandbox.read import read_table
from tests.few_items import few_items
from tests.permutation import reference
from tests.permutation.naive import GRID, JITTER, naive_max_t, naive_paper, naive_step_up, naive_two_sided
from tests.permutation.simulated import GAI, clustered, coded, dsi_p, part, simulate
from tests.strategies import rated

NULLS = st.lists(GRID, min_size=100, max_size=140)


@given(observed=GRID, null=NULLS, jitter=JITTER)
def test_p_is_the_formula(observed: float, null: list[float], jitter: float) -> None:
    """So that neither the order of shuffled values nor, if two-sided, the sign matters."""
    shuffled = np.array(null) + jitter
    p = tails(observed, shuffled).p("two-sided")
    assert p == naive_two_sided(observed, null)
    assert 0 < p <= 1
    assert tails(observed, shuffled).p("paper") == naive_paper(observed, null)


def test_by_hand_with_ties_relative_to_large_values() -> None:
    null = np.arange(1.0, 101.0)
    assert tails(3.0, null).p("two-sided") == 8 / 101
    assert tails(0.0, null).p("two-sided") == 2 / 101  # the smallest there is: never 0
    assert tails(50.5, null).p("two-sided") == 1  # both tails are 51/101
    # Paper: the median s*_{50} is 51; below 3 are two of 100.
    assert median(null) == 51
    assert tails(3.0, null).p("paper") == 0.02
    assert tails(51.0, null).p("paper") == 0.49
    assert tails(0.0, null).p("paper") == 0  # as the paper's, it can be 0
    assert tails(99.0, null).p_high == 3 / 101
    null = np.full(100, 1e6)
    assert tails(1e6 + 5e-7, null).p("two-sided") == 1
    assert tails(1e6 + 2e-6, null).p("two-sided") == 2 / 101
    assert not tails(0.5, np.full(3, 0.5 + 1e-13)).below
    assert tails(0.5, np.full(3, 0.5 + 1e-11)).below


@given(observed=GRID, null=st.lists(GRID, min_size=1, max_size=40), jitter=JITTER)
def test_below_is_below_the_median(observed: float, null: list[float], jitter: float) -> None:
    middle = sorted(null)[len(null) // 2]
    assert tails(observed, np.array(null) + jitter).below == (observed < middle)


@pytest.mark.parametrize("convention", ["two-sided", "paper"])
def test_fewer_than_100_shuffled_values_give_no_p(convention) -> None:
    assert tails(0.0, np.zeros(99)).p(convention) is None
    assert tails(0.0, np.zeros(100)).p(convention) is not None


@pytest.mark.parametrize("size", [1, 2, 3, 100, 101])
def test_median_is_element_floor_of_half(size: int) -> None:
    values = np.random.default_rng(size).permutation(size).astype(float)
    assert median(values) == size // 2


# Corrections
P = st.lists(st.none() | st.integers(1, 40).map(lambda k: k / 40), min_size=1, max_size=12)
EMPTY = np.empty((0, 0))


@given(p=P)
@pytest.mark.parametrize("method", ["benjamini-hochberg", "benjamini-yekutieli"])
def test_step_up_by_a_naive_loop(method, p) -> None:
    found = q_values(p, np.empty(len(p)), np.empty((0, len(p))), method)
    expected = naive_step_up(p, harmonic=method == "benjamini-yekutieli")
    assert [value is None for value in found] == [value is None for value in expected]
    for q, right in zip(found, expected, strict=True):
        assert q is None or q == pytest.approx(right, abs=1e-12)


def test_benjamini_hochberg_by_hand() -> None:
    # m = 4; p m / rank = 0.04, 0.06, 0.0667, 0.5; from the top down their running minimum.
    p = [0.01, 0.5, 0.05, None, 0.03]
    found = q_values(p, np.empty(5), np.empty((0, 5)), "benjamini-hochberg")
    assert found == pytest.approx([0.04, 0.5, 0.05 * 4 / 3, None, 0.06])
    # Yekutieli: times 1 + 1/2 + 1/3 + 1/4 = 25/12.
    found = q_values(p, np.empty(5), np.empty((0, 5)), "benjamini-yekutieli")
    assert found == pytest.approx([0.04 * 25 / 12, 1, 0.2 / 3 * 25 / 12, None, 0.06 * 25 / 12])


@pytest.mark.parametrize("lost", [0.0, 0.3])
@pytest.mark.parametrize("seed", range(5))
def test_max_t_by_a_naive_loop(seed: int, lost: float) -> None:
    rng = np.random.default_rng(seed)
    null = rng.normal(size=(200, 4)) * [1, 10, 0.01, 1] + [0, 5, 0, 1]
    null[rng.random(null.shape) < lost] = np.nan
    null[7] = np.nan  # a permutation that says nothing at all
    observed = np.array([0.3, 38.0, -0.02, 4.0])
    p = [0.5, 0.01, 0.05, 0.6]
    found = q_values(p, observed, null, "max-t")
    by_deviations = naive_max_t(observed, null)
    assert by_deviations[3] < p[3]
    assert found == pytest.approx([max(pair) for pair in zip(p, by_deviations, strict=True)], abs=1e-12)
    assert all(0 < q <= 1 for q in found)


def test_max_t_leaves_out_what_has_no_p() -> None:
    rng = np.random.default_rng(1)
    null = rng.normal(size=(200, 3))
    observed = np.array([2.5, np.nan, 1.0])
    found = q_values([0.01, None, 0.3], observed, null, "max-t")
    assert found[1] is None
    assert [found[0], found[2]] == pytest.approx(naive_max_t(observed[[0, 2]], null[:, [0, 2]]))


@pytest.mark.parametrize("wobble", [0.0, 1e-17, 3e-16])
def test_max_t_takes_nothing_from_a_null_that_is_constant_up_to_rounding(wobble: float) -> None:
    """0.1 has no exact mean, and one shuffled value may differ in its last bit."""
    rng = np.random.default_rng(2)
    null = np.column_stack([np.full(1000, 0.1), rng.normal(size=1000)])
    null[500, 0] += wobble
    observed = np.array([0.1, 2.5])
    alone = q_values([0.01], observed[1:], null[:, 1:], "max-t")
    assert q_values([1.0, 0.01], observed, null, "max-t") == pytest.approx([1.0, *alone])


@given(p=P)
def test_nothing_tested_gives_nothing(p) -> None:
    assume(p)
    found = q_values([None] * len(p), np.empty(len(p)), np.empty((5, len(p))), "max-t")
    assert found == [None] * len(p)


def test_values_are_those_of_other_software() -> None:
    """It ends with a sentence where they are not."""
    spec = example_spec()
    data = load(*(read_table(content, name) for name, content in few_items().items()), spec.data, AXES)
    axes = spec.analysis.axes
    analysis = dataclasses.replace(spec.analysis, ties="first")
    design = build_design(data.annotations, data.raters, form_groups(data.raters, axes), analysis)
    found = peers.compare(data.annotations, data.raters, axes, design, 1)
    assert [figure.what for figure in found][:2] == [
        "IRR by NumPy, all groups at once",
        "IRR by scipy.stats.permutation_test",
    ]


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


def test_of_a_hundred_thousand_raters_they_are_a_logarithm_and_one_tail_reaches_half_as_far() -> None:
    axis = Axis(("a", "b"), np.arange(10**5, dtype=np.int32) % 2)
    spec = AnalysisSpec(axes=(("x",),), strata=("workload",))
    raters = Raters(("",) * 10**5, {"x": axis}, np.arange(10**5))
    found = Shuffles.of(raters, form_groups(raters, spec.axes), spec)
    assert np.exp(found.log_regroupings / 20_000) == pytest.approx(10)  # of five raters two or three
    assert (found.least_p == 0).all()
    reach = [smallest_p(np.log([10.0]), tail) for tail in ("two-sided", "paper", "upper")]
    assert reach == pytest.approx([0.2, 0.1, 0.1])


def test_axes_that_cannot_move_are_named() -> None:
    values = {"x": "aabbccdd", "y": "abababba", "z": "uuuuvvvv", "team": "qqqqqrrr"}
    raters = Raters(("",) * 8, {name: Axis.from_values([*text]) for name, text in values.items()})
    grouping = form_groups(raters, [("x",), ("y",)])
    check_something_moves(raters, grouping, AnalysisSpec(axes=(("x",), ("y",)), strata=("z",)))
    with pytest.raises(SpecError, match="the strata of x leave nothing to shuffle for x: "):
        check_something_moves(raters, grouping, AnalysisSpec(axes=(("x",), ("y",)), strata=("x",)))
    with pytest.raises(SpecError, match="each team has a size of its own, and "):
        check_something_moves(raters, grouping, AnalysisSpec(axes=(("x",), ("y",)), cluster="team"))


# The definitions as properties
SPEC = AnalysisSpec(axes=(("gender",), ("race",), ("gender", "race")), min_raters=1, ties="first")
VOTING = KERNEL_STATISTICS.index("voting_agreement")


def values_by_group(annotations: Annotations, raters: Raters, spec: AnalysisSpec = SPEC) -> dict:
    grouping = form_groups(raters, spec.axes, min_raters=spec.min_raters)
    values, _ = reference.evaluate(annotations, grouping, spec, identity(annotations.n_raters))
    return dict(zip(grouping.groups, values, strict=True))


def assert_same(one: dict, other: dict, *, but: tuple[int, ...] = ()) -> None:
    assert one.keys() == other.keys()
    kept = [s for s in range(6) if s not in but]
    for group in one:
        assert one[group][kept] == pytest.approx(other[group][kept], abs=1e-12, nan_ok=True)


def rebuilt(annotations: Annotations, **codes) -> Annotations:
    names = ("item", "rater", "category", "item_ids", "rater_ids", "categories")
    return Annotations.from_codes(**{name: getattr(annotations, name) for name in names} | codes)


@given(data=rated(), random=st.randoms(use_true_random=False))
def test_order_of_raters_items_and_rows_changes_nothing(data, random) -> None:
    annotations, raters = data
    to_item = np.array(random.sample(range(annotations.n_items), annotations.n_items))
    to_rater = np.array(random.sample(range(annotations.n_raters), annotations.n_raters))
    rows = random.sample(range(annotations.n_annotations), annotations.n_annotations)
    shuffled = rebuilt(
        annotations,
        item=to_item[annotations.item][rows],
        rater=to_rater[annotations.rater][rows],
        category=annotations.category[rows],
    )
    axes = {}
    for name, axis in raters.axes.items():
        codes = np.empty_like(axis.codes)
        codes[to_rater] = axis.codes
        axes[name] = Axis(axis.values, codes)
    moved = Raters(raters.rater_ids, axes)
    assert_same(values_by_group(annotations, raters), values_by_group(shuffled, moved))


@given(data=rated(), random=st.randoms(use_true_random=False))
def test_order_and_names_of_labels_change_nothing_but_who_wins_a_tie(data, random) -> None:
    annotations, raters = data
    to_label = np.array(random.sample(range(annotations.n_categories), annotations.n_categories))
    renamed = rebuilt(
        annotations,
        category=to_label[annotations.category],
        categories=[f"renamed {k}" for k in range(annotations.n_categories)],
    )
    assert_same(values_by_group(annotations, raters), values_by_group(renamed, raters), but=(VOTING,))


@given(data=rated())
def test_an_item_that_nobody_rated_changes_nothing(data) -> None:
    annotations, raters = data
    longer = rebuilt(annotations, item_ids=(*annotations.item_ids, "nobody's"))
    assert_same(values_by_group(annotations, raters), values_by_group(longer, raters))


@given(data=rated(sides=2, unknown=False))
def test_a_group_and_its_complement_swap_roles(data) -> None:
    """Where nobody's gender is unknown and there are two, men are the complement of women."""
    annotations, raters = data
    values = values_by_group(annotations, raters, AnalysisSpec(axes=(("gender",),), min_raters=1))
    if len(values) < 2:
        return
    one, other = values.values()
    for name in ("xrr", "voting_agreement"):
        s = KERNEL_STATISTICS.index(name)
        assert one[s] == pytest.approx(other[s], abs=1e-12, nan_ok=True)


@given(data=rated(), seed=st.integers(0, 2**63 - 1), b=st.integers(0, 2**62))
def test_permuting_with_the_identity_gives_the_observed_values(data, seed: int, b: int) -> None:
    """Shuffled within strata of one rater each, everybody keeps their profile."""
    annotations, raters = data
    own = Axis.from_values([f"{j:03d}" for j in range(annotations.n_raters)])
    raters = Raters(raters.rater_ids, {**raters.axes, "own": own})
    spec = dataclasses.replace(SPEC, strata=("own",))
    design = build_design(annotations, raters, form_groups(raters, spec.axes, min_raters=1), spec)
    found = compiled.shuffled(design, seed, b, b + 1)[0]  # observed values come by the plainest way
    np.testing.assert_allclose(found, compiled.observed(design), rtol=0, atol=1e-12)


@given(data=rated(sides=2))
def test_unknown_raters_are_in_neither_group_nor_complement(data) -> None:
    """Leaving a rater of unknown gender out altogether changes nothing on that axis."""
    annotations, raters = data
    spec = AnalysisSpec(axes=(("gender",),), min_raters=1, ties="first")
    keep = raters.axes["gender"].codes[annotations.rater] >= 0
    without = part(annotations, keep)
    assert_same(values_by_group(annotations, raters, spec), values_by_group(without, raters, spec))


# How often nothing is taken for something, and that a middling effect of DSI is found
# Data without any effect
DATA_SETS = 1000
OF_RACE = AnalysisSpec(axes=(("race",),), permutations=199, min_raters=2)


def values(
    annotations: Annotations, raters: Raters, seed: int, n: int
) -> tuple[Grouping, FloatArray, FloatArray]:
    """The groups, and their statistics: observed ones, and under n permutations."""
    grouping = form_groups(raters, OF_RACE.axes, min_raters=2)
    design = build_design(annotations, raters, grouping, OF_RACE)
    counted = (compiled.observed(design), compiled.shuffled(design, seed, 0, n))
    return grouping, *(group_columns(one, OF_RACE)[..., : len(STATISTICS)] for one in counted)


def three_errors(rate: float, size: int) -> float:
    return 3 * math.sqrt(rate * (1 - rate) / size)


@pytest.fixture(scope="module")
def tested() -> dict[str, np.ndarray]:
    """p-values of one group's IRR under both conventions, and of DSI, in every data set."""
    found: dict[str, list[float]] = {"two-sided": [], "paper": [], "dsi": []}
    for seed in range(DATA_SETS):
        annotations, raters = simulate(seed, items=12, raters=20, missing=0.2)
        grouping, observed, null = values(annotations, raters, seed, OF_RACE.permutations)
        irr = null[:, 0, 0][~np.isnan(null[:, 0, 0])]
        for convention in ("two-sided", "paper"):
            found[convention].append(tails(observed[0, 0], irr).p(convention))  # type: ignore[arg-type]
        found["dsi"].append(dsi_p(grouping, observed, null, OF_RACE))
    return {name: np.array(p, dtype=float) for name, p in found.items()}


@pytest.mark.long
@pytest.mark.parametrize("test", ["two-sided", "dsi"])
@pytest.mark.parametrize("level", [0.01, 0.05, 0.1, 0.2, 0.5])
def test_a_valid_test_keeps_its_level(tested, test: str, level: float) -> None:
    p = tested[test][~np.isnan(tested[test])]
    assert p.size > 0.9 * DATA_SETS
    assert (p <= level).mean() <= level + three_errors(level, p.size)


@pytest.mark.long
def test_two_sided_is_not_needlessly_cautious(tested) -> None:
    assert (tested["two-sided"] <= 0.05).mean() >= 0.05 - three_errors(0.05, DATA_SETS)


@pytest.mark.long
def test_the_papers_p_rejects_about_ten_percent_at_five(tested) -> None:
    """The sentence that the report puts beside it."""
    rate = (tested["paper"] < 0.05).mean()
    assert abs(rate - 0.1) <= three_errors(0.1, DATA_SETS)


@pytest.mark.long
def test_dsi_keeps_its_level_where_half_of_all_gais_have_no_value() -> None:
    """Pure noise among ten groups: XRR is below 0 about every other time.

    Taking the null's maximum over the groups that happen to be estimable in the data, instead of over
    all of them, rejected 8 % at 0.05 and 32 % at 0.2 here.
    """
    rng = np.random.default_rng(0)
    items, raters, found = 12, 30, []
    for seed in range(600):
        annotations = coded(
            *np.indices((items, raters)).reshape(2, -1), rng.integers(0, 3, items * raters), 3
        )
        race = Axis.from_values([str(j % 10) for j in range(raters)])
        people = Raters(annotations.rater_ids, {"race": race})
        grouping, observed, null = values(annotations, people, seed, 199)
        found.append(dsi_p(grouping, observed, null, OF_RACE))
    p = np.array(found)
    p = p[~np.isnan(p)]
    assert p.size > 400
    for level in (0.05, 0.1, 0.2):
        assert (p <= level).mean() <= level + three_errors(level, p.size)


# An effect beside small groups whose GAI varies
SIZES, ITEMS, DATA_SETS_POWER = (2, 3, 10, 25), 60, 60


def planted(seed: int) -> tuple[Annotations, Raters]:
    """Of the ten raters three in ten labels follow a view of their own; of all, a third are noise."""
    rng = np.random.default_rng(seed)
    raters = sum(SIZES)
    group = np.repeat(np.arange(len(SIZES)), SIZES)
    common, own = rng.integers(0, 2, (2, ITEMS, 1))
    view = np.where((rng.random((ITEMS, raters)) < 0.3) & (group == 2), own, common)
    labels = np.where(rng.random(view.shape) < 0.35, rng.integers(0, 2, view.shape), view)
    annotations = coded(*np.indices(labels.shape).reshape(2, -1), labels.ravel(), 2)
    return annotations, Raters(annotations.rater_ids, {"race": Axis.from_values(group.astype(str).tolist())})


@pytest.mark.long
def test_a_group_of_two_does_not_hide_what_ten_raters_show() -> None:
    """The largest GAI as it is, the test of earlier versions, found the effect in 8 of 60 data sets here."""
    found = as_it_is = 0
    for seed in range(DATA_SETS_POWER):
        grouping, observed, null = values(*planted(seed), seed, 399)
        assert members(grouping.groups, OF_RACE) == [[0, 1, 2, 3]]
        found += dsi_p(grouping, observed, null, OF_RACE) < 0.05
        largest = tails(np.nanmax(observed[:, GAI]), np.nanmax(null[:, :, GAI], axis=1))
        as_it_is += (largest.p("upper") or 1) < 0.05
    assert found >= 0.8 * DATA_SETS_POWER
    assert as_it_is <= 0.3 * DATA_SETS_POWER
