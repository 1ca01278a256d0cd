"""Groups whose GAI compares different items."""

from __future__ import annotations

import pytest

from benchmarks.confounded import CONFOUNDED, checked, drawn
from benchmarks.planted import AXIS
from grasp_core.analysis.design import Unmatched, unmatched
from grasp_core.model.groups import Group, form_groups
from grasp_core.statistics.cross_group import xrr
from grasp_core.statistics.in_group import irr
from grasp_core.statistics.items import count

POOL, HARDER = CONFOUNDED[:2]
SETS = 20


def told(situation: object, seed: int) -> list[Unmatched]:
    data = drawn(situation, seed)  # type: ignore[arg-type]
    grouping = form_groups(data.raters, [(AXIS,)])
    gai: dict[Group, float] = {}
    for g, group in enumerate(grouping.groups):
        c, d = (count(data.annotations, side) for side in (grouping.member[g], grouping.complement(g)))
        gai[group] = irr(c) / xrr(c, d)
    return unmatched(data.annotations, grouping, gai, [checked(data)], "nominal")


def test_pools_of_unequal_difficulty_are_told() -> None:
    found = [told(HARDER, seed) for seed in range(SETS)]
    assert sum(map(len, found)) >= SETS - 3
    of_group = [one for some in found for one in some if one.group.values == ("in",)]
    assert all(one.gai < one.matched for one in of_group)


@pytest.mark.parametrize("situation", [POOL, CONFOUNDED[-1]], ids=lambda one: one.name)
def test_pools_alike_and_workloads_are_not(situation: object) -> None:
    assert sum(len(told(situation, seed)) for seed in range(SETS)) <= 2
