"""The title of a result is the verdict in one sentence; the line below counts every group once."""

from dataclasses import replace

import pytest

from grasp_core.model.groups import Group
from grasp_core.model.outcome import Interval, Kind, Shift, Spread, Untestable, Verdict, VerdictCode
from grasp_core.model.remarks.cautions import Caution
from grasp_core.model.result import Findable, GroupResult, RunResult
from grasp_core.report.document import means_in_numbers
from grasp_core.report.findings.advice import advice, ranked_findings
from grasp_core.report.findings.answer import (
    HOW_SURE,
    LESS_CERTAIN,
    NO_DIFFERENCE,
    answer,
    could_have_been_found,
    counts,
    how_sure,
    line,
    title,
)
from grasp_core.report.findings.selection import by_verdict
from grasp_core.report.plan import found_target
from tests.results import asked, make_group, make_outcome, make_result, saying


def result_of(*rows: GroupResult) -> RunResult:
    return make_result(tuple(rows), statistics=("irr", "gai", "distance"), dsi=())


def judged(row: GroupResult, code: VerdictCode, *kinds: Kind, why: Untestable | None = None) -> GroupResult:
    if why is not None:
        return replace(row, verdict=Verdict("untestable", why=why))
    p = {"clear": 0.0004, "hint": 0.01, "explained": 0.001}.get(code, 0.4)
    return replace(row, verdict=Verdict(code, kinds, p, min(1.0, 5 * p), min(1.0, 5 * p), 3.0))


def titled(*rows: GroupResult) -> str:
    result = result_of(*rows)
    return title(result, ranked_findings(result)).plain


def counted(*rows: GroupResult) -> str:
    result = result_of(*rows)
    said = counts(result, ranked_findings(result))
    return said.plain


def test_a_label_said_less_often_is_told_by_the_one_said_more_often_instead() -> None:
    assert titled(judged(saying("Man", -0.134), "clear", "labels")).startswith(
        "Man raters say “safe” in 13 more"
    )
    row = saying("Man", -0.134)
    alone = replace(row, label_use=replace(row.label_use, labels={"unsafe": row.label_use.labels["unsafe"]}))
    assert titled(judged(alone, "clear", "labels")).startswith("Man raters say “unsafe” in 13 fewer of 100")


def test_a_group_named_by_a_number_is_told_with_its_axis() -> None:
    said = saying("1", -0.134)
    row = replace(said, group=Group(("rater_college_plus",), ("1",)))
    assert titled(judged(row, "clear", "labels")).startswith("College plus 1 raters say “safe” in 13 more")


@pytest.mark.parametrize(
    ("kind", "outcomes", "expected"),
    [
        ("items", {"distance": (0.03, "up")}, "answer the same items differently from everybody else"),
        ("cohesion", {"gai": (1.5, "up")}, "agree with each other more than with everybody else"),
        ("cohesion", {"gai": (0.5, "down")}, "agree with each other less than with everybody else"),
        (
            "cohesion",
            {"gai": (0.9, "up")},
            "agree with each other more, relative to how they agree with others, than luck explains",
        ),
    ],
)
def test_what_else_a_group_does_is_told_without_statistics_names(
    kind: Kind, outcomes: dict[str, tuple[float, str]], expected: str
) -> None:
    row = make_group("Woman", **{name: make_outcome(*one) for name, one in outcomes.items()})
    assert titled(judged(row, "clear", kind)) == f"Woman raters {expected}"


def test_spread_and_what_cannot_be_told() -> None:
    row = judged(make_group("Woman", distance=make_outcome(0.01, "up")), "clear", "spread")
    spread = replace(row, verdict=replace(row.verdict, spread=Spread(2.4, 0.003)))
    assert titled(spread) == "Woman raters differ from each other more than everybody else does"
    assert titled(judged(row, "clear")) == "Woman raters answer differently from everybody else"
    row = judged(saying("Woman", 0.2), "clear", "labels")
    result = result_of(replace(row, label_use=replace(row.label_use, mean=Shift(-0.43, -0.6, -0.2))))
    result = asked(result, level="interval")
    said = title(result, ranked_findings(result)).plain
    assert said == "Woman raters rate 0.43 lower on average than everybody else"


@pytest.mark.parametrize(
    ("more", "said", "how_much"),
    [
        (0.2, "rate 0.40 steps higher on average than", "How much: 0.20 to 0.60 steps higher."),
        (0.02, "say “unsafe” in 2.0 more of 100 answers than", "How much: 1.0 to 3 more of 100 answers."),
    ],
)
def test_of_ordered_labels_steps_are_told_as_they_are_drawn(more: float, said: str, how_much: str) -> None:
    row = judged(saying("Woman", more), "clear", "labels")
    shift = Shift(more, 0.5 * more, 1.5 * more, 0.001)
    labels = {"safe": Shift(-more, -1.5 * more, -0.5 * more), "unclear": Shift(0.0), "unsafe": shift}
    ordered = replace(row.label_use, labels=labels, mean=Shift(50 * more, 25 * more, 75 * more))
    result = asked(result_of(replace(row, label_use=ordered)), level="ordinal")
    found = ranked_findings(result)
    assert title(result, found).plain == f"Woman raters {said} everybody else"
    assert how_sure(result, found)[-1].plain == how_much
    backed = next(one.plain for one in answer(result).details if one.plain.startswith("Woman raters (n"))
    of_mean = " On average they rate 0.40 steps higher [0.20, 0.60]."
    assert backed.endswith(of_mean) == ("steps" in said)
    table = means_in_numbers(result)
    value, interval = {0.2: ("0.400", "[0.200, 0.600]"), 0.02: ("0.040", "[0.020, 0.060]")}[more]
    assert table.iloc[0].tolist()[2:] == [value, interval]  # in the unit of the title


def test_halves_of_an_axis_are_told_beside_each_other() -> None:
    man, woman = saying("Man", -0.1), saying("Woman", 0.1)
    rows = [
        replace(one, verdict=Verdict("clear", ("labels",), 0.001, 0.004, 0.005, 4.0, other=other.group))
        for one, other in ((man, woman), (woman, man))
    ]
    assert titled(*rows) == "Woman raters say “unsafe” in 10 more of 100 answers than Man raters"
    assert counted(*rows) == "The two groups answer differently, more than luck explains."


def test_a_group_is_told_together_with_the_part_of_it_that_differs_most() -> None:
    """Both hold by themselves: the stronger part was left out before the whole was tested again."""
    whole = judged(saying("Black", 0.2), "clear", "labels")
    strongest = judged(saying("Black Woman", 0.3), "clear", "labels")
    part = replace(
        strongest,
        group=Group((*whole.group.axes, "race"), (*whole.group.values, "x")),
        verdict=replace(strongest.verdict, strength=4.0),
    )
    result = result_of(part, judged(saying("Asian", 0.1), "clear", "labels"), whole)
    found = ranked_findings(result)
    assert [one.row.group for one in found] == [whole.group, part.group, result.groups[1].group]
    assert title(result, found).plain == (
        "Black raters, above all Black x, say “unsafe” in 20 more of 100 answers than everybody else"
    )
    assert any(
        "Recruit more Black, above all Black x; and Asian raters" in one.plain
        for one in advice(result, found)
    )
    less = replace(whole, label_use=saying("Black", -0.2).label_use)  # another way: each is told alone
    assert titled(part, less).startswith("Black x raters say")


def test_without_a_clear_group_no_difference_was_found_or_nothing_could_be_tested() -> None:
    hint, none = judged(saying("A", 0.1), "hint", "labels"), judged(make_group("B"), "none")
    assert titled(hint, none) == NO_DIFFERENCE
    shared = replace(result_of(hint, none), warnings=(Caution.FEW_RATERS_HIDDEN(least=5),))
    assert title(shared, ranked_findings(shared)).plain == f"{NO_DIFFERENCE} that are shown"
    other = judged(make_group("C"), "untestable", why="other-items")
    assert titled(other) == "No answer: the groups rated different items"
    assert titled(none, other) == "No difference found in 1 of 2 groups; one could not be tested"
    some = replace(result_of(hint, none, other), findable=(Findable(30, 0.05),))
    assert line(some, ranked_findings(some)).plain.startswith("In the groups tested, differences of 5 in 100")
    assert titled() == "No answer: there is no group to show"


def test_every_group_is_counted_once() -> None:
    whole = judged(saying("whole", 0.3), "clear", "labels")
    part = judged(saying("part", 0.2), "explained", "labels")
    rows = (
        whole,
        replace(part, verdict=replace(part.verdict, by=whole.group)),
        judged(saying("hint", 0.1), "hint", "labels"),
        *(judged(make_group(f"none {place}"), "none") for place in range(11)),
        judged(make_group("small"), "untestable", why="few-raters"),
    )
    assert counted(*rows) == (
        "One of 15 groups answers differently, more than luck explains. In one other the difference may be "
        "luck. One differs only from whole raters. For 11 no difference was found. Not tested: too few "
        "raters for any p below 0.05 (1 group)."
    )
    assert counted(*rows[2:5]) == (
        "Three groups were compared with everybody else. In one a difference may be luck. For two no "
        "difference was found."
    )
    assert counted(*rows[3:5]) == "Two groups were compared with everybody else, and no difference was found."
    # Of groups of one axis all that were left out by then explain it.
    second = judged(saying("second", 0.3), "clear", "labels")
    second = replace(second, verdict=replace(second.verdict, strength=2.0))
    after = replace(part, verdict=replace(part.verdict, by=second.group))
    assert "One differs only from whole and second raters." in counted(second, after, whole)
    assert "One differs only from whole raters." in counted(second, rows[1], whole)
    details = [one.plain for one in answer(result_of(second, after, whole)).details]
    assert "part differs too, but without the whole and second raters no difference was found." in details
    assert counted(rows[3], rows[-1]) == (
        "One of 2 groups was compared with everybody else. For one no difference was found. Not tested: too "
        "few raters for any p below 0.05 (1 group)."
    )
    assert counted(rows[-1]) == "None of 1 group could be tested."
    elsewhere = replace(part, verdict=replace(part.verdict, by=Group(("age",), ("young",))))
    assert "One differs only because of young raters." in counted(whole, elsewhere)
    hidden = replace(part, verdict=replace(part.verdict, by=None))
    assert "One differs only because of other groups." in counted(whole, hidden)


def test_how_sure_says() -> None:
    result = result_of(judged(saying("Woman", 0.134), "clear", "labels"))
    first, second = (one.plain for one in how_sure(result, ranked_findings(result)))
    assert first == HOW_SURE
    assert second == "How much: 7 to 19 more of 100 answers."
    wide = result_of(judged(saying("Woman", 0.04), "clear", "labels"))
    assert how_sure(wide, ranked_findings(wide))[1].plain == LESS_CERTAIN
    scale = Shift(0.358, 0.254, 0.462, 0.001)
    row = judged(saying("Gen Z", 0.097), "clear", "labels")
    rated = result_of(replace(row, label_use=replace(row.label_use, mean=scale)))
    rated = asked(rated, level="interval")
    assert how_sure(rated, ranked_findings(rated))[1].plain == "How much: 0.25 to 0.46 higher."
    far = replace(make_outcome(0.077, "up"), interval=Interval(0.01, 0.174, "both"))
    items = result_of(judged(make_group("A", distance=far), "clear", "items"))
    assert len(how_sure(items, ranked_findings(items))) == 1
    result = result_of(saying("Woman", 0.2))
    assert counts(result, ranked_findings(result)) is None
    assert how_sure(result, ranked_findings(result)) == ()


def test_what_would_have_shown() -> None:
    result = replace(result_of(judged(make_group("A"), "none")), findable=(Findable(12, 0.113),))
    details = [one.plain for one in answer(result).details]
    limit = "Differences of 11 in 100 answers would very likely have shown; smaller ones may be missed."
    assert details[:2] == [limit, "One group was compared with everybody else, and no difference was found."]
    assert "What to do: Nothing, unless smaller differences matter: then ask more raters." in details

    def said(*found: Findable) -> str:
        sentence = could_have_been_found(replace(result_of(make_group("A")), findable=found))
        return sentence.plain

    assert "Differences of 1.0 in 100 answers" in said(Findable(15, 0.0098))
    assert "Differences of 9 in 100" in said(Findable(15, 0.0904), Findable(16, 0.0891))
    assert "of 8 (30 raters) to 17 (9 raters) in 100" in said(Findable(9, 0.17), Findable(30, 0.08))
    assert "Differences of 6 in 100" in said(Findable(11, 0.05), Findable(24, 0.06))
    assert could_have_been_found(result_of(make_group("A"))) is None


def test_of_most_raters_no_more_are_recruited() -> None:
    row = judged(saying("whole", 0.3), "clear", "labels")
    half = result_of(row).data.raters / 2
    for many in (half, half + 1):
        details = [one.plain for one in answer(result_of(replace(row, n_raters=many))).details]
        assert "What to do: Keep the share of whole raters fixed: it moves the labels." in details
        assert not any("Recruit more" in one for one in details)


def test_nobody_is_recruited_for_hints_and_for_what_another_group_explains() -> None:
    hint = judged(saying("hint", 0.1), "hint", "labels")
    part = judged(saying("part", 0.2), "explained", "labels")
    explained = replace(part, verdict=replace(part.verdict, by=Group(("gender",), ("whole",))))
    elsewhere = replace(part, verdict=replace(part.verdict, by=Group(("age",), ("young",))))
    clear = judged(saying("whole", 0.3), "clear", "labels")
    details = [one.plain for one in answer(result_of(hint, explained, clear)).details]
    assert "part differs too, but without the whole raters no difference was found." in details
    said = [one.plain for one in answer(result_of(elsewhere, clear)).details]
    assert "part differs too, but no longer once the raters of young are left out: they explain it." in said
    assert any(one.startswith("May be luck: hint") for one in details)
    assert "What to do: Recruit more whole raters: others cannot stand in for them." in details
    said = [one.plain for one in answer(result_of(hint)).details]
    assert not any("Ask more" in one for one in said)
    assert "Luck alone gives about one group in 20 such a hint." in said


def test_luck_does_not_explain_hints_that_only_lack_permutations() -> None:
    hint = judged(saying("hint", 0.1), "hint", "labels")
    hint = replace(hint, verdict=replace(hint.verdict, q=0.006))
    few = answer(asked(result_of(hint), permutations=2_000))
    assert few.headline.plain == (
        "Not certain: hint raters say “unsafe” in 10 more of 100 answers than everybody else "
        "(2,000 permutations are too few)"
    )
    said = " ".join(one.plain for one in few.details)
    assert "Run it again with 3,000 permutations or more." in said
    assert "Luck alone" not in said


@pytest.mark.parametrize("kinds", [("items", "cohesion"), ("cohesion",)])
def test_of_two_halves_the_one_that_agrees_less_is_named_and_asked_about(kinds: tuple[Kind, ...]) -> None:
    between = make_outcome(0.1, "up", "**")
    rows = [
        make_group(name, distance=between, irr=make_outcome(irr, way, "**"), gai=make_outcome(gai, way, "**"))
        for name, irr, gai, way in (("A", 0.77, 1.8, "up"), ("B", 0.25, 0.6, "down"))
    ]
    halves = [
        replace(one, verdict=replace(of_one, other=other.group))
        for one, other in zip(rows, rows[::-1], strict=True)
        if (of_one := judged(one, "clear", *kinds).verdict) is not None
    ]
    result = result_of(*halves)
    said = answer(result)
    assert said.headline.plain == "B raters agree with each other less than A raters do"
    do = next(one.plain for one in said.details if one.plain.startswith("What to do"))
    assert do == (
        "What to do: B raters agree little with each other: read items with them, and give each item more "
        "of them."
    )
    assert not any("in the proportion" in one.plain for one in said.details)
    assert [one.title for one in by_verdict(result)] == ["B and A"]
    assert {found_target(result, row.group) for row in result.groups} == {"gai"}


@pytest.mark.parametrize(
    ("kind", "target"), [("labels", "labels"), ("items", "distance"), ("cohesion", "gai")]
)
def test_a_plan_begins_with_the_difference_that_is_told(kind: Kind, target: str) -> None:
    row = replace(
        saying("found", 0.1), statistics={"distance": make_outcome(0.1, "up"), "gai": make_outcome(1.4, "up")}
    )
    result = result_of(judged(row, "clear", kind), judged(saying("other", 0.1), "none"))
    assert found_target(result, row.group) == target
