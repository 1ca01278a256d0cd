"""The compiled kernel: all groups and all counted statistics under many permutations.

Each statistic is a ratio of sums over items (:mod:`~grasp_core.permutation.kernel.sums`). Four strategies
add them up, chosen from the data's shape (:mod:`~grasp_core.permutation.kernel.ways`) and tested against each
other: tables over a group's counts where every rater rated every item
(:mod:`~grasp_core.permutation.kernel.crossed`), counts held as one number where few did
(:mod:`~grasp_core.permutation.kernel.sparse`), the labels that an item has where there are many
(:mod:`~grasp_core.permutation.kernel.local`), and else the counts of every item, group and category
(:mod:`~grasp_core.permutation.kernel.direct`).
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from grasp_core.annotations import FloatArray
from grasp_core.permutation.design import Design
from grasp_core.permutation.draw import identity
from grasp_core.permutation.kernel import crossed, direct, local, sparse
from grasp_core.permutation.kernel.local_layout import Local
from grasp_core.permutation.kernel.profiles import Membership, Profiled
from grasp_core.permutation.kernel.profiles import draw as draw_profiles
from grasp_core.permutation.kernel.sparse import Sparse
from grasp_core.permutation.kernel.sums import take_ratios

KERNEL_STATISTICS = ("irr", "xrr", "negentropy", "cross_negentropy", "plurality_size", "voting_agreement")
"""Last axis of the kernel's output; GAI is a ratio of two of them."""
Profiles = npt.NDArray[np.unsignedinteger[Any]]
RATIOS = ("irr", "xrr")
"""Statistics that are 1 less a ratio of an observed and an expected disagreement."""
COMPONENTS = tuple(
    component
    for name in KERNEL_STATISTICS
    for component in ((f"{name}_observed", f"{name}_expected") if name in RATIOS else (name,))
)
"""What the statistics are made of: the two disagreements of each ratio first, then the others themselves."""
ROOM = 32 * 2**20
"""Bytes that sums over items may take before they are turned into statistics."""


def shuffled(design: Design, seed: int, start: int, stop: int) -> FloatArray:
    """Compute permutations `start` to `stop` - 1.

    Parameters
    ----------
    design : Design
    seed : int
    start, stop : int

    Returns
    -------
    float64 array, shape (stop - start, G, 6)
        :data:`KERNEL_STATISTICS` of every group; NaN where not estimable.
    """
    return statistics(shuffled_components(design, seed, start, stop))


def shuffled_components(design: Design, seed: int, start: int, stop: int) -> FloatArray:
    """:func:`components` of permutations `start` to `stop` - 1, shape (stop - start, G, 8)."""
    out = np.empty((stop - start, design.n_groups, len(COMPONENTS)))
    step = max(ROOM // max(8 * design.n_groups * design.n_sums, 1), 1)
    for first in range(start, stop, step):
        last = min(first + step, stop)
        out[first - start : last - start] = components(design, sums(design, seed, first, last))
    return out


def observed(design: Design) -> FloatArray:
    """Compute the statistics under the raters' own profiles, shape (G, 6)."""
    return statistics(components(design, observed_sums(design)))


def sums(design: Design, seed: int, start: int, stop: int, profiles: Profiles | None = None) -> FloatArray:
    """Sums over a design's items under permutations `start` to `stop` - 1.

    Parameters
    ----------
    design : Design
    seed : int
    start, stop : int
    profiles : int array, shape (J, stop - start), optional
        What :func:`draw` gives for these permutations, where somebody has drawn them already. Sparse data
        take them; others draw for themselves, since they have few raters or one permutation takes long.

    Returns
    -------
    float64 array, shape (stop - start, G, S)
        See :mod:`~grasp_core.permutation.kernel.sums`; those of designs that hold disjoint items of the same
        raters and groups are added.
    """
    out = np.empty((stop - start, design.n_groups, design.n_sums))
    drawn = (np.uint64(seed), start, design.order, design.bounds)
    if design.crossed is not None:
        crossed.add_up(*drawn, design.counting, design.conventions, design.crossed, out)
    elif (held := design.sparse or design.local) is not None:
        _add_up_drawn(design, held, seed, start, profiles, out)
    else:
        direct.add_up(*drawn, design.counting, design.conventions, out)
    return out


def draw(membership: Membership, seed: int, start: int, stop: int) -> Profiles:
    """Everybody's profile under permutations `start` to `stop` - 1, shape (J, stop - start).

    They are those of all designs of the same raters, groups and strata, whichever items these hold.
    """
    return _drawn(membership, membership.profiled, seed, start, stop)


def _drawn(
    of: Membership | Design, held: Profiled | Sparse | Local, seed: int, start: int, stop: int
) -> Profiles:
    drawn = np.empty((of.order.size, stop - start), dtype=held.profile.dtype)
    draw_profiles(np.uint64(seed), start, of.order, of.bounds, held.profile, drawn)
    return drawn


def _add_up_drawn(
    design: Design, held: Sparse | Local, seed: int, start: int, profiles: Profiles | None, out: FloatArray
) -> None:
    """Fill `out`, shape (permutations, G, S), batch by batch, all of about one size."""
    rounds = max(-(-len(out) // int(held.batch[0])), 1)
    most = max(-(-len(out) // rounds), 1)
    for first in range(0, len(out), most):
        batch = out[first : first + most]
        if profiles is None:
            drawn = _drawn(design, held, seed, start + first, start + first + len(batch))
        else:
            drawn = np.ascontiguousarray(profiles[:, first : first + most])
        if isinstance(held, Sparse):
            sparse.add_up(drawn, design.counting, design.conventions, held, batch)
        else:
            local.add_up(drawn, design.conventions, held, batch)


def observed_sums(design: Design) -> FloatArray:
    """:func:`sums` under the raters' own profiles, shape (G, S)."""
    out = np.empty((design.n_groups, design.n_sums))
    if design.local is not None:
        own = design.local.profile.reshape(-1, 1)
        local.add_up(own, design.conventions, design.local, out[np.newaxis])
    else:
        direct.evaluate(identity(design.order.size), design.counting, design.conventions, out)
    return out


def components(design: Design, sums: FloatArray) -> FloatArray:
    """From sums over all items to what the statistics are made of.

    Parameters
    ----------
    design : Design
        Says which level of measurement; which items it holds does not matter.
    sums : float64 array, shape (..., S)

    Returns
    -------
    float64 array, shape (..., 8)
        D_o and D_e of IRR, D_o and D_e of XRR, negentropy, cross-negentropy, plurality size and voting
        agreement; NaN where not estimable (of IRR and XRR also where D_e is 0).
    """
    out = np.empty((*sums.shape[:-1], len(COMPONENTS)))
    rows = np.ascontiguousarray(sums).reshape(-1, sums.shape[-1])
    take_ratios(rows, design.distances, out.reshape(-1, len(COMPONENTS)))
    return out


def statistics(components: FloatArray) -> FloatArray:
    """:data:`KERNEL_STATISTICS` from :func:`components`: shape (..., 8) becomes (..., 6)."""
    out = np.full((*components.shape[:-1], len(KERNEL_STATISTICS)), np.nan)
    for place in range(len(RATIOS)):
        observed, expected = components[..., 2 * place], components[..., 2 * place + 1]
        np.divide(observed, expected, out=out[..., place], where=expected > 0)
        np.subtract(1.0, out[..., place], out=out[..., place])
    out[..., len(RATIOS) :] = components[..., 2 * len(RATIOS) :]
    return out
