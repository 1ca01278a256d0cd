"""Cells of the study: a way to draw data, the analysis of them, and the groups that differ."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from grasp_core.model.data_spec import DataSpec
from grasp_core.model.groups import AxisSet
from grasp_core.model.spec import AnalysisSpec, RunSpec
from grasp_core.reading.dataset.load import Dataset

PERMUTATIONS = 499


@dataclass(frozen=True, slots=True)
class Cell:
    """A way to draw data, and the analysis of them.

    Parameters
    ----------
    section, name : str
        Place of its figures; together they name the cell.
    draw : callable
        From a seed to a data set.
    axes : tuple of axis sets
    differs : set of tuples of str
        Values of the groups in which a difference is planted; all others differ by chance alone.
    changes : mapping
        Fields of the analysis that differ from the usual ones.
    of_peers : bool
        Whether other tests are compared with ours on the same data.
    weight : float
        Number of data sets, as a multiple of the study's number.
    """

    section: str
    name: str
    draw: Callable[[int], Dataset]
    axes: tuple[AxisSet, ...]
    differs: frozenset[tuple[str, ...]] = frozenset()
    changes: Mapping[str, Any] = field(default_factory=dict)
    of_peers: bool = False
    weight: float = 1.0

    @property
    def key(self) -> str:
        """Name of its stored measurements; it changes with the analysis."""
        asked = json.dumps([self.section, self.name, self.axes, sorted(self.changes.items())], default=str)
        return hashlib.sha256(asked.encode()).hexdigest()[:16]

    def spec(self, seed: int) -> RunSpec:
        """Return the run for the data set of a seed."""
        asked = {"permutations": PERMUTATIONS, "seed": seed, "pairs": False, **self.changes}
        return RunSpec(
            DataSpec(item="item", rater="rater", label="label"), AnalysisSpec(axes=self.axes, **asked)
        )
