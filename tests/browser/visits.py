"""What visitors do in the browser, in the words of the tests."""

import json
import os
import time
from contextlib import suppress
from typing import Any

from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import FilePayload, Locator, Page, TimeoutError

from tests.browser.conftest import SCREENSHOTS
from tests.labels import (
    ADD_FILE,
    ALL_STATISTICS,
    CONTINUE,
    DATA_AND_METHODS,
    DROP_FILES,
    MAKE_LINK,
    UNDERSTOOD,
)


def drop(page: Page, zone: str, name: str, content: bytes) -> None:
    """Drop a file on the zone with this label."""
    settle(page)  # a zone that has just taken a file is being replaced by a fresh one
    if zone == DROP_FILES and page.get_by_role("button", name=ADD_FILE).count():
        page.get_by_role("button", name=ADD_FILE).click()
    files: list[FilePayload] = [{"name": name, "mimeType": "text/csv", "buffer": content}]
    uploader = page.get_by_test_id("stFileUploader").filter(has_text=zone)
    uploader.locator("input[type=file]").set_input_files(files)


def bring(page: Page, annotations: bytes, raters: bytes, name: str = "annotations.csv") -> None:
    """Both files, one after the other, until they are understood."""
    drop(page, DROP_FILES, name, annotations)
    page.get_by_role("heading", name=UNDERSTOOD).wait_for()
    drop(page, DROP_FILES, "raters.csv", raters)
    page.get_by_role("button", name="raters.csv: raters").wait_for()
    page.get_by_role("heading", name="Good to know").wait_for()
    settle(page)


_QUIET = """since => {
    const now = performance.now()
    const state = document.querySelector('[data-testid=stApp]')?.dataset.testScriptState
    if (window.since !== since || state !== 'notRunning') window.busy = now
    window.since = since
    return now - window.busy > 300
}"""


def settle(page: Page) -> None:
    """Wait until the server has answered and the page has drawn: for a while nothing has run."""
    page.wait_for_function(_QUIET, arg=time.monotonic())


def go_on_to_analysis(page: Page) -> None:
    page.get_by_role("button", name=CONTINUE).click()
    page.get_by_role("heading", name="Analysis", exact=True).wait_for()
    settle(page)


def choose(page: Page, field: str, *options: str) -> None:
    """Pick entries of a list by typing; a list that the page closes while it draws is opened again."""
    box = page.get_by_role("combobox", name=field, exact=True)
    for option in options:
        chip = page.get_by_role("button", name=f"Remove {option}", exact=True)
        for _ in range(10):
            box.fill("")  # the same text again would open nothing
            box.fill(option)
            clicked = False
            with suppress(TimeoutError):
                page.get_by_role("option", name=option, exact=True).click(timeout=3_000)
                clicked = True
            settle(page)
            _close_list(page, box)
            if clicked and (chip.count() or box.input_value() == option):  # else it is what was typed
                break
        else:
            raise AssertionError(f"{option} cannot be chosen in {field}")


def _close_list(page: Page, box: Locator) -> None:
    """Close a list of several, which stays open and hides the rest; again where a redraw opened it again."""
    opened = page.locator("[role=listbox]")
    for _ in range(10):
        if not opened.count():
            return
        box.press("Escape")
        with suppress(TimeoutError):
            opened.wait_for(state="detached", timeout=3_000)
    raise AssertionError("a list does not close")


def drop_choice(page: Page, option: str) -> None:
    page.get_by_role("button", name=f"Remove {option}", exact=True).click()
    settle(page)


def set_number(page: Page, field: str, value: int) -> None:
    box = page.get_by_role("spinbutton", name=field)
    box.fill(str(value))
    box.press("Enter")
    settle(page)


def run(page: Page) -> None:
    page.get_by_role("button", name="Run", exact=True).click()


def results(page: Page) -> None:
    """Wait for the whole Results page."""
    page.get_by_role("radio", name=DATA_AND_METHODS).wait_for(timeout=180_000)
    settle(page)


def view(page: Page, name: str) -> None:
    """Go to a view of the Results page."""
    page.get_by_role("radio", name=name, exact=True).click()
    settle(page)


def table(page: Page, label: str, *, aside: int = 0) -> list[dict[str, str]]:
    """The rows of a table, as a screen reader reads them, scrolled `aside` pixels to the right.

    Of a table that scrolls down, those at its beginning and at its end.
    """
    grid = page.locator(f'[data-testid="stDataFrameResizable"][aria-label="{label}"]')
    grid.scroll_into_view_if_needed()
    grid.locator("[role=row]").nth(1).wait_for(state="attached")
    rows: dict[str, list[str]] = {}
    for down in (10_000, 0):
        grid.locator(".dvn-scroller").evaluate("(one, to) => one.scrollTo(...to)", [aside, down])
        settle(page)
        rows |= grid.locator("[role=row]").evaluate_all(
            """rows => Object.fromEntries(rows.map(
                row => [row.ariaRowIndex, [...row.children].map(cell => cell.textContent.trim())]
            ))"""
        )
    head, *others = (rows[place] for place in sorted(rows, key=int))
    return [dict(zip(head, row, strict=True)) for row in others]


def row_of(page: Page, group: str) -> dict[str, str]:
    """A group's row of the table of groups."""
    cell = page.locator(f'[aria-label="{ALL_STATISTICS}"] [role=gridcell]').get_by_text(group, exact=True)
    cell.first.wait_for(state="attached")
    return groups_table(page)[group]


def groups_table(page: Page) -> dict[str, dict[str, str]]:
    """The rows of the table of groups by group, with the columns of its beginning, middle and end."""
    parts = (table(page, ALL_STATISTICS, aside=aside) for aside in (10_000, 300, 0))
    return {start["Group"]: {**end, **middle, **start} for end, middle, start in zip(*parts, strict=True)}


_STILL = "() => !document.getAnimations().some(one => one instanceof CSSTransition)"


def violations(page: Page) -> list[str]:
    """Serious and critical findings of axe, once nothing fades any more."""
    settle(page)
    page.wait_for_function(_STILL)
    found: list[dict[str, Any]] = Axe().run(page).response["violations"]
    return [
        f"{finding['impact']} {finding['id']}: {json.dumps(finding['nodes'][0]['html'])[:300]}"
        for finding in found
        if finding["impact"] in ("serious", "critical")
    ]


def faults(page: Page) -> list[str]:
    """What axe finds, and whether the page would have to be scrolled sideways."""
    wide = page.get_by_test_id("stMain").evaluate("element => element.scrollWidth - element.clientWidth")
    return [*violations(page), *([f"{wide} px too wide"] if wide > 0 else [])]


def picture(page: Page, name: str) -> None:
    """Save the whole page for people to look at, if GRASP_PICTURES is set."""
    if not os.environ.get("GRASP_PICTURES"):
        return
    SCREENSHOTS.mkdir(parents=True, exist_ok=True)
    block: Locator = page.get_by_test_id("stMainBlockContainer")
    height = int(block.evaluate("element => element.scrollHeight")) + 120
    size = page.viewport_size or {"width": 1440, "height": 1000}
    page.set_viewport_size({"width": size["width"], "height": min(height, 12_000)})
    page.wait_for_timeout(700)
    page.screenshot(path=SCREENSHOTS / f"{name}.png")
    page.set_viewport_size(size)


def go_to(page: Page, screen: str) -> None:
    """Choose a screen that *More* lists."""
    page.get_by_role("link", name="More", exact=True).click()
    page.get_by_test_id("stMain").get_by_role("link", name=f"{screen}:").click()


def search_runs(page: Page, text: str) -> None:
    """Find a run on Runs."""
    box = page.get_by_role("textbox", name="Search")
    box.fill(text)
    box.press("Enter")
    page.get_by_role("link", name=text).first.wait_for()
    settle(page)


def share(page: Page) -> str:
    """Make a link on Results; returns it as shown."""
    page.get_by_role("button", name="Share").click()
    dialog = page.get_by_role("dialog")
    dialog.get_by_role("button", name=MAKE_LINK).click()
    dialog.get_by_text("Copy the link now").wait_for()
    settle(page)
    return dialog.get_by_test_id("stCode").nth(1).inner_text().strip()


def tab_to(page: Page, target: Locator) -> None:
    """Press Tab until the target, or something in it, has the focus."""
    target.first.wait_for()
    for _ in range(120):
        page.keyboard.press("Tab")
        if target.first.evaluate("element => element.contains(document.activeElement)"):
            return
    raise AssertionError(f"Tab does not reach {target}")
