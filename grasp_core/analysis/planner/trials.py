"""Simulated data sets, and in how many the test finds the difference."""

from __future__ import annotations

import functools
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from grasp_core.analysis.cohesion.columns import DISTANCE, GAI, few_paired, group_columns
from grasp_core.analysis.planner._fitting import Model
from grasp_core.analysis.planner.values import Target
from grasp_core.model.annotations import Annotations, Axis, BoolArray, FloatArray, Int64Array, Raters
from grasp_core.model.groups import Grouping, form_groups
from grasp_core.model.spec import LEVEL, STATISTICS, AnalysisSpec, Level
from grasp_core.permutation import compiled, label_use, questions
from grasp_core.permutation.label_use import RaterTerms, residuals_of
from grasp_core.permutation.questions import Questions
from grasp_core.permutation.testing.deviations import Standard, Tail, Tails, reached, standard, tails
from grasp_core.statistics.rater_residuals import evidence

PERMUTATIONS = 199
"""Permutations of a test: p can be 0.05 or less just where it would be with more, up to chance."""
FIRST = 40
HOPELESS = 10
"""A test is given up where so many of the first permutations lie beyond the observed value: of those whose
p is below 0.05, fewer than 1 in 100,000 do."""
_SPEC = AnalysisSpec(axes=(("side",),))
_DRAWN, _SHUFFLED = 21, 22
"""Purposes of random streams."""


@dataclass(frozen=True, slots=True)
class Trial:
    """Data sets of one design.

    `sizes`: raters by group; the first is the one that is planned for.
    `each`: labels an item; None: one of every rater.
    """

    sizes: tuple[int, ...]
    items: int
    each: int | None


@dataclass(frozen=True, slots=True, eq=False)
class Trials:
    """Work for a worker: data sets `start` to `stop` - 1 of a design."""

    model: Model
    trial: Trial
    target: Target
    categories: tuple[str, ...]
    level: Level
    seed: tuple[int, ...]
    start: int
    stop: int


def count_hits(work: Trials) -> int:
    """In how many data sets p is below 0.05."""
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


def _assigned(trial: Trial, rng: np.random.Generator) -> tuple[Int64Array, Int64Array]:
    """Item and rater of each annotation, by item and rater; who rates what is drawn where not all do."""
    raters = sum(trial.sizes)
    if trial.each is None or trial.each >= raters:
        return np.repeat(np.arange(trial.items), raters), np.tile(np.arange(raters), trial.items)
    drawn = rng.random((trial.items, raters)).argpartition(trial.each, axis=1)[:, : trial.each]
    drawn.sort(axis=1)
    return np.repeat(np.arange(trial.items), trial.each), drawn.ravel()


def significant(design: Questions, spec: AnalysisSpec, target: Target, seed: int) -> bool:
    """Whether the first group's p is below 0.05, two-sided for gap and GAI, else of large values alone."""
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
    """Whether the p of the first group's label use is below 0.05."""

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
    """Permutations whose largest GAI, among an axis's groups, lies as far out as the observed one."""
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
