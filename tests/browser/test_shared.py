import re

import pytest
from playwright.sync_api import Page, WebSocket, expect

from grasp_core.server.identity import CLOSED
from grasp_core.server.server import Server
from tests.browser.conftest import OpenPage
from tests.browser.test_safety import HOSTILE
from tests.browser.visits import (
    bring,
    faults,
    go_on_to_analysis,
    picture,
    results,
    row_of,
    run,
    set_number,
    settle,
    share,
    view,
)
from tests.labels import CANCEL_RUN, DATA_AND_METHODS, RUN_AGAIN
from tests.made_up import make_models
from tests.results import make_result

SECRETS = (b"Zaphod", b"Vogon", b"Marvin", b"raters.csv")


def _saved(store: Server, **link: float) -> tuple[str, str]:
    saved = store.runs.add(make_result(), title="To be shared", owner="")
    token = store.links.create(saved.id, created_by="", **link)
    return saved.id, f"/shared?token={token}"


def _listen(page: Page) -> list[bytes]:
    """All that the server sends from now on."""
    received: list[bytes] = []

    def keep(payload: str | bytes) -> None:
        received.append(payload.encode() if isinstance(payload, str) else payload)

    def attach(socket: WebSocket) -> None:
        socket.on("framereceived", keep)

    page.on("websocket", attach)
    return received


def test_from_upload_to_a_stranger_and_revoked(open_page, example, url) -> None:
    """The raters' ids, the items' ids and the file's name stay with those who have an account."""
    telling = {name: re.sub(rb"\bR(?=\d{3},)", b"Zaphod-", content) for name, content in example.items()}
    telling = {name: content.replace(b"item-", b"Vogon-") for name, content in telling.items()}
    owner = open_page()
    known = _listen(owner)
    owner.goto(f"{url}/data")
    bring(owner, telling["annotations.csv"], telling["raters.csv"], "Marvin.csv")
    owner.get_by_text("First rows of the files").click()
    settle(owner)
    go_on_to_analysis(owner)
    set_number(owner, "Permutations", 1000)
    run(owner)
    results(owner)
    view(owner, DATA_AND_METHODS)
    for secret in SECRETS:
        assert secret in b"".join(known), secret
    view(owner, "Groups in numbers")
    rows = {group: row_of(owner, group) for group in ("Woman", "Asian")}
    link = share(owner)

    stranger = open_page("/shared?token=x")
    received = _listen(stranger)
    stranger.goto(link)
    results(stranger)
    view(stranger, DATA_AND_METHODS)
    view(stranger, "Groups in numbers")
    for group, row in rows.items():
        assert row_of(stranger, group) == row
    stranger.get_by_role("button", name="Export").click()
    for name in ("Table (CSV)", "Table (Excel)", "Table (LaTeX)", "Table (Markdown)", "Report (HTML)"):
        with stranger.expect_download() as download:
            stranger.get_by_role("button", name=name).click()
        received.append(download.value.path().read_bytes())
        assert link[-20:] not in download.value.suggested_filename
    stranger.keyboard.press("Escape")
    headline = stranger.get_by_role("heading", level=1).inner_text()
    everything = b"\n".join([*received, stranger.content().encode()])
    assert len(everything) > 100_000
    for secret in SECRETS:
        assert secret not in everything, secret
    for name in ("Share", RUN_AGAIN, "Edit", CANCEL_RUN):
        assert stranger.get_by_role("button", name=name).count() == 0
    assert stranger.locator("a:not([href^='#'])").count() == 0
    assert link[-20:] not in stranger.title()

    owner.get_by_role("dialog").get_by_role("button", name="Withdraw", exact=True).click()
    expect(owner.get_by_role("dialog")).to_contain_text("withdrawn just now")
    owner.keyboard.press("Escape")
    assert owner.get_by_role("heading", level=1).inner_text() == headline
    stranger.get_by_role("combobox", name="Statistic", exact=True).fill("XRR")
    stranger.get_by_role("option", name="XRR", exact=True).click()
    expect(stranger.get_by_text(CLOSED)).to_be_visible()
    expect(stranger.get_by_role("radio")).to_have_count(0)


def test_no_file_after_revoking(open_page: OpenPage, store: Server) -> None:
    run_id, path = _saved(store)
    page = open_page(path)
    results(page)
    page.get_by_role("button", name="Export").click()
    table = page.get_by_role("button", name="Table (CSV)")
    table.wait_for()  # else nothing is offered any more
    store.links.revoke(store.links.of_run(run_id)[0].id)
    table.click()
    expect(page.get_by_text("Failed to generate file")).to_be_visible()


def test_a_shared_page_asks_nobody_else_and_its_token_stays_in_the_address(open_page, store, served) -> None:
    _, path = _saved(store)
    token = path.partition("=")[2]
    page = open_page("/shared?token=x")
    asked: list[str] = []
    referrers: list[str] = []
    page.on("request", lambda request: asked.append(request.url))
    page.on("request", lambda request: referrers.append(request.headers.get("referer", "")))
    page.goto(served.url + path)
    results(page)
    assert all(address.startswith((served.url, "data:", "blob:", "ws:")) for address in asked), asked
    assert not any(token in referrer for referrer in referrers)
    assert [address for address in asked if token in address] == [served.url + path]
    assert token not in served.said()


@pytest.mark.long
@pytest.mark.parametrize(
    ("dark", "width"), [(False, 1440), (True, 1440), (False, 390)], ids=["light", "dark", "phone"]
)
def test_sharing_is_accessible(open_page: OpenPage, store: Server, dark: bool, width: int) -> None:
    run_id, path = _saved(store)
    found = {}

    def look(page: Page, screen: str) -> None:
        picture(page, f"{screen}-{'dark' if dark else 'light'}-{width}")
        found[screen] = faults(page)

    page = open_page(path, dark=dark, width=width)
    results(page)
    look(page, "shared")
    page = open_page(f"/results?run={run_id}", dark=dark, width=width)
    results(page)
    page.get_by_role("button", name="Export").click()
    look(page, "export")
    page.keyboard.press("Escape")
    share(page)
    look(page, "share")
    page.keyboard.press("Escape")
    expect(page.get_by_role("dialog")).to_have_count(0)
    page = open_page("/shared?token=x", dark=dark, width=width)
    look(page, "closed")
    assert not any(found.values()), found


@pytest.mark.parametrize(
    ("dark", "width"),
    [
        pytest.param(False, 1440, marks=pytest.mark.long),
        pytest.param(True, 1440, marks=pytest.mark.long),
        (False, 390),
    ],
    ids=["light", "dark", "phone"],
)
def test_a_kept_answer_is_found_at_its_address_and_shared(open_page, store, dark, width) -> None:
    run = store.runs.add(make_models(("planted", HOSTILE)), title=f"planted, {HOSTILE}", owner="")
    token = store.links.create(run.id, created_by="")
    found = {}
    for screen, path in (
        ("kept", f"/models?saved={run.id}"),  # the address of before it was a run
        ("shared-answer", f"/shared?token={token}"),
    ):
        page = open_page(path, dark=dark, width=width)
        page.get_by_role("heading", name="Every statistic").wait_for()
        settle(page)
        picture(page, f"{screen}-{'dark' if dark else 'light'}-{width}")
        main = page.get_by_test_id("stMain")
        for element in ("img", "script", "a[href^='javascript']", ".katex"):
            assert main.locator(element).count() == 0, element
        found[screen] = faults(page)
    assert not any(found.values()), found
