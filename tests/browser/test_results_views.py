"""The Results page as one walks through it: findings, one group, views, pages of many groups."""

import re
from dataclasses import replace

import pytest
from playwright.sync_api import Page, expect

from grasp_core.model.groups import Group
from grasp_core.model.outcome import Verdict
from grasp_core.model.result import RunResult
from grasp_core.server.server import Server
from tests.browser.conftest import OpenPage
from tests.browser.visits import choose, faults, picture, results, settle, tab_to, table, view
from tests.labels import ALL_STATISTICS, DATA_AND_METHODS
from tests.results import make_outcome, make_result, saying

WOMEN = "say “unsafe” 11 points more often than the others on the same items [5, 17]"


def _found() -> RunResult:
    rows = (
        saying("Woman", 0.112, gai=make_outcome(1.3, "up", "**")),
        saying("Man", -0.112, "none", gai=make_outcome(1.0, "up")),
    )
    return make_result(rows, statistics=("gai",))


def _many(count: int) -> RunResult:
    rows = make_result().groups
    groups = tuple(
        replace(rows[n % 20], group=Group(("district",), (f"A district of some length, {n}",)))
        for n in range(count)
    )
    return make_result(groups, dsi=())


def _saved(store: Server, result: RunResult) -> str:
    return f"/results?run={store.runs.add(result, title='Found', owner='').id}"


def _shows_group(page: Page, name: str) -> None:
    expect(page.get_by_role("heading", level=2).first).to_have_text(name)
    expect(page).to_have_title(f"{name} · Found · GRASP")
    settle(page)


def test_from_a_finding_to_its_group_and_back(open_page: OpenPage, store: Server) -> None:
    page = open_page(_saved(store, _found()))
    results(page)
    title = page.get_by_role("heading", level=1)
    expect(title).to_have_text("Woman raters say “unsafe” in 11 more of 100 answers than everybody else")
    view(page, "Groups in numbers")
    shown = table(page, "Label use of every group, in percentage points")
    assert [row["unsafe"] for row in shown] == ["11.2", "-11.2"]
    assert [row["Marked"] for row in shown] == ["after correction", ""]
    rows = page.locator(f'[aria-label="{ALL_STATISTICS}"] [data-testid=data-grid-canvas]')
    rows.focus()
    page.keyboard.press("ArrowRight")
    page.keyboard.press("Shift+Space")
    _shows_group(page, "Woman")
    assert page.url.endswith("&view=Groups+in+numbers&group=Woman")
    picture(page, "group-light-1440")
    page.reload()
    _shows_group(page, "Woman")
    choose(page, "Look at one group", "Man")
    _shows_group(page, "Man")
    expect(page.get_by_text("Nothing of this group is marked")).to_be_visible()
    page.go_back()
    _shows_group(page, "Woman")
    page.go_back()
    expect(page.get_by_role("radio", name="Groups in numbers", checked=True)).to_be_visible()
    page.go_forward()
    _shows_group(page, "Woman")
    page.get_by_role("button", name="All groups").click()
    expect(page.get_by_role("radio", name="Groups in numbers", checked=True)).to_be_visible()
    expect(page).to_have_title("Found · GRASP")


def test_a_stranger_walks_the_same_way(open_page: OpenPage, store: Server) -> None:
    run = store.runs.add(_found(), title="Found", owner="")
    page = open_page(f"/shared?token={store.links.create(run.id, created_by='')}&group=Woman")
    _shows_group(page, "Woman")
    page.get_by_role("button", name="All groups").click()
    results(page)
    view(page, DATA_AND_METHODS)
    expect(page.get_by_role("heading", name="Methods")).to_be_visible()
    assert page.locator("a:not([href^='#'])").count() == 0


@pytest.mark.long
def test_the_keyboard_reaches_a_group_and_every_view(open_page: OpenPage, store: Server) -> None:
    page = open_page(_saved(store, _found()))
    results(page)
    page.get_by_role("radio", name="Findings").focus()
    for name in ("Items", "Groups in numbers"):
        page.keyboard.press("ArrowRight")
        expect(page.get_by_role("radio", name=name)).to_be_focused()
    page.keyboard.press("Enter")
    expect(page.get_by_role("heading", name="Who says what more often")).to_be_visible()
    page.get_by_role("radio", name="Findings").focus()
    page.keyboard.press("Enter")
    tab_to(page, page.get_by_role("combobox", name="Look at one group"))
    page.keyboard.type("Woman")
    page.keyboard.press("Enter")
    _shows_group(page, "Woman")


@pytest.mark.parametrize(("width", "size"), [(1440, "wide"), (390, "narrow")])
def test_a_row_of_the_chart_is_a_tab_stop_and_enter_opens_it(open_page, store, width: int, size: str) -> None:
    found = _found()
    verdicts = (
        Verdict("clear", ("labels",), 0.001, 0.002, 0.002, 3.0),
        Verdict("none", p=0.5, q=0.9, bound=0.9),
    )
    rows = (replace(row, verdict=one) for row, one in zip(found.groups, verdicts, strict=True))
    page = open_page(_saved(store, replace(found, groups=tuple(rows))), width=width, height=900)
    results(page)
    chart = page.locator(f"[class*=st-key-drawn-{size}]")
    row = chart.get_by_role("button", name="Woman", exact=True)
    drawn = chart.locator("svg text", has_text="Woman (").first
    tab_to(page, row)
    lies, text = row.bounding_box(), drawn.bounding_box()
    assert lies["y"] < text["y"] < text["y"] + text["height"] < lies["y"] + lies["height"]
    assert faults(page) == []
    page.keyboard.press("Enter")
    _shows_group(page, "Woman")


def _beyond(page: Page) -> list[str]:
    """Charts, and texts in them, that reach beyond the page's edge."""
    return page.locator("[data-testid=stVegaLiteChart]").evaluate_all(
        """charts => charts.flatMap(chart => [chart, ...chart.querySelectorAll('svg text')])
            .filter(part => part.getBoundingClientRect().right > window.innerWidth + 1)
            .map(part => part.textContent)"""
    )


@pytest.mark.parametrize("dark", [False, pytest.param(True, marks=pytest.mark.long)])
def test_forty_groups_read_on_a_phone_without_scrolling_sideways(open_page, store, dark) -> None:
    page = open_page(_saved(store, _many(40)), width=390, height=844, dark=dark)
    results(page)
    assert _beyond(page) == []
    view(page, "Groups in numbers")
    picture(page, f"forty-{'dark' if dark else 'light'}-390")
    assert _beyond(page) == []
    assert faults(page) == []


@pytest.mark.long
def test_three_hundred_groups_come_in_pages(open_page: OpenPage, store: Server) -> None:
    page = open_page(_saved(store, _many(300)))
    results(page)
    view(page, "Groups in numbers")
    expect(page.get_by_label(re.compile("^Histograms of GAI for 300 groups"))).to_be_visible()
    first = page.locator("[data-testid=stVegaLiteChart]").filter(has_text="of some length, 39")
    expect(first).to_have_count(1)
    expect(page.locator("[data-testid=stVegaLiteChart]").filter(has_text="of some length, 41")).to_have_count(
        0
    )
    page.get_by_role("button", name="Page 2", exact=True).click()
    settle(page)
    expect(page.locator("[data-testid=stVegaLiteChart]").filter(has_text="of some length, 41")).to_have_count(
        1
    )
