"""Designs of a next round, and raters matched to them."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence
from dataclasses import replace

import numpy as np
import scipy  # its optimize takes a while to load, and is when it is first used

from grasp_core.analysis.cohesion.columns import DISTANCE, LABELS, few_paired, group_columns
from grasp_core.analysis.planner._fitting import (
    BLUNTEST,
    LEAN,
    MOST_OWN,
    SHARP,
    SHARPEST,
    Model,
    Pilot,
    average_shares,
    measured,
)
from grasp_core.analysis.planner.surface import chance, items_needed
from grasp_core.analysis.planner.values import LINES, Fit, PlanSpec
from grasp_core.model.annotations import Annotations, Axis, FloatArray, Raters
from grasp_core.model.groups import form_groups
from grasp_core.model.spec import STATISTICS, AnalysisSpec
from grasp_core.permutation import compiled
from grasp_core.permutation.design import build_design

STEPS = 12
MOST_SIMULATED = 60_000
"""Annotations of the largest design that is simulated; what lies beyond is told by the fitted form."""
_NEAR = 1.3
"""A line that passes this close beside the items of the grid is still one of its."""
Design = tuple[int, int]
"""Raters and items."""


def steps(ends: tuple[int, int]) -> tuple[int, ...]:
    """At most 12 whole numbers from end to end, in equal ratios."""
    return tuple(dict.fromkeys(int(value) for value in np.round(np.geomspace(*ends, STEPS))))


def rater_steps(spec: PlanSpec) -> tuple[int, ...]:
    """The numbers of raters of the grid."""
    return steps(spec.raters)


def spread_out(spec: PlanSpec, raters: Sequence[int], items: Sequence[int]) -> list[Design]:
    """The first designs: ends and middle of what can be simulated."""
    able = _able(spec, raters, items)
    if not able:
        return []
    few, many = raters[0], max(j for j, _ in able)
    picked = []
    for j in (few, raters[raters.index(many) // 2], many):
        of = [i for other, i in able if other == j]
        picked += [(j, of[0]), (j, of[-1])] if of else []
    return list(dict.fromkeys(picked))


def near_lines(
    fit: Fit, spec: PlanSpec, raters: Sequence[int], items: Sequence[int], along: int
) -> list[Design]:
    """Designs of the grid on lines of equal chance, so many along each; where none is, the nearest."""
    able = _able(spec, raters, items)
    found: list[Design] = []
    for line in LINES:
        on = _on_line(fit, spec, able, line)
        if not on:

            def off(one: Design, line: float = line) -> tuple[float, Design]:
                return abs(float(chance(fit, np.array(one[0]), np.array(spec.annotations(*one)))) - line), one

            on = [min(able, key=off)]
        chosen = np.unique(np.linspace(0, len(on) - 1, min(along, len(on))).round().astype(int))
        found += [on[place] for place in chosen]
    return list(dict.fromkeys(found))


def _able(spec: PlanSpec, raters: Sequence[int], items: Sequence[int]) -> list[Design]:
    designs = itertools.product(raters, items)
    return [(j, i) for j, i in designs if spec.annotations(j, i) <= MOST_SIMULATED]


def _on_line(fit: Fit, spec: PlanSpec, able: Sequence[Design], line: float) -> list[Design]:
    """For each number of raters the design nearest to the line, where the line passes its items."""
    found = []
    for j, of in itertools.groupby(able, key=lambda one: one[0]):
        items = [i for _, i in of]
        needed = items_needed(fit, spec, line, j)
        if items[0] / _NEAR <= needed <= items[-1] * _NEAR:
            found.append((j, min(items, key=lambda i: abs(np.log(i / needed)))))
    return found


_ROUNDS = 4


def matched(model: Model, pilot: Pilot, spec: PlanSpec, categories: tuple[str, ...]) -> Model:
    """The fitted model, its group changed until it differs from the others as the pilot's does.

    Likelihood alone makes differences too small that the model has no form for, such as a group that turns
    some items round. Leaning is moved for the use of labels, sharpness for how much more the group agrees
    with itself than the others do, and the group's own view for the distance; a value that the pilot has not
    leaves the fitted one.
    """
    use, more, distance = observed_difference(pilot, spec, categories)
    for _ in range(_ROUNDS):
        model = _leaning(model, use, spec)
        if not np.isnan(more):
            model = _moved(
                lambda value: _with_sharp(model, value),  # noqa: B023 - called before the next round
                lambda one: _agreeing(one, spec, categories) - more,
                (BLUNTEST, SHARPEST),
            )
        if not np.isnan(distance):
            model = _moved(
                lambda value: replace(model, own=value),  # noqa: B023
                lambda one: measured(one, spec, categories).distance - distance,
                (0.0, MOST_OWN),
            )
    return model


def observed_difference(
    pilot: Pilot, spec: PlanSpec, categories: tuple[str, ...]
) -> tuple[FloatArray, float, float]:
    """Label use of the pilot's group (K,), its IRR less that of the others, and its distance.

    NaN where the pilot has no such value, or a distance only of shares.
    """
    seen = np.zeros(pilot.member.size, np.bool_)
    seen[pilot.rater] = True
    side = np.where(seen, np.where(pilot.member, 0, 1), -1).astype(np.int32)
    ids = tuple(str(place) for place in range(side.size))
    annotations = Annotations.from_codes(
        item=pilot.item,
        rater=pilot.rater,
        category=pilot.label,
        item_ids=tuple(str(place) for place in range(pilot.n_items)),
        rater_ids=ids,
        categories=categories,
    )
    raters = Raters(ids, {"side": Axis(("group", "others"), side)})
    analysis = AnalysisSpec(axes=(("side",),), level=spec.level)
    grouping = form_groups(raters, analysis.axes)
    counted = compiled.observed(build_design(annotations, raters, grouping, analysis))
    few = few_paired(counted)
    own, others = group_columns(counted, analysis, few)
    irr = STATISTICS.index("irr")
    return own[LABELS:], float(own[irr] - others[irr]), float(np.nan if few[0] else own[DISTANCE])


def _agreeing(model: Model, spec: PlanSpec, categories: tuple[str, ...]) -> float:
    found = measured(model, spec, categories)
    return found.within - found.agreement


def _leaning(model: Model, use: FloatArray, spec: PlanSpec) -> Model:
    """Moved towards the use of labels that the pilot has; label by label, since they add up to 0."""
    if np.isnan(use).any():
        return model
    for _ in range(_ROUNDS):
        own, others = (shares.mean(axis=0) for shares in average_shares(model, spec.seed))
        wanted = np.clip(others + use, 0.5 * np.minimum(others, own), None)
        centres = model.centres.copy()
        centres[1, LEAN:] += np.log(wanted / wanted.sum() / own)
        centres[1, LEAN:] -= centres[1, LEAN:].mean()
        model = replace(model, centres=centres)
    return model


def _with_sharp(model: Model, sharp: float) -> Model:
    centres = model.centres.copy()
    centres[1, SHARP] = sharp
    return replace(model, centres=centres)


def _moved(
    make: Callable[[float], Model], beyond: Callable[[Model], float], ends: tuple[float, float]
) -> Model:
    """The model where nothing is beyond, or that end which comes nearest."""
    low, high = (beyond(make(end)) for end in ends)
    if low * high > 0:
        return make(ends[0] if abs(low) < abs(high) else ends[1])
    return make(float(scipy.optimize.brentq(lambda value: beyond(make(value)), *ends, xtol=2e-3)))
