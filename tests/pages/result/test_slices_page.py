"""Slices on Results: sentences, one group side by side, and its table."""

from streamlit.testing.v1 import AppTest

from tests.pages.visits import labels, seen


def page() -> None:
    from grasp_core.model.groups import Group
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
    from dataclasses import replace

    assert isinstance(row.group, Group)
    show_slices(Shown("key", replace(result, slices=slices), "A run"))


def test_slices_are_told_and_drawn() -> None:
    app = AppTest.from_function(page, default_timeout=60).run()
    assert not app.exception
    said = seen(app.markdown)
    assert "topic = news" in said
    assert "2 items without a value in" in said
    assert labels(app.selectbox) == ["Group", "What is compared"]
    assert app.selectbox[1].value == ("irr", False)  # as the first sentence
