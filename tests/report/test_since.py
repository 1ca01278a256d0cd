"""The changes since earlier data: what moved further than noise explains, marks, groups."""

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from grasp_core.model.outcome import Interval, Outcome, Verdict
from grasp_core.model.result import GroupResult, RunResult
from grasp_core.model.text import LISTED
from grasp_core.report.changes import details, headline
from grasp_core.report.comparison import compare, difference, verdicts_table
from tests.results import make_group, make_outcome, make_result


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
