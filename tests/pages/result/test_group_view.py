"""Results: the first screen's findings, and one group by itself."""

from __future__ import annotations

from dataclasses import replace

from streamlit.testing.v1 import AppTest

from grasp_core.result import Findable, RunResult
from grasp_core.server import Server
from tests.labels import ORDER, TABLE_OF_GROUPS
from tests.pages.conftest import ENTRY
from tests.pages.visits import press, seen, view, widget
from tests.results import make_outcome, make_result, saying, with_pairs


def visit(server: Server, result: RunResult, **query: str) -> AppTest:
    page = AppTest.from_file(ENTRY, default_timeout=60).run()
    for name, value in {"run": server.runs.add(result, title="A run", owner="").id, **query}.items():
        page.query_params[name] = value
    return page.switch_page("results.py").run()


def found(*names: str) -> RunResult:
    return make_result(tuple(saying(name, 0.112) for name in names), statistics=("gai",), dsi=())


def test_up_to_four_findings_stand_first_and_the_rest_is_counted(server: Server) -> None:
    page = visit(server, found(*"ABCDEF"))
    assert seen(page.header).startswith("6 of 6 groups stand out, even after correction: **A**; **B**")
    assert [one.value for one in page.subheader] == ["A", "B", "C", "D"]
    assert "And 2 more groups stand out" in seen(page.caption)
    assert "say “**unsafe**” 11 points more often than the others on the same items" in seen(page.markdown)


def test_where_nothing_holds_a_card_says_so_and_what_could_have_been_found(server: Server) -> None:
    row = saying("Woman", 0.05, "nominal", gai=make_outcome(1.0, "up"))
    result = make_result((row,), statistics=("gai",), dsi=())
    page = visit(server, replace(result, findable=(Findable(row.n_raters, 0.2),)))
    assert seen(page.subheader) == "No group is clear"
    assert "four runs in five would find a lone group" in seen(page.markdown)
    press(page, "Look at Woman")
    assert seen(page.header).startswith("Woman\nLabel use")
    assert "nominal only" in seen(page.markdown)


def test_a_card_leads_to_its_group_by_the_address_and_back(server: Server) -> None:
    page = view(visit(server, found("Woman", "Man")), "Labels")
    press(page, "Look at Man")
    assert page.query_params["group"] == "Man"
    assert seen(page.header).startswith("Man\nLabel use")
    page.session_state["group-labels"] = page.session_state["group-table"] = True
    page.run()
    assert [list(frame.value["Points"]) for frame in page.dataframe if "Points" in frame.value] == [
        [11.2, -11.2]
    ]
    press(page, "All groups")
    assert "group" not in page.query_params
    assert seen(page.header).endswith("Who says what more often\nOne label in every group")


def test_pairs_have_a_view_and_stand_with_each_of_their_groups(server: Server) -> None:
    page = view(visit(server, with_pairs()), "Pairs")
    assert not page.exception
    assert "Groups two by two" in seen(page.header)
    page.query_params["group"] = "White"
    assert "Beside each other group" in seen(page.run().header)
    assert not page.exception


def test_the_list_of_groups_leads_there_too(server: Server) -> None:
    page = visit(server, found("Woman", "Man"))
    widget(page.selectbox, "Look at one group").set_value("Woman").run()
    assert page.query_params["group"] == "Woman"
    widget(page.selectbox, "Look at one group").set_value(None).run()
    assert "group" not in page.query_params


def test_a_group_that_is_not_there_is_passed_over(server: Server) -> None:
    page = visit(server, found("Woman"), group="Nobody", view="Nothing")
    assert not page.exception
    assert TABLE_OF_GROUPS in seen(page.header)


def test_names_stay_inert_on_cards_and_in_a_groups_view(server: Server) -> None:
    hostile = "<script>alert(1)</script> :red[x] **b**"
    page = visit(server, found(hostile))
    assert hostile in seen(page.subheader)
    button = next(one for one in page.button if one.label.startswith("Look at"))
    assert "<script" not in button.label.replace("\\<", "")
    button.click().run()
    assert hostile in seen(page.header)


def test_choices_of_a_view_outlast_a_look_at_another(server: Server) -> None:
    page = visit(server, make_result())
    widget(page.selectbox, ORDER).set_value("q").run()
    view(view(page, "Axes"), "Groups")
    assert widget(page.selectbox, ORDER).value == "q"
