"""Designs of a next round: chances of finding the difference, recruitment, a model matched to the pilot."""

import itertools
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np
import scipy  # its optimize takes a while to load, and is when it is first used
from scipy.special import expit, ndtr, ndtri

from grasp_core.analysis.cohesion.columns import DISTANCE, LABELS, few_paired, group_columns
from grasp_core.analysis.planner._fitting import (
    BLUNTEST,
    LEAN,
    MOST_OWN,
    SHARPEST,
    Model,
    Pilot,
    average_shares,
    measured,
    with_sharp,
)
from grasp_core.analysis.planner.values import LINES, Cell, ChanceFit, Plan, PlanSpec
from grasp_core.model.annotations import Annotations, Axis, FloatArray, Raters
from grasp_core.model.groups import form_groups
from grasp_core.model.spec import LEVEL, STATISTICS, AnalysisSpec
from grasp_core.permutation import compiled
from grasp_core.permutation.design import build_design

_BOUNDS = ((-5.0, 4.0), (-4.0, 4.0), (0.35, 1.5), (0.0, 1.0))
"""Bounds of the signal's logarithm, the logit of raters' share of the noise, steepness and unevenness."""
_STARTS = ((0.5, 0.0, 0.5, 0.1), (1.0, 1.0, 0.9, 0.1), (0.0, -1.5, 0.7, 0.3))
_FACTORS = (-4.0, 2.0)
"""Bounds of the logarithm of a pilot's factor."""
_MOST = 60.0


def chance(fit: ChanceFit, raters: FloatArray, annotations: FloatArray, factor: float = 1.0) -> FloatArray:
    """Return the chance of finding the difference.

    With noise ``v = r J0 / J + (1 - r) A0 / A`` of J raters and A annotations, ``x = c v ** -g`` and the
    chance is ``Phi((x - z) / sqrt(1 + (h x) ** 2))``, z the normal quantile of the level; two-sided tests add
    the other tail. It grows with raters and with annotations.
    """
    noise = fit.of_raters * fit.raters / raters + (1 - fit.of_raters) * fit.annotations / annotations
    return _share(
        factor * np.asarray(np.minimum(fit.signal * noise**-fit.steep, _MOST)),
        fit.uneven,
        two_sided=fit.two_sided,
    )


def _share(x: FloatArray, uneven: float, *, two_sided: bool) -> FloatArray:
    wide = np.sqrt(1 + (uneven * x) ** 2)
    if not two_sided:
        return np.asarray(ndtr((x + ndtri(LEVEL)) / wide))
    z = ndtri(1 - LEVEL / 2)
    return np.asarray(ndtr((x - z) / wide) + ndtr((-x - z) / wide))


def fitted(cells: Sequence[Cell], spec: PlanSpec) -> ChanceFit:
    """Return the function that makes the simulated counts most likely."""
    raters, annotations, sets, hits = _arrays(cells, spec)
    base = float(np.exp(np.log(raters).mean())), float(np.exp(np.log(annotations).mean()))
    two_sided = spec.target in ("gap", "gai")

    def made(values: FloatArray, miss: float = 0.0) -> ChanceFit:
        signal, of_raters, steep, uneven = values
        return ChanceFit(
            math.exp(signal), float(expit(of_raters)), float(steep), float(uneven), *base, two_sided, miss
        )

    def unlikely(values: FloatArray) -> float:
        share = chance(made(values), raters, annotations)
        # Weak priors, so that a few data sets do not drive the parameters to their bounds.
        prior = (values[1] / 2) ** 2 / 2 + ((values[2] - 0.6) / 0.5) ** 2 / 2 + (values[3] / 0.4) ** 2 / 2
        return _unlikely(share, sets, hits) + float(prior)

    found = min(
        (scipy.optimize.minimize(unlikely, start, method="L-BFGS-B", bounds=_BOUNDS) for start in _STARTS),
        key=lambda one: float(one.fun),
    ).x
    share = chance(made(found), raters, annotations)
    miss = float(np.average(np.abs(share - hits / sets), weights=sets))
    return made(found, miss)


def factor_of(fit: ChanceFit, cells: Sequence[Cell], spec: PlanSpec) -> float:
    """Return the factor of x, relative to the fit, in other data sets of the same designs."""
    raters, annotations, sets, hits = _arrays(cells, spec)

    def unlikely(log: float) -> float:
        # If nearly all or nearly none are found, many factors fit as well: take the one nearest to 1.
        return _unlikely(chance(fit, raters, annotations, math.exp(log)), sets, hits) + (log / 1.5) ** 2 / 2

    return math.exp(scipy.optimize.minimize_scalar(unlikely, bounds=_FACTORS, method="bounded").x)


def _arrays(cells: Sequence[Cell], spec: PlanSpec) -> tuple[FloatArray, FloatArray, FloatArray, FloatArray]:
    raters, sets, hits = (
        np.array([getattr(cell, name) for cell in cells], float) for name in ("raters", "sets", "hits")
    )
    annotations = np.array([spec.annotations(cell.raters, cell.items) for cell in cells], float)
    return raters, annotations, sets, hits


def _unlikely(share: FloatArray, sets: FloatArray, hits: FloatArray) -> float:
    share = share.clip(1e-6, 1 - 1e-6)
    return -float((hits * np.log(share) + (sets - hits) * np.log1p(-share)).sum())


def items_needed(fit: ChanceFit, spec: PlanSpec, wanted: float, raters: float, factor: float = 1.0) -> float:
    """Return the items with which these raters find the difference as often as wanted; inf if none do."""
    grid = np.linspace(0, _MOST, 2401)
    reached = np.flatnonzero(_share(grid, fit.uneven, two_sided=fit.two_sided) >= wanted)
    if not reached.size:
        return math.inf
    x = grid[reached[0]]
    left = (x / (factor * fit.signal)) ** (-1 / fit.steep) - fit.of_raters * fit.raters / raters
    if left <= 0:
        return math.inf
    annotations = (1 - fit.of_raters) * fit.annotations / left
    return float(annotations / spec.annotations(raters, 1))


_NUMBERS = 400


@dataclass(frozen=True, slots=True)
class PricedDesign:
    """A design, its number of annotations, and its cost if raters of the pilot take part again."""

    raters: int
    items: int
    annotations: int
    cost: float


@dataclass(frozen=True, slots=True)
class Needed:
    """A group's row of the recruitment table."""

    group: str
    have: int
    needed: int
    recruit: int
    annotations: int
    cost: float


def cheapest(plan: Plan, factor: float = 1.0) -> PricedDesign | None:
    """Return the cheapest design of the range that reaches the goal; None if none does."""
    spec = plan.spec
    numbers = np.unique(np.geomspace(*spec.raters, _NUMBERS).round().astype(int))
    choices = [_choice(plan, int(raters), factor) for raters in numbers]
    found = [choice for choice in choices if choice is not None]
    return min(found, key=lambda one: (one.cost, one.annotations, one.raters), default=None)


def _choice(plan: Plan, raters: int, factor: float) -> PricedDesign | None:
    spec = plan.spec
    needed = items_needed(plan.fit, spec, spec.goal, raters, factor)
    if needed > spec.items[1]:
        return None
    items = max(math.ceil(needed), spec.items[0])
    rows = recruitment(plan, raters, items)
    return PricedDesign(raters, items, round(spec.annotations(raters, items)), sum(row.cost for row in rows))


def recruitment(plan: Plan, raters: int, items: int) -> list[Needed]:
    """Return each group's raters in a design: the group's share, the others in the pilot's proportions."""
    spec = plan.spec
    each = spec.annotations(raters, items) / raters
    n = plan.spec.n_group(raters)
    weights = np.array([0 if one.chosen else max(one.n_raters, 1) for one in plan.have])
    upto = np.round(np.cumsum(weights) / weights.sum() * (raters - n)).astype(int)
    others = np.diff(upto, prepend=0)
    numbers = [n if one.chosen else int(number) for one, number in zip(plan.have, others, strict=True)]
    rows = []
    for one, needed in zip(plan.have, numbers, strict=True):
        recruit, annotations = max(needed - one.n_raters, 0), round(needed * each)
        cost = annotations * spec.per_annotation + recruit * spec.per_rater
        rows.append(Needed(one.name, one.n_raters, needed, recruit, annotations, cost))
    return rows


STEPS = 12
MOST_SIMULATED = 60_000
"""Annotations of the largest design that is simulated; larger ones follow from the fitted function."""
_NEAR = 1.3
"""Largest factor by which a line may miss the items of the grid and still count as crossing it."""
Design = tuple[int, int]


def steps(ends: tuple[int, int]) -> tuple[int, ...]:
    """Return at most 12 whole numbers from end to end, in equal ratios."""
    return tuple(dict.fromkeys(int(value) for value in np.round(np.geomspace(*ends, STEPS))))


def spread_out(spec: PlanSpec, raters: Sequence[int], items: Sequence[int]) -> list[Design]:
    """Return the first designs: ends and middle of the designs that can be simulated."""
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
    fit: ChanceFit, spec: PlanSpec, raters: Sequence[int], items: Sequence[int], along: int
) -> list[Design]:
    """Return grid designs on lines of equal chance, `along` for each line; without any, the nearest one."""
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


def _on_line(fit: ChanceFit, spec: PlanSpec, able: Sequence[Design], line: float) -> list[Design]:
    """Return the design nearest to the line for each number of raters whose items the line crosses."""
    found = []
    for j, of in itertools.groupby(able, key=lambda one: one[0]):
        items = [i for _, i in of]
        needed = items_needed(fit, spec, line, j)
        if items[0] / _NEAR <= needed <= items[-1] * _NEAR:
            found.append((j, min(items, key=lambda i: abs(np.log(i / needed)))))
    return found


_ROUNDS = 4
_LED_AWAY = 2.0
"""Rounds led away if the last model is this many times as far from the pilot as the nearest model."""


def matched(model: Model, pilot: Pilot, spec: PlanSpec, categories: tuple[str, ...]) -> Model:
    """Change the fitted model's group until it differs from the others as the pilot's group does.

    Likelihood alone makes differences too small if the model has no form for them, such as a group that
    reverses some items. Leaning is fitted to the use of labels, sharpness to how much more the group agrees
    with itself than the others do, and the group's own view to the distance. A parameter stays as it is if
    the pilot lacks its value. If no model has all three values, as with few answers of a label, rounds may
    lead away: then the nearest model is taken. Label use is always matched if the plan is for it.
    """
    use, more, distance = observed_difference(pilot, spec, categories)

    def missed(one: Model) -> float:
        """Return a model's distance from the pilot in all three: shares or differences of agreement."""
        found = np.array([_agreeing(one, spec, categories), measured(one, spec, categories).distance])
        return float(np.nansum([_missed_use(one, use, spec), *np.abs(found - (more, distance))]))

    met = [model]
    for _ in range(_ROUNDS):
        model = _leaning(model, use, spec)
        if not np.isnan(more):
            model = _moved(
                lambda value: with_sharp(model, value),  # noqa: B023 - called before the next round
                lambda one: _agreeing(one, spec, categories) - more,
                (BLUNTEST, SHARPEST),
            )
        if not np.isnan(distance):
            model = _moved(
                lambda value: replace(model, own=value),  # noqa: B023
                lambda one: measured(one, spec, categories).distance - distance,
                (0.0, MOST_OWN),
            )
        met.append(model)
    far = [missed(one) for one in met]
    if far[-1] > _LED_AWAY * min(far):
        model = met[far.index(min(far))]
    # Label use is matched to a tenth of its largest difference, or to a point.
    if spec.target == "labels" and _missed_use(model, use, spec) > max(0.1 * np.abs(use).max(), 0.01):
        model = _leaning(model, use, spec)
    return model


def _missed_use(model: Model, use: FloatArray, spec: PlanSpec) -> float:
    """Return the largest difference between the model's and the pilot's use of a label."""
    own, others = (shares.mean(axis=0) for shares in average_shares(model, spec.seed))
    return float(np.abs(own - others - use).max())


def observed_difference(
    pilot: Pilot, spec: PlanSpec, categories: tuple[str, ...]
) -> tuple[FloatArray, float, float]:
    """Return the pilot's label use (K,), difference of IRR, and distance; NaN if there is none."""
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
    """Move a model towards the pilot's use of labels; label by label, since differences add up to 0."""
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


def _moved(
    make: Callable[[float], Model], beyond: Callable[[Model], float], ends: tuple[float, float]
) -> Model:
    """Return the model for which `beyond` is 0, or the model of the end that comes nearest."""
    low, high = (beyond(make(end)) for end in ends)
    if low * high > 0:
        return make(ends[0] if abs(low) < abs(high) else ends[1])
    return make(float(scipy.optimize.brentq(lambda value: beyond(make(value)), *ends, xtol=2e-3)))
