"""The Data page's quality report, in a page of its own."""

import pytest
from streamlit.testing.v1 import AppTest

from grasp_core.model.example import example_files, example_spec
from grasp_core.server.server import Server
from tests.few_items import few_items
from tests.pages.visits import press, seen, widget


def quality_page(annotations, raters, spec):
    """What pages/data.py does, around the report alone."""
    from grasp_core.reading.dataset.load import load
    from grasp_core.reading.sandbox.read import read_table
    from pages._ui.data.quality import show_quality
    from pages._ui.helpers.state import work

    session = work()
    if session.dataset is None:
        tables = (read_table(annotations, "annotations.csv"), read_table(raters, "raters.csv"))
        session.use_dataset(load(*tables, spec.data), spec.data)
    show_quality(session.dataset, ("rater_gender",))


def opened(annotations: bytes) -> AppTest:
    files = example_files()
    page = AppTest.from_function(
        quality_page, default_timeout=60, args=(annotations, files["raters.csv"], example_spec())
    )
    page.session_state["quality-report"] = page.session_state["power"] = True  # the sections are open
    return page.run()


@pytest.fixture(scope="module")
def annotations() -> bytes:
    return example_files()["annotations.csv"]


def test_plain_data_have_tables_and_no_warning(server: Server, annotations: bytes) -> None:
    page = opened(annotations)
    assert not page.exception
    assert not page.warning
    assert "Nothing odd was found" in seen(page.markdown)
    assert "none found among 5,356 pairs" in seen(page.markdown)
    assert "Raters at chance: none" in seen(page.markdown)
    assert not any("out" in button.label for button in page.button)
    overview, histogram, small, close, _ = (frame.value for frame in page.dataframe)
    assert overview.set_index("What")["Value"]["Annotations"] == "36,400"
    assert histogram["Items"].tolist() == [350]
    assert small["Groups"].tolist() == [5, 2, 3, 10, 15, 6]
    assert set(close["Verdict"]) == {""}
    assert not page.toggle


def test_odd_raters_are_told_of_and_named_only_when_asked(server: Server, annotations: bytes) -> None:
    lines = annotations.splitlines(keepends=True)
    twin = [line.replace(b",R001,", b",twin,") for line in lines if b",R001," in line]
    constant = [b"item-%03d,bored,No\n" % item for item in range(1, 51)]
    page = opened(b"".join([*lines, *twin, *constant]))
    assert "1 rater of 106" in seen(page.warning)
    assert "1 pair of raters (2 raters)" in seen(page.warning)
    assert not any("twin" in frame.value.to_string() for frame in page.dataframe)
    press(page, "Leave these raters out")
    assert page.session_state["screens-0"] == ["constant", "duplicates"]
    widget(page.toggle, "Show which raters").set_value(True).run()
    bored, pairs = (frame.value for frame in page.dataframe[-2:])
    assert bored.to_numpy().tolist() == [["bored"]]
    assert pairs.iloc[0, :4].tolist() == ["R001", "twin", 350, 350]


def test_power_is_estimated_when_asked_and_kept(server: Server) -> None:
    page = opened(few_items()["annotations.csv"])
    before = len(page.dataframe)
    press(page, "Estimate what could be detected")
    assert not page.exception
    found = page.dataframe[-1].value
    assert found["Group"].tolist() == ["Man", "Woman"]
    assert found["Raters"].tolist() == [47, 57]  # the example's RATERS_PER_GROUP
    assert "8 of 10 runs" in seen(page.caption)
    page.run()
    assert len(page.dataframe) == before + 1  # still there
    widget(page.multiselect, "Groups of").set_value([("rater_race",)]).run()
    assert len(page.dataframe) == before


def test_long_searches_wait_for_a_button(server, annotations, monkeypatch) -> None:
    monkeypatch.setattr("grasp_core.reading.screens.duplicates.QUICK_WORK", 1)
    page = opened(annotations)
    assert "Near-duplicates" not in seen(page.markdown)
    press(page, "Look for raters who agree too closely")
    assert "none found among 5,356 pairs" in seen(page.markdown)
    page.run()
    assert "none found among 5,356 pairs" in seen(page.markdown)


def test_what_takes_long_is_looked_at_in_workers(server, annotations, monkeypatch) -> None:
    here = [warning.value for warning in opened(annotations).warning]
    monkeypatch.setattr("grasp_core.reading.screens.duplicates.INSTANT_WORK", 1)
    looked, each = [], server.service.pool.each
    monkeypatch.setattr(
        server.service.pool, "each", lambda look, at: looked.append(look.__name__) or each(look, at)
    )
    page = opened(annotations)
    assert looked == ["looked_at", "near_duplicates"]
    assert [warning.value for warning in page.warning] == here
