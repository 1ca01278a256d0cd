"""The compiled kernel: all groups and all counted statistics under many permutations.

Each statistic is a ratio of sums over items (:mod:`~grasp_core.permutation.kernel.sums`). Four strategies
add them up. The data's shape decides which one (:mod:`~grasp_core.permutation.design`); all are tested
against each other. :mod:`~grasp_core.permutation.kernel.crossed` is for data in which every rater rated
every item: tables over a group's counts. :mod:`~grasp_core.permutation.kernel.sparse` is for few raters an
item: an item's counts as one number. :mod:`~grasp_core.permutation.kernel.local` is for many categories:
only the labels that an item has. :mod:`~grasp_core.permutation.kernel.direct` is for all other data: the
counts of every item, group and category.
"""

from typing import Any

import numpy as np
import numpy.typing as npt

from grasp_core.model.annotations import FloatArray
from grasp_core.permutation.design import Design
from grasp_core.permutation.kernel import crossed, digits, direct, label_use, local, sparse
from grasp_core.permutation.kernel import sums as at
from grasp_core.permutation.kernel.columns import contributions
from grasp_core.permutation.kernel.item_terms import Columns, values_in_columns
from grasp_core.permutation.kernel.label_use import OfRaters
from grasp_core.permutation.kernel.local_layout import Local
from grasp_core.permutation.kernel.profiles import Profiled
from grasp_core.permutation.kernel.profiles import draw as draw_profiles
from grasp_core.permutation.kernel.sparse_layout import Sparse
from grasp_core.permutation.uncompiled import Further, counts_of_rows

KERNEL_STATISTICS = (
    *("irr", "xrr", "negentropy", "cross_negentropy", "plurality_size", "voting_agreement"),
    *("distance", "shares_distance", "enough_paired", "mean_shift"),
)
"""The first statistics on the last axis of the kernel's output, before the labels.

There are two distances: item by item, and of the shares of labels, for data in which too few items have two
labels of both sides (`enough_paired` is then 0, otherwise 1). GAI and gap are computed from the others.
"""
Profiles = npt.NDArray[np.unsignedinteger[Any]]
RATIOS = ("irr", "xrr")
"""Statistics that are 1 minus the ratio of an observed to an expected disagreement."""
COMPONENTS = tuple(
    component
    for name in KERNEL_STATISTICS
    for component in ((f"{name}_observed", f"{name}_expected") if name in RATIOS else (name,))
)
"""Components of the statistics: first the two disagreements of each ratio, then the other statistics.

After them, as after the statistics, follow the differences of label shares between group and others.
"""
ROOM = 32 * 2**20
"""Most bytes of sums over items that are collected before they become statistics."""


def shuffled(design: Design, seed: int, start: int, stop: int) -> FloatArray:
    """Return :data:`KERNEL_STATISTICS`, then labels, of permutations `start` to `stop` - 1, (b, G, V)."""
    return statistics(shuffled_components(design, seed, start, stop))


def shuffled_components(design: Design, seed: int, start: int, stop: int) -> FloatArray:
    """Return :func:`components` of permutations `start` to `stop` - 1, shape (stop - start, G, V + 2)."""
    out = np.empty((stop - start, design.n_groups, len(COMPONENTS) + design.n_labels_used + design.n_further))
    step = max(ROOM // max(8 * design.n_groups * design.n_sums, 1), 1)
    for first in range(start, stop, step):
        last = min(first + step, stop)
        out[first - start : last - start] = components(design, sums(design, seed, first, last))
    return out


def observed(design: Design) -> FloatArray:
    """Compute the statistics under the raters' own profiles, shape (G, V)."""
    return statistics(components(design, observed_sums(design)))


def sums(design: Design, seed: int, start: int, stop: int) -> FloatArray:
    """Return sums over a design's items under permutations `start` to `stop` - 1.

    Returns shape (stop - start, G, S): see :mod:`~grasp_core.permutation.kernel.sums`.
    """
    out = np.empty((stop - start, design.n_groups, design.n_counted))
    drawn = (np.uint64(seed), start, design.order, design.bounds)
    if design.crossed is not None:
        crossed.add_up(*drawn, design.counting, design.conventions, design.crossed, out)
    elif (held := design.sparse or design.local) is not None:
        _add_up_drawn(design, held, seed, start, out)
    else:
        direct.add_up(*drawn, design.counting, design.conventions, out)
    if design.further is None:
        return out
    profiles = np.empty((design.order.size, len(out)), dtype=design.rows.profile.dtype)
    draw_profiles(np.uint64(seed), start, design.order, design.bounds, design.rows.profile, profiles)
    beside = [_further_sums(design, design.further, own) for own in profiles.T]
    return np.concatenate([out, np.reshape(beside, (*out.shape[:2], -1))], axis=-1)


def _further_sums(design: Design, further: Further, profile: npt.NDArray[Any]) -> FloatArray:
    """Return the sums, for these profiles, of statistics that the kernel lacks, shape (G, S)."""
    rows = design.rows
    counts = counts_of_rows(design.labels, rows, design.n_categories, profile)
    groups = zip(counts[rows.n_known :], rows.known_of, strict=True)
    return np.stack([further.terms(c, counts[known] - c).sum(axis=0) for c, known in groups])


def _add_up_drawn(design: Design, held: Sparse | Local, seed: int, start: int, out: FloatArray) -> None:
    """Fill `out`, shape (permutations, G, S), in batches of about equal size."""
    sizes = (design.digits or held).batch
    rounds = max(-(-len(out) // int(sizes[0])), 1)
    most = max(-(-len(out) // rounds), 1)
    for first in range(0, len(out), most):
        batch = out[first : first + most]
        drawn = np.empty((design.order.size, len(batch)), dtype=held.profile.dtype)
        draw_profiles(np.uint64(seed), start + first, design.order, design.bounds, held.profile, drawn)
        if isinstance(held, Sparse):
            sparse.add_up(drawn, design.counting, design.conventions, held, batch)
            _add_of_raters(design, held, design.of_raters, at.MORE, drawn, batch)
        else:
            _add_up_local(design, held, drawn, batch)


def _add_up_local(design: Design, held: Local, drawn: Profiles, out: FloatArray) -> None:
    """Fill `out` for these profiles, from the labels that items have."""
    if design.digits is None:
        local.add_up(drawn, design.conventions, held, out)
    else:
        _add_of_raters(design, held, design.given, at.IN_GROUP, drawn, out)
        digits.add_up(drawn, design.conventions, held, design.digits, out)
    _add_of_raters(design, held, design.of_raters, at.MORE, drawn, out)


def _add_of_raters(
    design: Design, held: Sparse | Local, of: OfRaters | None, sort: int, drawn: Profiles, out: FloatArray
) -> None:
    """Add raters' terms to their groups' sums by category, if the design has such terms."""
    if of is not None:
        profiled = Profiled(*(getattr(held, field) for field in Profiled._fields))
        label_use.add_up(
            drawn,
            profiled,
            of,
            design.n_categories,
            at.PER_COLUMN * design.distances.n_columns + at.N_SINGLE,
            sort,
            out,
        )


def observed_sums(design: Design) -> FloatArray:
    """Return :func:`sums` under the raters' own profiles, shape (G, S)."""
    out = np.empty((design.n_groups, design.n_counted))
    if design.local is not None:
        own = design.local.profile.reshape(-1, 1)
        _add_up_local(design, design.local, own, out[np.newaxis])
    elif design.crossed is not None:
        _add_up_items(design, out)
    else:
        nobody = design.bounds[:0]  # no steps, so that nobody moves
        here = (np.uint64(0), 0, design.order, nobody)
        direct.add_up(*here, design.counting, design.conventions, out[np.newaxis])
    if design.further is None:
        return out
    return np.concatenate([out, _further_sums(design, design.further, design.rows.profile)], axis=-1)


def _add_up_items(design: Design, out: FloatArray) -> None:
    """Fill `out`, shape (G, S), item by item, with code that intervals need too: so less is compiled."""
    rows, labels, k = design.rows, design.labels, design.n_categories
    n_items = labels.indptr.size - 1
    counts = counts_of_rows(labels, rows, k, rows.profile).astype(design.ties.dtype)
    counts = np.ascontiguousarray(counts.transpose(0, 2, 1))
    ties = np.ascontiguousarray(design.ties.transpose(1, 2, 0, 3).reshape(2, k, n_items))
    values, of_items = values_in_columns(design.distances, n_items), np.empty((n_items, design.n_counted))
    for g, known in enumerate(rows.known_of):
        columns = Columns(counts[rows.n_known + g], counts[known], ties, values, n_items)
        contributions(columns, design.conventions, of_items)
        out[g] = np.ascontiguousarray(of_items.T).sum(axis=1)  # contiguous, so that NumPy adds pairwise


def components(design: Design, sums: FloatArray) -> FloatArray:
    """Return the statistics' components from sums over all items.

    `sums`: shape (..., S).
    `design`: gives the level of measurement; its items do not matter.

    Returns shape (..., V + 2): :data:`COMPONENTS`, then how much more often the group gives each label, then
    the statistics that the kernel lacks; NaN where not estimable (for IRR and XRR also if D_e is 0).
    """
    width = len(COMPONENTS) + design.n_labels_used
    out = np.empty((*sums.shape[:-1], width))
    counted, beside = sums[..., : design.n_counted], sums[..., design.n_counted :]
    rows = np.ascontiguousarray(counted).reshape(-1, design.n_counted)
    at.take_ratios(rows, design.distances, out.reshape(-1, width))
    if design.further is None:
        return out
    return np.concatenate([out, design.further.values(beside, design.n_categories)], axis=-1)


def statistics(components: FloatArray) -> FloatArray:
    """Return :data:`KERNEL_STATISTICS` and labels, shape (..., V), from :func:`components`, (..., V + 2)."""
    out = np.full((*components.shape[:-1], components.shape[-1] - len(RATIOS)), np.nan)
    for place in range(len(RATIOS)):
        observed, expected = components[..., 2 * place], components[..., 2 * place + 1]
        np.divide(observed, expected, out=out[..., place], where=expected > 0)
        np.subtract(1.0, out[..., place], out=out[..., place])
    out[..., len(RATIOS) :] = components[..., 2 * len(RATIOS) :]
    return out
