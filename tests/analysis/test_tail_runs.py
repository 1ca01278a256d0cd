"""Runs whose small p-values are fitted: every table and sentence says so, and files keep p as counted."""

from __future__ import annotations

import csv
import io
from dataclasses import replace

import numpy as np
import pytest

from benchmarks.planted import AXIS, dataset, independent_shares, labelled, own_view, run_spec, shifted
from grasp_core.model.errors import SpecError
from grasp_core.model.outcome import LabelUse, Outcome
from grasp_core.model.result import RunResult
from grasp_core.reading.dataset.load import Dataset
from grasp_core.report.contents import marks_legend
from grasp_core.report.findings.findings import findings
from grasp_core.report.tidy import table_csv
from grasp_core.report.words.names import FITTED, FITTED_MEANING, p_text, p_words
from grasp_core.report.writers._html_page import report_html
from grasp_core.report.writers.latex import table_latex
from grasp_core.report.writers.markdown import table_markdown
from tests.computing import compute_in_threads


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


def run(**changes: object) -> RunResult:
    spec = run_spec(1, 2000)
    asked = {"axes": ((AXIS,), ("age",)), "tail": True, **changes}
    return compute_in_threads(three_groups(), replace(spec, analysis=replace(spec.analysis, **asked)))


@pytest.fixture(scope="module")
def result() -> RunResult:
    return run(pairs=True, given=("age",))


def told_of(result: RunResult) -> list[Outcome | LabelUse]:
    rows = [*result.groups, *(row for given in result.given for row in given.groups), *result.pairs]
    found: list[Outcome | LabelUse] = [row.outcome for row in result.dsi]
    for row in rows:
        found += [*row.statistics.values(), *([row.label_use] if row.label_use else [])]
    return found


def test_all_stages_fit_and_change_nothing_else(result: RunResult) -> None:
    counted = run(pairs=True, given=("age",), tail=False)
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
        assert (
            replace(ours, **dict.fromkeys(("p", "q", "fit", "no_fit")))
            == replace(right, **dict.fromkeys(("p", "q", "fit", "no_fit")))
            or ours.significance != right.significance
        )


def test_a_file_keeps_both_p(result: RunResult) -> None:
    assert RunResult.from_dict(result.to_dict()) == result
    rows = list(csv.DictReader(io.StringIO(table_csv(result), newline="")))
    fitted = [row for row in rows if row["p_counted"]]
    assert fitted
    assert all(0 < float(row["p"]) < 0.02 and float(row["p_counted"]) < 0.02 for row in fitted)
    assert "p_counted" not in table_csv(run(tail=False))


@pytest.mark.long
def test_a_fitted_p_is_told_as_such_wherever_it_is_told(result: RunResult) -> None:
    assert all("(fitted)" in one.tested for one in findings(result) if one.outcome.fit)
    assert any(one.outcome.fit for one in findings(result))
    assert FITTED_MEANING in marks_legend(result.spec.analysis)
    for told in (report_html(result), table_markdown(result), table_latex(result)):
        assert FITTED in told
        assert FITTED_MEANING in told
    without = run(tail=False)
    for told in (report_html(without), table_markdown(without), table_latex(without)):
        assert FITTED not in told


def test_a_fitted_p_has_one_digit_and_no_more_than_was_measured() -> None:
    outcome = next(
        one for one in told_of(run(permutations=5000)) if isinstance(one, Outcome) and one.fit is not None
    )
    told = replace(outcome, p=0.0000234, fit=replace(outcome.fit, limit=False))
    assert (p_text(told), p_words(told)) == ("≈ 0.00002", "p ≈ 0.00002 (fitted)")
    limit = replace(told, fit=replace(outcome.fit, limit=True))
    assert p_words(limit) == "p ≤ 0.00002 (fitted)"
    assert p_text(replace(told, p=0.0042)) == "≈ 0.004"


def test_runs_that_stop_early_and_those_beyond_what_is_kept_fit_too() -> None:
    early = run(adaptive=True, permutations=30_000)
    whole = run(permutations=12_000)
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
