from dataclasses import replace
from itertools import pairwise

import pytest
from playwright.sync_api import Page, expect

from grasp_core.server.server import Server
from grasp_core.store.runs import RunRecord
from tests.browser.conftest import OpenPage
from tests.browser.test_safety import HOSTILE
from tests.browser.visits import bring, faults, picture, results, search_runs, settle, table
from tests.labels import ADD_FILE, DELETE
from tests.results import make_group, make_outcome, make_result

FORMULA = "=1+1"


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


def _nothing_ran(page: Page) -> None:
    inside = page.locator("[data-testid=stMain], [role=dialog]")
    for found in ("img", "script", "a[href^='javascript']", ".katex"):
        assert inside.locator(found).count() == 0, found


@pytest.mark.long
def test_what_people_write_is_text_and_nothing_else(open_page: OpenPage, store: Server) -> None:
    title = f"{FORMULA} {HOSTILE}"
    saved = store.runs.add(
        make_result((make_group(HOSTILE, gai=make_outcome(1, "up")),)), title=title, owner=""
    )
    store.runs.describe(saved.id, note=HOSTILE, tagged=[HOSTILE[:60]])
    page = open_page("/runs")
    search_runs(page, FORMULA)
    _nothing_ran(page)
    shown = page.get_by_test_id("stMain").inner_text().replace("\u2060", "")
    assert shown.count(HOSTILE[:60]) == 3
    page.get_by_role("button", name="Delete").click()
    expect(page.get_by_role("dialog")).to_contain_text(FORMULA)
    _nothing_ran(page)
    page.get_by_role("button", name="Keep it").click()
    settle(page)
    page.get_by_role("button", name="Edit").click()
    box = page.get_by_role("dialog").get_by_role("textbox", name="Title")
    expect(box).to_have_value(title)
    _nothing_ran(page)
    page.goto(page.url.replace("/runs", f"/runs?a={saved.id}&b={saved.id}"))
    page.get_by_role("heading", name="What was found").wait_for()
    settle(page)
    _nothing_ran(page)


def test_edit_then_delete(open_page: OpenPage, store: Server) -> None:
    saved, _ = _pair(store, "edited")
    page = open_page("/runs")
    search_runs(page, "edited A")
    page.get_by_role("button", name="Edit").click()
    dialog = page.get_by_role("dialog")
    dialog.get_by_role("textbox", name="Title").fill("edited Z")
    dialog.get_by_role("textbox", name="Note").fill("said on Monday")
    tags = dialog.get_by_role("combobox", name="Tags")
    tags.fill("for the board")
    tags.press("Enter")
    tags.press("Tab")
    dialog.get_by_role("button", name="Save").click()
    expect(dialog).to_have_count(0)
    search_runs(page, "edited Z")
    expect(page.get_by_text("tagged for the board")).to_be_visible()
    expect(page.get_by_text("said on Monday")).to_be_visible()
    page.get_by_role("button", name="Delete").click()
    expect(dialog).to_contain_text("cannot be brought back")
    dialog.get_by_role("button", name=DELETE).click()
    expect(page.get_by_text("No run is like that")).to_be_visible()
    assert store.runs.get(saved.id) is None
    gone = open_page(f"/results?run={saved.id}")
    expect(gone.get_by_text("This run is not on this server")).to_be_visible()


@pytest.mark.long
def test_two_runs_side_by_side(open_page: OpenPage, store: Server) -> None:
    saved = _pair(store, "compared")
    page = open_page("/runs")
    search_runs(page, "compared")
    _tick(page, 1)
    _tick(page, 0)
    page.get_by_role("link", name="Compare the two").click()
    page.get_by_role("heading", name="What was found").wait_for()
    settle(page)
    assert page.url.endswith(f"/runs?a={saved[0].id}&b={saved[1].id}")
    page.reload()
    page.get_by_role("heading", name="What was found").wait_for()
    settle(page)
    asked = table(page, "What was asked differently")
    assert asked == [
        {"What": "Permutations", "A": "10,000", "B": "20,000"},
        {"What": "Seed", "A": "1", "B": "2"},
    ]
    [found] = table(page, "Groups and statistics of both runs")
    assert found["Group"] == "gen x+"
    assert found["B"] == "1.400 ↑**"
    assert found["Significance"] == "not significant → after correction"
    expect(page.get_by_text("Only A shows White, Woman")).to_be_visible()
    page.get_by_role("link", name="All runs").click()
    page.get_by_role("heading", name="Runs", exact=True).wait_for()
    settle(page)
    assert page.url.endswith("/runs")


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


@pytest.mark.long
def test_uploaded_files_are_deleted_when_asked(open_page: OpenPage, example: dict[str, bytes]) -> None:
    page = open_page("/data")
    bring(page, example["annotations.csv"] + b"x,y,Yes\n", example["raters.csv"])
    page.get_by_role("button", name=ADD_FILE).click()
    page.get_by_role("button", name="Delete the uploaded files now").click()
    page.get_by_role("dialog").get_by_role("button", name="Delete them").click()
    expect(page.get_by_role("dialog")).to_have_count(0)
    expect(page.get_by_role("link", name="No file at hand?")).to_be_visible()


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
