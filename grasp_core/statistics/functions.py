"""Single statistics as functions of labels or counts: ``grasp.statistics``.

Each takes one array, for one set of raters, or two, for a group and the others. By default an array contains
labels, raters by items (shape (J, I), None or NaN for a missing label). With ``counts=True`` it contains the
number of raters who gave each label, items by labels (shape (I, K)). `categories` and `level` are as in
:func:`krippendorff_alpha`. A statistic without a value is NaN. Arrays of another form, and labels that do
not have the level, raise SpecError. docs/methods.md defines the statistics; each function calls the
definition against which the analyses are tested.
"""

from collections.abc import Callable, Iterable, Sequence
from typing import Any, get_args

import numpy as np
import numpy.typing as npt

from grasp_core.model.annotations import FloatArray, Int64Array
from grasp_core.model.errors import SpecError
from grasp_core.model.spec import Level
from grasp_core.statistics import coefficients, cross_group, in_group, label_use
from grasp_core.statistics.items import NotEstimableError
from grasp_core.statistics.levels import category_values, possible_levels

Array = npt.ArrayLike
Labels = Iterable[object]


def krippendorff_alpha(
    data: Array, *, counts: bool = False, categories: Labels | None = None, level: Level = "nominal"
) -> float:
    """Return Krippendorff's alpha of one set of raters, the paper's IRR.

    Parameters
    ----------
    data : array, shape (J, I), or (I, K) with `counts`
        Labels, raters by items; or the number of raters who gave item i label k.
    counts : bool
        True if `data` are counts.
    categories : sequence, optional
        All labels in their order; by default the labels found, sorted. With `counts`: 0, 1, 2...
    level : {"nominal", "ordinal", "interval", "ratio"}
        Level of measurement.

    Returns
    -------
    float
        At most 1; 0 if raters agree as often as by chance; NaN if no item has two labels, or all labels are
        equal.

    Raises
    ------
    SpecError
        If the array has another form, or the labels do not have this level.

    References
    ----------
    Krippendorff (2019), Content Analysis, 4th ed., chapter 12.

    Examples
    --------
    >>> krippendorff_alpha([["a", "b", "a"], ["a", "b", "b"]])
    0.4444444444444444
    """
    (c,), scale = _read([data], counts, categories, level)
    return _value(lambda: in_group.irr(c, scale.distance))


def xrr(
    group: Array,
    others: Array,
    *,
    counts: bool = False,
    categories: Labels | None = None,
    level: Level = "nominal",
) -> float:
    """Return the cross-replication reliability of two sets of raters (Wong, Paritosh and Aroyo 2021).

    Parameters are as in :func:`krippendorff_alpha`, with one array per side; both have the same items.

    Returns
    -------
    float
        At most 1; NaN if it has no value.
    """
    (c, d), scale = _read([group, others], counts, categories, level)
    return _value(lambda: cross_group.xrr(c, d, scale.distance))


def gai(
    group: Array,
    others: Array,
    *,
    counts: bool = False,
    categories: Labels | None = None,
    level: Level = "nominal",
) -> float:
    """Return the group association index IRR / XRR: 1 if a group agrees as much inside as with the others.

    Parameters are as in :func:`xrr`. NaN if either has no value, or XRR is not above 0.

    References
    ----------
    Prabhakaran et al. (2024), GRASP, NAACL.
    """
    (c, d), scale = _read([group, others], counts, categories, level)
    across = _value(lambda: cross_group.xrr(c, d, scale.distance))
    return _value(lambda: in_group.irr(c, scale.distance)) / across if across > 0 else float("nan")


def gap(
    group: Array,
    others: Array,
    *,
    counts: bool = False,
    categories: Labels | None = None,
    level: Level = "nominal",
) -> float:
    """Return IRR minus XRR, whose ratio is :func:`gai`: 0 means no difference. Parameters are as there."""
    (c, d), scale = _read([group, others], counts, categories, level)
    return _value(lambda: in_group.irr(c, scale.distance) - cross_group.xrr(c, d, scale.distance))


def negentropy(data: Array, *, counts: bool = False, categories: Labels | None = None) -> float:
    """Return the mean over items of ln K minus the entropy of their labels, in nats: ln K if all agree."""
    (c,), _ = _read([data], counts, categories)
    return _value(lambda: in_group.negentropy(c))


def cross_negentropy(
    group: Array, others: Array, *, counts: bool = False, categories: Labels | None = None
) -> float:
    """Return the mean over shared items of ln K minus the group's cross-entropy under the others, in nats.

    Half a label is added to each of the others' counts, so that a label that none of them gave is possible.
    """
    (c, d), _ = _read([group, others], counts, categories)
    return _value(lambda: cross_group.cross_negentropy(c, d))


def plurality_size(data: Array, *, counts: bool = False, categories: Labels | None = None) -> float:
    """Return the mean over items of the share of their most frequent label, from 1/K to 1."""
    (c,), _ = _read([data], counts, categories)
    return _value(lambda: in_group.plurality_size(c))


def voting_agreement(
    group: Array, others: Array, *, counts: bool = False, categories: Labels | None = None
) -> float:
    """Return Krippendorff's alpha between both sides' pluralities; ties go to the first of the labels.

    (Analyses break ties at random, by the run's seed.)
    """
    (c, d), _ = _read([group, others], counts, categories)
    first = np.broadcast_to(np.arange(c.shape[1])[::-1], c.shape)
    return _value(lambda: cross_group.voting_agreement(c, d, (first, first)))


def distance(
    group: Array,
    others: Array,
    *,
    counts: bool = False,
    categories: Labels | None = None,
    level: Level = "nominal",
) -> float:
    """Return the distance between both sides' labels of the same items, beyond the distances within a side.

    Parameters are as in :func:`xrr`. About 0 if the sides do not differ.
    """
    (c, d), scale = _read([group, others], counts, categories, level)
    return _value(lambda: label_use.distance(c, d, scale))


def label_shares(
    group: Array, others: Array, *, counts: bool = False, categories: Labels | None = None
) -> FloatArray:
    """Return how much more often the group gives each label than the others on the same items.

    Returns
    -------
    float64 array, shape (K,)
        Shares of 1, in the order of the categories; NaN without a shared item.
    """
    (c, d), _ = _read([group, others], counts, categories)
    try:
        return label_use.label_use(c, d)
    except NotEstimableError:
        return np.full(c.shape[1], np.nan)


def percent_agreement(data: Array, *, counts: bool = False, categories: Labels | None = None) -> float:
    """Return the share of pairs of raters who give an item the same label, averaged over items, 0 to 1."""
    (c,), _ = _read([data], counts, categories)
    return _value(lambda: coefficients.percent_agreement(c))


def fleiss_kappa(data: Array, *, counts: bool = False, categories: Labels | None = None) -> float:
    """Return Fleiss' kappa (1971), for items with different numbers of raters as in Gwet (2014)."""
    (c,), _ = _read([data], counts, categories)
    return _value(lambda: coefficients.fleiss_kappa(c))


def gwet_ac1(data: Array, *, counts: bool = False, categories: Labels | None = None) -> float:
    """Return Gwet's AC1 (2008): agreement beyond chance that a very frequent label does not lower.

    The value depends on the number of labels, so `categories` should also name labels that nobody gave.
    """
    (c,), _ = _read([data], counts, categories)
    return _value(lambda: coefficients.gwet_ac1(c))


def cohen_kappa(first: Labels, second: Labels) -> float:
    """Return Cohen's kappa (1960) of two raters, over the items that both labelled.

    Parameters
    ----------
    first, second : sequence, length I
        Each rater's labels, in the same order of items; None or NaN for a missing label.
    """
    sides = [_labels([list(one)]) for one in (first, second)]
    places = {name: k for k, name in enumerate(_sorted(sides))}
    if sides[0].shape != sides[1].shape:
        found = " and ".join(str(one.shape[1]) for one in sides)
        raise SpecError(f"both raters have the same items; found {found} labels")
    codes = [
        np.array([-1 if _missing(cell) else places[cell] for cell in one[0]], dtype=np.int64) for one in sides
    ]
    return _value(lambda: coefficients.cohen_kappa(*codes))


def _value(definition: Callable[[], float]) -> float:
    try:
        return float(definition())
    except NotEstimableError:
        return float("nan")


def _read(
    arrays: Sequence[Any], counts: bool, categories: Labels | None, level: Level = "nominal"
) -> tuple[list[Int64Array], label_use.Scale]:
    """Return the counts of each side, shape (I, K), and the labels' scale at the level."""
    if counts:
        found = [_counts(one) for one in arrays]
        names = tuple(map(str, range(found[0].shape[1]) if categories is None else categories))
    else:
        labels = [_labels(one) for one in arrays]
        given = _sorted(labels) if categories is None else list(categories)
        names = tuple(map(str, given))
        found = [_counted(one, given) for one in labels]
    shapes = {one.shape for one in found}
    if len(shapes) > 1 or found[0].shape[1] != len(names):
        sides = " and ".join(" by ".join(map(str, one.shape)) for one in found)
        raise SpecError(
            f"both sides have the same items, and a column for each of {len(names)} labels; found counts of "
            f"{sides} (items by labels)"
        )
    if level not in get_args(Level):
        raise SpecError(f"level is one of {', '.join(get_args(Level))}; found {level!r}")
    if level not in ("nominal", "ordinal") and level not in possible_levels(names):
        raise SpecError(f"level {level!r} takes labels that are numbers; found {', '.join(names[:5])}")
    return found, label_use.Scale(level, category_values(names, level))


def _counts(given: Any) -> Int64Array:
    found = np.asarray(given)
    if found.ndim != 2 or not np.issubdtype(found.dtype, np.number):
        raise SpecError(f"counts are an array of two axes, items by labels; found shape {found.shape}")
    whole = found.astype(np.int64)
    if (whole != found).any() or (whole < 0).any():
        raise SpecError("counts are whole numbers from 0, how many raters gave the item that label")
    return whole


def _labels(given: Any) -> npt.NDArray[np.object_]:
    found = np.asarray(given, dtype=object)
    if found.ndim != 2:
        raise SpecError(
            f"labels are an array of two axes, raters by items; found shape {found.shape}. Counts of labels "
            "take counts=True"
        )
    return found


def _missing(cell: Any) -> bool:
    return cell is None or cell != cell  # NaN, and pandas' NaT


def _sorted(labels: Iterable[npt.NDArray[np.object_]]) -> list[Any]:
    found = {cell for one in labels for cell in one.flat if not _missing(cell)}
    if not found:
        raise SpecError("there is no label in the array: all cells are None or NaN")
    return sorted(found) if len({isinstance(cell, str) for cell in found}) == 1 else sorted(found, key=str)


def _counted(labels: npt.NDArray[np.object_], categories: Sequence[Any]) -> Int64Array:
    places = {name: k for k, name in enumerate(categories)}
    counts = np.zeros((labels.shape[1], len(categories)), np.int64)
    for i in range(labels.shape[1]):
        for cell in labels[:, i]:
            if _missing(cell):
                continue
            if cell not in places:
                raise SpecError(f"item {i} has the label {cell!r}, which is none of the categories")
            counts[i, places[cell]] += 1
    return counts
