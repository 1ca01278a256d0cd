"""Raters whom screens name, left out after everything else."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from grasp_core.model.annotations import Annotations
from grasp_core.model.data_spec import DataSpec, Screen
from grasp_core.model.ordering import tallied
from grasp_core.model.remarks.cautions import LeftOutReason
from grasp_core.read.dataset.filters import Sieve, per_rater
from grasp_core.read.dataset.forming import annotations_of
from grasp_core.read.dataset.votes import Votes

REASONS: Mapping[Screen, LeftOutReason] = {
    "random": LeftOutReason.AT_CHANCE,
    "constant": LeftOutReason.ONE_LABEL_ALWAYS,
    "duplicates": LeftOutReason.TOO_CLOSE,
}


def leave_out_screened(sieves: Sequence[Sieve], spec: DataSpec) -> None:
    """Leave out whom the spec's screens name by the answers to the first question, in all questions.

    Every screen looks at the same annotations: those that exclusions and filters have left.
    """
    votes = sieves[0].votes
    counted = per_rater(votes) > 0
    if not spec.screens or not counted.any():
        return
    from grasp_core.read.screens.screens import (
        screened,
    )  # brings all of SciPy's functions, and most data need none

    annotations = _annotations(votes)
    for screen in spec.screens:
        named = np.zeros(counted.size, dtype=np.bool_)
        named[counted] = screened(screen, annotations)
        for sieve in sieves:
            sieve.keep(REASONS[screen](), ~named[sieve.votes.rater])


def _annotations(votes: Votes) -> Annotations:
    labels = tuple(votes.labels[code] for code in np.unique(votes.label))
    rated = tallied(votes.item, len(votes.item_ids)) > 0
    return annotations_of(votes, labels, per_rater(votes) > 0, rated)
