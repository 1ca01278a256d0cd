"""What one part of a partitioned data set holds; read in a worker."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import fsspec
import numpy as np
import numpy.typing as npt
import pandas as pd
import pyarrow as pa

from grasp_core.annotations import Codes
from grasp_core.data_spec import DataSpec
from grasp_core.errors import Problem
from grasp_core.io import remote
from grasp_core.io.columns import near_duplicates
from grasp_core.io.part_codes import PartCodes
from grasp_core.io.part_rows import read_part
from grasp_core.io.partitions import Part, Parts
from grasp_core.io.problems import EXAMPLES, quoted

Hashes = npt.NDArray[np.uint64]

_PIECE = 1 << 22


@dataclass(frozen=True, slots=True)
class ScanTask:
    """A part that is to be read; its codes are kept at `place`, if there is one."""

    parts: Parts
    part: Part
    spec: DataSpec
    excluded: pa.Array
    place: Path | None


@dataclass(frozen=True, slots=True, eq=False)
class Scan:
    """What one part holds.

    Parameters
    ----------
    sha256 : tuple of str
        Of each file.
    rater_ids : pyarrow array of str, length R
        Of all rows, in order of first appearance.
    before, after : int arrays, shape (R,)
        Each rater's labelled annotations, and those that count.
    labels : mapping from label to annotations that count
    per_item : int array
        Items by their number of annotations.
    gone_items, empty_items : int
        Items that lost all annotations by exclusion, and that have none that counts though nobody excluded
        them.
    empty_examples : tuple of str
    item_hashes : uint64 array
        Of all items' ids, ascending.
    problems : tuple of (kind, Problem)
    """

    sha256: tuple[str, ...]
    rater_ids: pa.Array
    before: Codes
    after: Codes
    labels: dict[str, int]
    per_item: Codes
    gone_items: int
    empty_items: int
    empty_examples: tuple[str, ...]
    item_hashes: Hashes
    problems: tuple[tuple[str, Problem], ...]


def scan_part(task: ScanTask) -> Scan:
    """Read one part; in a worker."""
    tally, problems = read_part(task.parts, task.part, task.spec, task.excluded)
    votes = tally.votes
    codes = PartCodes.of(votes)
    if task.place is not None:
        codes.keep(task.place)
    n_items, n_raters = len(votes.item_ids), len(votes.rater_ids)
    per_item = np.bincount(votes.item, minlength=n_items)
    after = np.bincount(votes.rater, minlength=n_raters)
    given = np.bincount(votes.label, minlength=len(votes.labels))
    empty = np.flatnonzero((per_item == 0) & ~tally.gone_items)
    before = tally.steps[0][1] if tally.steps else after
    where = f"{task.parts.name_of(task.part)}, column {quoted(str(task.spec.item))}"
    alike = near_duplicates(where, dict.fromkeys(votes.item_ids, 1), fold_case=False)
    return Scan(
        sha256=tuple(_sha256(task.parts, file.path) for file in task.part.files),
        rater_ids=codes.rater_ids,
        before=before,
        after=after,
        labels={votes.labels[code]: int(given[code]) for code in np.flatnonzero(given)},
        per_item=np.bincount(per_item[per_item > 0], minlength=1),
        gone_items=int(tally.gone_items.sum()),
        empty_items=empty.size,
        empty_examples=tuple(votes.item_ids[i] for i in empty[:EXAMPLES]),
        item_hashes=np.unique(item_hashes(votes.item_ids)),
        problems=(*problems, *(("alike", problem) for problem in alike)),
    )


def item_hashes(item_ids: Sequence[str]) -> Hashes:
    """A hash of each id, the same in every process."""
    hashes: Hashes = pd.util.hash_array(np.array(item_ids, dtype=object), categorize=False)
    return hashes


def _sha256(parts: Parts, path: str) -> str:
    shown = f"{parts.name}/{path}"
    files, root = fsspec.core.url_to_fs(parts.source)
    with remote.in_sentences(path, shown), files.open(f"{root}/{path}", "rb") as file:
        whole = hashlib.sha256()
        while piece := file.read(_PIECE):
            whole.update(piece)
        return whole.hexdigest()
