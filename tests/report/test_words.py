import pytest

from grasp_core.model.groups import Group, axis_label, group_label, group_labels
from grasp_core.model.statistic import TABLE
from grasp_core.report.words import names
from tests.results import make_group, make_outcome, make_result


@pytest.mark.parametrize(
    ("axes", "label"),
    [
        (("gender",), "gender"),
        (("rater_race", "rater_gender"), "race × gender"),
        (("rater_race", "gender"), "rater race × gender"),
        (("rater_",), "rater"),
        (("age_group",), "age group"),
        (("a\nb",), "a b"),
    ],
)
def test_axis_label(axes, label):
    assert axis_label(axes) == label


@pytest.mark.parametrize(
    ("value", "text"),
    [(0.54, "0.540"), (-0.0724, "−0.072"), (-0.0001, "0.000"), (12.3456, "12.346"), (None, "not estimable")],
)
def test_format_value(value, text):
    assert names.format_value(value) == text


@pytest.mark.parametrize(
    ("p", "text"),
    [
        (0.0144, "p = 0.014"),
        (0.001, "p = 0.001"),
        (0.000999, "p < 0.001"),
        (0.0, "p < 0.001"),
        (1.0, "p = 1.000"),
        (None, "p not tested"),
    ],
)
def test_format_p(p, text):
    assert names.format_p(p) == text


def test_q_has_its_name_and_zero_is_told_by_the_permutations():
    assert names.format_p(0.25, name="q") == "q = 0.250"
    assert names.format_p(0.0, name="q") == "q < 0.001"
    assert names.format_p_value(0.0, permutations=100) == "< 0.010"
    assert names.format_p_value(0.0, permutations=10_000) == "< 0.001"
    assert names.format_p_value(0.25, permutations=100) == "0.250"


def test_groups_are_named_apart_in_one_line():
    assert group_label(Group(("race", "gender"), ("Asian\n", ""))) == "Asian, (blank)"
    groups = [Group(("race",), ("Other",)), Group(("gender",), ("Other",)), Group(("gender",), ("Man",))]
    assert group_labels(groups) == ["Other (race)", "Other (gender)", "Man"]


def test_statistics_have_words_and_formulas():
    assert set(names.WORDS) == set(TABLE)
    for words in names.WORDS.values():
        assert words.explanation.endswith(".")
        assert words.name in words.axis
    result = make_result(gai=("negentropy", "cross_negentropy"))
    assert names.statistic_formula("gai", result) == "GAI = Negentropy / Cross-negentropy"
    assert names.statistic_formula("irr", result) == names.WORDS["irr"].formula
    outcome = names.outcome_of(make_group(gai=make_outcome(1.0, "up")), "irr")
    assert outcome.value is None
    assert str(outcome.reason) == "IRR was not part of this run"


def test_reported_statistics_follow_the_spec_in_table_5_order():
    result = make_result(statistics=("xrr", "irr"))
    assert names.reported_statistics(result) == ("irr", "xrr")
    assert names.lead_statistic(result) == "irr"
    assert names.lead_statistic(make_result()) == "gai"
