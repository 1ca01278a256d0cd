"""What is not certain is left for a person to choose, and nothing runs before."""

from __future__ import annotations

import random

from streamlit.testing.v1 import AppTest

from tests.labels import CONTINUE, ITEM_COLUMN, LABEL_COLUMN, RATER_COLUMN
from tests.pages.visits import bring, seen, widget
from tests.reading.making import csv_bytes


def votes(*labels: str, rater: str = "rater") -> bytes:
    rng = random.Random(1)
    rows = [["item", rater, *labels, "gender"]]
    rows += [
        [f"i{i}", f"r{j}", *(rng.choice("123") for _ in labels), "Woman" if j < 4 else "Man"]
        for i in range(8)
        for j in range(6)
    ]
    return csv_bytes(rows)


def opened(page: AppTest, content: bytes) -> AppTest:
    bring(page, "votes.csv", content)
    return page


def test_of_several_labels_one_is_to_be_chosen(page: AppTest) -> None:
    opened(page, votes("offensive", "sarcastic"))
    label = widget(page.selectbox, LABEL_COLUMN)
    assert label.value is None
    assert label.options[:2] == ["offensive", "sarcastic"]
    assert "the label column is not certain: 'offensive' or 'sarcastic'?" in seen(page.caption)
    assert widget(page.selectbox, ITEM_COLUMN).value == "item"
    assert not page.metric
    page.switch_page("analysis.py").run()
    assert "still to be decided" in seen(page.info)


def test_the_others_are_offered_as_further_questions(page: AppTest) -> None:
    opened(page, votes("offensive", "sarcastic"))
    widget(page.selectbox, LABEL_COLUMN).set_value("sarcastic").run()
    assert page.metric
    assert "These look like further questions: 'offensive'" in seen(page.caption)
    assert (
        widget(page.multiselect, "Further questions about the same items (optional)").options[0]
        == "offensive"
    )


def test_a_choice_is_remembered_and_not_asked_again(page: AppTest) -> None:
    opened(page, votes("offensive", "sarcastic"))
    widget(page.selectbox, LABEL_COLUMN).set_value("sarcastic").run()
    next(button for button in page.button if button.label == CONTINUE).click().run()
    opened(page, votes("offensive", "sarcastic"))
    assert widget(page.selectbox, LABEL_COLUMN).value == "sarcastic"
    assert page.metric


def test_an_unsure_layout_is_to_be_chosen(page: AppTest) -> None:
    matrix = [["key", "a", "b", "c"], ["1", "x", "y", "x"], ["2", "y", "y", "x"], ["3", "x", "x", "y"]]
    opened(page, csv_bytes(matrix))
    layout = widget(page.selectbox, "Layout")
    assert layout.value is None
    assert not page.metric
    layout.set_value("items-by-raters").run()
    assert [metric.value for metric in page.metric][:3] == ["3", "3", "9"]


def test_without_raters_it_says_what_would_do(page: AppTest) -> None:
    rows = [["text", "label", "split"]] + [[f"t{n}", "ab"[n % 2], "xy"[n % 3 > 1]] for n in range(12)]
    opened(page, csv_bytes(rows))
    assert "no column looks like raters" in seen(page.caption)
    assert widget(page.selectbox, RATER_COLUMN).value is None
    assert not page.metric
