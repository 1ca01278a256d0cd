"""The compiled kernel: all models against all groups under many permutations.

In each permutation the groups' labels are counted once for all models, by the counting of
:mod:`grasp_core.permutation.compiled`. Each statistic is a ratio of sums over items. With one label per
item, an item's divergence depends only on how many of the n members gave the model's label; logarithms come
from a table over whole numbers.
"""

import math
from dataclasses import dataclass

import numpy as np

from grasp_core.model.annotations import Annotations, BoolArray, FloatArray, Int32Array, Int64Array, Raters
from grasp_core.model.groups import Grouping
from grasp_core.model.spec import SIDES, AnalysisSpec
from grasp_core.permutation.design import Design
from grasp_core.permutation.design import build_design as build_base

# The same permutations and counts as in every run, by the same compiled code.
from grasp_core.permutation.jit import borrowing, compiled
from grasp_core.permutation.kernel.counting import count_block, fill_masks, permute


@dataclass(frozen=True, slots=True, eq=False)
class SidesDesign:
    """Arrays that the kernel reads; built once.

    `base`: annotations, groups, strata and ties as every run's kernel reads them.
    `labels`: the models' labels by item, -1 for items without one, and for those that fill up a block.
    `log`: ln of whole numbers up to twice the most raters of an item; 0 for 0.
    `classes`: True for the labels that macro-F1 averages over.
    """

    base: Design
    labels: Int32Array
    log: FloatArray
    classes: BoolArray

    def shuffled(self, seed: int, start: int, stop: int) -> FloatArray:
        """See :class:`~grasp_core.analysis.panel.BlockWork`; values as of :func:`shuffled`, by group."""
        values = shuffled(self, seed, start, stop).swapaxes(1, 2)
        return values.reshape(stop - start, self.base.n_groups, -1)


def build_design(
    annotations: Annotations,
    raters: Raters,
    grouping: Grouping,
    analysis: AnalysisSpec,
    labels: Int32Array,
    classes: BoolArray,
    *,
    dense: bool | None = None,
) -> SidesDesign:
    """Lay data, groups and models out for the kernel.

    `labels`: shape (M, I); `classes`: shape (K,).
    `annotations`, `raters`, `grouping`, `analysis`, `dense`: see
        :func:`grasp_core.permutation.design.build_design`.
    """
    base = build_base(annotations, raters, grouping, analysis, dense=dense, tables=False)
    blocks, _, _, width = base.ties.shape
    empty = blocks * width - annotations.n_items
    padded = np.pad(labels.astype(np.int32), ((0, 0), (0, empty)), constant_values=-1)
    most = int(np.diff(annotations.indptr).max(initial=0))
    log = np.log(np.maximum(np.arange(2 * most + 1, dtype=np.float64), 1))
    return SidesDesign(base, np.ascontiguousarray(padded), log, classes)


def observed(design: SidesDesign) -> FloatArray:
    """Return the statistics of the raters' own profiles, shape (M, G, 5), in the order of ``SIDES``."""
    out: FloatArray = _computed(design, 0, 0, 1, design.base.bounds[:0])[0]
    return out


def shuffled(design: SidesDesign, seed: int, start: int, stop: int) -> FloatArray:
    """Return permutations `start` to `stop` - 1, shape (stop - start, M, G, 5); NaN where not estimable."""
    return _computed(design, seed, start, stop, design.base.bounds)


def _computed(design: SidesDesign, seed: int, start: int, stop: int, bounds: Int64Array) -> FloatArray:
    out = np.empty((stop - start, design.labels.shape[0], design.base.n_groups, len(SIDES)))
    base, drawn = design.base, (np.uint64(seed), start, design.base.order, bounds)
    _evaluate(*drawn, base.counting, base.shift, design.labels, design.log, design.classes, out)
    return out


# Sums of whole numbers per model, group and category; sums of real numbers per model and group.
_MODEL, _MEMBERS, _GOLD, _HIT = range(4)
_OBSERVED, _SHARE, _DIVERGENCE = range(3)


@compiled(seconds=2)
def _evaluate(seed, start, order, bounds, counting, shift, labels, log, classes, out):  # type: ignore[no-untyped-def]
    """Fill `out` for the permutations from `start` on; without `bounds` everybody keeps their own profile."""
    n_permutations, n_models, n_groups, _ = out.shape
    ties, n_known = counting.ties, counting.rows.n_known
    n_blocks, _, n_categories, width = ties.shape
    words = np.empty(order.size + 3, dtype=np.uint64)
    shuffled_order, source = np.empty_like(order), np.empty_like(order)
    counts = np.empty((n_known + n_groups, n_categories, width), dtype=ties.dtype)
    n = np.empty(width, dtype=ties.dtype)
    gold = np.empty(width, dtype=ties.dtype)
    integers = np.empty((n_models, n_groups, 4, n_categories), dtype=np.int64)
    floats = np.empty((n_models, n_groups, 3))
    masks = np.zeros((n_known + n_groups, counting.bits.shape[2]), dtype=np.uint64)
    for p in range(n_permutations):
        permute(seed, np.uint64(start + p), order, bounds, words, shuffled_order, source)
        integers[:] = 0
        floats[:] = 0.0
        if counting.dense:
            fill_masks(source, counting.rows, masks)
        for block in range(n_blocks):
            count_block(source, masks, counting, block, counts)
            for g in range(n_groups):
                c = counts[n_known + g]
                _vote(c, ties[block, 0], shift, n, gold)
                for m in range(n_models):
                    x = labels[m, block * width : (block + 1) * width]
                    _add_block(x, c, n, gold, log, integers[m, g], floats[m, g])
        for m in range(n_models):
            for g in range(n_groups):
                _finish(integers[m, g], floats[m, g], classes, out[p, m, g])


@borrowing
def _vote(c, ties, shift, n, gold):  # type: ignore[no-untyped-def]
    """Set the group's labels per item, and its plurality: the largest (count, rank among ties, category)."""
    n[:] = 0
    gold[:] = 0
    for k in range(c.shape[0]):
        x, tie = c[k], ties[k]
        for i in range(n.size):
            n[i] += x[i]
        for i in range(n.size):
            gold[i] = max(gold[i], tie.dtype.type((x[i] << (2 * shift)) | tie[i]))
    category = (1 << shift) - 1
    for i in range(n.size):
        gold[i] &= category


@borrowing
def _add_block(x, c, n, gold, log, integers, floats):  # type: ignore[no-untyped-def]
    model, members, of_gold, hit = (integers[_MODEL], integers[_MEMBERS], integers[_GOLD], integers[_HIT])
    disagreed, shares, divergence = 0.0, 0.0, 0.0
    for i in range(x.size):
        if x[i] < 0 or n[i] == 0:
            continue
        same = c[x[i], i]
        both = log[n[i] + same]
        share = same / n[i]
        model[x[i]] += 1
        of_gold[gold[i]] += 1
        hit[x[i]] += x[i] == gold[i]
        disagreed += n[i] + 1 - same - share
        shares += share
        # Jensen-Shannon: ln 2 + (ln n - ln(n + c) + s (ln c - ln(n + c))) / 2, the ln 2 added at the end.
        divergence += log[n[i]] - both + share * (log[same] - both)
    for k in range(members.size):
        labels = 0
        for i in range(x.size):
            labels += c[k, i] * (x[i] >= 0)
        members[k] += labels
    floats[_OBSERVED] += disagreed
    floats[_SHARE] += shares
    floats[_DIVERGENCE] += divergence


@borrowing
def _finish(integers, floats, compared, out):  # type: ignore[no-untyped-def]
    """Take the ratios; the order of `out` is SIDES."""
    out[:] = np.nan
    items, members, hits, classes, f1, equal = 0, 0, 0, 0, 0.0, 0.0
    n_categories = integers.shape[1]
    for k in range(n_categories):
        items += integers[_MODEL, k]
        members += integers[_MEMBERS, k]
        hits += integers[_HIT, k]
        both = integers[_MODEL, k] + integers[_GOLD, k]
        classes += compared[k]
        if compared[k] and both:
            f1 += 2 * integers[_HIT, k] / both
        equal += np.float64(integers[_MODEL, k]) * integers[_MEMBERS, k]
    if items == 0:
        return
    unequal = np.float64(items) * members - equal
    if unequal > 0:
        out[0] = 1.0 - floats[_OBSERVED] / (items + members) * (np.float64(items) * members) / unequal
    out[1] = f1 / classes
    out[2] = hits / items
    share = floats[_SHARE] / items
    out[3] = math.log(1 + n_categories / 2) - share * math.log(1.5) - (1.0 - share) * math.log(0.5)
    out[4] = math.log(2.0) + floats[_DIVERGENCE] / items / 2
