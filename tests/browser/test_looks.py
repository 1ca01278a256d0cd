import re
from collections.abc import Iterator
from itertools import pairwise

import pytest
from playwright.sync_api import Page, expect

from tests.browser.conftest import OpenPage
from tests.browser.visits import choose, faults, picture, results, settle, view
from tests.labels import DATA_AND_METHODS, RUN_AGAIN, TRY_EXAMPLE


def _screens(page: Page) -> Iterator[tuple[str, Page]]:
    """Every screen with the example in it, one after the other."""
    yield "start", page
    page.get_by_role("button", name=TRY_EXAMPLE).click()
    results(page)
    expect(page.get_by_role("heading", level=1)).to_contain_text("Black Woman raters")
    yield "results", page
    for name in ("Groups in numbers", DATA_AND_METHODS):
        view(page, name)
        yield f"results-{name.split()[0].lower()}", page
    view(page, "Findings")
    choose(page, "Look at one group", "Woman")
    page.get_by_role("heading", name="Against chance").wait_for()
    settle(page)
    yield "results-group", page
    page.get_by_role("button", name=RUN_AGAIN).click()
    page.get_by_role("heading", name="Analysis", exact=True).wait_for()
    page.get_by_text("Advanced", exact=True).click()
    settle(page)
    yield "analysis", page
    menu = page.get_by_test_id("stExpandSidebarButton")
    if menu.is_visible():
        menu.click()
    page.get_by_role("link", name="Data", exact=True).click()
    page.get_by_role("heading", name="Good to know").wait_for()
    settle(page)
    yield "data", page


_TEXTS = """() => {
    const texts = []
    const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT)
    while (walker.nextNode()) {
        const parent = walker.currentNode.parentElement
        if (parent.closest('script, style, a[href="#stMain"], [data-testid=stIconMaterial]')) continue
        if (!parent.checkVisibility({opacityProperty: true, visibilityProperty: true})) continue
        const range = document.createRange()
        range.selectNodeContents(walker.currentNode)
        const box = range.getBoundingClientRect()
        const seen = box.width > 1 && box.bottom > 0 && box.top < innerHeight
        if (seen) texts.push(walker.currentNode.textContent)
    }
    return texts
}"""


def test_the_first_screen_of_a_result_says_little(open_page: OpenPage) -> None:
    """Menu, rows and axes included."""
    page = open_page(height=900)
    page.get_by_role("button", name=TRY_EXAMPLE).click()
    results(page)
    page.get_by_role("heading", name="Where it shows most").wait_for()
    page.locator("svg text").filter(has_text="may be luck").first.wait_for()
    texts: list[str] = page.evaluate(_TEXTS)
    said = " ".join(texts)
    words = [word for word in said.split() if re.search(r"\w", word)]
    assert 150 < len(words) <= 260, words
    assert 20 < len(re.findall(r"\d[\d,.]*", said)) <= 36, said


@pytest.mark.parametrize("dark", [False, pytest.param(True, marks=pytest.mark.long)], ids=["light", "dark"])
def test_screens_are_accessible_wide_and_narrow_and_their_headings_in_order(open_page, dark) -> None:
    found = {}
    for name, page in _screens(open_page(dark=dark)):
        for width in (1440, 390):
            page.set_viewport_size({"width": width, "height": 1000})
            settle(page)
            picture(page, f"{name}-{'dark' if dark else 'light'}-{width}")
            found[name, width] = faults(page)
        page.set_viewport_size({"width": 1440, "height": 1000})
        settle(page)
        levels = page.locator("[data-testid=stMain] :is(h1, h2, h3, h4)").evaluate_all(
            "headings => headings.map(heading => Number(heading.tagName[1]))"
        )
        assert levels[0] == 1, name
        assert all(later - earlier <= 1 for earlier, later in pairwise(levels)), name
    assert not any(found.values()), found


@pytest.mark.parametrize(
    ("width", "dark"),
    [pytest.param(390, True, marks=pytest.mark.long), (720, False)],
    ids=["phone-dark", "zoom200"],
)
def test_screens_opened_narrow_are_accessible_and_do_not_scroll_sideways(open_page, width, dark) -> None:
    found = {}
    for name, page in _screens(open_page(width=width, dark=dark)):
        picture(page, f"{name}-{'dark' if dark else 'light'}-{width}")
        found[name] = faults(page)
    assert not any(found.values()), found
