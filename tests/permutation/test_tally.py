"""Counted null distributions against the whole values; vector-valued annotations against plain vectors."""

import dataclasses
import io
import itertools
import math
import random

import krippendorff
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from grasp_core.analysis.cohesion.columns import cohesion_tests, members, with_dsi
from grasp_core.engine.pools.workers import pack, unpack
from grasp_core.model.annotations import Annotations, Axis, Raters
from grasp_core.model.groups import form_groups
from grasp_core.model.spec import STATISTICS, AnalysisSpec
from grasp_core.permutation import compiled, questions
from grasp_core.permutation.compiled import KERNEL_STATISTICS
from grasp_core.permutation.draw import exchange_of, identity, permutation
from grasp_core.permutation.testing.p_values import BINS, Kept
from grasp_core.permutation.testing.tally import CELLS, Counted, Tally
from tests.permutation import reference
from tests.permutation.naive import GRID, JITTER, naive_dsi
from tests.permutation.simulated import GAI, GROUPS, SPEC, around_one, by_group_and_axis, simulate
from tests.permutation.simulated import kept as whole

# Counts, whatever the blocks and their order
B, FIRST = 3000, 400


def values(seed: int = 1, *, lost: float = 0.1) -> tuple[np.ndarray, np.ndarray]:
    """Observed and shuffled values: smooth ones, few-valued ones, a constant, heavy tails, none at all."""
    rng = np.random.default_rng(seed)
    observed, null = around_one(rng, B)
    null[:, :, 1], observed[:, 1] = np.round(null[:, :, 1], 1), np.round(observed[:, 1], 1)
    null[:, 0, 2] = observed[0, 2] = 0.1
    null[:, 1, 2] = 1 + rng.standard_cauchy(B)
    null[rng.random(null.shape) < lost] = np.nan
    null[:, 2, 2] = np.nan
    null[:FIRST, 3, 2] = np.nan
    observed[4, 2] = np.nan
    return observed, null


def blocks(seed: int, stop: int = B) -> list[tuple[int, int]]:
    chance = random.Random(seed)
    cuts = sorted({0, stop, *(chance.randrange(1, stop) for _ in range(chance.randrange(1, 40)))})
    cut = list(itertools.pairwise(cuts))
    chance.shuffle(cut)
    return cut


def columns(values: np.ndarray) -> np.ndarray:
    return with_dsi(values, members(GROUPS, SPEC))


def new_tally(observed, spec: AnalysisSpec, most: int = B, *, first: int = FIRST) -> Tally:
    tests = cohesion_tests(GROUPS, spec)
    return Tally(columns(observed), tests.needs, most, tests.maxima, kept=first)


def fed(observed, null, spec: AnalysisSpec, cut, *, first: int = FIRST) -> Tally:
    tally = new_tally(observed, spec, len(null), first=first)
    for start, stop in cut:
        tally.add(start, columns(null[start:stop]))
    assert tally.done == [(0, len(null))]
    return tally


def found(observed, null, spec: AnalysisSpec = SPEC) -> list:
    """All outcomes, groups' and then axes'."""
    return list(by_group_and_axis(observed, null, spec))


@pytest.mark.parametrize("correction", ["benjamini-hochberg", "max-t"])
@pytest.mark.parametrize("seed", range(4))
def test_neither_blocks_nor_their_order_change_a_digit(seed: int, correction) -> None:
    observed, null = values()
    spec = dataclasses.replace(SPEC, correction=correction)
    right = fed(observed, null, spec, [(0, B)])
    tally = fed(observed, null, spec, blocks(seed))
    assert tally.counting
    assert found(observed, tally.null, spec) == found(observed, right.null, spec)
    assert tally.lost == right.lost == np.isnan(null).any(axis=(1, 2)).sum()


@pytest.mark.parametrize("seed", range(3))
def test_up_to_the_limit_nothing_is_counted(seed: int) -> None:
    observed, null = values()
    tally = fed(observed, null, SPEC, blocks(seed), first=B)
    assert not tally.counting
    assert found(observed, tally.null) == found(observed, whole(observed, null))


@pytest.mark.parametrize("p_value", ["two-sided", "paper"])
def test_p_direction_and_all_that_follow_are_those_of_the_whole_values(p_value) -> None:
    observed, null = values()
    spec = dataclasses.replace(SPEC, p_value=p_value)
    counted = found(observed, fed(observed, null, spec, [(0, B)]).null, spec)
    kept = found(observed, whole(observed, null), spec)

    def exact(outcome):
        return dataclasses.replace(outcome, null_median=None, null=None)

    for ours, right in zip(counted[0], kept[0], strict=True):
        exactly = ({name: exact(one) for name, one in row.items()} for row in (ours, right))
        assert next(exactly) == next(exactly)
    for ours, right, of_axis in zip(counted[1], kept[1], members(GROUPS, SPEC), strict=True):
        assert ours.outcome.p == naive_dsi(observed[:, GAI], null[:, :, GAI], of_axis, FIRST)[1]
        tested = {name: getattr(right.outcome, name) for name in ("p", "q", "significance")}
        assert dataclasses.replace(exact(ours.outcome), **tested) == exact(right.outcome)
        assert (ours.group, ours.p_group) == (right.group, right.p_group)


@given(observed=GRID, null=st.lists(GRID, min_size=1, max_size=60), jitter=JITTER)
def test_tails_are_those_of_the_whole_values_ties_included(observed, null, jitter) -> None:
    column = np.array(null)[:, None] + jitter
    counted = Counted(np.array([observed]), column[:20], [])
    counted.add(column)
    assert counted.summary(0).tails == Kept(np.array([observed]), column).summary(0).tails


def test_histogram_and_median_of_counts() -> None:
    observed, null = values()
    counted, kept = fed(observed, null, SPEC, [(0, B)]).null, whole(observed, null)
    checked = 0
    for c in range(kept.observed.size):
        column = kept.values[:, c][~np.isnan(kept.values[:, c])]
        ours, right = counted.summary(c), kept.summary(c)
        if not column.size:
            assert ours == right
            continue
        first = np.sort(kept.values[:FIRST, c][~np.isnan(kept.values[:FIRST, c])])
        if not first.size:
            continue
        assert sum(ours.histogram.counts) == column.size
        assert ours.histogram.counts[0] > 0
        assert ours.histogram.counts[-1] > 0
        around = max(0.05, 2.5 / math.sqrt(first.size))
        left, end = (first[int(share * (first.size - 1))] for share in (0.5 - around, 0.5 + around))
        assert left <= right.median <= end
        assert abs(ours.median - right.median) <= (end - left) / CELLS
        # Bin by bin: those within the first values' range are the ones that these alone would have had.
        edges = np.linspace(ours.histogram.low, ours.histogram.high, len(ours.histogram.counts) + 1)
        expected = np.histogram(np.clip(column, edges[0], edges[-1]), bins=edges)[0]
        near = np.isclose(column[:, None], edges[1:-1], rtol=0, atol=1e-9).sum()
        assert np.abs(np.array(ours.histogram.counts) - expected).sum() <= 2 * near
        checked += 1
    assert checked > 30


def test_values_far_out_are_in_the_last_bins_and_a_median_beyond_the_first_values_at_their_edge() -> None:
    first = np.linspace(0, 1, 200)[:, None]
    counted = Counted(np.array([0.5]), first, [])
    counted.add(first)
    counted.add(np.array([[-1e9], [1e9], [np.nan]]))
    histogram = counted.summary(0).histogram
    assert (histogram.low, histogram.high) == pytest.approx((-1, 2))
    assert (histogram.counts[0], histogram.counts[-1]) == (1, 1)
    assert sum(histogram.counts) == 202
    assert len(histogram.counts) == 3 * BINS
    counted = Counted(np.array([0.5]), np.linspace(0, 1, 10_001)[:, None], [])
    counted.add(np.full((50, 1), 7.0))
    assert counted.summary(0).median == pytest.approx(0.55)
    counted.add(np.full((60, 1), -7.0))
    assert counted.summary(0).median == pytest.approx(0.45)


def test_max_t_counts_deviations_in_units_of_the_first_values() -> None:
    observed, null = values(2)
    spec = dataclasses.replace(SPEC, correction="max-t", family="all")
    rows, _ = found(observed, fed(observed, null, spec, blocks(3)).null, spec)
    centre, scale = np.full(observed.shape, 0.0), np.full(observed.shape, np.inf)
    for cell in np.ndindex(observed.shape):
        first = null[:FIRST, *cell][~np.isnan(null[:FIRST, *cell])]
        if first.size and first.std() > 1e-12 and not np.isnan(observed[cell]):
            centre[cell], scale[cell] = first.mean(), first.std()
    upper = np.array([name == "distance" for name in STATISTICS])  # of which only large values count
    deviations = (null - centre) / scale
    largest = np.nanmax(np.where(upper, deviations, np.abs(deviations)), axis=(1, 2), initial=0.0)
    tested = 0
    for g, s in np.ndindex(observed.shape):
        outcome = rows[g][STATISTICS[s]]
        if outcome.p is None:
            assert outcome.q is None
            continue
        deviation = (observed[g, s] - centre[g, s]) / scale[g, s]
        deviation = deviation if upper[s] else abs(deviation)
        assert outcome.q == (1 + (largest >= deviation - 1e-12).sum()) / (B + 1)
        tested += 1
    assert tested > 30


# A state is all there is
@pytest.mark.parametrize("correction", ["benjamini-yekutieli", "max-t"])
@pytest.mark.parametrize("seed", range(3))
def test_goes_on_from_its_state(seed: int, correction) -> None:
    observed, null = values()
    spec = dataclasses.replace(SPEC, correction=correction, permutations=B)
    right = fed(observed, null, spec, [(0, B)])
    tally = new_tally(observed, spec)
    cut = blocks(seed)
    for n, (start, stop) in enumerate(cut):
        if tally.counting and n % 3 == 0:
            state = tally.state()
            tally = new_tally(observed, spec)
            assert tally.restore(state)
        tally.add(start, columns(null[start:stop]))
    assert found(observed, tally.null, spec) == found(observed, right.null, spec)
    assert tally.state() == right.state()


def test_a_state_does_not_grow_and_a_damaged_one_is_none() -> None:
    observed, null = values()
    tally = fed(observed, null, SPEC, [(0, B)])
    assert isinstance(tally.null, Counted)
    one = {name: array.nbytes for name, array in tally.null.arrays().items()}
    for more in range(1, 4):
        tally.add(more * B, columns(null))
    assert {name: array.nbytes for name, array in tally.null.arrays().items()} == one
    held = sum(value.nbytes for value in vars(tally).values() if isinstance(value, np.ndarray))
    assert held < columns(null[:FIRST]).nbytes  # the values that were kept at first are gone
    observed, null = values()
    state = fed(observed, null, SPEC, [(0, B)]).state()
    other = fed(observed, null, dataclasses.replace(SPEC, correction="max-t"), [(0, B)]).state()
    for damaged in (b"", b"nonsense", state[:-40], state[:200] + b"\0" * 40 + state[240:], other):
        tally = new_tally(observed, SPEC)
        assert not tally.restore(damaged)
        assert not tally.counting
        assert tally.done == []


def test_groups_that_have_stopped_count_nowhere() -> None:
    """Nor does the largest of the groups that go on: it is not the largest of all."""
    observed, null = values(lost=0.0)
    null[:, 2:4, 2] = 1.0
    tally = new_tally(observed, SPEC)
    tally.add(0, columns(null[:1000]))
    tally.active[:] = [True, True, True, False, False]
    null[1000:, 3:] = np.nan
    tally.add(1000, columns(null[1000:]))
    rows, (gender, race) = found(observed, tally.null)
    assert [row["gai"].null_n for row in rows] == [B, B, B, 1000, 1000]
    assert (gender.outcome.null_n, race.outcome.null_n) == (B, 1000)
    right = found(observed, whole(observed, null[:1000]))
    assert rows[4]["irr"].p == right[0][4]["irr"].p
    assert race.outcome.p == naive_dsi(observed[:, GAI], null[:1000, :, GAI], [2, 3, 4], FIRST)[1]
    assert tally.lost == 0


# Annotations of several questions
AXES = (("gender",), ("race",), ("gender", "race"))
SPEC_QUESTIONS = AnalysisSpec(axes=AXES, min_raters=1, seed=9)


def asked(*categories: int, **shape: float) -> tuple[tuple[Annotations, ...], Raters]:
    """The same items and raters, a question for each number of categories, with gaps of its own."""
    found = [simulate(4, **shape)]
    found += [simulate(5 + q, categories=k, **shape) for q, k in enumerate(categories)]
    return tuple(annotations for annotations, _ in found), found[0][1]


def vectors(answers: tuple[Annotations, ...]) -> np.ndarray:
    """Answers by item, rater and question; -1 where there is none."""
    first = answers[0]
    found = np.full((first.n_items, first.n_raters, len(answers)), -1)
    for q, one in enumerate(answers):
        found[one.item, one.rater, q] = one.category
    return found


def twin(answers, raters: Raters, spec: AnalysisSpec = SPEC_QUESTIONS, source=None) -> np.ndarray:
    grouping = form_groups(raters, spec.axes, min_raters=1)
    source = identity(len(raters.rater_ids)) if source is None else source
    return reference.evaluate(answers, grouping, spec, source)[0]


def test_irr_and_xrr_of_vectors_are_krippendorffs_alpha_under_hamming_distance_and_naive_pairs() -> None:
    """Every rater answers every question: one distance metric over whole vectors gives the same alpha."""
    answers, raters = asked(2, 4, items=12, raters=9)
    found = vectors(answers)
    domain, codes = np.unique(found.reshape(-1, 3), axis=0, return_inverse=True)
    coded = codes.reshape(found.shape[:2])

    def hamming(v1, v2, i1, i2, n_v, dtype=np.float64):
        return (domain[i1] != domain[i2]).mean(axis=-1).astype(dtype)

    grouping = form_groups(raters, AXES, min_raters=2)
    values, _ = reference.evaluate(answers, grouping, SPEC_QUESTIONS, identity(9))
    for member, value in zip(grouping.member, values[:, 0], strict=True):
        counts = np.array([np.bincount(row[member], minlength=len(domain)) for row in coded])
        alpha = krippendorff.alpha(value_counts=counts, level_of_measurement=hamming)
        assert value == pytest.approx(alpha, abs=1e-12)
    answers, raters = asked(2, 4, items=6, raters=8)
    found = vectors(answers)
    grouping = form_groups(raters, AXES, min_raters=1)
    values, _ = reference.evaluate(answers, grouping, SPEC_QUESTIONS, identity(8))
    for g, value in enumerate(values[:, 1]):
        x, y = found[:, grouping.member[g]], found[:, grouping.complement(g)]
        if not x.shape[1] or not y.shape[1]:
            continue
        observed = np.mean([(a != b).mean() for i in range(6) for a, b in itertools.product(x[i], y[i])])
        every = itertools.product(x.reshape(-1, 3), y.reshape(-1, 3))
        expected = np.mean([(a != b).mean() for a, b in every])
        assert value == pytest.approx(1 - observed / expected, abs=1e-12)


def test_the_others_are_averaged_over_the_questions_that_have_a_value() -> None:
    answers, raters = asked(2, 4, items=10, raters=8, missing=0.8, unknown=0.2)
    own = len(KERNEL_STATISTICS)
    together = twin(answers, raters)[:, :own]
    apart = np.stack([twin(one, raters)[:, :own] for one in answers])
    assert np.isnan(apart[..., 2:]).any()
    for place, value in np.ndenumerate(together[:, 2:]):
        known = apart[:, place[0], place[1] + 2]
        known = known[~np.isnan(known)]
        assert value == pytest.approx(known.mean() if known.size else np.nan, abs=1e-12, nan_ok=True)


def test_one_question_is_itself_and_has_the_values_of_its_design() -> None:
    answers, raters = asked(missing=0.3)
    assert np.array_equal(twin(answers, raters), twin(answers[0], raters), equal_nan=True)
    twice = twin((*answers, *answers), raters)
    own = len(KERNEL_STATISTICS)
    np.testing.assert_allclose(twice[:, :own], twin(answers, raters)[:, :own], rtol=0, atol=1e-12)
    np.testing.assert_array_equal(twice[:, own:], np.tile(twin(answers, raters)[:, own:], 2))
    grouping = form_groups(raters, AXES, min_raters=1)
    design = questions.lay_out(answers, raters, grouping, SPEC_QUESTIONS)
    (only,) = design.designs
    expected = compiled.shuffled(only, 1, 0, 3)
    assert questions.shuffled(design, 1, 0, 3).tobytes() == expected.tobytes()
    stored = unpack(questions.Questions, io.BytesIO(pack(design)))
    assert questions.shuffled(stored, 1, 0, 3).tobytes() == expected.tobytes()
    observed = questions.joint_statistics(questions.observed_components(stored))
    assert observed.tobytes() == compiled.observed(only).tobytes()


@pytest.mark.parametrize("strata", [(), ("region",)])
@pytest.mark.parametrize("ties", ["first", "random"])
@pytest.mark.parametrize(
    "shape",
    [{}, {"missing": 0.3}, {"missing": 0.85, "items": 12, "unknown": 0.2}, {"raters": 130, "items": 6}],
    ids=["crossed", "gaps", "sparse", "many raters"],
)
def test_compiled_and_plain_agree(shape, ties: str, strata: tuple[str, ...]) -> None:
    answers, raters = asked(2, 5, **shape)
    teams = Axis.from_values([str(j // 2 if j < 8 else j) for j in range(len(raters.rater_ids))])
    raters = dataclasses.replace(raters, axes={**raters.axes, "team": teams})
    cluster = None if strata else "team"
    spec = AnalysisSpec(axes=AXES, min_raters=1, seed=9, ties=ties, strata=strata, cluster=cluster)
    design = questions.lay_out(answers, raters, form_groups(raters, AXES, min_raters=1), spec)
    assert len(design.designs) == 3
    observed = questions.joint_statistics(questions.observed_components(design))
    np.testing.assert_allclose(observed, twin(answers, raters, spec), rtol=0, atol=1e-12)
    found = questions.shuffled(design, 9, 5, 8)
    drawn = exchange_of(raters, spec)
    for b, values in zip(range(5, 8), found, strict=True):
        expected = twin(answers, raters, spec, permutation(9, b, *drawn))
        np.testing.assert_allclose(values, expected, rtol=0, atol=1e-12)
    again = questions.shuffled(unpack(questions.Questions, io.BytesIO(pack(design))), 9, 5, 8)
    assert again.tobytes() == found.tobytes()


@pytest.mark.parametrize("level", ["nominal", "ordinal", "ratio"])
@pytest.mark.parametrize("further", [(), (2, 4)], ids=["one", "several"])
@pytest.mark.parametrize("seed", range(4))
def test_reasons_follow_from_the_sums(seed: int, further: tuple[int, ...], level: str) -> None:
    """As the plain twin finds them, of few and lopsided answers."""
    rng = np.random.default_rng(seed)
    shape = {"items": 5, "raters": 7, "missing": rng.choice([0.5, 0.8, 0.9]), "unknown": 0.2}
    answers, raters = asked(*further, **shape)
    answers = tuple(
        dataclasses.replace(
            one,
            category=np.where(rng.random(one.category.size) < 0.8, 0, one.category).astype(np.int32),
            categories=tuple(map(str, range(one.n_categories))),
        )
        for one in answers
    )
    spec = AnalysisSpec(axes=AXES, min_raters=1, seed=9, level=level)
    grouping = form_groups(raters, AXES, min_raters=1)
    _, expected = reference.evaluate(answers, grouping, spec, identity(answers[0].n_raters))
    components = questions.observed_components(questions.lay_out(answers, raters, grouping, spec))
    assert any(expected)
    assert questions.reasons(components) == expected
