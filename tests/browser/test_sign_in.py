"""People sign in at a real OpenID provider on this machine."""

import re
import urllib.request

import pytest
from playwright.sync_api import Browser, BrowserContext, Page, expect

from tests.browser.signing import TITLE, Site, sign_in, signing_in, visit
from tests.browser.visits import drop, picture, results, settle, violations
from tests.conftest import PATIENCE_MS
from tests.labels import DROP_FILES, UNDERSTOOD


def sign_out(page: Page) -> None:
    page.get_by_role("button", name="Sign out", exact=True).click()
    page.get_by_role("button", name="End session").click()  # at the provider


def asked_to_sign_in(page: Page) -> None:
    """The sign-in screen and nothing else."""
    expect(page.get_by_role("button", name="Sign in")).to_be_visible()
    settle(page)
    expect(page.get_by_role("heading", level=1)).to_have_text("GRASP")
    expect(page.get_by_text("Analysis")).to_have_count(0)
    expect(page.get_by_text(TITLE)).to_have_count(0)


def api_status(context: BrowserContext, site: Site) -> int:
    return context.request.get(f"{site.served.url}/api/v1/runs/{site.run_id}").status


def test_a_deep_link_survives_sign_in_and_sign_out_ends_it(context, site, example) -> None:
    page = visit(context, site, site.result)
    asked_to_sign_in(page)
    assert not violations(page)
    picture(page, "sign-in")
    assert api_status(context, site) == 401
    sign_in(page, "ann")
    results(page)
    expect(page.get_by_text(TITLE).first).to_be_visible()
    assert page.url == site.served.url + site.result
    assert api_status(context, site) == 200
    page.goto(f"{site.served.url}/data")
    page.get_by_role("heading", name="Data", exact=True).wait_for()
    drop(page, DROP_FILES, "annotations.csv", example["annotations.csv"])
    page.get_by_role("heading", name=UNDERSTOOD).wait_for()
    page.get_by_role("link", name="Account").click()
    expect(page.get_by_text("Ann Analyst")).to_be_visible()
    expect(page.get_by_text("Your role on this server is analyst")).to_be_visible()
    assert not violations(page)
    picture(page, "account")
    sign_out(page)
    asked_to_sign_in(page)
    assert not [cookie for cookie in context.cookies() if cookie["name"].startswith("_streamlit_user")]
    assert api_status(context, site) == 401
    page.goto(site.served.url + site.result)
    asked_to_sign_in(page)


@pytest.mark.long
def test_people_of_other_domains_are_not_admitted(context: BrowserContext, site: Site) -> None:
    page = visit(context, site, site.result)
    sign_in(page, "eve")
    expect(page.get_by_text("This server does not admit mail addresses of evil.example.")).to_be_visible()
    expect(page.get_by_text(TITLE)).to_have_count(0)
    expect(page.get_by_text("Analysis")).to_have_count(0)
    assert api_status(context, site) == 401
    sign_out(page)
    asked_to_sign_in(page)


@pytest.mark.long
def test_who_says_no_at_the_provider_is_back_where_they_were(context: BrowserContext, site: Site) -> None:
    page = visit(context, site, site.result)
    page.get_by_role("button", name="Sign in").click()
    page.get_by_role("button", name="Deny").click()
    page.wait_for_url(site.served.url + site.result)
    asked_to_sign_in(page)
    sign_in(page, "ann")
    results(page)


@pytest.mark.long
def test_under_a_path(tmp_path_factory, provider, context) -> None:
    with signing_in(tmp_path_factory.mktemp("path"), provider, "/grasp") as site:
        page = visit(context, site, site.result)
        sign_in(page, "ann")
        results(page)
        assert page.url == site.served.url + site.result
        assert api_status(context, site) == 200
        with urllib.request.urlopen(f"{site.served.url}/robots.txt") as answer:
            assert b"Disallow: /" in answer.read()
        assert re.search(r"the client|the secret", site.served.said()) is None


def test_an_admin_disables_somebody_whose_open_tab_closes(browser: Browser, site: Site) -> None:
    theirs, mine = browser.new_context(), browser.new_context()
    for one in (theirs, mine):
        one.set_default_timeout(PATIENCE_MS)
        one.route("https://**", lambda route: route.abort())
    vera, root = visit(theirs, site, site.result), visit(mine, site, "/people")
    sign_in(vera, "vera")
    results(vera)
    sign_in(root, "root")
    expect(root.get_by_role("heading", level=1)).to_have_text("People")
    entry = root.locator('[class*="st-key-person-"]', has_text="Vera Viewer")
    expect(entry.get_by_role("combobox", name="Role of Vera Viewer")).to_have_value("as set for all (viewer)")
    settle(root)
    assert not violations(root)
    picture(root, "people")
    entry.get_by_role("button", name="Disable Vera Viewer").click()
    root.get_by_role("dialog").get_by_role("button", name="Disable").click()
    expect(entry.get_by_role("button", name="Enable Vera Viewer")).to_be_visible()
    expect(vera.get_by_text("Your account on this server is disabled")).to_be_visible()
    expect(vera.get_by_text(TITLE)).to_have_count(0)
    assert api_status(theirs, site) == 401
    entry.get_by_role("button", name="Enable Vera Viewer").click()
    expect(entry.get_by_role("button", name="Disable Vera Viewer")).to_be_visible()
    theirs.close()
    mine.close()


@pytest.mark.long
def test_signed_out_everywhere(browser: Browser, site: Site) -> None:
    contexts = [browser.new_context(), browser.new_context()]
    pages = []
    for one in contexts:
        one.set_default_timeout(PATIENCE_MS)
        one.route("https://**", lambda route: route.abort())
        pages.append(visit(one, site, "/account"))
        sign_in(pages[-1], "ann")
        expect(pages[-1].get_by_text("this one")).to_be_visible()
    expect(pages[1].get_by_role("button", name="End", exact=True).first).to_be_visible()
    pages[1].get_by_role("button", name="Sign out everywhere").click()
    for page in pages:
        expect(page.get_by_role("button", name="Sign in")).to_be_visible()
    assert [api_status(one, site) for one in contexts] == [401, 401]
    for one in contexts:
        one.close()
