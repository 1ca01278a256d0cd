"""Help: the part of the documents that fits the screen from which somebody came."""

import re

import pytest
from streamlit.testing.v1 import AppTest

from pages._ui.helpers.screens import SCREENS
from tests.pages.visits import seen


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
