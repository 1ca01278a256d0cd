"""The benchmark's side of the Models page: submissions, scores and the leaderboard."""

import dataclasses
import json
from pathlib import Path

import pytest
import streamlit as st
from streamlit.testing.v1 import AppTest

from grasp_core.model.errors import AccessError
from grasp_core.model.example import example_files
from grasp_core.server.server import Server
from pages._ui.benchmark import submissions as taking_off
from pages._ui.helpers.identity import stores
from tests.pages.people import ANN, BOB, ROOT, VERA, become
from tests.pages.visits import (
    bring,
    choose_view,
    done,
    labels,
    models_view,
    open_example,
    press,
    seen,
    widget,
)
from tests.pages.visits import plain as plain_text
from tests.zips import zipped

CLASSES = ("yes", "no")
GOLD = {str(50 + row): CLASSES[row % 3 == 0] for row in range(40)}


@pytest.fixture
def benchmark(tmp_path: Path, server: Server) -> Server:
    """A server with two tasks of its own and their gold labels."""
    for task in ("one", "two"):
        folder = tmp_path / "tasks" / task
        folder.mkdir(parents=True)
        (folder / "task.json").write_text(json.dumps({"classes": CLASSES, "fields": ["text"]}))
        rows = "".join(f"text {one},{one}\n" for one in GOLD)
        (folder / "test_unlabeled.csv").write_text(f"text,ID\n{rows}")
        (tmp_path / "gold" / task).mkdir(parents=True)
        (tmp_path / "gold" / task / "test.csv").write_text(table(GOLD))
    places = {"raft_gold": str(tmp_path / "gold"), "raft_tasks": str(tmp_path / "tasks")}
    object.__setattr__(server, "settings", dataclasses.replace(server.settings, **places))
    return server


def table(labels: dict[str, str]) -> str:
    return "ID,Label\n" + "".join(f"{one},{label}\n" for one, label in labels.items())


def archive(*tasks: str, wrong: int = 0, missed: int = 0, sure: float | None = None) -> bytes:
    """Gold labels but for the first `wrong` rows, which have no class, or `missed` ones: another class."""
    labels = {one: "maybe" if row < wrong else label for row, (one, label) in enumerate(GOLD.items())}
    labels |= {one: CLASSES[labels[one] == "yes"] for one in list(GOLD)[:missed]}
    files = {f"data/{task}/predictions.csv": table(labels) for task in tasks}
    if sure is not None:
        rows = "".join(f"{one},{sure},{1 - sure}\n" for one in GOLD)
        files |= {f"data/{task}/probabilities.csv": f"ID,{','.join(CLASSES)}\n{rows}" for task in tasks}
    return zipped(files)


def submit(page: AppTest, content: bytes) -> AppTest:
    models_view(page, "Submit")
    return page.file_uploader[0].set_value(("predictions.zip", content, "application/zip")).run()


def score(page: AppTest, name: str) -> AppTest:
    widget(page.text_input, "Name of the system").set_value(name).run()
    return done(press(page, "Score"))


def test_published_systems_stand_on_the_leaderboard_with_their_source(page: AppTest) -> None:
    models_view(page, "Leaderboard")
    shown = page.dataframe[0].value
    assert shown["system"].tolist()[:2] == ["T-Few (T0 11B)", "Human (crowd)"]
    assert all("arXiv" in source or "huggingface" in source for source in shown["scored"])
    widget(page.selectbox, "Sort by").set_value("tweet_eval_hate").run()
    assert page.dataframe[0].value["system"].tolist()[0] == "Human (crowd)"
    assert not page.exception


def test_a_whole_submission_is_scored_and_shown_and_its_probabilities_have_calibration_told(
    page: AppTest, benchmark: Server
) -> None:
    submit(page, archive("one", "two", sure=0.5))
    assert "All submission files validated!" in seen(page.success)
    score(page, "ours")
    assert not page.error
    assert page.metric[0].value == "1.000"
    shown = next(frame.value for frame in page.dataframe if "Brier score" in frame.value)
    assert shown["Brier score"].tolist() == ["0.500", "0.500"]
    assert shown["Log loss"].tolist() == ["0.693", "0.693"]
    choose_view(page, "Leaderboard")
    assert page.dataframe[0].value["system"].tolist() == ["ours"]
    assert not any(source for source in page.dataframe[0].value["scored"] if source != "here")


def test_what_can_be_scored_is_said_before_the_upload(page: AppTest, benchmark: Server) -> None:
    models_view(page, "Submit")
    assert "All 2 tasks can be scored here." in seen(page.caption)
    assert not page.error
    (Path(benchmark.settings.raft_gold) / "two" / "test.csv").unlink()
    page.run()
    assert "1 of the 2 tasks can be scored here: one." in seen(page.info)
    submit(page, archive("two"))
    assert "Incomplete: 0 files of 2 can be scored" in seen(page.warning)
    assert "gold labels of none of these tasks" in seen(page.info)
    assert "Score" not in labels(page.button)
    submit(page, archive("one", "two"))
    score(page, "ours")
    assert widget(page.metric, "Macro-F1 over all tasks").value == "incomplete"
    assert benchmark.submissions.left("two", owner="") == benchmark.settings.raft_scorings  # nothing was told


def test_tasks_are_listed_with_their_instructions(page: AppTest, benchmark: Server) -> None:
    folder = Path(benchmark.settings.raft_tasks) / "two"
    plain = {"classes": CLASSES, "fields": ["text"], "licence": "CC BY 4.0", "difficulty": ["expertise"]}
    plain |= {"warning": "Its rows are rude.", "instructions": "Is it so?"}
    (folder / "task.json").write_text(json.dumps(plain))
    (folder / "train.csv").write_text("text,Label,ID\na,yes,0\n")
    (Path(benchmark.settings.raft_gold) / "two" / "test.csv").unlink()
    models_view(page, "Submit")
    shown = page.dataframe[0].value.set_index("Task")
    assert shown["Classes"].tolist() == [2, 2]
    facts = ["Fields", "Licence", "Difficulty", "Rows here", "Gold labels here"]
    assert shown.loc["two", facts].tolist() == ["text", "CC BY 4.0", "expertise", "yes", "no"]
    assert shown.loc["one", facts].tolist() == ["text", "not told", "–", "no", "yes"]
    assert "No instructions" in seen(page.text)
    widget(page.selectbox, "Instructions of").set_value("two").run()
    assert seen(page.text) == "Is it so?"
    assert "Its rows are rude" in plain_text(seen(page.warning))


def test_a_score_by_class_with_costs(page: AppTest, benchmark: Server) -> None:
    submit(page, archive("one", "two", missed=4))  # of the first four rows "no", "yes", "yes", "no"
    score(page, "ours")
    classes = next(frame.value for frame in page.dataframe if "Recall" in frame.value)
    assert classes["False positives"].tolist() == [2, 2]
    assert classes["Recall"].tolist() == pytest.approx([24 / 26, 12 / 14])
    widget(page.number_input, "Of a false negative").set_value(10.0).run()
    assert "2 at 1 and 2 at 10 make 22, 0.55 a row." in seen(page.markdown)


def test_systems_are_compared_beside_the_page(page: AppTest, benchmark: Server) -> None:
    for missed, name in ((0, "good"), (12, "worse")):
        submit(page, archive("one", "two", missed=missed))
        score(page, name)
    leaderboard(page)
    assert page.dataframe[0].value["wins"].tolist() == ["–", "0 of 2"]
    assert all("to" in ends for ends in page.dataframe[0].value["interval"])
    done(press(page, "Test 1 step of the ranking"))
    steps = next(frame.value for frame in page.dataframe if "Against" in frame.value)
    assert steps[["System", "Against"]].values.tolist() == [["good", "worse"]]
    assert float(steps["Difference"][0]) > 0
    assert steps["p"][0] == "p < 0.001"
    done(press(page, "Compare"))
    compared = next(frame.value for frame in page.dataframe if "Items" in frame.value)
    assert compared["Task"].tolist() == ["one", "two", "All tasks"]
    page.run()
    assert any("Items" in frame.value for frame in page.dataframe)  # does not go with the next click
    widget(page.selectbox, "Sort by").set_value("one").run()
    done(press(page, "Test 1 step of the ranking"))
    assert not page.exception
    assert not page.error


def test_archives_and_rows_that_are_too_large_are_refused_by_their_size(page, benchmark, monkeypatch) -> None:
    monkeypatch.setattr("pages._ui.benchmark.submissions.MAX_ARCHIVE", 2**20)
    submit(page, archive("one", "two") + bytes(2**20))
    assert "predictions.zip is larger than 1 MiB, the most that is read of a submission" in seen(page.error)
    assert not page.exception
    for module in ("pages._ui.benchmark.baselines", "grasp_core.benchmark.tasks"):
        monkeypatch.setattr(f"{module}.MAX_ROWS_FILE", 2**20)
    models_view(page, "Baselines")
    page.file_uploader[0].set_value(("train.csv", b"x" * (2**20 + 1), "text/csv")).run()
    assert "is larger than 1 MiB, the most that is read of a task's rows" in seen(page.error)
    assert not page.exception


def test_what_is_to_be_mended_stands_in_one_box_and_is_not_scored(page: AppTest, benchmark: Server) -> None:
    submit(page, archive("one", wrong=2))
    assert len(page.error) == 1
    assert page.error[0].value.count("\n- ") == 3
    told = seen(page.error)
    assert "- data/two/predictions.csv is missing" in told
    assert "the label 'maybe'" in told
    assert "Score" not in labels(page.button)
    assert benchmark.submissions.left("one", owner="") == benchmark.settings.raft_scorings
    submit(page, zipped({"holiday/beach.txt": "sun"}))
    assert "predictions.zip has no file data/TASK/predictions.csv of any" in seen(page.error)


def test_a_system_stands_once_however_often_it_is_scored(page: AppTest, benchmark: Server) -> None:
    submit(page, archive("one", "two"))
    press(page, "Score")
    assert "Give the system a name first" in seen(page.error)
    assert not benchmark.submissions.all()
    score(page, "ours")
    left = benchmark.settings.raft_scorings - 1
    assert f"You may have {left} more different predictions" in seen(page.caption)  # already counted
    done(press(page, "Score"))
    assert widget(page.metric, "Macro-F1 over all tasks").value == "1.000"
    assert len(benchmark.submissions.all()) == 1
    page.run()
    assert widget(page.metric, "Macro-F1 over all tasks").value == "1.000"  # does not go with the next click


def leaderboard(page: AppTest) -> AppTest:
    return models_view(page, "Leaderboard")


def test_a_system_is_taken_off_the_leaderboard(page: AppTest, benchmark: Server) -> None:
    for missed, name in enumerate(("gone", "kept")):
        submit(page, archive("one", "two", missed=missed))
        score(page, name)
    leaderboard(page)
    assert "with the command `raft score --errors`" in seen(page.caption)
    press(page, "Take a system off")
    assert "kept: its labels and scores are deleted for everybody" in seen(page.warning)
    press(page, "Keep it")
    assert len(benchmark.submissions.all()) == 2
    press(page, "Take a system off")
    gone = next(record for record in benchmark.submissions.all() if record.name == "gone")
    widget(page.selectbox, "Which one").set_value(gone.id)
    press(page, "Take it off for good")
    assert [record.name for record in benchmark.submissions.all()] == ["kept"]
    page.run()
    assert page.dataframe[0].value["system"].tolist() == ["kept"]
    assert benchmark.submissions.left("one", owner="") == benchmark.settings.raft_scorings - 2
    assert not page.exception
    submit(page, archive("one", "two"))
    assert not page.metric  # no score that says that it stands there


def test_only_whoever_handed_in_and_admins_take_a_system_off(page, benchmark, monkeypatch) -> None:
    scores = {"tasks": {"one": {"macro_f1": 1.0, "ci95": [1.0, 1.0]}}, "overall": None}
    record = benchmark.submissions.add("ann's", {"one": GOLD}, scores, owner=ANN.id)
    for user in (BOB, VERA):
        become(user, monkeypatch)
        assert "Take a system off" not in labels(leaderboard(page).button)
        monkeypatch.setitem(st.session_state, taking_off.CHOSEN, record.id)
        with pytest.raises(AccessError):
            taking_off.take_off([record])
    for user in (ANN, ROOT):
        become(user, monkeypatch)
        assert "Take a system off" in labels(leaderboard(page).button)
    assert [one.id for one in benchmark.submissions.all()] == [record.id]


def test_without_gold_labels_nothing_claims_to_be_scored(page: AppTest) -> None:
    models_view(page, "Submit")
    assert "predictions are checked here and not scored" in seen(page.info)
    rows = "".join(f"{50 + row},overruling\n" for row in range(2350))
    submit(page, zipped({"data/overruling/predictions.csv": f"ID,Label\n{rows}"}))
    assert "Incomplete: 1 file of 11, without a fault." in seen(page.warning)
    assert "can be scored" not in seen(page.warning)
    assert "Score" not in labels(page.button)


def test_a_baseline_is_run_fold_by_fold(page: AppTest, benchmark: Server) -> None:
    folder = Path(benchmark.settings.raft_tasks) / "one"
    rows = [
        f"{'good' if row % 5 < 3 else 'bad'} thing {row},{CLASSES[row % 5 >= 3]},{row}" for row in range(50)
    ]
    (folder / "train.csv").write_text("\n".join(["text,Label,ID", *rows]) + "\n")
    models_view(page, "Baselines")
    press(page, "Run the baseline")
    # Plurality always says "yes", as 30 of 50 rows are: F1 0.75 and 0, mean 0.375.
    assert widget(page.metric, "Macro-F1").value == "0.375"
    errors = page.dataframe[0].value  # right class by class given
    assert errors.to_dict() == {"yes": {"yes": 30, "no": 20}, "no": {"yes": 0, "no": 0}}
    wrong = page.dataframe[1].value
    assert set(wrong["Right"]) == {"no"}
    assert set(wrong["Given"]) == {"yes"}
    assert len(wrong) == 20
    widget(page.selectbox, "Baseline").set_value("tfidf").run()
    press(page, "Run the baseline")
    assert widget(page.metric, "Macro-F1").value == "1.000"
    assert float(widget(page.metric, "Seconds").value) > 0
    for view in ("Leaderboard", "Baselines"):
        choose_view(page, view)
    assert widget(page.selectbox, "Baseline").value == "tfidf"
    assert widget(page.metric, "Macro-F1").value == "1.000"  # choices and score are kept
    widget(page.selectbox, "Scored by").set_value("splits").run()
    assert not page.metric  # another question


def test_offensive_rows_are_shown_after_a_warning(page: AppTest, benchmark: Server) -> None:
    folder = Path(benchmark.settings.raft_tasks) / "one"
    plain = {"classes": CLASSES, "fields": ["text"], "warning": "Its rows are rude."}
    (folder / "task.json").write_text(json.dumps(plain))
    rows = [f"thing {row},{CLASSES[row % 5 >= 3]},{row}" for row in range(10)]
    (folder / "train.csv").write_text("\n".join(["text,Label,ID", *rows]) + "\n")
    models_view(page, "Baselines")
    press(page, "Run the baseline")
    assert not any("text" in frame.value for frame in page.dataframe)
    asked = next(box for box in page.checkbox if "Its rows are rude" in plain_text(box.label))
    asked.check().run()
    assert any("text" in frame.value for frame in page.dataframe)


def test_labelled_rows_are_kept_for_the_visit(page: AppTest, benchmark: Server) -> None:
    rows = [f"thing {row},{CLASSES[row % 5 >= 3]},{row}" for row in range(10)]
    models_view(page, "Baselines")
    assert "Run the baseline" not in labels(page.button)
    content = "\n".join(["text,Label,ID", *rows]).encode()
    page.file_uploader[0].set_value(("train.csv", content, "text/csv")).run()
    press(page, "Run the baseline")
    score = widget(page.metric, "Macro-F1").value
    for view in ("Leaderboard", "Baselines"):
        choose_view(page, view)
    assert "The file dropped before is used" in seen(page.caption)
    assert widget(page.metric, "Macro-F1").value == score
    widget(page.selectbox, "Task").set_value("two").run()
    assert not page.metric  # another task's rows
    assert not page.exception


def test_gold_labels_are_on_no_page(page: AppTest, benchmark: Server) -> None:
    submit(page, archive("one", "two"))
    score(page, "ours")
    for view in ("Submit", "Leaderboard", "Whose judgements"):
        choose_view(page, view)
        for frame in page.dataframe:
            assert not set(GOLD) & {str(cell) for row in frame.value.values.tolist() for cell in row}


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
