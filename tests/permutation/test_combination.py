"""The combination of tests and its correction, against loops that follow the definitions word by word."""

from __future__ import annotations

import math

import numpy as np
import pytest

from grasp_core.permutation.testing.corrections import (
    Evidence,
    combined,
    holding,
    p_of,
    ranks,
    share_interval,
    step_down,
)


def slow_mid_rank(values: list[float], at: int) -> float:
    above = sum(other > values[at] + 1e-12 for other in values)
    equal = sum(abs(other - values[at]) <= 1e-12 for other in values)
    return (above + equal / 2) / len(values)


def slow_p(values: list[float], *, two_sided: bool) -> list[float]:
    known = [value for value in values if not math.isnan(value)]
    largest = 1 - 1 / (2 * len(values))
    found = []
    for value in values:
        if math.isnan(value):
            found.append(largest)
            continue
        upper = slow_mid_rank(known, known.index(value))
        found.append(min(2 * min(upper, 1 - upper) if two_sided else upper, largest))
    return found


def slow_reached(sums: list[float]) -> list[int]:
    return [sum(other >= one - 1e-12 * max(1, abs(one)) for other in sums) for one in sums]


def slow_combined(use: list[float], distance: list[float], gais: list[list[float]]) -> list[int]:
    n = len(use)
    fisher = [-sum(math.log(p[b]) for p in (use, distance, *gais)) for b in range(n)]
    joined = [slow_mid_rank(fisher, b) for b in range(n)]
    joins = (joined, use, distance, *gais)
    sums = [sum(max(0.0, math.tan((0.5 - p[b]) * math.pi)) for p in joins) for b in range(n)]
    return slow_reached(sums)


def slow_q(reached: np.ndarray) -> list[float]:
    n, hypotheses = reached.shape
    order = sorted(range(hypotheses), key=lambda h: reached[0, h])
    q, before = [0.0] * hypotheses, 0.0
    for place, h in enumerate(order):
        hits = sum(min(reached[b, left] for left in order[place:]) <= reached[0, h] for b in range(n))
        before = q[h] = max(before, hits / n)
    return q


def drawn(seed: int, n: int = 61, *, halves: bool = False) -> tuple[list[list[float]], Evidence]:
    """Values of few distinct sizes, some of them without GAI, and what the program makes of them."""
    rng = np.random.default_rng(seed)
    use, distance = rng.normal(size=n).round(1), rng.normal(size=n)
    gais = [rng.normal(size=n).round(1) for _ in range(1 + halves)]
    gais[0][rng.integers(1, n, size=3)] = np.nan
    slow = [slow_p(one.tolist(), two_sided=False) for one in (use, distance)]
    slow += [slow_p(one.tolist(), two_sided=True) for one in gais]
    return slow, Evidence(p_of(use), p_of(distance), tuple(p_of(one, two_sided=True) for one in gais))


@pytest.mark.parametrize("halves", [False, True])
@pytest.mark.parametrize("seed", range(4))
def test_each_p_and_the_sum_are_those_of_the_definition(seed: int, halves: bool) -> None:
    slow, evidence = drawn(seed, halves=halves)
    for ours, theirs in zip((evidence.label_use, evidence.distance, *evidence.cohesion), slow, strict=True):
        assert ours is not None
        np.testing.assert_allclose(ours, theirs, rtol=1e-12)
        assert 0 < ours.min() <= ours.max() < 1
    use, distance, *gais = slow
    assert combined(evidence).tolist() == slow_combined(use, distance, gais)


@pytest.mark.parametrize("seed", range(6))
def test_step_down_is_that_of_the_definition_and_never_below_p(seed: int) -> None:
    rng = np.random.default_rng(seed)
    sums = np.maximum(rng.normal(size=(50, 7)), 0).round(1)  # many are equal
    reached = np.stack([ranks(column).reached for column in sums.T], axis=1)
    found = step_down(reached)
    np.testing.assert_allclose(found.q, slow_q(reached), rtol=1e-12)
    assert (found.q >= reached[0] / 50).all()
    assert (np.diff(found.q[np.argsort(reached[0], kind="stable")]) >= 0).all()
    assert found.bound.tolist() == [share_interval(round(50 * q) - 1, 49, 0.05)[1] for q in found.q]


def test_the_order_of_hypotheses_changes_no_digit() -> None:
    rng = np.random.default_rng(3)
    sums = np.maximum(rng.normal(size=(200, 9)), 0).round(1)
    reached = np.stack([ranks(column).reached for column in sums.T], axis=1)
    order = rng.permutation(9)
    one, other = step_down(reached), step_down(reached[:, order])
    np.testing.assert_array_equal(one.q[order], other.q)
    np.testing.assert_array_equal(one.bound[order], other.bound)


def test_one_hypothesis_needs_no_correction() -> None:
    reached = ranks(np.array([5.0, 1, 2, 5, 3])).reached
    assert reached.tolist() == [2, 5, 4, 2, 3]
    assert step_down(reached[:, None]).q.tolist() == [0.4]


def test_values_that_differ_by_rounding_are_equal() -> None:
    found = ranks(np.array([0.1 + 0.2, 0.3, 0.3 - 1e-9]))
    assert found.above.tolist() == [0, 0, 2]
    assert found.reached.tolist() == [2, 2, 3]
    assert found.middle.tolist() == [2 / 6, 2 / 6, 5 / 6]


def test_one_p_near_1_does_not_wipe_out_the_others() -> None:
    n = 199
    rising, falling = np.arange(n)[::-1].astype(float), np.arange(n).astype(float)
    evidence = Evidence(p_of(rising), p_of(rising), (p_of(falling),))
    assert combined(evidence)[0] <= 2


def test_a_test_is_named_where_all_that_it_belongs_to_holds() -> None:
    n = 999
    rng = np.random.default_rng(5)

    def extreme(share: float) -> np.ndarray:
        """The observed value lies beyond all but so many."""
        values = rng.normal(size=n)
        return np.concatenate([[np.quantile(values, 1 - share)], values])

    strong, nothing = extreme(0.001), extreme(0.6)
    alone = Evidence(p_of(nothing), p_of(strong), (p_of(extreme(0.6), two_sided=True),))
    assert holding(alone) == ("distance",)
    both = Evidence(p_of(strong), p_of(extreme(0.001)), (p_of(nothing, two_sided=True),))
    assert holding(both) == ("label_use", "distance")
    # Each is below the level by itself, but not beside two others that say nothing.
    weak = Evidence(p_of(extreme(0.04)), p_of(extreme(0.9)), (p_of(extreme(0.5), two_sided=True),))
    assert holding(weak) == ()
    assert holding(Evidence(None, p_of(extreme(0.01)), ())) == ("distance",)
