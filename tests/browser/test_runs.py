from dataclasses import replace
from itertools import pairwise

import pytest
from playwright.sync_api import Page, expect

from grasp_core.server.server import Server
from grasp_core.store.runs import RunRecord
from tests.browser.conftest import OpenPage
from tests.browser.visits import faults, picture, results, search_runs, settle
from tests.results import make_outcome, make_result


def _pair(store: Server, name: str) -> tuple[RunRecord, RunRecord]:
    """Two runs of which the second has another seed, more permutations and one group less."""
    a = make_result()
    changed = replace(
        a.groups[0], statistics={**a.groups[0].statistics, "gai": make_outcome(1.4, "up", "**")}
    )
    analysis = replace(a.spec.analysis, seed=2, permutations=20_000)
    b = replace(a, groups=(changed, *a.groups[1:-1]), spec=replace(a.spec, analysis=analysis))
    return store.runs.add(a, title=f"{name} A", owner=""), store.runs.add(b, title=f"{name} B", owner="")


def _tick(page: Page, position: int) -> None:
    page.get_by_test_id("stCheckbox").nth(position).locator("label").click()
    settle(page)


def test_a_run_is_opened_with_the_keyboard(open_page: OpenPage, store: Server) -> None:
    _pair(store, "by keyboard")
    page = open_page("/runs")
    search_runs(page, "by keyboard B")
    page.get_by_role("textbox", name="Search").focus()
    for _ in range(10):
        page.keyboard.press("Tab")
        if "by keyboard B" in page.evaluate("document.activeElement.innerText"):
            break
    page.keyboard.press("Enter")
    page.get_by_text("by keyboard B ·").wait_for()
    results(page)


@pytest.mark.parametrize(
    ("dark", "width"),
    [
        pytest.param(False, 1440, marks=pytest.mark.long),
        pytest.param(True, 1440, marks=pytest.mark.long),
        (False, 390),
    ],
    ids=["light", "dark", "phone"],
)
def test_runs_is_accessible(open_page: OpenPage, store: Server, dark: bool, width: int) -> None:
    name = f"looked at {dark} {width}"
    a, b = _pair(store, name)
    found = {}

    def look(screen: str) -> None:
        picture(page, f"{screen}-{'dark' if dark else 'light'}-{width}")
        found[screen] = faults(page)

    page = open_page("/runs", dark=dark, width=width)
    search_runs(page, name)
    _tick(page, 0)
    look("runs")
    for button in ("Edit", "Delete"):
        page.get_by_role("button", name=button).first.click()
        page.get_by_role("dialog").wait_for()
        settle(page)
        look(f"runs-{button.lower()}")
        page.keyboard.press("Escape")
        expect(page.get_by_role("dialog")).to_have_count(0)
    page = open_page(f"/runs?a={a.id}&b={b.id}", dark=dark, width=width)
    page.get_by_role("heading", name="What was found").wait_for()
    settle(page)
    look("compared")
    levels = page.locator("[data-testid=stMain] :is(h1, h2, h3, h4)").evaluate_all(
        "headings => headings.map(heading => Number(heading.tagName[1]))"
    )
    assert all(later - earlier <= 1 for earlier, later in pairwise(levels)), levels
    assert not any(found.values()), found
