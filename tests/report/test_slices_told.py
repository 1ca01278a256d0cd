"""What stands out in slices is told in the order of findings, with what to do."""

from dataclasses import replace

from grasp_core.model.result import SliceResult, SlicesResult
from grasp_core.report.slices import first_test, slice_sentences
from tests.results import make_group, make_outcome, make_result


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
    told = first_test(result, found)
    assert told.statistic == "distance"


def test_other_statistics_alone_ask_for_nothing() -> None:
    row = make_group("Woman", xrr=make_outcome(0.4, "up", "**"), gai=make_outcome(1.0, "up"))
    found = SlicesResult("topic", 0, (SliceResult("news", 20, 8, 160, (row,), ()),))
    result = replace(make_result((row,), dsi=(), statistics=("xrr", "gai")), slices=(found,))
    assert not any("What to do" in one.plain for one in slice_sentences(result, found))
