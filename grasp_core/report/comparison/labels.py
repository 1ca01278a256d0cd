"""Label use of two runs side by side: the test of all labels, then every label, then the mean."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import NamedTuple

from grasp_core.outcome import Direction, Interval, LabelUse, Outcome, Shift
from grasp_core.report.words.label_use import foremost, mean_outcome
from grasp_core.report.words.models import LABEL_USE, LABELS, MEAN


class Held(NamedTuple):
    """Something of a group's label use in both runs, with the label where it is one's."""

    statistic: str
    a: Outcome
    b: Outcome
    label: str | None = None


def labels_held(a: LabelUse, b: LabelUse) -> Iterator[Held]:
    """What became of a group's label use.

    The label that sets the group apart most in a comes first, with the test of all labels together; then
    every further label of both with its own p, unless it mirrors the first, and the shift of the mean.
    """
    found = foremost(a)
    first = None if found is None else found[0]
    yield Held(LABEL_USE, _of_all(a, first), _of_all(b, first), first)
    if len(a.labels) > 2 or len(b.labels) > 2:  # of two labels, what one gains the other loses
        for label in a.labels:
            if label != first and label in b.labels:
                yield Held(LABELS, _alone(a, label), _alone(b, label), label)
    means = mean_outcome(a), mean_outcome(b)
    if means[0] is not None and means[1] is not None:
        yield Held(MEAN, means[0], means[1])


def _of_all(use: LabelUse, label: str | None) -> Outcome:
    """A label's share, with the test of all labels together."""
    found = _alone(use, label)
    return found if found.value is None else replace(found, p=use.p, q=use.q, significance=use.significance)


def _alone(use: LabelUse, label: str | None) -> Outcome:
    """A label's share, with its own p."""
    shift = None if label is None else use.labels.get(label)
    if shift is None or shift.value is None:
        return Outcome(None, reason=use.reason)
    way: Direction = "down" if shift.value < 0 else "up"
    return Outcome(shift.value, direction=way, p=shift.p, interval=_interval(use, shift))


def _interval(use: LabelUse, shift: Shift) -> Interval | None:
    if shift.low is None or shift.high is None or use.target is None:
        return None
    return Interval(shift.low, shift.high, use.target)
