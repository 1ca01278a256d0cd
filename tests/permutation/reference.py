"""The kernel's twin in plain NumPy, against which it is tested: docs/methods.md, one group at a time."""

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, TypeVar

import numpy as np

from grasp_core.model.annotations import Annotations, FloatArray, Int64Array
from grasp_core.model.groups import Grouping
from grasp_core.model.remarks.reasons import NoValue
from grasp_core.model.remarks.remark import Remark
from grasp_core.model.spec import AnalysisSpec
from grasp_core.permutation.compiled import KERNEL_STATISTICS
from grasp_core.permutation.design import MOST_LABELS_USED, tie_ranks
from grasp_core.permutation.label_use import residuals_of
from grasp_core.statistics.association import agreement, average
from grasp_core.statistics.cross_group import cross_negentropy, voting_agreement, xrr_disagreement
from grasp_core.statistics.in_group import irr_disagreement, negentropy, plurality_size
from grasp_core.statistics.items import NotEstimableError, count
from grasp_core.statistics.label_use import (
    Scale,
    distance,
    enough_paired,
    label_use,
    mean_shift,
    shares_distance,
)
from grasp_core.statistics.levels import category_values
from grasp_core.statistics.rater_residuals import difference

T = TypeVar("T")


def evaluate(
    annotations: Annotations | Sequence[Annotations],
    grouping: Grouping,
    spec: AnalysisSpec,
    source: Int64Array,
) -> tuple[FloatArray, list[dict[str, Remark]]]:
    """Compute every statistic of every group under one assignment of profiles.

    `source`, shape (J,): rater j has the profile of rater ``source[j]``.

    Returns statistics, shape (G, V), in the order of
    :data:`~grasp_core.permutation.compiled.KERNEL_STATISTICS`, then the use of each label of each question;
    NaN where not estimable. Also returns, length G, reasons why statistics, by name, are not estimable.
    """
    asked = (annotations,) if isinstance(annotations, Annotations) else tuple(annotations)
    ranks = [tuple(tie_ranks(one, spec)) for one in asked]
    scales = [Scale(spec.level, category_values(one.categories, spec.level)) for one in asked]
    distances = [scale.distance for scale in scales]
    told = [one.n_categories if one.n_categories <= MOST_LABELS_USED else 0 for one in asked]
    values = np.full((len(grouping.groups), len(KERNEL_STATISTICS) + sum(told)), np.nan)
    reasons: list[dict[str, Remark]] = []
    for g in range(len(grouping.groups)):
        c = [count(one, grouping.member[g][source]) for one in asked]
        d = [count(one, grouping.complement(g)[source]) for one in asked]
        definitions: dict[str, Callable[[], float]] = {
            "irr": partial(agreement, _each(irr_disagreement, c, distances), NoValue.ONE_LABEL_INSIDE()),
            "xrr": partial(agreement, _each(xrr_disagreement, c, d, distances), NoValue.ONE_LABEL_ACROSS()),
            "negentropy": partial(average, _each(negentropy, c)),
            "cross_negentropy": partial(
                average, _each(partial(cross_negentropy, convention=spec.cross_negentropy), c, d)
            ),
            "plurality_size": partial(average, _each(plurality_size, c)),
            "voting_agreement": partial(
                average, _each(partial(voting_agreement, form=spec.voting_agreement), c, d, ranks)
            ),
            "distance": partial(average, _each(distance, c, d, scales)),
            "shares_distance": partial(average, _each(shares_distance, c, d, scales)),
        }
        beside = (_each(enough_paired, c, d), _each(mean_shift, c, d, scales))
        values[g, len(definitions) : len(KERNEL_STATISTICS)] = [
            _or_nan(partial(average, of)) for of in beside
        ]
        values[g, len(KERNEL_STATISTICS) :] = np.concatenate(
            [_shares(inside, outside, k) for inside, outside, k in zip(c, d, told, strict=True)]
        )
        reasons.append({})
        for s, (name, definition) in enumerate(definitions.items()):
            try:
                values[g, s] = definition()
            except NotEstimableError as error:
                reasons[g][name] = error.reason
    return values, reasons


def differences(
    annotations: Annotations | Sequence[Annotations],
    grouping: Grouping,
    spec: AnalysisSpec,
    source: Int64Array,
) -> FloatArray:
    """Compute every group's differences in label use under one assignment of profiles, shape (G, 1 + L).

    Parameters are as in :func:`evaluate`, columns as in :func:`~grasp_core.permutation.label_use.shuffled`.
    """
    asked = (annotations,) if isinstance(annotations, Annotations) else tuple(annotations)
    residuals = residuals_of(asked, spec.level)
    if residuals is None:
        return np.empty((len(grouping.groups), 0))
    found = []
    for g in range(len(grouping.groups)):
        t = difference(residuals.of_raters, grouping.member[g][source], grouping.complement(g)[source])
        shifts = t[residuals.n_labels :]
        shifts = shifts[~np.isnan(shifts)]
        shift = shifts.sum() / np.sqrt(shifts.size) if shifts.size else np.nan
        found.append(np.append(shift, t[: residuals.n_labels]))
    return np.array(found).reshape(-1, 1 + residuals.n_labels)


def _or_nan(definition: Callable[[], float]) -> float:
    try:
        return definition()
    except NotEstimableError:
        return float("nan")


def _shares(c: Int64Array, d: Int64Array, told: int) -> FloatArray:
    """Return label use for the first `told` labels; NaN where not estimable."""
    try:
        return label_use(c, d)[:told]
    except NotEstimableError:
        return np.full(told, np.nan)


def _each(definition: Callable[..., T], *by_question: Sequence[Any]) -> list[Callable[[], T]]:
    return [partial(definition, *arguments) for arguments in zip(*by_question, strict=True)]
