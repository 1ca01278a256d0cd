"""A group's items in plain NumPy: every permutation kept, nothing counted as it goes."""

from __future__ import annotations

import numpy as np

from grasp_core.model.groups import Group, form_groups
from grasp_core.model.spec import AnalysisSpec
from grasp_core.permutation.draw import exchange_of, permutation
from grasp_core.permutation.testing.corrections import q_values
from grasp_core.reading.dataset.load import Dataset
from grasp_core.statistics.items import count, distance_terms, label_use_terms, top_share, weights
from grasp_core.statistics.levels import category_values, squared_distances

TIE = 1e-12


class Twin:
    """Terms, p, q and the top tenth's share of a group's items."""

    def __init__(self, dataset: Dataset, analysis: AnalysisSpec, group: Group) -> None:
        grouping = form_groups(dataset.raters, [group.axes], min_raters=analysis.min_raters)
        at = grouping.groups.index(group)
        self.member, self.others = grouping.member[at], grouping.complement(at)
        self.annotations, self.analysis = dataset.annotations, analysis
        self.c, self.d = self.counts(np.arange(self.member.size))
        shared = (self.c.sum(axis=1) > 0) & (self.d.sum(axis=1) > 0)
        marginals = (self.c + self.d)[shared].sum(axis=0)
        values = category_values(self.annotations.categories, analysis.level)
        self.apart = squared_distances(analysis.level, values, marginals / marginals.sum())
        drawn = exchange_of(dataset.raters, analysis)
        null = [self.counts(permutation(analysis.seed, b, *drawn)) for b in range(analysis.permutations)]
        self.null_use = np.array([label_use_terms(c, d) for c, d in null])
        self.null_apart = np.array([distance_terms(c, d, self.apart) for c, d in null])

    def counts(self, source: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        return count(self.annotations, self.member[source]), count(self.annotations, self.others[source])

    @property
    def use(self) -> np.ndarray:
        """Each label's term over the weight of all items, (I, K)."""
        return label_use_terms(self.c, self.d) / weights(self.c, self.d).sum()

    @property
    def distance(self) -> np.ndarray:
        """The same of distance, (I,), over the weight of the items that have one."""
        terms = distance_terms(self.c, self.d, self.apart)
        return terms / weights(self.c, self.d)[~np.isnan(terms)].sum()

    def deviations(self) -> tuple[np.ndarray, np.ndarray]:
        """How far the furthest label lies: observed, (I,), and shuffled, (B, I)."""
        centre, scale = standard(self.null_use)
        if not self.analysis.strata:
            centre = np.zeros_like(centre)
        observed = np.abs(label_use_terms(self.c, self.d) - centre) / scale
        return observed.max(axis=1), (np.abs(self.null_use - centre) / scale).max(axis=2)

    def above(self) -> tuple[np.ndarray, np.ndarray]:
        centre, scale = standard(self.null_apart)
        observed = distance_terms(self.c, self.d, self.apart)
        return (observed - centre) / scale, (self.null_apart - centre) / scale

    def tests(self, measure: str) -> tuple[list[float | None], list[float | None]]:
        """p and q of every item."""
        if measure == "label_use":
            observed, null = self.deviations()
            furthest, shuffled = observed, null
        else:
            observed, null = distance_terms(self.c, self.d, self.apart), self.null_apart
            furthest, shuffled = self.above()
        n = (~np.isnan(null)).sum(axis=0)
        several = (self.total > 0).sum(axis=1) > 1
        tested = ~np.isnan(observed) & (n >= 100) & several
        reached = (null >= observed - TIE * np.maximum(1, np.abs(observed))).sum(axis=0)
        p = [(1 + r) / (1 + b) if t else None for r, b, t in zip(reached, n, tested, strict=True)]
        if self.analysis.correction != "max-t":
            return p, q_values(p, observed, null, self.analysis.correction)
        largest = np.nanmax(np.where(tested, shuffled, -np.inf), axis=1)
        q = [
            (1 + (largest >= furthest[i] - TIE).sum()) / (1 + largest.size) if tested[i] else None
            for i in range(len(p))
        ]
        return p, q

    @property
    def total(self) -> np.ndarray:
        """Everybody's labels, known or not, (I, K)."""
        return count(self.annotations, np.ones(self.member.size, dtype=bool))

    def shares(self, measure: str) -> tuple[float, np.ndarray]:
        """The top tenth's share: observed, and in every permutation."""
        observed = (
            label_use_terms(self.c, self.d)
            if measure == "label_use"
            else distance_terms(self.c, self.d, self.apart)
        )
        null = self.null_use if measure == "label_use" else self.null_apart
        return share(observed), np.array([share(of) for of in null])


def standard(null: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    known = np.maximum((~np.isnan(null)).sum(axis=0), 1)
    centre = np.nansum(null, axis=0) / known
    scale = np.sqrt(np.nansum((null - centre) ** 2, axis=0) / known)
    return centre, np.where(scale > 1e-9, scale, np.inf)


def share(terms: np.ndarray) -> float:
    sizes = np.abs(terms).sum(axis=1) / 2 if terms.ndim == 2 else np.maximum(terms, 0)
    return top_share(sizes[~np.isnan(sizes)])
