"""People on the same task: a few votes per item, their plurality, scored like a model."""

from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np

from grasp_core.benchmark.scoring.scores import RESAMPLES, resampled_f1
from grasp_core.model.annotations import Annotations, BoolArray, Codes, Int64Array
from grasp_core.model.errors import DataError, SpecError
from grasp_core.model.text import listed, number
from grasp_core.reading.dataset.load import Dataset
from grasp_core.statistics.f1 import confusion, interval, macro_f1

HELD_OUT, GOLD = "held-out raters", "gold"
UNVOTED = "right for some items, and nobody's vote, so always missed"
_STREAM = 2**64 - 2
"""Second word of the random streams' key, so that nothing else with the same seed shares them."""


@dataclass(frozen=True, slots=True)
class HumanScore:
    """The score of the plurality of a few raters.

    `macro_f1`, `macro_f1_declared`: of the first draw of items and votes.
    `mean`, `spread`: mean and standard deviation of `macro_f1` over all draws; the spread is NaN for a single
        one.
    `repeats`, `n`, `votes`, `classes`: draws, items of each, votes per item and categories of the data.
    `unvoted`: right labels that nobody voted for; each counts as a class that is always missed.
    """

    macro_f1: float
    macro_f1_declared: float
    ci95: tuple[float, float]
    mean: float
    spread: float
    repeats: int
    n: int
    votes: int
    classes: int
    eligible: int
    against: str
    unvoted: tuple[str, ...] = ()


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
    """Score the plurality of `votes` annotations per item, on `items` items drawn at random, by (seed, draw).

    `against`: right label by item; without it, the plurality of the item's other annotations is right.

    Source: Alex et al., *RAFT*, 2021: five votes on each of 100 test rows per task, ties broken at random.
    """
    _check(seed, votes=votes, items=items, repeats=repeats)
    annotations = dataset.annotations
    gold, unvoted = (None, ()) if against is None else _gold_codes(annotations, against)
    per_item = np.diff(annotations.indptr)
    enough = per_item > votes if gold is None else (per_item >= votes) & (gold >= 0)
    eligible = np.flatnonzero(enough)
    if eligible.size < items:
        raise DataError(_too_few(annotations, gold, votes, items, eligible.size))
    draws = [_draw(annotations, gold, eligible, votes, items, seed, number) for number in range(repeats)]
    classes = annotations.n_categories + len(unvoted)
    tables = [confusion(right, said, classes) for _, right, said in draws]
    values = np.array([macro_f1(table) for table in tables])
    _, right, said = draws[0]
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
        classes=classes,
        eligible=int(eligible.size),
        against=HELD_OUT if gold is None else GOLD,
        unvoted=unvoted,
    )


def plurality_of_few(dataset: Dataset, *, votes: int = 5, items: int = 100, seed: int = 1) -> dict[str, str]:
    """Return the plurality of `votes` annotations by item, for one draw, to be scored elsewhere."""
    _check(seed, votes=votes, items=items)
    annotations = dataset.annotations
    none = np.full(annotations.n_items, -1, dtype=np.int64)
    eligible = np.flatnonzero(np.diff(annotations.indptr) >= votes)
    if eligible.size < items:
        raise DataError(_too_few(annotations, none, votes, items, eligible.size, right=False))
    chosen, _, said = _draw(annotations, none, eligible, votes, items, seed, 0)
    return {
        annotations.item_ids[item]: annotations.categories[code]
        for item, code in zip(chosen, said, strict=True)
    }


LEAST = 10
"""Fewest qualification rows of a rater who is considered, as in the paper."""


@dataclass(frozen=True, slots=True)
class Qualification:
    """Raters who passed, failed, or labelled too few rows; `votes` on these rows enter no score."""

    passed: tuple[str, ...]
    failed: tuple[str, ...]
    few: tuple[str, ...]
    votes: int


def qualify(dataset: Dataset, right: Mapping[str, str], bar: float) -> tuple[Dataset, Qualification]:
    """Return the votes of raters who are right on a share of `bar` of the qualification rows, without these.

    Source: Alex et al., *RAFT*, 2021, section 4: a qualification of at least 10 rows, then annotation.
    """
    if not 0 <= bar <= 1:
        raise SpecError(f"the bar is a share of rows labelled rightly, from 0 to 1; found {bar:g}")
    a = dataset.annotations
    known = _gold_codes(a, right)[0][a.item]
    asked = known >= 0
    if not asked.any():
        raise DataError("no rater has labelled a row of the qualification; are its IDs those of the items?")
    labelled = np.bincount(a.rater[asked], minlength=a.n_raters)
    correct = np.bincount(a.rater[asked & (known == a.category)], minlength=a.n_raters)
    enough = labelled >= LEAST
    passed = enough & (correct >= bar * labelled - 1e-9)
    which = (passed, enough & ~passed, ~enough & (np.bincount(a.rater, minlength=a.n_raters) > 0))
    voters, failed, few = (tuple(a.rater_ids[one] for one in np.flatnonzero(part)) for part in which)
    if not voters:
        raise DataError(
            f"nobody qualifies: {number(len(failed), 'rater')} did not reach {bar:g}, "
            f"{number(len(few), 'rater')} labelled fewer than {LEAST} of the rows; lower the bar, or take "
            "other rows"
        )
    found = Qualification(voters, failed, few, votes=int(asked.sum()))
    return _only(dataset, passed[a.rater] & ~asked), found


def of_kind(dataset: Dataset, column: str) -> dict[str, Dataset]:
    """Return the votes by kind of raters, such as experts and crowd: by the values of a rater column."""
    axis = dataset.raters.axes.get(column)
    if axis is None:
        raise DataError(f"no column {column} of the raters was read; name one that says who is an expert")
    codes = axis.codes[dataset.annotations.rater]
    return {name: _only(dataset, codes == code) for code, name in enumerate(axis.values)}


def _only(dataset: Dataset, votes: BoolArray) -> Dataset:
    """Return the data with some of their annotations; items and raters keep their positions."""
    a = dataset.annotations
    item = a.item[votes]
    starts = np.concatenate([[0], np.cumsum(np.bincount(item, minlength=a.n_items))])
    kept = Annotations(
        a.item_ids,
        a.rater_ids,
        a.categories,
        starts.astype(a.indptr.dtype),
        a.rater[votes],
        a.category[votes],
    )
    return replace(dataset, annotations=kept)


def _check(seed: int, **numbers: int) -> None:
    for name, value in numbers.items():
        if value < 1:
            raise SpecError(f"`{name}` must be 1 or more; found {value}")
    if not 0 <= seed < 2**63:
        raise SpecError(f"`seed` must be a whole number from 0 to 2^63 - 1; found {seed}")


def _gold_codes(annotations: Annotations, against: Mapping[str, str]) -> tuple[Codes, tuple[str, ...]]:
    """Return each item's right label: its position in the categories followed by right labels without a vote.

    Returns shape (I,), -1 if there is none; and the labels without a vote.
    """
    categories = annotations.categories
    right = [against.get(one) for one in annotations.item_ids]
    found = {label for label in right if label is not None}
    unvoted = sorted(found - {*categories})
    alike = {_bare(name) for name in categories}
    if unvoted and (found <= {*unvoted} or any(_bare(label) in alike for label in unvoted)):
        raise DataError(
            f"{number(len(unvoted), 'right label')} of the items occur in no annotation and are no category: "
            f"{listed(unvoted, 5)}; the categories are {listed(categories, 5)}: write labels alike in both"
        )
    code_of = {label: code for code, label in enumerate([*categories, *unvoted])}
    codes = np.array([-1 if label is None else code_of[label] for label in right], dtype=np.int64)
    return codes, tuple(unvoted)


def _bare(label: str) -> str:
    """Return a label's letters and digits, which stay the same in another spelling."""
    return "".join(filter(str.isalnum, label.casefold())) or label


def _too_few(
    annotations: Annotations, gold: Codes | None, votes: int, items: int, found: int, *, right: bool = True
) -> str:
    needed = (
        f"{votes + 1} or more annotations (one is held out)"
        if gold is None
        else f"{votes} or more annotations"
    )
    having = needed if gold is None or not right else f"{needed} and a right label"
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
) -> tuple[Codes, Codes, Codes]:
    """Return the items of one draw, their right and their voted categories, each of shape (items,)."""
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
        return chosen, gold[chosen], said
    held_out = _plurality(item[~voting], category[~voting], items, annotations.n_categories, generator)
    return chosen, held_out, said


def _plurality(
    item: Codes, category: Codes, items: int, classes: int, generator: np.random.Generator
) -> Int64Array:
    """Return the most frequent category of each item, ties broken at random, shape (items,)."""
    counts = np.bincount(item * classes + category, minlength=items * classes).reshape(items, classes)
    most: Int64Array = np.argmax(counts + generator.random(counts.shape), axis=1)
    return most
