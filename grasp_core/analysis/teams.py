"""Columns that look like teams: raters with one value answer more alike than others of their group."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Literal

import numpy as np
from scipy.sparse import csr_array

from grasp_core.model.annotations import Annotations, Axis, BoolArray, Codes, FloatArray, Int64Array
from grasp_core.statistics.association import corrected_v, cross_table

PERMUTATIONS = 199
LEVEL = 0.01
LEAST_V = 0.2
"""Cramér's V of a column and an axis from which on the axis may owe something to the column."""
MOST_ANNOTATIONS, MOST_RATERS, MOST_PAIRS = 20_000, 1_000, 100_000
"""What is looked at of larger data, drawn at random: annotations by whole items, raters, pairs of raters."""
MOST_COLUMNS = 20
_SEED, _TIE = 1, 1e-9


@dataclass(frozen=True, slots=True)
class Team:
    """A column that looks like teams, for which axis, and what mends it.

    Where all raters of each value have one value of the axis, whole teams can change places (`by` is
    "cluster"); else profiles are shuffled within its values.
    """

    column: str
    axis: str
    by: Literal["cluster", "within"]


def teams(annotations: Annotations, columns: Mapping[str, Axis], tested: Mapping[str, Axis]) -> list[Team]:
    """Find columns whose values explain how alike raters answer, beyond an axis that they go together with.

    `columns`: columns of the raters that have no part in the run; the first 20 that could hold teams are
        looked at.
    `tested`: axes whose groups are compared.

    Returns at most one a column, with the first axis for which it holds.

    Two raters answer alike by the mean, over the items of both, of the products of their residuals: 1 for the
    label given, less each label's share among all other raters of the item. The mean over all pairs with one
    value of the column is held against 199 permutations of the raters within the groups of the axis, p < .01:
    so a column that only says what the axis says is no team.
    """
    could = {name: one for name, one in columns.items() if 2 <= len(one.values) <= one.codes.size // 2}
    alike = None
    found = []
    for name in list(could)[:MOST_COLUMNS]:
        for axis, of_axis in tested.items():
            by = _mends(could[name], of_axis)
            if by is None:
                continue
            alike = alike or _Alike.of(annotations)
            if alike.p_of(could[name].codes, of_axis.codes) < LEVEL:
                found.append(Team(name, axis, by))
                break
    return found


def _mends(column: Axis, axis: Axis) -> Literal["cluster", "within"] | None:
    """What would mend that teams have views of their own; None where the axis owes nothing to them."""
    table = cross_table(column, axis)
    values_of_group = (table > 0).sum(axis=0)
    if values_of_group.max(initial=0) < 2:
        return None  # the axis by another name
    if ((table > 0).sum(axis=1) <= 1).all():
        return "cluster"
    v = corrected_v(table)
    return "within" if v is not None and v >= LEAST_V else None


@dataclass(frozen=True, slots=True, eq=False)
class _Alike:
    """Raters looked at, (n,), sums of products of two raters' residuals, and items of both, each (n, n)."""

    rater: Int64Array
    products: FloatArray
    common: FloatArray

    @classmethod
    def of(cls, annotations: Annotations) -> _Alike:
        """From as much of the data as the bounds allow; each rater counts 0 beside oneself."""
        rng = np.random.default_rng(_SEED)
        rows = _some_items(annotations, rng)
        at_work = np.unique(annotations.rater[rows])
        rater = np.sort(rng.permutation(at_work)[:MOST_RATERS]).astype(np.int64)
        place = np.full(annotations.n_raters, -1, dtype=np.int64)
        place[rater] = np.arange(rater.size)
        rows &= place[annotations.rater] >= 0
        item, label = annotations.item[rows].astype(np.int64), annotations.category[rows].astype(np.int64)
        who, k = place[annotations.rater[rows]], annotations.n_categories
        counts = np.bincount(item * k + label, minlength=annotations.n_items * k).reshape(-1, k)
        each = counts.sum(axis=1)
        shared = each[item] > 1
        item, label, who = item[shared], label[shared], who[shared]
        given = np.zeros((item.size, k))
        given[np.arange(item.size), label] = 1.0
        residual = given - (counts[item] - given) / (each[item] - 1)[:, None]
        cell = item[:, None] * k + np.arange(k)
        width = (rater.size, annotations.n_items)
        of_labels = csr_array(
            (residual.ravel(), (np.repeat(who, k), cell.ravel())), shape=(width[0], width[1] * k)
        )
        rated = csr_array((np.ones(item.size), (who, item)), shape=width)
        products, common = ((one @ one.T).toarray() for one in (of_labels, rated))
        np.fill_diagonal(products, 0.0)
        np.fill_diagonal(common, 0.0)
        return cls(rater, products, common)

    def p_of(self, column: Codes, axis: Codes) -> float:
        """P-value of a column's values, within those of an axis; 1 where no two raters share a value."""
        first, second = _pairs(column[self.rater])
        group = axis[self.rater]
        in_order = np.argsort(group, kind="stable")
        reached, own = 0, self._mean(first, second)
        if np.isnan(own):
            return 1.0
        rng = np.random.default_rng((_SEED, 1))
        for _ in range(PERMUTATIONS):
            taken = np.empty(group.size, dtype=np.int64)
            taken[in_order] = np.lexsort((rng.random(group.size), group))
            reached += not self._mean(taken[first], taken[second]) < own - _TIE * abs(own)
        return (1 + reached) / (1 + PERMUTATIONS)

    def _mean(self, first: Int64Array, second: Int64Array) -> float:
        """The mean product over the items of these pairs; NaN where they have none."""
        common = float(self.common[first, second].sum())
        return float(self.products[first, second].sum()) / common if common else float("nan")


def _some_items(annotations: Annotations, rng: np.random.Generator) -> BoolArray:
    """Annotations of items drawn at random, as many as are looked at, shape (A,)."""
    each = np.diff(annotations.indptr)
    order = rng.permutation(annotations.n_items)
    kept = np.zeros(annotations.n_items, dtype=np.bool_)
    fitting = int((each[order].cumsum() <= MOST_ANNOTATIONS).sum())
    kept[order[: max(fitting, 1)]] = True
    return np.asarray(kept[annotations.item])


def _pairs(codes: Codes) -> tuple[Int64Array, Int64Array]:
    """Pairs of raters with one value, at most so many, evenly over the values."""
    found = [np.stack(pair) for pair in _of_values(codes)]
    every = np.concatenate(found, axis=1) if found else np.empty((2, 0), dtype=np.int64)
    first, second = every[:, :: -(-max(every.shape[1], 1) // MOST_PAIRS)]
    return first, second


def _of_values(codes: Codes) -> Iterator[tuple[Int64Array, Int64Array]]:
    order = np.argsort(codes, kind="stable")
    known = order[codes[order] >= 0]
    for of_one in np.split(known, np.flatnonzero(np.diff(codes[known])) + 1):
        first, second = np.triu_indices(of_one.size, 1)
        yield of_one[first], of_one[second]
