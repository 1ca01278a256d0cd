"""Plans, from simulated data sets to sentences and files."""

from __future__ import annotations

import io
import json
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import openpyxl
import pytest

from grasp_core import cli
from grasp_core.analysis.planner import make
from grasp_core.analysis.planner._fitting import Model, Pilot
from grasp_core.analysis.planner.designs import cheapest
from grasp_core.analysis.planner.make import (
    PlanTask,
    Trial,
    Trials,
    assumed_task,
    count_hits,
    make_plan,
    model_of,
    task_of,
)
from grasp_core.analysis.planner.values import Assumed, Have, Plan, PlanSpec, Target
from grasp_core.engine.pools import workers
from grasp_core.model.errors import DataError, SpecError
from grasp_core.model.groups import Group
from grasp_core.model.json_values import from_json, to_json
from grasp_core.model.remarks.cautions import PlanCaution
from grasp_core.report.charts.plan import plan_chart
from grasp_core.report.plan import lines_table, recruitment_csv, sentences, surface_table
from grasp_core.report.writers.spreadsheet import recruitment_xlsx
from tests.analysis.models.cases import data
from tests.analysis.planner.pilots import LABELS, drawn, known_model, one_by_one
from tests.permutation.simulated import files, simulate
from tests.shared_data import needs_shared_data

ASSUMED = PlanSpec("labels", 0.25, (16, 120), (10, 100), size=20.0, assumed=Assumed())


@pytest.fixture(autouse=True, scope="module")
def few_data_sets() -> Iterator[None]:
    few = {"ROUGH": 10, "PASSES": (15, 30), "ALONG": 2, "PILOTS": 4, "OF_PILOT": 10}
    with pytest.MonkeyPatch.context() as patch:
        for name, value in few.items():
            patch.setattr(make, name, value)
        yield


@pytest.fixture(scope="module")
def assumed(few_data_sets: None) -> tuple[Plan, list[Plan]]:
    """A plan without a pilot, and as it was told of while it was made."""
    told: list[Plan] = []
    return make_plan(assumed_task(ASSUMED), one_by_one, told.append), told


OTHERS = [pytest.param(target, marks=pytest.mark.long) for target in ("distance", "gap", "dsi")]


@pytest.mark.parametrize("target", ["labels", "gai", *OTHERS])
def test_without_a_difference_a_test_finds_one_in_5_of_100(target: Target):
    trial = Trial((10, 15, 15) if target == "dsi" else (10, 30), 12, None)
    hits = count_hits(Trials(known_model(), trial, target, LABELS, "nominal", (1,), 0, 200))
    # Binomial, 200 draws of .05: 2 to 21 with a probability above .999; GAI without a value finds nothing.
    assert 2 <= hits <= 21


def test_a_difference_is_found_more_often_by_more_raters_with_more_labels():
    model = known_model(lean=0.9)

    def hits(sizes: tuple[int, ...], items: int, each: int | None = None) -> int:
        return count_hits(Trials(model, Trial(sizes, items, each), "labels", LABELS, "nominal", (1,), 0, 60))

    assert hits((6, 18), 10) + 15 < hits((24, 72), 20)
    assert hits((24, 72), 20, 4) + 5 < hits((24, 72), 80, 12)


def test_plans_are_the_same_whoever_computes_them_and_survive_a_file(assumed: tuple[Plan, list[Plan]]):
    plan, told = assumed
    assert make_plan(assumed_task(ASSUMED), one_by_one) == plan
    assert from_json(json.loads(json.dumps(to_json(plan))), Plan) == plan
    assert plan.whole
    assert [one.done for one in told] == sorted(one.done for one in told)
    assert not told[0].whole
    assert plan.factors is None
    assert "no range" in " ".join(one.plain for one in sentences(plan))


@pytest.mark.long
def test_a_pilot_gives_a_range_around_the_answer():
    pilot = drawn(known_model(lean=0.7), raters=40, items=40, inside=12)
    spec = PlanSpec("labels", 0.3, (16, 120), (10, 100), label="yes")
    have = (Have("Woman", 12, True), Have("Man", 28, False))
    plan = make_plan(PlanTask(spec, LABELS, None, have, pilot, (40, 40, 1600)), one_by_one)
    assert plan.factors is not None
    assert plan.factors[0] < 1.3 < 1.7 * plan.factors[1]
    assert plan.factors[0] < plan.factors[1]
    assert "in 8 of 10 such pilots" in " ".join(one.plain for one in sentences(plan))
    assert "Range of 80%" in lines_table(plan).columns


@pytest.mark.parametrize("refused", [1, 3])
def test_pilots_that_cannot_have_the_difference_are_left_out_of_the_range_and_said(refused, monkeypatch):
    made: list[Pilot] = []

    def some(pilot: Pilot, spec: PlanSpec, categories: tuple[str, ...]) -> Model:
        made.append(pilot)
        if 2 <= len(made) < 2 + refused:  # the first is the pilot itself
            raise SpecError("out of reach")
        return model_of(pilot, spec, categories)

    monkeypatch.setattr(make, "model_of", some)
    pilot = drawn(known_model(), raters=20, items=20, inside=6)
    have = (Have("Woman", 6, True), Have("Man", 14, False))
    task = PlanTask(replace(ASSUMED, assumed=None, label="yes"), LABELS, None, have, pilot, (20, 20, 400))
    plan = make_plan(task, one_by_one)
    assert from_json(json.loads(json.dumps(to_json(plan))), Plan) == plan
    told = " ".join(one.plain for one in sentences(plan))
    if refused == 1:
        assert plan.warnings == (PlanCaution.PILOTS_LEFT_OUT(left_out=1, pilots=4),)
        assert plan.factors is not None
        assert "1 of 4 pilots" in told
    else:
        assert plan.warnings == (PlanCaution.TOO_FEW_PILOTS(left_out=3, pilots=4),)
        assert plan.factors is None
        assert "There is no range: 3 of 4 pilots" in told


@pytest.mark.long
@needs_shared_data
def test_a_pilot_of_the_published_data_has_a_range():
    group = Group(("rater_race",), ("White",))
    asked = PlanSpec("labels", 0.24, (26, 100), (20, 100))
    plan = make_plan(task_of(data(), group, asked, min_raters=2), one_by_one)
    assert plan.factors is not None
    assert not plan.warnings


def test_a_pilot_that_is_too_small_is_refused():
    pilot = drawn(known_model(), raters=10, items=9, inside=3)
    task = PlanTask(ASSUMED, LABELS, None, (), pilot, (10, 9, 90))
    with pytest.raises(DataError, match="40 annotations or more"):
        make_plan(replace(task, spec=replace(ASSUMED, assumed=None)), one_by_one)


def test_a_range_that_cannot_be_simulated_is_refused():
    with pytest.raises(SpecError, match="more than 60,000 annotations"):
        make_plan(assumed_task(replace(ASSUMED, raters=(1000, 2000), items=(500, 900))), one_by_one)


def test_a_plan_in_words_tables_and_files(assumed: tuple[Plan, list[Plan]]):
    plan, _ = assumed
    choice = cheapest(plan)
    assert choice is not None
    assert sentences(plan)[0].plain.startswith(f"{choice.raters} raters and {choice.items} items, ")
    told = sentences(plan)[0].plain
    at_an_end = choice.raters in plan.spec.raters or choice.items in plan.spec.items
    assert ("It lies at an end of the range" in told) == at_an_end
    narrow = replace(plan, spec=replace(plan.spec, raters=(choice.raters, plan.spec.raters[1])))
    assert f"It lies at an end of the range, {choice.raters} raters" in sentences(narrow)[0].plain
    assert surface_table(plan).shape[1] == 13
    lines = recruitment_csv(plan).splitlines()
    assert lines[0] == "group,have,needed,recruit,annotations,cost"
    assert sum(int(line.split(",")[2]) for line in lines[1:]) == choice.raters
    book = openpyxl.load_workbook(io.BytesIO(recruitment_xlsx(plan)))
    assert [cell.value for cell in book["Recruitment"][2]][:2] == ["the group", 0]
    assert f"{choice.raters:,} raters and {choice.items:,} items" in plan_chart(plan).to_dict()["description"]


def test_a_leaning_that_all_share_is_no_difference():
    pilot = drawn(known_model(), raters=60, items=60, inside=20)
    model = model_of(pilot, PlanSpec("labels", 0.3, (16, 120), (10, 100)), LABELS)
    assert model.centres[1] == pytest.approx(model.centres[0], abs=0.3)


def test_the_command(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]):
    monkeypatch.setattr(workers, "processes", workers.threads)
    monkeypatch.chdir(tmp_path)
    for name, content in zip(("votes.csv", "raters.csv"), files(*simulate(1)), strict=True):
        Path(name).write_bytes(content)
    out = ["--out", "plan.json", "--recruitment", "whom.csv", "--chart", "plan.svg"]
    whose = ["--annotations", "votes.csv", "--raters", "raters.csv", "--group", "gender=Woman"]
    ranges = ["--range-raters", "16:80", "--range-items", "10:60"]
    assert cli.main(["plan", *whose, *ranges, "--size", "25", *out]) == 0
    said = capsys.readouterr()
    assert "Items by raters and chance" in said.out
    document = json.loads(Path("plan.json").read_text(encoding="utf-8"))
    assert document["format"] == "grasp-plan"
    assert from_json(document["plan"], Plan).pilot is not None
    assert Path("whom.csv").read_text(encoding="utf-8").startswith("group,have")
    assert "<svg" in Path("plan.svg").read_text(encoding="utf-8")


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ([], "a plan takes a pilot"),
        (["--assume"], "the size of the difference has to be said"),
        (["--assume", "--group", "a=b"], "leave out --annotations and --group"),
        (["--assume", "--size", "5", "--chart", "a.txt"], "--chart takes a file that ends in"),
        (["--assume", "--size", "5", "--range-items", "5"], "is written LOW:HIGH"),
    ],
)
def test_what_the_command_refuses(options, said, capsys: pytest.CaptureFixture[str]):
    assert _status(["plan", *options]) == 2
    assert said in capsys.readouterr().err


def _status(arguments: list[str]) -> int:
    try:
        return cli.main(arguments)
    except SystemExit as ended:
        return int(str(ended.code))
