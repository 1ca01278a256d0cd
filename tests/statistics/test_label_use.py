"""Label use, the shift of the mean, and the distance: against other formulas, and by what has to hold."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from grasp_core.statistics.items import NotEstimableError
from grasp_core.statistics.label_use import (
    Scale,
    distance,
    enough_paired,
    label_use,
    mean_shift,
    shares_distance,
)

NAMES = Scale("nominal", np.arange(3.0))
NUMBERS = Scale("interval", np.array([1.0, 2.0, 5.0]))
RANKS = Scale("ordinal", np.arange(3.0))
counts = st.lists(st.tuples(*[st.integers(0, 4)] * 6), min_size=1, max_size=8)


def sides(rows: list[tuple[int, ...]]) -> tuple[np.ndarray, np.ndarray]:
    both = np.array(rows)
    return both[:, :3], both[:, 3:]


def test_two_items_by_hand() -> None:
    c, d = np.array([[2, 0, 0], [1, 1, 0]]), np.array([[1, 1, 0], [0, 0, 4]])
    # Weights 2 * 2 / 4 = 1 and 2 * 4 / 6 = 4/3; shares differ by (.5, -.5, 0) and (.5, .5, -1).
    np.testing.assert_allclose(label_use(c, d), np.array([7 / 6, 1 / 6, -4 / 3]) / (7 / 3), rtol=1e-15)
    # Item 1: across 1/2, inside 0 and 1. Item 2: across 1, inside 1 and 0.
    assert distance(c, d, NAMES) == pytest.approx((1 * 0.0 + 4 / 3 * 1.0) / (7 / 3))


@given(counts)
def test_label_use_is_the_sum_over_raters(rows: list[tuple[int, ...]]) -> None:
    """The numerator of docs/methods.md by raters: what each gave less what is expected on the item."""
    c, d = sides(rows)
    n, m = c.sum(axis=1), d.sum(axis=1)
    here = (n > 0) & (m > 0)
    if not here.any():
        with pytest.raises(NotEstimableError):
            label_use(c, d)
        return
    share = (c + d)[here] / (n + m)[here, None]
    numerator = (c[here] - n[here, None] * share).sum(axis=0)
    found = label_use(c, d)
    np.testing.assert_allclose(found, numerator / (n * m / np.maximum(n + m, 1))[here].sum(), atol=1e-12)
    assert found.sum() == pytest.approx(0, abs=1e-12)
    np.testing.assert_allclose(label_use(d, c), -found, atol=1e-12)
    assert shares_distance(c, d, NAMES) == pytest.approx((found**2).sum(), abs=1e-12)


@given(counts, st.integers(0, 2))
def test_a_label_more_of_the_group_raises_its_use(rows: list[tuple[int, ...]], k: int) -> None:
    c, d = sides(rows)
    here = (c.sum(axis=1) > 0) & (d.sum(axis=1) > 0) & (c[:, k] < c.sum(axis=1))
    if not here.any():
        return
    more = c.copy()
    other = np.array(
        [
            next(j for j in range(3) if j != k and row[j]) if use else 0
            for row, use in zip(c, here, strict=True)
        ]
    )
    more[here, other[here]] -= 1  # a rater of the group changes to this label on each of these items
    more[here, k] += 1
    assert label_use(more, d)[k] > label_use(c, d)[k]


@given(counts)
def test_distance_of_numbers_is_twice_the_squared_difference_of_means_without_noise(
    rows: list[tuple[int, ...]],
) -> None:
    c, d = sides(rows)
    n, m = c.sum(axis=1), d.sum(axis=1)
    paired = (n > 1) & (m > 1)
    if not paired.any():
        return
    v, total, weight = NUMBERS.values, 0.0, 0.0
    for inside, outside in zip(c[paired], d[paired], strict=True):
        x, y = np.repeat(v, inside), np.repeat(v, outside)
        w = x.size * y.size / (x.size + y.size)
        total += w * 2 * ((x.mean() - y.mean()) ** 2 - x.var(ddof=1) / x.size - y.var(ddof=1) / y.size)
        weight += w
    assert distance(c, d, NUMBERS) == pytest.approx(total / weight, abs=1e-10)


def test_the_mean_of_ranks_is_the_probability_of_superiority_less_a_half() -> None:
    c, d = np.array([[1, 2, 3]]), np.array([[4, 1, 1]])
    x, y = np.repeat(range(3), c[0]), np.repeat(range(3), d[0])
    superior = np.mean([[1.0 if a > b else 0.5 if a == b else 0.0 for b in y] for a in x])
    assert mean_shift(c, d, RANKS) == pytest.approx(superior - 0.5)
    assert np.isnan(mean_shift(c, d, NAMES))
    assert mean_shift(c, d, NUMBERS) == pytest.approx(NUMBERS.values[x].mean() - NUMBERS.values[y].mean())


def test_ordinal_distance_does_not_depend_on_how_many_items_there_are() -> None:
    c, d = np.array([[3, 1, 0], [0, 2, 2]]), np.array([[1, 1, 2], [1, 0, 3]])
    assert distance(np.tile(c, (9, 1)), np.tile(d, (9, 1)), RANKS) == pytest.approx(distance(c, d, RANKS))


def test_distance_is_unbiased_where_both_sides_answer_alike() -> None:
    rng = np.random.default_rng(1)
    shares = rng.dirichlet(np.ones(3), size=400)
    found = [distance(rng.multinomial(3, shares), rng.multinomial(9, shares), NAMES) for _ in range(200)]
    assert abs(np.mean(found)) < 3 * np.std(found) / np.sqrt(len(found))


def test_what_cannot_be_told_is_refused() -> None:
    none, some = np.array([[0, 0, 0], [1, 1, 0]]), np.array([[2, 1, 0], [0, 0, 0]])
    for statistic in (label_use, enough_paired):
        with pytest.raises(NotEstimableError, match="both by the group and by the others"):
            statistic(none, some)
    with pytest.raises(NotEstimableError, match="two raters of the group and by two others"):
        distance(np.array([[1, 0, 0]]), np.array([[2, 0, 0]]), NAMES)


@pytest.mark.parametrize(("paired", "others", "enough"), [(1, 1, 1), (1, 2, 0), (29, 100, 0), (30, 1000, 1)])
def test_whether_enough_items_have_pairs_is_the_same_for_both_sides(paired, others, enough) -> None:
    c = np.array([[1, 1]] * paired + [[2, 1]] * others)
    d = np.array([[3, 0]] * paired + [[1, 0]] * others)
    assert enough_paired(c, d) == enough_paired(d, c) == enough
