from grasp_core.cli.terminal.results import say_result
from grasp_core.model.outcome import Outcome
from grasp_core.model.remarks.remark import said
from grasp_core.report.findings.answer import NO_DIFFERENCE, answer
from tests.results import (
    judged,
    make_group,
    make_label_use,
    make_outcome,
    make_result,
    with_label_use,
    without_gai,
)


def plain(result):
    found = answer(result)
    return found.headline.plain, [detail.plain for detail in found.details]


def groups(*stars, direction="up"):
    return tuple(
        make_group(f"G{number}", gai=make_outcome(1.2, direction, mark)) for number, mark in enumerate(stars)
    )


def test_one_group_after_correction():
    group = make_group("Woman", gai=make_outcome(0.54, "down", "**"), raters=12)
    headline, details = plain(make_result((group, *groups("", "")), statistics=("gai",)))
    assert headline == "Woman raters agree with each other less than with everybody else"
    assert details[0] == (
        "Woman raters (n = 12) agree with each other less, relative to how they agree with others, "
        "than random groups of their size would: GAI 0.540, p < 0.001, q < 0.001."
    )
    assert answer(make_result((group,))).headline.segments[0].strong
    assert details[-1] == (
        "What to do: Woman raters agree little with each other: read items with them, and give each item "
        "more of them."
    )


def test_label_use_comes_first_with_its_size_and_all_else_that_holds_follows():
    row = make_group("Woman", gai=make_outcome(1.5, "up", "**"), xrr=make_outcome(0.1, "down", "**"))
    row = with_label_use(row, make_label_use({"safe": -11.0, "unsafe": 11.4}, "**"))
    other = make_group("Man", gai=make_outcome(1.0, "up"), xrr=make_outcome(0.1, "down"))
    headline, details = plain(make_result((row, other), statistics=("xrr", "gai")))
    assert headline == "Woman raters say “unsafe” in 11 more of 100 answers than everybody else"
    assert details[0] == (
        "Woman raters (n = 12) say “unsafe” 11 points more often than the others on the same items [3, 19], "
        "p < 0.001, q < 0.001; after correction also ↑ GAI 1.500, ↓ XRR 0.100."
    )
    assert details[-2:] == [
        "What to do: Recruit more Woman raters: others cannot stand in for them.",
        "See which items cause the difference.",
    ]


def test_the_terminal_names_the_command_that_shows_the_items(capsys):
    row = make_group("Woman of 40+", distance=make_outcome(0.02, "up", "**"))
    say_result(make_result((row,), statistics=("distance",)))
    see = "See which items cause the difference. With the same files and choices of columns and groups: grasp"
    assert f"- {see} items --group 'gender=Woman of 40+'\n" in capsys.readouterr().out


def test_advice_goes_by_what_was_found():
    def advised(statistic, value, direction):
        row = make_group("Woman", **{statistic: make_outcome(value, direction, "**")})
        return plain(make_result((row,), dsi=(), statistics=(statistic,)))[1][-1]

    less = advised("irr", 0.1, "down")
    assert less.startswith("What to do: Woman raters agree little with each other")
    assert advised("irr", 0.4, "up") == (
        "What to do: Nothing for this alone: raters who agree more than others need no further ones."
    )
    assert advised("gai", 1.6, "up") == (
        "What to do: Recruit more Woman raters: others cannot stand in for them."
    )


def test_halves_of_an_axis_are_not_both_recruited():
    between = make_outcome(0.011, "up", "**")
    rows = (make_group("Man", distance=between), make_group("Woman", distance=between))
    _, details = plain(make_result(rows, statistics=("distance",)))
    assert details[-2:] == [
        "What to do: Keep Man and Woman raters in the proportion of the people whom the labels are for: "
        "the mix moves the labels.",
        "See which items cause the difference.",
    ]
    in_files = answer(make_result(rows, statistics=("distance",))).in_files  # which show no items
    assert [one.plain for one in in_files] == details[:-1]


def test_several_groups_after_correction():
    _, details = plain(make_result(groups("**", "**", "**", "**", ""), statistics=("gai",)))
    assert sum(detail.startswith("G") for detail in details) == 4
    _, details = plain(make_result(groups(*["**"] * 12), statistics=("gai",)))
    assert details[5].startswith("After correction, too: G5 (↑ GAI 1.200, p < 0.001, q < 0.001); G6")
    assert details[5].endswith("; and 2 more.")


def test_without_a_group_after_correction_no_difference_is_told():
    headline, details = plain(make_result(groups("*", "", ""), statistics=("gai",)))
    assert headline == NO_DIFFERENCE
    assert details[0] == "May be luck: G0 (↑ GAI 1.200, p = 0.021, q = 0.086)."
    headline, details = plain(make_result(groups("", ""), statistics=("gai",)))
    assert headline == NO_DIFFERENCE
    assert "May be luck" not in " ".join(details)


def test_a_group_with_a_finding_is_not_listed_again_as_nominal():
    row = make_group(gai=make_outcome(1.0, "up", "*"), irr=make_outcome(0.2, "up", "**"))
    other = make_group("Man", gai=make_outcome(1.0, "up", "*"), irr=make_outcome(0.2, "up"))
    _, details = plain(make_result((row, other), statistics=("irr", "gai")))
    (nominal,) = [detail for detail in details if detail.startswith("May be luck")]
    assert nominal == "May be luck: Man (↑ GAI 1.000, p = 0.021, q = 0.086)."


def test_axis_to_watch():
    rows = (
        judged(make_group("A", axis="age", gai=make_outcome(1.1, "up", "**")), "clear", "cohesion"),
        judged(make_group("B", axis="race", gai=make_outcome(1.5, "up", "*")), "none"),
    )
    _, details = plain(make_result(rows, statistics=("gai",)))
    assert (
        "Watch age (DSI 1.100, attained by A; p < 0.001, q < 0.001): who is recruited along it matters, "
        "since A raters answer differently." in details
    )
    for outcome in (make_outcome(1.1, "up"), make_outcome(17.2, "up", "**")):  # no mark; XRR near 0
        row = judged(make_group("A", axis="age", gai=outcome), "clear", "cohesion")
        _, details = plain(make_result((row, rows[1]), statistics=("gai",)))
        assert any(detail.startswith("Watch age: who is recruited along it") for detail in details)
    _, details = plain(make_result(rows[1:], statistics=("gai",)))
    assert not any("DSI" in detail or detail.startswith("Watch") for detail in details)


def test_what_cannot_be_estimated_is_named_with_its_reason():
    rows = list(make_result().groups)
    rows[3] = without_gai(rows[3], "XRR is not above 0")
    rows[7] = without_gai(rows[7], "XRR is not above 0")
    _, details = plain(make_result(tuple(rows)))
    assert details[-1] == "GAI is not estimable for Man and Latine: XRR is not above 0."
    assert plain(make_result(())) == ("No answer: there is no group to show", [])
    row = make_group(gai=Outcome(None, reason=said("no shared items")))
    headline, details = plain(make_result((row,), statistics=("gai",)))
    assert headline == "No answer: GAI could not be tested for any group"
    assert details == ["GAI is not estimable for Woman: no shared items."]


def test_names_from_the_data_stay_inert():
    row = make_group("<script>*x*", gai=make_outcome(0.5, "down", "**"))
    found = answer(make_result((row,), statistics=("gai",)))
    assert found.headline.markdown.startswith(r"**\<script\>\*x\*** raters agree")
