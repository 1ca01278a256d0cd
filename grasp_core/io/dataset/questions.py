"""Vector-valued annotations: several questions answered about the same items by the same raters."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence

import numpy as np

from grasp_core.annotations import Annotations, Codes
from grasp_core.io.dataset.filters import Sieve
from grasp_core.io.dataset.votes import Cells, Votes


def answered(questions: Sequence[Annotations]) -> tuple[Codes, Codes]:
    """Items and raters of the annotations: an answer, or several, of one rater to one item are one."""
    if len(questions) == 1:
        return questions[0].item, questions[0].rater
    n_raters = questions[0].n_raters
    pairs = [one.item.astype(np.int64) * n_raters + one.rater for one in questions]
    item, rater = np.divmod(np.unique(np.concatenate(pairs)), n_raters)
    return item, rater


def together(sieves: Sequence[Sieve]) -> Votes:
    """One entry per annotation, however many questions it answers."""
    votes = sieves[0].votes
    if len(sieves) == 1:
        return votes
    n_raters = len(votes.rater_ids)
    pairs = np.concatenate([t.votes.item.astype(np.int64) * n_raters + t.votes.rater for t in sieves])
    pairs, first = np.unique(pairs, return_index=True)
    item, rater = np.divmod(pairs, n_raters)
    row, label = (
        np.concatenate([getattr(t.votes, name) for t in sieves])[first] for name in ("row", "label")
    )
    return dataclasses.replace(votes, of_cells=Cells(item, rater, label, row), chosen=None)
