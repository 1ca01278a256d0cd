"""Analysis and Results: a run that stops when its marks are settled."""

from streamlit.testing.v1 import AppTest

from grasp_core.permutation.testing.outcomes import looks
from grasp_core.server.server import Server
from tests.labels import DATA_AND_METHODS
from tests.pages.analysis.test_analysis_page import analysis
from tests.pages.visits import finished, press, seen, shown_run, view, widget

__all__ = ["analysis"]  # the fixture
TOGGLE = "Stop when all marks are settled"


def test_the_number_that_nobody_chose_follows_the_choice(analysis: AppTest) -> None:
    assert widget(analysis.number_input, "Permutations").value == 10_000
    widget(analysis.toggle, TOGGLE).set_value(True).run()
    assert widget(analysis.number_input, "Permutations").value == 100_000
    widget(analysis.toggle, TOGGLE).set_value(False).run()
    assert widget(analysis.number_input, "Permutations").value == 10_000
    widget(analysis.number_input, "Permutations").set_value(7000).run()
    widget(analysis.toggle, TOGGLE).set_value(True).run()
    assert widget(analysis.number_input, "Permutations").value == 7000


def test_the_result_says_how_many_there_were_and_what_holds(analysis: AppTest, server: Server) -> None:
    widget(analysis.multiselect, "Axes").set_value(["rater_gender"])
    widget(analysis.multiselect, "Statistics").set_value(["irr", "gai"])
    widget(analysis.toggle, TOGGLE).set_value(True).run()
    widget(analysis.number_input, "Permutations").set_value(20_000).run()
    page = finished(press(analysis, "Run"), server)
    run = shown_run(page, server)
    assert run.spec.analysis.adaptive
    result = server.service.result(run.id)
    assert result.permutations in looks(20_000)
    assert (run.done, run.total) == (result.permutations, result.permutations)
    said = seen(view(page, DATA_AND_METHODS).markdown)
    assert f"{result.permutations:,}" in said
    assert "for each test the risk that it is not is at most 0.1 %" in said
    assert f"{result.permutations:,} permutations" in seen(page.markdown)
