"""Several questions about the same items, evaluated under the same permutations and put together.

IRR and XRR: the disagreements are summed over the questions before the ratio is taken (METHODS section 1);
a question for which a group's are not estimable adds nothing. The other statistics are averaged over the
questions in which they have a value. :mod:`grasp_core.statistics.questions` is the plain twin.
"""

from __future__ import annotations

import tempfile
import zipfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from grasp_core.annotations import Annotations, FloatArray, Raters
from grasp_core.groups import Grouping
from grasp_core.permutation import kernel
from grasp_core.permutation.design import Design, build_design
from grasp_core.spec import AnalysisSpec

_DISAGREEMENTS = 4
"""The first of :func:`kernel.parts`: D_o and D_e of IRR and of XRR."""


@dataclass(frozen=True, slots=True, eq=False)
class Questions:
    """One design per question, of the same raters and groups."""

    designs: tuple[Design, ...]

    @property
    def n_groups(self) -> int:
        """G."""
        return self.designs[0].n_groups

    def save(self, path: Path) -> None:
        """Write to a file that :func:`load` reads: the designs' own files, packed."""
        with tempfile.TemporaryDirectory() as folder, zipfile.ZipFile(path, "w") as packed:
            for number, design in enumerate(self.designs):
                file = Path(folder) / f"{number}.npz"
                design.save(file)
                packed.write(file, file.name)
                file.unlink()


Layout = Design | Questions
"""What a run's workers need: one question's design, or those of several."""


def lay_out(
    questions: Sequence[Annotations], raters: Raters, grouping: Grouping, spec: AnalysisSpec
) -> Layout:
    """The design of one question, or of each; see :func:`~grasp_core.permutation.design.build_design`."""
    designs = tuple(build_design(one, raters, grouping, spec) for one in questions)
    return designs[0] if len(designs) == 1 else Questions(designs)


def designs_of(layout: Layout) -> tuple[Design, ...]:
    """One design per question."""
    return layout.designs if isinstance(layout, Questions) else (layout,)


def load(path: Path) -> Layout:
    """Read what :meth:`Design.save` or :meth:`Questions.save` wrote."""
    with zipfile.ZipFile(path) as packed:
        names = packed.namelist()
        if not all(name.endswith(".npz") for name in names):
            return Design.load(path)
        with tempfile.TemporaryDirectory() as folder:
            return Questions(tuple(Design.load(Path(packed.extract(name, folder))) for name in names))


def shuffled(layout: Layout, seed: int, start: int, stop: int) -> FloatArray:
    """:func:`kernel.shuffled`, of one question or of several together; shape (stop - start, G, 6)."""
    if not isinstance(layout, Questions):
        return kernel.shuffled(layout, seed, start, stop)
    return together([kernel.shuffled_parts(one, seed, start, stop) for one in layout.designs])


def observed_parts(layout: Layout) -> list[FloatArray]:
    """:func:`kernel.parts` of each question under the raters' own profiles, shape (G, 8)."""
    return [kernel.parts(one, kernel.observed_sums(one)) for one in designs_of(layout)]


def together(parts: Sequence[FloatArray]) -> FloatArray:
    """The statistics of all questions as one: arrays of shape (..., 8) become one of shape (..., 6)."""
    stacked = np.stack(parts)  # (questions, ..., 8)
    known = ~np.isnan(stacked)
    whole = np.where(known, stacked, 0.0).sum(axis=0)
    n = known.sum(axis=0)[..., _DISAGREEMENTS:]
    averages = whole[..., _DISAGREEMENTS:]
    np.divide(averages, n, out=averages, where=n > 0)
    averages[n == 0] = np.nan
    return kernel.statistics(whole)
