"""Pairs of raters who agree far more than two independent raters would (docs/quality.md)."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from scipy.sparse import csr_array
from scipy.special import ndtri, rel_entr

from grasp_core.model.annotations import Annotations, BoolArray, FloatArray, Int64Array
from grasp_core.reading.screens.constant import find_constant, fitted, others_shares

FEWEST_COMMON = 20  # fewest common items of a pair that is examined
LEVEL = 0.05  # bound on the chance that any pair of independent raters is named
EXCESS = 0.75  # least share of the disagreements expected of independent raters that a pair must lack
CLOSEST = 3  # rank of the partner, by closeness, whose agreement with either rater a pair must exceed

MAX_WORK = 2_000_000_000  # most multiplications; larger data are thinned to items drawn at random
MAX_CELLS = 6_000_000  # most annotations times categories
QUICK_WORK, QUICK_CELLS = 200_000_000, 1_000_000  # the same bounds for a search of about a second
INSTANT_WORK = 50_000_000  # most multiplications of a search of a few tenths of a second
MAX_CANDIDATES = 1_000_000
BLOCK_BYTES = 64 * 2**20
_SEED = 1


@dataclass(frozen=True, slots=True)
class Pair:
    """Two raters, by position, and numbers of common items, of equal labels, and of equal labels expected."""

    first: int
    second: int
    common: int
    agreed: int
    expected: float


class CloseRaters(NamedTuple):
    """Number of pairs that agree implausibly often, and of their raters, without identities."""

    pairs: int
    raters: int
    pairs_looked_at: int
    items_used: float


@dataclass(frozen=True, slots=True)
class Duplicates:
    """Pairs that agree implausibly often, out of those examined; `items_used` is the share of items used."""

    pairs: tuple[Pair, ...]
    looked_at: int
    items_used: float

    @property
    def raters(self) -> int:
        """Number of raters in any of the pairs."""
        return len({rater for pair in self.pairs for rater in (pair.first, pair.second)})

    @property
    def counted(self) -> CloseRaters:
        """Numbers of pairs and raters, without identities."""
        return CloseRaters(len(self.pairs), self.raters, self.looked_at, self.items_used)

    def one_of_each(self, annotations: Annotations) -> BoolArray:
        """Return one rater of each pair, (J,): of fewer annotations, or later; pairs left with one stay."""
        left_out = np.zeros(annotations.n_raters, dtype=np.bool_)
        per_rater = np.bincount(annotations.rater, minlength=annotations.n_raters)
        for pair in self.pairs:
            if not (left_out[pair.first] or left_out[pair.second]):
                fewer = min((pair.first, pair.second), key=lambda rater: (per_rater[rater], -rater))
                left_out[fewer] = True
        return left_out

    def among(self, n_raters: int) -> BoolArray:
        """Return whether each of J raters is in any of the pairs, shape (J,)."""
        found = np.zeros(n_raters, dtype=np.bool_)
        found[[rater for pair in self.pairs for rater in (pair.first, pair.second)]] = True
        return found


def near_duplicates(annotations: Annotations) -> Duplicates:
    """Find pairs of raters who agree more than independent ones, least plausible first (docs/quality.md)."""
    constant, _ = find_constant(annotations)
    votes = _Votes.of(annotations, ~constant)
    usual = np.zeros(votes.rater.size)
    kept: list[FloatArray] = [np.empty((0, 5))]
    looked_at, room = 0, MAX_CANDIDATES
    for start, common, agreed, expected in _blocks(votes):
        pairs = common >= FEWEST_COMMON
        usual[start : start + len(common)] = _usual(pairs, common, agreed, expected)
        later = np.arange(pairs.shape[1]) > np.arange(start, start + len(pairs))[:, None]  # each pair once
        first, second = np.nonzero(pairs & later)
        looked_at += first.size
        n, same, mean = (matrix[first, second] for matrix in (common, agreed, expected))
        likely = (same - mean >= EXCESS * (n - mean)) & _implausible(n, same, mean, 1)
        found = np.column_stack([first + start, second, n, same, mean])[likely][:room]
        room -= len(found)
        kept.append(found)
    named = _named(np.concatenate(kept), usual, looked_at, votes.rater)
    return Duplicates(named, looked_at, votes.items_used)


def is_quick(annotations: Annotations, *, instant: bool = False) -> bool:
    """Return whether the search takes about a second; `instant`: less than a busy worker needs to begin."""
    work = INSTANT_WORK if instant else QUICK_WORK
    size = np.diff(annotations.indptr).astype(np.float64)
    k = annotations.n_categories
    return bool((size**2).sum() * k <= work and annotations.n_annotations * k <= QUICK_CELLS)


def _usual(pairs: BoolArray, common: FloatArray, agreed: FloatArray, expected: FloatArray) -> FloatArray:
    """Return each rater's excess with their third closest partner, less the excess due to chance alone."""
    chance = ndtri(1 - CLOSEST / np.maximum(pairs.sum(axis=1), 2 * CLOSEST))[:, None]
    with np.errstate(divide="ignore", invalid="ignore"):
        noise = np.sqrt(expected * (1 - expected / common))
        excess = np.where(pairs, (agreed - expected - chance * noise) / (common - expected), 0.0)
    excess = np.pad(excess, ((0, 0), (0, CLOSEST)))  # in place of missing partners
    closest: FloatArray = np.clip(np.partition(excess, -CLOSEST, axis=1)[:, -CLOSEST], 0.0, 1.0)
    return closest


def _named(candidates: FloatArray, usual: FloatArray, looked_at: int, rater: Int64Array) -> tuple[Pair, ...]:
    first, second = (candidates[:, side].astype(np.int64) for side in (0, 1))
    common, agreed, expected = candidates[:, 2], candidates[:, 3], candidates[:, 4]
    raised = expected + np.maximum(usual[first], usual[second]) * (common - expected)
    named = np.flatnonzero(_implausible(common, agreed, raised, looked_at))
    order = named[np.argsort(_log_bound(common, agreed, raised)[named], kind="stable")]
    return tuple(
        Pair(int(rater[first[p]]), int(rater[second[p]]), int(common[p]), int(agreed[p]), float(expected[p]))
        for p in order
    )


def _implausible(common: FloatArray, agreed: FloatArray, expected: FloatArray, tests: int) -> BoolArray:
    implausible: BoolArray = _log_bound(common, agreed, expected) + np.log(max(tests, 1)) < np.log(LEVEL)
    return implausible


def _log_bound(common: FloatArray, agreed: FloatArray, expected: FloatArray) -> FloatArray:
    """Return Hoeffding's bound on ln P(at least `agreed` matches); 0 if there are no more than expected."""
    s = agreed / common
    e = np.clip(expected / common, 1e-12, 1 - 1e-12)
    bound: FloatArray = np.where(s > e, -common * (rel_entr(s, e) + rel_entr(1 - s, 1 - e)), 0.0)
    return bound


@dataclass(frozen=True, slots=True, eq=False)
class _Votes:
    """Raters' labels, and their expected labels, as sparse matrices.

    `rated` is (J', I), `given` and `likely` are (J', I K); `rater` holds the J' raters' positions.
    """

    rated: csr_array
    given: csr_array
    likely: csr_array
    rater: Int64Array
    items_used: float

    @classmethod
    def of(cls, annotations: Annotations, wanted: BoolArray) -> _Votes:
        """Thin the data, leave out raters whom nobody can be compared with, and fit the others' behaviour."""
        items = _thinned(annotations)
        rows = items[annotations.item]
        per_rater = np.bincount(annotations.rater[rows], minlength=annotations.n_raters)
        rated = _rated(annotations, rows, np.flatnonzero(wanted & (per_rater >= FEWEST_COMMON)))
        rater = rated.rater[_has_partner(rated.matrix)]
        rated = _rated(annotations, rows, rater)
        item, label = annotations.item[rated.rows].astype(np.int64), annotations.category[rated.rows]
        k = annotations.n_categories
        likely = fitted(rated.who, label, others_shares(annotations, rated.rows), rater.size)
        cells = annotations.n_items * k
        ones = np.ones(item.size, dtype=np.int32)
        every = (item[:, None] * k + np.arange(k)).ravel()
        return cls(
            rated=rated.matrix,
            given=csr_array((ones, (rated.who, item * k + label)), shape=(rater.size, cells)),
            likely=csr_array((likely.T.ravel(), (np.repeat(rated.who, k), every)), shape=(rater.size, cells)),
            rater=rater,
            items_used=float(items.mean()) if items.size else 1.0,
        )


class _Rated(NamedTuple):
    """Annotations of some raters: a mask, each one's rater (position among these), and the (J', I) matrix."""

    rows: BoolArray
    who: Int64Array
    matrix: csr_array
    rater: Int64Array


def _rated(annotations: Annotations, rows: BoolArray, rater: Int64Array) -> _Rated:
    position = np.full(annotations.n_raters, -1, dtype=np.int64)
    position[rater] = np.arange(rater.size)
    rows = rows & (position[annotations.rater] >= 0)
    who = position[annotations.rater[rows]]
    ones = np.ones(who.size, dtype=np.int32)
    shape = (rater.size, annotations.n_items)
    return _Rated(rows, who, csr_array((ones, (who, annotations.item[rows])), shape=shape), rater)


def _has_partner(rated: csr_array) -> BoolArray:
    """Return the raters with enough items in common with another rater; only these are fitted."""
    found = np.zeros(rated.shape[0], dtype=np.bool_)
    by_item = rated.T.tocsr()
    for block in _of_raters(rated.shape[0]):
        common = rated[block] @ by_item
        enough = np.add.reduceat(common.data >= FEWEST_COMMON, common.indptr[:-1], dtype=np.int64)
        found[block] = enough > 1  # one is the rater
    return found


def _of_raters(n_raters: int) -> Iterator[slice]:
    """Yield blocks of raters whose pairs with all raters fit into memory."""
    step = max(BLOCK_BYTES // (8 * 8 * max(n_raters, 1)), 1)
    for start in range(0, n_raters, step):
        yield slice(start, min(start + step, n_raters))


def _thinned(annotations: Annotations) -> BoolArray:
    """Return the items used: all, or as many drawn at random as the bounds on time and memory allow."""
    size = np.diff(annotations.indptr)
    order = np.random.default_rng(_SEED).permutation(annotations.n_items)
    work = (size[order].astype(np.float64) ** 2).cumsum() * annotations.n_categories
    cells = size[order].cumsum() * annotations.n_categories
    fitting = int(((work <= MAX_WORK) & (cells <= MAX_CELLS)).sum())
    items = np.zeros(annotations.n_items, dtype=np.bool_)
    items[order[: max(fitting, 1)]] = True
    return items


def _blocks(votes: _Votes) -> Iterator[tuple[int, FloatArray, FloatArray, FloatArray]]:
    """Yield common items (0 with oneself), equal and expected labels of some raters with all: (b, J')."""
    matrices = (votes.rated, votes.given, votes.likely)
    turned = [matrix.T.tocsr() for matrix in matrices]  # once, not for each block
    for block in _of_raters(votes.rater.size):
        common, agreed, expected = (
            (matrix[block] @ other).toarray().astype(np.float64, copy=False)
            for matrix, other in zip(matrices, turned, strict=True)
        )
        common[np.arange(len(common)), np.arange(block.start, block.stop)] = 0
        yield block.start, common, agreed, expected
