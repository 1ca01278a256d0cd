from dataclasses import replace

import pytest

from grasp_core.model.errors import SpecError
from grasp_core.model.outcome import Histogram, Interval, LabelUse, Outcome, Shift
from grasp_core.model.remarks.remark import said
from grasp_core.report.charts.forest import label_use_chart
from grasp_core.report.charts.histograms import group_histograms, null_histograms, pair_histograms
from grasp_core.report.charts.rows import quantile, shared_domain
from grasp_core.report.charts.theme import spec_of
from grasp_core.report.tables import not_drawn
from tests.report.charts.drawn import datasets, encodings
from tests.results import (
    make_group,
    make_label_use,
    make_outcome,
    make_result,
    normal_histogram,
    saying,
    so_far,
    with_label_use,
    with_pairs,
    without_gai,
)


def test_values_p_and_q_are_shown_as_text():
    rows = {row["group"]: row for row in datasets(null_histograms(make_result(), "gai"))["rows"]}
    row = rows["Asian, Woman"]
    assert (row["value"], row["p"], row["q"]) == ("0.540 ↓", "0.021", "0.086")
    assert row["figures"] == "0.540 ↓ p 0.021, q 0.086 *"
    assert (row["x"], row["raters"], row["axis"]) == (0.54, 10, "race × gender")
    assert row["significance"] == "may be luck"
    assert rows["White, Man"]["p"] == "< 0.001"
    assert rows["White, Man"]["figures"].endswith(" **")
    assert not rows["Man"]["figures"].endswith("*")


def test_histogram_outlines_follow_the_counts_within_their_row():
    null = Histogram(0.0, 3.0, (1, 4, 2))
    row = make_group(irr=replace(make_outcome(1.0, "up", "*"), null=null))
    (drawn,) = datasets(null_histograms(make_result((row,), statistics=("irr",)), "irr"))["nulls"]
    heights = [drawn["base"] - top for top in drawn["top"]]
    assert drawn["x"] == [0, 1, 2, 3]
    assert [height / heights[1] for height in heights] == pytest.approx([0.25, 1, 0.5, 0], abs=1e-3)
    assert drawn["significance"] == "may be luck"
    for drawn in datasets(null_histograms(make_result(), "irr"))["nulls"]:
        assert all(drawn["row"] <= top <= drawn["base"] <= drawn["row"] + 44 for top in drawn["top"])


def test_every_group_is_drawn_with_headings_only_in_axis_order():
    result = make_result()
    by_axis = datasets(null_histograms(result, "gai", "dark"))
    assert [row["group"] for row in by_axis["rows"]] == [row.group.label for row in result.groups]
    assert [len(row["x"]) for row in by_axis["nulls"]] == [61] * 20
    assert [row["text"] for row in by_axis["headings"]] == ["age", "gender", "race", "race × gender"]
    by_q = datasets(null_histograms(make_result(), "irr", order="q"))
    assert by_q["headings"] == []
    assert by_q["rows"][0]["group"] == "White, Man"


def test_a_group_that_cannot_be_estimated_keeps_its_row_with_the_reason():
    rows = list(make_result().groups)
    rows[4] = without_gai(rows[4], "XRR is not above 0")
    chart = null_histograms(make_result(tuple(rows)), "gai")
    found = datasets(chart)
    row = found["rows"][4]
    assert row["verdict"] == "not estimable: XRR is not above 0"
    assert (row["x"], row["figures"], row["p"], row["q"]) == (None, "not estimable", "", "")
    assert len(found["nulls"]) == 19


def test_a_value_without_a_null_is_drawn_and_said_to_be_untested():
    outcome = Outcome(0.4, null_n=12, direction="up", reason=None)
    row = make_group(irr=outcome)
    found = datasets(null_histograms(make_result((row,), statistics=("irr",)), "irr"))
    assert found["nulls"] == []
    assert (found["rows"][0]["x"], found["rows"][0]["figures"]) == (0.4, "0.400 ↑ p not tested")


def test_one_wild_group_does_not_squash_the_others():
    rows = [make_group(f"G{n}", gai=make_outcome(1 + n / 50, "up", sd=0.1)) for n in range(8)]
    rows.append(make_group("wild", gai=make_outcome(900.0, "up", "**", sd=200.0)))
    found = datasets(null_histograms(make_result(tuple(rows), statistics=("gai",)), "gai"))
    wild = found["rows"][-1]
    assert wild["x"] < 10
    assert wild["value"] == "900.000 ↑"
    assert wild["named"] == "wild (12), beyond the axis"


def test_histograms_share_a_domain_and_quantiles_come_from_counts():
    outcomes = [row.statistics["gai"] for row in make_result().groups]
    low, high = shared_domain(outcomes)
    assert all(low < outcome.value < high for outcome in outcomes)
    assert shared_domain([Outcome(0.3)]) == pytest.approx((0.285, 0.315))
    assert shared_domain([Outcome(None)]) == (0, 1)
    assert quantile(Histogram(0.0, 4.0, (1, 1, 1, 1)), 0.5) == 2
    assert quantile(Histogram(0.0, 4.0, (0, 2, 2, 0)), 0.25) == 1.5
    null = normal_histogram(1.0, 0.1, total=1_000_000)
    assert quantile(null, 0.975) == pytest.approx(1.196, abs=0.002)


@pytest.mark.parametrize("count", [1, 100])
def test_any_number_of_groups(count):
    groups = tuple(
        make_group(f"A rather long name of a group, number {n}", irr=make_outcome(n / 100, "up", raters_sd))
        for n, raters_sd in zip(range(count), ["", "*", "**"] * count, strict=False)
    )
    chart = null_histograms(make_result(groups, statistics=("irr",)), "irr")
    assert len(datasets(chart)["rows"]) == count
    assert spec_of(chart)["height"] == 44 * count + 26  # groups, one axis's heading


def test_no_group_at_all_says_so():
    assert datasets(null_histograms(make_result(()), "irr"))["message"] == [
        {"text": "There is no group to show."}
    ]


def test_groups_of_few_raters_are_listed_and_not_drawn():
    few, enough = (
        make_group(name, raters=n, irr=make_outcome(0.2, "up")) for name, n in (("A", 4), ("B", 5))
    )
    result = make_result((few, enough), statistics=("irr",))
    chart = null_histograms(result, "irr")
    assert [row["group"] for row in datasets(chart)["rows"]] == ["B"]
    told = "Not drawn, of fewer than 5 raters: A (4); all numbers stand in the tables."
    assert not_drawn(result.groups) == told
    assert spec_of(chart)["description"].endswith(told)
    alone = make_result((few,), statistics=("irr",))  # else nothing would be drawn
    assert [row["group"] for row in datasets(null_histograms(alone, "irr"))["rows"]] == ["A"]
    assert not_drawn(alone.groups) == ""


def test_label_use_is_drawn_in_points_of_the_label_that_differs_most():
    use = make_label_use({"No": 12.0, "Yes": -9.0}, "**")
    null = normal_histogram(0.0, 0.04)
    use = replace(use, labels={**use.labels, "No": replace(use.labels["No"], null=null)})
    rows = (with_label_use(make_group("A"), use), make_group("B"))
    chart = null_histograms(make_result(rows, dsi=()), "label_use")
    first, without = datasets(chart)["rows"]
    assert (first["group"], first["x"], first["value"]) == ("A: “No”", pytest.approx(12), "+12.0 ↑")
    assert first["interval"] == "[+4.0, +20.0]"
    assert (without["group"], without["x"]) == ("B", None)
    assert max(datasets(chart)["nulls"][0]["x"]) == pytest.approx(100 * null.high)
    assert "A: “No” +12.0 [+4.0, +20.0], after correction" in spec_of(chart)["description"]


def test_each_group_may_have_an_axis_of_its_own():
    wide = make_group("wide", gai=make_outcome(900.0, "up", "**", sd=200.0))
    result = make_result((make_group("A", gai=make_outcome(1.0, "up", sd=0.1)), wide), statistics=("gai",))
    chart = null_histograms(result, "gai", own=True)
    rows, nulls = datasets(chart)["rows"], datasets(chart)["nulls"]
    assert [row["value"] for row in rows] == ["1.000 ↑", "900.000 ↑"]
    for row, null in zip(rows, nulls, strict=True):
        assert min(null["x"]) < 0.1 < 0.9 < max([*null["x"], row["x"]])
        assert 0 < row["x"] < 1
    low, high = (float(end.replace("−", "-")) for end in rows[1]["named"].partition(": ")[2].split(" to "))
    assert low < 900 < high
    assert rows[1]["verdict"] == "after correction"


def test_alt_text():
    text = spec_of(null_histograms(make_result(), "gai"))["description"]
    assert text.startswith("Histograms of GAI for 20 groups under shuffled rater profiles")
    assert "; White, Man 1.262, after correction; " in text
    assert "; Asian, Woman 0.540, may be luck; " in text
    row = make_group(gai=Outcome(None, reason=said("no shared items")))
    text = spec_of(null_histograms(make_result((row,), statistics=("gai",)), "gai"))["description"]
    assert text.endswith("Not estimable: Woman.")


def test_wrong_arguments():
    with pytest.raises(ValueError, match=r"`statistic` must be one of irr, .*; found 'kappa'"):
        null_histograms(make_result(), "kappa")
    with pytest.raises(ValueError, match="`theme` must be light or dark; found 'blue'"):
        null_histograms(make_result(), "irr", "blue")
    with pytest.raises(SpecError, match="`order`"):
        null_histograms(make_result(), "irr", order="size")


def test_chart_fits_its_container():
    spec = null_histograms(make_result(), "irr").to_dict()
    assert spec["width"] == "container"
    assert spec["autosize"] == {"type": "fit-x", "contains": "padding"}
    assert isinstance(spec["padding"], dict)  # Streamlit sets padding.bottom and fails on a number


def test_an_interval_is_a_bar_within_the_axis():
    shown = make_group("A", irr=replace(make_outcome(0.2, "up", "*"), interval=Interval(-0.1, 0.5, "both")))
    without = make_group("B", irr=make_outcome(0.1, "up", ""))
    result = make_result((shown, without), statistics=("irr",))
    chart = null_histograms(result, "irr")
    a, b = datasets(chart)["rows"]
    assert (a["low"], a["high"], a["interval"]) == (-0.1, 0.5, "[−0.100, 0.500]")
    assert (b["low"], b["high"], b["interval"]) == (None, None, "")
    low, high = next(x["scale"]["domain"] for x in encodings(chart, "x") if "scale" in x)
    assert low < -0.1
    assert high > 0.5
    assert "bar: its 95 % interval" in " ".join(spec_of(chart)["title"]["subtitle"])
    assert "bar" not in " ".join(spec_of(null_histograms(make_result(), "irr"))["title"]["subtitle"])


def test_a_page_has_its_groups_on_the_axis_of_all():
    groups = tuple(make_group(f"G{n}", irr=make_outcome(n / 100, "up")) for n in range(100))
    result = make_result(groups, statistics=("irr",))
    whole, last = (null_histograms(result, "irr", page=page) for page in (None, 3))
    assert [row["group"] for row in datasets(last)["rows"]] == [f"G{n}" for n in range(80, 100)]
    assert encodings(last, "x")[1]["scale"] == encodings(whole, "x")[1]["scale"]


def test_no_line_of_a_chart_is_wider_than_a_phone():
    """Text beyond the plot's edges would make the plot smaller."""
    spec = null_histograms(make_result(), "voting_agreement").to_dict()
    assert max(map(len, spec["title"]["subtitle"])) <= 60
    assert all("dx" not in mark or mark["dx"] == 0 for mark in _marks_at_left(spec))


def _marks_at_left(spec):
    return [
        layer["mark"]
        for layer in spec["layer"]
        if layer["mark"]["type"] == "text" and layer["encoding"]["x"] == {"value": 0}
    ]


@pytest.fixture
def row():
    return saying("Woman", -0.112, gai=make_outcome(1.3, "up", "*"), irr=make_outcome(0.2, "up"))


def result_of(row):
    return make_result((row,), statistics=("irr", "gai"), dsi=())


def test_all_statistics_of_a_group_are_in_deviations_from_chance(row):
    chart = group_histograms(result_of(row), row)
    drawn = {one["group"]: one for one in datasets(chart)["rows"]}
    assert list(drawn) == ["Label use: “unsafe”", "GAI", "IRR"]
    assert drawn["GAI"]["x"] == pytest.approx(2.3, abs=0.02)  # as tests.results places one star
    assert drawn["GAI"]["value"] == "1.300 ↑"
    assert drawn["Label use: “unsafe”"]["value"] == "−11.2 ↓"
    assert drawn["Label use: “unsafe”"]["interval"] == "[−17.2, −5.2]"
    assert spec_of(chart)["description"].startswith("Histograms of the statistics of Woman")


def test_what_a_group_has_not_is_told():
    row = make_group("Woman")
    assert "No statistic" in datasets(group_histograms(result_of(row), row))["message"][0]["text"]
    row = replace(make_group("Woman"), label_use=LabelUse({"a": Shift(None)}, reason=said("no shared item")))
    assert "no shared item" in datasets(label_use_chart(result_of(row), row))["message"][0]["text"]


def test_where_nothing_is_tested_by_random_groupings_none_are_drawn():
    row = make_group("Woman", irr=Outcome(0.4, reason=said("other items")))
    assert "tested by random" in datasets(group_histograms(result_of(row), row))["message"][0]["text"]
    begun = so_far(result_of(make_group("Woman", irr=Outcome(0.4))), 0)
    assert "rows" in datasets(group_histograms(begun, begun.groups[0]))


def test_a_provisional_axis_stays_while_values_widen_it_a_little(row):
    result = so_far(result_of(row), 200)
    scale = encodings(group_histograms(result, result.groups[0]), "x")[1]["scale"]["domain"]
    assert all(end == pytest.approx(round(end / 0.25) * 0.25) for end in scale)


def test_label_use_has_a_row_per_label_that_differs_most(row):
    chart = label_use_chart(result_of(row), row)
    unsafe, safe = datasets(chart)["rows"]
    assert (unsafe["group"], unsafe["value"], unsafe["interval"]) == ("unsafe", "−11.2", "[−17.2, −5.2]")
    assert [round(unsafe[end], 9) for end in ("x", "low", "high")] == [-11.2, -17.2, -5.2]
    assert (safe["value"], safe["significance"]) == ("+11.2", "after correction")
    assert spec_of(chart)["title"]["subtitle"][-1] == "All labels together: p = 0.002, q = 0.010."
    assert (
        "unsafe −11.2 [−17.2, −5.2], after correction; safe +11.2 [+5.2, +17.2], after correction."
        in spec_of(chart)["description"]
    )
    shifts = {f"L{n}": Shift((-1) ** n * n / 1000) for n in range(60)}
    row = replace(make_group("Woman"), label_use=LabelUse(shifts, most="L59"))
    drawn = datasets(label_use_chart(result_of(row), row))["rows"]
    assert [one["group"] for one in drawn] == [f"L{n}" for n in range(20, 60)]


def test_a_pairs_xrr_has_no_bar_since_other_items_move_it_most():
    pair = with_pairs().pairs[2]
    spec = pair_histograms(with_pairs(), pair).to_json()
    assert "XRR has no bar here" in spec
    without = replace(pair, statistics={"gap_a": pair.statistics["gap_a"]})
    assert "XRR" not in pair_histograms(with_pairs(), without).to_json()
