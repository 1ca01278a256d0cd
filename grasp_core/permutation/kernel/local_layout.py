"""Arrays for data with many categories: the labels that each item has, and their counts."""

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from grasp_core.model.annotations import Annotations, BoolArray, Int32Array, Int64Array
from grasp_core.model.spec import AnalysisSpec
from grasp_core.permutation.draw import TIES_STREAM
from grasp_core.permutation.jit import borrowing
from grasp_core.permutation.kernel.counting import words_at
from grasp_core.permutation.kernel.item_terms import CountArray
from grasp_core.permutation.kernel.profiles import Profiled, batch_of


class Counts(NamedTuple):
    """Counts of an item under a pass of permutations.

    `c`: counts of labels that several raters gave, by row and permutation.
    `once`: counts of labels that one rater gave: ``count << shift | position of the highest``.
    `n`: counts of all labels.
    """

    c: CountArray
    once: CountArray
    n: CountArray


@borrowing
def count_item(item, profiles, shift, local, counts, own, from_b, again):  # type: ignore[no-untyped-def]
    """Count the item's labels for every row."""
    here, repeated = profiles.shape[1], local.repeated[item]
    n_rows, first = local.belongs.shape[1], local.label_ptr[item]
    once, n, mask = counts.once, counts.n, (1 << shift) - 1
    size = n_rows * here
    for label in range(repeated):
        counts.c[label, :size] = 0
    once[:size] = 0
    for a in range(local.indptr[item], local.indptr[item + 1]):
        label, who = local.label[a], profiles[local.rater[a]]
        if label < repeated:
            into = counts.c[label]
            for b in range(here):
                for r in range(local.row_ptr[who[b]], local.row_ptr[who[b] + 1]):
                    into[local.row_of[r] * here + b] += 1
        else:
            category = local.category[first + label]
            for b in range(here):
                for r in range(local.row_ptr[who[b]], local.row_ptr[who[b] + 1]):
                    row = local.row_of[r]
                    place = row * here + b
                    once[place] = (once[place] & ~mask) + (1 << shift) | label
                    if not again:
                        own[row, category, from_b + b] += 1
    if not again:
        for label in range(repeated):
            category, c = local.category[first + label], counts.c[label]
            for row in range(n_rows):
                into, added = own[row, category], c[row * here : row * here + here]
                for b in range(here):
                    into[from_b + b] += added[b]
    for u in range(local.union.size):
        into, part = local.union[u] * here, local.part[u] * here
        for label in range(repeated):
            c = counts.c[label]
            for b in range(here):
                c[into + b] += c[part + b]
        for b in range(here):
            x, y = once[into + b], once[part + b]
            once[into + b] = ((x & ~mask) + (y & ~mask)) | max(x & mask, y & mask)
    for i in range(size):
        n[i] = once[i] >> shift
    for label in range(repeated):
        c = counts.c[label]
        for i in range(size):
            n[i] += c[i]


_BATCH_BYTES = 2**20
"""Bytes that whole sums by label may take, unless one pass takes more."""
MOST_ENTRIES = 32
"""Most labels of raters' items, per annotation, with which label use is summed over raters' terms."""
_PASS, _PASS_COUNTS = 32, 2**20
"""Permutations counted at a time, and the most counts of an item that they make, unless one makes more."""
_COLUMNS, _COLUMN_COUNTS = 128, 2**18
"""Counts of a group whose terms are computed at a time, and the most labels that they have in all."""


class Local(NamedTuple):
    """A design's arrays for data that are counted by the labels that an item has.

    An item's L labels are first the labels that several raters gave, then the labels that one rater gave.
    Both parts are in ascending order of the rank that decides the group's ties.

    `rater`, `label`: for each annotation, sorted by item and label: the rater, and the label's position among
        the item's labels.
    `label_ptr`: item i has the labels ``label_ptr[i]`` to ``label_ptr[i + 1]`` - 1.
    `repeated`: number of these that several raters gave; all of them unless the level is nominal.
    `category`, `total`, `giver`: a label's category, how many raters gave it, and the last of these raters.
    `order`: labels that one rater gave, from the highest to the lowest rank that decides the others' ties.
    `ties`: for the group's and the others' side: ``rank << shift | position``.
    `shift`: number of bits for a position.
    `profile`, `row_ptr`, `row_of`, `union`, `part`, `belongs`, `unknown_of`: see
        :class:`~grasp_core.permutation.kernel.profiles.Profiled`.
    `category_total`: number of labels of each category.
    `often_shared`: true if both sides rated most items; then items that they do not share are subtracted.
    `by_item`: true if label use is added up item by item, because some values are unknown or raters' terms
        would take much memory.
    `batch`, `passed`, `columns`: permutations of a batch and of a pass, and counts whose terms are computed
        at a time.
    """

    indptr: Int64Array
    rater: Int32Array
    label: Int32Array
    label_ptr: Int64Array
    repeated: Int32Array
    category: Int32Array
    total: Int32Array
    giver: Int32Array
    order: Int32Array
    ties: npt.NDArray[np.signedinteger[Any]]
    shift: int
    profile: npt.NDArray[np.unsignedinteger[Any]]
    row_ptr: Int64Array
    row_of: Int64Array
    belongs: BoolArray
    union: Int64Array
    part: Int64Array
    unknown_of: Int64Array
    category_total: Int64Array
    often_shared: BoolArray
    by_item: bool
    batch: Int64Array
    passed: Int64Array
    columns: Int64Array


class _Labels(NamedTuple):
    """The labels of all items, sorted as in :class:`Local`, and the position of each annotation's label."""

    item: Int64Array
    category: Int64Array
    total: Int64Array
    once: BoolArray
    ranks: Int64Array
    of_annotation: Int64Array


def lay_out(annotations: Annotations, profiled: Profiled, spec: AnalysisSpec) -> Local:
    """Build the arrays that permutations read; see :func:`~grasp_core.permutation.design.build_design`."""
    labels = _labels_of_items(annotations, spec)
    n_items, n_labels = annotations.n_items, labels.item.size
    label_ptr = np.searchsorted(labels.item, np.arange(n_items + 1)).astype(np.int64)
    place = np.arange(n_labels) - label_ptr[labels.item]
    order = np.argsort(labels.of_annotation, kind="stable")
    of_annotation = labels.of_annotation[order]
    giver = np.zeros(n_labels, dtype=np.int32)
    giver[of_annotation] = annotations.rater[order]
    backwards = np.lexsort((-labels.ranks, ~labels.once, labels.item))
    repeated = np.bincount(labels.item[~labels.once], minlength=n_items)
    most_labels = int(np.diff(label_ptr).max(initial=0))
    shift = shift_for(most_labels)
    most = int(np.diff(annotations.indptr).max(initial=0))
    most_repeated = int(repeated.max(initial=0))
    n_rows, n_groups = profiled.belongs.shape[1], profiled.unknown_of.size
    by_label = _BATCH_BYTES // max(20 * n_groups * annotations.n_categories, 1)
    batch = min(batch_of(annotations.n_annotations, annotations.n_raters), max(by_label, _PASS))
    of_group = np.bincount(profiled.profile, minlength=len(profiled.belongs)) @ profiled.belongs
    share = of_group[n_rows - n_groups :] / max(annotations.n_raters, 1)
    each = annotations.n_annotations / max(annotations.n_items, 1)
    return Local(
        indptr=annotations.indptr.copy(),  # writeable, of the same type as in a design that was sent
        rater=annotations.rater[order],
        label=place[of_annotation].astype(np.int32),
        label_ptr=label_ptr,
        repeated=repeated.astype(np.int32),
        category=labels.category.astype(np.int32),
        total=labels.total.astype(np.int32),
        giver=giver,
        order=place[backwards].astype(np.int32),
        ties=np.tile(labels.ranks << shift | place, (2, 1)).astype(counter_for(most, shift)),
        shift=shift,
        **profiled._asdict(),
        by_item=profiled.unknown or _entries(annotations, label_ptr) > MOST_ENTRIES * of_annotation.size,
        category_total=np.bincount(annotations.category, minlength=annotations.n_categories),
        often_shared=(1 - share) ** each + share**each < 0.5,
        batch=np.array([batch], dtype=np.int64),
        passed=np.array([max(min(_PASS, _PASS_COUNTS // max(most_repeated * n_rows, 1)), 1)]),
        columns=np.array([max(min(_COLUMNS, _COLUMN_COUNTS // max(most_repeated, 1)), 8)]),
    )


def shift_for(n_labels: int) -> int:
    """Return the number of bits for the position of one of so many labels."""
    return max(n_labels - 1, 1).bit_length()


def counter_for(most: int, shift: int) -> type[np.signedinteger[Any]]:
    """Return the fastest type for counts up to `most`, packed with a rank and a position, or squared."""
    return np.int32 if max(most << 2 * shift, most**2) < 2**31 else np.int64


def _labels_of_items(annotations: Annotations, spec: AnalysisSpec) -> _Labels:
    k = annotations.n_categories
    key, of_annotation, total = np.unique(
        annotations.item.astype(np.int64) * k + annotations.category, return_inverse=True, return_counts=True
    )
    item, category = np.divmod(key, k)
    first = np.full(key.size, annotations.n_raters)
    np.minimum.at(first, of_annotation, annotations.rater.astype(np.int64))  # equal types are far faster
    once = (total == 1) & (spec.level == "nominal")
    ranks = _ranks(item, category, first, spec, k)
    order = np.lexsort((ranks, once, item))
    now = np.empty_like(order)
    now[order] = np.arange(order.size)
    return _Labels(
        item[order],
        category[order],
        total[order],
        once[order],
        ranks[order],
        now[of_annotation],
    )


def _ranks(
    item: Int64Array,
    category: Int64Array,
    first_rater: Int64Array,
    spec: AnalysisSpec,
    k: int,
) -> Int64Array:
    """Return ranks among an item's labels, as by :func:`~grasp_core.permutation.design.tie_ranks`."""
    if spec.ties == "first":
        deciding = (k - 1 - category).astype(np.uint64)
    else:
        in_order = np.lexsort((category, first_rater, item))
        place = np.empty_like(in_order)
        place[in_order] = np.arange(item.size) - np.searchsorted(item, item)
        deciding = words_at(np.uint64(spec.seed), np.uint64(TIES_STREAM), item * k + place)
    order = np.lexsort((category, deciding, item))
    ranks = np.empty_like(order)
    ranks[order] = np.arange(order.size) - np.searchsorted(item, item)
    return ranks


def _entries(annotations: Annotations, label_ptr: Int64Array) -> int:
    """Return an upper bound for the number of different labels on a rater's items, summed over raters."""
    of_items = int(np.diff(annotations.indptr) @ np.diff(label_ptr))
    return min(of_items, annotations.n_raters * annotations.n_categories)
