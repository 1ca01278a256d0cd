"""Given another axis on Results: what is told, and a click that asks it of axes that go together."""

from dataclasses import replace

from streamlit.testing.v1 import AppTest

from grasp_core.model.result import Association
from grasp_core.model.spec import AnalysisSpec, RunSpec
from grasp_core.server.server import Server
from tests.pages.visits import finished, seen, shown_run, view
from tests.permutation.simulated import DATA_SPEC, dataset, simulate
from tests.permutation.simulated import files as written
from tests.results import make_result
from tests.stored import stored_run

FILES = dict(zip(("votes.csv", "raters.csv"), written(*simulate(1)), strict=True))
SPEC = RunSpec(DATA_SPEC, AnalysisSpec(axes=(("gender",), ("race",)), permutations=100))
TOGETHER = (Association("gender", "race", 0.31),)


def test_a_click_asks_it_of_axes_that_go_together(page: AppTest, server: Server) -> None:
    result = replace(make_result(), spec=SPEC, data=dataset(1).summary, associations=TOGETHER)
    run = stored_run(server, result, FILES)
    page.switch_page("results.py")
    page.query_params["run"] = run.id
    view(page, "Compare groups")
    assert "gender and race overlap among the raters (Cramér's V 0.31)" in seen(page.markdown).replace(
        "**", ""
    )
    page.button(key="ask-given-0").click().run()
    assert not page.exception
    assert shown_run(page, server).spec.analysis.given == ("gender", "race")
    found = view(finished(page, server), "Compare groups")
    assert not found.exception
    assert [heading.value for heading in found.subheader][-2:] == ["Given gender", "Given race"]
    tables = [frame.value for frame in found.dataframe][-2:]
    assert list(tables[0].columns)[:4] == ["Group", "Raters", "Label use: p", "Label use: p given gender"]
    assert tables[0]["Group"].str.endswith("(race)").all()
