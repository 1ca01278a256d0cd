"""A model of raters' answers, fitted to a pilot or assumed, and a difference planted in it."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial

import numpy as np
import scipy  # its optimize takes a while to load, and is when it is first used
from scipy.special import gammaln

from grasp_core.analysis.planner.values import Assumed, PlanSpec, Sizes
from grasp_core.model.annotations import BoolArray, FloatArray, Int64Array
from grasp_core.model.errors import SpecError
from grasp_core.statistics.levels import category_values, squared_distances

SHARP, LEAN = 0, 1
"""Columns of a rater's parameters: the logarithm of sharpness, then a leaning to each label."""
BLUNTEST, SHARPEST = -6.0, 1.6
"""Logarithms of the least and the largest sharpness of a rater."""
_LEAST_SHARE = 1e-9


@dataclass(frozen=True, slots=True, eq=False)
class Model:
    """Raters who follow a view of each item with a sharpness and leaning of their own.

    A rater gives item i label k with a probability proportional to ``view[i, k] ** sharp * exp(lean[k])``.
    Sharpness is log-normal: raters of a blunt group differ by the same factors as those of a sharp one.

    `counts`, shape (I, K): labels of the items from which new ones are made; one row of zeros if there are
        none.
    `overall`, shape (K,): shares of labels over all items.
    `spread`: weight of `overall` in an item's shares, in labels: large if items are alike.
    `centres`, shape (2, 1 + K): means of raters' parameters, of the others and of the group.
    `scatter`, shape (1 + K,): standard deviations of raters' parameters.
    `own`: how far the group's view of each item differs from the others', from 0 to below 1.
    """

    counts: FloatArray
    overall: FloatArray
    spread: float
    centres: FloatArray
    scatter: FloatArray
    own: float

    def draw_views(self, n_items: int, rng: np.random.Generator) -> FloatArray:
        """Draw the others' and the group's views of new items, shape (2, n_items, K)."""
        picked = rng.integers(len(self.counts), size=n_items)
        others = _dirichlet(self.counts[picked] + self.spread * self.overall, rng)
        if self.own == 0:
            return np.stack([others, others])
        return np.stack([others, _dirichlet(others * (1 - self.own) / self.own, rng)])

    def draw_raters(self, member: BoolArray, rng: np.random.Generator) -> FloatArray:
        """Draw parameters of new raters, shape (J, 1 + K)."""
        drawn = self.centres[member.astype(np.intp)]
        drawn = drawn + self.scatter * rng.standard_normal(drawn.shape)
        drawn[:, SHARP] = drawn[:, SHARP].clip(BLUNTEST, SHARPEST)
        return drawn

    def draw_labels(
        self, item: Int64Array, rater: Int64Array, n_items: int, member: BoolArray, rng: np.random.Generator
    ) -> Int64Array:
        """Draw the labels that new raters give to new items, shape (A,)."""
        raters = self.draw_raters(member, rng)[rater]
        view = np.log(self.draw_views(n_items, rng))[member[rater].astype(np.intp), item]
        share = probabilities(view, raters)
        draw = rng.random(item.size)
        label = np.zeros(item.size, dtype=np.int64)
        for upper in share.cumsum(axis=-1).T[:-1]:
            label += draw > upper
        return label


def probabilities(log_view: FloatArray, raters: FloatArray) -> FloatArray:
    """Return the probability of each label (..., K), from views (..., K) and parameters (..., 1 + K)."""
    score = log_view * np.exp(raters[..., SHARP : SHARP + 1]) + raters[..., LEAN:]
    score -= score.max(axis=-1, keepdims=True)
    np.exp(score, out=score)
    score /= score.sum(axis=-1, keepdims=True)
    return np.asarray(score)


def _dirichlet(weights: FloatArray, rng: np.random.Generator) -> FloatArray:
    # In logarithms, since gamma variates of small weights are too small for floating-point numbers.
    drawn = np.log(rng.standard_gamma(weights + 1)) + np.log1p(-rng.random(weights.shape)) / weights
    drawn = np.exp(drawn - drawn.max(axis=-1, keepdims=True)).clip(_LEAST_SHARE)
    return np.asarray(drawn / drawn.sum(axis=-1, keepdims=True))


_ROUNDS = 40
_SPREADS = (-3.0, 5.5)
"""Bounds of the logarithm of the items' spread."""
_MOST_OWN = 0.95
_LEAST_SCATTER = 0.02
_STRAYS = 1.0
"""Number of raters that the prior of the scatter, standard deviations of 0.3, counts as."""
_HALVINGS = 8
"""Most halvings of a step that makes a rater's labels less likely; after them it is not taken at all."""


@dataclass(frozen=True, slots=True, eq=False)
class Pilot:
    """Annotations of raters who are in the group or among the others.

    `item`, `rater`, `label`: shape (A,).
    `member`, shape (J,): raters of the group; all other raters who annotated are the others.
    """

    item: Int64Array
    rater: Int64Array
    label: Int64Array
    n_items: int
    n_labels: int
    member: BoolArray


def fit(pilot: Pilot) -> Model:
    """Fit the model, with a group that differs as it does in the pilot.

    Items: the others' labels of each are Dirichlet-multinomial, with a weight found by maximum likelihood.
    Raters: each is fitted to the labels of the others, without the rater's own, by Newton steps, halved if
    they go too far. Means by side and standard deviations of all are the most likely ones given the raters
    and the uncertainty of each (expectation and maximisation, each rater's likelihood taken as normal). The
    group's own view: the spread of its labels beyond that, by maximum likelihood too.
    """
    inside = pilot.member[pilot.rater]
    others = _counted(pilot, ~inside)
    overall = (others.sum(axis=0) + 0.5) / (others.sum() + 0.5 * pilot.n_labels)
    paired = others[others.sum(axis=1) >= 2]
    found = scipy.optimize.minimize_scalar(
        lambda log: -_dirichlet_multinomial(paired, np.exp(log) * overall[None]).sum(),
        bounds=_SPREADS,
        method="bounded",
    )
    spread = float(np.exp(found.x))
    taken = others[pilot.item]
    taken[np.arange(pilot.item.size), pilot.label] -= ~inside
    taken += spread * overall
    log_view = np.log(taken / taken.sum(axis=1, keepdims=True))
    raters, centres, scatter = _raters(pilot, log_view)
    own = _own(pilot, inside, others, spread, probabilities(log_view, raters[pilot.rater]))
    return Model(others[others.sum(axis=1) > 0], overall, spread, centres, scatter, own)


def _counted(pilot: Pilot, rows: BoolArray) -> FloatArray:
    cell = pilot.item[rows] * pilot.n_labels + pilot.label[rows]
    counts = np.bincount(cell, minlength=pilot.n_items * pilot.n_labels)
    return counts.reshape(-1, pilot.n_labels).astype(np.float64)


def _dirichlet_multinomial(counts: FloatArray, weights: FloatArray) -> FloatArray:
    """Return the log likelihood of each row of counts, up to terms that do not depend on the weights."""
    n, total = counts.sum(axis=-1), weights.sum(axis=-1)
    of_labels = (gammaln(counts + weights) - gammaln(weights)).sum(axis=-1)
    return np.asarray(of_labels + gammaln(total) - gammaln(total + n))


def _raters(pilot: Pilot, log_view: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Fit raters' parameters (J, 1 + K), means of both sides (2, 1 + K), standard deviations (1 + K,)."""
    side = pilot.member.astype(np.intp)
    n = np.bincount(side, minlength=2)[:, None]
    centres = np.zeros((2, 1 + pilot.n_labels))
    scatter = np.full(1 + pilot.n_labels, 0.5)
    raters = centres[side]
    given = np.eye(pilot.n_labels)[pilot.label]
    for _ in range(_ROUNDS):
        raters, error = _step(pilot, log_view, given, raters, centres[side], scatter)
        for of in (0, 1):
            centres[of] = raters[side == of].sum(axis=0) / n[of]
        centres[:, LEAN:] -= centres[:, LEAN:].mean(axis=1, keepdims=True)
        # Labels show only differences of leanings; the level common to all varies as in the prior.
        error[:, LEAN:] += (scatter[LEAN:] ** 2 - error[:, LEAN:]) / pilot.n_labels
        squared = (error + (raters - centres[side]) ** 2).sum(axis=0)
        scatter = np.sqrt((squared + _STRAYS * 0.3**2) / (side.size + _STRAYS)).clip(_LEAST_SCATTER)
    return raters, centres, scatter


def _step(
    pilot: Pilot,
    log_view: FloatArray,
    given: FloatArray,
    raters: FloatArray,
    centre: FloatArray,
    scatter: FloatArray,
) -> tuple[FloatArray, FloatArray]:
    """Return raters after a Newton step in each direction, and the variance of each, both (J, 1 + K)."""

    def total(values: FloatArray) -> FloatArray:
        return np.bincount(pilot.rater, values, len(raters)).astype(np.float64, copy=False)

    share = probabilities(log_view, raters[pilot.rater])
    mean = (share * log_view).sum(axis=1)
    slope = np.empty_like(raters)
    curve = np.empty_like(raters)
    sharp = np.exp(raters[:, SHARP])
    slope[:, SHARP] = sharp * total(((given - share) * log_view).sum(axis=1))
    curve[:, SHARP] = sharp**2 * total((share * log_view**2).sum(axis=1) - mean**2)
    for k in range(pilot.n_labels):
        slope[:, LEAN + k] = total(given[:, k] - share[:, k])
        curve[:, LEAN + k] = total(share[:, k] * (1 - share[:, k]))
    precision = curve + scatter**-2
    moved = raters + 0.5 * (slope - (raters - centre) / scatter**2) / precision
    moved[:, SHARP] = moved[:, SHARP].clip(BLUNTEST, SHARPEST)
    return _no_worse(
        raters, moved, lambda tried: _likely(pilot, log_view, tried, centre, scatter)
    ), 1 / precision


def _no_worse(
    raters: FloatArray, moved: FloatArray, likely: Callable[[FloatArray], FloatArray]
) -> FloatArray:
    """Return raters moved only as far as none becomes less likely: on flat likelihoods, steps overshoot."""
    before = likely(raters)
    for _ in range(_HALVINGS):
        worse = likely(moved) < before
        if not worse.any():
            return moved
        moved[worse] = (moved[worse] + raters[worse]) / 2
    return np.where((likely(moved) < before)[:, None], raters, moved)


def _likely(
    pilot: Pilot, log_view: FloatArray, raters: FloatArray, centre: FloatArray, scatter: FloatArray
) -> FloatArray:
    """Return the log likelihood of each rater's labels and parameters (J,), up to a constant."""
    share = probabilities(log_view, raters[pilot.rater])[np.arange(pilot.label.size), pilot.label]
    of_labels = np.bincount(pilot.rater, np.log(share.clip(np.finfo(np.float64).tiny)), len(raters))
    return np.asarray(of_labels - (((raters - centre) / scatter) ** 2).sum(axis=1) / 2)


def _own(pilot: Pilot, inside: BoolArray, others: FloatArray, spread: float, share: FloatArray) -> float:
    """Estimate how far the group's labels of items spread beyond its raters' sharpness and leaning."""
    counts = _counted(pilot, inside)
    expected = np.stack(
        [np.bincount(pilot.item[inside], share[inside, k], pilot.n_items) for k in range(pilot.n_labels)],
        axis=1,
    )
    several = counts.sum(axis=1) >= 2
    if not several.any():
        return 0.0
    counts, expected = counts[several], expected[several] + 1e-9
    expected /= expected.sum(axis=1, keepdims=True)
    unsure = 1 / (others[several].sum(axis=1) + spread + 1)

    def unlikely(own: float) -> float:
        variance = own + unsure - own * unsure
        weight = (1 - variance) / variance
        return -float(_dirichlet_multinomial(counts, weight[:, None] * expected).sum())

    found = scipy.optimize.minimize_scalar(
        unlikely, bounds=(0.0, _MOST_OWN), method="bounded", options={"xatol": 1e-4}
    )
    return float(found.x) if unlikely(found.x) < unlikely(0.0) else 0.0


_ITEMS, _RATERS = 400, 64
"""Number of items, and of raters on each side, over which a model's values are averaged."""
_MEASURED = 11
"""Purpose of the random stream of these items and raters."""
MOST_OWN = 0.97
"""Largest `own` of a model: how far a group's view may differ from the others'."""
_MOST_LEAN = 8.0
_TRIED = 13
_USUAL_SCATTER = 0.3
"""Standard deviation of raters' log sharpness and leaning if there is no pilot."""


def measured(model: Model, spec: PlanSpec, categories: tuple[str, ...]) -> Sizes:
    """Return the model's difference in every measure, on the same draws for every model."""
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
    """Return items' probabilities of each label, averaged over the group's and the others' raters: (I, K)."""
    rng = np.random.default_rng([seed, _MEASURED])
    noise = rng.standard_normal((_RATERS, model.centres.shape[1]))
    views = model.draw_views(_ITEMS, rng)

    def average(side: int) -> FloatArray:
        raters = model.centres[side] + noise * model.scatter
        raters[:, SHARP] = raters[:, SHARP].clip(BLUNTEST, SHARPEST)
        return np.asarray(probabilities(np.log(views[side])[:, None], raters).mean(axis=1))

    return average(1), average(0)


def with_sharp(model: Model, sharp: float) -> Model:
    """Return a model whose group has this mean logarithm of sharpness."""
    centres = model.centres.copy()
    centres[1, SHARP] = sharp
    return replace(model, centres=centres)


def planted(model: Model, spec: PlanSpec, categories: tuple[str, ...]) -> Model:
    """Return a model whose group differs from the others by the size asked for, and in nothing else.

    Points of a label come from a leaning to it; distance, a gap above 0 and a GAI above 1 from an own view of
    items; a gap below 0 and a GAI below 1 from less sharpness. Raises SpecError about impossible sizes.
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
    blunter = partial(with_sharp, alike)
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
    """Return the size in the measure that is tested."""
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
    """Make a model of usual raters; raises SpecError if these cannot agree as much as assumed."""
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
