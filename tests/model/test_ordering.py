"""Codes in order: by item, then by rater, whatever their types and however many ranges of items it takes."""

import numpy as np
import pytest

from grasp_core.model.annotations import (
    PIECE,
    Annotations,
    in_pieces,
    positions_by,
    sorted_codes,
    sorted_keys,
    tallied,
)


@pytest.mark.parametrize("kind", [np.int8, np.uint8, np.int64, np.uint64])
@pytest.mark.parametrize("size", [0, 1, 90])
def test_codes_of_any_type_are_put_in_order(kind, size):
    rng = np.random.default_rng(size)
    pair = rng.permutation(90)[:size]
    codes = {"item": pair // 9, "rater": pair % 9, "category": rng.integers(0, 3, size)}
    ids = {"item_ids": "abcdefghij", "rater_ids": "rstuvwxyz", "categories": "KLM"}
    found = Annotations.from_codes(**{name: values.astype(kind) for name, values in codes.items()}, **ids)
    order = np.lexsort((codes["rater"], codes["item"]))
    assert found.item.tolist() == codes["item"][order].tolist()
    assert found.rater.tolist() == codes["rater"][order].tolist()
    assert found.category.tolist() == codes["category"][order].tolist()
    assert found.rater.dtype == found.category.dtype == np.int32


def test_many_annotations_are_sorted_a_range_of_items_at_a_time():
    rng = np.random.default_rng(1)
    cell = rng.permutation(3 * PIECE)
    item, rater = cell % 70_000, cell // 70_000
    label = rng.integers(0, 4, cell.size)
    item[::5] = -1  # left out
    counts = item >= 0
    per_item = tallied(item[counts], 70_000)

    def pieces():
        return in_pieces([item, rater, label])

    found = sorted_codes(pieces, per_item, 12, 4)
    order = np.lexsort((rater[counts], item[counts]))
    assert np.array_equal(found[0], rater[counts][order])
    assert np.array_equal(found[1], label[counts][order])
    sizes = [keys.size for _, keys in sorted_keys(pieces, per_item, (12, 4))]
    assert sum(sizes) == counts.sum()
    assert max(sizes) <= PIECE


def test_numbers_that_stand_for_annotations_never_grow_too_wide():
    most = 2**31 - 1
    item, rater, label = (
        np.array([3, 0, 3, 1]),
        np.array([most - 1, 5, 7, most - 1]),
        np.array([2, 1, 0, most - 1]),
    )
    found = sorted_codes(lambda: [(item, rater, label)], tallied(item, 4), most, most)
    assert found[0].tolist() == [5, most - 1, 7, most - 1]
    assert found[1].tolist() == [1, most - 1, 0, 2]


@pytest.mark.parametrize("size", [0, 1, 1000])
def test_positions_of_equal_codes_stay_in_their_order(size):
    codes = np.random.default_rng(size).integers(0, 30, size).astype(np.int32)
    assert positions_by(codes).tolist() == np.argsort(codes, kind="stable").tolist()
