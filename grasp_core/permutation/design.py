"""A run's data laid out for the kernel: built once, then only read."""

from __future__ import annotations

import functools
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from grasp_core.annotations import Annotations, Int64Array, Raters
from grasp_core.groups import Grouping
from grasp_core.permutation.draw import TIES_STREAM, random_words, stratify
from grasp_core.permutation.kernel import crossed, sparse
from grasp_core.permutation.kernel.arguments import (
    Conventions,
    Counting,
    Labels,
    Pairs,
    Rows,
    Tables,
    weigh_pairs,
)
from grasp_core.permutation.kernel.crossed import Crossed
from grasp_core.permutation.kernel.profiles import rows_by_column
from grasp_core.permutation.kernel.sparse import Sparse
from grasp_core.permutation.kernel.sums import n_sums
from grasp_core.spec import AnalysisSpec, Level
from grasp_core.statistics.distance import category_values

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
    which add nothing to any sum. The named tuples are described in
    :mod:`~grasp_core.permutation.kernel.arguments`.

    Parameters
    ----------
    rows : Rows
    order, bounds : int64 arrays
        Raters by stratum, see :func:`~grasp_core.permutation.draw.stratify`.
    ties : int32 or int64 (blocks, 2, K, width)
    shift : int
    dense : bool
        Whether annotations are held as `bits` too.
    bits : uint64 (blocks, K, W, width)
    labels : Labels
    tables : Tables
    paper : bool
        Cross-negentropy by the paper's convention.
    level : {"nominal", "ordinal", "interval", "ratio"}
    pairs : Pairs
    crossed : Crossed, optional
    sparse : Sparse, optional
        One of the two where statistics are looked up instead of being computed from counts.
    """

    rows: Rows
    order: Int64Array
    bounds: Int64Array
    ties: npt.NDArray[np.signedinteger[Any]]
    shift: int
    dense: bool
    bits: npt.NDArray[np.uint64]
    labels: Labels
    tables: Tables
    paper: bool
    level: Level
    pairs: Pairs
    crossed: Crossed | None
    sparse: Sparse | None

    def __post_init__(self) -> None:
        # As those of annotations are, wherever a design comes from: compiled code is told apart by it.
        for array in (self.labels.rater, self.labels.category):
            array.flags.writeable = False

    @property
    def n_groups(self) -> int:
        """G."""
        return int(self.rows.known_of.size)

    @property
    def n_categories(self) -> int:
        """K."""
        return int(self.ties.shape[2])

    @property
    def counting(self) -> Counting:
        """Arrays that counts are made from."""
        return Counting(self.rows, self.dense, self.bits, self.labels, self.ties)

    @property
    def conventions(self) -> Conventions:
        """Weights of what is counted on an item."""
        return Conventions(self.tables, self.pairs, self.level == "nominal", self.paper, self.shift)

    @property
    def n_sums(self) -> int:
        """S, the sums over items of a group; see :mod:`~grasp_core.permutation.kernel.sums`."""
        return n_sums(self.pairs, self.n_categories)

    def arrays(self) -> dict[str, Any]:
        """Arrays and numbers by name, from which :meth:`of_arrays` makes the design again."""
        found: dict[str, Any] = {}
        for name in self.__slots__:
            value = getattr(self, name)
            if isinstance(value, tuple):
                found |= {f"{name}.{field}": part for field, part in value._asdict().items()}  # type: ignore[attr-defined]
            elif value is not None:
                found[name] = value
        return found

    @classmethod
    def of_arrays(cls, arrays: Mapping[str, Any]) -> Design:
        """The design of :meth:`arrays`, whose numbers may have become arrays without axes."""
        found = {name: value.item() if np.ndim(value) == 0 else value for name, value in arrays.items()}
        plain = {name: value for name, value in found.items() if "." not in name}
        for name, kind in _NAMED.items():
            here = f"{name}.{kind._fields[0]}" in found
            plain[name] = kind(*(found[f"{name}.{field}"] for field in kind._fields)) if here else None
        return cls(**plain)


class Membership:
    """Raters and groups laid out: what designs of the same raters, groups and strata share.

    Parameters
    ----------
    raters : Raters
    grouping : Grouping
    spec : AnalysisSpec
    """

    def __init__(self, raters: Raters, grouping: Grouping, spec: AnalysisSpec) -> None:
        ptr, of = rows_by_column(np.concatenate([grouping.known, grouping.member]))
        known_of = grouping.known_of.astype(np.int64)
        self.rows = Rows(ptr, of.astype(np.int32), len(grouping.known), known_of)
        strata = None if spec.strata is None else raters.axes[spec.strata]
        self.order, self.bounds = stratify(strata, grouping.member.shape[1])
        self.grouping = grouping

    @functools.cached_property
    def profiled(self) -> sparse.Profiled | None:
        """For sparse data."""
        return sparse.profiled(self.grouping)


_NAMED: dict[str, Any] = {
    "rows": Rows,
    "labels": Labels,
    "tables": Tables,
    "pairs": Pairs,
    "crossed": Crossed,
    "sparse": Sparse,
}


def tie_ranks(ties: str, seed: int, n_items: int, n_categories: int, first_item: int = 0) -> Int64Array:
    """Ranks that decide between tied categories, for the group's side and the others' side.

    Parameters
    ----------
    ties : {"first", "random"}
        "first": the first category in declared order wins. "random": one order per item and side, drawn
        once from the run's seed.
    seed, n_items, n_categories : int
    first_item : int
        Place of the first item in the whole data.

    Returns
    -------
    int64 array, shape (2, I, K)
        Among tied categories the one of highest rank wins.
    """
    if ties == "first":
        shape = (2, n_items, n_categories)
        return np.broadcast_to(np.arange(n_categories)[::-1], shape).astype(np.int64)
    each = 2 * n_categories
    words = random_words(seed, TIES_STREAM, n_items * each, first=first_item * each)
    by_item = words.reshape(n_items, 2, n_categories)
    return by_item.argsort(axis=2, kind="stable").argsort(axis=2, kind="stable").transpose(1, 0, 2)


def build_design(
    annotations: Annotations,
    raters: Raters,
    grouping: Grouping,
    spec: AnalysisSpec,
    *,
    dense: bool | None = None,
    tables: bool | None = None,
    first_item: int = 0,
    membership: Membership | None = None,
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
    tables : bool, optional
        False: compute every statistic from the counts; by default tables are used where they are faster.
    first_item : int
        Place of the first item in the whole data, of which `annotations` may be a part.
    membership : Membership, optional
        Of these raters, groups and strata, where it is at hand from another part.

    Returns
    -------
    Design
    """
    membership = membership or Membership(raters, grouping, spec)
    rows = membership.rows
    most = int(np.diff(annotations.indptr).max(initial=0))
    shift = max(annotations.n_categories - 1, 1).bit_length()
    ranks = tie_ranks(spec.ties, spec.seed, annotations.n_items, annotations.n_categories, first_item)
    blocks = max(-(-annotations.n_items // ITEM_BLOCK), 1)
    width = -(-annotations.n_items // blocks)
    empty = blocks * width - annotations.n_items
    pairs = weigh_pairs(spec.level, category_values(annotations.categories, spec.level))
    tabled = None
    if tables is not False and dense is not False:
        tabled = crossed.lay_out(annotations, grouping, pairs, width)
    if dense is None:
        n_rows = rows.n_known + rows.known_of.size
        dense = tabled is not None or _dense_is_faster(
            annotations, n_rows, rows.of.size / max(annotations.n_raters, 1)
        )
    in_tables = tables is not False and not dense
    return Design(
        rows=rows,
        order=membership.order,
        bounds=membership.bounds,
        ties=_pack_ties(ranks, shift, most, blocks),
        shift=shift,
        dense=dense,
        bits=_bit_sets(annotations, blocks, width) if dense else np.zeros((blocks, 0, 0, 0), dtype=np.uint64),
        labels=Labels(
            np.pad(annotations.indptr, (0, empty), mode="edge"), annotations.rater, annotations.category
        ),
        tables=_tables(most, annotations.n_categories, paper=spec.cross_negentropy == "paper"),
        paper=spec.cross_negentropy == "paper",
        level=spec.level,
        pairs=pairs,
        crossed=tabled,
        sparse=sparse.lay_out(annotations, membership.profiled) if in_tables else None,
    )


def _pack_ties(ranks: Int64Array, shift: int, most: int, blocks: int) -> npt.NDArray[np.signedinteger[Any]]:
    """``rank << shift | k`` by block; where it suffices, in the type that counts are fastest in."""
    _, n_items, n_categories = ranks.shape
    counter = np.int32 if max(most << 2 * shift, most**2) < 2**31 else np.int64
    packed = (ranks << shift | np.arange(n_categories)).astype(counter)
    packed = np.pad(packed, ((0, 0), (0, -n_items % blocks), (0, 0)))
    return np.ascontiguousarray(packed.reshape(2, blocks, -1, n_categories).transpose(1, 0, 3, 2))


def _tables(most: int, n_categories: int, *, paper: bool) -> Tables:
    n = np.arange(most + 1, dtype=np.float64)
    log = np.log(np.maximum(n, 1))
    if paper:
        return Tables(n * log, log, log, log)
    return Tables(n * log, log, np.log(n + 0.5), np.log(n + n_categories / 2))


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
