"""How often intervals hold what they are for, on made-up data whose truth is known."""

from __future__ import annotations

import numpy as np
import pytest

from grasp_core.analysis.cohesion.columns import LABELS, Places, group_columns
from grasp_core.analysis.intervals import intervals
from grasp_core.model.annotations import Annotations, Axis, Raters
from grasp_core.model.groups import form_groups
from grasp_core.model.spec import STATISTICS, AnalysisSpec
from grasp_core.permutation import compiled
from grasp_core.permutation.design import build_design

SPEC = AnalysisSpec(axes=(("side",),))
DATA_SETS = 150


def drawn(
    seed: int, inside: int, raters: int, items: int, per_item: int | None
) -> tuple[Annotations, Raters]:
    """Raters of different skill and leaning; three in ten labels of the group follow a view of its own."""
    rng = np.random.default_rng(seed)
    common, own = rng.dirichlet(np.full(3, 0.6), (2, items, 1))
    skill = rng.beta(6, 2, raters)[:, None]
    leaning = rng.dirichlet(np.full(3, 3.0), raters)
    mixed = np.where(np.arange(raters) < inside, 0.3, 0.0)[:, None]
    shares = skill * ((1 - mixed) * common + mixed * own) + (1 - skill) * leaning
    labels = (rng.random((items, raters, 1)) > shares.cumsum(axis=2)[:, :, :-1]).sum(axis=2)
    place = rng.random((items, raters)).argsort(axis=1).argsort(axis=1)
    item, rater = np.nonzero(place < (per_item or raters))
    annotations = Annotations.from_codes(
        item=item,
        rater=rater,
        category=labels[item, rater],
        item_ids=[str(i) for i in range(items)],
        rater_ids=[str(j) for j in range(raters)],
        categories=list("abc"),
    )
    values = ["in" if j < inside else "out" for j in range(raters)]
    return annotations, Raters(annotations.rater_ids, {"side": Axis.from_values(values)})


@pytest.mark.parametrize(
    "shape",
    [
        pytest.param((10, 40, 50, None), id="crossed", marks=pytest.mark.long),
        pytest.param((5, 30, 50, None), id="five"),
        pytest.param((20, 80, 120, 8), id="sparse", marks=pytest.mark.long),
    ],
)
def test_intervals_for_other_raters_and_items_hold_their_value(shape) -> None:
    """What is estimated is the mean over endless data sets of this size, here over these."""
    found, ends = [], []
    for seed in range(DATA_SETS):
        annotations, raters = drawn(seed, *shape)
        grouping = form_groups(raters, SPEC.axes).some([0])
        design = build_design(annotations, raters, grouping, SPEC)
        found.append(group_columns(compiled.observed(design), SPEC)[0])
        ends.append(
            intervals(
                [annotations],
                raters,
                grouping,
                SPEC,
                lambda of, g: group_columns(of, SPEC),
                Places(1, 3).names,
            )[0]
        )
    # Not of the largest difference of shares, which is folded at 0, and of the mean, which names do not have.
    kept = [*range(len(STATISTICS)), *range(LABELS, np.shape(found)[1])]
    names = [*STATISTICS, *annotations.categories]
    found, ends = np.array(found)[:, kept], np.array(ends)[:, kept]
    truth, (low, high) = np.mean(found, axis=0), np.moveaxis(ends, 2, 0)
    held = ((low <= truth) & (truth <= high)).mean(axis=0)
    assert (held >= 0.9).all(), dict(zip(names, held, strict=True))
    width = (high - low).mean(axis=0) / (2 * 1.96 * np.std(found, axis=0))
    smooth = [STATISTICS.index(name) for name in ("irr", "xrr", "gai")]  # a plurality of few labels jumps
    assert (width[smooth] < 2).all(), dict(zip(names, width, strict=True))
