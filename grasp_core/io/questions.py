"""Vector-valued annotations: several questions answered about the same items by the same raters."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence

import numpy as np

from grasp_core.annotations import Annotations, BoolArray, Codes
from grasp_core.errors import Problem
from grasp_core.io.filters import Removal, Tally
from grasp_core.io.problems import quoted, stop
from grasp_core.io.profiles import Profile
from grasp_core.io.votes import Votes


def answered(questions: Sequence[Annotations]) -> tuple[Codes, Codes]:
    """Items and raters of the annotations: an answer, or several, of one rater to one item are one."""
    if len(questions) == 1:
        return questions[0].item, questions[0].rater
    n_raters = questions[0].n_raters
    pairs = [one.item.astype(np.int64) * n_raters + one.rater for one in questions]
    item, rater = np.divmod(np.unique(np.concatenate(pairs)), n_raters)
    return item, rater


def together(tallies: Sequence[Tally]) -> tuple[Votes, BoolArray, BoolArray]:
    """One entry per annotation, however many questions it answers; raters and items left out of all."""
    gone = [
        np.all([getattr(tally, name) for tally in tallies], axis=0) for name in ("gone_raters", "gone_items")
    ]
    votes = tallies[0].votes
    if len(tallies) > 1:
        n_raters = len(votes.rater_ids)
        pairs = np.concatenate([t.votes.item.astype(np.int64) * n_raters + t.votes.rater for t in tallies])
        pairs, first = np.unique(pairs, return_index=True)
        item, rater = np.divmod(pairs, n_raters)
        row, label = (
            np.concatenate([getattr(t.votes, name) for t in tallies])[first] for name in ("row", "label")
        )
        votes = dataclasses.replace(votes, item=item, rater=rater, label=label, row=row)
    return votes, gone[0], gone[1]


def unanswered(tallies: Sequence[Tally]) -> list[Problem]:
    """Questions of several to which no answer is left."""
    if len(tallies) == 1:
        return []
    return [
        stop(
            f"{tally.votes.table.name}, column {quoted(str(tally.votes.label_column))}: no answer is left; "
            "leave the question out, or check missing tokens and exclusions"
        )
        for tally in tallies
        if not tally.votes.size
    ]


def left_out(tallies: Sequence[Tally], columns: Mapping[str, Profile]) -> tuple[Removal, ...]:
    """What each filter removed, by question where there are several."""
    if len(tallies) == 1:
        return tallies[0].removals(columns)
    return tuple(
        dataclasses.replace(removal, filter=f"{removal.filter}, in {quoted(str(tally.votes.label_column))}")
        for tally in tallies
        for removal in tally.removals(columns)
    )
