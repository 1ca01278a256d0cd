"""Raters numbered through parts in order of first appearance, whatever their hashes."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest

from grasp_core.io.parts.numbering import Numbering
from grasp_core.io.parts.scan import hashes_of

PARTS = (["b", "a"], ["c", "a"], ["d", "b", "c", "e"], [], ["a", "f"])


@pytest.mark.parametrize("distinct", [2**64 - 1, 3, 1], ids=["all differ", "some collide", "all collide"])
def test_raters_are_numbered_as_they_first_appear(distinct: int) -> None:
    numbering, known = Numbering(), dict[str, int]()
    for ids in PARTS:
        expected = [known.setdefault(one, len(known)) for one in ids]
        hashes = hashes_of(ids) % np.uint64(distinct)
        assert numbering.places(pa.array(ids, pa.string()), hashes).tolist() == expected
    assert numbering.ids.to_pylist() == list(known)


def test_a_new_rater_with_a_known_ones_hash_is_another_one() -> None:
    numbering, same = Numbering(), np.array([7], np.uint64)
    found = [numbering.places(pa.array([one]), same).tolist() for one in ("a", "b", "a", "b")]
    assert found == [[0], [1], [0], [1]]
