"""The map of raters on its page: asked for once, kept with the run, and shown to strangers from then on."""

from dataclasses import replace

import pytest
from streamlit.testing.v1 import AppTest

from grasp_core.engine.service import BROUGHT
from grasp_core.model.spec import AnalysisSpec, RunSpec
from grasp_core.server.server import Server
from grasp_core.store.schema import chunks, files
from tests.pages.visits import files_in, labels, seen, widget
from tests.permutation.simulated import DATA_SPEC, dataset, simulate
from tests.permutation.simulated import files as written
from tests.results import make_result
from tests.stored import stored_run

FILES = dict(zip(("votes.csv", "raters.csv"), written(*simulate(1)), strict=True))
SPEC = RunSpec(DATA_SPEC, AnalysisSpec(axes=(("gender",), ("race",)), permutations=100))


def map_page(run_id, stranger, values):
    from grasp_core.model.groups import Group
    from grasp_core.server import server
    from pages._ui.helpers.widgets import Shown
    from pages._ui.result.on_demand import has_rater_map, show_rater_map

    shared = server.shared()
    run = shared.runs.get(run_id)
    shown = Shown(run_id, shared.service.result(run_id), run.title, run=run, stranger=stranger)
    if has_rater_map(shown):
        show_rater_map(shown, Group(("race",), values) if values else None)


def visit(run_id: str, *, stranger: bool = False, values: tuple[str, ...] = ()) -> AppTest:
    page = AppTest.from_function(map_page, default_timeout=60, args=(run_id, stranger, values))
    page.session_state["rater-map-table-the map"] = page.session_state["rater-map-table-Black"] = True
    return page.run()


@pytest.fixture
def run_id(server: Server) -> str:
    """A run that is done, with its files on the server."""
    result = replace(make_result(), spec=SPEC, data=dataset(1).summary)
    run = stored_run(server, result, FILES)
    return run.id


def test_it_is_drawn_when_looked_at_and_kept(server: Server, run_id: str) -> None:
    page = visit(run_id)
    assert not page.exception
    for found in (page, visit(run_id)):
        assert not found.button
        assert "No axis explains more" in seen(found.markdown)
        axes, groups = (frame.value for frame in found.dataframe)
        assert axes["Axis"].tolist() == ["gender", "race"]
        assert groups["Group"].tolist() == ["Man", "Woman", "Asian", "Black", "White"]
    colours = widget(page.segmented_control, "Coloured by")
    q = [float(text) for text in axes["q"]]
    assert colours.value == q.index(min(q))  # the axis that explains most clearly
    colours.set_value(1).run()
    assert not page.exception
    labels = files_in(page, "map of raters")
    assert "map of raters (JSON)" in labels
    assert "map of raters (SVG)" in labels


def test_strangers_see_it_once_it_is_made_and_ask_nothing(server: Server, run_id: str) -> None:
    before = visit(run_id, stranger=True)
    assert not before.button
    assert not before.caption
    visit(run_id)
    page = visit(run_id, stranger=True)
    assert not page.exception
    assert len(page.dataframe) == 2
    assert "map of raters (JSON)" not in labels(page.get("download_button"))


def test_a_groups_own_view(server: Server, run_id: str) -> None:
    visit(run_id)
    page = visit(run_id, values=("Black",))
    assert not page.exception
    assert not page.segmented_control
    assert not page.markdown
    assert page.dataframe[0].value["Group"].tolist() == ["Black"]
    assert not visit(run_id, values=("Martian",)).exception


def test_without_the_files_it_says_what_would_do(server: Server, run_id: str) -> None:
    with server.database.begin() as connection:
        connection.execute(chunks.delete())
        connection.execute(files.delete())
    page = visit(run_id)
    assert "is no longer on this server; bring it again on Data, then run" in seen(page.warning)
    brought = server.runs.add(server.service.result(run_id), title="Brought", owner="")
    page = visit(brought.id)
    assert BROUGHT in seen(page.warning)
    assert not page.exception


def test_one_that_cannot_be_read_is_made_again(server: Server, run_id: str) -> None:
    server.answers.keep(run_id, "rater-map", {"of": "another version"})
    page = visit(run_id)
    assert not page.exception
    assert len(page.dataframe) == 2
