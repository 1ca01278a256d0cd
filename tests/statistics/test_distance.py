"""IRR and XRR at Krippendorff's four levels of measurement: other software, naive pairs, properties."""

from __future__ import annotations

import itertools
from functools import partial
from typing import get_args

import krippendorff
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from grasp_core.model.annotations import Int64Array
from grasp_core.model.errors import SpecError
from grasp_core.model.remarks.reasons import NoValue
from grasp_core.model.spec import Level
from grasp_core.statistics.cross_group import xrr
from grasp_core.statistics.in_group import irr
from grasp_core.statistics.items import NotEstimableError
from grasp_core.statistics.levels import (
    category_values,
    distance_of,
    nominal,
    possible_levels,
    squared_distances,
)
from tests.strategies import counts_of, label_counts

LEVELS = get_args(Level)
NUMBERS = ("0", "1", "2.5", "4", "10", "30")
"""Categories that every level takes."""


def at(level: Level, k: int):
    return distance_of(NUMBERS[:k], level)


@st.composite
def sides(draw: st.DrawFn) -> tuple[Int64Array, Int64Array]:
    shape = draw(st.tuples(st.integers(1, 6), st.integers(2, 5)))
    return draw(counts_of(shape)), draw(counts_of(shape))


# Krippendorff's four observers and twelve units (2011, Computing Krippendorff's Alpha-Reliability,
# page 8); alpha to three places by the package krippendorff 0.9.0.
OBSERVERS = np.array(
    [
        [1, 2, 3, 3, 2, 1, 4, 1, 2, 0, 0, 0],
        [1, 2, 3, 3, 2, 2, 4, 1, 2, 5, 0, 3],
        [0, 3, 3, 3, 2, 3, 4, 2, 2, 5, 1, 0],
        [1, 2, 3, 3, 2, 4, 4, 1, 2, 5, 1, 0],
    ]
)
FOUR_OBSERVERS = np.array([np.bincount(unit, minlength=6)[1:] for unit in OBSERVERS.T])


@pytest.mark.parametrize(
    ("level", "alpha"), [("nominal", 0.743), ("ordinal", 0.815), ("interval", 0.849), ("ratio", 0.797)]
)
def test_irr_is_krippendorffs_own_example(level: Level, alpha: float) -> None:
    assert irr(FOUR_OBSERVERS, distance_of("12345", level)) == pytest.approx(alpha, abs=5e-4)


@pytest.mark.parametrize("level", LEVELS)
@given(c=label_counts(items=(1, 8), categories=(2, 6)))
def test_irr_is_the_package_krippendorffs(level: Level, c: Int64Array) -> None:
    k = c.shape[1]
    try:
        value = irr(c, at(level, k))
    except NotEstimableError:
        assert (c[c.sum(axis=1) >= 2].sum(axis=0) > 0).sum() <= 1
        return
    expected = krippendorff.alpha(
        value_counts=c, value_domain=category_values(NUMBERS[:k], level), level_of_measurement=level
    )
    assert value == pytest.approx(expected, abs=1e-12)


@pytest.mark.parametrize("level", LEVELS)
@given(pair=sides())
def test_xrr_by_naive_pairs(level: Level, pair: tuple[Int64Array, Int64Array]) -> None:
    """One pair of labels after the other, with distances from their definitions."""
    c, d = pair
    x, y = ([[k for k in range(c.shape[1]) for _ in range(row[k])] for row in side] for side in pair)
    shared = [(a, b) for a, b in zip(x, y, strict=True) if a and b]
    if not shared:
        return
    all_x, all_y = [s for a, _ in shared for s in a], [t for _, b in shared for t in b]
    pooled = all_x + all_y
    values = [float(number) for number in NUMBERS]

    def squared(s: int, t: int) -> float:
        low, high = min(s, t), max(s, t)
        if level == "nominal" or s == t:
            return float(s != t)
        if level == "ordinal":
            ends = (pooled.count(low) + pooled.count(high)) / 2
            return (sum(low <= label <= high for label in pooled) - ends) ** 2
        apart = values[high] - values[low]
        return (apart if level == "interval" else apart / (values[high] + values[low])) ** 2

    size = len(pooled)
    expected = np.mean([squared(s, t) for s, t in itertools.product(all_x, all_y)])
    if expected == 0:
        with pytest.raises(NotEstimableError, match=str(NoValue.ONE_LABEL_ACROSS())):
            xrr(c, d, at(level, c.shape[1]))
        return
    observed = sum(
        (len(a) + len(b)) * np.mean([squared(s, t) for s, t in itertools.product(a, b)]) for a, b in shared
    )
    assert xrr(c, d, at(level, c.shape[1])) == pytest.approx(1 - observed / size / expected, abs=1e-11)


def both(pair: tuple[Int64Array, Int64Array], distance) -> list[float]:
    values = []
    for statistic in (partial(irr, pair[0]), partial(xrr, *pair)):
        try:
            values.append(statistic(distance))
        except NotEstimableError:
            values.append(np.nan)
    return values


@given(pair=sides(), shift=st.sampled_from([-7.5, 3.0]), scale=st.sampled_from([-2.0, 0.25, 100.0]))
def test_where_a_scale_begins_and_its_unit_mean_nothing(pair, shift: float, scale: float) -> None:
    values = category_values(NUMBERS[: pair[0].shape[1]], "interval")
    moved = both(pair, partial(squared_distances, "interval", values * scale + shift))
    found = both(pair, partial(squared_distances, "interval", values))
    assert moved == pytest.approx(found, abs=1e-9, nan_ok=True)
    scaled = both(pair, partial(squared_distances, "ratio", values * abs(scale)))
    assert scaled == pytest.approx(
        both(pair, partial(squared_distances, "ratio", values)), abs=1e-12, nan_ok=True
    )


@given(pair=sides())
def test_ordinal_knows_only_the_order(pair) -> None:
    k = pair[0].shape[1]
    assert both(pair, distance_of(NUMBERS[:k], "ordinal")) == pytest.approx(
        both(pair, distance_of("abcdef"[:k], "ordinal")), abs=0, nan_ok=True
    )
    turned = tuple(side[:, ::-1] for side in pair)
    assert both(turned, at("ordinal", k)) == pytest.approx(
        both(pair, at("ordinal", k)), abs=1e-12, nan_ok=True
    )


@pytest.mark.parametrize("level", LEVELS)
@given(data=st.data())
def test_an_unused_category_and_the_sides_order_mean_nothing(level: Level, data) -> None:
    pair = data.draw(sides())
    k = pair[0].shape[1]
    found = both(pair, at(level, k))
    wider = tuple(np.hstack([side, np.zeros_like(side[:, :1])]) for side in pair)
    assert both(wider, at(level, k + 1)) == pytest.approx(found, abs=1e-12, nan_ok=True)
    assert both(pair[::-1], at(level, k))[1] == pytest.approx(found[1], abs=1e-12, nan_ok=True)


@given(c=label_counts(categories=(2, 2)), data=st.data())
def test_two_categories_have_one_distance(c: Int64Array, data) -> None:
    pair = (c, data.draw(counts_of((len(c), 2))))
    found = both(pair, nominal)
    for level in LEVELS:
        assert both(pair, distance_of(("2", "5"), level)) == pytest.approx(found, abs=1e-12, nan_ok=True)


@pytest.mark.parametrize("level", LEVELS)
def test_one_label_has_no_value_at_any_level(level: Level) -> None:
    same = np.array([[0, 3, 0], [0, 2, 0]])
    with pytest.raises(NotEstimableError, match=str(NoValue.ONE_LABEL_INSIDE())):
        irr(same, at(level, 3))
    with pytest.raises(NotEstimableError, match=str(NoValue.ONE_LABEL_ACROSS())):
        xrr(same, same, at(level, 3))


def test_distances_by_hand() -> None:
    values, marginals = category_values(("0", "1", "3"), "ratio"), np.array([2, 4, 6])
    ratio = [[0, 1, 1], [1, 0, 1 / 4], [1, 1 / 4, 0]]  # (1 - 3) / (1 + 3), and 0 / 0 = 0
    assert squared_distances("ratio", values, marginals).tolist() == ratio
    # Middle ranks 2/2, 2 + 4/2 and 6 + 6/2: 1, 4, 9.
    assert squared_distances("ordinal", values, marginals).tolist() == [[0, 9, 64], [9, 0, 25], [64, 25, 0]]


@pytest.mark.parametrize("level", ["interval", "ratio"])
@pytest.mark.parametrize(
    ("categories", "named"),
    [
        (("No", "Yes"), "'No'"),
        (("1", "2", "Unsure"), "'Unsure'"),
        (("1", "nan"), "'nan'"),
        (("1", "inf"), "'inf'"),
        (("1", "1.0"), "'1' and '1.0'"),
    ],
)
def test_labels_that_are_no_numbers_are_named(level: Level, categories, named: str) -> None:
    with pytest.raises(SpecError) as caught:
        category_values(categories, level)
    assert named in str(caught.value)
    assert "recode" in str(caught.value)


def test_only_ratio_refuses_what_is_below_0() -> None:
    assert category_values(("-1", "0", "1"), "interval").tolist() == [-1, 0, 1]
    with pytest.raises(SpecError, match=r"'-1' is below 0, which interval takes"):
        category_values(("-1", "0", "1"), "ratio")


@pytest.mark.parametrize(
    ("categories", "levels"), [(("0", "4.5"), LEVELS), (("-1", "1"), LEVELS[:3]), (("1", "many"), LEVELS[:2])]
)
def test_levels_that_are_possible(categories, levels) -> None:
    assert possible_levels(categories) == levels


@pytest.mark.parametrize("level", ["nominal", "ordinal"])
def test_other_levels_take_any_label(level: Level) -> None:
    assert category_values(("low", "high"), level).tolist() == [0, 1]
