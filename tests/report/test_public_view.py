from dataclasses import replace

import pytest

from grasp_core.model.errors import Problem
from grasp_core.model.example import example_files, example_spec
from grasp_core.model.remarks.cautions import Caution, GroupCount, ScreenCaution
from grasp_core.model.remarks.remark import said
from grasp_core.model.result import DsiResult, RunResult
from grasp_core.reading.dataset.load import load
from grasp_core.reading.sandbox.read import read_table
from grasp_core.report.findings.advice import ranked_findings
from grasp_core.report.public_view import public_view
from grasp_core.report.writers.registry import EXPORTS
from tests.computing import compute_in_threads
from tests.results import make_group, make_outcome, make_result, naming

SECRET = "rater-4711"


def _telling() -> RunResult:
    """A result that names a rater wherever data and files can reach."""
    small = make_group(SECRET, raters=4, gai=make_outcome(9.0, "up", "**"))
    large = make_group("Woman", raters=5, gai=make_outcome(1.0, "up"))
    dsi = (DsiResult(("gender",), small.group, small.statistics["gai"], 0.01, "corrected"),)
    result = make_result((small, large), dsi=dsi, min_raters=5, statistics=("gai",))
    return replace(
        result,
        data=replace(result.data, files=(replace(result.data.files[0], name=f"{SECRET}.csv"),)),
        spec=replace(result.spec, data=naming(result.spec.data, SECRET)),
        warnings=(
            said(f"{SECRET}.csv, row 3: odd"),
            Caution.TOO_FEW_FOR_P(),
            said(f"{Caution.TOO_FEW_FOR_P()}\n{SECRET}"),
            Caution.SMALL_GROUPS(small=SECRET, groups=2, least=5),
        ),
    )


def test_strangers_see_the_numbers_of_groups_that_are_large_enough() -> None:
    result = _telling()
    assert SECRET in str(result.to_dict())
    shown = public_view(result, small_groups=True)
    assert SECRET not in str(shown.to_dict())
    assert shown.groups == result.groups[1:]
    assert shown.dsi == ()
    assert shown.warnings == (Caution.TOO_FEW_FOR_P(),)
    assert shown.data.label_counts == result.data.label_counts


@pytest.mark.parametrize("name", ["csv", "latex", "markdown", "html", "json", "spec"])
def test_no_file_for_strangers_names_anybody(name: str) -> None:
    assert SECRET.encode() not in EXPORTS[name].make(public_view(_telling()))


def test_a_report_without_files_does_not_say_how_to_run_it_again() -> None:
    result = make_result((make_group("Woman", gai=make_outcome(1.0, "up")),), statistics=("gai",))
    assert "Run it again" in EXPORTS["html"].make(result).decode()
    page = EXPORTS["html"].make(public_view(result)).decode()
    assert "Run it again" not in page
    assert "Input files" not in page


def test_a_run_s_own_cautions_are_shown_to_strangers() -> None:
    spec = example_spec()
    analysis = replace(
        spec.analysis, permutations=40, min_raters=12, p_value="paper", cross_negentropy="paper"
    )
    spec = replace(spec, analysis=analysis)
    files = example_files()
    dataset = load(*(read_table(content, name) for name, content in files.items()), spec.data)
    dataset = replace(dataset, problems=(*dataset.problems, Problem(False, said(f"{SECRET} is odd"))))
    result = compute_in_threads(dataset, spec)
    own = [warning for warning in result.warnings if SECRET not in str(warning)]
    assert len(own) >= 4
    assert list(public_view(result, small_groups=True).warnings) == own


def _with_clickers(raters: dict[str, int], counts: dict[str, int]) -> RunResult:
    rows = tuple(
        make_group(name, gai=make_outcome(1.5, "up", "**"), raters=size) for name, size in raters.items()
    )
    groups = tuple(
        GroupCount.RATERS_OF_GROUP(group=f"gender {name}", raters=n, of=raters.get(name, 9))
        for name, n in counts.items()
    )
    caution = ScreenCaution.SCREENED_IN_GROUPS(screen="raters at chance", groups=groups)
    result = make_result(rows, statistics=("gai",), dsi=(), warnings=(caution,))
    return replace(result, data=replace(result.data, raters=sum(raters.values())))


def test_strangers_doubt_what_raters_at_chance_may_have_made_as_its_owner_does() -> None:
    result = _with_clickers({"Woman": 20, "Man": 30}, {"Woman": 6})
    assert [bool(one.doubts) for one in ranked_findings(result)] == [True, True]
    assert [one.doubts for one in ranked_findings(public_view(result))] == [
        one.doubts for one in ranked_findings(result)
    ]


@pytest.mark.parametrize(
    ("raters", "counts"),
    [
        ({"Woman": 20, "Man": 30, "Other": 3}, {"Woman": 6}),  # all raters at chance less these: of Other
        ({"Woman": 20, "Man": 30}, {"Woman": 6, "Nobody else": 1}),
    ],
)
def test_counts_of_raters_at_chance_tell_nothing_of_groups_that_are_not_shown(raters, counts) -> None:
    shown = public_view(_with_clickers(raters, counts))
    assert ScreenCaution.SCREENED_IN_GROUPS not in {one.code for one in shown.warnings}
