"""Plans: data sets are simulated, and the tests that find the difference are counted."""

import dataclasses
import functools
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from grasp_core.analysis.cohesion.columns import DISTANCE, GAI, few_paired, group_columns
from grasp_core.analysis.panel import Each
from grasp_core.analysis.planner._fitting import Model, Pilot, assumed_model, fit, measured, planted
from grasp_core.analysis.planner.sample_size import (
    MOST_SIMULATED,
    factor_of,
    fitted,
    matched,
    near_lines,
    observed_difference,
    spread_out,
    steps,
)
from grasp_core.analysis.planner.values import LINES, MOST, Assumed, Cell, Have, Plan, PlanSpec, Target
from grasp_core.analysis.power import thinned
from grasp_core.model.annotations import Annotations, Axis, BoolArray, FloatArray, Int64Array, Raters
from grasp_core.model.errors import DataError, SpecError
from grasp_core.model.groups import Group, Grouping, form_groups, group_label
from grasp_core.model.remarks.cautions import PlanCaution
from grasp_core.model.remarks.remark import Remark
from grasp_core.model.spec import LEVEL, STATISTICS, AnalysisSpec, Level
from grasp_core.permutation import compiled, label_use, questions
from grasp_core.permutation.label_use import RaterTerms, residuals_of
from grasp_core.permutation.questions import Questions
from grasp_core.permutation.testing.p_values import Standard, Tail, Tails, reached, standard, tails
from grasp_core.reading.dataset.load import Dataset
from grasp_core.statistics.rater_residuals import evidence

PERMUTATIONS = 199
"""Permutations of a test: with more, p would be 0.05 or less in the same data sets, up to chance."""
FIRST = 40
HOPELESS = 10
"""A test stops if this many of the first permutations lie beyond the observed value: of the tests with p
below 0.05, fewer than 1 in 100,000 have so many."""
_SPEC = AnalysisSpec(axes=(("side",),))
_DRAWN = 21


@dataclass(frozen=True, slots=True)
class SimulatedDesign:
    """A design: raters by group, the planned one first, and labels per item (None: one of each rater)."""

    sizes: tuple[int, ...]
    items: int
    each: int | None


@dataclass(frozen=True, slots=True, eq=False)
class Trials:
    """Work for a worker: data sets `start` to `stop` - 1 of a design."""

    model: Model
    trial: SimulatedDesign
    target: Target
    categories: tuple[str, ...]
    level: Level
    seed: tuple[int, ...]
    start: int
    stop: int


def count_hits(work: Trials) -> int:
    """Count the data sets in which p is below 0.05."""
    return sum(_finds(work, number) for number in range(work.start, work.stop))


def _finds(work: Trials, number: int) -> bool:
    trial = work.trial
    rng = np.random.default_rng([*work.seed, _DRAWN, sum(trial.sizes), trial.items, number])
    raters, grouping, member = _sides(trial.sizes, every=work.target == "dsi")
    item, rater = _assigned(trial, rng)
    label = work.model.draw_labels(item, rater, trial.items, member, rng)
    annotations = Annotations(
        _names(trial.items),
        raters.rater_ids,
        work.categories,
        np.searchsorted(item, np.arange(trial.items + 1)).astype(np.int64),
        rater.astype(np.int32),
        label.astype(np.int32),
    )
    spec = AnalysisSpec(axes=_SPEC.axes, level=work.level)
    residuals = residuals_of([annotations], work.level)
    design = questions.lay_out([annotations], raters, grouping, spec, residuals=residuals)
    return significant(design, spec, work.target, int(rng.integers(2**62)))


@functools.lru_cache(maxsize=64)
def _sides(sizes: tuple[int, ...], *, every: bool) -> tuple[Raters, Grouping, BoolArray]:
    codes = np.repeat(np.arange(len(sizes)), sizes).astype(np.int32)
    codes.flags.writeable = False
    raters = Raters(_names(codes.size), {"side": Axis(_names(len(sizes)), codes)})
    grouping = form_groups(raters, _SPEC.axes)
    return raters, grouping if every else grouping.some([0]), codes == 0


@functools.lru_cache(maxsize=64)
def _names(n: int) -> tuple[str, ...]:
    return tuple(f"{place:06}" for place in range(n))


def _assigned(trial: SimulatedDesign, rng: np.random.Generator) -> tuple[Int64Array, Int64Array]:
    """Return item and rater of each annotation, in this order; an item's raters are drawn if not all rate."""
    raters = sum(trial.sizes)
    if trial.each is None or trial.each >= raters:
        return np.repeat(np.arange(trial.items), raters), np.tile(np.arange(raters), trial.items)
    drawn = rng.random((trial.items, raters)).argpartition(trial.each, axis=1)[:, : trial.each]
    drawn.sort(axis=1)
    return np.repeat(np.arange(trial.items), trial.each), drawn.ravel()


def significant(design: Questions, spec: AnalysisSpec, target: Target, seed: int) -> bool:
    """Return whether the first group's p is below 0.05: two-sided for gap and GAI, else upper-tailed."""
    if target == "labels":
        return design.terms is not None and _differs(design.terms, seed)
    only = design.designs[0]
    counted = compiled.observed(only)
    by_shares = few_paired(counted)

    def columns(values: FloatArray) -> FloatArray:
        columns = group_columns(values, spec, by_shares)
        if target == "dsi":
            return columns[..., GAI]
        return columns[..., 0, _PLACES[target], None]

    observed = columns(counted)
    if np.isnan(observed).all():
        return False
    first = columns(compiled.shuffled(only, seed, 0, FIRST))
    if _hopeless(observed, first, target):
        return False
    null = np.concatenate([first, columns(compiled.shuffled(only, seed, FIRST, PERMUTATIONS))])
    if target in _TAILS:
        p = tails(float(observed[0]), null[:, 0]).p(_TAILS[target])
    else:
        p = Tails(len(null), 0, _reaching(observed, null, standard(null))).p("upper")
    return p is not None and p < LEVEL


def _differs(terms: RaterTerms, seed: int) -> bool:
    """Return whether p of the first group's label use is below 0.05."""

    def far(differences: FloatArray) -> FloatArray:
        first = differences[..., 0, :]
        return evidence(first[..., 1:], first[..., 0], terms.n_labels - 1)

    observed = float(far(label_use.observed(terms)))
    if np.isnan(observed):
        return False
    p = tails(observed, far(label_use.shuffled(terms, seed, 0, PERMUTATIONS))).p("upper")
    return p is not None and p < LEVEL


_TAILS: Mapping[Target, Tail] = {"distance": "upper", "gap": "two-sided", "gai": "two-sided"}
_PLACES = {"distance": DISTANCE, "gap": STATISTICS.index("gap"), "gai": GAI}


def _reaching(observed: FloatArray, null: FloatArray, by: Standard) -> int:
    """Count permutations whose largest GAI, among an axis's groups, deviates as much as the observed one."""
    return int(reached(observed, null, by, upper=np.ones(observed.size, np.bool_), every=True).min())


def _hopeless(observed: FloatArray, first: FloatArray, target: Target) -> bool:
    if target in _TAILS:
        found = tails(float(observed[0]), first[:, 0])
        beyond = found.high if _TAILS[target] == "upper" else min(found.low, found.high)
        return beyond >= HOPELESS
    if np.isnan(first).sum(axis=0).max() > FIRST / 2:
        return False
    scale = np.nanstd(first, axis=0)
    by = Standard(np.nanmean(first, axis=0), np.where(scale > 0, scale, np.inf))
    return _reaching(observed, first, by) >= HOPELESS


# Plans

ROUGH, PASSES = 40, (100, 200, 400)
"""Data sets of each of the first designs, and of each design near a line after each pass."""
ALONG = 5
PILOTS, OF_PILOT = 24, 60
"""Pilots simulated for the range of factors, and data sets of each pilot and design."""
FEWEST_PILOTS = 0.5
"""Smallest share of pilots that can have the difference, for a range to be given."""
AT_ONCE = 20
_PILOT = 31
FEWEST_ANNOTATIONS = 40
"""Fewest annotations of a pilot by the group, and by the others."""


@dataclass(frozen=True, slots=True, eq=False)
class PlanTask:
    """All inputs of a plan; `n_pilot` are raters, items and annotations before any thinning."""

    spec: PlanSpec
    categories: tuple[str, ...]
    group: Group | None
    have: tuple[Have, ...]
    pilot: Pilot | None
    n_pilot: tuple[int, int, int] | None


def make_plan(task: PlanTask, each: Each, tell: Callable[[Plan], None] = lambda plan: None) -> Plan:
    """Simulate the chances that designs of the range find the difference: the same on any workers.

    `tell`: takes the plan so far, several times; the first time within seconds.

    Raises DataError if the pilot is too small; SpecError if the size is not possible, or no design is.
    """
    return _Making(task, each, tell).made()


class _Making:
    def __init__(self, task: PlanTask, each: Each, tell: Callable[[Plan], None]) -> None:
        self._task, self._each, self._tell = task, each, tell
        spec = task.spec
        self._model = _modelled(task)
        self._sizes = measured(self._model, spec, task.categories)
        self._raters, self._items = steps(spec.raters), steps(spec.items)
        self._cells: dict[tuple[int, int], Cell] = {}
        lines = len(LINES) * ALONG * PASSES[-1]
        again = 0 if task.pilot is None else PILOTS * len(LINES) * OF_PILOT
        self._total = lines + again

    def made(self) -> Plan:
        first = spread_out(self._task.spec, self._raters, self._items)
        if not first:
            raise SpecError(
                f"every design of this range has more than {MOST_SIMULATED:,} annotations; begin with fewer "
                "raters or items"
            )
        self._simulate(first, ROUGH)
        for upto in PASSES:
            self._tell(self._plan())
            self._simulate(self._near(ALONG), upto)
        found = self._plan()
        self._tell(found)
        pilot = self._task.pilot
        factors, warnings = (None, ()) if pilot is None else self._factors(found, pilot)
        found = dataclasses.replace(self._plan(), factors=factors, warnings=warnings)
        self._total = found.done
        return dataclasses.replace(found, total=found.done)

    def _near(self, along: int) -> list[tuple[int, int]]:
        return near_lines(
            fitted(list(self._cells.values()), self._task.spec),
            self._task.spec,
            self._raters,
            self._items,
            along,
        )

    def _plan(self) -> Plan:
        cells, task = tuple(self._cells[place] for place in sorted(self._cells)), self._task
        fit = fitted(cells, task.spec)
        done = sum(cell.sets for cell in cells)
        return Plan(
            task.spec,
            task.group,
            task.have,
            self._sizes,
            cells,
            fit,
            None,
            task.n_pilot,
            done,
            max(self._total, done + 1),
        )

    def _simulate(self, designs: Sequence[tuple[int, int]], upto: int) -> None:
        """Simulate each design until it has `upto` data sets."""
        work = [
            self._trials(self._model, place, (self._task.spec.seed,), start, min(start + AT_ONCE, upto))
            for place in designs
            for start in range(self._cells[place].sets if place in self._cells else 0, upto, AT_ONCE)
        ]
        for one, hits in zip(work, self._each(count_hits, work), strict=True):
            place = sum(one.trial.sizes), one.trial.items
            known = self._cells.get(place, Cell(*place, 0, 0))
            self._cells[place] = Cell(*place, known.sets + one.stop - one.start, known.hits + hits)

    def _trials(
        self, model: Model, place: tuple[int, int], seed: tuple[int, ...], start: int, stop: int
    ) -> Trials:
        task, (raters, items) = self._task, place
        trial = SimulatedDesign(_group_sizes(task, raters), items, task.spec.each)
        return Trials(model, trial, task.spec.target, task.categories, task.spec.level, seed, start, stop)

    def _factors(self, found: Plan, pilot: Pilot) -> tuple[tuple[float, float] | None, tuple[Remark, ...]]:
        """Return 10 % and 90 % quantiles of x's factor over pilots of this size, and cautions about them."""
        task = self._task
        again = functools.partial(_fitted_again, self._model, pilot, task.spec, task.categories)
        models = [model for model in self._each(again, range(PILOTS)) if model is not None]
        numbers = {"left_out": PILOTS - len(models), "pilots": PILOTS}
        if len(models) < FEWEST_PILOTS * PILOTS:
            return None, (PlanCaution.TOO_FEW_PILOTS(**numbers),)
        places = self._near(1)
        work = [
            self._trials(model, place, (task.spec.seed, _PILOT, r), 0, OF_PILOT)
            for r, model in enumerate(models)
            for place in places
        ]
        hits = np.array(list(self._each(count_hits, work))).reshape(len(models), -1)
        factors = [
            factor_of(
                found.fit,
                [Cell(*place, OF_PILOT, int(one)) for place, one in zip(places, row, strict=True)],
                task.spec,
            )
            for row in hits
        ]
        low, high = np.quantile(factors, [0.1, 0.9])
        left_out = (PlanCaution.PILOTS_LEFT_OUT(**numbers),) if len(models) < PILOTS else ()
        return (float(low), float(high)), left_out


def _group_sizes(task: PlanTask, raters: int) -> tuple[int, ...]:
    """Return the raters of each group: first the planned one, then the others in their proportions."""
    n = task.spec.n_group(raters)
    others = [one.n_raters for one in task.have if not one.chosen] if task.spec.target == "dsi" else []
    if len(others) < 2:
        return n, raters - n
    upto = np.round(np.cumsum(others) / sum(others) * (raters - n)).astype(int)
    return n, *(int(size) for size in np.diff(upto, prepend=0) if size >= 1)


def _modelled(task: PlanTask) -> Model:
    spec, pilot = task.spec, task.pilot
    if pilot is None or spec.assumed is not None:
        return planted(assumed_model(spec.assumed or Assumed(), spec.seed), spec, task.categories)
    inside = int(pilot.member[pilot.rater].sum())
    outside = pilot.rater.size - inside
    if min(inside, outside) < FEWEST_ANNOTATIONS:
        raise DataError(
            f"A pilot takes {FEWEST_ANNOTATIONS} annotations or more by the group and by the others; this "
            f"one has {inside:,} and {outside:,}. Plan from assumed figures instead."
        )
    return model_of(pilot, spec, task.categories)


def model_of(pilot: Pilot, spec: PlanSpec, categories: tuple[str, ...]) -> Model:
    """Return the pilot's model, with the difference that the spec asks for, or else the pilot's own."""
    found = fit(pilot)
    if spec.size is None:
        return matched(found, pilot, spec, categories)
    return planted(found, spec, categories)


def _fitted_again(
    model: Model, pilot: Pilot, spec: PlanSpec, categories: tuple[str, ...], number: int
) -> Model | None:
    """Fit a model to another pilot of the same shape, drawn from `model`; None if the size is impossible."""
    rng = np.random.default_rng([spec.seed, _PILOT, number])
    label = model.draw_labels(pilot.item, pilot.rater, pilot.n_items, pilot.member, rng)
    try:
        return model_of(dataclasses.replace(pilot, label=label), spec, categories)
    except SpecError:
        return None


GROUP, OTHERS = "the group", "all others"
SMALLER = "smaller groups"
UNLESS_SAID: Mapping[str, Any] = {"share": 0.25, "raters": (20, 400), "items": (20, 1000)}
"""Default fields of the spec of a plan without data."""
_ALL = 0.8
"""Share of labelled pairs of raters and items from which every rater is taken to label every item."""


def task_of(
    dataset: Dataset, group: Group, spec: PlanSpec, *, min_raters: int, question: int = 0
) -> PlanTask:
    """Return the task of planning for one group; those with fewer raters are counted together."""
    annotations = dataset.questions[question]
    grouping = form_groups(dataset.raters, [group.axes], min_raters=min_raters)
    g = grouping.groups.index(group)
    n_pilot = annotations.n_raters, annotations.n_items, annotations.n_annotations
    pilot = _pilot(thinned(annotations, spec.seed), grouping.known[grouping.known_of[g]], grouping.member[g])
    if spec.label is None:
        use, _, _ = observed_difference(pilot, spec, annotations.categories)
        most = 0 if np.isnan(use).any() or not use.size else int(np.abs(use).argmax())
        spec = replace(spec, label=annotations.categories[most])
    found = [
        Have(group_label(group), int(n), place == g)
        for place, (group, n) in enumerate(zip(grouping.groups, grouping.n_raters, strict=True))
    ]
    left = int(grouping.known[grouping.known_of[g]].sum()) - sum(one.n_raters for one in found)
    return PlanTask(
        spec,
        annotations.categories,
        group,
        (*found, *([Have(SMALLER, left, False)] if left else [])),
        pilot,
        n_pilot,
    )


def suggested(dataset: Dataset, group: Group, min_raters: int) -> dict[str, Any]:
    """Return a spec's fields as of :func:`usual`, for a group of a pilot."""
    grouping = form_groups(dataset.raters, [group.axes], min_raters=min_raters)
    g, annotations = grouping.groups.index(group), dataset.annotations
    known = int(grouping.known[grouping.known_of[g]].sum())
    return usual(int(grouping.n_raters[g]), known, annotations.n_items, annotations.n_annotations)


def usual(inside: int, raters: int, items: int, annotations: int) -> dict[str, Any]:
    """Return a spec's fields as a pilot suggests: share, labels per item, 1/4 to 4 times its size."""
    share = min(max(round(inside / max(raters, 1), 3), 0.01), 0.99)
    of_item = annotations / max(items, 1)
    each = None if of_item > _ALL * raters else max(round(of_item), 2)
    fewest = min(max(math.ceil(2.5 / min(share, 1 - share)), raters // 4, each or 0, 4), MOST // 2)
    return {
        "share": share,
        "each": each,
        "raters": (fewest, min(max(4 * raters, 2 * fewest), MOST)),
        "items": (min(max(items // 4, 10), MOST // 2), min(max(4 * items, 40), MOST)),
    }


def assumed_task(spec: PlanSpec) -> PlanTask:
    """Return the task of planning without data."""
    assumed = spec.assumed or Assumed()
    categories = tuple(f"label {place + 1}" for place in range(assumed.labels))
    return PlanTask(spec, categories, None, (Have(GROUP, 0, True), Have(OTHERS, 0, False)), None, None)


def _pilot(annotations: Annotations, known: BoolArray, member: BoolArray) -> Pilot:
    """Select the annotations of raters who are in the group or known not to be."""
    rows = known[annotations.rater]
    return Pilot(
        annotations.item[rows].astype("int64"),
        annotations.rater[rows].astype("int64"),
        annotations.category[rows].astype("int64"),
        annotations.n_items,
        annotations.n_categories,
        member,
    )
