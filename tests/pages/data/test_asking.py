"""What is not certain is left for a person to choose, and nothing runs before."""

import random

from streamlit.testing.v1 import AppTest

from tests.labels import CONTINUE, ITEM_COLUMN, LABEL_COLUMN, RATER_COLUMN
from tests.pages.visits import bring, figures, press, seen, widget
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


def test_of_several_labels_one_is_to_be_chosen_and_the_others_are_further_questions(page: AppTest) -> None:
    opened(page, votes("offensive", "sarcastic"))
    label = widget(page.selectbox, LABEL_COLUMN)
    assert label.value is None
    assert label.options[:2] == ["offensive", "sarcastic"]
    assert "the label column is not certain: 'offensive' or 'sarcastic'?" in seen(page.caption)
    assert widget(page.selectbox, ITEM_COLUMN).value == "item"
    assert not page.metric
    page.switch_page("analysis.py").run()
    assert "still to be decided" in seen(page.info)
    page.switch_page("data.py").run()
    widget(page.selectbox, LABEL_COLUMN).set_value("sarcastic").run()
    assert page.metric
    assert "These look like further questions: 'offensive'" in seen(page.caption)
    assert (
        widget(page.multiselect, "Further questions about the same items (optional)").options[0]
        == "offensive"
    )


def test_an_unsure_layout_is_to_be_chosen(page: AppTest) -> None:
    matrix = [["key", "a", "b", "c"], ["1", "x", "y", "x"], ["2", "y", "y", "x"], ["3", "x", "x", "y"]]
    opened(page, csv_bytes(matrix))
    layout = widget(page.selectbox, "Layout")
    assert layout.value is None
    assert all(f"'{option}'" in seen(page.caption) for option in layout.options[1:])
    assert not page.metric
    layout.set_value("items-by-raters").run()
    assert figures(page)[:3] == ["3", "3", "9"]


def test_without_raters_it_says_what_would_do(page: AppTest) -> None:
    rows = [["text", "label", "split"]] + [[f"t{n}", "ab"[n % 2], "xy"[n % 3 > 1]] for n in range(12)]
    opened(page, csv_bytes(rows))
    assert "no column looks like raters" in seen(page.caption)
    assert widget(page.selectbox, RATER_COLUMN).value is None
    assert not page.metric


def test_which_columns_of_a_matrix_hold_the_labels_is_asked_as_by_the_command(page: AppTest) -> None:
    rng = random.Random(2)
    questions = [f"{name}_{n}" for name in ("calm", "tense") for n in range(1, 6)]
    rows = [["person", "gender", *questions]]
    rows += [[f"p{n}", "fm"[n % 2], *(rng.choice("0123") for _ in questions)] for n in range(30)]
    opened(page, csv_bytes(rows))
    widget(page.selectbox, "Layout").set_value("raters-by-items").run()
    columns = widget(page.selectbox, "Label columns")
    assert (columns.value, columns.options) == (None, ["calm_*", "tense_*"])
    assert not page.metric
    assert widget(page.button, CONTINUE).disabled
    columns.set_value("tense_*").run()
    assert figures(page)[:3] == ["5", "30", "150"]
    widget(page.selectbox, "Label columns").set_value("calm_*").run()
    assert figures(page)[:3] == ["5", "30", "150"]
    assert not widget(page.button, CONTINUE).disabled


def test_numbered_workers_are_no_raters_before_somebody_says_so(page: AppTest) -> None:
    rng = random.Random(3)
    rows = [["sentence", *(f"worker_{n}" for n in range(4))]]
    rows += [[f"sentence {n}", *(rng.choice(["agrees", "neutral"]) for _ in range(4))] for n in range(40)]
    opened(page, csv_bytes(rows))
    assert "are the same people in all rows" in seen(page.caption)
    assert not page.metric
    widget(page.selectbox, "Label columns").set_value("worker_*").run()
    assert figures(page)[:3] == ["40", "4", "160"]


def test_a_column_without_groups_is_no_axis_to_begin_with(page: AppTest) -> None:
    sites = ("north", "south", "", "")  # of two workers alone
    rows = [[f"i{i}", f"w{j}", f"{(i + j) % 2}", site] for i in range(9) for j, site in enumerate(sites)]
    opened(page, csv_bytes([["item", "worker", "label", "place"], *rows]))
    press(page, CONTINUE)
    page.switch_page("analysis.py").run()
    assert widget(page.multiselect, "Axes").value == []
    assert not widget(page.button, "Run").disabled


def test_the_order_of_labels_follows_what_was_answered_below(page: AppTest) -> None:
    rng = random.Random(3)
    scale = ["never", "rarely", "sometimes", "often", "always"]
    rows = [["item", "rater", "label", "gender"]]
    rows += [
        [f"i{i}", f"r{j}", "k.A." if i == j else rng.choice(scale), "Woman" if j < 4 else "Man"]
        for i in range(30)
        for j in range(8)
    ]
    opened(page, csv_bytes(rows))

    def order() -> list[str]:
        return widget(page.multiselect, "Labels, in order").value

    def answer(kind: str, given: bool) -> None:
        one = next(one for one in page.button_group if (one.key or "").startswith(kind))
        one.set_value(given).run()

    assert order() == sorted(["k.A.", *scale])
    answer("advice-missing", True)
    assert order() == scale
    assert "As the scale ranks them." in seen(page.caption)
    answer("scale", False)
    assert order() == sorted(scale)
    answer("scale", True)
    assert order() == scale
    assert not page.exception
