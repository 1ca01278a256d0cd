"""The data of two groups alone: what their raters gave, and who of them is in which."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from grasp_core.annotations import Annotations, BoolArray, Raters
from grasp_core.groups import Grouping
from grasp_core.panels.cohesion.label_use import Labels


class TwoGroups(NamedTuple):
    """The raters of two groups and the items that one of them has rated.

    Parameters
    ----------
    questions : tuple of Annotations
        Over the same items and raters.
    raters : Raters
    grouping : Grouping
        Of two groups, each the other's complement.
    """

    questions: tuple[Annotations, ...]
    raters: Raters
    grouping: Grouping

    @property
    def n_labels(self) -> int:
        """Labels that are told of."""
        return Labels.of(self.questions).told

    @property
    def n_annotations(self) -> int:
        """Answers to all questions."""
        return sum(one.n_annotations for one in self.questions)


def two_groups(
    questions: Sequence[Annotations], raters: Raters, grouping: Grouping, a: int, b: int
) -> TwoGroups:
    """Leave everybody out who is in neither of the groups `a` and `b`, which have no rater in common."""
    of_pair = grouping.member[[a, b]]
    chosen: BoolArray = np.any(of_pair, axis=0)
    member = of_pair[:, chosen]
    return TwoGroups(
        only_raters(questions, chosen),
        raters.some(chosen),
        Grouping(
            (grouping.groups[a], grouping.groups[b]),
            member,
            np.ones((1, member.shape[1]), dtype=np.bool_),
            np.zeros(2, dtype=np.intp),
        ),
    )


def only_raters(questions: Sequence[Annotations], chosen: BoolArray) -> tuple[Annotations, ...]:
    """The answers of the chosen raters, shape (J,), to the items that one of them has rated."""
    answers = [chosen[one.rater] for one in questions]
    rated = np.zeros(questions[0].n_items, dtype=np.bool_)
    for one, here in zip(questions, answers, strict=True):
        rated[one.item[here]] = True
    ids = tuple(questions[0].rater_ids[j] for j in np.flatnonzero(chosen))
    return tuple(
        _restricted(one, here, chosen, rated, ids) for one, here in zip(questions, answers, strict=True)
    )


def _restricted(
    annotations: Annotations, here: BoolArray, chosen: BoolArray, rated: BoolArray, ids: tuple[str, ...]
) -> Annotations:
    """The annotations that are `here`, among the chosen raters and rated items."""
    new_rater, new_item = np.cumsum(chosen) - 1, np.cumsum(rated) - 1
    return Annotations.from_codes(
        item=new_item[annotations.item[here]],
        rater=new_rater[annotations.rater[here]],
        category=annotations.category[here],
        item_ids=[name for name, is_rated in zip(annotations.item_ids, rated, strict=True) if is_rated],
        rater_ids=ids,
        categories=annotations.categories,
    )
