"""Size of every test, and the check of assignment, if groups differ only in the items that they got."""

from __future__ import annotations

import argparse
from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from benchmarks.planted import AXIS, EVENNESS, LEANING, SKILL, dataset, run_spec
from grasp_core.analysis.cohesion.panel import Cohesion
from grasp_core.analysis.cohesion.untested import jackknifed
from grasp_core.analysis.design import Seen, check_assignment
from grasp_core.analysis.models.panel import Models
from grasp_core.engine.compute import permute
from grasp_core.engine.pools import workers
from grasp_core.engine.pools.pool import Pool
from grasp_core.engine.watching import Watcher
from grasp_core.model.annotations import BoolArray, FloatArray, ModelLabels
from grasp_core.model.groups import form_groups
from grasp_core.model.outcome import AssignmentCheck
from grasp_core.model.spec import LEVEL, STATISTICS
from grasp_core.model.spec import SIDES as OF_MODELS
from grasp_core.permutation.testing.outcomes import outcomes
from grasp_core.reading.dataset.load import Dataset
from grasp_core.statistics.items import count

Random = np.random.Generator
Chances = FloatArray
"""Shape (raters, items): probability that a rater gets each item, up to a factor."""


@dataclass(frozen=True, slots=True)
class Situation:
    """A way to assign items: `raters`, `inside` of them in the group, `each` annotations or all items."""

    name: str
    give: Callable[[BoolArray, int, Random], tuple[Chances, FloatArray]]
    items: int = 200
    raters: int = 60
    inside: int = 15
    each: int = 30
    hard: bool = False
    """True if the items of the group's own pool are harder."""


def anybody(inside: BoolArray, items: int, rng: Random) -> tuple[Chances, FloatArray]:
    """Give everybody items at random."""
    return np.ones((inside.size, items)), np.ones(inside.size)


def uneven(inside: BoolArray, items: int, rng: Random) -> tuple[Chances, FloatArray]:
    """Give everybody items at random; raters rate as many as they like."""
    return np.ones((inside.size, items)), np.exp(rng.normal(0, 0.8, inside.size))


def own_items(items: int) -> BoolArray:
    """Return which items are the group's own pool: the last quarter."""
    return np.arange(items) >= items - items // 4


def own_pool(part: float) -> Callable[[BoolArray, int, Random], tuple[Chances, FloatArray]]:
    """Give the group this part of its annotations from the last quarter of items, others from the rest."""

    def give(inside: BoolArray, items: int, rng: Random) -> tuple[Chances, FloatArray]:
        own = own_items(items)
        of_own = np.where(inside, part, 1 - part)[:, None]
        return np.where(own, of_own / own.sum(), (1 - of_own) / (~own).sum()), np.ones(inside.size)

    return give


def batches(inside: BoolArray, items: int, rng: Random) -> tuple[Chances, FloatArray]:
    """Put raters into batches with their own items; four fifths of the first batch are in the group."""
    first = np.zeros(inside.size, dtype=np.bool_)
    for side, part in ((inside, 0.8), (~inside, 0.2)):
        members = np.flatnonzero(side)
        first[rng.permutation(members)[: round(part * members.size)]] = True
    return ((np.arange(items) < items // 4) == first[:, None]).astype(np.float64), np.ones(inside.size)


def busier(
    times: float, spread: float = 0.0
) -> Callable[[BoolArray, int, Random], tuple[Chances, FloatArray]]:
    """Give the group so many times as many items, with a log-normal `spread` over its raters."""

    def give(inside: BoolArray, items: int, rng: Random) -> tuple[Chances, FloatArray]:
        own = np.exp(rng.normal(0, spread, inside.size)) if spread else 1.0
        return np.ones((inside.size, items)), np.where(inside, times, 1.0) * own

    return give


TESTS = (
    *("irr", "xrr", "negentropy", "plurality_size", "cross_negentropy", "voting_agreement", "gai", "gap"),
    "distance",
)
PERMUTATIONS = 199

CLEAN = (
    Situation("sparse", anybody),
    Situation("sparse, uneven workloads", uneven),
    Situation("sparse, few annotations", anybody, items=100, raters=40, inside=8, each=10),
    Situation("crossed", anybody, items=60, each=60),
)
CONFOUNDED = (
    Situation("80 % from an own pool", own_pool(0.8)),
    Situation("the same, of harder items", own_pool(0.8), hard=True),
    Situation("batches, 80 % of one group", batches),
    Situation("4 times as many items", busier(4), each=15),
)
FURTHER = (
    Situation("80 %, half of the raters", own_pool(0.8), inside=30),
    Situation("90 %, half of the raters", own_pool(0.9), inside=30),
    Situation("half as many items", busier(0.5)),
)
SLIGHT = (Situation("1.25 times as many items", busier(1.25), each=15),)


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.confounded", description=__doc__)
    parser.add_argument("--sets", type=int, default=200, help="data sets for each situation")
    sets = parser.parse_args().sets
    columns = ("warned", *TESTS, "label use", "left out", *(f"m {name}" for name in OF_MODELS))
    print(f"Share of {sets} data sets that are warned of, and in which p < {LEVEL}")
    print(f"{'':36}" + "".join(f"{name[:11]:>13}" for name in columns))
    pool = Pool(workers.threads)
    try:
        for situation in (*CLEAN, *CONFOUNDED, *FURTHER, *SLIGHT):
            data = ((drawn(situation, seed), seed) for seed in range(sets))
            all_called = [
                np.hstack([called(one, seed, pool), models_called(one, situation, seed, pool)])
                for one, seed in data
            ]
            found = np.mean(all_called, axis=0)
            for side, shares in zip(SIDES, found, strict=True):
                print(f"{situation.name:32}{side:4}" + "".join(f"{share:13.3f}" for share in shares))
    finally:
        pool.close()


def checked(dataset: Dataset) -> AssignmentCheck:
    """Return the check of the only axis."""
    groups = form_groups(dataset.raters, [(AXIS,)])
    (check,) = check_assignment(Seen.of(dataset.annotations), dataset.annotations_of, groups, [(AXIS,)])
    return check


SIDES = ("in", "out")


def called(dataset: Dataset, seed: int, pool: Pool) -> list[list[bool]]:
    """Return for each side if a warning is given, the calls by shuffling, and the call by leaving raters out.

    Nothing is withheld. Both sides count: other tests call the group with more items than the one with fewer.
    """
    spec = run_spec(seed, PERMUTATIONS)
    grouping = form_groups(dataset.raters, [(AXIS,)])
    panel = Cohesion(dataset, grouping, spec.analysis)  # withholds nothing
    null = permute(panel, spec.analysis, pool, Watcher()).null
    found = outcomes(panel.tests, panel.observed, null, panel.reasons)
    warned, of_sides = checked(dataset).large, []
    places = [*(STATISTICS.index(name) for name in TESTS), panel.places.label_use]
    for side in SIDES:
        g = next(g for g, group in enumerate(grouping.groups) if group.values == (side,))
        left_out = jackknifed(dataset.questions, grouping.member[g], grouping.complement(g))
        p = [found[panel.places.column(g, place)].p for place in places]
        p.append(None if left_out is None else left_out.p)
        of_sides.append([warned, *(one is not None and one < LEVEL for one in p)])
    return of_sides


def models_called(dataset: Dataset, situation: Situation, seed: int, pool: Pool) -> list[list[bool]]:
    """Return the same for a model's sides, by every statistic. It gives three of four items their plurality.

    If items of the group's own pool are harder, they are harder for the model too: half of them get theirs.
    """
    annotations, rng = dataset.annotations, np.random.default_rng(10_000 + seed)
    hard = np.array([int(name[1:]) for name in annotations.item_ids])
    right = np.where(own_items(situation.items)[hard], 0.5, 0.85) if situation.hard else 0.75
    plurality = count(annotations, np.ones(annotations.n_raters, dtype=np.bool_)).argmax(axis=1)
    guessed = rng.integers(0, annotations.n_categories, plurality.size)
    labels = np.where(rng.random(plurality.size) < right, plurality, guessed)
    model = ModelLabels("model", labels.astype(np.int32), "labels.csv", "0" * 64)
    spec, grouping = run_spec(seed, PERMUTATIONS), form_groups(dataset.raters, [(AXIS,)])
    panel = Models(replace(dataset, models=(model,)), grouping, spec.analysis)  # withholds nothing
    null = permute(panel, spec.analysis, pool, Watcher()).null
    found = outcomes(panel.tests, panel.observed, null, {})
    p = [found[c].p for c in range(panel.observed.size)]
    of_group = [
        [one is not None and one < LEVEL for one in p[g * panel.per_unit :][: panel.per_unit]] for g in (0, 1)
    ]
    return [of_group[[group.values for group in grouping.groups].index((side,))] for side in SIDES]


def drawn(situation: Situation, seed: int, categories: int = 3) -> Dataset:
    """Draw data of a situation: labels depend on the item and the rater, never on the group."""
    rng = np.random.default_rng(seed)
    inside = np.arange(situation.raters) < situation.inside
    chances, workload = situation.give(inside, situation.items, rng)
    many = np.clip(np.round(situation.each * workload), 2, (chances > 0).sum(axis=1)).astype(int)
    keys = np.log(np.maximum(rng.random(chances.shape), 1e-300)) / np.maximum(chances, 1e-12)
    rank = (-keys).argsort(axis=1).argsort(axis=1)
    rater, item = np.nonzero(rank < many[:, None])
    shares = _item_shares(situation, categories, rng)[item]
    skill = np.exp(rng.normal(0, SKILL, (situation.raters, 1)))[rater]
    leaning = np.exp(rng.normal(0, LEANING, (situation.raters, categories)))[rater]
    shares = np.maximum(shares, 1e-9) ** skill * leaning
    upper = (shares / shares.sum(axis=1, keepdims=True)).cumsum(axis=1)[:, :-1]
    label = (rng.random((rater.size, 1)) > upper).sum(axis=1)
    labels = np.full(chances.shape, -1)
    labels[rater, item] = label
    return dataset(labels, categories, {AXIS: ["in" if one else "out" for one in inside]})


def _item_shares(situation: Situation, categories: int, rng: Random) -> FloatArray:
    found = rng.dirichlet(np.full(categories, EVENNESS), situation.items)
    if situation.hard:
        last = own_items(situation.items)[:, None]
        found = np.where(last, 0.35 * found + 0.65 / categories, found)
    return np.asarray(found)


if __name__ == "__main__":
    main()
