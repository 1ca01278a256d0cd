"""A run's data laid out for the kernel: built once, then only read."""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from grasp_core.annotations import Annotations, FloatArray, IntArray, OffsetArray, Raters
from grasp_core.groups import Grouping
from grasp_core.permutation.shuffle import TIES_STREAM, random_words, stratify
from grasp_core.spec import AnalysisSpec

WORD = 64
ITEM_BLOCK = 512
"""Most items per block: the counts and sums of one group then fit a 32 KiB cache."""

_DENSE_COST = 0.1
_SPARSE_COST = 1.2
"""Nanoseconds per rater word and per annotation and row, measured; only their ratio matters."""


@dataclass(frozen=True, slots=True, eq=False)
class Design:
    """Arrays that the kernel reads.

    Items are cut into blocks of equal `width`; the last block is filled up with items that nobody rated,
    which add nothing to any sum. *Rows* are sets of raters that are counted: first the H sets whose values
    are known (the whole that a complement is taken from), then the G groups.

    Parameters
    ----------
    row_ptr, row_of : int64 (J + 1,), int32
        The rows that rater j's profile belongs to: ``row_of[row_ptr[j]:row_ptr[j + 1]]``, ascending.
    known_of : int64 (G,)
        For each group the row that its complement is taken from.
    n_known : int
        H.
    order, bounds : int64 arrays
        Raters by stratum, see :func:`~grasp_core.permutation.shuffle.stratify`.
    ties : int32 or int64 (blocks, 2, K, width)
        For the group's and the others' side: ``rank << shift | k``, the rank deciding ties.
    shift : int
        Bits that hold a category.
    dense : bool
        Whether annotations are held as `bits` (else as `indptr`, `rater`, `category`).
    bits : uint64 (blocks, K, W, width)
        Bit j % 64 of word j // 64: rater j gave the item category k.
    indptr : int64 (blocks * width + 1,)
    rater, category : int32 (A,)
    xlogx, log, log_q, log_m : float64 (most raters per item + 1,)
        x ln x, ln x, and the logarithms of cross-negentropy's numerator and denominator.
    paper : bool
        Cross-negentropy by the paper's convention.
    complete : int
        I where every rater rated every item, so that a group has as many labels on each; else 0.
    """

    n_known: int
    row_ptr: OffsetArray
    row_of: IntArray
    known_of: OffsetArray
    order: OffsetArray
    bounds: OffsetArray
    ties: npt.NDArray[np.signedinteger[Any]]
    shift: int
    dense: bool
    bits: npt.NDArray[np.uint64]
    indptr: OffsetArray
    rater: IntArray
    category: IntArray
    xlogx: FloatArray
    log: FloatArray
    log_q: FloatArray
    log_m: FloatArray
    paper: bool
    complete: int

    @property
    def n_groups(self) -> int:
        """G."""
        return int(self.known_of.size)

    def save(self, path: Path) -> None:
        """Write to an ``.npz`` file that worker processes read."""
        np.savez(
            path, allow_pickle=False, **{f.name: getattr(self, f.name) for f in dataclasses.fields(self)}
        )

    @classmethod
    def load(cls, path: Path) -> Design:
        """Read a file written by :meth:`save`."""
        with np.load(path, allow_pickle=False) as stored:
            arrays = {name: stored[name] for name in stored.files}
        return cls(**{name: array.item() if array.ndim == 0 else array for name, array in arrays.items()})


def tie_ranks(ties: str, seed: int, n_items: int, n_categories: int) -> OffsetArray:
    """Ranks that decide between tied categories, for the group's side and the others' side.

    Parameters
    ----------
    ties : {"first", "random"}
        "first": the first category in declared order wins. "random": one order per item and side, drawn
        once from the run's seed.
    seed, n_items, n_categories : int

    Returns
    -------
    int64 array, shape (2, I, K)
        Among tied categories the one of highest rank wins.
    """
    shape = (2, n_items, n_categories)
    if ties == "first":
        return np.broadcast_to(np.arange(n_categories)[::-1], shape).astype(np.int64)
    words = random_words(seed, TIES_STREAM, 2 * n_items * n_categories).reshape(shape)
    return words.argsort(axis=2, kind="stable").argsort(axis=2, kind="stable")


def build_design(
    annotations: Annotations,
    raters: Raters,
    grouping: Grouping,
    spec: AnalysisSpec,
    *,
    dense: bool | None = None,
) -> Design:
    """Lay data, groups and conventions out for the kernel.

    Parameters
    ----------
    annotations : Annotations
    raters : Raters
        In the order of ``annotations.rater_ids``.
    grouping : Grouping
    spec : AnalysisSpec
    dense : bool, optional
        Count by bit sets (True) or annotation by annotation (False); by default whichever is faster
        for this data's shape. Both give the same counts.

    Returns
    -------
    Design
    """
    rows = np.concatenate([grouping.known, grouping.member])
    by_rater, row_of = np.nonzero(rows.T)
    row_ptr = np.concatenate(([0], np.cumsum(np.bincount(by_rater, minlength=rows.shape[1]))))
    strata = None if spec.strata is None else raters.axes[spec.strata]
    order, bounds = stratify(strata, annotations.n_raters)
    if dense is None:
        dense = _dense_is_faster(annotations, rows.shape[0], row_of.size / max(annotations.n_raters, 1))
    most = int(np.diff(annotations.indptr).max(initial=0))
    shift = max(annotations.n_categories - 1, 1).bit_length()
    counter = np.int32 if max(most << 2 * shift, most**2) < 2**31 else np.int64
    ranks = tie_ranks(spec.ties, spec.seed, annotations.n_items, annotations.n_categories)
    n = np.arange(most + 1, dtype=np.float64)
    log = np.log(np.maximum(n, 1))
    paper = spec.cross_negentropy == "paper"
    blocks = max(-(-annotations.n_items // ITEM_BLOCK), 1)
    width = -(-annotations.n_items // blocks)
    empty = blocks * width - annotations.n_items
    packed = (ranks << shift | np.arange(annotations.n_categories)).astype(counter)
    packed = np.pad(packed, ((0, 0), (0, empty), (0, 0))).reshape(2, blocks, width, annotations.n_categories)
    return Design(
        n_known=len(grouping.known),
        row_ptr=row_ptr.astype(np.int64),
        row_of=row_of.astype(np.int32),
        known_of=grouping.known_of.astype(np.int64),
        order=order,
        bounds=bounds,
        ties=np.ascontiguousarray(packed.transpose(1, 0, 3, 2)),
        shift=shift,
        dense=dense,
        bits=_bit_sets(annotations, blocks, width) if dense else np.zeros((blocks, 0, 0, 0), dtype=np.uint64),
        indptr=np.pad(annotations.indptr, (0, empty), mode="edge"),
        rater=annotations.rater.copy(),  # writable, as in a loaded design: the kernel compiles once
        category=annotations.category.copy(),
        xlogx=n * log,
        log=log,
        log_q=log if paper else np.log(n + 0.5),
        log_m=log if paper else np.log(n + annotations.n_categories / 2),
        paper=paper,
        complete=annotations.n_items
        if annotations.n_annotations == annotations.n_items * annotations.n_raters
        else 0,
    )


def _dense_is_faster(annotations: Annotations, n_rows: int, rows_per_rater: float) -> bool:
    words = -(-annotations.n_raters // WORD)
    dense = _DENSE_COST * n_rows * annotations.n_categories * words * annotations.n_items
    return dense < _SPARSE_COST * annotations.n_annotations * rows_per_rater


def _bit_sets(annotations: Annotations, blocks: int, width: int) -> npt.NDArray[np.uint64]:
    words = -(-annotations.n_raters // WORD)
    bits = np.zeros((blocks, annotations.n_categories, words, width), dtype=np.uint64)
    block, item = np.divmod(annotations.item, width)
    bit = np.uint64(1) << (annotations.rater % WORD).astype(np.uint64)
    np.bitwise_or.at(bits, (block, annotations.category, annotations.rater // WORD, item), bit)
    return bits
