"""Plans: the model of a pilot, the smooth surface of power, the cheapest design, sentences and files."""

import io
import json
import math
import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import numpy as np
import openpyxl
import pytest

from grasp_core import cli
from grasp_core.analysis.planner import simulation
from grasp_core.analysis.planner._fitting import (
    LEAN,
    Model,
    Pilot,
    assumed_model,
    fit,
    measured,
    planted,
    size_of,
)
from grasp_core.analysis.planner.sample_size import (
    chance,
    cheapest,
    factor_of,
    fitted,
    items_needed,
    near_lines,
    observed_difference,
    recruitment,
    steps,
)
from grasp_core.analysis.planner.simulation import (
    PlanTask,
    SimulatedDesign,
    Trials,
    assumed_task,
    count_hits,
    make_plan,
    model_of,
    task_of,
)
from grasp_core.analysis.planner.values import Assumed, Cell, ChanceFit, Have, Plan, PlanSpec, Sizes, Target
from grasp_core.engine.pools import workers
from grasp_core.model.errors import DataError, SpecError
from grasp_core.model.groups import Group
from grasp_core.model.json_values import from_json, to_json
from grasp_core.model.remarks.cautions import PlanCaution
from grasp_core.report.charts.plan import plan_chart
from grasp_core.report.plan import lines_table, recruitment_csv, sentences, surface_table
from grasp_core.report.writers.spreadsheet import recruitment_xlsx
from tests.analysis.models.cases import data
from tests.commands import ran, write, written
from tests.permutation.simulated import named_files, simulate
from tests.shared_data import needs_shared_data

LABELS = ("no", "unsure", "yes")


def known_model(*, lean: float = 0.0, sharp: float = 1.0, own: float = 0.0) -> Model:
    """Items of very different shares, and a group that leans to the last label, or differs otherwise."""
    centres = np.array([[0.0, 0.0, 0.0, 0.0], [np.log(sharp), -lean / 3, -lean / 3, 2 * lean / 3]])
    return Model(np.zeros((1, 3)), np.array([0.5, 0.2, 0.3]), 2.5, centres, np.full(4, 0.3), own)


def drawn(model: Model, *, raters: int = 80, items: int = 80, inside: int = 24, seed: int = 1) -> Pilot:
    """Every rater labels every item."""
    item, rater = np.repeat(np.arange(items), raters), np.tile(np.arange(raters), items)
    member = np.arange(raters) < inside
    label = model.draw_labels(item, rater, items, member, np.random.default_rng(seed))
    return Pilot(item, rater, label, items, 3, member)


def with_odd_raters(*, seed: int = 1) -> Pilot:
    """Many raters of one mind, and six who say most of the time what the others hardly ever say."""
    raters, items = 40, 120
    item, rater = np.repeat(np.arange(items), raters), np.tile(np.arange(raters), items)
    rng = np.random.default_rng(seed)
    odd = (rater % 7 == 0) & (rng.random(item.size) < 0.9)
    usual = np.where(rng.random(item.size) < 0.95, 2 * (item % 2), 2 - 2 * (item % 2))
    return Pilot(item, rater, np.where(odd, 1, usual), items, 3, np.arange(raters) < 12)


# The model
SPEC = PlanSpec("labels", 0.3, (20, 200), (20, 200), size=10.0, label="yes")


def test_the_model_that_drew_a_pilot_is_found_again_and_odd_raters_are_fitted():
    found = fit(drawn(known_model(lean=0.9, sharp=0.6)))
    assert found.centres[0] == pytest.approx([0.0, 0.0, 0.0, 0.0], abs=0.2)
    assert found.centres[1] == pytest.approx([np.log(0.6), -0.3, -0.3, 0.6], abs=0.2)
    assert found.scatter == pytest.approx(np.full(4, 0.3), abs=0.16)
    assert found.overall == pytest.approx([0.5, 0.2, 0.3], abs=0.08)
    # Items spread a little less: raters who differ blur them.
    assert 1.7 < found.spread < 4.0
    # Whole Newton steps go too far for them, further each time, until nothing is a number any more
    found = fit(with_odd_raters())
    assert np.isfinite(found.centres).all()
    assert (found.scatter < 8).all()
    assert found.scatter.argmax() == LEAN + 1  # to "unsure", which they lean to or away from


@pytest.mark.parametrize("own", [0.0, 0.3])
def test_a_view_of_its_own_is_found_where_there_is_one(own):
    assert fit(drawn(known_model(own=own))).own == pytest.approx(own, abs=0.1)


@pytest.mark.parametrize(
    ("target", "size"),
    [
        *(("labels", 12.0), ("labels", -12.0), ("distance", 0.04), ("gap", 0.05), ("gap", -0.03)),
        *(("gai", 1.3), ("gai", 0.8), ("dsi", 1.2)),
    ],
)
def test_what_is_planted_has_the_size_that_was_asked(target: Target, size: float):
    spec = PlanSpec(target, 0.3, (20, 200), (20, 200), size=size, label="yes")
    found = measured(planted(known_model(lean=2.0, own=0.5), spec, LABELS), spec, LABELS)
    assert size_of(found, spec) == pytest.approx(size, rel=0.05)


def test_no_difference_is_in_what_only_has_the_labels_shifted_or_leans_as_all_do():
    found = measured(planted(known_model(own=0.5), SPEC, LABELS), SPEC, LABELS)
    assert found.points == pytest.approx(10, abs=0.2)
    assert found.gai == pytest.approx(1, abs=0.12)
    pilot = drawn(known_model(), raters=60, items=60, inside=20)
    model = model_of(pilot, PlanSpec("labels", 0.3, (16, 120), (10, 100)), LABELS)
    assert model.centres[1] == pytest.approx(model.centres[0], abs=0.3)


def test_without_a_size_the_group_differs_as_in_the_pilot():
    pilot = drawn(known_model(lean=0.8, own=0.25))
    spec = PlanSpec("labels", 0.3, (20, 200), (20, 200), label="yes")
    use, more, distance = observed_difference(pilot, spec, LABELS)
    found = measured(model_of(pilot, spec, LABELS), spec, LABELS)
    assert found.points == pytest.approx(100 * use[2], abs=1.5)
    assert found.within - found.agreement == pytest.approx(more, abs=0.02)
    assert found.distance == pytest.approx(distance, abs=0.01)


@pytest.mark.parametrize("often", [0.5, 0.02])
def test_where_no_model_has_all_that_the_pilot_has_it_has_the_use_of_labels(often: float):
    """A group that turns items round, and answers of a label that are few."""
    rng = np.random.default_rng(2)
    item, rater = (one.ravel() for one in np.indices((80, 40)))
    member = np.arange(40) < 12
    likely = np.clip(often + often * rng.choice([-0.8, 0.8], 80), 0, 1)
    turned = member[rater] & (often == 0.5)
    label = rng.random(item.size) < np.where(turned, 1 - likely[item], likely[item])
    pilot = Pilot(item, rater, label.astype(np.int64), 80, 2, member)
    labels, spec = ("no", "yes"), PlanSpec("labels", 0.3, (20, 200), (20, 200), label="yes")
    use, _, _ = observed_difference(pilot, spec, labels)
    found = measured(model_of(pilot, spec, labels), spec, labels)
    assert found.points == pytest.approx(100 * use[1], abs=1)


def test_a_size_out_of_reach_and_what_cannot_be_assumed_are_refused():
    ranges = (0.3, (20, 200), (20, 200))
    with pytest.raises(SpecError, match=r"can be planned for from .* to .*; found 3"):
        planted(known_model(), PlanSpec("distance", *ranges, size=3.0), LABELS)
    with pytest.raises(SpecError, match="the DSI to be found is above 1"):
        planted(known_model(), PlanSpec("dsi", *ranges, size=0.9), LABELS)
    with pytest.raises(SpecError, match="2 to 20 labels"):
        Assumed(labels=1)
    with pytest.raises(SpecError, match=r"between 0\.02 and 0\.9"):
        Assumed(agreement=0.99)


@pytest.mark.parametrize("agreement", [0.1, 0.4, 0.7])
def test_assumed_raters_agree_as_assumed(agreement):
    spec = PlanSpec("labels", 0.3, (20, 200), (20, 200), size=10.0)
    model = assumed_model(Assumed(3, agreement), seed=1)
    assert measured(model, spec, ("a", "b", "c")).agreement == pytest.approx(agreement, abs=0.01)


# The surface
SPEC_SURFACE = PlanSpec("labels", 0.25, (20, 400), (20, 1000))
TRUE = ChanceFit(1.5, 0.6, 0.5, 0.1, 90.0, 9000.0, two_sided=False, miss=0.0)


def cells(fit: ChanceFit, factor: float = 1.0, spec: PlanSpec = SPEC_SURFACE) -> list[Cell]:
    """What so many data sets would give without chance."""
    designs = [(raters, items) for raters in (20, 60, 180, 400) for items in (20, 100, 400)]
    found = [float(chance(fit, np.array(j), np.array(spec.annotations(j, i)), factor)) for j, i in designs]
    return [Cell(j, i, 1000, round(1000 * share)) for (j, i), share in zip(designs, found, strict=True)]


def plan(spec: PlanSpec = SPEC_SURFACE) -> Plan:
    have = (Have("Woman", 12, True), Have("Man", 30, False), Have("smaller groups", 3, False))
    sizes = Sizes("yes", 10.0, 0.02, 0.4, 0.0, 1.0, 0.4)
    return Plan(spec, None, have, sizes, (), TRUE, (0.7, 1.4), (45, 60, 2700), 10, 10)


def test_a_range_of_one_answer_is_told_as_one():
    said = sentences(replace(plan(), factors=(1e-3, 2e-3)))[1].plain
    assert said.endswith("in 8 of 10 such pilots the answer is more than this range has.")


def test_a_plan_that_is_not_whole_is_told_as_rough():
    rough = sentences(replace(plan(), done=3))
    assert rough[0].plain == "Rough so far: most of the data sets are still simulated."
    assert not any(part.strong for sentence in rough for part in sentence.segments)
    assert any(part.strong for part in sentences(plan())[0].segments)
    assert "as in the model that was fitted to the pilot" in " ".join(one.plain for one in rough)


def test_where_the_pilot_has_raters_enough_nobody_is_to_be_recruited():
    for women, told in ((900, True), (1, False)):
        have = (Have("Woman", women, True), Have("Man", 900, False))
        assert ("Nobody has to be recruited" in sentences(replace(plan(), have=have))[1].plain) is told


@pytest.mark.parametrize("two_sided", [False, True])
def test_the_curve_behind_the_shares_is_found_again(two_sided):
    true = replace(TRUE, two_sided=two_sided)
    spec = replace(SPEC_SURFACE, target="gai") if two_sided else SPEC_SURFACE
    found = fitted(cells(true), spec)
    assert found.miss < 0.01
    raters, annotations = np.array([30.0, 100, 300]), np.array([3000.0, 20_000, 300_000])
    assert chance(found, raters, annotations) == pytest.approx(chance(true, raters, annotations), abs=0.03)


def test_the_chance_grows_with_raters_and_annotations_from_the_level_of_the_test():
    raters, annotations = np.meshgrid(np.geomspace(1, 1e4, 40), np.geomspace(1, 1e7, 40))
    found = chance(TRUE, raters, annotations)
    assert (np.diff(found, axis=0) >= 0).all()
    assert (np.diff(found, axis=1) >= 0).all()
    assert found[0, 0] == pytest.approx(0.05, abs=0.01)


def test_items_needed_reach_the_chance_a_factor_is_found_again_and_designs_near_lines_are_near():
    items = items_needed(TRUE, SPEC_SURFACE, 0.8, 150)
    assert chance(TRUE, np.array(150.0), np.array(150 * items)) == pytest.approx(0.8, abs=0.005)
    assert items_needed(TRUE, SPEC_SURFACE, 0.95, 5) == math.inf
    each = replace(SPEC_SURFACE, each=5)
    assert items_needed(TRUE, each, 0.8, 150) == pytest.approx(items * 30)
    assert factor_of(TRUE, cells(TRUE, 1.6), SPEC_SURFACE) == pytest.approx(1.6, rel=0.02)
    found = near_lines(TRUE, SPEC_SURFACE, steps(SPEC_SURFACE.raters), steps(SPEC_SURFACE.items), along=3)
    shares = [float(chance(TRUE, np.array(j), np.array(j * i))) for j, i in found]
    assert len(found) == len(set(found)) <= 9
    assert all(min(abs(share - line) for line in (0.5, 0.8, 0.95)) < 0.12 for share in shares)


def test_nothing_that_reaches_the_goal_is_cheaper_than_the_cheapest():
    found = cheapest(plan())
    assert found is not None
    for raters in steps(SPEC_SURFACE.raters):
        needed = items_needed(TRUE, SPEC_SURFACE, SPEC_SURFACE.goal, raters)
        if needed <= SPEC_SURFACE.items[1]:
            assert found.cost <= raters * max(math.ceil(needed), SPEC_SURFACE.items[0])
    dear = cheapest(plan(replace(SPEC_SURFACE, per_rater=2000.0)))
    assert dear.raters < found.raters
    assert cheapest(plan(), factor=0.2) is None


def test_recruitment_adds_up_and_counts_whom_one_has():
    rows = recruitment(plan(replace(SPEC_SURFACE, per_rater=10.0)), 100, 50)
    assert [(row.group, row.have, row.needed, row.recruit) for row in rows] == [
        ("Woman", 12, 25, 13),
        ("Man", 30, 68, 38),
        ("smaller groups", 3, 7, 4),
    ]
    assert rows[0].annotations == 25 * 50
    assert rows[0].cost == 25 * 50 + 130


@pytest.mark.parametrize(
    ("changed", "said"),
    [
        ({"goal": 0.7}, "the goal is a chance of"),
        ({"share": 0.0}, "share of the raters"),
        ({"raters": (20, 20)}, "raters range from 4"),
        ({"items": (1, 20)}, "items range from 4"),
        ({"share": 0.05}, "fewer than 2 on one side"),
        ({"each": 40}, "labels an item are 2 to 20"),
        ({"per_annotation": 0.0}, "one of them is above"),
    ],
)
def test_what_cannot_be_planned_is_refused(changed, said):
    with pytest.raises(SpecError, match=said):
        replace(SPEC_SURFACE, **changed)


# Plans
ASSUMED = PlanSpec("labels", 0.25, (16, 120), (10, 100), size=20.0, assumed=Assumed())


@pytest.fixture(autouse=True, scope="module")
def few_data_sets() -> Iterator[None]:
    few = {"ROUGH": 10, "PASSES": (15,), "ALONG": 1, "PILOTS": 4, "OF_PILOT": 10}
    with pytest.MonkeyPatch.context() as patch:
        for name, value in few.items():
            patch.setattr(simulation, name, value)
        yield


@pytest.fixture(scope="module")
def assumed(few_data_sets: None) -> tuple[Plan, list[Plan]]:
    """A plan without a pilot, and as it was told of while it was made."""
    told: list[Plan] = []
    return make_plan(assumed_task(ASSUMED), map, told.append), told


OTHERS = [pytest.param(target, marks=pytest.mark.long) for target in ("distance", "gap", "dsi")]


@pytest.mark.parametrize("target", ["labels", "gai", *OTHERS])
def test_without_a_difference_a_test_finds_one_in_5_of_100(target: Target):
    trial = SimulatedDesign((10, 15, 15) if target == "dsi" else (10, 30), 12, None)
    hits = count_hits(Trials(known_model(), trial, target, LABELS, "nominal", (1,), 0, 200))
    # Binomial, 200 draws of .05: 2 to 21 with a probability above .999; GAI without a value finds nothing.
    assert 2 <= hits <= 21


def test_a_difference_is_found_more_often_by_more_raters_with_more_labels():
    model = known_model(lean=0.9)

    def hits(sizes: tuple[int, ...], items: int, each: int | None = None) -> int:
        return count_hits(
            Trials(model, SimulatedDesign(sizes, items, each), "labels", LABELS, "nominal", (1,), 0, 60)
        )

    assert hits((6, 18), 10) + 15 < hits((24, 72), 20)
    assert hits((24, 72), 20, 4) + 5 < hits((24, 72), 80, 12)


def test_plans_are_the_same_whoever_computes_them_in_words_tables_and_files(assumed: tuple[Plan, list[Plan]]):
    plan, told = assumed
    assert make_plan(assumed_task(ASSUMED), map) == plan
    assert from_json(json.loads(json.dumps(to_json(plan))), Plan) == plan
    assert plan.whole
    assert [one.done for one in told] == sorted(one.done for one in told)
    assert not told[0].whole
    assert plan.factors is None
    assert "no range" in " ".join(one.plain for one in sentences(plan))
    plan, _ = assumed
    choice = cheapest(plan)
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


@pytest.mark.long
def test_a_pilot_gives_a_range_around_the_answer():
    pilot = drawn(known_model(lean=0.7), raters=40, items=40, inside=12)
    spec = PlanSpec("labels", 0.3, (16, 120), (10, 100), label="yes")
    have = (Have("Woman", 12, True), Have("Man", 28, False))
    plan = make_plan(PlanTask(spec, LABELS, None, have, pilot, (40, 40, 1600)), map)
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

    monkeypatch.setattr(simulation, "model_of", some)
    pilot = drawn(known_model(), raters=20, items=20, inside=6)
    have = (Have("Woman", 6, True), Have("Man", 14, False))
    task = PlanTask(replace(ASSUMED, assumed=None, label="yes"), LABELS, None, have, pilot, (20, 20, 400))
    plan = make_plan(task, map)
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
    plan = make_plan(task_of(data(), group, asked, min_raters=2), map)
    assert plan.factors is not None
    assert not plan.warnings


def test_a_pilot_that_is_too_small_and_a_range_that_cannot_be_simulated_are_refused():
    pilot = drawn(known_model(), raters=10, items=9, inside=3)
    task = PlanTask(replace(ASSUMED, assumed=None), LABELS, None, (), pilot, (10, 9, 90))
    with pytest.raises(DataError, match="40 annotations or more"):
        make_plan(task, map)
    with pytest.raises(SpecError, match="more than 60,000 annotations"):
        make_plan(assumed_task(replace(ASSUMED, raters=(1000, 2000), items=(500, 900))), map)


def test_the_command(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]):
    monkeypatch.setattr(workers, "processes", workers.threads)
    monkeypatch.chdir(tmp_path)
    write(tmp_path, named_files(*simulate(1)))
    out = ["--out", "plan.json", "--recruitment", "whom.csv", "--chart", "plan.svg"]
    whose = ["--annotations", "votes.csv", "--raters", "raters.csv", "--group", "gender=Woman"]
    ranges = ["--range-raters", "16:80", "--range-items", "10:60"]
    said = ran(capsys, "plan", *whose, *ranges, "--size", "25", *out)
    assert "Items by raters and chance" in said.out
    document = written("plan.json")
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
    with pytest.raises(SystemExit) as ended:
        sys.exit(cli.main(["plan", *options]))
    assert ended.value.code == 2
    assert said in capsys.readouterr().err
