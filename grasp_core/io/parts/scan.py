"""The scan of one part of a partitioned data set, made in a worker."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd
import pyarrow as pa

from grasp_core.data_spec import DataSpec
from grasp_core.io.dataset.contents import Contents
from grasp_core.io.parts.codes import PartCodes
from grasp_core.io.parts.numbering import Hashes
from grasp_core.io.parts.partitions import Part, Parts
from grasp_core.io.parts.rows import read_part


@dataclass(frozen=True, slots=True)
class ScanTask:
    """A part, by its number, that is to be read; its codes are kept in the workplace."""

    parts: Parts
    number: int
    spec: DataSpec
    excluded: pa.Array
    place: str

    @property
    def part(self) -> Part:
        """The part itself."""
        return self.parts.parts[self.number]


@dataclass(frozen=True, slots=True, eq=False)
class Scan:
    """The content of one part, counted.

    Parameters
    ----------
    contents : Contents
    sha256 : tuple of str
        Of each file.
    item_hashes : uint64 array
        Of all items' ids, ascending.
    rater_hashes : uint64 array, shape (J,)
        Of the ids of the contents' raters.
    """

    contents: Contents
    sha256: tuple[str, ...]
    item_hashes: Hashes
    rater_hashes: Hashes


def scan_part(task: ScanTask) -> Scan:
    """Read one part; in a worker."""
    rows = read_part(task.parts, task.part, task.spec, task.excluded)
    for question, codes in enumerate(PartCodes.of(rows.sieves)):
        codes.keep(task.place, task.number, question)
    votes = rows.sieves[0].votes
    return Scan(
        Contents.of(rows.sieves, task.spec, rows.seen, rows.notes),
        rows.sha256,
        np.unique(hashes_of(votes.item_ids)),
        hashes_of(votes.rater_ids),
    )


def hashes_of(ids: Sequence[str]) -> Hashes:
    """A hash of each id, shape (n,), the same in every process."""
    hashes: Hashes = pd.util.hash_array(np.array(ids, dtype=object), categorize=False)
    return hashes
