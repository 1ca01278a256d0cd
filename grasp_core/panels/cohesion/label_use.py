"""Label use of groups as results: each label, the shift of the mean, and the test of all labels together."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Self

import numpy as np

from grasp_core.annotations import Annotations, FloatArray
from grasp_core.outcome import LabelUse, Outcome, Shift
from grasp_core.panels.cohesion.columns import LABELS, MEAN, Places
from grasp_core.panels.cohesion.results import no_interval
from grasp_core.panels.cohesion.untested import Untested, jackknifed_use
from grasp_core.permutation.design import MOST_TOLD
from grasp_core.permutation.nulls.values import Null
from grasp_core.remarks.reasons import NoValue
from grasp_core.remarks.remark import Remark
from grasp_core.spec import IntervalTarget, PValue

_DIGITS = 9
"""Of two labels one gains what the other loses: rounding is not to decide which lies further out."""


@dataclass(frozen=True, slots=True)
class Labels:
    """The labels of each question; how often groups give them is told unless there are too many."""

    of_questions: tuple[tuple[str, ...], ...]

    @classmethod
    def of(cls, questions: Sequence[Annotations]) -> Self:
        """The labels of these answers."""
        return cls(tuple(tuple(one.categories) for one in questions))

    @property
    def told(self) -> int:
        """L, labels that are told of, of all questions."""
        return sum(len(labels) for labels in self.of_questions if len(labels) <= MOST_TOLD)

    @property
    def questions(self) -> int:
        """How many questions these labels belong to."""
        return sum(len(labels) <= MOST_TOLD for labels in self.of_questions)

    def names(self, questions: Sequence[str]) -> list[str]:
        """The labels that are told of; where there are several questions, behind the name of theirs."""
        if len(self.of_questions) == 1:
            return list(self.of_questions[0])[: self.told]
        asked = zip(questions, self.of_questions, strict=True)
        return [f"{name}: {label}" for name, of in asked if len(of) <= MOST_TOLD for label in of]


def label_use(
    g: int,
    names: Sequence[str],
    found: Mapping[int, Outcome],
    observed: FloatArray,
    null: Null,
    places: Places,
    p_value: PValue,
    untested: Untested,
) -> LabelUse:
    """A unit's label use, without intervals.

    Parameters
    ----------
    g : int
        The unit, such as a group.
    names : sequence of str, length L
    found : mapping from column to Outcome
    observed : float64 array, shape (C,)
    null : Null
    places : Places
    p_value : {"two-sided", "paper"}
        How p of single labels, which are not corrected for each other, is taken.
    untested : Untested
        Units whose label use is tested by leaving out raters.
    """
    if not places.n_labels:
        return LabelUse({}, reason=NoValue.MANY_LABELS(most=MOST_TOLD))
    test, columns = places.column(g, places.label_use), places.labels(g)
    together = found[test]
    if together.value is None:
        return LabelUse(dict.fromkeys(names, Shift(None)), reason=NoValue.NO_SHARED_ITEM())
    if test in untested.by_jackknife:
        mean = places.column(g, MEAN)
        return jackknifed_use(names, columns, mean, observed, together, untested.test(g))
    tests = places.label_tests(g)
    values, far = observed[list(columns)], np.abs(observed[list(tests)])
    most = int(np.lexsort((-np.abs(values), -far.round(_DIGITS)))[0])

    def shift(column: int, tested: int, *, with_null: bool) -> Shift:
        p = null.tails(tested).p(p_value)
        return Shift(float(observed[column]), p=p, null=null.summary(column).histogram if with_null else None)

    mean = places.column(g, MEAN)
    return LabelUse(
        labels={
            name: shift(column, tested, with_null=k == most)
            for k, (name, column, tested) in enumerate(zip(names, columns, tests, strict=True))
        },
        mean=None if np.isnan(observed[mean]) else shift(mean, places.mean_test(g), with_null=True),
        p=together.p,
        q=together.q,
        significance=together.significance,
        most=names[most],
        p_interval=together.p_interval,
        q_interval=together.q_interval,
        fit=together.fit,
        no_fit=together.no_fit,
    )


def with_intervals(
    found: LabelUse, ends: FloatArray | Remark, target: IntervalTarget, inside: int, outside: int
) -> LabelUse:
    """With an interval of every label and of the mean's shift, or with why there are none.

    Parameters
    ----------
    found : LabelUse
        With values, or the reason why it has none.
    ends : float64 array, shape (W, 2), or Remark
        Of the unit's columns; or why no value of the run has an interval.
    target : {"both", "raters", "items"}
    inside, outside : int
        Raters of the group, and those outside it.
    """
    if found.most is None:
        return found
    why = no_interval(ends if isinstance(ends, Remark) else ends[LABELS:], inside, outside)
    if why is not None or isinstance(ends, Remark):
        return replace(found, no_interval=why)
    bounds = ends.tolist()
    labels = {
        name: replace(shift, low=low, high=high)
        for (name, shift), (low, high) in zip(found.labels.items(), bounds[LABELS:], strict=True)
    }
    mean = found.mean and replace(found.mean, low=bounds[MEAN][0], high=bounds[MEAN][1])
    return replace(found, labels=labels, mean=mean, target=target)
