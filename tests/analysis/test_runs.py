"""Runs on data in which groups were given other items, or whose small p-values are fitted."""

import csv
import io
import json
from dataclasses import replace

import numpy as np
import pytest

from benchmarks.confounded import CLEAN, CONFOUNDED, Situation, drawn
from benchmarks.planted import AXIS, dataset, independent_shares, labelled, own_view, run_spec, shifted
from grasp_core.analysis.models.result import ModelsResult
from grasp_core.model.errors import SpecError
from grasp_core.model.outcome import LabelUse, Outcome
from grasp_core.model.result import RunResult
from grasp_core.model.spec import STATISTICS, AnalysisSpec
from grasp_core.reading.dataset.load import Dataset
from grasp_core.report.contents import marks_legend
from grasp_core.report.pairs import pair_sentences
from grasp_core.report.public_view import public_view
from grasp_core.report.saved import result_json
from grasp_core.report.tidy import table_csv
from grasp_core.report.words.names import FITTED, FITTED_MEANING, p_text, p_words
from grasp_core.report.writers._html_page import report_html
from grasp_core.report.writers.latex import table_latex
from grasp_core.report.writers.markdown import table_markdown
from tests.analysis.models.cases import compute_models, model
from tests.computing import compute_in_threads
from tests.engine.asking import planting as planting


def run(data: Dataset, **fields: object) -> RunResult:
    spec = run_spec(1, 199)
    analysis = AnalysisSpec(**{**vars(spec.analysis), "pairs": True, **fields})  # type: ignore[arg-type]
    return compute_in_threads(data, replace(spec, analysis=analysis))


@pytest.fixture(scope="module")
def busier() -> RunResult:
    return run(drawn(CONFOUNDED[-1], 1))


def test_where_groups_rated_more_label_use_alone_is_tested_by_leaving_raters_out(busier) -> None:
    for row in busier.groups:
        for outcome in row.statistics.values():
            assert outcome.value is not None
            assert (outcome.p, outcome.q, outcome.significance, outcome.null) == (None, None, "none", None)
            assert outcome.reason.code.key == "other-items"
            assert outcome.interval is not None
    warning = busier.warnings[0]
    assert (warning.code.key, dict(warning.numbers)["group"]) == ("own-workload", "in")
    text = table_markdown(busier)
    assert "4.00 times as many" in text
    assert "has no mark for" in text
    uses = [row.label_use for row in (*busier.groups, *busier.pairs)]
    assert len(uses) == 3
    for use in uses:
        assert use.test == "jackknife"
        assert None not in (use.p, use.q, use.most)
        assert use.labels[use.most].null is None
        assert use.labels[use.most].low is not None


def test_the_result_reads_back_and_strangers_see_the_warning_but_no_group_that_is_hidden(busier) -> None:
    assert RunResult.from_dict(json.loads(result_json(busier))) == busier
    seen = public_view(busier, small_groups=True)
    assert (seen.warnings[0], seen.assignment) == (busier.warnings[0], busier.assignment)
    analysis = replace(busier.spec.analysis, min_raters=busier.groups[0].n_raters + 1)
    hiding = public_view(replace(busier, spec=replace(busier.spec, analysis=analysis)), small_groups=True)
    assert (hiding.warnings, hiding.assignment) == ((), ())


def test_what_is_made_of_a_withheld_statistic_has_no_p_nor_its_dsi() -> None:
    found = run(drawn(CONFOUNDED[-1], 1), gai=("negentropy", "xrr"), correction="max-t", pairs=False)
    assert all(row.statistics["gai"].p is None for row in found.groups)
    assert found.dsi[0].outcome.value is not None
    assert found.dsi[0].outcome.p is None
    p = {row.group: row.label_use.p for row in found.groups if row.label_use and row.label_use.p}
    q = {row.group: row.label_use.q for row in found.groups if row.label_use}
    assert q == {group: min(1.0, 2 * one) for group, one in p.items()}  # Bonferroni in place of max-T
    found = run(drawn(CONFOUNDED[0], 1), statistics=("irr", "xrr"), pairs=False)
    cells = [one for row in found.groups for one in row.statistics.values()]
    assert all(one.value is not None and one.p is None for one in cells)


def test_too_few_raters_leave_label_use_untested() -> None:
    found = run(drawn(replace(CONFOUNDED[-1], inside=4), 1))
    for row in found.groups:
        assert row.label_use.p is None
        assert str(row.label_use.reason).endswith("either side needs 5 or more")
        assert all(shift.value is not None for shift in row.label_use.labels.values())


@pytest.mark.parametrize("situation", CONFOUNDED[:3], ids=lambda one: one.name)
def test_groups_given_other_items_have_a_mark_of_label_use_alone(situation) -> None:
    found = run(drawn(situation, 1))
    assert found.warnings[0].code.key == "own-items"
    for row in found.groups:
        told = [row.statistics[name] for name in STATISTICS]
        assert all(one.significance == "none" and one.p is None and one.q is None for one in told)
        reasons = {one.reason.code.key for one in told if one.value is not None and one.reason}
        assert reasons == {"other-items"}
        assert row.label_use.test == "jackknife"
        assert row.verdict.code == "untestable"
    (pair,) = found.pairs
    assert all(one.p is None for one in pair.statistics.values())
    (said,) = pair_sentences(pair, found)
    assert said.plain == "Not tested: the groups rated different items."
    assert pair.label_use.test == "jackknife"
    assert found.dsi[0].outcome.p is None


def of_models(data: Dataset) -> ModelsResult:
    labels = np.random.default_rng(1).integers(0, 3, data.annotations.n_items)
    return compute_models(data, [model("coin", labels)], run_spec(1, 199))


@pytest.mark.parametrize(
    ("situation", "code"),
    [(CONFOUNDED[0], "own-items-with-models"), (CONFOUNDED[-1], "own-workload-with-models")],
)
def test_models_are_not_tested_where_groups_rated_other_items(situation: Situation, code: str) -> None:
    found = of_models(drawn(situation, 1))
    told = [one for row in found.groups for one in row.models["coin"].statistics.values()]
    assert all(
        one.value is not None and (one.p, one.q, one.significance) == (None, None, "none") for one in told
    )
    assert {one.reason.code.key for one in told if one.reason} == {"other-items"}
    assert code in {warning.code.key for warning in found.warnings}
    assert public_view(found, small_groups=True).warnings == found.warnings
    assert not {"own-items", "own-workload"} & {warning.code.key for warning in found.warnings}


def test_clean_data_are_tested_as_ever() -> None:
    found = run(drawn(CLEAN[0], 1))
    assert not found.warnings
    assert not of_models(drawn(CLEAN[0], 1)).warnings
    assert [check.large for check in found.assignment] == [False]
    for row in found.groups:
        assert all(row.statistics[name].p is not None for name in STATISTICS)
        assert row.label_use.test == "shuffled"


def three_groups(seed: int = 1) -> Dataset:
    """One of three groups has a strong view of its own and a label it likes; age goes with nothing."""
    rng = np.random.default_rng(seed)
    shares = independent_shares(rng, 60, 80, 3)
    shares[:15] = shifted(30)(own_view(0.5)(shares[:15], rng), rng)
    axes = {
        AXIS: ["in"] * 15 + ["out"] * 25 + ["far"] * 20,
        "age": ["old" if j % 2 else "young" for j in range(60)],
    }
    return dataset(labelled(rng, shares, np.ones((60, 80), bool)), 3, axes)


def run_tail(**changes: object) -> RunResult:
    spec = run_spec(1, 2000)
    asked = {"axes": ((AXIS,), ("age",)), "tail": True, **changes}
    return compute_in_threads(three_groups(), replace(spec, analysis=replace(spec.analysis, **asked)))


@pytest.fixture(scope="module")
def result() -> RunResult:
    return run_tail(pairs=True, given=("age",))


def told_of(result: RunResult) -> list[Outcome | LabelUse]:
    rows = [*result.groups, *(row for given in result.given for row in given.groups), *result.pairs]
    found: list[Outcome | LabelUse] = [row.outcome for row in result.dsi]
    for row in rows:
        found += [*row.statistics.values(), *([row.label_use] if row.label_use else [])]
    return found


def test_all_stages_fit_and_change_nothing_else(result: RunResult) -> None:
    counted = run_tail(pairs=True, given=("age",), tail=False)
    fitted = [one for one in told_of(result) if one.fit is not None]
    assert len(fitted) > 15
    assert any(isinstance(one, LabelUse) for one in fitted)
    assert result.dsi[0].outcome.fit is not None
    for ours, right in zip(told_of(result), told_of(counted), strict=True):
        if ours.fit is None:
            assert ours.p == right.p
        else:
            assert 0 < ours.p < 0.01
            assert ours.fit.counted == right.p
        no_p = dict.fromkeys(("p", "q", "fit", "no_fit"))
        assert replace(ours, **no_p) == replace(right, **no_p) or ours.significance != right.significance


def test_a_file_keeps_both_p(result: RunResult) -> None:
    assert RunResult.from_dict(result.to_dict()) == result
    rows = list(csv.DictReader(io.StringIO(table_csv(result), newline="")))
    fitted = [row for row in rows if row["p_counted"]]
    assert fitted
    assert all(0 < float(row["p"]) < 0.02 and float(row["p_counted"]) < 0.02 for row in fitted)
    assert "p_counted" not in table_csv(run_tail(tail=False))


@pytest.mark.long
def test_a_fitted_p_is_told_as_such_wherever_it_is_told(result: RunResult) -> None:
    assert FITTED_MEANING in marks_legend(result)
    for told in (report_html(result), table_markdown(result), table_latex(result)):
        assert FITTED in told
        assert FITTED_MEANING in told
    without = run_tail(tail=False)
    for told in (report_html(without), table_markdown(without), table_latex(without)):
        assert FITTED not in told


def test_a_fitted_p_has_one_digit_and_no_more_than_was_measured() -> None:
    every = told_of(run_tail(permutations=5000))
    outcome = next(one for one in every if isinstance(one, Outcome) and one.fit is not None)
    told = replace(outcome, p=0.0000234, fit=replace(outcome.fit, limit=False))
    assert (p_text(told), p_words(told)) == ("≈ 0.00002", "p ≈ 0.00002 (fitted)")
    limit = replace(told, fit=replace(outcome.fit, limit=True))
    assert p_words(limit) == "p ≤ 0.00002 (fitted)"
    assert p_text(replace(told, p=0.0042)) == "≈ 0.004"


def test_runs_that_stop_early_and_those_beyond_what_is_kept_fit_too() -> None:
    early = run_tail(adaptive=True, permutations=11_000)
    whole = run_tail(permutations=11_000)
    for found in (early, whole):
        fitted = [one for one in told_of(found) if one.fit is not None]
        assert fitted
        assert all(one.p <= one.fit.counted for one in fitted if not one.fit.limit)


def test_what_cannot_be_fitted_is_refused() -> None:
    spec = run_spec(1, 1000)
    with pytest.raises(SpecError, match="counted; for a curve through the tail take two-sided"):
        replace(spec.analysis, tail=True, p_value="paper")
    with pytest.raises(SpecError, match="`tail` must be true or false"):
        replace(spec.analysis, tail=1)
