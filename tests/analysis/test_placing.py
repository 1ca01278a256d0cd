"""Who is placed, and where: held against scikit-learn's classical scaling."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.manifold import ClassicalMDS

from grasp_core.analysis.rater_map import connected, place, squared_distances


def points(seed: int, n: int = 30, dimensions: int = 5) -> np.ndarray:
    return np.random.default_rng(seed).normal(size=(n, dimensions)) * np.arange(dimensions, 0, -1)


def between(places: np.ndarray) -> np.ndarray:
    return ((places[:, None] - places) ** 2).sum(axis=2)


def test_places_are_those_of_scikit_learn() -> None:
    squared = between(points(1))
    places, _ = place(squared)
    expected = ClassicalMDS(n_components=2, metric="precomputed").fit_transform(np.sqrt(squared))
    np.testing.assert_allclose(np.abs(places), np.abs(expected), atol=1e-5)
    np.testing.assert_allclose(between(places), between(expected), atol=1e-3)


def test_a_plane_is_found_again_with_all_of_its_variance() -> None:
    squared = between(points(2, dimensions=2))
    places, variance = place(squared)
    np.testing.assert_allclose(between(places), squared, atol=1e-3)
    assert sum(variance) == pytest.approx(1)
    assert variance[0] > variance[1]


def test_shares_of_variance_are_those_of_principal_components() -> None:
    cloud = points(3)
    of_all = np.linalg.eigvalsh(np.cov(cloud.T))[::-1]
    _, variance = place(between(cloud))
    assert variance == pytest.approx(tuple(of_all[:2] / of_all.sum()))


def test_of_both_signs_the_one_with_the_larger_coordinate_above_0() -> None:
    places, _ = place(between(points(4)))
    turned, _ = place(between(-points(4)))
    assert (places == turned).all()
    assert (np.abs(places).max(axis=0) == places.max(axis=0)).all()


def test_raters_who_never_differ_stand_on_one_place() -> None:
    places, variance = place(np.zeros((4, 4)))
    assert not places.any()
    assert variance == (0, 0)


def test_a_pair_without_a_distance_counts_as_unrelated() -> None:
    squared = between(points(5, n=200))
    known = np.ones_like(squared, dtype=bool)
    np.fill_diagonal(known, False)
    known[0, 1] = known[1, 0] = False
    filled = squared_distances(squared, known)
    means = filled.mean(axis=0)
    centred = -0.5 * (filled - means[:, None] - means + means.mean())
    assert abs(centred[0, 1]) < 0.01 * np.abs(np.diag(centred)).mean()
    filled[0, 1] = filled[1, 0] = squared[0, 1]
    np.testing.assert_array_equal(filled, squared)


def test_strays_are_left_out_and_the_rest_is_kept_in_any_order() -> None:
    """60 raters of all items, and 70 of few: those lack most, though they are more than half."""
    common = np.zeros((130, 130), np.int32)
    common[:60, :60] = 50
    common[60:, 60:] = np.random.default_rng(1).integers(0, 5, (70, 70))
    common = np.tril(common, -1) + np.tril(common, -1).T
    assert connected(common).tolist() == list(range(60))
    order = np.random.default_rng(2).permutation(130)
    assert sorted(order[connected(common[np.ix_(order, order)])]) == list(range(60))


@pytest.mark.parametrize(("share", "left"), [(5, 12), (4, 0)])
def test_a_distance_takes_five_answers(share: int, left: int) -> None:
    common = np.full((12, 12), share, np.int32)
    np.fill_diagonal(common, 0)
    assert connected(common).size == left


def test_batches_that_share_nothing_have_no_map() -> None:
    common = np.kron(np.eye(10, dtype=np.int32), np.full((8, 8), 30, np.int32))
    np.fill_diagonal(common, 0)
    assert connected(common).size == 0
