"""Groups compared on Results: slices, the mean of ordered labels, and what is left given another axis."""

from dataclasses import replace

from streamlit.testing.v1 import AppTest

from grasp_core.model.result import Association
from grasp_core.model.spec import AnalysisSpec, RunSpec
from grasp_core.server.server import Server
from tests.pages.visits import finished, labels, seen, shown_run, view
from tests.permutation.simulated import DATA_SPEC, dataset, simulate
from tests.permutation.simulated import files as written
from tests.results import make_result
from tests.stored import stored_run


def page() -> None:
    from dataclasses import replace

    from grasp_core.model.outcome import Interval, Outcome
    from grasp_core.model.result import SliceResult, SlicesResult
    from pages._ui.helpers.widgets import Shown
    from pages._ui.result.groups import show_slices
    from tests.results import make_group, make_result

    low = Outcome(0.4, 0.1, "up", 0.001, 0.01, "corrected", interval=Interval(0.2, 0.6, "both"))
    row = make_group(irr=low)
    values = (SliceResult("news", 20, 8, 160, (row,), ()), SliceResult("sport", 10, 8, 80, (row,), ()))
    slices = (SlicesResult("topic", 2, values),)
    result = make_result((row,), dsi=(), statistics=("gai", "irr"))
    show_slices(Shown("key", replace(result, slices=slices), "A run"))


def test_slices_are_told_and_drawn() -> None:
    app = AppTest.from_function(page, default_timeout=60).run()
    assert not app.exception
    said = seen(app.markdown)
    assert "topic = news" in said
    assert "2 items without a value in" in said
    assert labels(app.selectbox) == ["Group", "What is compared"]
    assert app.selectbox[1].value == ("irr", False)  # as the first sentence


def pairs_page(several: bool) -> None:
    from dataclasses import replace

    from pages._ui.helpers.widgets import Shown
    from pages._ui.result.groups import show_pairs
    from tests.results import with_pairs

    result = with_pairs()
    show_pairs(
        Shown(f"key {several}", result if several else replace(result, pairs=result.pairs[2:]), "A run")
    )


def test_of_one_pair_no_matrix_is_drawn_and_nothing_is_to_be_chosen() -> None:
    whole = AppTest.from_function(pairs_page, args=(True,), default_timeout=60).run()
    alone = AppTest.from_function(pairs_page, args=(False,), default_timeout=60).run()
    assert not whole.exception
    assert not alone.exception
    assert labels(whole.selectbox) == ["Axis of the pairs", "Compare by", "Pair of groups"]
    assert labels(alone.selectbox) == ["Axis of the pairs"]
    assert seen(alone.subheader) == "Black – White"
    assert "Label use" in alone.dataframe[-1].value["Measure"].tolist()


def means_page() -> None:
    from dataclasses import replace

    from grasp_core.model.outcome import Shift
    from pages._ui.result.groups import show_means
    from tests.results import make_group, make_label_use, make_result, with_label_use

    use = replace(make_label_use({"1": 12.0, "2": -12.0}), mean=Shift(-0.12, -0.2, -0.04, p=0.003))
    show_means(make_result((with_label_use(make_group("A"), use),)))
    show_means(make_result())


def test_the_shift_of_the_mean_is_a_table_where_labels_have_one() -> None:
    app = AppTest.from_function(means_page, default_timeout=60).run()
    assert not app.exception
    (table,) = app.dataframe
    assert table.value.to_numpy().tolist() == [["gender", "A", "−0.120", "[−0.200, −0.040]"]]


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
