"""The stages of a run, the time that each takes, and the time that is left."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from itertools import combinations

from grasp_core.analysis.pairs import compared
from grasp_core.engine.pools.schedule import Progress
from grasp_core.engine.run import Prepared, bounded_groups
from grasp_core.engine.watching import Watcher
from grasp_core.model.groups import AxisSet, Grouping
from grasp_core.model.result import Result
from grasp_core.model.spec import DEFAULT_PERMUTATIONS
from grasp_core.reading.dataset.load import Dataset

LONG_SECONDS = 10.0
"""Most seconds of a run that does not stop early by default."""
CORES = 2
_ITEM_AND_GROUP = 20e-9
"""Seconds for the statistics of one group's counts on one item."""
_ITEM_AND_MODEL = 3.5e-9
"""Seconds for a model's agreement with one group on one item."""
_BY_ANNOTATION, _BY_WORD = 2e-9, 0.4e-9
"""Seconds for counting an annotation for an axis, or a label's raters for a group, 64 at once."""
_TABLED_LABELS, _TABLED_RATERS = 3, 128
"""Most labels and raters with which statistics are looked up in tables, if everybody labels everything."""
_LOOK_UP = 5e-9
"""Seconds for such a look-up, for an item and a group."""


def default_seconds(
    dataset: Dataset, axes: Sequence[AxisSet], min_raters: int, slices: Sequence[str] = ()
) -> float:
    """Estimate the seconds on two cores for the default number of permutations of axes, all in the data."""
    grouping = bounded_groups(dataset, axes, min_raters)
    each = _counting(dataset, grouping, axes)
    if not (_looked_up(dataset) and bool(grouping.known.all())):
        each += _ITEM_AND_GROUP * dataset.summary.items * len(grouping.groups)
    asked = 1 + sum(float((dataset.attributes[name].codes >= 0).mean()) for name in slices)
    return DEFAULT_PERMUTATIONS * each * asked * len(dataset.questions) / CORES


def models_seconds(dataset: Dataset, n_models: int, axes: Sequence[AxisSet], min_raters: int) -> float:
    """Estimate seconds as :func:`default_seconds` does, for models as raters."""
    grouping = bounded_groups(dataset, axes, min_raters)
    on_items = _ITEM_AND_MODEL * dataset.summary.items * len(grouping.groups) * n_models
    return DEFAULT_PERMUTATIONS * (_counting(dataset, grouping, axes) + on_items) / CORES


def pairs_seconds(dataset: Dataset, axes: Sequence[AxisSet], min_raters: int) -> float:
    """Estimate seconds as :func:`default_seconds` does, for permutations within each pair of groups."""
    shape, labels = dataset.summary, len(dataset.summary.categories)
    grouping = bounded_groups(dataset, axes, min_raters)
    per_rater = shape.annotations / max(shape.raters, 1)
    on_item = _LOOK_UP if _looked_up(dataset) else _ITEM_AND_GROUP
    each = 0.0
    for of_axis in compared(grouping, axes):
        for a, b in combinations(grouping.n_raters[of_axis].tolist(), 2):
            annotations = per_rater * (a + b)
            items = min(shape.items, annotations)
            by_word = _BY_WORD * items * 2 * labels * -(-(a + b) // 64)
            counting = by_word if _looked_up(dataset) else min(_BY_ANNOTATION * annotations, by_word)
            each += 2 * on_item * items + counting
    return DEFAULT_PERMUTATIONS * each * len(dataset.questions) / CORES


def _counting(dataset: Dataset, grouping: Grouping, axes: Sequence[AxisSet]) -> float:
    """Estimate seconds for counting the labels of all groups, by annotations or by words of raters."""
    shape = dataset.summary
    words = -(-shape.raters // 64)
    by_word = _BY_WORD * shape.items * len(grouping.groups) * len(shape.categories) * words
    return min(_BY_ANNOTATION * shape.annotations * len(axes), by_word)


def _looked_up(dataset: Dataset) -> bool:
    """Return whether statistics are looked up in tables, unless some values are unknown."""
    shape = dataset.summary
    small = len(shape.categories) <= _TABLED_LABELS and shape.raters <= _TABLED_RATERS
    return small and shape.annotations == shape.items * shape.raters


_STEADY_FROM, _STEADY_AFTER_S = 0.1, 3.0
"""Share of a run, or seconds, that show its pace, from its first block on: before it, code is compiled."""
GROUPS, VERDICTS, PAIRS, SLICES, GIVEN = "groups", "verdicts", "pairs", "slices", "given"
_LAID_OUT_S = 0.15
"""Seconds before a part's first permutation."""
_GROUP_S, _PAIR_S, _GROUP_OF_SLICE_S = 0.027, 0.026, 0.01
"""Seconds after the last one, for tests and intervals of a group, a pair, a group on a slice's items."""


@dataclass(frozen=True, slots=True)
class Stage:
    """A stage of a run; each part has expected seconds of permutations and of tests. Only ratios count."""

    name: str
    parts: tuple[tuple[float, float], ...]

    @property
    def seconds(self) -> float:
        """Expected seconds of all its parts."""
        return sum(map(sum, self.parts))


class Course:
    """Progress of a run over all its stages, which are in order."""

    def __init__(self, stages: Sequence[Stage], clock: Callable[[], float] = time.perf_counter) -> None:
        self._stages, self._clock = tuple(stages), clock
        self._first: tuple[float, float] | None = None
        self._stage, self._part = 0, -1

    @classmethod
    def of(cls, prepared: Prepared) -> Course:
        """Make the course of a run from the expected seconds of its stages."""
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
        """Begin a part of a stage; one that is not of the course, as verdicts, belongs to the one before."""
        if self._stages[self._stage].name == name:
            self._part = min(self._part + 1, len(self._stages[self._stage].parts) - 1)
            return
        later = [place for place, one in enumerate(self._stages) if one.name == name and place > self._stage]
        if later:
            self._stage, self._part = later[0], 0

    def seen(self, progress: Progress) -> Progress:
        """Turn the progress of a part into that of the run, with the time left for all that remains."""
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
        if len(stages) > 1:  # parts are short: the time of all of them shows more than that of one
            left = None
            if done > 0:
                began, start = self._first = self._first or (self._clock(), done)
                took, share = self._clock() - began, (done - start) / whole
                steady = share >= _STEADY_FROM or (share > 0 and took >= _STEADY_AFTER_S)
                left = (whole - done) / whole * took / share if steady else None
        return replace(progress, seconds_left=left, share=min(done / whole, 1.0), stages=self._words(part))

    def _words(self, part: int) -> str:
        """Name the stages, such as "Groups done · Pairs 3 of 4 · Slices"; empty if there is only one."""
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
    """Watches one stage of a run, such as "pairs", for the watcher of the whole run."""

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
