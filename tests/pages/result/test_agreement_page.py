"""A result without anything known of raters, from the dropped file to its views."""

from streamlit.testing.v1 import AppTest

from grasp_core.server.server import Server
from tests.labels import CONTINUE
from tests.pages.visits import drop, finished, on, press, seen, shown_run, view, widget

VOTES = "item,rater,label\n" + "".join(
    f"i{i},r{j},{('fine', 'odd', 'bad')[(i + (j == 3) * (i % 2)) % 3]}\n" for i in range(60) for j in range(5)
)


def test_everybody_comes_first_where_nothing_is_known_of_raters(page: AppTest, server: Server) -> None:
    drop(page.switch_page("data.py").run(), "votes.csv", VOTES.encode())
    counts = " · ".join(f"**{label}**: {VOTES.count(label + chr(10))}" for label in ("bad", "fine", "odd"))
    assert f"Labels: {counts}. Nothing is known of the raters." in seen(page.markdown)
    on(press(page, CONTINUE), "analysis")
    assert "there are no groups to compare" in seen(page.info)
    press(page, "Run")
    finished(page, server)
    run = shown_run(page, server)
    assert (run.state, run.spec.analysis.axes) == ("done", ())
    assert run.verdict.startswith("Your 5 raters agree")
    assert "Your 5 raters agree" in seen(page.title)
    assert "0 is chance, 1 is perfect" in seen(page.markdown)
    assert [header.value for header in page.header][:1] == ["Who differs"]
    assert "add a file with their age" in seen(page.markdown)
    assert page.get("vega_lite_chart")
    view(page, "Items")
    (frame,) = page.dataframe
    assert len(frame.value) == 30
    widget(page.selectbox, "Items").set_value("odd").run()
    (frame,) = page.dataframe
    assert frame.value["Answers"].str.contains("odd: 1").all()
    view(page, "Raters")
    (frame,) = page.dataframe
    assert frame.value["Clearly less than the others"].tolist() == ["yes", "", "", "", ""]
    view(page, "Data and methods")
    assert not page.exception
    assert "Fingerprint" in seen(page.text)
