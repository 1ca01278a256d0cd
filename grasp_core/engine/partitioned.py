"""Data in parts on a pool: statistics are ratios of sums over items, and the parts' sums are added.

A piece of work is one part under some permutations. Its sums are a small array, whatever the part's size, so
that no process holds more than a part; they are added in the order of the parts, so that the same data give
the same bits with any number of workers and however the permutations are cut.
"""

from __future__ import annotations

import itertools
import time
from collections.abc import Callable, Iterator, Sequence

import numpy as np

from grasp_core.annotations import FloatArray
from grasp_core.assignment import AssignmentCheck, unequal_axes
from grasp_core.engine import part_raters
from grasp_core.engine.part_work import RATERS, PartTask, observe_part, permute_part
from grasp_core.engine.pools.blocks import Block, Blocks
from grasp_core.engine.pools.pool import Pool
from grasp_core.groups import Grouping
from grasp_core.guards.check import Seen, check_assignment
from grasp_core.io.parts.plan import PartPlan
from grasp_core.io.parts.refused import check_supported
from grasp_core.io.parts.survey import DatasetInParts
from grasp_core.panels.cohesion.label_use import Labels
from grasp_core.panels.cohesion.panel import Cohesion, CohesionWork
from grasp_core.panels.panel import Work
from grasp_core.permutation import questions
from grasp_core.permutation.exchange import Exchange
from grasp_core.permutation.kernel.profiles import FEWEST_BATCH, MOST_BATCH
from grasp_core.permutation.questions import AnyDesign
from grasp_core.permutation.testing.attainable import Symmetry, regroupings
from grasp_core.spec import RunSpec

BATCH_BYTES = 256 * 2**20
"""Room for the sums of the permutations that are computed together."""
BATCH_SECONDS = 60.0
"""About how long permutations are computed together: what an interrupted run loses at most."""
TOGETHER = 64
"""Permutations of a piece of work at least, if there are so many: together each costs less than alone."""
PROFILE_BYTES = 128 * 2**20
"""Room for the raters' profiles under the permutations of a piece of work, which a worker draws once."""


class InParts:
    """Computes runs on a data set in parts, as :class:`~grasp_core.engine.pools.pool.Pool` does in memory.

    Parameters
    ----------
    data : DatasetInParts
    spec : RunSpec
    pool : Pool
    check : callable
        Called after each piece of work on the observed statistics; what it raises ends the work.

    Raises
    ------
    SpecError
        If the spec asks for what data in parts cannot be asked.
    """

    def __init__(self, data: DatasetInParts, spec: RunSpec, pool: Pool, check: Callable[[], None]) -> None:
        check_supported(spec.data, spec.models, spec.analysis.slices)
        self._data, self._spec, self._pool, self._check = data, spec, pool, check
        self._seconds: list[float] = []  # of one permutation of each part
        self._raters_add = False
        PartPlan.of(data, spec).save()

    @property
    def n_workers(self) -> int:
        """Pieces of work that are computed side by side."""
        return self._pool.n_workers

    def panel(self, grouping: Grouping, exchange: Exchange) -> tuple[Cohesion, tuple[AssignmentCheck, ...]]:
        """Cohesion with its observed statistics, and how groups were given their items; IRRs are checked.

        Raises
        ------
        DataError
            If a part has to be read again and a file of it has changed.
        SelfCheckError
            See :func:`~grasp_core.engine.run.prepare`.
        """
        design = self._lay_out(grouping)
        sums, seen = self._observe(np.zeros((design.n_groups, questions.n_sums(design))))

        def lay_out(some: Grouping) -> AnyDesign:
            return design if some is grouping else self._lay_out(some)

        analysis, of_raters = self._spec.analysis, self._data.annotations_of
        checks = check_assignment(seen, of_raters, grouping, analysis.axes, exchange)
        return Cohesion(
            grouping,
            analysis,
            questions.components(design, sums),
            Labels.of(self._data.questions),
            lay_out,
            of_raters,
            unequal=unequal_axes(checks),
            left=regroupings(self._data.raters, grouping, analysis),
            symmetry=Symmetry.of(self._data.raters, grouping, analysis),
        ), checks

    def _observe(self, sums: FloatArray) -> tuple[FloatArray, Seen]:
        """Add up all parts under the raters' own profiles, and what raters add; who is seen to rate what."""
        data = self._data
        parts, labels = data.parts.parts, [question.categories for question in data.questions]
        fitting = part_raters.fit(data.annotations.n_raters, labels)
        totals = part_raters.Totals(data.annotations.n_raters if fitting else 0, labels)
        tasks = [PartTask(data.place, part, 0, 1) for part in range(len(parts))]
        seen: list[Seen] = []
        for task, found in zip(tasks, self._pool.each(observe_part, tasks, check=self._check), strict=True):
            sums += found.sums
            seen = [Seen.together([*seen, found.seen])]  # no more than one is held
            totals.add(data.place, task.part, found.of_raters)
            self._raters_add |= bool(found.of_raters)
            if found.seconds:
                self._seconds = [found.seconds * part.rows / parts[task.part].rows for part in parts]
        if self._raters_add:
            totals.write(data.place)
        return sums, seen[0]

    def permute(
        self,
        work: Work,
        seed: int,
        blocks: Blocks,
        *,
        store: Callable[[Block, FloatArray], None],
        check: Callable[[], None],
    ) -> None:
        """See :meth:`~grasp_core.engine.pools.pool.Pool.permute`; all workers compute one block at a time.

        Raises
        ------
        DataError
            As :meth:`panel`.
        WorkerError
            If the workers die again and again.
        """
        if not isinstance(work, CohesionWork) or seed != self._spec.analysis.seed:
            raise TypeError("only the run's own cohesion is computed in parts")
        bytes_each = 8 * work.design.n_groups * questions.n_sums(work.design)
        in_time = int(BATCH_SECONDS * self.n_workers / sum(self._seconds))
        most = max(min(BATCH_BYTES // bytes_each, max(in_time, TOGETHER)), 1)
        while block := blocks.take(most):
            began = time.perf_counter()
            store(block, self._values(block, work, blocks, check))
            blocks.finish(block, (time.perf_counter() - began) * self._pool.n_workers)
            check()

    def _values(
        self, block: Block, work: CohesionWork, blocks: Blocks, check: Callable[[], None]
    ) -> FloatArray:
        """Statistics from the parts' sums, shape (b, groups, 6)."""
        first, last = block
        sums = np.zeros((last - first, work.design.n_groups, questions.n_sums(work.design)))
        began, done = time.perf_counter(), 0.0
        tasks = list(self._tasks(first, last, work.groups))
        found = self._pool.each(permute_part, tasks, check=check)
        for task, of_part in zip(tasks, found, strict=True):
            sums[task.start - first : task.stop - first] += of_part
            if task.part != RATERS:
                done += (task.stop - task.start) * self._seconds[task.part] / sum(self._seconds)
            blocks.reach(int(done), time.perf_counter() - began)
            check()
        return questions.together(questions.components(work.design, sums))

    def _tasks(self, first: int, last: int, groups: Sequence[int]) -> Iterator[PartTask]:
        """Some permutations of part after part, then the next ones: each worker draws them once for all."""
        n_parts = len(self._seconds)
        n_pieces = -(-(last - first) // self._together())
        if n_parts < self.n_workers:  # else some would have nothing to do
            n_pieces = -(-n_pieces // self.n_workers) * self.n_workers
        cuts = np.linspace(first, last, min(n_pieces, last - first) + 1).astype(int).tolist()
        for start, stop in itertools.pairwise(cuts):
            for part in [*range(n_parts), *[RATERS] * self._raters_add]:
                yield PartTask(self._data.place, part, start, stop, tuple(groups))

    def _together(self) -> int:
        """Permutations of a piece of work."""
        in_time = int(self._pool.task_seconds / max(*self._seconds, 1e-9))
        fitting = PROFILE_BYTES // (2 * max(self._data.annotations.n_raters, 1))
        return max(min(max(in_time, TOGETHER), fitting, MOST_BATCH), FEWEST_BATCH)

    def _lay_out(self, some: Grouping) -> AnyDesign:
        """The design without items, which turns sums into statistics."""
        data = self._data
        return questions.lay_out(data.questions, data.raters, some, self._spec.analysis, first_item=0)
