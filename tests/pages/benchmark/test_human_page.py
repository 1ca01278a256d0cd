"""The human baseline on the Models page."""

import json
from pathlib import Path

from streamlit.testing.v1 import AppTest

from grasp_core.model.example import example_files
from grasp_core.server.server import Server
from pages._ui.helpers.identity import stores
from tests.pages.benchmark.test_benchmark_page import CLASSES, GOLD, benchmark, table
from tests.pages.visits import bring, choose_view, done, models_view, open_example, press, seen, widget
from tests.pages.visits import plain as plain_text

__all__ = ["benchmark"]  # a fixture


def people(page: AppTest) -> AppTest:
    return models_view(page, "People")


def test_people_are_scored_against_the_others(page: AppTest) -> None:
    people(open_example(page, example_files()))
    done(press(page, "Score people"))
    assert not page.error
    assert 0.3 < float(widget(page.metric, "Macro-F1").value) <= 1
    assert "plurality of 5 on 100 of 350 items" in seen(page.markdown)
    score = widget(page.metric, "Macro-F1").value
    widget(page.number_input, "Votes per item").set_value(3).run()
    assert not page.metric  # another question
    for view in ("Leaderboard", "People"):
        choose_view(page, view)
    assert widget(page.number_input, "Votes per item").value == 3  # kept while another view is looked at
    widget(page.number_input, "Votes per item").set_value(5).run()
    assert widget(page.metric, "Macro-F1").value == score


def test_people_are_a_row_of_the_leaderboard(page: AppTest, benchmark: Server) -> None:
    """Five who are always right, and one of the crowd who never is and does not qualify."""
    rows = [
        f"{item},r{rater},{label if rater else CLASSES[label == CLASSES[0]]},{('crowd', 'expert')[rater > 2]}"
        for item, label in GOLD.items()
        for rater in range(6)
    ]
    bring(page, "votes.csv", "\n".join(["item,rater,label,kind", *rows]).encode())
    people(page)
    widget(page.selectbox, "Right label").set_value("A file of right labels").run()
    widget(page.number_input, "Items").set_value(20).run()
    press(page, "Score people")
    assert "drop the file of right labels first" in seen(page.error)
    gold, qualification = page.file_uploader[0], page.file_uploader[1]
    gold.set_value(("gold.csv", table(GOLD).encode(), "text/csv")).run()
    known = dict(list(GOLD.items())[:12])
    page.file_uploader[1].set_value(("known.csv", table(known).encode(), "text/csv")).run()
    widget(page.number_input, "Pay for a vote").set_value(0.5).run()
    done(press(page, "Score people"))
    assert seen(page.error) == ""
    assert "5 raters qualified; 1 did not reach the bar, 0 labelled too few" in seen(page.markdown)
    assert "100 votes cost 50.00. The qualification's 72 votes cost 36.00." in seen(page.markdown)
    assert widget(page.metric, "Macro-F1").value == "1.000"
    widget(page.selectbox, "Task that the items are rows of").set_value("two").run()
    done(press(page, "Put on the leaderboard"))
    assert "People (crowd) stands on the Leaderboard, two: macro-F1 1.000" in seen(page.success)
    stored = stores().submissions.all()
    assert [(one.name, one.scores["tasks"]["two"]["n"]) for one in stored] == [("People (crowd)", 20)]
    assert (gold.value, qualification.value) != (None, None)


def test_a_class_that_nobody_votes_for_is_told(page: AppTest) -> None:
    rows = [f"{item},r{rater},{label}" for item, label in GOLD.items() for rater in range(6)]
    bring(page, "votes.csv", "\n".join(["item,rater,label", *rows]).encode())
    people(page)
    widget(page.selectbox, "Right label").set_value("A file of right labels").run()
    widget(page.number_input, "Items").set_value(len(GOLD)).run()
    right = GOLD | dict.fromkeys(list(GOLD)[:3], "maybe")
    page.file_uploader[0].set_value(("gold.csv", table(right).encode(), "text/csv")).run()
    done(press(page, "Score people"))
    assert seen(page.error) == ""
    told = "Right for some items, and nobody's vote, so always missed: 'maybe'."
    assert told in plain_text(seen(page.caption))


def test_a_sheet_is_made_where_there_are_no_votes(page: AppTest, benchmark: Server, tmp_path: Path) -> None:
    people(page)
    assert "This server has no rows of the tasks" in seen(page.markdown)
    (tmp_path / "tasks" / "one" / "train.csv").write_text("text,Label,ID\na,yes,0\nb,no,1\n")
    plain = json.loads((tmp_path / "tasks" / "one" / "task.json").read_text())
    plain |= {"warning": "Its rows are rude.", "instructions": "Is it so?"}
    (tmp_path / "tasks" / "one" / "task.json").write_text(json.dumps(plain))
    page.run()
    assert not page.error
    assert seen(page.text) == "Is it so?"  # which voters read
    assert "Its rows are rude" in plain_text(seen(page.warning))
    widget(page.text_input, "Voters, separated by commas").set_value("ann, ann").run()
    assert "each with a name of its own" in seen(page.error)


def test_right_labels_of_a_column_decide(page: AppTest) -> None:
    """All raters say what is right, so that people reach 1 whatever is drawn."""
    right = ("no", "yes")
    rows = [f"i{i},r{j},{right[i % 2]},{right[i % 2]},{'ab'[j % 2]}" for i in range(120) for j in range(6)]
    bring(page, "votes.csv", "\n".join(["item,rater,label,expert,group", *rows]).encode())
    people(page)
    widget(page.selectbox, "Right label").set_value("expert").run()
    done(press(page, "Score people"))
    assert widget(page.metric, "Macro-F1").value == "1.000"
    widget(page.selectbox, "Right label").set_value("group").run()
    press(page, "Score people")
    assert "another right label" in seen(page.error)


def test_a_baseline_labels_all_tasks_as_a_submission(page, benchmark, tmp_path) -> None:
    models_view(page, "Baselines")
    assert "no rows to label" in seen(page.markdown)
    for task in ("one", "two"):
        path = tmp_path / "tasks" / task / "train.csv"
        path.write_text("text,Label,ID\na,yes,0\nb,no,1\nc,no,2\n")
    page.run()
    press(page, "Label 2 tasks by plurality")
    assert seen(page.error) == ""
    assert "Labelled in " in seen(page.caption)
    packed = page.session_state["all-tasks-done"]["plurality", 1]
    assert set(packed) == {"one", "two"}
    assert packed["one"].splitlines()[:2] == ["ID,Label", "50,no"]
    assert len(packed["two"].splitlines()) == 1 + len(GOLD)
