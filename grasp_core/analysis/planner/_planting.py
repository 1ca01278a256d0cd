"""How large a difference the model has, and the model that has one of a chosen size."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np
import scipy  # its optimize takes a while to load, and is when it is first used

from grasp_core.analysis.planner._fitting import BLUNTEST, LEAN, SHARP, SHARPEST, Model, probabilities
from grasp_core.analysis.planner.values import Assumed, PlanSpec, Sizes
from grasp_core.model.annotations import FloatArray
from grasp_core.model.errors import SpecError
from grasp_core.statistics.levels import category_values, squared_distances

_ITEMS, _RATERS = 400, 64
"""Items and raters of each side over which the model's own values are averaged."""
_MEASURED = 11
"""Purpose of their random stream."""
MOST_OWN = 0.97
"""How far a group may have a view of its own."""
_MOST_LEAN = 8.0
_TRIED = 13
_USUAL_SCATTER = 0.3
"""Standard deviation of raters' log sharpness and leaning where there is no pilot."""


def measured(model: Model, spec: PlanSpec, categories: tuple[str, ...]) -> Sizes:
    """The model's difference in every measure, with any number of raters and items.

    The draws are the same for every model, so that values change smoothly with its parameters.
    """
    own, others = average_shares(model, spec.seed)
    marginals = own.mean(axis=0), others.mean(axis=0)
    apart = squared_distances(spec.level, category_values(categories, spec.level), sum(marginals))

    def differ(first: FloatArray, second: FloatArray) -> float:
        return float(np.einsum("...k,kl,...l->...", first, apart, second).mean())

    within = 1 - differ(own, own) / differ(marginals[0], marginals[0])
    across = 1 - differ(own, others) / differ(*marginals)
    k = _place(spec, categories)
    return Sizes(
        label=categories[k],
        points=100 * float((marginals[0] - marginals[1])[k]),
        distance=2 * differ(own, others) - differ(own, own) - differ(others, others),
        within=within,
        gap=within - across,
        gai=within / across if across > 0 else None,
        agreement=1 - differ(others, others) / differ(marginals[1], marginals[1]),
    )


def _place(spec: PlanSpec, categories: tuple[str, ...]) -> int:
    if spec.label is None:
        return 0
    if spec.label not in categories:
        raise SpecError(f"there is no label {spec.label!r}; there are {', '.join(categories[:12])}")
    return categories.index(spec.label)


def average_shares(model: Model, seed: int) -> tuple[FloatArray, FloatArray]:
    """How likely items get each label, averaged over raters of the group and of the others: both (I, K)."""
    rng = np.random.default_rng([seed, _MEASURED])
    noise = rng.standard_normal((_RATERS, model.centres.shape[1]))
    views = model.draw_views(_ITEMS, rng)

    def average(side: int) -> FloatArray:
        raters = model.centres[side] + noise * model.scatter
        raters[:, SHARP] = raters[:, SHARP].clip(BLUNTEST, SHARPEST)
        return np.asarray(probabilities(np.log(views[side])[:, None], raters).mean(axis=1))

    return average(1), average(0)


def planted(model: Model, spec: PlanSpec, categories: tuple[str, ...]) -> Model:
    """A model whose group differs from the others by the size that is asked, and in nothing else.

    Points of a label come from a leaning to it; distance, a gap above 0 and a GAI above 1 from a view of
    each item that the group has for itself; a gap below 0 and a GAI below 1 from less sharpness.

    Raises SpecError if no group of this task can differ so much.
    """
    size = spec.size
    if size is None:
        return model
    alike = replace(model, centres=model.centres[[0, 0]], own=0.0)
    if spec.target == "labels":
        k = _place(spec, categories)

        def leaning(by: float) -> Model:
            centres = alike.centres.copy()
            centres[1, LEAN + k] += by
            return replace(alike, centres=centres)

        return _solved(leaning, (-_MOST_LEAN, _MOST_LEAN), size, spec, categories)
    if size > (1.0 if spec.target in ("gai", "dsi") else 0.0):
        return _solved(lambda own: replace(alike, own=own), (0.0, MOST_OWN), size, spec, categories)

    def blunter(sharp: float) -> Model:
        centres = alike.centres.copy()
        centres[1, SHARP] = sharp
        return replace(alike, centres=centres)

    if spec.target in ("gap", "gai"):
        usual = float(alike.centres[0, SHARP])
        # Without any sharpness nobody agrees with anybody, and the gap is 0 again.
        tried = np.linspace(BLUNTEST, usual, _TRIED)
        gaps = [measured(blunter(float(sharp)), spec, categories).gap for sharp in tried]
        least = BLUNTEST if spec.target == "gai" else float(tried[int(np.argmin(gaps))])
        return _solved(blunter, (least, usual), size, spec, categories)
    raise SpecError(f"{_NAMES[spec.target]} to be found is above {1 if spec.target == 'dsi' else 0}")


_NAMES = {
    "labels": "the points of a label",
    "distance": "the distance",
    "gap": "the gap",
    "gai": "the GAI",
    "dsi": "the DSI",
}


def size_of(sizes: Sizes, spec: PlanSpec) -> float | None:
    """The size in the measure that is tested."""
    found = {"labels": sizes.points, "distance": sizes.distance, "gap": sizes.gap}
    return found.get(spec.target, sizes.gai)


def _solved(
    make: Callable[[float], Model],
    ends: tuple[float, float],
    size: float,
    spec: PlanSpec,
    categories: tuple[str, ...],
) -> Model:
    def beyond(value: float) -> float:
        found = size_of(measured(make(value), spec, categories), spec)
        return (np.inf if found is None else found) - size

    low, high = (beyond(end) for end in ends)
    low, high = (float(np.clip(value, -1e9, 1e9)) for value in (low, high))
    if low * high > 0:
        reach = sorted((low + size, high + size))
        raise SpecError(
            f"{_NAMES[spec.target]} in this task can be planned for from {reach[0]:.3g} to {reach[1]:.3g}; "
            f"found {size:g}"
        )
    return make(
        float(scipy.optimize.brentq(lambda value: float(np.clip(beyond(value), -1e9, 1e9)), *ends, xtol=1e-3))
    )


def assumed_model(assumed: Assumed, seed: int) -> Model:
    """Equally frequent labels, raters of usual differences, and items that make for the agreement assumed.

    Raises SpecError if such raters cannot agree so much.
    """
    k = assumed.labels
    scatter = np.full(1 + k, _USUAL_SCATTER)
    centres = np.zeros((2, 1 + k))
    flat = np.full(k, 1 / k)
    asked = PlanSpec("distance", 0.5, (4, 8), (4, 8), size=0.1, seed=seed)
    names = tuple(str(number) for number in range(k))

    def make(log_spread: float) -> Model:
        return Model(np.zeros((1, k)), flat, float(np.exp(log_spread)), centres, scatter, 0.0)

    def beyond(log_spread: float) -> float:
        return measured(make(log_spread), asked, names).agreement - assumed.agreement

    ends = (-4.0, 6.0)
    if beyond(ends[0]) < 0 or beyond(ends[1]) > 0:
        raise SpecError(f"raters cannot be simulated whose IRR is {assumed.agreement:g}")
    return make(float(scipy.optimize.brentq(beyond, *ends, xtol=1e-3)))
