"""Shapes of data at which a kernel could suddenly be slow: many labels, unknown values, many groups."""

from __future__ import annotations

import dataclasses
import itertools
from collections.abc import Callable
from functools import partial
from typing import NamedTuple

import numpy as np

from benchmarks.counting import Places
from benchmarks.figures import Figure, medians, seconds
from benchmarks.simulated import d3_size
from grasp_core.model.annotations import Annotations, Axis, Raters
from grasp_core.model.groups import Grouping, form_groups
from grasp_core.model.spec import AnalysisSpec
from grasp_core.permutation import questions
from grasp_core.permutation.kernel.profiles import Membership

ITEMS, RATERS, EACH = 1000, 200, 20
UNKNOWN = 0.05
AXES = {"a": 2, "b": 4, "c": 2, "d": 5, "e": 3}
"""Values of each axis; the first three make 16 groups with the intersection of the first two."""
SIXTEEN = (("a",), ("b",), ("c",), ("a", "b"))
MANY = (
    ("a", "b", "c", "d", "e"),
    ("a", "b", "c", "d"),
    ("a", "b", "d"),
    ("a", "c", "e"),
    ("a", "b"),
    ("b", "d"),
    *((name,) for name in AXES),
)
_EACH = "us a permutation"


class Shape(NamedTuple):
    """Answers to one or more questions, their raters, and the analysis asked for."""

    answers: tuple[Annotations, ...]
    raters: Raters
    spec: AnalysisSpec


def shape(
    labels: int,
    *,
    crossed: bool = False,
    unknown: float = 0.0,
    n_questions: int = 1,
    axes: tuple[tuple[str, ...], ...] = SIXTEEN,
    strata: tuple[str, ...] = (),
) -> Shape:
    """Draw 20,000 annotations: 1,000 items by 20 of 200 raters each, or 200 items by 100 raters."""
    rng = np.random.default_rng(1)
    items, raters, each = (200, 100, 100) if crossed else (ITEMS, RATERS, EACH)
    rater = np.concatenate([np.sort(rng.choice(raters, each, replace=False)) for _ in range(items)])
    item = np.repeat(np.arange(items), each)
    answers = []
    for _ in range(n_questions):
        lean = rng.standard_normal(items)[item] + rng.standard_normal(item.size)
        answers.append(
            Annotations.from_codes(
                item=item,
                rater=rater,
                category=np.searchsorted(np.quantile(lean, np.arange(1, labels) / labels), lean),
                item_ids=[str(i) for i in range(items)],
                rater_ids=[str(j) for j in range(raters)],
                categories=[str(k) for k in range(labels)],
            )
        )
    known = {
        name: Axis.from_values([str(v) for v in rng.integers(0, size, raters)]) for name, size in AXES.items()
    }
    people = without(Raters(answers[0].rater_ids, known), unknown)
    return Shape(tuple(answers), people, AnalysisSpec(axes=axes, strata=strata, min_raters=1))


def without(raters: Raters, share: float) -> Raters:
    """Return the raters with a share of their values unknown."""
    rng = np.random.default_rng(2)
    axes = {
        name: Axis(
            axis.values, np.where(rng.random(axis.codes.size) < share, -1, axis.codes).astype(np.int32)
        )
        for name, axis in raters.axes.items()
    }
    return Raters(raters.rater_ids, axes)


def many_labels(rounds: int) -> list[Figure]:
    """Measure sparse data with more and more labels, against 12 labels and against counting alone."""
    of_labels = {labels: shape(labels) for labels in (3, 12, 20, 40, 77, 1000)}
    sides: dict[str, Callable[[], float]] = {f"{n} labels": _kernel(one) for n, one in of_labels.items()}
    for level in ("ordinal", "interval", "ratio"):
        one = of_labels[77]
        sides[f"77 labels, {level}"] = _kernel(one._replace(spec=dataclasses.replace(one.spec, level=level)))
    one = of_labels[77]
    places = Places(one.answers[0], Membership(one.raters, _groups(one), one.spec))
    sides["counting"] = partial(_each, places.count, 64)
    taken = medians(sides, rounds)
    counting = taken.pop("counting")
    return [
        Figure("77 labels", taken["77 labels"] / counting, "counting alone (goal: 4)", counting * 1e6, _EACH),
        *(
            Figure(what, each / taken["12 labels"], "12 labels", each * 1e6, _EACH)
            for what, each in taken.items()
        ),
    ]


def crossed_labels(rounds: int) -> list[Figure]:
    """Measure crossed data with more and more labels."""
    taken = medians({f"{n} labels": _kernel(shape(n, crossed=True)) for n in (12, 20, 77, 1000)}, rounds)
    return [
        Figure(what, each / taken["12 labels"], "12 labels", each * 1e6, _EACH)
        for what, each in taken.items()
    ]


def gaps(rounds: int) -> list[Figure]:
    """Measure the effect of one property of data or question, against the same without it."""
    finest = shape(3, axes=MANY[:1])
    d3 = {labels: _d3(labels) for labels in (2, 5)}
    pairs = {
        **{f"unknown values, {n} labels": (shape(n, unknown=UNKNOWN), shape(n), 1) for n in (3, 12, 77)},
        **{
            f"unknown values, D3CODE's size, {n} labels": (
                one._replace(raters=without(one.raters, UNKNOWN)),
                one,
                1,
            )
            for n, one in d3.items()
        },
        "strata, 3 labels": (shape(3, strata=("d",)), shape(3), 1),
        "three questions, 3 labels, each": (shape(3, n_questions=3), shape(3), 3),
        "300 groups of eleven axes and intersections, 3 labels": (shape(3, axes=MANY), finest, 1),
    }
    found = []
    for what, (one, other, times) in pairs.items():
        taken = medians({"with": _kernel(one), "without": _kernel(other)}, rounds)
        each = taken["with"] / times
        beside = "the same without"
        if other is finest:  # a group's sums are added up once for each item on which it has a label
            times, beside = _met(one) / _met(other), "finest cells, for each item of each group"
            found.append(Figure(what, each / taken["without"], "finest cells", each * 1e6, _EACH))
            each /= times
        found.append(Figure(what, each / taken["without"], beside, each * 1e6, _EACH))
    return found


def _d3(labels: int) -> Shape:
    annotations, raters, spec = d3_size(labels)
    return Shape((annotations,), raters, spec)


def _met(one: Shape) -> int:
    """Count the items on which a group has a label, over all groups."""
    answers, member = one.answers[0], _groups(one).member
    return sum(
        int(member[:, answers.rater[first:last]].any(axis=1).sum())
        for first, last in itertools.pairwise(answers.indptr)
    )


def _groups(one: Shape) -> Grouping:
    return form_groups(one.raters, one.spec.axes, min_raters=one.spec.min_raters)


def _kernel(one: Shape) -> Callable[[], float]:
    design = questions.lay_out(one.answers, one.raters, _groups(one), one.spec)
    return partial(_each, lambda permutations: questions.shuffled(design, 1, 0, permutations), 64)


def _each(work: Callable[[int], object], permutations: int) -> float:
    return seconds(lambda: work(permutations)) / permutations
