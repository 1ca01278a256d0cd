"""A run's null distributions, fed with blocks of permutations in any order.

The first permutations, up to :data:`KEPT`, are kept whole. When they are there and more have come, all are
counted and only the counts are kept: memory then no longer grows with the number of permutations.
"""

from __future__ import annotations

import io
import zipfile
import zlib
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from grasp_core.annotations import BoolArray, FloatArray
from grasp_core.permutation.nulls.counts import Counted
from grasp_core.permutation.nulls.deviations import Maximum
from grasp_core.permutation.nulls.values import Kept, Null

KEPT, KEPT_LEAST = 10_000, 1000
"""Permutations up to which shuffled values are kept, and are kept however many columns there are."""
KEPT_VALUES = 2**25
"""Shuffled values that are kept in all, where there are many columns."""


def kept_of(columns: int) -> int:
    """Permutations of so many columns that are kept whole."""
    return min(max(KEPT_VALUES // max(columns, 1), KEPT_LEAST), KEPT)


class Tally:
    """Takes shuffled statistics and holds what the tests need of them.

    The answer is the same whatever the blocks and their order.

    Parameters
    ----------
    observed : float64 array, shape (C,)
    needs : bool array, shape (C, U)
        Units whose permutations a column needs.
    permutations : int
        Most that will be added.
    maxima : sequence of Maximum
        Columns of which the largest deviation in each permutation is counted.
    kept : int
        Permutations up to which values are kept; by default :func:`kept_of` the columns.
    extremes : bool
        Whether the most extreme values are kept where others are counted.
    together : callable, optional
        From the values (B, C) that are kept to what tests of several columns together need of them, row by
        row: it stays where the values themselves go.

    Attributes
    ----------
    active : bool array, shape (U,)
        Units whose permutations go on; columns that need another one count nowhere.
    most_kept : int
        Permutations up to which values are kept.
    lost : int
        Permutations in which a value of a computed column that has an observed one was not estimable.
    """

    def __init__(
        self,
        observed: FloatArray,
        needs: BoolArray,
        permutations: int,
        maxima: Sequence[Maximum] = (),
        *,
        kept: int | None = None,
        extremes: bool = False,
        together: Callable[[FloatArray], FloatArray] | None = None,
    ) -> None:
        self._maxima = maxima
        self._extremes = extremes
        self._together = together or (lambda values: values[:0])
        self._apart: FloatArray | None = None
        self._whole = 0
        self._needs = needs
        self._observed = observed
        kept = kept_of(observed.size) if kept is None else kept
        self.most_kept = min(kept, permutations)
        self._first = np.empty((self.most_kept, observed.size))
        self._counted: Counted | None = None
        self._waiting: list[FloatArray] = []
        self._done: list[tuple[int, int]] = []
        self.active: BoolArray = np.ones(needs.shape[1], np.bool_)
        self.lost = 0

    @property
    def done(self) -> list[tuple[int, int]]:
        """Permutations that were added, as (start, stop) in ascending order with gaps between."""
        return self._done

    @property
    def permutations(self) -> int:
        """How many were added."""
        return sum(stop - start for start, stop in self._done)

    def has(self, b: int) -> bool:
        """Whether permutation b was added."""
        return any(start <= b < stop for start, stop in self._done)

    def has_all(self, stop: int) -> bool:
        """Whether permutations 0 to `stop` - 1 were added."""
        return bool(self._done) and self._done[0][0] == 0 and self._done[0][1] >= stop

    @property
    def counting(self) -> bool:
        """Whether values are counted and no longer kept, so that :meth:`state` has all of them."""
        return self._counted is not None

    @property
    def null(self) -> Null:
        """The null distributions of the permutations from 0 on that have come without a gap."""
        if self._counted is not None:
            return self._counted
        return Kept(self._observed, self._first[: self.in_null])

    @property
    def in_null(self) -> int:
        """How many permutations :attr:`null` is of: all of them once they are counted."""
        if self._counted is not None:
            return self.permutations
        return min(self._done[0][1], len(self._first)) if self._done and self._done[0][0] == 0 else 0

    @property
    def n_together(self) -> int:
        """Kept permutations that were computed for all units."""
        return min(self._whole, self.most_kept, self.in_null)

    @property
    def together(self) -> FloatArray:
        """What `together` makes of the kept permutations that were computed for all units."""
        if self._apart is not None:
            return self._apart
        return self._together(self._first[: self.n_together])

    def add(self, start: int, values: FloatArray) -> None:
        """Add permutations that were not added before.

        Parameters
        ----------
        start : int
            The first permutation's number.
        values : float64 array, shape (b, C)
            NaN where not estimable; not kept, but may be written to.
        """
        computed = ~(self._needs & ~self.active).any(axis=1)
        tested = computed & ~np.isnan(self._observed)
        self.lost += int(np.isnan(values[:, tested]).any(axis=1).sum())
        values[:, ~computed] = np.nan  # e.g. the largest of some of the groups is not the largest
        self._done = _merged([*self._done, (start, start + len(values))])
        if self.active.all():
            self._whole = max(self._whole, start + len(values))
        first = values[: max(len(self._first) - start, 0)]
        self._first[start : start + len(first)] = first
        self._count(values[len(first) :])

    def _count(self, further: FloatArray) -> None:
        if self._counted is None:
            if len(further):
                self._waiting.append(further)
            if not self._waiting or self._done[0][0] > 0 or self._done[0][1] < len(self._first):
                return
            self._apart = self.together
            self._counted = Counted(self._observed, self._first, self._maxima, extremes=self._extremes)
            self._waiting.insert(0, self._first)
        else:
            self._waiting = [further]
        for values in self._waiting:
            self._counted.add(values)
        self._waiting, self._first = [], self._first[:0].copy()

    def state(self) -> bytes:
        """All that was added, as an ``.npz`` file; :meth:`restore` goes on from it.

        Raises
        ------
        ValueError
            Before anything is counted: then the values themselves are all there is.
        """
        if self._counted is None or self._apart is None:
            raise ValueError("nothing is counted yet")
        file = io.BytesIO()
        counted: dict[str, Any] = self._counted.arrays()  # for mypy: none of them is an option of NumPy's
        np.savez_compressed(
            file,
            done=np.array(self._done, np.int64),
            active=self.active,
            lost=np.array([self.lost]),
            whole=np.array([self._whole]),
            apart=self._apart,
            **counted,
        )
        return file.getvalue()

    def restore(self, state: bytes) -> bool:
        """Go on from :meth:`state` of a tally of the same run; False, and nothing done, if it is damaged."""
        try:
            with np.load(io.BytesIO(state), allow_pickle=False) as arrays:
                counted = Counted.from_arrays(arrays, self._observed, self._maxima, extremes=self._extremes)
                done, active, lost = arrays["done"], arrays["active"], int(arrays["lost"][0])
                apart, whole = arrays["apart"], int(arrays["whole"][0])
                if active.shape != self.active.shape or done.ndim != 2:
                    return False
        except (ValueError, KeyError, OSError, EOFError, zipfile.BadZipFile, zlib.error):
            return False
        self._counted, self.active, self.lost = counted, active, lost
        self._apart, self._whole = apart, whole
        self._done = [(int(start), int(stop)) for start, stop in done]
        self._waiting, self._first = [], self._first[:0].copy()
        return True


def _merged(ranges: list[tuple[int, int]]) -> list[tuple[int, int]]:
    """Ranges in ascending order, those that touch joined."""
    joined: list[tuple[int, int]] = []
    for start, stop in sorted(ranges):
        if joined and start <= joined[-1][1]:
            joined[-1] = (joined[-1][0], max(stop, joined[-1][1]))
        else:
            joined.append((start, stop))
    return joined
