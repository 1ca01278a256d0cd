import pandas as pd
import pytest
from streamlit.testing.v1 import AppTest

from grasp_core.model.spec import STATISTICS, AnalysisSpec
from grasp_core.permutation.testing.outcomes import looks
from grasp_core.server.server import Server
from tests.batches import in_batches, in_teams
from tests.labels import DATA_AND_METHODS, LEVEL
from tests.pages.visits import bring, drop, finished, open_example, press, seen, shown_run, view, widget

IN_ORDER = "Axes of the intersection, in the order in which groups are named"


@pytest.fixture
def analysis(page: AppTest, example: dict[str, bytes]) -> AppTest:
    return open_example(page, example).switch_page("analysis.py").run()


def test_without_data_it_leads_to_the_data_page(page: AppTest) -> None:
    page.switch_page("analysis.py").run()
    assert "no data to analyse" in seen(page.info)
    assert not page.button


@pytest.mark.usefixtures("nothing_computed")
def test_every_choice_reaches_the_spec(analysis: AppTest, server: Server) -> None:
    widget(analysis.multiselect, "Axes").set_value(["rater_gender"])
    widget(analysis.multiselect, "Intersections").set_value([("rater_race", "rater_gender")])
    widget(analysis.multiselect, IN_ORDER).set_value(["rater_gender", "rater_race"])
    widget(analysis.multiselect, "Statistics").set_value(["gai", "negentropy"])
    widget(analysis.number_input, "Permutations").set_value(300)
    widget(analysis.number_input, "Seed").set_value(7)
    widget(analysis.number_input, "Smallest group (raters)").set_value(5)
    widget(analysis.selectbox, "GAI: agreement inside the group").set_value("plurality_size")
    widget(analysis.selectbox, "GAI: agreement across groups").set_value("voting_agreement")
    widget(analysis.multiselect, "Shuffle profiles only within").set_value(["rater_age"])
    widget(analysis.selectbox, "Correction for many tests").set_value("max-t")
    widget(analysis.selectbox, "Corrected together").set_value("all")
    widget(analysis.selectbox, LEVEL).set_value("ordinal")
    widget(analysis.toggle, "Compare groups two by two").set_value(False)
    widget(analysis.toggle, "Fit small p-values").set_value(True)
    widget(analysis.selectbox, "Tied votes").set_value("random").run()
    assert not [button for button in analysis.button if button.label == "Run"]  # before it is said how
    next(box for box in analysis.checkbox if box.key.startswith("order-")).check().run()
    press(analysis, "Run")
    assert shown_run(analysis, server).spec.data.categories == ("No", "Unsure", "Yes")
    assert shown_run(analysis, server).spec.analysis == AnalysisSpec(
        axes=(("rater_gender",), ("rater_gender", "rater_race")),
        statistics=("negentropy", "gai"),
        gai=("plurality_size", "voting_agreement"),
        min_raters=5,
        permutations=300,
        seed=7,
        strata=("rater_age",),
        correction="max-t",
        family="all",
        ties="random",
        level="ordinal",
        tail=True,
    )


@pytest.mark.usefixtures("nothing_computed")
def test_axes_given_which_others_are_tested_reach_the_spec_and_come_back(analysis, server) -> None:
    widget(analysis.multiselect, "Given another axis (optional)").set_value(["rater_race"])
    widget(analysis.number_input, "Permutations").set_value(100).run()
    press(analysis, "Run")
    assert shown_run(analysis, server).spec.analysis.given == ("rater_race",)
    analysis.switch_page("analysis.py").run()
    assert widget(analysis.multiselect, "Given another axis (optional)").value == ["rater_race"]
    widget(analysis.multiselect, "Shuffle profiles only within").set_value(["rater_race"]).run()
    assert not analysis.exception
    assert widget(analysis.multiselect, "Given another axis (optional)").value == []


def test_paper_preset_sets_its_conventions_and_says_what_they_cost(analysis: AppTest) -> None:
    preset = analysis.segmented_control[0]
    preset.set_value("As in the paper").run()
    assert widget(analysis.selectbox, "p-value").value == "paper"
    assert widget(analysis.selectbox, "Cross-negentropy").value == "paper"
    assert widget(analysis.selectbox, "Voting agreement").value == "kappa"
    assert "about 10 %" in seen(analysis.caption)
    widget(analysis.selectbox, "p-value").set_value("two-sided").run()
    assert analysis.segmented_control[0].value is None
    widget(analysis.selectbox, "Cross-negentropy").set_value("smooth").run()
    widget(analysis.selectbox, "Voting agreement").set_value("alpha").run()
    widget(analysis.selectbox, "Tied votes").set_value("random").run()
    assert analysis.segmented_control[0].value == "Default"


def test_settings_that_cannot_run_get_a_sentence(analysis: AppTest) -> None:
    widget(analysis.multiselect, "Axes").set_value([]).run()
    assert "Without an axis no groups are compared" in seen(analysis.info)
    assert [one.label for one in analysis.button] == ["Run"]
    widget(analysis.multiselect, "Axes").set_value(["rater_gender"]).run()
    widget(analysis.multiselect, "Statistics").set_value([]).run()
    assert "statistics" in seen(analysis.error)
    widget(analysis.multiselect, "Statistics").set_value(list(STATISTICS)).run()
    widget(analysis.number_input, "Smallest group (raters)").set_value(1000).run()
    assert "No group is large enough" in seen(analysis.error)
    assert not analysis.button


def test_what_strata_leave_is_told_before_the_run(analysis: AppTest) -> None:
    widget(analysis.multiselect, "Axes").set_value(["rater_gender", "rater_race"])
    widget(analysis.multiselect, "Shuffle profiles only within").set_value(["rater_race", "workload"]).run()
    assert "for rater\\_race:" in seen(analysis.error)
    assert not analysis.button
    widget(analysis.multiselect, "Shuffle profiles only within").set_value([]).run()
    widget(analysis.selectbox, "Move whole clusters").set_value("rater_race").run()
    assert "each rater\\_race has a size of its own" in seen(analysis.error)
    assert not analysis.button
    widget(analysis.selectbox, "Move whole clusters").set_value(None)
    widget(analysis.multiselect, "Shuffle profiles only within").set_value(["workload"]).run()
    assert "can be regrouped in" in seen(analysis.markdown)
    assert "Woman" in seen(analysis.caption)


def test_too_few_permutations_are_warned_of_and_small_groups_counted(analysis: AppTest) -> None:
    widget(analysis.number_input, "Permutations").set_value(100).run()
    assert "can never survive correction" in seen(analysis.warning)
    widget(analysis.multiselect, "Intersections").set_value([("rater_race", "rater_gender")])
    widget(analysis.number_input, "Smallest group (raters)").set_value(5).run()
    assert "1 group with fewer raters will not be shown" in seen(analysis.markdown)


def analyse_by_gender(page: AppTest, votes: pd.DataFrame, raters: pd.DataFrame) -> None:
    bring(page, "votes.csv", votes.to_csv(index=False).encode())
    drop(page, "raters.csv", raters.to_csv(index=False).encode())
    page.switch_page("analysis.py").run()
    widget(page.multiselect, "Axes").set_value(["gender"]).run()


def test_where_groups_were_given_other_items_columns_that_could_hold_batches_are_named(page: AppTest) -> None:
    analyse_by_gender(page, *in_batches())
    assert "groups were given different items" in seen(page.warning)
    assert "could hold batches, to shuffle within: 'batch'" in seen(page.caption)
    widget(page.multiselect, "Shuffle profiles only within").set_value(["batch"]).run()
    assert "could hold batches" not in seen(page.caption)


def test_columns_that_look_like_teams_are_named_until_one_is_chosen(page: AppTest) -> None:
    analyse_by_gender(page, *in_teams())
    assert "'team' answer more alike" in seen(page.caption)
    assert "Move whole clusters" in seen(page.caption)
    widget(page.selectbox, "Move whole clusters").set_value("team").run()
    assert "answer more alike" not in seen(page.caption)


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
    widget(analysis.number_input, "Permutations").set_value(4000).run()
    page = finished(press(analysis, "Run"), server)
    run = shown_run(page, server)
    assert run.spec.analysis.adaptive
    result = server.service.result(run.id)
    assert result.permutations in looks(4000)
    assert (run.done, run.total) == (result.permutations, result.permutations)
    said = seen(view(page, DATA_AND_METHODS).markdown)
    assert f"{result.permutations:,}" in said
    assert "at most 0.1 %" in said
    assert f"{result.permutations:,} permutations" in seen(page.markdown)
