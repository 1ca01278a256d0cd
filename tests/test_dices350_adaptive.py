"""DICES-350, 20 groups and 7 statistics: a run that stops early marks what 100,000 permutations mark."""

import pytest

from grasp_core.model.result import RunResult
from grasp_core.model.spec import STATISTICS
from tests.shared_data import needs_shared_data
from tests.test_dices350 import result

pytestmark = needs_shared_data

MOST = 100_000


def marks(run: RunResult) -> dict[tuple, tuple[bool, bool]]:
    """Nominal and corrected marks of every test that has a p-value."""
    found = {
        (row.group.axes, row.group, name): (outcome.p < 0.05, outcome.q < 0.05)
        for row in run.groups
        for name, outcome in row.statistics.items()
    }
    return found | {(row.axes, None, "dsi"): (row.outcome.p < 0.05, row.outcome.q < 0.05) for row in run.dsi}


@pytest.mark.long
def test_decisions_agree_with_all_permutations_at_a_fraction_of_the_work() -> None:
    fixed, adaptive = marks(result(permutations=MOST)), result(permutations=MOST, adaptive=True)
    assert len(fixed) == 20 * len(STATISTICS) + 4
    assert adaptive.stopping is not None
    undecided = {
        (mark.axes, mark.group, mark.statistic, mark.corrected) for mark in adaptive.stopping.undecided
    }
    for test, ours in marks(adaptive).items():
        for corrected in (False, True):
            if (*test, corrected) not in undecided:
                assert ours[corrected] == fixed[test][corrected], test
    assert len(undecided) <= 10
    # What is timed elsewhere, without a clock: permutations of groups, out of all there would have been.
    work = sum(row.statistics["irr"].null_n for row in adaptive.groups)
    assert work < MOST * len(adaptive.groups) / 2


@pytest.mark.long
def test_the_seed_changes_how_many_there_are_but_no_settled_mark() -> None:
    one, two = (result(permutations=MOST, adaptive=True, seed=seed) for seed in (1, 2))
    assert one.stopping is not None
    assert two.stopping is not None
    undecided = {
        (mark.axes, mark.group, mark.statistic, mark.corrected)
        for run in (one, two)
        for mark in run.stopping.undecided
    }
    theirs = marks(two)
    for test, ours in marks(one).items():
        for corrected in (False, True):
            assert ours[corrected] == theirs[test][corrected] or (*test, corrected) in undecided
