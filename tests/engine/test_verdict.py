"""Verdicts of whole runs: what was planted is clear, what it explains is told so, however it is computed."""

import csv
import io
import json
from dataclasses import replace

import numpy as np
import pytest

from benchmarks.planted import dataset
from grasp_core.engine import watching as provisional_module
from grasp_core.engine.pools import schedule as blocks_module
from grasp_core.model.annotations import Annotations, Axis, Raters
from grasp_core.model.example import COHESIVE, INCOHESIVE, example_files, example_spec
from grasp_core.model.groups import Group
from grasp_core.model.outcome import FEWEST_CLEAR, Verdict
from grasp_core.model.result import RunResult
from grasp_core.model.spec import AnalysisSpec, RunSpec
from grasp_core.permutation.testing import tally as tally_module
from grasp_core.reading.dataset.load import Dataset, load
from grasp_core.reading.sandbox.read import read_table
from grasp_core.report.findings.answer import answer
from grasp_core.report.public_view import public_view
from grasp_core.report.tables import verdict_table
from grasp_core.report.tidy import VERDICT_COLUMNS, table_csv
from tests import test_dices350
from tests.computing import Noted
from tests.computing import compute_in_threads as run
from tests.engine.asking import DATA, question
from tests.shared_data import needs_shared_data

BLACK = Group(("rater_race",), ("Black",))


def example(**analysis) -> tuple[Dataset, RunSpec]:
    spec = example_spec()
    spec = replace(spec, analysis=replace(spec.analysis, pairs=False, **analysis))
    tables = (read_table(content, name) for name, content in example_files().items())
    return load(*tables, spec.data, spec.analysis.tested), spec


def verdicts(result: RunResult) -> dict[Group, Verdict]:
    found = {row.group: row.verdict for row in result.groups if row.verdict is not None}
    assert len(found) == len(result.groups)
    return found


def mostly_women(data: Dataset) -> Dataset:
    """The data in which all Black men but three have no race: what holds of Black raters is then of women."""
    gender, race = (data.raters.axes[name] for name in ("rater_gender", "rater_race"))
    black = race.codes == race.values.index("Black")
    men = np.flatnonzero(black & (gender.codes == gender.values.index("Man")))
    codes = race.codes.copy()
    codes[men[3:]] = -1
    axes = {**data.raters.axes, "rater_race": Axis(race.values, codes)}
    return replace(data, raters=Raters(data.raters.rater_ids, axes))


@pytest.fixture(scope="module")
def planted() -> RunResult:
    data, spec = example(permutations=FEWEST_CLEAR)
    return run(mostly_women(data), spec)


def test_what_was_planted_is_clear_and_explains_what_holds_it(planted: RunResult) -> None:
    found = verdicts(planted)
    assert {group for group, one in found.items() if one.code == "clear"} == {COHESIVE, INCOHESIVE}
    explained = {group: one.by for group, one in found.items() if one.code == "explained"}
    assert explained == {BLACK: COHESIVE}
    assert found[COHESIVE].kinds == ("labels", "cohesion")
    assert found[INCOHESIVE].kinds == ("items", "cohesion")


def test_neither_workers_blocks_nor_the_order_of_axes_change_a_verdict(planted, monkeypatch) -> None:
    monkeypatch.setattr(blocks_module, "FIRST_BLOCK", 7)
    monkeypatch.setattr(blocks_module, "FIRST_LABELS", 0)
    data, spec = example(permutations=FEWEST_CLEAR)
    turned = replace(spec, analysis=replace(spec.analysis, axes=spec.analysis.axes[::-1]))
    assert verdicts(run(mostly_women(data), turned, n_workers=1)) == verdicts(planted)


def test_the_two_groups_of_an_axis_are_one_question(planted: RunResult) -> None:
    found = verdicts(planted)
    man, woman = (found[Group(("rater_gender",), (value,))] for value in ("Man", "Woman"))
    assert man.other == Group(("rater_gender",), ("Woman",))
    assert man.spread.ratio == pytest.approx(1 / woman.spread.ratio)
    assert replace(man, other=None, spread=None) == replace(woman, other=None, spread=None)


def test_they_stand_in_files_and_tables(planted: RunResult) -> None:
    assert RunResult.from_dict(json.loads(json.dumps(planted.to_dict()))) == planted
    told = verdict_table(planted).set_index("Group")
    assert told.loc["Black, Woman", "Verdict"] == "clear"
    assert told.loc["Black", "By"] == "race × gender Black, Woman"
    assert "Man and Woman" in told.index
    assert not {"Woman", "White"} & {*told.index}
    rows = list(csv.DictReader(io.StringIO(table_csv(planted), newline="")))
    assert tuple(rows[0])[-len(VERDICT_COLUMNS) :] == tuple(one.name for one in VERDICT_COLUMNS)
    black = {row["verdict"] for row in rows if row["group"] == "Black" and row["statistic"] != "dsi"}
    assert black == {"explained"}
    assert {row["verdict"] for row in rows if row["statistic"] == "dsi"} == {""}


def test_strangers_read_no_name_of_a_hidden_group_in_them(planted: RunResult) -> None:
    few = tuple(replace(row, n_raters=4) if row.group == COHESIVE else row for row in planted.groups)
    shown = public_view(replace(planted, groups=few))
    names = {row.group for row in shown.groups}
    assert COHESIVE not in names
    assert {verdict.by for verdict in verdicts(shown).values()} <= names | {None}


def test_files_of_the_version_before_have_none(planted: RunResult) -> None:
    plain = {**planted.to_dict(), "version": 2}
    for row in plain["groups"]:
        del row["verdict"]
    assert {row.verdict for row in RunResult.from_dict(plain).groups} == {None}


def test_provisional_results_have_none(monkeypatch) -> None:
    monkeypatch.setattr(provisional_module, "EVERY_SECONDS", 0.0)
    monkeypatch.setattr(provisional_module, "SHARE", 0)
    noted = Noted()
    last = run(DATA, question(), noted)
    assert noted.shown
    assert {row.verdict for one in noted.shown for row in one.groups} == {None}
    assert verdicts(last)


def test_only_kept_permutations_count(monkeypatch) -> None:
    monkeypatch.setattr(tally_module, "KEPT", 500)
    monkeypatch.setattr(tally_module, "KEPT_LEAST", 500)
    more, kept = (verdicts(run(DATA, question(permutations=n))) for n in (1200, 500))
    assert more == kept


def test_a_run_that_may_stop_early_goes_on_until_something_may_be_clear() -> None:
    result = run(DATA, question(permutations=5000, adaptive=True))
    assert min(row.statistics["irr"].null_n for row in result.groups) >= FEWEST_CLEAR


def test_below_3000_permutations_nothing_is_clear() -> None:
    found = verdicts(run(*example(permutations=1000)))
    assert found[COHESIVE].code == "hint"
    assert found[COHESIVE].q < 0.05


@needs_shared_data
@pytest.mark.parametrize("seed", [1, 2])
def test_in_dices350_white_men_are_clear_by_every_seed_and_nobody_else(seed: int) -> None:
    found = verdicts(test_dices350.result(permutations=FEWEST_CLEAR, seed=seed))
    clear = {group.values for group, one in found.items() if one.code in ("clear", "explained")}
    assert clear == {("White", "Man")}
    assert {one.code for one in found.values()} == {"clear", "hint", "none"}


def halves(seed: int) -> Dataset:
    """Eight raters of twenty items with two labels, the first four of whom mostly say the other one."""
    rng = np.random.default_rng(seed)
    raters, items = np.divmod(np.arange(8 * 20), 20)
    label = (rng.random(8 * 20) < np.where(raters < 4, 0.9, 0.2)).astype(np.int64)
    annotations = Annotations.from_codes(
        item=items,
        rater=raters,
        category=label,
        item_ids=[f"i{i}" for i in range(20)],
        rater_ids=[f"r{j}" for j in range(8)],
        categories=("no", "yes"),
    )
    side = Axis(("in", "out"), np.repeat(np.array([0, 1], np.int32), 4))
    return replace(DATA, annotations=annotations, raters=Raters(annotations.rater_ids, {"side": side}))


@pytest.mark.parametrize("seed", range(1, 5))
def test_mirrored_regroupings_are_as_far_out_as_each_other(seed: int) -> None:
    """Of 70 regroupings of 4 + 4 raters none is further out than the observed one and its mirror: 2 of 70."""
    spec = replace(question(), analysis=AnalysisSpec((("side",),), permutations=FEWEST_CLEAR, seed=seed))
    found, _ = verdicts(run(halves(1), spec)).values()
    exact = 2 / 70
    assert found.p == pytest.approx(exact, abs=4 * np.sqrt(exact * (1 - exact) / FEWEST_CLEAR))


@pytest.mark.parametrize("raters", [3, 4])
def test_twenty_regroupings_are_too_few(raters: int) -> None:
    """One of 20 is no p below 0.05: three raters against three are told so, and what brings more of them."""
    rng = np.random.default_rng(0)
    labels = rng.integers(0, 2, (2 * raters, 12)).astype(np.int64)
    data = dataset(labels, 2, {"side": ["in"] * raters + ["out"] * raters})
    spec = replace(question(), analysis=AnalysisSpec((("side",),), permutations=FEWEST_CLEAR))
    result = run(data, spec)
    assert {one.why for one in verdicts(result).values()} == ({"few-raters"} if raters == 3 else {None})
    told = answer(result)
    assert told.headline.plain.startswith("No answer: too few raters") == (raters == 3)
    assert ("Ask more raters: so few" in told.details[-1].plain) == (raters == 3)


def test_pairs_and_groups_given_an_axis_have_verdicts() -> None:
    axes = (("gender",), ("race",))
    result = run(DATA, question(permutations=FEWEST_CLEAR, axes=axes, pairs=True, given=("race",)))
    pairs = [row.verdict for row in result.pairs]
    given = [row.verdict for found in result.given for row in found.groups]
    assert pairs
    assert given
    for one in (*pairs, *given):
        if one.code != "untestable":
            assert one.p <= one.q <= one.bound
    assert RunResult.from_dict(json.loads(json.dumps(result.to_dict()))) == result
    rows = list(csv.DictReader(io.StringIO(table_csv(result), newline="")))
    told = {row["verdict"] for row in rows if row["other_group"]}
    assert told == {one.code for one in pairs}
