from __future__ import annotations

import re

import pytest
from playwright.sync_api import Page, expect

from tests.browser.conftest import OpenPage
from tests.browser.visits import bring, go_on_to_analysis, run, set_number
from tests.labels import CANCEL_RUN

LONG = 3_000_000


@pytest.fixture
def analysis(open_page: OpenPage, example: dict[str, bytes]) -> Page:
    page = open_page("/data")
    bring(page, example["annotations.csv"], example["raters.csv"])
    go_on_to_analysis(page)
    set_number(page, "Permutations", LONG)
    return page


def _cancel(page: Page) -> None:
    page.get_by_role("button", name=CANCEL_RUN).click()
    expect(page.get_by_role("alert").filter(has_text="cancelled")).to_be_visible()


def test_progress_reload_second_tab_and_cancel(analysis: Page, open_page: OpenPage) -> None:
    set_number(analysis, "Seed", 101)
    run(analysis)
    expect(
        analysis.get_by_text(re.compile(r"[1-9][\d,]* of 3,000,000 permutations, about .* left"))
    ).to_be_visible()
    address = analysis.url
    analysis.reload()
    expect(analysis.get_by_text(re.compile("of 3,000,000 permutations"))).to_be_visible()
    analysis.close()
    other = open_page(address[address.index("/results") :])
    expect(other.get_by_text(re.compile("of 3,000,000 permutations"))).to_be_visible()
    _cancel(other)


def test_a_double_click_starts_one_run(analysis: Page, open_page: OpenPage) -> None:
    set_number(analysis, "Seed", 102)
    analysis.get_by_role("button", name="Run", exact=True).dblclick()
    analysis.get_by_role("button", name=CANCEL_RUN).wait_for()
    analysis.get_by_role("link", name="Start").click()
    expect(analysis.get_by_role("link", name=re.compile("^label by"))).to_have_count(1)
    analysis.get_by_role("link", name=re.compile("^label by")).click()
    _cancel(analysis)
