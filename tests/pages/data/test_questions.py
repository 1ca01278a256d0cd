"""Several questions about the same items: chosen on Data, run together, or one by itself."""

import numpy as np
import pytest
from streamlit.testing.v1 import AppTest

from grasp_core.server.server import Server
from tests.labels import CONTINUE, DATA_AND_METHODS, ITEM_COLUMN, LABEL_COLUMN, LEVEL, RATER_COLUMN
from tests.pages.visits import drop, finished, on, press, seen, shown_run, view, widget

FURTHER = "Further questions about the same items (optional)"


@pytest.fixture
def answers() -> bytes:
    rng = np.random.default_rng(2)
    rows = ["item,rater,q1,q2,score,gender"]
    for j in range(12):
        for i in range(8):
            q1, q2 = rng.choice(["No", "Yes"]), rng.choice(["", "low", "high"])
            rows.append(f"i{i},r{j},{q1},{q2},{rng.integers(0, 4)},{'MW'[j % 2]}")
    return ("\n".join(rows) + "\n").encode()


@pytest.fixture
def opened(page: AppTest, answers: bytes) -> AppTest:
    """The Data page, with both questions and the order of the second's labels."""
    drop(page.switch_page("data.py").run(), "answers.csv", answers)
    for label, column in ((ITEM_COLUMN, "item"), (RATER_COLUMN, "rater"), (LABEL_COLUMN, "q1")):
        widget(page.selectbox, label).set_value(column)
    page.run()
    widget(page.multiselect, FURTHER).set_value(["q2"]).run()
    return widget(page.multiselect, "Labels of q2, in order").set_value(["low", "high"]).run()


def chosen(page: AppTest) -> list[str]:
    return [control.label for control in page.segmented_control]


def test_two_questions_are_run_together(opened: AppTest, server: Server) -> None:
    assert not opened.exception
    assert "first question, q1" in seen(opened.caption)
    press(opened, CONTINUE)
    analysis = on(opened, "analysis")
    assert chosen(analysis)[0] == "Questions"
    assert widget(analysis.selectbox, LEVEL).options == ["Nominal: names"]
    widget(analysis.number_input, "Permutations").set_value(200).run()
    results = finished(press(analysis, "Run"), server)
    run = shown_run(results, server)
    assert run.title == "q1, q2 by gender"
    assert run.spec.data.labels == ("q1", "q2")
    assert run.spec.data.further[0].categories == ("low", "high")
    assert not results.exception
    assert "q1, q2. IRR and XRR take all of them together" in seen(view(results, DATA_AND_METHODS).markdown)


def test_one_of_them_is_one_click_away(opened: AppTest, server: Server) -> None:
    press(opened, CONTINUE)
    analysis = on(opened, "analysis")
    widget(analysis.segmented_control, "Questions").set_value(2).run()
    assert not analysis.exception
    assert "Ordinal: ranks" in widget(analysis.selectbox, LEVEL).options
    widget(analysis.selectbox, LEVEL).set_value("ordinal").run()
    assert "The order is low, high" in seen(analysis.caption)
    widget(analysis.number_input, "Permutations").set_value(200).run()
    run = shown_run(finished(press(analysis, "Run"), server), server)
    assert run.spec.data.labels == ("q2",)
    assert run.spec.data.categories == ("low", "high")
    assert run.spec.analysis.level == "ordinal"


def test_numbers_offer_every_level(page: AppTest, answers: bytes) -> None:
    drop(page.switch_page("data.py").run(), "answers.csv", answers)
    widget(page.selectbox, LABEL_COLUMN).set_value("score").run()
    press(page, CONTINUE)
    analysis = on(page, "analysis")
    level = widget(analysis.selectbox, LEVEL)
    assert level.options == ["Ordinal: ranks", "Interval: numbers", "Nominal: names", "Ratio: numbers from 0"]
    assert level.value == "ordinal"  # as recommended on Data
    said = seen(analysis.caption)
    assert (
        "Proposed: labels are the numbers 0 to 3: ordinal or interval takes their order into account" in said
    )
    assert LEVEL not in [one.label for one in analysis.expander[-1].selectbox]
    assert "Questions" not in chosen(analysis)


def test_a_question_named_twice_is_told(opened: AppTest) -> None:
    widget(opened.multiselect, FURTHER).set_value(["q2", "q1"]).run()
    assert "is named twice as a question's label column" in seen(opened.error)


def test_what_takes_one_question_says_so(opened: AppTest) -> None:
    models = opened.switch_page("models.py").run()
    assert not models.exception
    asked = "This looks at one question at a time; choose one of 'q1', 'q2' on Data."
    assert seen(models.info).replace("\\", "") == asked


def test_what_may_be_no_answer_is_asked_about_in_each_question(page: AppTest) -> None:
    rows = ["item,rater,q1,q2,gender"]
    for n in range(96):
        second = (*"12345", "NA", "99")[n % 7]
        rows.append(f"i{n // 12},r{n % 12},{('No', 'Yes')[n % 2]},{second},{'MW'[n % 2]}")
    drop(page.switch_page("data.py").run(), "answers.csv", ("\n".join(rows) + "\n").encode())
    for label, column in ((ITEM_COLUMN, "item"), (RATER_COLUMN, "rater"), (LABEL_COLUMN, "q1")):
        widget(page.selectbox, label).set_value(column)
    page.run()
    widget(page.multiselect, FURTHER).set_value(["q2"]).run()
    assert not page.exception
    assert widget(page.multiselect, FURTHER).value == ["q2"]
    assert widget(page.selectbox, LABEL_COLUMN).value == "q1"
    said = seen(page.markdown)
    assert "13 cells with" in said
    assert "it lies apart from the other numbers" in said
    assert "NA" in widget(page.multiselect, "Cell texts that mean “no value”").value
