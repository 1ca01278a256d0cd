"""Large files are read beside the page, which shows how far it is."""

import time

import pytest
from streamlit.testing.v1 import AppTest

from grasp_core.model.errors import DataError
from grasp_core.reading.sandbox.read import read_table
from pages._ui.data import arriving as read_watched
from pages._ui.helpers.page_frame import Working
from tests.pages.visits import drop, figures, seen


@pytest.fixture(autouse=True)
def everything_is_large(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(read_watched, "AT_ONCE", 0)


def opened(page: AppTest, content: bytes) -> AppTest:
    page.switch_page("data.py").run()
    return drop(page, "votes.csv", content)


ROWS = [b"i%d,r%d,%d" % (i, j, (i + j) % 2) for i in range(9) for j in range(6)]
VOTES = b"\n".join([b"item,rater,label", *ROWS])


def test_a_large_file_is_read(page: AppTest) -> None:
    opened(page, VOTES)
    assert not page.error
    assert figures(page)[:3] == ["9", "6", "54"]


def test_a_large_file_that_is_refused_says_why(page: AppTest) -> None:
    assert "only one column was found" in seen(opened(page, b"label\nYes\n").error)


def test_leaving_ends_the_reading() -> None:
    """What the page's script does when a click ends it: the reader is told at its next step."""
    large = b"a,b\n" + b"12345678,2\n" * 8_000_000
    reading = Working()
    reading.begin(lambda tell: read_table(large, "large.csv", watch=tell))
    while not any(reading.told) and not reading.ended.is_set():
        time.sleep(0.001)
    reading.cancelled = True
    assert reading.ended.wait(30)
    assert reading.result is None
    assert not isinstance(reading.error, DataError)
