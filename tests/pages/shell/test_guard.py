import logging
import re

import pytest
from streamlit.testing.v1 import AppTest

from grasp_core.model.errors import DataError
from pages._ui.data import arriving as read_watched
from pages._ui.data import files
from pages._ui.helpers.screens import SCREENS
from tests.pages.visits import drop, seen


def _fail(*_: object, **__: object) -> None:
    raise KeyError("rater 4711 said *Yes*")


def test_unexpected_errors_become_a_sentence_and_leave_no_data_in_the_log(page, monkeypatch, caplog) -> None:
    monkeypatch.setattr(read_watched, "read_table", _fail)
    page.switch_page("data.py").run()
    with caplog.at_level(logging.ERROR):
        drop(page, "a.csv", b"a,b,c\n1,2,3\n")
    assert not page.exception
    assert "went wrong in GRASP itself" in seen(page.error)
    assert "KeyError" in caplog.text
    assert "_fail" in caplog.text
    assert "4711" not in caplog.text


def test_errors_for_the_user_are_shown_as_they_are(page: AppTest, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object) -> None:
        raise DataError("column *x* is <b>missing</b>")

    monkeypatch.setattr(files, "drop_zone", refuse)
    page.switch_page("data.py").run()
    assert "column *x* is <b>missing</b>" in seen(page.error)
    assert "<b>" not in page.error[0].value


@pytest.mark.parametrize(
    ("screen", "title"),
    [
        ("start", "From files to an answer"),
        ("data", "Files that are read"),
        ("results", "Reading results"),
        ("plan", "Planning the next study"),
    ],
)
def test_it_opens_the_part_of_the_screen_before(page: AppTest, screen: str, title: str) -> None:
    page.switch_page(f"{screen}.py").run()
    page.switch_page("help.py").run()
    assert seen(page.title) == title
    assert not page.exception


def test_links_lead_to_other_parts_and_an_unknown_part_is_the_first(page: AppTest) -> None:
    page.switch_page("help.py").run()
    said = page.markdown[0].value
    targets = set(re.findall(r"\]\(([^)]*)\)", said))
    assert any(target.startswith("help?of=results") for target in targets)
    assert all(target.startswith(("help?of=", "#")) for target in targets)
    assert "<a id" not in said
    page.switch_page("help.py")
    page.query_params["of"] = "../../etc/passwd"
    assert seen(page.run().title) == "From files to an answer"


def test_it_is_in_the_menu() -> None:
    assert any(screen.name == "help" and screen.in_menu for screen in SCREENS)
