"""What may undo a finding stands before it, in every sentence and door, and its mend before advice."""

import json
from collections.abc import Callable, Sequence
from dataclasses import replace
from html import unescape

import pytest

from benchmarks import clickers, confounded
from benchmarks.planted import run_spec
from benchmarks.study.situations import associated
from grasp_core.cli.terminal.results import say_result
from grasp_core.model.data_spec import NAMED, SCREENS
from grasp_core.model.outcome import FEWEST_CLEAR, AssignmentCheck, MostUnequal
from grasp_core.model.remarks.cautions import Caution, GroupCount, GuardCaution, ScreenCaution
from grasp_core.model.remarks.remark import Remark
from grasp_core.model.result import Association, RunResult
from grasp_core.model.text import for_python
from grasp_core.notebook.results import Analysis
from grasp_core.reading.dataset.load import Dataset
from grasp_core.report.account import assignment_warnings
from grasp_core.report.findings.advice import ranked_findings
from grasp_core.report.findings.answer import NO_DIFFERENCE, answer
from grasp_core.report.findings.mending import mend, warned
from grasp_core.report.pairs import most_told
from grasp_core.report.slices import slice_sentences
from grasp_core.report.words.printable import printable_result
from grasp_core.report.writers._html_page import report_html
from grasp_core.report.writers.markdown import table_markdown
from tests.computing import compute_in_threads
from tests.results import make_group, make_outcome, make_result, saying, with_pairs, with_slices

WOMAN = make_group("Woman", gai=make_outcome(1.5, "up", "**"))


def run(data: Dataset, **changes: object) -> RunResult:
    spec = run_spec(1, FEWEST_CLEAR)
    axes = tuple((name,) for name in data.raters.axes)
    return compute_in_threads(data, replace(spec, analysis=replace(spec.analysis, axes=axes, **changes)))


def check(*rows, items: float | None = None, workload: float | None = None) -> AssignmentCheck:
    group = rows[0].group
    of_items = None if items is None else MostUnequal(group, items, 0.005)
    return AssignmentCheck(
        group.axes, of_items, None if workload is None else MostUnequal(group, workload, 0.005)
    )


def own_items(*rows) -> RunResult:
    checked = check(*rows, items=0.4)
    warnings = tuple(assignment_warnings([checked]))
    result = make_result(tuple(rows), statistics=("irr", "gai"), dsi=(), warnings=warnings)
    return replace(result, assignment=(checked,))


def test_harder_items_are_not_told_as_a_group_that_stands_out() -> None:
    said = answer(run(confounded.drawn(confounded.CONFOUNDED[1], 3)))
    assert said.headline.plain == "No answer: the groups rated different items"
    assert said.details[-1].plain.startswith("What to do: First have all groups rate the same items")
    assert not any("labels do not stand" in one.plain for one in said.details)
    assert [one.code.key for one in said.warned.first] == ["own-items", "gai-of-other-items"]


def test_clickers_are_told_before_what_they_make() -> None:
    said = answer(run(clickers.group_of_clickers(3, screen=False)))
    assert said.headline.plain.startswith(
        "Not certain: in raters agree with each other less than out raters do (4 of 10 in agree with"
    )
    assert said.details[1].plain.startswith("Perhaps raters who did not read (4 of 10 in agree")
    assert "--leave-out random" in said.details[-1].plain


def test_of_two_axes_that_go_together_neither_is_certain_until_given_the_other() -> None:
    before = answer(run(associated(3)))
    assert before.headline.plain == (
        "Not certain: other raters say “label c” in 9 more of 100 answers than one raters "
        "(perhaps it is side)"
    )
    assert [one.code.key for one in before.warned.first] == ["axes-together"]
    after = answer(run(associated(3), given=("side", "race")))
    assert after.warned.first == ()
    assert after.headline.plain == "Other raters say “label c” in 9 more of 100 answers than one raters"
    assert any(one.plain.startswith("What to do: Keep other and one raters") for one in after.details)


def test_nothing_is_tested_given_an_axis_that_divides_the_raters_alike() -> None:
    data = associated(3)
    race = data.raters.axes["race"]
    both = replace(data, raters=replace(data.raters, axes={"race": race, "side": race}))
    said = answer(run(both))
    assert [one.code for one in said.warned.first] == [GuardCaution.ONE_SPLIT]
    assert mend(said.warned.first[0], run_spec(1, FEWEST_CLEAR)) is None
    assert "ask raters for whom the two differ" in said.details[-1].plain


def test_only_axes_of_a_large_difference_raise_a_doubt() -> None:
    for mark, undone in (("", False), ("*", True)):
        old = make_group("old", "age", gai=make_outcome(1.1, "up", mark))
        result = make_result((WOMAN, old), statistics=("gai",), dsi=())
        result = replace(result, associations=(Association("gender", "age", 0.3, 0.01),))
        assert ranked_findings(result)[0].undone is undone
        together = GuardCaution.AXES_TOGETHER(first="gender", second="age", v=0.3, p="p = 0.010")
        said = warned(replace(result, warnings=(together,)))
        assert (said.first, said.others) == (((together,), ()) if undone else ((), (together,)))
    result = replace(own_items(WOMAN), assignment=(check(WOMAN, items=0.99),))
    assert ranked_findings(result)[0].doubts == ()


def test_label_use_and_distance_are_told_for_shared_items_and_counted() -> None:
    result = own_items(saying("Woman", 0.2), make_group("Man", gai=make_outcome(0.4, "down", "**")))
    assert [(one.name, one.undone) for one in ranked_findings(result)] == [("Woman", False), ("Man", True)]
    said = answer(result)
    assert said.headline.plain == (
        "Woman raters say “unsafe” in 20 more of 100 answers than everybody else (on the items that both "
        "sides rated)"
    )
    assert any(one.plain.startswith("Perhaps the items, not the raters") for one in said.details)
    assert any(one.plain.startswith("Recruit more Woman raters") for one in said.details)


def test_workload_is_mended_by_workload() -> None:
    result = replace(own_items(WOMAN), assignment=(check(WOMAN, workload=2.5),))
    (found,) = ranked_findings(result)
    assert found.backed.plain.startswith(
        "Perhaps how much they rated, not the raters (raters of Woman gave 2.50 times as many annotations"
    )
    assert "--within workload" in answer(result).details[-1].plain


def screened(
    groups: Sequence[str | Remark], woman: str = "Woman", screen: str = "raters at chance"
) -> RunResult:
    row = make_group(woman, gai=make_outcome(1.5, "up", "**"), raters=1_200)
    caution = ScreenCaution.SCREENED_IN_GROUPS(screen=screen, groups=tuple(groups))
    result = make_result((row,), statistics=("gai",), dsi=(), warnings=(caution,))
    return RunResult.from_dict(json.loads(json.dumps(result.to_dict())))


def of_group(group: str, raters: int) -> Remark:
    return GroupCount.RATERS_OF_GROUP(group=f"gender {group}", raters=raters, of=1_200)


def test_raters_whom_a_screen_names_raise_a_doubt_where_they_are_many() -> None:
    others = [of_group(f"other {place}", 1_200) for place in range(8)]
    assert ranked_findings(screened([*others, of_group("Woman", 119)]))[0].doubts == ()
    assert ranked_findings(screened([of_group("Woman", 1_100)]))[0].undone
    last = screened([*others, of_group("Woman", 300)])
    assert str(last.warnings[0]).endswith("gender other 5: 1,200 of 1,200 and 3 more")
    assert ranked_findings(last)[0].undone
    for screen in (NAMED["duplicates"], SCREENS["duplicates"]):  # of which results of before are
        assert ranked_findings(screened([of_group("Woman", 1_100)], screen=screen))[0].undone
    for woman in ("W" * 300, "Woman: 0 of 9"):
        assert ranked_findings(screened([of_group(woman, 300)], woman))[0].undone
    unseen = screened([of_group("Wo\u202eman", 300)], "Wo\u202eman")
    assert ranked_findings(printable_result(unseen))[0].undone
    assert "\u202e" not in str(printable_result(unseen).warnings[0])


def test_counts_of_former_results_are_texts_and_stand_as_they_stood() -> None:
    """No finding is doubted for them; the warning stands first as ever."""
    former = screened(["gender Woman: 1,100 of 1,200", "gender Man: 1 of 9"])
    assert str(former.warnings[0]) == (
        "raters at chance, by group: 'gender Woman: 1,100 of 1,200', 'gender Man: 1 of 9'"
    )
    assert warned(former).first == former.warnings
    assert ranked_findings(former)[0].doubts == ()
    assert (
        ranked_findings(screened([GroupCount.RATERS_OF_GROUP(group="gender Woman", raters="all", of=9)]))[
            0
        ].doubts
        == ()
    )


def test_pairs_and_slices_carry_the_doubts_of_their_axis() -> None:
    both = (Association("race", "team", 0.4),)
    assert most_told(replace(with_pairs(), associations=both), 1)[0].plain.startswith(
        "Perhaps team, which goes with race (Cramér's V 0.40): Black raters say"
    )
    sliced = replace(with_slices(), associations=(Association("age", "gender", 0.4),))
    assert slice_sentences(sliced, sliced.slices[0])[0].plain.startswith(
        "Perhaps age, which goes with gender"
    )


def test_groups_that_cannot_be_found_are_no_negative_answer() -> None:
    stuck = [replace(make_group(name, gai=make_outcome(1.1, "up")), least_p=0.1) for name in ("A", "B")]
    result = make_result(tuple(stuck), statistics=("gai",), dsi=())
    said = answer(result)
    assert said.headline.plain == "No answer: too few raters for any p below 0.05"
    assert said.details[-1].plain == ("What to do: Ask more raters: so few can be regrouped in too few ways.")
    for asked, what in (
        ({"strata": ("team",)}, "within fewer strata"),
        ({"cluster": "team"}, "single raters in place of clusters"),
    ):
        spec = replace(result.spec, analysis=replace(result.spec.analysis, **asked))
        advised = answer(replace(result, spec=spec)).details[-1].plain
        assert advised.startswith(f"What to do: Ask more raters, or shuffle {what},")
    some = answer(make_result((stuck[0], make_group("C", gai=make_outcome(1.1, "up"))), statistics=("gai",)))
    assert some.headline.plain == NO_DIFFERENCE


@pytest.mark.parametrize("door", ["terminal", "html", "markdown"])
def test_every_door_tells_warnings_before_findings(door: str, capsys: pytest.CaptureFixture[str]) -> None:
    result = own_items(WOMAN)
    result = replace(result, warnings=(*result.warnings, Caution.SMALL_GROUPS(small=1, groups=2, least=5)))
    assert [one.code.key for one in warned(result).first] == ["own-items"]
    if door == "terminal":
        say_result(result)
        text = capsys.readouterr().out
        assert text.index("groups were given different items.") < text.index("Not certain: Woman")
    else:
        text = report_html(result) if door == "html" else table_markdown(result)
        place = text.index("groups were given different items.")
        assert text.index("Not certain: ") < place
        assert place < text.index("GAI 1.500" if door == "html" else "1.500")
    assert text.index("Careful:")


@pytest.mark.parametrize(
    ("make", "lead"),
    [
        (report_html, "Beside the 1 that stands above, under “Careful”:"),
        (table_markdown, "Beside the 1 that stands above, under “Careful”:"),
        (lambda result: Analysis(result)._repr_html_(), "Other warnings (1)"),
    ],
    ids=["html", "markdown", "notebook"],
)
def test_every_warning_is_met_once(make: Callable[[RunResult], str], lead: str) -> None:
    few = Caution.SMALL_GROUPS(small=1, groups=2, least=5)
    result = own_items(WOMAN)
    both = replace(result, warnings=(few, *result.warnings))
    text = unescape(make(both))
    said = [for_python(str(one)) if lead.startswith("Other") else str(one) for one in both.warnings]
    assert [text.count(one) for one in said] == [1, 1]
    assert text.count(lead) == 1
    assert "under “Careful”" not in make(replace(result, warnings=(few,)))


def test_the_report_says_where_there_are_no_other_warnings() -> None:
    section = "<h2>Warnings</h2>\n<p>"
    result = own_items(WOMAN)
    assert f"{section}None but the 1 that stands above, under “Careful”.</p>" in report_html(result)
    assert f"{section}None.</p>" in report_html(replace(result, warnings=()))
