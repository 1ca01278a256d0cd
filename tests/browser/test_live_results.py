import re

import pytest
from playwright.sync_api import Page, expect

from tests.browser.conftest import OpenPage
from tests.browser.visits import bring, go_on_to_analysis, go_to, run, set_number, settle
from tests.labels import CANCEL_RUN, MAKE_LINK, NUMBERS_SO_FAR, TABLE_OF_GROUPS

LONG = 10_000_000
PROVISIONAL = re.compile(r"Provisional, after [\d,]+ permutations: observed values are final")


@pytest.fixture
def analysis(open_page: OpenPage, whole_example: dict[str, bytes]) -> Page:
    page = open_page("/data")
    bring(page, whole_example["annotations.csv"], whole_example["raters.csv"])
    go_on_to_analysis(page)
    return page


def _so_far(page: Page) -> str:
    return page.get_by_text(PROVISIONAL).inner_text()


def _wait_for_more(page: Page, times: int) -> None:
    for _ in range(times):
        before = _so_far(page)
        expect(page.get_by_text(PROVISIONAL)).not_to_have_text(before)


@pytest.mark.long
def test_it_fills_in_without_flicker_and_stays_where_one_looks(analysis: Page, open_page: OpenPage) -> None:
    page = analysis
    set_number(page, "Permutations", LONG)
    set_number(page, "Seed", 401)
    run(page)
    page.get_by_text(NUMBERS_SO_FAR).click()
    page.get_by_role("heading", name=TABLE_OF_GROUPS).wait_for()
    expect(page.get_by_text(PROVISIONAL)).to_be_visible()
    expect(page.locator("[data-testid=stVegaLiteChart] .marks")).to_have_count(4)
    assert page.get_by_role("button", name="Export").count() == 0
    assert page.get_by_test_id("stDownloadButton").count() == 0
    expect(page.get_by_test_id("stElementToolbar").first).to_be_hidden()
    _wait_for_more(page, 2)  # the histograms have their range by now
    page.get_by_role("heading", name=TABLE_OF_GROUPS).evaluate("heading => heading.scrollIntoView()")
    page.evaluate(
        """() => {
            window.charts = [...document.querySelectorAll('[data-testid=stVegaLiteChart] .marks')]
            window.top_then = document.querySelector('[data-testid=stMain]').scrollTop
        }"""
    )
    _wait_for_more(page, 2)
    top = "document.querySelector('[data-testid=stMain]').scrollTop - window.top_then"
    assert page.evaluate(top) == 0
    there = "window.charts.every(chart => chart.isConnected)"
    assert page.evaluate(there), "a chart was drawn anew"
    page.get_by_text("Show intervals, p and q", exact=True).click()
    settle(page)
    _wait_for_more(page, 1)
    assert page.get_by_role("switch", name="Show intervals, p and q").is_checked()

    page.get_by_role("button", name="Share").click()
    dialog = page.get_by_role("dialog")
    dialog.get_by_role("button", name=MAKE_LINK).click()
    address = dialog.get_by_text(re.compile(r"/shared\?token=")).inner_text().strip()
    stranger = open_page(address[address.index("/shared") :])
    stranger.get_by_text(NUMBERS_SO_FAR).click()
    stranger.get_by_role("heading", name=TABLE_OF_GROUPS).wait_for()
    _wait_for_more(stranger, 1)
    assert stranger.get_by_role("button", name=CANCEL_RUN).count() == 0
    expect(dialog).to_be_visible()  # however often what is behind it is redrawn
    page.keyboard.press("Escape")

    go_to(page, "Runs")
    page.get_by_role("heading", name="Still going").wait_for()
    settle(page)  # going back while a page is drawn may be undone by what it still sends
    page.go_back()
    page.get_by_role("heading", name="More").wait_for()
    settle(page)
    page.go_back()
    expect(page.get_by_text(NUMBERS_SO_FAR)).to_be_visible()
    page.get_by_role("button", name=CANCEL_RUN).click()
    expect(page.get_by_text("This run was cancelled.")).to_be_visible()
    expect(stranger.get_by_text("There is no result here")).to_be_visible()
