"""One run without an executor: observed values, reasons, warnings, limits, the self-check."""

import dataclasses

import krippendorff
import numpy as np
import pytest

from grasp_core.analysis.cohesion import panel as self_check_module
from grasp_core.analysis.cohesion.columns import Places, all_columns, group_columns
from grasp_core.engine import run as run_module
from grasp_core.engine.run import Prepared, checked_groups, finish, new_tally, prepare
from grasp_core.engine.time_left import default_seconds, pairs_seconds
from grasp_core.model.errors import RunCancelledError, SelfCheckError, SpecError
from grasp_core.model.remarks.cautions import Caution
from grasp_core.model.remarks.reasons import NoValue
from grasp_core.model.result import RunResult
from grasp_core.model.spec import STATISTICS, AnalysisSpec, RunSpec
from grasp_core.permutation.compiled import KERNEL_STATISTICS
from grasp_core.permutation.draw import identity
from grasp_core.permutation.testing.tally import KEPT
from grasp_core.statistics import in_group
from tests.permutation import reference
from tests.permutation.simulated import DATA_SPEC, dataset

AXES = (("gender",), ("race",), ("gender", "race"))
DATA = dataset(1, items=30, missing=0.2, unknown=0.05)
COLUMNS = Places(1, DATA.annotations.n_categories).of_group


def spec(**analysis) -> RunSpec:
    return RunSpec(DATA_SPEC, AnalysisSpec(**{"axes": AXES, "permutations": 200, **analysis}))


def shuffled(prepared: Prepared) -> np.ndarray:
    panel, asked = prepared.panel, prepared.spec.analysis
    return panel.work(np.ones(len(panel.grouping.groups), bool)).shuffled(asked.seed, 0, asked.permutations)


def compute(data=DATA, **analysis) -> RunResult:
    prepared = prepare(data, spec(**analysis))
    tally = new_tally(prepared.panel, prepared.spec.analysis)
    tally.add(0, prepared.panel.columns(shuffled(prepared)))
    return finish(prepared, tally, load_s=1.0, permutations_s=2.0)


def test_a_result_holds_what_was_asked() -> None:
    result = compute()
    assert [row.group.label for row in result.groups][:5] == ["Man", "Woman", "Asian", "Black", "White"]
    assert result.timing.load_s == 1.0
    assert result.timing.permutations_s == 2.0
    assert result.data.items == 30
    for row in result.groups:
        assert tuple(row.statistics) == STATISTICS
        member = np.ones(24, dtype=bool)
        for name, value in zip(row.group.axes, row.group.values, strict=True):
            axis = DATA.raters.axes[name]
            member &= axis.codes == axis.values.index(value)
        assert row.n_raters == member.sum()
        assert row.n_annotations == member[DATA.annotations.rater].sum()


def test_observed_values_are_the_twins() -> None:
    prepared = prepare(DATA, spec())
    values, _ = reference.evaluate(
        DATA.annotations, prepared.panel.grouping, prepared.spec.analysis, identity(DATA.annotations.n_raters)
    )
    panel = prepared.panel
    right = group_columns(values, prepared.spec.analysis, panel.by_shares)
    np.testing.assert_allclose(panel.statistics[:, : right.shape[1]], right, rtol=0, atol=1e-10)


def test_group_columns_appends_to_any_shape() -> None:
    counted = np.ones((4, 3, len(KERNEL_STATISTICS)))
    assert group_columns(counted, spec().analysis).shape == (4, 3, len(STATISTICS))
    assert group_columns(np.ones((*counted.shape[:-1], 15)), spec().analysis).shape == (
        4,
        3,
        len(STATISTICS) + 1 + 5,
    )


def test_what_is_not_estimable_says_why() -> None:
    """Nearly empty data: every value that is missing carries its reason, none is 0 or 1 instead."""
    data = dataset(2, items=8, raters=14, missing=0.9)
    result = compute(data, min_raters=1)
    twin, _ = reference.evaluate(
        data.annotations,
        prepare(data, spec(min_raters=1)).panel.grouping,
        spec(min_raters=1).analysis,
        identity(data.annotations.n_raters),
    )
    missing = 0
    twin = twin[:, : KERNEL_STATISTICS.index("distance")]
    for row, values in zip(result.groups, twin, strict=True):
        for name, value in zip(STATISTICS, values, strict=False):
            outcome = row.statistics[name]
            assert (outcome.value is None) == bool(np.isnan(value))
            if outcome.value is None:
                missing += 1
                assert isinstance(outcome.reason.code, NoValue)
                assert outcome.p is None
                assert outcome.q is None
                assert outcome.significance == "none"
        gai = row.statistics["gai"]
        if gai.value is None:
            assert str(gai.reason).startswith(("its IRR has no value: ", "its XRR "))
    assert missing > 5


def test_gai_without_positive_cross_cohesion_says_so() -> None:
    # With a single item, pairs within it are all pairs: XRR is 0 (rounding aside), whatever the labels.
    for row in compute(dataset(1, items=1), gai=("plurality_size", "xrr"), axes=AXES[:2]).groups:
        assert row.statistics["xrr"].value == pytest.approx(0, abs=1e-12)
        assert row.statistics["gai"].value is None
        assert str(row.statistics["gai"].reason) == "its XRR is not above 0, which a ratio needs"
        assert row.statistics["gai"].null_n == 0


def test_the_self_check_forgives_rounding_alone(monkeypatch) -> None:
    true = krippendorff.alpha
    monkeypatch.setattr(krippendorff, "alpha", lambda **given: true(**given) + 1e-8)
    with pytest.raises(SelfCheckError, match="please file a bug"):
        prepare(DATA, spec())
    monkeypatch.setattr(krippendorff, "alpha", lambda **given: float("nan"))
    with pytest.raises(SelfCheckError):
        prepare(DATA, spec())
    monkeypatch.setattr(krippendorff, "alpha", lambda **given: true(**given) + 1e-12)
    prepare(DATA, spec())


@pytest.mark.parametrize("liar", ["krippendorff", "definition"])
def test_many_items_are_held_against_the_definition_and_the_first_of_them_against_krippendorff(
    monkeypatch, liar: str
) -> None:
    true = krippendorff.alpha
    monkeypatch.setattr(self_check_module, "SELF_CHECK_ITEMS", 7)
    prepare(DATA, spec())
    if liar == "krippendorff":
        monkeypatch.setattr(krippendorff, "alpha", lambda **given: true(**given) + 1e-8)
    else:
        defined = in_group.irr
        monkeypatch.setattr(in_group, "irr", lambda c, distance: defined(c, distance) + 1e-8)
    with pytest.raises(
        SelfCheckError, match="the package krippendorff" if liar == "krippendorff" else "plain"
    ):
        prepare(DATA, spec())


@pytest.mark.parametrize(
    ("analysis", "named"),
    [
        ({"axes": (("age",),)}, "no axis age; there are gender, race, region"),
        ({"strata": ("age",)}, "no axis age"),
        ({"min_raters": 25}, "no group has 25 raters or more, the largest has .*by --min-raters"),
    ],
)
def test_what_cannot_be_computed_is_refused(analysis, named: str) -> None:
    with pytest.raises(SpecError, match=named):
        prepare(DATA, spec(**analysis))


def test_what_fits_and_more_permutations_than_are_kept(monkeypatch) -> None:
    monkeypatch.setattr(run_module, "MAX_NULL_BYTES", 200 * 5 * COLUMNS * 8)
    prepare(DATA, spec(axes=AXES[:2], permutations=200))
    with pytest.raises(SpecError, match="at most 200 fit"):
        prepare(DATA, spec(axes=AXES[:2], permutations=201))
    monkeypatch.setattr(run_module, "MAX_NULL_BYTES", KEPT * 5 * COLUMNS * 8)
    prepare(DATA, spec(axes=AXES[:2], permutations=10_000_000))


@pytest.mark.parametrize("what", ["raters", "items"])
def test_so_many_groups_of_so_many_are_refused_before_anything_is_made(monkeypatch, what: str) -> None:
    asked = spec(axes=AXES[:2])
    groups = len(checked_groups(DATA, asked).groups)
    fewer = {"raters": {"items": 1}, "items": {}}[what]
    data = dataclasses.replace(DATA, summary=dataclasses.replace(DATA.summary, **fewer))
    most = getattr(data.summary, what)
    monkeypatch.setattr(run_module, "MAX_MEMBERSHIPS", groups * most)
    assert len(checked_groups(data, asked).groups) == groups
    monkeypatch.setattr(run_module, "MAX_MEMBERSHIPS", groups * most - 1)
    with pytest.raises(
        SpecError, match=f"groups of {most:,} {what} need more memory.* may be {groups - 1} groups"
    ):
        checked_groups(data, asked)
    monkeypatch.setattr(run_module, "form_groups", None)  # it is not reached
    for seconds in (default_seconds, pairs_seconds):
        with pytest.raises(SpecError, match="need more memory"):
            seconds(data, asked.analysis.axes, asked.analysis.min_raters)


def test_preparing_stops_between_its_steps() -> None:
    """Where a run was deleted, say: what raises ends it."""
    steps = []
    prepare(DATA, spec(), check=lambda: steps.append(1))
    for last in range(1, len(steps) + 1):
        left = iter(range(last))

        def check(left=left) -> None:
            if next(left) == last - 1:  # noqa: B023
                raise RunCancelledError

        with pytest.raises(RunCancelledError):
            prepare(DATA, spec(), check=check)
    assert len(steps) >= 3


def warned(code: Caution, **analysis) -> bool:
    return any(warning.code is code for warning in compute(**analysis).warnings)


def test_warns_where_no_lone_effect_can_survive() -> None:
    # Five groups per statistic: with B = 199 the smallest q is 5 * 2 / 200, not below 0.05; B = 200 does.
    for family, tests in (("statistic", 5), ("statistic-axis", 3), ("all", 50)):
        enough = 40 * tests
        options = {"axes": AXES[:2], "family": family}
        told = Caution.TOO_FEW_FOR_CORRECTION(permutations=enough - 1, tests=tests, least=enough)
        assert told in compute(permutations=enough - 1, **options).warnings
        assert not warned(Caution.TOO_FEW_FOR_CORRECTION, permutations=enough, **options)
    # The paper's p may be 0, and so may its q; a p of max-T is 1 / (B + 1) at the least.
    few = Caution.TOO_FEW_FOR_CORRECTION
    assert not warned(few, permutations=100, p_value="paper", family="all")
    assert warned(few, permutations=19, p_value="paper", correction="max-t")


def test_warns_of_few_permutations_and_of_conventions_of_the_paper() -> None:
    assert warned(Caution.TOO_FEW_FOR_P, permutations=99)
    assert not warned(Caution.TOO_FEW_FOR_P, permutations=100)
    assert warned(Caution.PAPER_P, p_value="paper")
    assert warned(Caution.PAPER_CROSS_NEGENTROPY, cross_negentropy="paper")
    assert not warned(Caution.PAPER_P)
    assert not warned(Caution.PAPER_CROSS_NEGENTROPY)


def test_counts_the_groups_that_are_too_small_and_names_none() -> None:
    sizes = {row.group.label: row.n_raters for row in compute(min_raters=1).groups}
    limit = sorted(sizes.values())[2]
    small = [label for label, n in sizes.items() if n < limit]
    assert small
    (warning,) = (one for one in map(str, compute(min_raters=limit).warnings) if "not shown" in one)
    assert f"{len(small)} of {len(sizes)} groups" in warning
    assert not any(label in warning for label in small)


def test_counts_the_permutations_that_lost_a_value() -> None:
    data = dataset(3, items=10, raters=14, missing=0.75)
    result = compute(data, axes=(("race",),))
    prepared = prepare(data, spec(axes=(("race",),)))
    panel = prepared.panel
    counted = shuffled(prepared).reshape(200, -1, panel.per_unit)
    null = all_columns(counted, prepared.spec.analysis, panel.by_shares, 3, 1)
    lost = int(np.isnan(null[:, ~np.isnan(panel.statistics)]).any(axis=1).sum())
    assert lost > 0
    assert Caution.SOME_NOT_ESTIMABLE(lost=lost, permutations=200) in result.warnings
    for g, row in enumerate(result.groups):
        for s, name in enumerate(STATISTICS):
            assert row.statistics[name].null_n == 200 - np.isnan(null[:, g, s]).sum()


def test_a_result_survives_its_file_form() -> None:
    result = compute(dataset(4, items=8, raters=14, missing=0.85), min_raters=1)
    assert RunResult.from_dict(result.to_dict()) == result


def test_strata_as_fine_as_the_tested_axis_are_refused() -> None:
    with pytest.raises(SpecError, match="for gender:"):
        compute(axes=(("race",), ("gender",)), strata=("gender",))
    with pytest.raises(SpecError, match="for gender, gender x race:"):
        compute(axes=(("gender",), ("gender", "race")), strata=("race", "gender", "region"))
