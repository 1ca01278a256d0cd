"""A group's items on Results: asked for, found again, and never shown to strangers."""

import functools

import pytest
from streamlit.testing.v1 import AppTest

from grasp_core.analysis.items.outcomes import ItemsResult
from grasp_core.analysis.items.panel import ItemsRequest, look_at_items
from grasp_core.engine.service import BROUGHT
from grasp_core.model.data_spec import DataSpec
from grasp_core.model.groups import Group
from grasp_core.model.result import RunResult
from grasp_core.model.spec import AnalysisSpec, RunSpec
from grasp_core.reading.dataset.load import Dataset, load
from grasp_core.reading.sandbox.read import read_table
from grasp_core.server.server import Server
from grasp_core.store.runs import RunRecord
from tests.computing import compute_in_threads
from tests.pages.visits import everything, press, seen, visit, widget
from tests.stored import stored_run

ITEMS = 60
LEFT = {"items-of": "left"}
LONG = "harmful " * 140_000
SPEC = RunSpec(
    DataSpec(item="item", rater="rater", label="label", text="words"),
    AnalysisSpec(axes=(("side",),), permutations=4_000),
)


@functools.cache
def files() -> dict[str, bytes]:
    """Sixteen raters, of whom half see item i1 the other way round; the text of i0 is a megabyte."""
    votes, raters = ["item,rater,label,words"], ["rater,side"]
    for j in range(16):
        raters.append(f"r{j},{'left' if j < 8 else 'right'}")
        for i in range(ITEMS):
            yes = (i * 7 + j * 5) % 11 < 3 if i != 1 else j < 8
            text = (LONG if i == 0 else f"What of {i}?") if j == 0 else ""
            votes.append(f"i{i},r{j},{'Yes' if yes else 'No'},{text}")
    return {"votes.csv": "\n".join(votes).encode(), "raters.csv": "\n".join(raters).encode()}


@functools.cache
def dataset() -> Dataset:
    return load(*(read_table(content, name) for name, content in files().items()), SPEC.data, ("side",))


@functools.cache
def result() -> RunResult:
    return compute_in_threads(dataset(), SPEC)


@pytest.fixture
def run(server: Server) -> RunRecord:
    """A run that is done, with its files on the server."""
    return stored_run(server, result(), files())


def items_of(page: AppTest) -> object:
    return next(frame.value for frame in page.dataframe if "Item" in frame.value)


def test_items_are_found_when_looked_at_and_kept(server: Server, run: RunRecord) -> None:
    page = visit("results", run=run.id, view="Items", **LEFT)
    assert "Which items cause the difference?" in seen(page.header)
    assert not page.exception
    assert "1 of" in seen(page.markdown)
    assert "both sides differ more than luck explains: **i1**" in seen(page.markdown)
    assert len(_names(server, run)) == 1
    table = items_of(visit("results", run=run.id, view="Items", **LEFT))
    assert next(iter(table["Item"])) == "i1"
    assert next(iter(table["Text"])) == "What of 1?"
    assert len(table) == 50
    assert len(_names(server, run)) == 1


def test_where_it_takes_long_they_are_asked_for(run: RunRecord, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("pages._ui.result.on_demand._SOON", 1_000)
    page = visit("results", run=run.id, view="Items", **LEFT)
    assert not any("Item" in frame.value for frame in page.dataframe)
    assert len(items_of(press(page, "Find the items"))) == 50


def test_the_first_screen_shows_where_a_finding_shows_most(run: RunRecord) -> None:
    page = visit("results", run=run.id)
    assert "Where it shows most" in seen(page.header)
    assert "“What of 1?”" in seen(page.markdown)
    assert [bar.proto.text.replace("\\", "") for bar in page.get("progress")] == [
        "right: 8 of 8 say “No”",
        "Others: 0 of 8 say “No”",
    ]
    assert items_of(press(page, "All items")) is not None


def test_a_groups_view_shows_three_items_and_leads_to_all_of_them(run: RunRecord) -> None:
    page = visit("results", run=run.id, group="left")
    headers = [header.value for header in page.header]
    first = headers.index("Where its answers differ most")
    assert first < headers.index("Label use") < headers.index("Against chance")
    assert len(page.get("progress")) == 6
    assert page.get("progress")[0].proto.text.replace("\\", "") == "left: 8 of 8 say “Yes”"
    press(page, "All items")
    assert widget(page.selectbox, "Items of which group").value == 0
    assert "left" in items_of(page)


def test_measure_order_and_page_are_chosen(run: RunRecord) -> None:
    page = visit("results", run=run.id, view="Items", **LEFT)
    widget(page.segmented_control, "Items differ in").set_value("label_use").run()
    assert "Label" in items_of(page)
    widget(page.selectbox, "Order of the items").set_value("item").run()
    first = items_of(page)
    assert list(first["Item"])[:2] == ["i0", "i1"]
    assert first["Text"][0].endswith("…")
    assert len(first["Text"][0]) < 400
    widget(page.number_input, "Page of 2").set_value(2).run()
    assert next(iter(items_of(page)["Item"])) == "i50"
    assert not page.exception


def test_the_page_says_what_the_command_would(server: Server, run: RunRecord) -> None:
    visit("results", run=run.id, group="left")
    asked = ItemsRequest(SPEC, Group(("side",), ("left",)), 4_000)
    name = next(iter(_names(server, run)))
    kept = ItemsResult.from_dict(server.answers.find(run.id, name))
    assert kept == look_at_items(dataset(), asked, lambda function, tasks: map(function, tasks))


def _names(server: Server, run: RunRecord) -> list[str]:
    from grasp_core.store.database import to_read
    from grasp_core.store.schema import answers

    with to_read(server.database) as connection:
        kept = [row.name for row in connection.execute(answers.select()) if row.run_id == run.id]
    return [name for name in kept if name.startswith("items ")]


def test_without_the_data_there_is_a_sentence(server: Server) -> None:
    brought = server.runs.add(result(), title="A result", owner="")
    page = visit("results", run=brought.id, group="left")
    assert BROUGHT in seen(page.warning)
    assert not page.exception


def test_strangers_see_neither_items_nor_their_texts(server: Server, run: RunRecord) -> None:
    visit("results", run=run.id, group="left")
    token = server.links.create(run.id, created_by="")
    for address in ({"group": "left"}, {"view": "Items"}):
        page = visit("shared", **{"token": token, **address})
        assert not page.exception
        assert "Which items cause the difference?" not in everything(page)
        assert "What of 1?" not in everything(page)
        assert "i1" not in [cell for frame in page.dataframe for cell in frame.value.to_numpy().ravel()]


def _choice() -> None:
    import streamlit as st

    from pages._ui.result.on_demand import _choose_group
    from tests.results import make_result

    st.text(_choose_group(make_result()).label)


def test_the_strongest_finding_is_chosen_at_first() -> None:
    page = AppTest.from_function(_choice).run()
    assert [text.value for text in page.text] == ["White, Man"]
