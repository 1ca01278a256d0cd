"""The page Plan: asked, watched, kept with the run, and shown to strangers."""

import threading
import time
from dataclasses import replace

import pytest
from streamlit.testing.v1 import AppTest

from grasp_core.analysis.planner.simulation import PlanTask
from grasp_core.model.access import User
from grasp_core.model.errors import SpecError
from grasp_core.model.spec import AnalysisSpec, RunSpec
from grasp_core.server.server import Server
from tests.computing import compute_in_threads
from tests.pages.people import ANN, BOB, ROOT, become
from tests.pages.visits import PATIENCE_S, labels, press, seen, widget
from tests.permutation.simulated import DATA_SPEC, dataset, simulate
from tests.permutation.simulated import files as written
from tests.stored import stored_run

FILES = dict(zip(("votes.csv", "raters.csv"), written(*simulate(1)), strict=True))
SPEC = RunSpec(DATA_SPEC, AnalysisSpec(axes=(("gender",),), permutations=100, pairs=False))
BUTTON = "Make the plan"
pytestmark = pytest.mark.usefixtures("few_data_sets")


def made(page: AppTest, server: Server, key: str) -> AppTest:
    """The page once the plan that its address names has ended."""
    value = page.query_params["plan"]
    name = value if isinstance(value, str) else value[0]
    making = server.plans.find(f"{key}plan {name}")
    assert making.ended.wait(PATIENCE_S)
    return page.run()


def kept_page(run_id):
    from grasp_core.server import server
    from pages._ui.plan import show_kept_plans

    show_kept_plans(server.shared().runs.get(run_id))


def test_a_plan_from_assumed_figures(page: AppTest, server: Server) -> None:
    page.switch_page("plan.py").run()
    assert "There is no result of groups here yet" in seen(page.info)
    widget(page.segmented_control, "Plan from").set_value("Assumed figures").run()
    widget(page.number_input, "Points more often").set_value(20.0).run()
    press(page, BUTTON)
    made(page, server, "")
    assert not page.exception
    assert "Looked for: a difference in label use as chosen" in seen(page.markdown)
    lines, whom = (frame.value for frame in page.dataframe)
    assert lines["Raters"].iloc[-1] == "400"
    assert whom["Group"].tolist() == ["the group", "all others"]
    assert "recruitment (XLSX)" in labels(page.get("download_button"))


def test_a_plan_in_the_making_says_how_much_time_is_left(page: AppTest, server: Server) -> None:
    page.switch_page("plan.py").run()
    widget(page.segmented_control, "Plan from").set_value("Assumed figures").run()
    press(page, BUTTON)
    name = made(page, server, "").query_params["plan"]
    making = server.plans.find(f"plan {name[0] if isinstance(name, list) else name}")
    assert making is not None
    assert making.found is not None
    making.found = replace(making.found, done=300, total=400)
    making.began = time.monotonic() - 3600
    making.ended.clear()
    page.run()
    (bar,) = page.get("progress")
    assert bar.proto.text == "300 of about 400 simulated data sets, about 20 minutes left"


@pytest.mark.parametrize(("visitor", "offered"), [(ANN, True), (BOB, False), (ROOT, True)])
def test_a_plan_is_cancelled_by_who_asked_for_it_or_an_admin(
    page: AppTest, server: Server, monkeypatch: pytest.MonkeyPatch, visitor: User, offered: bool
) -> None:
    going_on = threading.Event()

    def wait() -> PlanTask:
        assert going_on.wait(PATIENCE_S)
        raise SpecError("enough")

    making = server.plans.ask("plan x", wait, lambda plan: None, owner=ANN.id)
    try:
        become(visitor, monkeypatch)
        page.switch_page("plan.py")
        page.query_params["plan"] = "x"
        page.query_params["plan-from"] = "Assumed figures"
        page.run()
        assert not page.exception
        assert ("Cancel the plan" in labels(page.button)) is offered
        if offered:
            press(page, "Cancel the plan")
        assert making.cancelled is offered
    finally:
        going_on.set()


def test_what_cannot_be_planned_is_told_and_not_offered(page: AppTest, server: Server) -> None:
    page.switch_page("plan.py").run()
    widget(page.segmented_control, "Plan from").set_value("Assumed figures").run()
    widget(page.number_input, "Most items").set_value(5).run()
    assert "items range from 4 or more" in seen(page.error)
    assert BUTTON not in labels(page.button)


def test_a_plan_from_a_run_is_kept_with_it(page: AppTest, server: Server) -> None:
    data = dataset(1)
    run = stored_run(server, compute_in_threads(data, SPEC), FILES)
    page.switch_page("plan.py")
    page.query_params["run"] = run.id
    page.run()
    press(page, BUTTON)
    made(page, server, f"{run.id} ")
    assert not page.exception
    assert "in 8 of 10 such pilots" in seen(page.markdown)
    (name,) = server.answers.names(run.id, "plan ")
    assert server.answers.find(run.id, name)["pilot"][0] == data.annotations.n_raters
    below = AppTest.from_function(kept_page, default_timeout=60, args=(run.id,)).run()
    assert not below.exception
    assert below.expander[0].label.startswith("Plan: label use of ")


def test_it_begins_with_the_group_that_was_found(page, server, example_result) -> None:
    run = server.runs.add(example_result, title="A run", owner="")
    page.query_params["run"] = run.id
    page.switch_page("plan.py").run()
    assert (
        widget(page.selectbox, "Group").format_func(widget(page.selectbox, "Group").value) == "Black, Woman"
    )
