"""How often each group gives each label, held against random groups: all that a new panel takes."""

from dataclasses import dataclass

import numpy as np

from grasp_core.model.annotations import BoolArray, Codes, FloatArray
from grasp_core.model.groups import Grouping
from grasp_core.model.spec import AnalysisSpec
from grasp_core.permutation.draw import over_all, permutation
from grasp_core.permutation.testing.families import Family, Tests
from grasp_core.reading.dataset.load import Dataset


@dataclass(frozen=True, slots=True, eq=False)
class LabelUseWork:
    """How often each rater gave each label, shape (J, K), and who is in which group, shape (U, J)."""

    given: Codes
    member: BoolArray

    def shuffled(self, seed: int, start: int, stop: int) -> FloatArray:
        order, bounds = over_all(len(self.given))
        sources = [permutation(seed, b, order, bounds) for b in range(start, stop)]
        return np.stack([shares(self.given, self.member[:, source]) for source in sources])


class LabelUse:
    """The share of each label in each group: a family of tests for each label, over all groups."""

    def __init__(self, dataset: Dataset, grouping: Grouping, analysis: AnalysisSpec) -> None:
        annotations = dataset.annotations
        self.per_unit = annotations.n_categories
        self._given = np.zeros((annotations.n_raters, self.per_unit), np.int32)
        np.add.at(self._given, (annotations.rater, annotations.category), 1)
        self._member = grouping.member
        self.observed = shares(self._given, self._member).ravel()
        columns = np.arange(self.observed.size).reshape(-1, self.per_unit)
        self.tests = Tests(
            tuple(Family(tuple(of_label), analysis.p_value, analysis.correction) for of_label in columns.T),
            needs=np.repeat(np.eye(len(columns), dtype=np.bool_), self.per_unit, axis=0),
        )

    def work(self, active: BoolArray) -> LabelUseWork:
        return LabelUseWork(self._given, self._member[active])

    def columns(self, values: FloatArray) -> FloatArray:
        return values.reshape(len(values), -1)


def shares(given: Codes, member: BoolArray) -> FloatArray:
    """Shape (U, K)."""
    counts = member.astype(np.int64) @ given
    return counts / counts.sum(axis=1, keepdims=True)
