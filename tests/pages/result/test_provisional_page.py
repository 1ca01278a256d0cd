"""Results while a run goes on: the same page, marked as provisional, for colleagues and strangers."""

from dataclasses import replace

import pytest
from streamlit.testing.v1 import AppTest

from grasp_core.analysis.small_groups import LEAST
from grasp_core.model.result import Association, RunResult
from grasp_core.model.text import number
from grasp_core.server.server import Server
from grasp_core.store.runs import RunRecord
from pages._ui.result import cache
from tests.labels import CANCEL_RUN, DATA_AND_METHODS, MAKE_LINK, NUMBERS_SO_FAR, TABLE_OF_GROUPS
from tests.pages import visits
from tests.pages.visits import groups_table, menus, press, seen, view, widget
from tests.results import judged, make_group, make_outcome, make_result, so_far
from tests.stored import going_run


@pytest.fixture
def going(server: Server, example_result: RunResult) -> RunRecord:
    """A run that another server computes."""
    server.service.close()
    return going_run(server, example_result)


def keep(server: Server, run: RunRecord, result: RunResult, permutations: int) -> None:
    server.runs.keep(run, permutations, (), None, so_far(result, permutations))


def visit(screen: str, **query: str) -> AppTest:
    page = visits.visit(screen, **query)
    assert not page.exception
    return page


def with_numbers(page: AppTest) -> AppTest:
    """Ask for the numbers so far."""
    return widget(page.toggle, NUMBERS_SO_FAR).set_value(True).run()


def test_values_then_p_and_then_the_result(server: Server, example_result: RunResult, going) -> None:
    keep(server, going, example_result, 0)
    page = visit("results", run=going.id)
    assert "Who differs is told here once all groups are tested." in seen(page.info)
    assert not page.dataframe  # who comes for the answer does not meet all statistics first
    with_numbers(page)
    assert "come with the first permutations" in seen(page.info)
    assert len(groups_table(page)) == 20
    assert not set(groups_table(page)["marks"]) - {""}
    widget(page.toggle, "Show intervals, p and q").set_value(True).run()
    assert set(groups_table(page)["gai_p"]) == {"…"}
    keep(server, going, example_result, 500)
    page.run()
    assert "after 500 permutations" in seen(page.info)
    assert groups_table(page)["gai_p"].str.fullmatch(r"about 0\.\d{3} \(0\.\d{3}–[01]\.\d{3}\)").all()
    assert not menus(page)
    assert seen(page.header).startswith(
        "\n".join([TABLE_OF_GROUPS, "One statistic in every group", "Agreement inside and across groups"])
    )
    server.runs.keep(going, example_result.permutations, (), None, replace(example_result, later="pairs"))
    page.run()
    assert seen(page.header).startswith("**Black Woman** raters say")  # the verdict does not wait for pairs
    server.runs.finish(going, "done", result=example_result)
    page.run()
    assert not [one for one in page.info if "Provisional" in one.value]
    assert "Methods" in seen(view(page, DATA_AND_METHODS).header)
    view(page, "Groups in numbers")
    assert "Export" in menus(page)
    assert groups_table(page)["gai_p"].dtype == float


def test_nothing_of_a_provisional_result_is_kept_for_the_final_one(server, example_result, going) -> None:
    """The same key, run and choices: what was drawn before does not come again."""
    keep(server, going, example_result, 50)
    before = with_numbers(visit("results", run=going.id))
    server.runs.finish(going, "done", result=example_result)
    after = visit("results", run=going.id, view="Groups in numbers")
    assert not set(groups_table(before)["marks"]) - {""}
    assert set(groups_table(after)["marks"]) - {""}


def test_what_is_left_given_an_axis_changes_what_was_told_before_it_was_known() -> None:
    found = judged(make_group("Woman", gai=make_outcome(1.5, "up", "**")), "clear", "cohesion")
    old = judged(make_group("old", "age"), "hint", "cohesion")
    whole = make_result((found, old), statistics=("gai",), dsi=())
    together = (Association("gender", "age", 0.3, 0.01),)
    parts = replace(whole, associations=together, later="given"), whole
    told = [cache.first_screen("one run", one).title.plain for one in parts]
    assert [one.startswith("Not certain") for one in told] == [True, False]
    drawn = [str(cache.verdict_chart("one run", one, "light", narrow=False)) for one in parts]
    assert ["not certain" in one for one in drawn] == [True, False]


def test_a_stranger_sees_it_too_without_names(server: Server, example_result: RunResult, going) -> None:
    token = server.links.create(going.id, created_by="", small_groups=True)
    keep(server, going, example_result, 500)
    page = with_numbers(visit("shared", token=token))
    assert "Provisional, after 500" in seen(page.info)
    assert len(groups_table(page)) == 20
    assert not [button for button in page.button if button.label == CANCEL_RUN]
    server.runs.finish(going, "done", result=example_result)
    assert "Methods" in seen(visit("shared", token=token, view=DATA_AND_METHODS).header)


def test_a_link_is_made_while_the_run_goes_on(server: Server, example_result: RunResult, going) -> None:
    keep(server, going, example_result, 500)
    page = press(visit("results", run=going.id), "Share")
    small = sum(row.n_raters < LEAST for row in example_result.groups)
    shown = seen(page.markdown)
    assert f"It leaves out {number(small, 'group')} with fewer than {LEAST} raters" in shown
    assert "It shows what is found so far, and the result once it is there." in shown
    press(page, MAKE_LINK)
    assert len(server.links.of_run(going.id)) == 1


def test_one_group_is_looked_at_meanwhile(server: Server, example_result: RunResult, going) -> None:
    keep(server, going, example_result, 500)
    page = visit("results", run=going.id, group="Woman")
    assert seen(page.header).startswith("Woman")
    page.session_state["group-table"] = True
    page.run()
    frame, *_ = [one.value for one in page.dataframe]  # of the group's statistics, before those of its pairs
    assert "GAI" in frame["Statistic"].tolist()
    assert frame["p"].str.startswith("about 0.").all()
    press(page, "All groups")
    with_numbers(page)
    assert len(groups_table(page)) == 20
