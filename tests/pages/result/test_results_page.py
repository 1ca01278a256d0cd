from collections.abc import Iterator
from dataclasses import replace

import pytest
from streamlit.testing.v1 import AppTest

from grasp_core.engine.pools import workers
from grasp_core.model.example import example_files
from grasp_core.model.outcome import Outcome
from grasp_core.model.remarks.cautions import Caution
from grasp_core.model.remarks.remark import said
from grasp_core.model.result import GroupResult, RunResult
from grasp_core.model.settings import Settings
from grasp_core.report.writers.registry import EXPORTS
from grasp_core.server import server as server_module
from grasp_core.server.server import Server
from tests.empty_store import empty_home
from tests.labels import CANCEL_RUN, DATA_AND_METHODS, ORDER, RUN_AGAIN
from tests.pages.visits import (
    bring,
    files_in,
    finished,
    groups_table,
    on,
    open_example,
    press,
    seen,
    shown_run,
    view,
    visit,
    widget,
)
from tests.stored import going_run


@pytest.fixture(scope="module")
def kept(tmp_path_factory: pytest.TempPathFactory, example_result: RunResult) -> Iterator[tuple[Server, str]]:
    """A server with the example's result, which tests only look at: what it draws is drawn once."""
    made = Server(Settings(home=empty_home(tmp_path_factory.mktemp("results"))), workers.threads)
    yield made, _saved(made, example_result)
    made.close()


@pytest.fixture
def results(monkeypatch: pytest.MonkeyPatch, kept: tuple[Server, str]) -> AppTest:
    monkeypatch.setattr(server_module, "shared", lambda: kept[0])
    return _visit(kept[1], "Groups in numbers")


def _saved(server: Server, result: RunResult) -> str:
    return server.runs.add(result, title="A run", owner="").id


def _visit(run_id: str, view: str = "Found") -> AppTest:
    """A new visitor, with nothing but the link."""
    return visit("results", run=run_id, view=view)


def test_unknown_run_gets_a_sentence_and_a_way_on(server: Server) -> None:
    page = _visit("<script>alert(1)</script>")
    assert "not on this server" in seen(page.warning)
    assert not page.exception


def test_the_table_has_every_group_and_statistic_in_the_order_that_is_asked_for(results: AppTest) -> None:
    table = groups_table(results)
    assert len(table) == 20
    assert [*table.columns[:3], *table.columns[-2:]] == ["group", "axis", "raters", "distance", "marks"]
    widget(results.multiselect, "Axes").set_value(["gender"]).run()
    assert list(groups_table(results)["group"]) == ["Man", "Woman"]
    widget(results.multiselect, "Axes").set_value([]).run()
    widget(results.selectbox, ORDER).set_value("effect").run()
    assert "Asian, Man" in list(groups_table(results)["group"])[:2]
    results.toggle[0].set_value(True).run()
    table = groups_table(results)
    assert table[[name for name in table if name.endswith(("_p", "_q"))]].min().min() > 0  # never zero
    widget(results.selectbox, "Significance").set_value("Marked after correction").run()
    assert 0 < len(groups_table(results)) < 20
    widget(results.multiselect, "Statistics in the table").set_value([]).run()
    assert "at least one statistic" in seen(results.info)


def test_the_chart_that_opens_is_of_what_was_found(server: Server, example_result: RunResult) -> None:
    def opens(result: RunResult) -> object:
        return widget(_visit(_saved(server, result), "Groups in numbers").selectbox, "Statistic").value

    assert opens(example_result) == "label_use"
    nothing = tuple(replace(row, verdict=None) for row in example_result.groups)
    assert opens(replace(example_result, groups=nothing)) == "gai"


def test_each_statistic_has_its_histograms_and_a_section_is_made_when_it_is_opened(results: AppTest) -> None:
    for statistic in ("irr", "cross_negentropy", "voting_agreement"):
        widget(results.selectbox, "Statistic").set_value(statistic).run()
        assert not results.exception
        assert not results.error
    drawn = len(results.dataframe)
    results.session_state["cohesion-table"] = True
    results.run()
    assert not results.exception
    assert len(results.dataframe) == drawn + 2  # for screens and for phones
    results.session_state["dsi-table"] = True
    assert len(results.run().dataframe) == drawn + 2 + 1


def test_methods_and_data_are_described(results: AppTest, example_result: RunResult) -> None:
    words = seen(view(results, DATA_AND_METHODS).markdown)
    for name in ("IRR", "XRR", "GAI", "DSI", "Correction", "Smallest group"):
        assert f"**{name}**" in words
    assert example_result.data.sha256 in seen(results.text)


def test_change_and_run_again_keeps_the_settings(page, server, example) -> None:
    open_example(page, example).switch_page("analysis.py").run()
    widget(page.multiselect, "Intersections").set_value([("rater_race", "rater_gender")])
    widget(page.toggle, "Compare groups two by two").set_value(False)
    widget(page.number_input, "Permutations").set_value(100).run()
    finished(press(page, "Run"), server)
    assert seen(page.header).startswith("How sure")
    on(press(page, RUN_AGAIN), "analysis")
    assert widget(page.multiselect, "Intersections").value == [("rater_race", "rater_gender")]
    widget(page.number_input, "Seed").set_value(2).run()
    press(page, "Run")
    spec = shown_run(page, server).spec.analysis
    assert spec.seed == 2
    assert ("rater_race", "rater_gender") in spec.axes
    finished(page, server)
    visitor = _visit(shown_run(page, server).id)  # elsewhere: with the files that the server has
    on(press(visitor, RUN_AGAIN), "analysis")
    assert widget(visitor.number_input, "Seed").value == 2
    press(visitor, "Run")
    assert shown_run(visitor, server).id == shown_run(page, server).id


def test_three_warnings_stand_in_the_open_the_gravest_first_each_with_its_way(server, example_result) -> None:
    warnings = (
        *(said(f"column {letter} is odd") for letter in "abc"),
        Caution.TOO_FEW_FOR_CORRECTION(permutations=200, tests=400, least=15_999),
    )
    page = _visit(_saved(server, replace(example_result, warnings=warnings)))
    assert [str(one.value)[:12] for one in page.warning] == ["with 200 per"]  # it alone may undo findings
    view(page, DATA_AND_METHODS)
    assert [str(one.value)[:12] for one in page.warning][:3] == [
        "with 200 per",
        "column a is ",
        "column b is ",
    ]
    assert "column c" in seen(widget(page.expander, "1 more warning").warning)
    press(page, "Take 15,999 permutations")
    assert "Load the data first" in seen(page.info)


def test_every_export_is_offered(results: AppTest) -> None:
    assert not results.get("download_button")
    assert files_in(results, "export") == [export.label for export in EXPORTS.values()]
    for figure in ("cohesion map", "Label use histograms", "DSI chart"):
        labels = files_in(results, figure)
        assert [f"{figure} ({kind})" in labels for kind in ("PNG", "SVG", "PDF")] == [True] * 3


def test_a_run_can_be_cancelled(page: AppTest, server: Server, example: dict[str, bytes]) -> None:
    open_example(page, example).switch_page("analysis.py").run()
    widget(page.number_input, "Permutations").set_value(2_000_000).run()
    press(page, "Run")
    assert "goes on when you close this page" in seen(page.caption)
    press(on(page, "results"), CANCEL_RUN)
    finished(page, server)
    assert "cancelled" in seen(page.warning)
    press(page, RUN_AGAIN)
    assert widget(page.number_input, "Permutations").value == 2_000_000


def test_a_failed_run_says_why(server: Server, example_result: RunResult) -> None:
    server.service.close()
    run = going_run(server, example_result)
    server.runs.finish(run, "failed", error="the workers *died*")
    results = _visit(run.id)
    assert "the workers *died*" in seen(results.warning)


def test_not_estimable_is_said_with_its_reason(server: Server, example_result: RunResult) -> None:
    first = example_result.groups[0]
    lost = GroupResult(
        first.group,
        first.n_raters,
        first.n_annotations,
        {**first.statistics, "irr": Outcome(None, reason=said("fewer than two pairable annotations"))},
    )
    groups = (lost, *example_result.groups[1:])
    visitor = _visit(_saved(server, replace(example_result, groups=groups)), "Groups in numbers")
    assert "IRR is not estimable for 18-24: fewer than two pairable annotations" in seen(visitor.caption)


def test_names_from_the_data_stay_inert(page: AppTest, server: Server) -> None:
    example = example_files()  # with all items, so that sentences name the group of this name
    hostile = "<script>alert(1)</script> :red[x] **b** [l](javascript:a) ![i](x) $y^2$"
    raters = example["raters.csv"].replace(b",Black,", f',"{hostile}",'.encode())
    open_example(page, {**example, "raters.csv": raters}).switch_page("analysis.py").run()
    widget(page.number_input, "Permutations").set_value(200).run()
    finished(press(page, "Run"), server)
    named = ""
    for name in ("Found", "Groups in numbers", "Items"):
        view(page, name)
        shown = [*page.header, *page.markdown, *page.caption, *page.title]
        named += seen(shown)
        for element in shown:
            for markup in ("<script", ":red[", "[l](", "![i]", "$y^"):
                assert markup not in element.value.replace("\\" + markup[0], "")
    assert hostile in named


def test_unanimous_data_get_a_page_that_says_so(page: AppTest, server: Server) -> None:
    rows = [f"i{i},r{j},Yes,{'ab'[j % 2]}" for i in range(5) for j in range(6)]
    bring(page, "one.csv", "\n".join(["item,rater,label,sex", *rows]).encode())
    page.switch_page("analysis.py").run()
    finished(press(page, "Run"), server)
    assert not page.error
    assert "No answer" in seen(page.title)
    view(page, "Groups in numbers")
    assert "GAI is not estimable for a; b" in seen(page.caption)
