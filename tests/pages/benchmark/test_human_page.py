"""The human baseline on the Models page."""

from __future__ import annotations

from streamlit.testing.v1 import AppTest

from grasp_core.reading.example import example_files
from tests.pages.visits import drop, open_example, press, seen, widget


def people(page: AppTest) -> AppTest:
    page.switch_page("models.py").run()
    return widget(page.button_group, "View").set_value("People").run()


def test_without_data_it_says_where_to_begin(page: AppTest) -> None:
    assert "Open the annotations" in seen(people(page).info)


def test_people_are_scored_against_the_others(page: AppTest) -> None:
    people(open_example(page, example_files()))
    press(page, "Score people")
    assert not page.error
    assert 0.3 < float(widget(page.metric, "Macro-F1").value) <= 1
    assert "plurality of 5 on 100 of 350 items" in seen(page.markdown)
    score = widget(page.metric, "Macro-F1").value
    widget(page.number_input, "Votes per item").set_value(3).run()
    assert not page.metric  # another question
    for view in ("Leaderboard", "People"):
        widget(page.button_group, "View").set_value(view).run()
    assert widget(page.number_input, "Votes per item").value == 3  # kept while another view is looked at
    widget(page.number_input, "Votes per item").set_value(5).run()
    assert widget(page.metric, "Macro-F1").value == score


def test_right_labels_of_a_column_decide(page: AppTest) -> None:
    """All raters say what is right, so that people reach 1 whatever is drawn."""
    right = ("no", "yes")
    rows = [f"i{i},r{j},{right[i % 2]},{right[i % 2]},{'ab'[j % 2]}" for i in range(120) for j in range(6)]
    page.switch_page("data.py").run()
    drop(page, "votes.csv", "\n".join(["item,rater,label,expert,group", *rows]).encode())
    people(page)
    widget(page.selectbox, "Right label").set_value("expert").run()
    press(page, "Score people")
    assert widget(page.metric, "Macro-F1").value == "1.000"
    widget(page.selectbox, "Right label").set_value("group").run()
    press(page, "Score people")
    assert "another right label" in seen(page.error)
