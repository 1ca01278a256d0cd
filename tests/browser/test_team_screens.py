"""What a team's server shows beside results: wide, on a phone in the dark, by the keyboard alone, to axe."""

import re
from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, BrowserContext, Page, expect

from tests.browser.signing import TITLE, Site, sign_in, visit
from tests.browser.visits import choose, faults, picture, results, settle, tab_to
from tests.conftest import PATIENCE_MS
from tests.labels import MAKE_LINK


@pytest.fixture(
    params=[pytest.param((1440, False), marks=pytest.mark.long), (390, True)], ids=["wide", "phone-dark"]
)
def looking(request: pytest.FixtureRequest, browser: Browser) -> Iterator[tuple[str, BrowserContext]]:
    width, dark = request.param
    made = browser.new_context(
        viewport={"width": width, "height": 900}, color_scheme="dark" if dark else "light"
    )
    made.set_default_timeout(PATIENCE_MS)
    made.route("https://**", lambda route: route.abort())
    yield request.node.callspec.id, made
    made.close()


def opened(page: Page, site: Site, screen: str, heading: str) -> None:
    page.goto(f"{site.served.url}{screen}")
    page.get_by_role("heading", level=1, name=heading).wait_for()
    settle(page)


def at_home(context: BrowserContext, site: Site) -> Page:
    """The admin's account, in the project of everybody."""
    page = visit(context, site, "/account")
    sign_in(page, "root")
    page.get_by_role("heading", level=1, name="Account").wait_for()
    choose(page, "Project", "Everyone")
    return page


def fold_out(page: Page, name: str) -> None:
    page.get_by_text(name, exact=True).click()
    settle(page)


@pytest.mark.long
def test_screens_of_a_team(looking: tuple[str, BrowserContext], site: Site) -> None:
    how, context = looking
    found: dict[str, list[str]] = {}

    def look_at(name: str) -> None:
        picture(page, f"team-{name}-{how}")
        found[name] = faults(page)

    page = at_home(context, site)
    page.get_by_role("textbox", name="What for").fill("pipeline")
    page.get_by_role("button", name="Make a token").click()
    page.get_by_text("Copy the token now").wait_for()
    look_at("account")
    opened(page, site, "/people", "People")
    page.get_by_role("button", name=re.compile("Assign .* to Ada Again")).wait_for()
    look_at("people")
    page.get_by_role("button", name="Erase Ada Analyst").click()
    page.get_by_role("dialog").get_by_role("textbox", name="To go on, type").wait_for()
    look_at("erase")
    opened(page, site, "/log", "Log")
    look_at("log")
    opened(page, site, "/watch", "Watch")
    fold_out(page, "Each value, before and now")
    look_at("watch")
    opened(page, site, "/data", "Data")
    page.get_by_text("From a tool or database").first.click()
    page.get_by_text("Database (SQL)").first.click()
    page.get_by_role("textbox", name="Address").first.wait_for()
    settle(page)
    look_at("from-a-tool")
    page.goto(site.served.url + site.result)
    results(page)
    page.get_by_role("button", name="Share").click()
    dialog = page.get_by_role("dialog")
    dialog.get_by_label("Password (optional)", exact=True).fill("violet otter")
    dialog.get_by_role("button", name=MAKE_LINK).click()
    dialog.get_by_text("Copy the link now").wait_for()
    look_at("share")
    address = dialog.get_by_test_id("stCode").nth(1).inner_text().strip()
    page.goto(address)
    page.get_by_label("Password of the link").wait_for()
    look_at("locked")
    page.get_by_label("Password of the link").fill("violet otter")
    page.get_by_role("button", name="Open").click()
    results(page)
    look_at("shared")
    opened(page, site, "/projects", "Projects")
    page.get_by_role("button", name="New project").click()
    dialog = page.get_by_role("dialog")
    dialog.get_by_role("textbox", name="Name").fill(f"Looks {how}")
    settle(page)
    look_at("new-project")
    dialog.get_by_role("button", name="Make the project").click()
    page.get_by_text(f"Looks {how}", exact=True).first.wait_for()
    settle(page)
    look_at("projects")
    assert not any(found.values()), found


def test_the_keyboard_alone_makes_tokens_projects_and_links(context: BrowserContext, site: Site) -> None:
    page = at_home(context, site)
    tab_to(page, page.get_by_role("textbox", name="What for"))
    page.keyboard.type("by hand")
    tab_to(page, page.get_by_role("button", name="Make a token"))
    page.keyboard.press("Enter")
    page.get_by_text("Copy the token now").wait_for()
    settle(page)
    tab_to(page, page.get_by_role("button", name="Withdraw by hand"))
    page.keyboard.press("Enter")
    tab_to(page, page.get_by_role("dialog").get_by_role("button", name="Withdraw it"))
    page.keyboard.press("Enter")
    expect(page.get_by_role("button", name="Withdraw by hand")).to_have_count(0)
    opened(page, site, "/watch", "Watch")
    tab_to(page, page.get_by_role("button", name="Pause"))
    page.keyboard.press("Enter")
    settle(page)
    tab_to(page, page.get_by_role("button", name="Resume"))
    page.keyboard.press("Enter")
    page.get_by_role("button", name="Pause").wait_for()
    page.goto(site.served.url + site.result)
    results(page)
    expect(page.get_by_text(TITLE).first).to_be_visible()
    tab_to(page, page.get_by_role("button", name="Share"))
    page.keyboard.press("Enter")
    dialog = page.get_by_role("dialog")
    tab_to(page, dialog.get_by_role("button", name=MAKE_LINK))
    page.keyboard.press("Enter")
    dialog.get_by_text("Copy the link now").wait_for()
    opened(page, site, "/projects", "Projects")
    tab_to(page, page.get_by_role("button", name="New project"))
    page.keyboard.press("Enter")
    dialog = page.get_by_role("dialog")
    tab_to(page, dialog.get_by_role("textbox", name="Name"))
    page.keyboard.type("By hand")
    tab_to(page, dialog.get_by_role("button", name="Make the project"))
    page.keyboard.press("Enter")
    page.get_by_text("By hand", exact=True).first.wait_for()
