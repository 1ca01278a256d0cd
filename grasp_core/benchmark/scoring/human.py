"""People on the same task: a few votes per item, their plurality, scored like a model."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from grasp_core.benchmark.scoring.scores import RESAMPLES, resampled_f1
from grasp_core.model.annotations import Annotations, Codes, Int64Array
from grasp_core.model.errors import DataError, SpecError
from grasp_core.model.wording import listed, number
from grasp_core.reading.dataset.load import Dataset
from grasp_core.statistics.f1 import confusion, interval, macro_f1

HELD_OUT, GOLD = "held-out raters", "gold"
_STREAM = 2**64 - 2
"""Second word of the random streams' key, so that they are shared with nothing else of the same seed."""


@dataclass(frozen=True, slots=True)
class HumanScore:
    """How well the plurality of a few raters does.

    Parameters
    ----------
    macro_f1, macro_f1_declared : float
        Of the first draw of items and votes.
    ci95 : (float, float)
        Its 95 % bootstrap interval, over items.
    mean, spread : float
        Mean and standard deviation of `macro_f1` over all draws; the spread is NaN for a single one.
    repeats, n, votes : int
        Draws, items of each and votes per item.
    eligible : int
        Items that could be drawn.
    """

    macro_f1: float
    macro_f1_declared: float
    ci95: tuple[float, float]
    mean: float
    spread: float
    repeats: int
    n: int
    votes: int
    eligible: int
    against: str


def human_baseline(
    dataset: Dataset,
    *,
    votes: int = 5,
    items: int = 100,
    repeats: int = 100,
    seed: int = 1,
    against: Mapping[str, str] | None = None,
    resamples: int = RESAMPLES,
) -> HumanScore:
    """Score the plurality of `votes` annotations per item, on `items` items drawn at random.

    Parameters
    ----------
    votes : int
        Annotations drawn per item, without replacement; ties between labels are broken at random.
    items : int
        Items drawn, without replacement, among those with enough annotations and a right label.
    repeats : int
        Draws of items and votes.
    seed : int
        Draw r depends on (seed, r) alone.
    against : mapping of str to str, optional
        Right label by item. Without it, the right label is the plurality of the item's other annotations, so
        items need one more than `votes`.
    resamples : int
        Of the bootstrap.

    Raises
    ------
    SpecError
        If a number is too small.
    DataError
        If too few items can be drawn, or right labels are no categories of the data.

    References
    ----------
    Alex et al., *RAFT*, 2021: five votes on each of 100 test rows per task, ties broken at random.
    """
    _check(seed, votes=votes, items=items, repeats=repeats)
    annotations = dataset.annotations
    gold = None if against is None else _gold_codes(annotations, against)
    eligible = _eligible(annotations, gold, votes)
    if eligible.size < items:
        raise DataError(_too_few(annotations, gold, votes, items, eligible.size))
    draws = [_draw(annotations, gold, eligible, votes, items, seed, number) for number in range(repeats)]
    classes = annotations.n_categories
    tables = [confusion(right, said, classes) for right, said in draws]
    values = np.array([macro_f1(table) for table in tables])
    right, said = draws[0]
    resampled = resampled_f1(right, [said], classes, seed=seed, purpose="human", resamples=resamples)
    return HumanScore(
        macro_f1=float(values[0]),
        macro_f1_declared=macro_f1(tables[0], "declared"),
        ci95=interval(resampled[0]),
        mean=float(values.mean()),
        spread=float(values.std(ddof=1)) if repeats > 1 else float("nan"),
        repeats=repeats,
        n=items,
        votes=votes,
        eligible=int(eligible.size),
        against=HELD_OUT if gold is None else GOLD,
    )


def _check(seed: int, **numbers: int) -> None:
    for name, value in numbers.items():
        if value < 1:
            raise SpecError(f"`{name}` must be 1 or more; found {value}")
    if not 0 <= seed < 2**63:
        raise SpecError(f"`seed` must be a whole number from 0 to 2^63 - 1; found {seed}")


def _gold_codes(annotations: Annotations, against: Mapping[str, str]) -> Codes:
    """Category of each item's right label, or -1 where there is none, shape (I,)."""
    code_of = {label: code for code, label in enumerate(annotations.categories)}
    strange = sorted(set(against.values()) - code_of.keys())
    if strange:
        raise DataError(
            f"{number(len(strange), 'right label')} of the items occur in no annotation and are no category: "
            f"{listed(strange, 5)}; the categories are {listed(annotations.categories, 5)}"
        )
    codes = [code_of[against[one]] if one in against else -1 for one in annotations.item_ids]
    return np.array(codes, dtype=np.int64)


def _eligible(annotations: Annotations, gold: Codes | None, votes: int) -> Int64Array:
    """Items from which `votes` annotations can be drawn and scored."""
    per_item = np.diff(annotations.indptr)
    enough = per_item > votes if gold is None else (per_item >= votes) & (gold >= 0)
    return np.flatnonzero(enough)


def _too_few(annotations: Annotations, gold: Codes | None, votes: int, items: int, found: int) -> str:
    needed = (
        f"{votes + 1} or more annotations (one is held out)"
        if gold is None
        else f"{votes} or more annotations"
    )
    having = needed if gold is None else f"{needed} and a right label"
    per_item = np.diff(annotations.indptr)
    return (
        f"{number(found, 'item')} of {annotations.n_items:,} {'has' if found == 1 else 'have'} {having}, but "
        f"{items:,} are to be drawn; an item has {np.median(per_item):.3g} annotations at the median: "
        "ask for fewer votes or fewer items"
    )


def _draw(
    annotations: Annotations,
    gold: Codes | None,
    eligible: Int64Array,
    votes: int,
    items: int,
    seed: int,
    repeat: int,
) -> tuple[Codes, Codes]:
    """Right and voted category of the items of one draw, shapes (items,)."""
    key, counter = np.array([seed, _STREAM], np.uint64), np.array([0, 0, 0, repeat], np.uint64)
    generator = np.random.Generator(np.random.Philox(key=key, counter=counter))
    chosen = np.sort(generator.choice(eligible, size=items, replace=False))
    sizes = np.diff(annotations.indptr)[chosen]
    item = np.repeat(np.arange(items), sizes)
    starts = np.cumsum(sizes) - sizes
    position = np.arange(item.size) - starts[item]
    category = annotations.category[annotations.indptr[chosen][item] + position]
    category = category[np.lexsort((generator.random(item.size), item))]  # shuffled within each item
    voting = position < votes
    said = _plurality(item[voting], category[voting], items, annotations.n_categories, generator)
    if gold is not None:
        return gold[chosen], said
    held_out = _plurality(item[~voting], category[~voting], items, annotations.n_categories, generator)
    return held_out, said


def _plurality(
    item: Codes, category: Codes, items: int, classes: int, generator: np.random.Generator
) -> Int64Array:
    """Most frequent category of each item, ties broken at random, shape (items,)."""
    counts = np.bincount(item * classes + category, minlength=items * classes).reshape(items, classes)
    most: Int64Array = np.argmax(counts + generator.random(counts.shape), axis=1)
    return most
