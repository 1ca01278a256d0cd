"""The obvious program: a loop over groups with ``krippendorff.alpha`` and vectorised NumPy.

It is written to be fair: counts of all groups come from one matrix product, and every statistic but IRR is
vectorised over items.
"""

from __future__ import annotations

import krippendorff
import numpy as np

from grasp_core.model.annotations import Annotations, FloatArray
from grasp_core.model.groups import Grouping


class Loop:
    """All seven statistics of all groups, one permutation at a time, for fully known profiles."""

    def __init__(self, annotations: Annotations, grouping: Grouping) -> None:
        self.shape = (annotations.n_items, annotations.n_categories)
        labels = np.zeros((annotations.n_raters, annotations.n_items * annotations.n_categories), np.float32)
        labels[annotations.rater, annotations.item * annotations.n_categories + annotations.category] = 1
        self.labels = labels
        self.everybody = labels.sum(axis=0).reshape(self.shape).astype(np.int64)
        self.member = grouping.member

    def permutation(self, rng: np.random.Generator) -> FloatArray:
        """Shuffle profiles and compute, shape (G, 7)."""
        member = self.member[:, rng.permutation(self.member.shape[1])].astype(np.float32)
        counts = (member @ self.labels).astype(np.int64).reshape(-1, *self.shape)
        return np.array([self._group(c, self.everybody - c) for c in counts])

    def _group(self, c: np.ndarray, d: np.ndarray) -> list[float]:
        k = c.shape[1]
        irr = krippendorff.alpha(value_counts=c, level_of_measurement="nominal")
        n, m = c.sum(axis=1), d.sum(axis=1)
        rated = n >= 1
        p = c[rated] / n[rated, None]
        entropy = -(p * np.log(p, out=np.zeros_like(p), where=p > 0)).sum(axis=1)
        negentropy = (np.log(k) - entropy).mean()
        plurality_size = p.max(axis=1).mean()
        both = rated & (m >= 1)
        c, d, n, m = c[both], d[both], n[both], m[both]
        expected = 1 - (c.sum(axis=0) / n.sum() * (d.sum(axis=0) / m.sum())).sum()
        observed = ((n + m) * (1 - (c * d).sum(axis=1) / (n * m))).sum() / (n.sum() + m.sum())
        xrr = 1 - observed / expected
        q = (d + 0.5) / (m + k / 2)[:, None]
        cross_negentropy = (np.log(k) + (c / n[:, None] * np.log(q)).sum(axis=1)).mean()
        x, y = c.argmax(axis=1), d.argmax(axis=1)
        votes = np.bincount(x, minlength=k) + np.bincount(y, minlength=k)
        total = votes.sum()
        chance = (total**2 - (votes**2).sum()) / (total * (total - 1))
        voting_agreement = 1 - (x != y).mean() / chance
        gai = irr / xrr
        return [irr, xrr, negentropy, cross_negentropy, plurality_size, voting_agreement, gai]
