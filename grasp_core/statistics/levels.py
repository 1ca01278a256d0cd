"""Distances between labels at Krippendorff's four levels of measurement."""

import shlex
from collections.abc import Callable, Sequence
from functools import partial
from typing import get_args

import numpy as np
import numpy.typing as npt

from grasp_core.model.annotations import FloatArray, Int64Array, number_of
from grasp_core.model.errors import SpecError
from grasp_core.model.spec import Level
from grasp_core.model.text import EXAMPLES, LISTED, agree, listed, quoted

Distance = Callable[[Int64Array], FloatArray]
"""Function from counts of the compared labels, shape (K,), to squared distances, shape (K, K)."""

NUMERIC = ("interval", "ratio")
"""Levels that need a number for every category; ordinal needs only the categories' declared order."""

_NEAREST, _FARTHEST = 1e-100, 1e100
"""Limits between which a squared distance neither vanishes nor overflows in sums."""


def nominal(marginals: Int64Array) -> FloatArray:
    """Return the default distance, 1 between different categories, shape (K, K)."""
    return 1 - np.eye(marginals.size)


def distance_of(categories: Sequence[str], level: Level) -> Distance:
    """Return the distance of categories at a level of measurement; raises as :func:`category_values`."""
    return partial(squared_distances, level, category_values(categories, level))


def category_values(categories: Sequence[str], level: Level) -> FloatArray:
    """Return the number of each category.

    Parameters
    ----------
    categories : sequence of str, length K
        In declared order.
    level : {"nominal", "ordinal", "interval", "ratio"}

    Returns
    -------
    float64 array, shape (K,)
        The categories' positions if the level needs no numbers.

    Raises
    ------
    SpecError
        If the level needs numbers and a category is none, is negative on a ratio scale, or cannot be
        distinguished from another.
    """
    if level not in NUMERIC:
        return np.arange(len(categories), dtype=np.float64)
    values = np.array([number_of(category) for category in categories], dtype=np.float64)
    others = [one for one, value in zip(categories, values, strict=True) if not np.isfinite(value)]
    if others:
        are = agree(len(others), "is none", "are none")
        raise _refusal(level, f"every label to be a number, and {listed(others)} {are}")
    below = [one for one, value in zip(categories, values, strict=True) if value < 0]
    if level == "ratio" and below:
        are = agree(len(below), "is", "are")
        raise _refusal(level, f"numbers from 0, and {listed(below)} {are} below 0, which interval takes")
    if (why := one_number(categories)) is not None:
        raise SpecError(f"level {level} needs numbers that can be told apart, and {why}")
    distances = squared_distances(level, values, np.zeros(values.size))
    np.fill_diagonal(distances, 1)
    for k, g in np.argwhere((distances < _NEAREST) | (distances > _FARTHEST))[:1]:
        pair = f"{categories[k]!r} and {categories[g]!r}"
        raise _refusal(level, f"numbers that can be told apart, and {pair} cannot")
    return values


def one_number(categories: Sequence[str]) -> str | None:
    """Say which categories are one number in several spellings, and how to merge them; None without any."""
    spelt: dict[float, list[str]] = {}
    for one in categories:
        if np.isfinite(value := number_of(one)):
            spelt.setdefault(value, []).append(one)
    same = [sorted(some, key=lambda one: (len(one), one)) for some in spelt.values() if len(some) > 1]
    if not same:
        return None
    written = "; ".join(
        f"{listed(some[:-1])} and {quoted(some[-1])} are one number" for some in same[:EXAMPLES]
    )
    maps = [f"--map {shlex.quote(f':{one}={first}')}" for first, *some in same for one in some]
    more = f", and {len(maps) - LISTED:,} more" if len(maps) > LISTED else ""
    return (
        f"{written}: recode them as one, on Data under Recode values, or by {' '.join(maps[:LISTED])}{more}"
    )


def possible_levels(categories: Sequence[str]) -> tuple[Level, ...]:
    """Return the levels of measurement that these categories allow."""

    def possible(level: Level) -> bool:
        try:
            category_values(categories, level)
        except SpecError:
            return False
        return True

    return tuple(level for level in get_args(Level) if possible(level))


def squared_distances(level: Level, values: npt.ArrayLike, marginals: npt.ArrayLike) -> FloatArray:
    """Return the squared distance between every two categories.

    Parameters
    ----------
    level : {"nominal", "ordinal", "interval", "ratio"}
    values : float array, shape (K,)
        From :func:`category_values`; used by interval and ratio.
    marginals : int or float array, shape (K,)
        Counts or shares of each category among the compared labels; used by ordinal.

    Returns
    -------
    float64 array, shape (K, K)
        Symmetric, 0 on the diagonal.

    Notes
    -----
    nominal: 1 between different categories. ordinal: (r_k - r_l)^2, where r_k = sum_{g<k} M_g + M_k / 2 is
    a category's middle rank. interval: (v_k - v_l)^2. ratio: ((v_k - v_l) / (v_k + v_l))^2, with 0/0 = 0.

    References
    ----------
    Krippendorff (2019), Content Analysis, 4th ed., chapter 12.
    """
    v = np.asarray(values, dtype=np.float64)
    if level == "nominal":
        return 1 - np.eye(v.size)
    if level == "ordinal":
        m = np.asarray(marginals, dtype=np.float64)
        v = np.cumsum(m) - m / 2
    apart = v[:, None] - v
    if level == "ratio":
        together = v[:, None] + v
        np.divide(apart, together, out=apart, where=together != 0)
    distances: FloatArray = apart**2
    return distances


def _refusal(level: Level, needs: str) -> SpecError:
    return SpecError(
        f"level {level} needs {needs}; declare categories that are numbers, recode the labels, or choose"
        " ordinal, which takes them in their declared order"
    )
