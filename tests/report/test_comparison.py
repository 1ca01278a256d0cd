from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from grasp_core.model.groups import Group
from grasp_core.model.outcome import Interval, Outcome, Shift, Verdict
from grasp_core.model.remarks.remark import said
from grasp_core.model.result import GroupResult, RunResult
from grasp_core.model.text import LISTED
from grasp_core.report.changes import details, headline
from grasp_core.report.comparison import (
    changes_table,
    compare,
    difference,
    differences_table,
    in_words,
    pairs_compared,
    slices_compared,
    verdicts_table,
)
from tests.results import (
    asked,
    make_group,
    make_label_use,
    make_outcome,
    make_result,
    with_label_use,
    with_pairs,
    with_slices,
)


def _with(row: GroupResult) -> RunResult:
    return make_result((row,), statistics=("gai",))


def test_a_run_is_the_same_as_itself() -> None:
    result = make_result()
    comparison = compare(result, result)
    assert not comparison.spec
    assert not comparison.data
    assert not comparison.changed
    assert not comparison.only_a + comparison.only_b
    assert len(comparison.changes) == 20 * 7 + 4
    assert {change.value_moved for change in comparison.changes} == {0.0}
    assert in_words(comparison)[-2:] == (
        "GAI: none of 20 groups changed significance.",
        "DSI: none of 4 axes changed significance.",
    )


def test_every_field_of_the_analysis_is_told_in_words() -> None:
    a = make_result()
    b = asked(
        a,
        statistics=("irr", "gai"),
        gai=("negentropy", "cross_negentropy"),
        min_raters=5,
        permutations=99,
        seed=7,
        strata=("race",),
        p_value="paper",
        cross_negentropy="paper",
        ties="first",
        correction="max-t",
        family="all",
        level="ordinal",
        axes=(("gender",),),
    )
    told = {difference.what: (difference.a, difference.b) for difference in compare(a, b).spec}
    assert told == {
        "Axes and intersections": ("age, gender, gender × race, race", "gender"),
        "Statistics": (
            "IRR, XRR, Negentropy, Cross-negentropy, Plurality size, Voting agreement, GAI",
            "IRR, GAI",
        ),
        "GAI": ("IRR divided by XRR", "Negentropy divided by Cross-negentropy"),
        "Smallest group": ("2 raters", "5 raters"),
        "Permutations": ("10,000", "99"),
        "Seed": ("1", "7"),
        "Profiles shuffled": ("over all raters", "within each value of race"),
        "p-value": ("Two-sided, never 0", "As in the paper"),
        "Correction": ("Benjamini–Hochberg", "Westfall–Young max-T"),
        "Corrected together": ("All groups, per statistic", "Everything together"),
        "Level of measurement": ("Nominal: names", "Ordinal: ranks"),
        "Cross-negentropy": ("Smoothed", "As in the paper"),
        "Tied votes": ("Drawn at random", "First label in the declared order"),
    }


def test_every_field_of_reading_is_told() -> None:
    a = make_result()
    data = replace(
        a.spec.data,
        layout="raters-by-items",
        item="i",
        rater="r",
        label="l",
        profile=("gender",),
        categories=("No", "Yes"),
        missing=("", "NA"),
        exclude=(("trust", "no"),),
    )
    told = {
        difference.what: difference.b
        for difference in compare(a, replace(a, spec=replace(a.spec, data=data))).spec
    }
    assert told == {
        "Layout": "one row per rater",
        "Item column": "i",
        "Rater column": "r",
        "Label column": "l",
        "Profile columns": "gender",
        "Labels declared": "No, Yes",
        "Texts that mean missing": "(empty), NA",
        "Left out": "raters with trust = no",
    }


def test_other_data() -> None:
    a = make_result()
    b = replace(a, data=replace(a.data, sha256="1" * 64, items=349, label_counts=(1, 2, 3)))
    names = [difference.what for difference in compare(a, b).data]
    assert names == ["Fingerprint (SHA-256)", "Items", "Annotations per label"]
    table = differences_table(compare(a, b).data)
    assert table.loc[1].tolist() == ["Items", "350", "349"]


def test_a_group_that_gains_its_stars() -> None:
    a = _with(make_group(gai=make_outcome(1.1, "up")))
    b = _with(make_group(gai=make_outcome(1.3, "up", "**")))
    [change, dsi] = compare(a, b).changed
    assert (dsi.statistic, dsi.group_b) == ("dsi", change.group)
    assert round(change.value_moved or 0, 9) == 0.2
    assert (change.q_moved or 0) < 0
    assert in_words(compare(a, b)) == (
        "GAI: 1 of 1 group changed significance; the largest move of a value is 0.200.",
        "DSI: 1 of 1 axis changed significance; the largest move of a value is 0.200.",
    )
    row = changes_table([change]).iloc[0]
    assert row[["group", "axis", "statistic", "a", "b", "significance"]].tolist() == [
        *("Woman", "gender", "GAI"),
        *("1.100 ↑", "1.300 ↑**", "not significant → after correction"),
    ]


def test_a_group_that_turns_round_has_changed_if_it_is_marked() -> None:
    a = _with(make_group(gai=make_outcome(1.3, "up", "*")))
    b = _with(make_group(gai=make_outcome(0.8, "down", "*")))
    assert (
        changes_table(compare(a, b).changed)["significance"].tolist()
        == ["may be luck, in the other direction"] * 2
    )
    a = _with(make_group(gai=make_outcome(1.1, "up")))
    b = _with(make_group(gai=make_outcome(0.9, "down")))
    assert not compare(a, b).changed


def test_not_estimable_moves_nowhere() -> None:
    a = _with(make_group(gai=Outcome(None, reason=said("no pair"))))
    b = _with(make_group(gai=make_outcome(0.9, "down")))
    [change, *_] = compare(a, b).changes
    assert change.value_moved is None
    assert change.q_moved is None
    assert changes_table([change])["moved"].isna().all()
    row = make_group("A", gai=make_outcome(1.0, "up"))
    a = make_result((with_label_use(row, make_label_use({"No": 12.0, "Yes": -9.0}, "**")),))
    b = make_result((with_label_use(row, make_label_use({"Ja": 5.0, "Nein": -20.0}, "*")),))
    (change,) = [change for change in compare(a, b).changes if change.statistic == "label_use"]
    assert change.value_moved is None


def test_groups_and_statistics_of_one_run_only() -> None:
    both = make_group("Man", gai=make_outcome(1, "up"), irr=make_outcome(0, "up"))
    a = make_result((both, make_group("Woman", gai=make_outcome(1, "up"))), statistics=("irr", "gai"))
    b = make_result((both, make_group("X", axis="race", gai=make_outcome(1, "up"))), statistics=("gai",))
    comparison = compare(a, b)
    assert comparison.statistics == ("gai", "dsi")
    assert comparison.only_a == (Group(("gender",), ("Woman",)),)
    assert comparison.only_b == (Group(("race",), ("X",)),)
    assert [change.group.label for change in comparison.changes] == ["Man", "Man"]
    comparison = compare(
        make_result((make_group(irr=make_outcome(0, "up")),), statistics=("irr",)),
        make_result((make_group(xrr=make_outcome(0, "up")),), statistics=("xrr",)),
    )
    assert not comparison.changes
    assert in_words(comparison) == ()
    assert changes_table(comparison.changes).empty
    row = make_group(gai=make_outcome(1, "up"))
    a = replace(row, group=Group(("race", "gender"), ("Asian", "Woman")))
    b = replace(row, group=Group(("gender", "race"), ("Woman", "Asian")))
    comparison = compare(_with(a), _with(b))
    assert [change.statistic for change in comparison.changes] == ["gai", "dsi"]
    assert not comparison.spec


def test_label_use_is_held_by_the_label_that_sets_a_apart() -> None:
    one, other = make_group("A", gai=make_outcome(1.0, "up")), make_group("B", gai=make_outcome(1.0, "up"))
    a = make_result((with_label_use(one, make_label_use({"No": 12.0, "Yes": -9.0}, "**")), other))
    b = make_result((with_label_use(one, make_label_use({"No": 5.0, "Yes": -20.0}, "*")), other))
    comparison = compare(a, b)
    assert comparison.statistics[-2:] == ("label_use", "dsi")
    (change,) = [change for change in comparison.changes if change.statistic == "label_use"]
    assert change.changed_significance
    assert change.value_moved == pytest.approx(-0.07)
    row = changes_table([change]).iloc[0]
    assert (row["statistic"], row["a"], row["b"]) == ("Label use (“No”)", "0.120 ↑**", "0.050 ↑*")
    assert in_words(comparison)[-2] == (
        "Label use: 1 of 1 group changed significance; the largest move of a value is 0.070."
    )
    assert "label_use" not in compare(a, make_result((one, other))).statistics


def test_further_labels_and_the_mean_are_held_without_marks_of_their_own() -> None:
    row = make_group("A", gai=make_outcome(1.0, "up"))
    uses = (
        replace(
            make_label_use({"1": 12.0, "2": -9.0, "3": -3.0}, mark),
            mean=Shift(mean, mean - 0.1, mean + 0.1, p=0.01),
        )
        for mark, mean in (("**", -0.2), ("", 0.1))
    )
    a, b = (make_result((with_label_use(row, use),)) for use in uses)
    comparison = compare(a, b)
    table = changes_table(comparison.changes).set_index("statistic")
    assert list(table.index[-5:]) == [
        "Label use (“1”)", "Further labels (“2”)", "Further labels (“3”)", "Shift of the mean", "DSI",
    ]  # fmt: skip
    assert table.loc["Shift of the mean", ["a", "b", "significance"]].tolist() == [
        "−0.200", "0.100", "no mark of its own",
    ]  # fmt: skip
    assert table.loc["Shift of the mean", "moved_interval"] == "[0.159, 0.441]"
    assert [change.statistic for change in comparison.changed] == ["label_use"]
    assert "Shift of the mean: the largest move of a value is 0.300." in in_words(comparison)


def test_dsi_is_held_by_whoever_attains_it() -> None:
    low, high = make_outcome(0.9, "down"), make_outcome(1.3, "up", "**")
    a, b = (
        make_result((make_group("Man", gai=one), make_group("Woman", gai=other)), statistics=("gai",))
        for one, other in ((low, high), (high, low))
    )
    (row,) = [
        row for row in changes_table(compare(a, b).changes).to_dict("records") if row["statistic"] == "DSI"
    ]
    assert (row["group"], row["axis"], row["moved"]) == ("Woman → Man", "gender", 0.0)


def test_pairs_are_held_against_each_other_in_either_order() -> None:
    a = with_pairs()
    b = replace(a, pairs=tuple(row.turned() for row in a.pairs[1:]))
    same = changes_table(pairs_compared(a, b))
    assert set(same["pair"]) == {"Asian – White", "Black – White"}
    assert (same["moved"].abs() < 1e-12).all()
    assert list(same.columns) == [
        "pair",
        *(name for name in changes_table(compare(a, a).changes) if name != "group"),
    ]
    quiet = replace(a.pairs[2], statistics=a.pairs[0].statistics)
    other = changes_table(pairs_compared(a, replace(a, pairs=(quiet,)))).set_index("statistic")
    assert other.index.tolist() == [
        *("Label use (“Yes”)", "Further labels (“No”)", "Further labels (“Unsure”)"),
        *("XRR", "Gap of the first", "Gap of the second", "Difference in IRR"),
    ]
    assert other.loc["XRR", "significance"] == "may be luck → not significant"
    assert other.loc["Difference in IRR", "moved"] == pytest.approx(0.13)
    assert changes_table(pairs_compared(with_pairs(), make_result())).empty
    assert changes_table(pairs_compared(make_result(), with_pairs())).empty


def test_slices_are_held_against_each_other_by_value() -> None:
    a = with_slices()
    (topic,) = a.slices
    news, sport = topic.values
    quiet = replace(news, groups=sport.groups)
    found = changes_table(slices_compared(a, replace(a, slices=(replace(topic, values=(quiet,)),))))
    assert found[["slice", "group", "statistic", "significance"]].to_numpy().tolist() == [
        ["topic = news", "Woman", "IRR", "after correction → not significant"],
        ["topic = news", "Woman", "Label use (“No”)", "after correction → not significant"],
    ]
    assert found["moved"].tolist() == pytest.approx([-0.3, 0.13])
    assert changes_table(slices_compared(a, replace(a, slices=(replace(topic, column="kind"),)))).empty
    assert changes_table(slices_compared(a, make_result())).empty


def around(value: float, half: float, stars: str = "", target: Any = "both") -> Outcome:
    interval = Interval(value - half, value + half, target)
    return replace(make_outcome(value, "up", stars), interval=interval)


def of(*groups: GroupResult, annotations: int = 1000) -> RunResult:
    made = make_result(groups, statistics=("irr",))
    return replace(made, data=replace(made.data, annotations=annotations))


def test_ends_of_a_difference_are_put_together_as_those_of_independent_values() -> None:
    """Halves of 3 and 4 make 5; unequal arms are taken from the side that counts (MOVER)."""
    assert difference(around(1, 3), around(2, 4)) == Interval(1 - 5, 1 + 5, "both")
    a = replace(make_outcome(0, "up"), interval=Interval(-3, 5, "both"))
    b = replace(make_outcome(10, "up"), interval=Interval(10 - 12, 10 + 4, "both"))
    assert difference(a, b) == Interval(10 - 13, 10 + 5, "both")


@pytest.mark.parametrize(
    "b", [make_outcome(1, "up"), around(1, 1, target="items"), Outcome(None, interval=Interval(0, 1, "both"))]
)
def test_there_is_no_interval_of_what_cannot_be_held_together(b: Outcome) -> None:
    assert difference(around(1, 1), b) is None
    assert difference(b, around(1, 1)) is None


def test_intervals_of_differences_hold_what_they_are_for() -> None:
    """Two estimates of one value, each with its interval: 95 of 100 differences cover 0, within chance."""
    rng = np.random.default_rng(1)
    before, now = rng.normal(0, 1, 4000), rng.normal(0, 2, 4000)
    found = [
        difference(around(a, 1.959964), around(b, 2 * 1.959964)) for a, b in zip(before, now, strict=True)
    ]
    covered = sum(one is not None and one.low <= 0 <= one.high for one in found)
    assert 0.94 < covered / 4000 < 0.96


def test_what_can_be_noise_is_said_to_be() -> None:
    before = of(make_group(irr=around(0.2, 0.1)))
    found = compare(before, of(make_group(irr=around(0.25, 0.1)), annotations=1200))
    assert found.noise_alone
    assert headline(found) == "Nothing but noise changed: every interval of a difference covers 0."
    assert details(found) == ("Data: annotations 1,000 → 1,200, raters 104 as before, items 350 as before.",)
    marked = compare(before, of(make_group(irr=around(0.25, 0.1, "*"))))
    assert headline(marked).startswith("Nothing but noise changed, though 1 mark changed:")
    assert details(marked)[-1] == "Marked now (may be luck): IRR of Woman (gender)."


def test_what_moved_further_than_noise_is_named_with_its_intervals() -> None:
    before = of(make_group(irr=around(0.2, 0.03, "**")), make_group("Man", irr=around(0.3, 0.03, "*")))
    now = of(make_group(irr=around(0.4, 0.04)), make_group("Man", irr=around(0.3, 0.03, "**")))
    found = compare(before, now)
    assert headline(found).startswith("1 of 2 values moved further than noise explains: the interval of")
    assert details(found)[1:] == (
        "Moved: IRR of Woman (gender) 0.200 [0.170, 0.230] → 0.400 [0.360, 0.440], "
        "difference [0.150, 0.250].",
        "Marked no more: IRR of Woman (gender).",
        "Marked otherwise (may be luck → after correction): IRR of Man (gender).",
    )


def test_many_moves_are_a_line_each_and_marks_one_list() -> None:
    names = [f"Group {number}" for number in range(LISTED + 3)]
    before = of(*(make_group(name, irr=around(0.2, 0.01)) for name in names))
    now = of(*(make_group(name, irr=around(0.4, 0.01, "**")) for name in names))
    told = details(compare(before, now))
    assert sum(one.startswith("Moved: IRR of Group ") for one in told) == LISTED
    assert told[-2] == "Moved: 3 more."
    assert told[-1].startswith("Marked now (after correction): IRR of Group 0 (gender); IRR of Group 1 (")
    assert told[-1].endswith("; and 3 more.")


def test_groups_that_come_and_go_and_another_version() -> None:
    same = make_group(irr=around(0.2, 0.1))
    before = of(same, make_group("Man", irr=around(0.2, 0.1)))
    now = replace(of(same, make_group("X", irr=around(0.2, 0.1))), code_version="9.9")
    found = compare(before, now)
    assert headline(found) == "No value moved further than noise explains, but groups came or went."
    assert details(found)[1:] == (
        "New groups: X (gender).",
        "Groups that are gone: Man (gender).",
        "Another version of GRASP computed it than before.",
    )


def test_without_intervals_nothing_is_claimed() -> None:
    found = compare(of(make_group(irr=make_outcome(0.2, "up"))), of(make_group(irr=make_outcome(0.9, "up"))))
    assert not found.noise_alone
    assert "cannot be said" in headline(found)
    nothing = compare(of(make_group("A", irr=around(0, 1))), of(make_group("B", irr=around(0, 1))))
    assert headline(nothing).startswith("No value is in both results")


def judged(name: str, code: Any, **more: Any) -> GroupResult:
    return replace(make_group(name, irr=around(0.2, 0.1)), verdict=Verdict(code, p=0.01, q=0.04, **more))


def test_verdicts_are_told_before_values() -> None:
    a = of(
        judged("A", "clear"),
        judged("B", "hint"),
        judged("C", "none"),
        judged("D", "clear"),
        judged("E", "none"),
    )
    by = a.groups[3].group
    now = (judged("A", "none"), judged("B", "explained", by=by), judged("C", "none"), judged("D", "clear"))
    found = compare(a, of(*now, judged("E", "none")))
    assert headline(found) == (
        "Two of 5 verdicts changed: A: clear → no difference found; B: may be luck → explained by D."
    )
    assert details(found)[:3] == (
        "As before, clear: D.",
        "As before, no difference found: 2 groups.",
        "Nothing but noise changed: every interval of a difference covers 0.",
    )
    table = verdicts_table(found.verdicts)
    assert table[["gender", "verdict_a", "verdict_b"]].to_numpy().tolist()[:2] == [
        ["A", "clear", "none"],
        ["B", "hint", "explained"],
    ]
    assert table["q_b"].tolist() == [0.04] * 5
    assert headline(compare(a, a)) == "No group's verdict changed."


def test_both_halves_of_an_axis_have_one_verdict() -> None:
    one, other = judged("A", "clear"), judged("B", "clear")
    halves = of(
        *(
            replace(row, verdict=replace(row.verdict, other=half.group))
            for row, half in ((one, other), (other, one))
        )
    )
    none = replace(
        halves, groups=tuple(replace(row, verdict=replace(row.verdict, code="none")) for row in halves.groups)
    )
    assert headline(compare(halves, none)) == "The verdict changed: A and B: clear → no difference found."
    assert details(compare(none, none))[0] == "As before, no difference found: 2 groups."
    assert len(verdicts_table(compare(halves, none).verdicts)) == 2
    assert compare(halves, of(make_group("A", irr=around(0.2, 0.1)))).verdicts == ()
