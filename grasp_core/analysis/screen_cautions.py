"""Raters whom screens name, as cautions of a run."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from grasp_core.model.annotations import Annotations, BoolArray
from grasp_core.model.data_spec import SCREENS, Screen
from grasp_core.model.groups import Grouping, named_group
from grasp_core.model.remarks.cautions import Caution, GroupCount, ScreenCaution
from grasp_core.model.remarks.remark import Remark
from grasp_core.reading.screens.constant import FEWEST_ANNOTATIONS, too_constant
from grasp_core.reading.screens.duplicates import is_quick, near_duplicates
from grasp_core.reading.screens.random_responders import is_quick_search, random_responders


def screen_cautions(annotations: Annotations, grouping: Grouping) -> tuple[Remark, ...]:
    """Counts of raters whom screens name, over all and by group, of the screens that are quick.

    `grouping`: the groups that a run shows; its `member` has shape (G, J).
    """
    found: list[Remark] = []
    for screen, caution, who in _named(annotations, grouping):
        found.append(caution)
        counts = grouping.member.astype(np.int64) @ who
        order = [g for g in np.argsort(-counts, kind="stable") if counts[g]]
        groups = tuple(
            GroupCount.RATERS_OF_GROUP(
                group=named_group(grouping.groups[g]), raters=int(counts[g]), of=int(grouping.n_raters[g])
            )
            for g in order
        )
        if groups:
            found.append(ScreenCaution.SCREENED_IN_GROUPS(screen=SCREENS[screen], groups=groups))
    return tuple(found)


def _named(annotations: Annotations, grouping: Grouping) -> Iterator[tuple[Screen, Remark, BoolArray]]:
    """Screens that name anybody: the caution, and who it is."""
    if is_quick_search(annotations):
        random = random_responders(annotations)
        looked_at = int(random.looked_at.sum())
        if random.raters:
            yield (
                "random",
                Caution.RANDOM_RESPONDERS(raters=random.raters, looked_at=looked_at),
                random.random,
            )
    constant, enough = too_constant(annotations, grouping.member)
    if constant.any():
        numbers = {"raters": int(constant.sum()), "looked_at": int(enough.sum()), "least": FEWEST_ANNOTATIONS}
        yield "constant", Caution.CONSTANT_RATERS(**numbers), constant
    if is_quick(annotations):
        close = near_duplicates(annotations)
        if close.pairs:
            caution = Caution.NEAR_DUPLICATES(raters=close.raters, pairs=len(close.pairs))
            yield "duplicates", caution, close.among(annotations.n_raters)
