"""Groups by verdict: who is drawn, where marks lie, and what is filled."""

from dataclasses import replace

import pytest

from grasp_core.model.outcome import Interval, Kind, Outcome, Spread, Verdict, VerdictCode
from grasp_core.model.result import GroupResult, RunResult
from grasp_core.report.charts.theme import spec_of, to_svg
from grasp_core.report.charts.verdicts import FILLED, SHOWN, drawn_groups, named_rows, verdict_chart
from tests.report.charts.drawn import datasets
from tests.results import asked, make_group, make_outcome, make_result, saying


def judged(row: GroupResult, code: VerdictCode, *kinds: Kind, p: float = 0.01) -> GroupResult:
    gai = replace(make_outcome(1.4, "up"), interval=Interval(1.1, 1.7, "both"))
    row = replace(row, statistics={**row.statistics, "gai": gai})
    return replace(row, verdict=Verdict(code, kinds, p, p, p, 3.0))


def result_of(*rows: GroupResult, statistics: tuple[str, ...] = ("irr", "gai")) -> RunResult:
    return make_result(tuple(rows), statistics=statistics, dsi=())


def test_each_row_names_its_group_for_the_button_on_it(result: RunResult) -> None:
    assert named_rows(spec_of(verdict_chart(result))) == [
        (one, one) for one in ("whole", "hint", "part", "none")
    ]


@pytest.fixture
def result() -> RunResult:
    by = make_group("whole").group
    part = judged(saying("part", 0.2), "explained", "labels", p=0.002)
    assert part.verdict is not None
    return result_of(
        judged(saying("none", -0.02), "none", p=0.5),
        judged(saying("hint", 0.1), "hint", "labels", p=0.02),
        replace(part, verdict=replace(part.verdict, by=by)),
        judged(saying("whole", 0.3), "clear", "labels", p=0.001),
        judged(make_group("few", raters=4), "hint", "labels", p=0.001),
    )


def test_clear_groups_come_first_and_of_few_raters_only_these_are_drawn(result: RunResult) -> None:
    assert [one.name for one in drawn_groups(result)] == ["whole", "hint", "part", "none"]
    titled = replace(result, groups=(*result.groups, judged(make_group("B", raters=4), "clear", "items")))
    assert [one.name for one in drawn_groups(titled)] == ["whole", "B", "hint", "part", "none"]
    small = result_of(*(replace(row, n_raters=3) for row in titled.groups))  # else there were no chart
    assert {one.name for one in drawn_groups(small)} == {"whole", "B", "few", "hint", "part", "none"}
    for code, drawn in (("none", FILLED), ("hint", SHOWN)):
        many = result_of(*(judged(saying(f"G{place}", 0.1), code, p=0.5) for place in range(12)))
        assert len(drawn_groups(many)) == drawn


def test_verdicts_are_told_in_words_and_filled_dots_are_what_makes_a_group_differ(result: RunResult) -> None:
    drawn = datasets(verdict_chart(result))
    said = {row["group"]: (row["status"], row["said"]) for row in drawn["groups"]}
    assert said == {
        "whole": ("clear", "“unsafe” 30 more"),
        "hint": ("may be luck", "“unsafe” 10 more"),
        "part": ("differs only from whole", "“unsafe” 20 more"),
        "none": ("no difference found", "“unsafe” 2.0 fewer"),
    }
    filled = {row["group"]: row["fill"] == row["colour"] for row in drawn["left"]}
    assert filled == {"whole": True, "hint": False, "part": False, "none": False}
    assert not any(row["fill"] == row["colour"] for row in drawn["right"])


def test_spread_says_which_way_and_what_rounds_to_nothing_is_as_often() -> None:
    rows = [judged(saying("same", -0.0004), "none", p=0.9)]
    for name, ratio in (("wide", 2.0), ("close", 0.5)):
        row = judged(saying(name, 0.1), "hint", "spread", p=0.02)
        assert row.verdict is not None
        rows.append(replace(row, verdict=replace(row.verdict, spread=Spread(ratio, 0.02))))
    rows.append(judged(saying("own", 0.1), "hint", "cohesion", p=0.02))
    drawn = datasets(verdict_chart(result_of(*rows)))
    said = {row["group"]: row["said"] for row in drawn["groups"]}
    assert said == {
        **{"wide": "vary more", "close": "vary less", "own": "agree more"},
        "same": "“unsafe” as often",
    }


def test_of_long_names_the_amount_is_not_cut() -> None:
    one, two = (judged(saying(name, x), "clear", "labels") for name, x in (("women", 0.1), ("others", -0.1)))
    both = (replace(one, verdict=replace(one.verdict, other=two.group)), replace(two, verdict=None))
    (row,) = datasets(verdict_chart(result_of(*both)))["groups"]
    assert row["said"] == "women: 10 more “unsafe”"


def test_scales_are_shared_and_marks_stay_inside_them(result: RunResult) -> None:
    for narrow in (False, True):
        drawn = datasets(verdict_chart(result, narrow=narrow))
        places = {row["group"]: row for row in drawn["left"]}
        same = next(tick["x"] for tick in drawn["left-ticks"] if tick["same"])
        assert places["hint"]["x"] - same == pytest.approx((places["whole"]["x"] - same) / 3)
        assert [tick["text"] for tick in drawn["left-ticks"]] == ["30 fewer", "same", "30 more"]
        ends = [row[key] for row in drawn["left"] for key in ("low", "x", "high")]
        assert 0 <= min(ends) <= max(ends) <= 1


def test_an_interval_that_is_cut_has_an_arrow() -> None:
    row = saying("far", 0.01)
    shift = replace(row.label_use.labels["unsafe"], value=0.01, low=-0.2, high=0.02)
    labels = {**row.label_use.labels, "unsafe": shift}
    far = replace(row, label_use=replace(row.label_use, labels=labels))
    chart = verdict_chart(result_of(judged(far, "none")))
    (drawn,) = datasets(chart)["left"]
    assert (drawn["cut_low"], drawn["cut_high"]) == (True, False)
    assert "triangle-left" in chart.to_json()
    assert "triangle-right" not in chart.to_json()


def test_a_scale_of_numbers_shows_its_mean_and_other_statistics_no_cohesion() -> None:
    row = judged(saying("Woman", 0.2), "clear", "labels")
    mean = replace(row.label_use.labels["unsafe"], value=-0.43, low=-0.6, high=-0.2)
    result = result_of(replace(row, label_use=replace(row.label_use, mean=mean)), statistics=("irr",))
    drawn = datasets(verdict_chart(asked(result, level="interval")))
    assert drawn["groups"][0]["said"] == "0.43 lower"
    assert [tick["text"] for tick in drawn["left-ticks"]] == ["0.5 lower", "same", "0.5 higher"]
    assert "right" not in drawn


def test_what_is_explained_by_several_says_how_many_and_no_ratio_of_little_is_drawn() -> None:
    rows = [judged(saying(name, 0.2), "clear", "labels", p=p) for name, p in (("one", 0.001), ("two", 0.002))]
    part = judged(saying("part", 0.2), "explained", "labels", p=0.003)
    rows.append(replace(part, verdict=replace(part.verdict, by=rows[1].group)))
    rows = [
        replace(row, statistics={**row.statistics, "gap": make_outcome(0.1 * place, "up")})
        for place, row in enumerate(rows)
    ]
    known = ("irr", "gai", "gap")
    drawn = datasets(verdict_chart(result_of(*rows, statistics=known)))
    assert {row["group"]: row["status"] for row in drawn["groups"]}["part"] == "differs only from 2 others"
    assert [row["value"] for row in drawn["right"]] == ["1.400"] * 3
    for gai in (make_outcome(17.2, "up"), Outcome(None, reason="XRR")):
        near = replace(rows[0], statistics={**rows[0].statistics, "gai": gai})
        drawn = datasets(verdict_chart(result_of(near, *rows[1:], statistics=known)))
        assert [row["value"] for row in drawn["right"]] == ["0.000", "0.100", "0.200"]


def test_ordered_labels_show_their_mean_in_steps_of_the_scale() -> None:
    row = judged(saying("Woman", 0.2), "clear", "labels")
    labels = {name: row.label_use.labels[name] for name in ("safe", "unsafe")}
    ordered = replace(row.label_use, labels=labels)
    ranks = replace(row.label_use.labels["unsafe"], value=0.1, low=0.0, high=0.15)
    result = result_of(replace(row, label_use=replace(ordered, mean=ranks)))
    result = asked(result, level="ordinal")
    drawn = datasets(verdict_chart(result))
    assert drawn["groups"][0]["said"] == "0.20 higher"
    assert drawn["left-heading"][0]["text"] == "Difference of the average in steps"
    (left,) = drawn["left"]
    same = next(tick["x"] for tick in drawn["left-ticks"] if tick["same"])
    assert left["low"] == pytest.approx(same)
    assert left["high"] - same == pytest.approx(1.5 * (left["x"] - same))
    assert left["interval"] == "[0.000, 0.300]"
    down = replace(ranks, value=-0.01)  # ranks and steps say opposite things: the label is told
    opposed = replace(result.groups[0], label_use=replace(ordered, mean=down))
    opposed_result = replace(result, groups=(opposed,))
    assert datasets(verdict_chart(opposed_result))["groups"][0]["said"] == "“unsafe” 20 more"
    by_luck = replace(opposed.label_use, significance="none")
    data = replace(result.data, categories=("safe", "unsafe"), label_counts=(300, 100))
    near = replace(opposed_result, data=data, groups=(replace(opposed, label_use=by_luck),))
    drawn = datasets(verdict_chart(near))
    assert drawn["groups"][0]["said"] == "0.20 higher"
    # A rank is 2 steps between two labels: from -0.01 the ends lie 0.02 and 0.32 higher.
    assert drawn["left"][0]["interval"] == "[0.220, 0.520]"


def test_the_description_tells_every_group_and_it_draws(result: RunResult) -> None:
    chart = verdict_chart(result, "dark")
    assert chart.to_dict()["description"].startswith(
        "Groups by verdict. whole: clear, “unsafe” 30 more; hint:"
    )
    assert b"differs only from whole" in to_svg(chart).encode()
    untested = result_of(replace(make_group("A"), verdict=Verdict("untestable", why="few-raters")))
    assert datasets(verdict_chart(untested))["message"]
