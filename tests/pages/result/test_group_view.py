"""Results: the first screen's findings, and one group by itself."""

from dataclasses import replace

from streamlit.testing.v1 import AppTest

from grasp_core.model.result import Everybody, Findable, RunResult
from grasp_core.report.findings.answer import NO_DIFFERENCE
from grasp_core.server.server import Server
from tests.labels import DATA_AND_METHODS, ORDER
from tests.pages.visits import press, seen, view, visit, widget
from tests.results import judged, make_result, saying, with_pairs


def opened(server: Server, result: RunResult, **query: str) -> AppTest:
    return visit("results", **{"run": server.runs.add(result, title="A run", owner="").id, **query})


def found(*names: str) -> RunResult:
    return make_result(tuple(saying(name, 0.112) for name in names), statistics=("gai",), dsi=())


def test_the_title_is_the_clearest_finding_and_counts_stand_below(server: Server) -> None:
    rows = [judged(saying(name, 0.112), "clear", "labels") for name in "ABCDEFGHIJ"]
    page = opened(server, make_result(tuple(rows), statistics=("gai",), dsi=()))
    assert seen(page.title) == "**A** raters say “**unsafe**” in 11 more of 100 answers than everybody else"
    assert "All ten groups answer differently, more than luck explains." in seen(page.markdown)
    assert seen(page.header) == "How sure\nWhat to do"
    assert "2 more groups" in [one.label for one in page.button]


def test_where_nothing_is_clear_it_says_what_would_have_shown(server: Server) -> None:
    row = judged(saying("Woman", 0.05, "nominal"), "hint", "labels", p=0.02, q=0.2, bound=0.3)
    result = make_result((row,), statistics=("gai",), dsi=())
    together = Everybody(0.24, 0.1, 0.4, None, 350, 0.7, 0.1, (), (), ())
    page = opened(server, replace(result, findable=(Findable(row.n_raters, 0.2),), everybody=together))
    assert seen(page.title) == NO_DIFFERENCE
    assert "Differences of 20 in 100 answers" in seen(page.markdown)
    assert seen(page.header) == "How sure\nWhat to do\nAll raters together"
    assert "They agree little: 0.24 (0 is chance, 1 is perfect). Read the items" in seen(page.markdown)
    press(page, "See on which items")
    assert page.query_params["view"] == "Items"
    assert "On which items do all raters agree least?" in seen(page.header)
    view(page, "Findings")

    def rows_beside() -> bool:
        return any(one.proto.id.endswith("others") for one in page.get("vega_lite_chart"))

    assert not rows_beside()
    widget(page.selectbox, "Look at one group").set_value("Woman").run()
    assert rows_beside()
    assert seen(page.header).startswith("Woman\nLabel use")
    assert "may be luck" in seen(page.markdown)


def test_the_list_of_groups_leads_to_one_by_the_address_and_back(server: Server) -> None:
    page = opened(server, found("Woman", "Man"))
    widget(page.selectbox, "Look at one group").set_value("Man").run()
    assert page.query_params["group"] == "Man"
    assert seen(page.header).startswith("Man\nLabel use")
    page.session_state["group-labels"] = page.session_state["group-table"] = True
    page.run()
    assert [list(frame.value["Points"]) for frame in page.dataframe if "Points" in frame.value] == [
        [11.2, -11.2]
    ]
    press(page, "All groups")
    assert "group" not in page.query_params
    assert seen(page.header) == "What to do"
    page.query_params["group"] = "Man"
    widget(page.run().selectbox, "Look at one group").set_value(None).run()
    assert "group" not in page.query_params


def test_pairs_have_a_view_and_stand_with_each_of_their_groups(server: Server) -> None:
    page = view(opened(server, with_pairs()), "Compare groups")
    assert not page.exception
    assert "Groups two by two" in seen(page.header)
    page.query_params["group"] = "White"
    assert "Beside each other group" in seen(page.run().header)
    assert not page.exception


def test_a_group_that_is_not_there_is_passed_over(server: Server) -> None:
    page = opened(server, found("Woman"), group="Nobody", view="Nothing")
    assert not page.exception
    assert seen(page.header) == "What to do"


def test_names_stay_inert_in_the_title_and_in_a_groups_view(server: Server) -> None:
    hostile = "<script>alert(1)</script> :red[x] **b**"
    page = opened(server, found(hostile))
    assert hostile in seen(page.title)
    assert "<script" not in page.title[0].value.replace("\\<", "")
    page.query_params["group"] = hostile
    assert hostile in seen(page.run().header)


def test_choices_of_a_view_outlast_a_look_at_another(server: Server) -> None:
    page = view(opened(server, make_result()), "Groups in numbers")
    widget(page.selectbox, ORDER).set_value("q").run()
    view(view(page, DATA_AND_METHODS), "Groups in numbers")
    assert widget(page.selectbox, ORDER).value == "q"
