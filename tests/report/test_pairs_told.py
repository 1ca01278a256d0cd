import io
import re
from dataclasses import replace
from html import unescape

import openpyxl
import pytest

from grasp_core.model.outcome import PAIR_STATISTICS, Interval, Kind, Outcome, Shift, Verdict
from grasp_core.model.remarks.reasons import NoValue
from grasp_core.model.result import RunResult, SliceResult, SlicesResult
from grasp_core.notebook.results import Analysis
from grasp_core.report import slices
from grasp_core.report.document import PAIRS, pairs_in_numbers, pairs_in_words, pairs_tested
from grasp_core.report.pairs import foremost_pairs, measures, most_told, pair_sentences, seen_from, told_first
from grasp_core.report.public_view import public_view
from grasp_core.report.slices import slice_sentences
from grasp_core.report.tables import numbers
from grasp_core.report.words.names import PAIR_NAMES, what_is_provisional
from grasp_core.report.writers._html_page import report_html
from grasp_core.report.writers.latex import table_latex
from grasp_core.report.writers.markdown import table_markdown
from grasp_core.report.writers.spreadsheet import table_xlsx
from tests.results import make_group, make_label_use, make_outcome, make_pair, make_result, with_pairs


@pytest.fixture
def result() -> RunResult:
    return with_pairs()


def test_a_pair_is_told_by_size_before_significance(result: RunResult) -> None:
    assert tuple(PAIR_NAMES) == tuple(PAIR_STATISTICS)
    first, *further = (sentence.plain for sentence in pair_sentences(result.pairs[2], result))
    assert first.startswith(
        "Black raters say “Yes” 14 points more often than White raters on the same items [6, 22]; p"
    )
    assert [line.split(":")[0] for line in further] == [
        "Black and White raters agree across the two groups less than random halves of them would",
        "Black raters agree with each other less than White raters do",
    ]


def apart(mark: str, **outcomes: Outcome) -> RunResult:
    """One pair, apart by distance after correction, whose label use has this mark."""
    use = replace(make_label_use({"Yes": 14.2, "No": -14.2}, mark), p=0.03, q=0.12)
    far = make_outcome(0.1, "up", "**")
    return replace(make_result(), pairs=(make_pair("Black", "White", use=use, distance=far, **outcomes),))


def test_a_distance_names_the_label_that_goes_with_it() -> None:
    result = apart("*")
    differ = "Black and White raters label the same items differently: distance 0.100; p < 0.001, q < 0.001"
    told = (
        f"{differ}; Black raters say “Yes” 14 points more often than White raters on the same items [6, 22], "
        "which may be luck."
    )
    assert [sentence.plain for sentence in most_told(result, 5)] == [told]
    assert pair_sentences(result.pairs[0], result)[0].plain == told
    turned = pair_sentences(result.pairs[0].turned(), result)[0].plain
    assert "; White raters say “No” 14 points more often than Black raters on" in turned
    unmarked = apart("")
    assert [sentence.plain for sentence in most_told(unmarked, 5)] == [f"{differ}."]


def judged(mark: str, *kinds: Kind, far: str = "") -> RunResult:
    """One pair, clear by all tests together, whose label use and distance have these marks of their own."""
    use = replace(make_label_use({"Yes": 14.2, "No": -14.2}, mark), p=0.03, q=0.12)
    pair = make_pair("Black", "White", use=use, distance=make_outcome(0.1, "up", far))
    clear = replace(pair, verdict=Verdict("clear", kinds, 0.0004, 0.003, 0.004, 3.0))
    return replace(make_result(), pairs=(clear,))


@pytest.mark.parametrize("kinds", [(), ("labels",)])
def test_a_label_leads_only_where_its_own_test_holds(kinds: tuple[Kind, ...]) -> None:
    says = "Black raters say “Yes” 14 points more often than White raters on the same items [6, 22]"
    tests = "all tests together p < 0.001, q = 0.003"
    (held,) = most_told(judged("**", "labels"), 5)
    assert held.plain == f"{says}; {tests}."
    (hint,) = most_told(judged("*", *kinds, far="**" if not kinds else ""), 5)
    assert hint.plain.startswith(
        ("Black and White raters answer the same items differently; ", "Black and White raters label")
    )
    assert hint.plain.endswith(f"; {tests}; {says}, which may be luck.")
    (plain,) = most_told(judged("", "labels"), 5)
    assert plain.plain == f"Black and White raters answer the same items differently; {tests}."
    assert told_first(judged("*", "labels").pairs[0]) == "distance"


def test_the_label_is_told_once() -> None:
    across = make_outcome(0.2, "down", "**")
    for mark in ("**", "*"):
        result = apart(mark, xrr=across)
        said = [sentence.plain for sentence in pair_sentences(result.pairs[0], result)]
        assert len(said) == 3
        assert sum("say “Yes”" in one for one in said[:2]) == 1
    unmarked = apart("", xrr=across)
    plain = [sentence.plain for sentence in pair_sentences(unmarked.pairs[0], unmarked)]
    assert not any("say “Yes”" in one for one in plain)


def test_every_door_tells_pairs() -> None:
    result = apart("*")
    words = "more often than White raters on the same items"
    tex = table_latex(result)
    assert words in tex[tex.index("tab:grasp-pairs") :]
    sheet = openpyxl.load_workbook(io.BytesIO(table_xlsx(result)))["Answer"]
    assert any(words in str(row[1]) for row in sheet.iter_rows(values_only=True) if row[0] == "Pairs")
    assert words in Analysis(result).answer()
    assert words in table_markdown(result).replace("**", "")
    assert words in unescape(re.sub("<[^>]*>", "", report_html(result)))
    assert words in unescape(re.sub("<[^>]*>", "", Analysis(result)._repr_html_()))


def test_seen_from_the_other_side_everything_turns(result: RunResult) -> None:
    row = result.pairs[2]
    turned = row.turned()
    assert (turned.a, turned.b, turned.n_raters_a, turned.n_raters_b) == (row.b, row.a, 10, 9)
    said = pair_sentences(turned, result)[0].plain
    assert said.startswith(
        "White raters say “No” 14 points more often than Black raters on the same items [6, 22]; p"
    )
    assert turned.statistics["gap_a"] == row.statistics["gap_b"]
    assert turned.statistics["xrr"] == row.statistics["xrr"]
    other = turned.statistics["irr_difference"]
    own = row.statistics["irr_difference"]
    assert (other.value, other.direction, other.p) == (0.1, "up", own.p)
    assert (other.null.low, other.null.high) == (-own.null.high, -own.null.low)
    assert turned.turned() == row
    row = make_pair("a", "b", gai_difference=Outcome(0.2, p=0.5, q=0.5, interval=Interval(-0.1, 0.5, "both")))
    assert row.turned().statistics["gai_difference"].interval == Interval(-0.5, 0.1, "both")


def test_where_nothing_is_marked_that_is_said(result: RunResult) -> None:
    (only,) = pair_sentences(result.pairs[0], result)
    assert only.plain.startswith("Nothing between the two is found")
    none = replace(result, pairs=result.pairs[:2])
    (told,) = most_told(none, 5)
    assert told.plain == "No two groups of an axis differ for certain."


def test_the_strongest_pairs_come_first_and_the_rest_is_counted(result: RunResult) -> None:
    weaker = make_pair("Latine", "White", gap_a=make_outcome(0.2, "up", "**"))
    both = replace(result, pairs=(weaker, *result.pairs))
    assert len(foremost_pairs(both)) == 2
    told = [one.plain for one in most_told(both, 1)]
    assert told[1] == "One more pair differs, too, more than luck explains."
    black = result.pairs[2].a
    assert [row.b.label for row in foremost_pairs(both, black)] == ["White"]
    assert [row.b.label for row in seen_from(both, result.pairs[2].b)] == ["Latine", "Asian", "Black"]


@pytest.mark.parametrize(("low", "told"), [(-0.01, True), (0.01, False)])
def test_of_a_pair_whose_interval_holds_0_it_is_said_what_is_certain(low: float, told: bool) -> None:
    far = replace(make_outcome(0.1, "up", "**"), interval=Interval(low, 0.3, "both"))
    said = most_told(replace(make_result(), pairs=(make_pair("a", "b", distance=far),)), 5)
    assert said[-1].plain.startswith("Where brackets hold 0: these raters do differ") is told


def test_the_measure_that_is_shown_first_is_that_of_the_first_sentence(result: RunResult) -> None:
    assert told_first(result.pairs[2]) == "label: Yes"
    assert told_first(result.pairs[2].turned()) == "label: No"
    apart, across = make_outcome(0.1, "up", "**"), make_outcome(0.2, "down", "**")
    assert told_first(make_pair("a", "b", xrr=across, gap_b=make_outcome(0.1, "up", "*"))) == "xrr"
    assert told_first(make_pair("a", "b", gap_b=apart)) == "gap_a"
    unmarked = make_pair("a", "b", xrr=make_outcome(0.2, "up"), distance=make_outcome(0.1, "up"))
    assert told_first(unmarked) == "distance"
    assert told_first(make_pair("a", "b", xrr=make_outcome(0.2, "up"))) is None


def test_tables_have_every_pair_and_measure(result: RunResult) -> None:
    told = measures(result)
    assert list(told) == [
        *("label: No", "label: Yes", "label: Unsure", "label_use"),
        *("gap_a", "xrr", "irr_difference"),
    ]
    table = numbers(PAIRS, pairs_tested(result))
    assert len(table) == 3 * 8
    assert not (table["q"] < table["p"]).any()
    yes = table[(table["second"] == "White") & (table["first"] == "Black") & (table["statistic"] == "“Yes”")]
    assert (yes["value"].item(), yes["low"].item()) == (pytest.approx(14.2), pytest.approx(6.2))
    assert yes[["p", "q"]].isna().all(axis=None)  # the test is of all labels together
    assert yes["stars"].item() == ""
    together = table[(table["second"] == "White") & (table["statistic"] == "Label use")]
    assert together["stars"].tolist() == ["", "**"]
    of_white = seen_from(result, result.pairs[2].b)
    texts = pairs_in_numbers(result, of_white, told["label: Yes"])
    assert texts["First"].tolist() == ["White", "White"]
    assert texts["Second"].tolist() == ["Asian", "Black"]
    assert texts["Value"].tolist() == ["+1.5", "−14.2"]
    assert texts["p"].tolist() == ["of all labels"] * 2
    texts = pairs_in_numbers(result, of_white, told["label_use"])
    assert texts["q"].tolist() == ["1.000", "< 0.001 **"]
    assert pairs_in_words(result)["“Yes”"].tolist() == ["−1.5", "−1.5", "+14.2 **"]
    one = pairs_in_numbers(result, result.pairs[2:])
    assert one["Measure"].tolist()[4:6] == ["Gap of Black", "Gap of White"]
    assert one["Value"].tolist()[4:6] == ["0.020", "−0.010"]


def test_while_pairs_are_computed_their_tables_say_so(result: RunResult) -> None:
    begun = make_pair("Asian", "Black", xrr=Outcome(0.1), gap_a=Outcome(None, reason=NoValue.NO_PAIR()))
    later = replace(result, pairs=(begun,), later="pairs")
    told = measures(later)
    assert pairs_in_numbers(later, measure=told["xrr"])["p"].tolist() == ["…"]
    assert pairs_in_numbers(later, measure=told["gap_a"])["p"].tolist() != ["…"]
    assert "pairs are still computed" in what_is_provisional(later)


def test_strangers_see_no_pair_of_a_small_group() -> None:
    result = with_pairs()
    small = make_pair("Asian", "Few", raters=3, xrr=make_outcome(0.1, "up"))
    asked = make_result(min_raters=5)
    shown = public_view(replace(asked, pairs=(*result.pairs, small)))
    assert shown.pairs == result.pairs


def test_the_shift_of_the_mean_is_a_measure_without_a_mark():
    result = with_pairs()
    assert "mean" not in measures(result)
    rows = tuple(
        replace(row, label_use=replace(row.label_use, mean=Shift(0.2, 0.1, 0.3, p=0.004)))
        for row in result.pairs
    )
    told = replace(result, pairs=rows)
    one = pairs_in_numbers(told, rows[2:]).set_index("Measure").loc["Shift of the mean"]
    assert one.tolist()[3:] == ["0.200", "[0.100, 0.300]", "of all labels", "of all labels"]
    assert pairs_in_words(told)["Shift of the mean"].tolist() == ["0.200"] * 3
    table = numbers(PAIRS, pairs_tested(told))
    assert table.loc[table["statistic"] == "Shift of the mean", "value"].tolist() == [0.2] * 3


def test_a_difference_of_gai_beyond_5_is_left_to_the_gaps() -> None:
    far = replace(make_outcome(17.3, "up", "**"), interval=Interval(-30.0, 60.0, "both"))
    row = make_pair("Asian", "Black", gai_difference=far, gap_a=make_outcome(0.02, "up", "*"))
    told = pairs_in_numbers(replace(make_result(), pairs=(row,))).set_index("Measure")
    assert told.loc["Difference in GAI", ["Value", "95 % interval"]].tolist() == ["beyond 5", ""]
    assert not any("GAI" in one.plain for one in pair_sentences(row, make_result()))


def test_a_distance_comes_before_stronger_marks_of_other_statistics_and_says_what_to_do() -> None:
    strong = replace(make_outcome(0.4, "up", "**"), q=0.0001)
    far = replace(make_outcome(0.05, "up", "**"), q=0.04)
    row = make_group("Woman", irr=strong, xrr=strong, distance=far, gai=make_outcome(1.0, "up"))
    found = SlicesResult("topic", 0, (SliceResult("news", 20, 8, 160, (row,), ()),))
    result = make_result((row,), dsi=(), statistics=("irr", "xrr", "gai", "distance"))
    result = replace(result, slices=(found,))
    first, second, third, advice = (one.plain for one in slice_sentences(result, found))
    assert "differ from the others on the same items more" in first
    assert "IRR" in second
    assert "XRR" in third
    assert advice == "What to do: have Woman raters label items of topic = news too."
    assert slices.first_test(result, found).statistic == "distance"


def test_other_statistics_alone_ask_for_nothing() -> None:
    row = make_group("Woman", xrr=make_outcome(0.4, "up", "**"), gai=make_outcome(1.0, "up"))
    found = SlicesResult("topic", 0, (SliceResult("news", 20, 8, 160, (row,), ()),))
    result = replace(make_result((row,), dsi=(), statistics=("xrr", "gai")), slices=(found,))
    assert not any("What to do" in one.plain for one in slice_sentences(result, found))
