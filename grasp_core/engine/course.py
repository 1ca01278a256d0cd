"""The course of a run: its stages one after the other, how far it is in all, and how long the rest takes."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from grasp_core.engine.cost import default_seconds, pairs_seconds
from grasp_core.engine.pools.blocks import Progress
from grasp_core.engine.run import Prepared
from grasp_core.engine.watching import Watcher
from grasp_core.panels.pairs.panel import compared
from grasp_core.result import Result

GROUPS, VERDICTS, PAIRS, SLICES, GIVEN = "groups", "verdicts", "pairs", "slices", "given"
_LAID_OUT_S = 0.15
"""Before a part's first permutation."""
_GROUP_S, _PAIR_S, _GROUP_OF_SLICE_S = 0.027, 0.026, 0.01
"""After the last one: tests and intervals of a group, a pair, and a group on a slice's items."""


@dataclass(frozen=True, slots=True)
class Stage:
    """A stage of a run.

    Parameters
    ----------
    name : str
    parts : tuple of (float, float)
        Of each of its parts, such as the pairs of one axis, the expected seconds of its permutations and of
        the tests that follow; only their ratios count.
    """

    name: str
    parts: tuple[tuple[float, float], ...]

    @property
    def seconds(self) -> float:
        """All of its parts together."""
        return sum(map(sum, self.parts))


class Course:
    """How far a run is over all its stages.

    Parameters
    ----------
    stages : sequence of Stage
        In order.
    clock : callable
        Seconds.
    """

    def __init__(self, stages: Sequence[Stage], clock: Callable[[], float] = time.perf_counter) -> None:
        self._stages, self._clock = tuple(stages), clock
        self._began = clock()
        self._stage, self._part = 0, -1

    @classmethod
    def of(cls, prepared: Prepared) -> Course:
        """The course that a run will take, by the model of :mod:`~grasp_core.engine.cost`."""
        dataset, analysis = prepared.dataset, prepared.spec.analysis
        asked = dataset, analysis.axes, analysis.min_raters
        groups = len(prepared.grouping.groups)
        shuffled, after = default_seconds(*asked), _LAID_OUT_S + _GROUP_S * groups
        once = (shuffled + _LAID_OUT_S, after)
        found = [Stage(GROUPS, (once,))]
        if prepared.spec.models:
            return cls(found)
        if analysis.pairs:
            compared_groups = compared(prepared.grouping, analysis.axes)
            parts = []
            for of_axis in compared_groups:
                axes = prepared.grouping.groups[of_axis[0]].axes
                seconds = pairs_seconds(dataset, [axes], analysis.min_raters) + _LAID_OUT_S
                parts.append((seconds, _PAIR_S * math.comb(len(of_axis), 2)))
            found += [Stage(PAIRS, tuple(parts))] if parts else []
        sliced = tuple(
            (
                default_seconds(*asked, (one,)) - shuffled + 2 * _LAID_OUT_S,
                _GROUP_OF_SLICE_S * groups * len(dataset.attributes[one].values),
            )
            for one in analysis.slices
        )
        found += [Stage(SLICES, sliced)] if sliced else []
        found += [Stage(GIVEN, (once,) * len(analysis.given))] if analysis.given else []
        return cls(found)

    def enter(self, name: str) -> None:
        """A part of a stage begins; one that is not of the course, as verdicts, belongs to the one before."""
        if self._stages[self._stage].name == name:
            self._part = min(self._part + 1, len(self._stages[self._stage].parts) - 1)
            return
        later = [place for place, one in enumerate(self._stages) if one.name == name and place > self._stage]
        if later:
            self._stage, self._part = later[0], 0

    def seen(self, progress: Progress) -> Progress:
        """The progress of a part as that of the run, with the time left for all that remains."""
        stages, here = self._stages, self._stages[self._stage]
        within = min(progress.done / progress.total, 1.0) if progress.total else 0.0
        if progress.of == VERDICTS:
            within = 1.0
        part = max(self._part, 0)
        shuffled = here.parts[part][0]
        before = sum(one.seconds for one in stages[: self._stage]) + sum(map(sum, here.parts[:part]))
        done = before + within * shuffled
        whole = sum(one.seconds for one in stages)
        left = progress.seconds_left
        if len(stages) > 1:  # parts are short beside each other: what all of them took tells more than one
            left = (whole - done) * (self._clock() - self._began) / done if done > 0 else None
        return replace(progress, seconds_left=left, share=min(done / whole, 1.0), stages=self._words(part))

    def _words(self, part: int) -> str:
        """For example "Groups done · Pairs 3 of 4 · Slices"; empty where there is one stage."""
        if len(self._stages) < 2:
            return ""
        said = []
        for place, one in enumerate(self._stages):
            name = one.name.capitalize()
            if place < self._stage:
                said.append(f"{name} done")
            elif place == self._stage and len(one.parts) > 1:
                said.append(f"{name} {part + 1} of {len(one.parts)}")
            else:
                said.append(name)
        return " · ".join(said)


class OnCourse(Watcher):
    """Watches a part of a run for the watcher of the whole.

    Parameters
    ----------
    watcher : Watcher
    course : Course
    of : str
        The stage, such as "pairs"; what is found while it goes on is told as provisional of it.
    """

    def __init__(self, watcher: Watcher, course: Course, of: str) -> None:
        self._watcher, self._course, self._of = watcher, course, of
        course.enter(of)

    @property
    def side_by_side(self) -> int:
        """See :class:`~grasp_core.engine.watching.Watcher`."""
        return self._watcher.side_by_side

    @property
    def looks_on(self) -> bool:
        """See :class:`~grasp_core.engine.watching.Watcher`."""
        return self._watcher.looks_on

    def check(self, progress: Progress) -> None:
        """See :class:`~grasp_core.engine.watching.Watcher`."""
        of = None if self._of == GROUPS else self._of
        self._watcher.check(self._course.seen(replace(progress, of=of)))

    def found(self, provisional: Result) -> None:
        """See :class:`~grasp_core.engine.watching.Watcher`."""
        later = provisional if self._of == GROUPS else replace(provisional, later=self._of)
        self._watcher.found(later)
