"""What is said of a run that stopped when its marks were settled."""

from dataclasses import replace

import pytest

from grasp_core.model.annotations import Axis, Raters
from grasp_core.model.groups import Group, form_groups
from grasp_core.model.result import RunResult, Stopping, Undecided
from grasp_core.model.spec import AnalysisSpec, PValue
from grasp_core.permutation.testing.tail import Shuffles
from grasp_core.report.account import ending, few_regroupings, guarantee, least_of
from grasp_core.report.contents import conventions
from grasp_core.report.writers._html_page import report_html
from tests.results import make_group, make_outcome, make_result

SPEC = AnalysisSpec(axes=(("rater_race",),), permutations=100_000, adaptive=True)
WOMEN = Group(("rater_race", "gender"), ("White", "Woman\u202e"))


def test_how_it_ended() -> None:
    assert ending(SPEC, Stopping(7000, 0.001, ())).startswith(
        "Shuffling stopped after 7,000 of at most 100,000"
    )
    assert ending(SPEC, Stopping(100_000, 0.001, ())).startswith(
        "Shuffling went on to the most allowed, 100,000"
    )


def test_what_is_guaranteed_and_for_which_marks_it_is_not() -> None:
    text = guarantee(SPEC, Stopping(7000, 0.001, ()))
    assert "for each test the risk that it is not is at most 0.1 %" in text
    assert "at most 0.1 % times their number" in text
    assert text.endswith("All marks are settled.")
    assert "max-T" not in text
    assert "For max-T" in guarantee(replace(SPEC, correction="max-t"), Stopping(7000, 0.001, ()))
    marks = (
        Undecided(WOMEN.axes, WOMEN, "irr", corrected=False),
        Undecided(("rater_race",), None, "dsi", corrected=True),
    )
    assert guarantee(SPEC, Stopping(100_000, 0.001, marks)).endswith(
        "Too close to 0.05 to be settled by so many shuffles:"
        " IRR of White, Woman\u202e (nominal); DSI of race (after correction)."
    )


def test_without_p_values_nothing_is_called_settled() -> None:
    few = replace(SPEC, permutations=10)
    assert guarantee(few, Stopping(10, 0.001, ())) == (
        "Nothing is marked, and nothing settled: p-values need 100 shuffles or more."
    )
    assert guarantee(few, Stopping(100, 0.001, ())).endswith("All marks are settled.")


def result() -> RunResult:
    rows = (make_group("Woman", irr=make_outcome(0.2, "up")),)
    marks = (Undecided(WOMEN.axes, WOMEN, "irr", corrected=False),)
    return replace(
        make_result(rows, permutations=100_000, adaptive=True), stopping=Stopping(7000, 0.001, marks)
    )


def test_it_stands_among_the_conventions_and_in_the_exports() -> None:
    found = result()
    stated = dict(conventions(found.spec, found.stopping))
    assert stated["Random groupings"].startswith("At most 100,000 shuffles")
    assert stated["Stopping"] == ending(found.spec.analysis, Stopping(7000, 0.001, ()))
    assert "\u202e" not in stated["Guarantee"]
    page = report_html(found)
    assert "7,000 random groupings" in page
    assert "at most 0.1 % times their number" in page
    assert "\u202e" not in page


def test_a_fixed_run_says_nothing_of_it_and_others_survive_their_file_form() -> None:
    found = make_result()
    assert found.permutations == found.spec.analysis.permutations
    assert not {"Stopping", "Guarantee"} & dict(conventions(found.spec, found.stopping)).keys()
    assert "stopping" not in found.to_dict()
    found = result()
    assert RunResult.from_dict(found.to_dict()) == found
    assert found.permutations == 7000


def test_marks_left_open_are_named() -> None:
    mark = Undecided(WOMEN.axes, WOMEN, "macro_f1", corrected=True, model="gold")
    assert guarantee(SPEC, Stopping(100_000, 0.001, (mark,))).endswith(
        "Macro-F1 of gold and White, Woman\u202e (after correction)."
    )
    men = replace(WOMEN, values=("White", "Man"))
    marks = (
        Undecided(WOMEN.axes, men, "label_use", corrected=True),
        Undecided(WOMEN.axes, men, "label_use", corrected=False, other=replace(men, values=("Asian", "Man"))),
        Undecided(WOMEN.axes, men, "gap_b", corrected=True, other=replace(men, values=("Black", "Man"))),
    )
    said = guarantee(SPEC, Stopping(100_000, 0.001, marks))
    assert said.endswith(
        "Label use of White, Man (after correction); "
        "Label use of White, Man and Asian, Man (nominal); "
        "Gap of the second of White, Man and Black, Man (after correction)."
    )


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
