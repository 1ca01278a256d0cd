"""Ways to mend what a run warns of."""

import re
from dataclasses import replace

import pytest

from grasp_core.cli.entry import make_parser
from grasp_core.model.data_spec import DataSpec, Question, Screen
from grasp_core.model.remarks.benchmark import RANKS, may_undo
from grasp_core.model.remarks.cautions import (
    Caution,
    GuardCaution,
    ModelCaution,
    ScreenCaution,
    ShuffleCaution,
)
from grasp_core.model.remarks.problems import DataProblem
from grasp_core.model.remarks.remark import Code, Remark, said
from grasp_core.model.spec import MAX_PERMUTATIONS, AnalysisSpec, ModelSource, RunSpec
from grasp_core.notebook.options import ReadingOptions
from grasp_core.report.findings.mending import SCREEN_OF, mend, ways_back

AXES = (("gender",),)
DATA = DataSpec(item="item", rater="rater", label="label")
FEW = Caution.TOO_FEW_FOR_CORRECTION(permutations=99, tests=400, least=15_999)


@pytest.mark.parametrize(
    ("warning", "before", "after"),
    [
        (FEW, {"permutations": 99}, {"permutations": 15_999}),
        (Caution.TOO_FEW_FOR_P(), {"permutations": 50}, {"permutations": 10_000}),
        (Caution.PAPER_P(), {"p_value": "paper"}, {"p_value": "two-sided"}),
        (Caution.PAPER_CROSS_NEGENTROPY(), {"cross_negentropy": "paper"}, {"cross_negentropy": "smooth"}),
        (Caution.SMALL_GROUPS(small=1, groups=3, least=5), {"min_raters": 5}, {"min_raters": 2}),
        (GuardCaution.OWN_WORKLOAD(axis="gender", group="Woman", times=4.0), {}, {"strata": ("workload",)}),
        (GuardCaution.OWN_ITEMS(axis="gender", group="Woman", met=60), {"seed": 7}, {"seed": 7}),
    ],
)
def test_settings_mend_it(warning: Remark, before: dict[str, object], after: dict[str, object]) -> None:
    found = mend(warning, RunSpec(DATA, AnalysisSpec(axes=AXES, **before)))  # type: ignore[arg-type]
    assert found.spec == RunSpec(DATA, AnalysisSpec(axes=AXES, **after))  # type: ignore[arg-type]


def test_axes_that_go_together_are_tested_each_given_the_other() -> None:
    analysis = AnalysisSpec(axes=(("rater_gender",), ("rater_race",), ("age",)))
    warning = GuardCaution.AXES_TOGETHER(first="race", second="gender", v=0.4, p="p < 0.001")
    found = mend(warning, RunSpec(DATA, analysis))
    assert found.spec.analysis.given == ("rater_gender", "rater_race")
    spec = RunSpec(DATA, AnalysisSpec(axes=AXES), models=(ModelSource("m.csv", "0" * 64),))
    found = mend(GuardCaution.AXES_TOGETHER(first="race", second="gender", v=0.4, p="p < 0.001"), spec)
    assert found.spec == spec


@pytest.mark.parametrize(
    ("warning", "screen"),
    [
        (Caution.RANDOM_RESPONDERS(raters=4, looked_at=60), "random"),
        (Caution.CONSTANT_RATERS(raters=4, looked_at=60, least=10), "constant"),
        (Caution.NEAR_DUPLICATES(raters=4, pairs=2), "duplicates"),
    ],
)
def test_raters_whom_a_screen_names_are_left_out_by_it_and_brought_back(
    warning: Remark, screen: Screen
) -> None:
    everybody = RunSpec(DATA, AnalysisSpec(axes=AXES))
    found = mend(warning, everybody)
    assert found.spec.data.screens == (screen,)
    assert [back.mend.spec for back in ways_back(found.spec)] == [everybody]
    assert mend(warning, found.spec) is None


@pytest.mark.parametrize("code", SCREEN_OF, ids=lambda code: code.key)
def test_a_warning_of_raters_names_what_leaves_them_out_in_every_door(code: Code) -> None:
    """*Results* and *Data* have it as a button, the command as an option, Python and specs as a field."""
    named = re.search(
        r"on Results or Data, or by (--leave-out \w+) \((\w+), in Python and in specs\)$", code.value
    )
    option, field = named.groups()
    files = ["--annotations", "a.csv", "--item", "i", "--rater", "r", "--label", "l", "--axis", "gender"]
    chosen = make_parser().parse_args(["run", *files, *option.split()])
    assert tuple(chosen.screens) == (SCREEN_OF[code],)
    assert replace(DATA, **{field: (SCREEN_OF[code],)}) != DATA
    assert field in ReadingOptions.__annotations__


def test_each_way_back_undoes_what_was_mended() -> None:
    strata = RunSpec(DATA, AnalysisSpec(axes=AXES, strata=("region", "workload")))
    assert [back.mend.spec.analysis.strata for back in ways_back(strata)] == [("region",)]
    assert not list(ways_back(RunSpec(DATA, AnalysisSpec(axes=AXES, strata=("region",)))))
    marked = RunSpec(replace(DATA, exclude=(("removed", "True"),)), AnalysisSpec(axes=AXES))
    (back,) = ways_back(marked)
    assert back.mended == "Left out: raters with 'removed = True'."
    assert back.mend.spec.data.exclude == ()
    (forth,) = ways_back(back.mend.spec, kept=(("removed", "True"),))
    assert forth.mended == "Kept: raters with 'removed = True'."
    assert forth.mend.label == "The answer without them"
    assert forth.mend.spec == marked
    assert list(ways_back(marked, kept=(("removed", "True"),))) == [back]


@pytest.mark.parametrize(
    "warning", [said("a column is odd"), Caution.SMALL_GROUPS(small=1, groups=3, least=2), FEW]
)
def test_what_settings_cannot_mend_has_no_way(warning: Remark) -> None:
    assert mend(warning, RunSpec(DATA, AnalysisSpec(axes=AXES, permutations=20_000))) is None


GRAVE = (
    GuardCaution.OWN_ITEMS(axis="gender", group="Woman", met=60),
    GuardCaution.OWN_ITEMS_WITH_MODELS(axis="gender", group="Woman", met=60),
    GuardCaution.OWN_WORKLOAD(axis="gender", group="Woman", times=4.0),
    GuardCaution.OWN_WORKLOAD_WITH_MODELS(axis="gender", group="Woman", times=4.0),
    GuardCaution.GAI_OF_OTHER_ITEMS(axis="gender", group="Woman", gai=0.4, matched=0.8),
    GuardCaution.AXES_TOGETHER(first="race", second="gender", v=0.4, p="p < 0.001"),
    Caution.RANDOM_RESPONDERS(raters=4, looked_at=60),
    Caution.CONSTANT_RATERS(raters=4, looked_at=60, least=10),
    Caution.NEAR_DUPLICATES(raters=4, pairs=2),
    Caution.TOO_FEW_FOR_P(),
    FEW,
    Caution.FEW_REGROUPINGS(few=2, groups=4),
    Caution.CLUSTERS_STAY(raters=5, all=60),
    ShuffleCaution.MIXED_CLUSTERS(cluster="team", mixed=("gender",), clusters=12, whole=("race",)),
)


def test_whatever_may_undo_a_finding_has_a_way_to_mend_it() -> None:
    """But for counts by group, which stand beside their warning, and for what only other raters can tell."""
    spec = RunSpec(DATA, AnalysisSpec(axes=(("gender",), ("race",)), permutations=50, cluster="team"))
    assert all(may_undo(one) for one in GRAVE)
    last = max(RANKS[one.code] for one in GRAVE)
    grave = {code for code, rank in RANKS.items() if rank <= last}
    assert {one.code for one in GRAVE} == grave - {ScreenCaution.SCREENED_IN_GROUPS, GuardCaution.ONE_SPLIT}
    assert [one.code for one in GRAVE if mend(one, spec) is None] == []


ODD = DataProblem.LIKE_MISSING(where="a.csv, column 'gender'", cells=3, value="n/a")
CHOSEN = (
    Caution.TOO_FEW_FOR_CORRECTION(permutations=99, tests=400_000, least=MAX_PERMUTATIONS + 1),
    Caution.NO_GROUP_IN_SLICES(columns=("topic",), least=2),
    ShuffleCaution.UNKNOWN_STRATUM(unknown=2, raters=60, column="batch"),
    ShuffleCaution.UNKNOWN_CLUSTER(unknown=2, raters=60, column="team"),
    ShuffleCaution.ONE_STRATUM(column="batch"),
)
WORDS_ALONE = {
    GuardCaution.ONE_SPLIT: "Ask raters for whom the two differ",
    Caution.FEW_REGROUPINGS: "More raters",
    Caution.SOME_NOT_ESTIMABLE: "groups of more raters",
    Caution.TOO_MANY_PAIRS: "recode its values into fewer",
    Caution.DISTANCE_OF_SHARES: "more raters an item",
    ModelCaution.MODEL_UNLABELLED: "until its file has them",
    ModelCaution.MODEL_OF_OTHER_ITEMS: "write the items' ids alike",
}
"""What mends a warning for which there may be no button, in the words of its sentence."""
NOTHING_TO_MEND = {Caution.FEW_RATERS_HIDDEN, Caution.ITEMS_WITHOUT_PAIRS, ScreenCaution.SCREENED_IN_GROUPS}
"""What is hidden from strangers, what the distance takes, and counts beside the warning that they are of."""


@pytest.mark.parametrize("warning", CHOSEN, ids=lambda one: one.code.key)
def test_what_has_to_be_chosen_anew_is_chosen_on_the_page_with_these_settings(warning: Remark) -> None:
    spec = RunSpec(DATA, AnalysisSpec(axes=AXES, permutations=99))
    found = mend(warning, spec)
    assert (found.spec, found.label[:7]) == (spec, "Choose ")


def test_a_text_that_looks_missing_is_counted_as_missing() -> None:
    spec = RunSpec(DATA, AnalysisSpec(axes=AXES))
    found = mend(ODD, spec)
    assert (found.label, found.on_data) == ("Count 'n/a' as missing", "Count 'n/a' as missing on Data")
    assert found.spec == replace(spec, data=replace(DATA, missing=("", "n/a")))
    assert mend(ODD, found.spec) is None
    assert mend(ODD, replace(spec, data=replace(DATA, categories=("yes", "no", "n/a")))) is None
    assert mend(ODD, replace(spec, data=replace(DATA, further=(Question("b", ("n/a", "x")),)))) is None
    assert mend(ODD.reworded(value=" "), spec) is None


def test_each_warning_has_a_way_to_mend_it_or_says_itself_what_would_do() -> None:
    with_a_way = {one.code for one in (*GRAVE, *CHOSEN)}
    with_a_way |= {Caution.PAPER_P, Caution.PAPER_CROSS_NEGENTROPY, Caution.SMALL_GROUPS}  # see above
    every = {*Caution, *GuardCaution, *ShuffleCaution, *ModelCaution, *ScreenCaution}
    assert every == with_a_way | WORDS_ALONE.keys() | NOTHING_TO_MEND
    assert [code.key for code, words in WORDS_ALONE.items() if words not in code.value] == []


def test_slices_without_groups_are_mended_by_smaller_groups() -> None:
    warning = Caution.NO_GROUP_IN_SLICES(columns=("topic",), least=5)
    found = mend(warning, RunSpec(DATA, AnalysisSpec(axes=AXES, min_raters=5)))
    assert found.spec.analysis.min_raters == 2
    assert mend(Caution.FEW_REGROUPINGS(few=2, groups=4), RunSpec(DATA, AnalysisSpec(axes=AXES))) is None
