"""The scan of one part of a partitioned data set, made in a worker."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import pandas as pd
import pyarrow as pa

from grasp_core.data_spec import DataSpec
from grasp_core.io.dataset.contents import Contents
from grasp_core.io.parts.codes import PartCodes
from grasp_core.io.parts.partitions import Part, Parts
from grasp_core.io.parts.rows import read_part
from grasp_core.io.sources import remote

Hashes = npt.NDArray[np.uint64]

_PIECE = 1 << 22


@dataclass(frozen=True, slots=True)
class ScanTask:
    """A part, by its number, that is to be read; its codes are kept in a workplace, if there is one."""

    parts: Parts
    number: int
    spec: DataSpec
    excluded: pa.Array
    place: str | None

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
    """

    contents: Contents
    sha256: tuple[str, ...]
    item_hashes: Hashes


def scan_part(task: ScanTask) -> Scan:
    """Read one part; in a worker."""
    rows = read_part(task.parts, task.part, task.spec, task.excluded)
    if task.place is not None:
        for question, codes in enumerate(PartCodes.of(rows.sieves)):
            codes.keep(task.place, task.number, question)
    return Scan(
        Contents.of(rows.sieves, task.spec, rows.seen, rows.notes),
        tuple(_sha256(task.parts, file.path) for file in task.part.files),
        np.unique(item_hashes(rows.sieves[0].votes.item_ids)),
    )


def item_hashes(item_ids: Sequence[str]) -> Hashes:
    """A hash of each id, shape (n,), the same in every process."""
    hashes: Hashes = pd.util.hash_array(np.array(item_ids, dtype=object), categorize=False)
    return hashes


def _sha256(parts: Parts, path: str) -> str:
    shown = f"{parts.name}/{path}"
    files, root = remote.file_system(parts.source)
    with remote.in_sentences(path, shown), files.open(f"{root}/{path}", "rb") as file:
        whole = hashlib.sha256()
        while piece := file.read(_PIECE):
            whole.update(piece)
        return whole.hexdigest()
