from dataclasses import replace

import numpy as np
import pytest

from grasp_core.model.outcome import Histogram, LabelUse, Shift, Spread, Verdict
from grasp_core.report.findings.answer import answer
from grasp_core.report.findings.selection import evidence, findings, named_groups, nearest, strongest_pair
from grasp_core.report.words.label_use import centre, spread
from tests.results import judged, label_use, make_group, make_outcome, make_pair, make_result, saying


def result_of(*rows):
    return make_result(tuple(rows), statistics=("irr", "gai"), dsi=())


def test_a_shift_is_told_with_label_direction_size_and_interval():
    (more,) = findings(result_of(saying("Woman", 0.112)))
    assert more.backed.plain == (
        "Woman raters (n = 14) say “unsafe” 11 points more often than the others on the same items [5, 17], "
        "p = 0.002, q = 0.010."
    )
    (less,) = findings(result_of(saying("Man", -0.112)))
    assert less.backed.plain == (
        "Man raters (n = 14) say “safe” 11 points more often than the others on the same items [5, 17], "
        "p = 0.002, q = 0.010."
    )
    assert less.tested_sentence.plain.endswith("[5, 17]; p = 0.002, q = 0.010: after correction.")
    assert less.tested == "p = 0.002, q = 0.010: after correction"


@pytest.mark.parametrize(
    ("way", "said"),
    [
        ("down", "have a majority answer that differs from the others' more often"),
        ("up", "have the same majority answer as the others more often"),
    ],
)
def test_voting_agreement_is_told_by_the_majority_answer(way, said):
    row = make_group("Woman", raters=14, voting_agreement=make_outcome(0.3, way, "**"))
    told = next(one for one in evidence(row, "Woman") if one.what == "voting_agreement").tested_sentence.plain
    assert told.startswith(f"These 14 raters {said} than random groups of their size would: Voting agreement")


def test_label_use_comes_before_statistics_and_these_are_told_beside_it():
    row = saying("Woman", 0.2, gai=make_outcome(1.3, "up", "**"), irr=make_outcome(0.3, "up", "*"))
    (found,) = findings(result_of(row))
    assert (found.what, [one.what for one in found.further]) == ("label_use", ["gai"])
    assert found.backed.plain.endswith("; after correction also ↑ GAI 1.300.")


def test_what_holds_comes_first_then_what_people_ask_then_size():
    rows = (
        make_group("gai", gai=make_outcome(1.3, "up", "**")),
        saying("nominal", 0.5, "nominal"),
        saying("small", 0.1),
        saying("large", -0.2),
        make_group("irr", irr=make_outcome(0.1, "down", "**"), gai=make_outcome(1.0, "up")),
    )
    result = result_of(*rows)
    assert [one.name for one in findings(result)] == ["large", "small", "gai"]
    assert [one.name for one in nearest(result)] == ["nominal"]


def halves(value=0.064, significance="none", distance=0.011, mark="**", **own):
    """Women and men, each all the other is held against; of women something may hold besides."""
    between = {"distance": make_outcome(distance, "up", mark), "xrr": make_outcome(0.126, "down", "**")}
    women = replace(
        make_group("Woman", raters=57, **own, **between), label_use=label_use(value, significance)
    )
    men = replace(make_group("Man", raters=47, **between), label_use=label_use(-value, significance))
    return men, women


def test_both_halves_of_an_axis_are_one_finding():
    result = result_of(*halves(gai=make_outcome(1.2, "up", "**")))
    (found,) = findings(result)
    assert found.names == ("Woman", "Man")
    assert found.backed.plain.startswith(
        "Woman and Man raters (n = 57 and 47) differ from each other: they differ on the same items more "
        "than random groups of their size would: Distance 0.011, p < 0.001, q < 0.001; after correction also "
    )
    assert "GAI 1.200 of Woman" in found.backed.plain
    assert found.backed.plain.count("XRR") == 1


def test_two_halves_are_told_from_the_side_that_says_a_label_more_often():
    (found,) = findings(result_of(*halves(-0.2, "corrected")))
    assert found.backed.plain.startswith(
        "Man and Woman raters (n = 47 and 57) differ from each other: Man raters say “unsafe” 20 points more "
        "often than Woman raters on the same items [14, 26]"
    )
    men, women = (
        replace(row, statistics={"distance": row.statistics["distance"], "gai": make_outcome(1.0, "up")})
        for row in halves(mark="*")
    )
    assert [one.names for one in nearest(result_of(men, women))] == [("Woman", "Man")]


def test_halves_that_differ_in_other_things_are_told_apart():
    men, women = halves()
    women = replace(women, statistics={**women.statistics, "distance": make_outcome(0.012, "up", "**")})
    assert [one.names for one in findings(result_of(men, women))] == [("Man",), ("Woman",)]
    men, women = halves(mark="", gai=make_outcome(1.2, "up", "**"))
    (found,) = findings(result_of(men, women))
    assert (found.names, found.what) == (("Woman",), "gai")


def test_a_finding_by_distance_tells_the_direction_without_a_second_p():
    row = replace(
        make_group("White", raters=25, distance=make_outcome(0.027, "up", "**")),
        label_use=label_use(0.12, "nominal", sd=0.045, label="No"),
    )
    result = result_of(row, make_group("Black"))
    (found,) = findings(result)
    told = "; they say “No” 12 points more often than the others on the same items [3, 21], which may be luck"
    assert found.backed.plain.endswith(f"Distance 0.027, p < 0.001, q < 0.001{told}.")


def test_evidence_leaves_out_what_has_no_value_and_names_tell_groups_apart():
    row = replace(
        make_group("Woman", irr=make_outcome(0.1, "up")), label_use=LabelUse({"a": Shift(None)}, most=None)
    )
    assert [one.what for one in evidence(row, "Woman")] == ["irr"]
    result = make_result((make_group("A", "x"), make_group("A", "y")), dsi=())
    assert list(named_groups(result)) == ["A (x)", "A (y)"]


def test_moments_of_a_histogram_are_those_of_its_values():
    values = np.random.default_rng(1).normal(0.2, 0.05, 50_000)
    counts, edges = np.histogram(values, 60)
    null = Histogram(float(edges[0]), float(edges[-1]), tuple(int(one) for one in counts))
    assert centre(null) == pytest.approx(values.mean(), abs=1e-3)
    assert spread(null) == pytest.approx(values.std(), rel=0.01)


def test_findings_are_the_clear_verdicts_whatever_single_statistics_say():
    """A mark of one statistic makes no finding, and a clear group needs none."""
    clear = judged(saying("Woman", 0.2, "nominal", gai=make_outcome(1.3, "up", "**")), "clear", "labels")
    marked = judged(saying("Man", -0.2), "none")
    result = result_of(clear, marked)
    (found,) = findings(result)
    assert (found.name, found.what, found.further) == ("Woman", "label_use", ())
    assert found.tested == "all tests together p < 0.001, q = 0.006: clear"
    assert nearest(result) == ()


def test_what_is_told_of_a_clear_group_is_its_kinds():
    row = saying("Woman", 0.2, gai=make_outcome(0.6, "down"), distance=make_outcome(0.03, "up", "**"))
    (both,) = findings(result_of(judged(row, "clear", "labels", "cohesion")))
    assert [both.what, *(one.what for one in both.further)] == ["label_use", "gai"]
    (items,) = findings(result_of(judged(row, "clear", "items")))
    assert (items.what, items.outcome.significance) == ("distance", "corrected")
    (spread_out,) = findings(result_of(judged(row, "clear", "spread", spread=Spread(2.4, 0.004))))
    assert (spread_out.what, spread_out.value) == ("spread", 2.4)
    (vague,) = findings(result_of(judged(row, "clear")))
    assert vague.vague
    assert "in which way cannot be told" in vague.backed.plain


@pytest.mark.parametrize(("gai", "told"), [(4.9, "gai"), (5.1, "gap"), (-30.0, "gap")])
def test_a_ratio_to_hardly_anything_gives_way_to_the_gap(gai, told):
    row = saying("Woman", 0.0, gai=make_outcome(gai, "up"), gap=make_outcome(0.1, "up"))
    (found,) = findings(result_of(judged(row, "clear", "cohesion")))
    assert found.what == told
    (alone,) = findings(
        result_of(judged(saying("Woman", 0.0, gai=make_outcome(gai, "up")), "clear", "cohesion"))
    )
    assert alone.what == "gai"


def test_the_two_halves_of_an_axis_are_one_finding_of_any_kind():
    men, women = halves(gai=make_outcome(1.2, "up", "**"))
    for kinds, what in ((("items",), "distance"), (("cohesion",), "gai"), ((), "distance")):
        rows = [judged(one, "clear", *kinds, other=two.group) for one, two in ((men, women), (women, men))]
        (found,) = findings(result_of(*rows))
        assert {*found.names} == {"Man", "Woman"}
        assert found.what == what or found.vague
        assert "differ" in found.backed.plain


def test_two_groups_make_the_headline_only_where_none_is_clear_and_half_the_level_holds():
    a, b = (replace(saying(name, 0.1), verdict=Verdict("none", p=0.4, q=0.9, bound=0.9)) for name in "AB")
    pair = make_pair("A", "B")
    for q, code, holds in ((0.01, "clear", True), (0.03, "clear", False), (0.01, "hint", False)):
        verdict = Verdict(code, ("items",), 0.001, q, q + 0.002, 4.0)
        result = replace(result_of(a, b), pairs=(replace(pair, verdict=verdict),))
        assert (strongest_pair(result) is not None) is holds
        assert (answer(result).headline.plain == "A and B raters answer the same items differently") is holds
        other = replace(result, groups=(judged(a, "clear", "labels"), b))
        assert strongest_pair(other) is None
