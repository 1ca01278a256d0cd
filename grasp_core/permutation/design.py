"""Designs: a run's data as arrays for the kernel, built once and then only read."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from grasp_core.model.annotations import Annotations, Int64Array, Raters
from grasp_core.model.groups import Grouping
from grasp_core.model.spec import AnalysisSpec
from grasp_core.permutation.draw import TIES_STREAM, random_words
from grasp_core.permutation.kernel import crossed as crossed_layout
from grasp_core.permutation.kernel import digits_layout, local_layout, sparse_layout
from grasp_core.permutation.kernel.arguments import (
    Conventions,
    Counting,
    Distances,
    Labels,
    Rows,
    Tables,
    distances_between,
    tables_of,
)
from grasp_core.permutation.kernel.crossed import Crossed
from grasp_core.permutation.kernel.digits_layout import Digits
from grasp_core.permutation.kernel.label_use import OfRaters, given_by, of_raters
from grasp_core.permutation.kernel.local_layout import Local, counter_for, shift_for
from grasp_core.permutation.kernel.profiles import Membership
from grasp_core.permutation.kernel.sparse_layout import Sparse
from grasp_core.permutation.kernel.sums import n_sums
from grasp_core.permutation.uncompiled import Further
from grasp_core.statistics.levels import category_values

WORD = 64
MOST_PAIRED = 12
"""Most categories for which all pairs, and all sums at an item, are computed."""

MOST_WITH_UNKNOWN = 5
"""Most categories for which tables of counts pay off if some raters' values are unknown."""

_DENSE_COST, _SPARSE_COST = 0.1, 1.2
_MANY_DENSE_COST, _DIGITS_COST = 2.4, 5.5
"""Nanoseconds per rater word and per annotation and row, measured; only their ratio matters. With many
nominal categories, terms from counts cost more than the counts, and the alternative is digits."""


class Way(NamedTuple):
    """The way to add up sums: one of three layouts, `local` with or without digits, or from all counts."""

    distances: Distances
    dense: bool
    crossed: Crossed | None = None
    sparse: Sparse | None = None
    local: Local | None = None
    digits: Digits | None = None

    @property
    def by_rater(self) -> bool:
        """True if label use is summed over raters' own terms, not over items."""
        if self.local is not None:
            return not self.local.by_item
        return self.sparse is not None and not self.sparse.unknown


def choose(
    annotations: Annotations,
    membership: Membership,
    spec: AnalysisSpec,
    width: int,
    *,
    dense: bool | None,
    tables: bool | None,
) -> Way:
    """Return the first way that fits; `width` is that of a block, for the rest see :func:`build_design`."""
    n_categories, grouping = annotations.n_categories, membership.grouping
    values = category_values(annotations.categories, spec.level)
    few = n_categories <= MOST_PAIRED or tables is False
    paired = distances_between(spec.level, values, paired=few or dense is True)
    if tables is not False and dense is not False and few and membership.keeps_sizes:
        kappa = spec.voting_agreement == "kappa"
        found = crossed_layout.lay_out(annotations, grouping, paired, width, kappa=kappa)
        if found is not None:
            return Way(paired, True, crossed=found)
    by_pairs = spec.level in ("ordinal", "ratio") and not few
    many = not few and spec.level == "nominal"
    if dense or (dense is None and not by_pairs and _dense_is_faster(annotations, grouping, many=many)):
        return Way(paired, True)
    remembers = few and (grouping.known.all() or n_categories <= MOST_WITH_UNKNOWN or tables is False)
    if tables is not False and remembers and grouping.groups:
        remembered = sparse_layout.lay_out(annotations, membership.profiled)
        if remembered is not None:
            return Way(paired, False, sparse=remembered)
    if tables is not False and annotations.n_annotations and grouping.groups:
        distances = distances_between(spec.level, values, paired=False)
        laid_out = local_layout.lay_out(annotations, membership.profiled, spec)
        digits = digits_layout.lay_out(laid_out) if spec.level == "nominal" else None
        return Way(distances, False, local=laid_out, digits=digits)
    return Way(paired, False)


def _dense_is_faster(annotations: Annotations, grouping: Grouping, *, many: bool) -> bool:
    each_word, each_row = (_MANY_DENSE_COST, _DIGITS_COST) if many else (_DENSE_COST, _SPARSE_COST)
    words = -(-annotations.n_raters // WORD)
    n_rows = len(grouping.known) + len(grouping.groups)
    rows_per_rater = (grouping.known.sum() + grouping.member.sum()) / max(annotations.n_raters, 1)
    dense = each_word * n_rows * annotations.n_categories * words * annotations.n_items
    return bool(dense < each_row * annotations.n_annotations * rows_per_rater)


ITEM_BLOCK = 512
"""Most items per block, so that the counts and sums of one group fit into a cache of 32 KiB."""
MOST_LABELS_USED = 100
"""Most labels of a question for which label use is computed."""


@dataclass(frozen=True, slots=True, eq=False)
class Design:
    """Arrays that the kernel reads.

    Items are in blocks of equal `width`. The last block is filled up with items that nobody rated, which add
    nothing to any sum. :mod:`~grasp_core.permutation.kernel.arguments` describes the named tuples.

    `n_categories`: K.
    `order`, `bounds`: steps of the shuffle, see :class:`~grasp_core.permutation.draw.Exchange`.
    `dense`: true if annotations are also in `bits`.
    `paper`: true if cross-negentropy follows the paper's convention.
    `kappa`: true if voting agreement has the form of kappa.
    `crossed`, `sparse`, `local`: at most one of them, the layout for adding up sums; without one, sums come
        from the counts of all groups and categories. `local` contains annotations and ties itself.
    `digits`: distribution of the labels of `local` among numbers, if their counts are looked up.
    `further`: statistics that kernels lack, whose sums follow the others.
    `of_raters`, `given`: raters' terms in their group's label use, if `sparse` and `local` do not have them;
        and the number of labels of each category that they gave, if there are `digits`.
    """

    n_categories: int
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
    kappa: bool
    distances: Distances
    crossed: Crossed | None
    sparse: Sparse | None
    local: Local | None
    digits: Digits | None
    of_raters: OfRaters | None
    given: OfRaters | None
    further: Further | None

    def __post_init__(self) -> None:
        # Read-only as in annotations, wherever a design comes from: Numba compiles anew for writeable arrays.
        for array in (self.labels.rater, self.labels.category):
            array.flags.writeable = False

    @property
    def n_groups(self) -> int:
        """Number of groups, G."""
        return int(self.rows.known_of.size)

    @property
    def counting(self) -> Counting:
        """Arrays for making counts."""
        return Counting(self.rows, self.dense, self.bits, self.labels, self.ties)

    @property
    def conventions(self) -> Conventions:
        """Weights and conventions for the counts on an item."""
        return Conventions(self.tables, self.distances, self.paper, self.kappa, self.shift)

    @property
    def n_labels_used(self) -> int:
        """Number of labels whose use is computed: all, or none if there are too many."""
        return self.n_categories if self.n_categories <= MOST_LABELS_USED else 0

    @property
    def n_further(self) -> int:
        """Number of statistics that kernels lack, F."""
        return 0 if self.further is None else self.further.asked.size

    @property
    def n_counted(self) -> int:
        """Number of sums per group that kernels compute; see :mod:`~grasp_core.permutation.kernel.sums`."""
        return n_sums(self.distances, self.n_categories, kappa=self.kappa)

    @property
    def n_sums(self) -> int:
        """Number of all sums per group, S."""
        return self.n_counted + (sum(self.further.sizes(self.n_categories)) if self.further else 0)


def tie_ranks(annotations: Annotations, spec: AnalysisSpec) -> Int64Array:
    """Return ranks of categories, (2, I, K), for both sides: of tied categories, the highest rank wins.

    With `ties` "random" they are :func:`drawn_ranks`, whatever labels' names; with "first", declared order.
    """
    n_items, k = annotations.n_items, annotations.n_categories
    if spec.ties == "first":
        return first_ranks(n_items, k)
    first = np.tile(annotations.n_raters + np.arange(k), (n_items, 1))  # last: labels it does not have
    cell = annotations.item.astype(np.int64) * k + annotations.category
    np.minimum.at(first.reshape(-1), cell, annotations.rater.astype(np.int64))  # equal types are far faster
    return drawn_ranks(spec.seed, first.argsort(axis=1).argsort(axis=1))


def first_ranks(n_items: int, n_categories: int) -> Int64Array:
    """Return ranks by which the first category wins, shape (2, I, K)."""
    return np.tile(np.arange(n_categories)[::-1], (2, n_items, 1)).astype(np.int64)


def drawn_ranks(seed: int, places: Int64Array) -> Int64Array:
    """Draw ranks, (2, I, K), once for each item, from its categories' places by first raters, (I, K)."""
    n_items, k = places.shape
    words = random_words(seed, TIES_STREAM, n_items * k).reshape(n_items, k)
    ranks = np.take_along_axis(words, places, axis=1).argsort(axis=1, kind="stable").argsort(axis=1)
    return np.stack([ranks, ranks])


def build_design(
    annotations: Annotations,
    raters: Raters,
    grouping: Grouping,
    spec: AnalysisSpec,
    *,
    dense: bool | None = None,
    tables: bool | None = None,
    membership: Membership | None = None,
    lacking: Further | None = None,
) -> Design:
    """Build the kernel's arrays from data, groups and conventions.

    `raters`: in the order of ``annotations.rater_ids``.
    `dense`: count by bit sets (True) or annotation by annotation (False); by default the faster way for data
        of this shape. Both give the same counts.
    `tables`: if false, count every group and category and compute all statistics from these counts; by
        default the faster way.
    `membership`: membership of these raters in groups and strata, if known from another question.
    `lacking`: statistics that the kernel lacks, to be counted besides.
    """
    membership = membership or Membership(raters, grouping, spec)
    blocks = max(-(-annotations.n_items // ITEM_BLOCK), 1)
    shape = (blocks, -(-annotations.n_items // blocks))
    way = choose(annotations, membership, spec, shape[1], dense=dense, tables=tables)
    most = int(np.diff(annotations.indptr).max(initial=0))
    paper = spec.cross_negentropy == "paper"
    shift = shift_for(annotations.n_categories) if way.local is None else way.local.shift
    return Design(
        n_categories=annotations.n_categories,
        rows=membership.rows,
        order=membership.order,
        bounds=membership.bounds,
        ties=_ties(annotations, spec, shape, shift, most, none=way.local is not None),
        shift=shift,
        dense=way.dense,
        bits=_bit_sets(annotations, shape) if way.dense else np.zeros((shape[0], 0, 0, 0), dtype=np.uint64),
        labels=_labels(annotations, shape, none=way.local is not None and lacking is None),
        tables=tables_of(most, annotations.n_categories, paper=paper),
        paper=paper,
        kappa=spec.voting_agreement == "kappa",
        distances=way.distances,
        crossed=way.crossed,
        sparse=way.sparse,
        local=way.local,
        digits=way.digits,
        of_raters=of_raters(annotations) if way.by_rater else None,
        given=given_by(annotations) if way.digits is not None else None,
        further=lacking,
    )


def _labels(annotations: Annotations, shape: tuple[int, int], *, none: bool) -> Labels:
    """Return annotations by item; empty arrays if another layout has them."""
    if none:
        return Labels(np.zeros(1, dtype=np.int64), annotations.rater[:0], annotations.category[:0])
    empty = shape[0] * shape[1] - annotations.n_items
    indptr = np.pad(annotations.indptr, (0, empty), mode="edge")
    return Labels(indptr, annotations.rater, annotations.category)


def _ties(
    annotations: Annotations,
    spec: AnalysisSpec,
    shape: tuple[int, int],
    shift: int,
    most: int,
    *,
    none: bool,
) -> npt.NDArray[np.signedinteger[Any]]:
    """Return ``rank << shift | k`` by block, in the smallest type that is wide enough for the counts."""
    if none:
        return np.zeros((shape[0], 2, 0, shape[1]), dtype=np.int32)
    n_items, n_categories = annotations.n_items, annotations.n_categories
    ranks = tie_ranks(annotations, spec)
    packed = (ranks << shift | np.arange(n_categories)).astype(counter_for(most, shift))
    packed = np.pad(packed, ((0, 0), (0, -n_items % shape[0]), (0, 0)))
    return np.ascontiguousarray(packed.reshape(2, shape[0], -1, n_categories).transpose(1, 0, 3, 2))


def _bit_sets(annotations: Annotations, shape: tuple[int, int]) -> npt.NDArray[np.uint64]:
    words = -(-annotations.n_raters // WORD)
    bits = np.zeros((shape[0], annotations.n_categories, words, shape[1]), dtype=np.uint64)
    block, item = np.divmod(annotations.item, shape[1])
    bit = np.uint64(1) << (annotations.rater % WORD).astype(np.uint64)
    word = np.ravel_multi_index((block, annotations.category, annotations.rater // WORD, item), bits.shape)
    np.bitwise_or.at(bits.reshape(-1), word, bit)
    return bits
