"""What is told before a run of how small a p can be."""

import pytest

from grasp_core.model.annotations import Axis, Raters
from grasp_core.model.groups import form_groups
from grasp_core.model.spec import AnalysisSpec, PValue
from grasp_core.permutation.testing.tail import Shuffles
from grasp_core.report.account import few_regroupings, least_of


@pytest.mark.parametrize(
    ("values", "told"),
    [
        # 28 ways: a one-tailed p of 1 / 28 exists, so it is not below 2 / 28 that none is.
        ("aabbbbbb", ["about 0.071, or 0.036 where one tail alone counts (distance, label use)"] * 2),
        ("abb", ["about 0.667, or 0.333 where one tail alone counts (distance, label use)"]),
        ("aaaaabbbbb", []),
    ],
)
def test_of_few_regroupings_the_least_p_of_two_tails_and_of_one_are_told(values: str, told: list[str]):
    raters = Raters(("",) * len(values), {"x": Axis.from_values([*values])})
    spec = AnalysisSpec(axes=(("x",),))
    grouping = form_groups(raters, spec.axes, min_raters=2)
    found = few_regroupings(grouping, Shuffles.of(raters, grouping, spec))
    assert [one.partition("no p of it is below ")[2] for one in found] == told


@pytest.mark.parametrize(
    ("p_value", "ends"), [("two-sided", "about 0.071, or 0.036"), ("paper", "about 0.071")]
)
def test_a_result_tells_the_same_of_its_rows(p_value: PValue, ends: str):
    spec = AnalysisSpec(axes=(("x",),), p_value=p_value)
    assert least_of(2 / 28, spec).partition(" where")[0] == f"no p of it is below {ends}"
