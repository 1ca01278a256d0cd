"""Which warnings come first."""

from __future__ import annotations

from grasp_core.model.remarks.benchmark import RANKS, ranked
from grasp_core.model.remarks.cautions import Caution, GuardCaution, ScreenCaution, ShuffleCaution
from grasp_core.model.remarks.remark import said


def test_every_caution_of_a_run_has_a_rank() -> None:
    assert RANKS.keys() == {*Caution, *GuardCaution, *ShuffleCaution, *ScreenCaution}


def test_what_makes_marks_wrong_comes_first_and_equals_stay_as_they_came() -> None:
    odd = [said("one column is odd"), said("another is")]
    guard = GuardCaution.OWN_ITEMS(axis="gender", group="Woman", met=60)
    small = Caution.SMALL_GROUPS(small=1, groups=4, least=5)
    assert ranked([small, *odd, guard]) == (guard, *odd, small)
