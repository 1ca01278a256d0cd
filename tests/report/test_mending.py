"""Ways to mend what a run warns of."""

from __future__ import annotations

import pytest

from grasp_core.remarks.cautions import Caution
from grasp_core.remarks.guards import GuardCaution
from grasp_core.remarks.remark import Remark, said
from grasp_core.report.mending import mend
from grasp_core.spec import AnalysisSpec

AXES = (("gender",),)
FEW = Caution.TOO_FEW_FOR_CORRECTION(permutations=99, tests=400, least=15_999)


@pytest.mark.parametrize(
    ("warning", "before", "after"),
    [
        (FEW, {"permutations": 99}, {"permutations": 15_999}),
        (Caution.TOO_FEW_FOR_P(), {"permutations": 50}, {"permutations": 10_000}),
        (Caution.PAPER_P(), {"p_value": "paper"}, {"p_value": "two-sided"}),
        (Caution.PAPER_CROSS_NEGENTROPY(), {"cross_negentropy": "paper"}, {"cross_negentropy": "smooth"}),
        (Caution.SMALL_GROUPS(small=1, groups=3, least=5), {"min_raters": 5}, {"min_raters": 2}),
        (GuardCaution.OWN_WORKLOAD(axis="gender", group="Woman", times=4.0), {}, {"strata": ("workload",)}),
        (GuardCaution.OWN_ITEMS(axis="gender", group="Woman", met=60), {"seed": 7}, {"seed": 7}),
    ],
)
def test_settings_mend_it(warning: Remark, before: dict[str, object], after: dict[str, object]) -> None:
    found = mend(warning, AnalysisSpec(axes=AXES, **before))  # type: ignore[arg-type]
    assert found is not None
    assert found.analysis == AnalysisSpec(axes=AXES, **after)  # type: ignore[arg-type]


def test_axes_that_go_together_are_tested_each_given_the_other() -> None:
    analysis = AnalysisSpec(axes=(("rater_gender",), ("rater_race",), ("age",)))
    found = mend(GuardCaution.AXES_TOGETHER(first="race", second="gender", v=0.4, p="p < 0.001"), analysis)
    assert found is not None
    assert found.analysis.given == ("rater_gender", "rater_race")


@pytest.mark.parametrize(
    "warning", [said("a column is odd"), Caution.SMALL_GROUPS(small=1, groups=3, least=2), FEW]
)
def test_what_settings_cannot_mend_has_no_way(warning: Remark) -> None:
    assert mend(warning, AnalysisSpec(axes=AXES, permutations=20_000)) is None
