"""Agreement of all raters, whatever their groups: overall, by label, by rater, and by batch of items."""

from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import NamedTuple

import numpy as np
from scipy import special

from grasp_core.analysis.intervals import FEWEST_RARER, intervals, rarer_labels, too_large
from grasp_core.model.annotations import (
    Annotations,
    BoolArray,
    FloatArray,
    Int32Array,
    Int64Array,
    by_items,
    is_number,
    number_of,
)
from grasp_core.model.groups import Group, Grouping
from grasp_core.model.remarks.reasons import NoValue
from grasp_core.model.remarks.remark import Remark
from grasp_core.model.result import BatchAgreement, Everybody, LabelAgreement, RaterAgreement
from grasp_core.model.spec import AnalysisSpec, Level
from grasp_core.reading.dataset.load import Dataset
from grasp_core.statistics.association import agreement, average
from grasp_core.statistics.in_group import irr_disagreement, plurality_size
from grasp_core.statistics.items import NotEstimableError, count
from grasp_core.statistics.levels import distance_of

MOST_RATERS = 300
MOST_CELLS = 2**24
FEWEST_ITEMS = 20
"""Fewest items that a rater must share with others to be tested for differing from them."""
CLEARLY = 0.05
"""Least difference of a rater's agreement with the others and theirs with each other, as a share."""
MOST_ITEMS = 100
"""Most items that are listed, those with most disagreement first."""


def everybody(dataset: Dataset, analysis: AnalysisSpec) -> Everybody | None:
    """Return all raters' agreement (docs/methods.md, "Everybody"); None with too many items and labels."""
    questions = dataset.questions
    if any(one.n_items * one.n_categories > MOST_CELLS for one in questions):
        return None
    counts = [count(one, np.ones(one.n_raters, dtype=np.bool_)) for one in questions]
    alpha, reason = _alpha(questions, counts, analysis.level)
    low, high = _interval(dataset, analysis) if alpha is not None else (None, None)
    rated = [c.sum(axis=1) >= 2 for c in counts]
    several = np.logical_or.reduce(rated)
    whole = [c[here].max(axis=1) == c[here].sum(axis=1) for c, here in zip(counts, rated, strict=True)]
    agreed = np.concatenate(whole)
    return Everybody(
        alpha=alpha,
        low=low,
        high=high,
        reason=reason,
        items=int(several.sum()),
        plurality=_known(lambda: average([partial(plurality_size, c) for c in counts])),
        unanimous=float(agreed.mean()) if agreed.size else None,
        labels=_by_label(questions[0], counts[0]) if len(questions) == 1 else (),
        raters=_by_rater(questions, counts),
        batches=tuple(_by_batch(dataset, analysis, counts)),
    )


def again_by_rater(
    questions: Sequence[Annotations], counts: Sequence[Int64Array]
) -> tuple[FloatArray, Int64Array]:
    """Return the mean share of an item's other answers that are the rater's, and the number of answers, (J,).

    `counts`, shape (I, K): labels of all raters, for each question.
    """
    total, n = np.zeros(questions[0].n_raters), np.zeros(questions[0].n_raters, dtype=np.int64)
    for one, c in zip(questions, counts, strict=True):
        of_one = np.zeros(total.size)
        for rater, same, _ in _shares(one, c):
            np.add.at(of_one, rater, same)
            n += np.bincount(rater, minlength=n.size)
        total += of_one
    with np.errstate(invalid="ignore"):
        return total / n, n


class DisputedItem(NamedTuple):
    """An item and its answers: labels with the number of raters who gave each, most frequent first."""

    item: str
    answers: tuple[tuple[str, int], ...]


def disputed_items(one: Annotations, level: Level, label: str | None = None) -> tuple[DisputedItem, ...]:
    """Return the items on which raters agree least; with `label`, only those that got it exactly once."""
    c = count(one, np.ones(one.n_raters, dtype=np.bool_))
    n = c.sum(axis=1)
    squared = distance_of(one.categories, level)(c[n >= 2].sum(axis=0))
    apart = (c @ squared * c).sum(axis=1) / np.maximum(n * (n - 1), 1)
    which = apart > 0 if label is None else (c[:, one.categories.index(label)] == 1) & (n >= 2)
    here = np.flatnonzero(which)
    here = here[np.argsort(-apart[here], kind="stable")[:MOST_ITEMS]]
    return tuple(DisputedItem(one.item_ids[i], _given(one.categories, c[i])) for i in here.tolist())


def _given(categories: Sequence[str], c: Int64Array) -> tuple[tuple[str, int], ...]:
    by_count = sorted(np.flatnonzero(c).tolist(), key=lambda k: (-c[k], k))
    return tuple((categories[k], int(c[k])) for k in by_count)


def _alpha(
    questions: Sequence[Annotations], counts: Sequence[Int64Array], level: Level
) -> tuple[float | None, Remark | None]:
    each = [
        partial(irr_disagreement, c, distance_of(one.categories, level))
        for one, c in zip(questions, counts, strict=True)
    ]
    try:
        return agreement(each, NoValue.ONE_LABEL_INSIDE()), None
    except NotEstimableError as error:
        return None, error.reason


def _interval(dataset: Dataset, analysis: AnalysisSpec) -> tuple[float | None, float | None]:
    """Return an interval for other items; the raters are taken as fixed."""
    everybody = np.ones(dataset.annotations.n_raters, dtype=np.bool_)
    rarer = rarer_labels(dataset.questions, everybody)
    if rarer < FEWEST_RARER or too_large(dataset.questions, analysis) is not None:
        return None, None
    all_of_them = everybody[None]
    grouping = Grouping((Group(("raters",), ("all",)),), all_of_them, all_of_them, np.zeros(1, dtype=np.intp))
    found = intervals(
        dataset.questions,
        dataset.raters,
        grouping,
        AnalysisSpec(axes=(), level=analysis.level, interval="items"),
        lambda counted, _: counted[:, :1],
        ("irr",),
        fewest=2,  # the interval is for other items, so the raters' variance is not needed
    )[0, 0, :2]
    return (None, None) if np.isnan(found).any() else (float(found[0]), float(found[1]))


def _known(value: Callable[[], float]) -> float | None:
    try:
        return value()
    except NotEstimableError:
        return None


def _by_label(one: Annotations, c: Int64Array) -> tuple[LabelAgreement, ...]:
    """Return Fleiss' conditional agreement on each label, and that of the pooled answers by chance."""
    c = c[c.sum(axis=1) >= 2]
    n = c.sum(axis=1)
    marginal, total = c.sum(axis=0), int(n.sum())
    pairs = (c * (c - 1) / np.maximum(n - 1, 1)[:, None]).sum(axis=0)
    found = []
    for k, label in enumerate(one.categories):
        alone = c[c[:, k] == 1]
        others = alone.sum(axis=0)
        others[k] = 0
        beside = one.categories[int(others.argmax())] if others.any() else None
        given = int(marginal[k])
        again = float(pairs[k] / given) if given else None
        chance = (given - 1) / (total - 1) if given and total > 1 else None
        found.append(LabelAgreement(label, given, again, chance, len(alone), beside))
    return tuple(found)


def _by_rater(questions: Sequence[Annotations], counts: Sequence[Int64Array]) -> tuple[RaterAgreement, ...]:
    again, n = again_by_rater(questions, counts)
    listed = np.flatnonzero(n)
    if not 1 < listed.size <= MOST_RATERS:
        return ()
    differs = differing(questions, counts)
    numbers = _numbered(questions[0].rater_ids)
    order = listed[np.argsort(again[listed], kind="stable")]
    return tuple(
        RaterAgreement(numbers[j], int(n[j]), float(again[j]), bool(differs[j])) for j in order.tolist()
    )


def _numbered(ids: Sequence[str]) -> list[int]:
    """Number ids from 1 in their order: that of numbers if all are numbers, else that of texts."""
    values = [number_of(one) for one in ids] if all(map(is_number, ids)) else ids
    numbers = [0] * len(ids)
    for number, j in enumerate(sorted(range(len(ids)), key=values.__getitem__), 1):
        numbers[j] = number
    return numbers


def differing(questions: Sequence[Annotations], counts: Sequence[Int64Array]) -> BoolArray:
    """Return which raters agree clearly less with the others than these with each other on the same items.

    One-sided t tests, Bonferroni-corrected over the raters who share items with others. `counts` as in
    :func:`again_by_rater`.
    """
    j = questions[0].n_raters
    sums, squares, n = np.zeros(j), np.zeros(j), np.zeros(j)
    for one, c in zip(questions, counts, strict=True):
        of_one = np.zeros((2, j))
        for rater, same, others in _shares(one, c):
            apart = same - others
            np.add.at(of_one[0], rater, apart)
            np.add.at(of_one[1], rater, apart**2)
            n += np.bincount(rater, minlength=j)
        sums, squares = sums + of_one[0], squares + of_one[1]
    enough = n >= FEWEST_ITEMS
    with np.errstate(invalid="ignore", divide="ignore"):
        mean = sums / n
        error = np.sqrt((squares / n - mean**2) / (n - 1))
        t = np.where(error > 0, mean / error, 0.0)
    tests = np.count_nonzero(n)
    p = special.stdtr(np.maximum(n - 1, 1), t)
    found: BoolArray = enough & (p * tests < 0.05) & (mean < -CLEARLY)
    return found


def _shares(one: Annotations, c: Int64Array) -> Iterator[tuple[Int32Array, FloatArray, FloatArray]]:
    """Yield, piece by piece, for answers on shared items: rater, share of others who gave it, their mean."""
    n = c.sum(axis=1)
    pairs = (c * (c - 1)).sum(axis=1) / np.maximum(n - 1, 1)
    every = one.item
    for some in by_items(every):
        here = n[every[some]] >= 2
        item, rater, label = (part[some][here] for part in (every, one.rater, one.category))
        mine = (c[item, label] - 1) / (n[item] - 1)
        yield rater, mine, (pairs[item] - mine) / (n[item] - 1)


def _by_batch(
    dataset: Dataset, analysis: AnalysisSpec, counts: Sequence[Int64Array]
) -> Iterator[BatchAgreement]:
    slices = {name: dataset.attributes[name] for name in analysis.slices}
    for name, attribute in (slices or dataset.batches).items():
        for code, value in enumerate(attribute.values):
            here = attribute.codes == code
            alpha, _ = _alpha(dataset.questions, [c[here] for c in counts], analysis.level)
            several = np.logical_or.reduce([c[here].sum(axis=1) >= 2 for c in counts])
            yield BatchAgreement(name, value, int(several.sum()), alpha)
