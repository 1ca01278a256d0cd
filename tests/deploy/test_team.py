"""The team server as people meet it: through the proxy, with TLS, below a path."""

import re
from base64 import b64encode
from collections.abc import Iterator
from contextlib import closing
from http import HTTPStatus
from http.client import HTTPSConnection
from urllib.parse import urlsplit

import pytest
from playwright.sync_api import Browser, BrowserContext, Page, WebSocket, expect

from tests.browser.visits import results, settle
from tests.conftest import PATIENCE_MS
from tests.deploy.conftest import BASE_PATH, METRICS_TOKEN, UPLOAD_MB, Team
from tests.deploy.proxy import ask, trusting_anybody
from tests.labels import TRY_EXAMPLE

pytestmark = pytest.mark.browser  # all of them, so that one process starts the team
STICKY = "grasp_server"


@pytest.fixture
def visitor(browser: Browser) -> Iterator[BrowserContext]:
    context = browser.new_context(ignore_https_errors=True)
    context.set_default_timeout(PATIENCE_MS)
    yield context
    context.close()


def open_page(visitor: BrowserContext, url: str) -> tuple[Page, list[WebSocket]]:
    sockets: list[WebSocket] = []
    page = visitor.new_page()
    page.on("websocket", lambda opened: sockets.append(opened))
    page.goto(url)
    page.get_by_role("heading", level=1).wait_for()
    settle(page)
    return page, sockets


def server_of(visitor: BrowserContext) -> str:
    return next(cookie["value"] for cookie in visitor.cookies() if cookie["name"] == STICKY)


def test_a_run_through_the_proxy_is_found_by_the_other_server(team: Team, visitor: BrowserContext) -> None:
    page, sockets = open_page(visitor, team.url)
    first = server_of(visitor)
    stream = sockets[-1]
    assert stream.url.startswith("wss://")
    assert urlsplit(stream.url).path == f"{BASE_PATH}/_stcore/stream"
    page.wait_for_timeout(4_000)  # longer than a request may take to arrive
    page.get_by_role("button", name=TRY_EXAMPLE).click()
    results(page)
    assert [opened.is_closed() for opened in sockets] == [False]
    headline = page.get_by_role("heading", level=2).first.inner_text()
    link = page.url
    assert re.fullmatch(re.escape(f"{team.url}/results") + r"\?run=[\w-]+", link)
    for server in team.servers:  # each of them, without the proxy's choice
        other, _ = open_page(visitor, server.url + "/results?" + urlsplit(link).query)
        results(other)
        expect(other.get_by_role("heading", level=2).first).to_have_text(headline)
    assert server_of(visitor) == first


def test_a_visitor_stays_with_one_server_and_visitors_are_spread(team: Team, browser: Browser) -> None:
    servers = set()
    for _ in range(12):
        context = browser.new_context(ignore_https_errors=True)
        page = context.new_page()
        page.goto(f"{team.url}/_stcore/health")
        chosen = server_of(context)
        for _ in range(3):
            page.goto(f"{team.url}/_stcore/health")
            assert server_of(context) == chosen
        servers.add(chosen)
        context.close()
        if len(servers) == 2:
            return
    pytest.fail("twelve visitors were all sent to one server")


def test_a_file_above_the_limit_is_refused_in_a_sentence(team: Team, visitor: BrowserContext) -> None:
    page, _ = open_page(visitor, f"{team.url}/data")
    content = b"item,rater,label\n" + b"x" * (UPLOAD_MB * 2**20)
    uploader = page.get_by_test_id("stFileUploader").first
    uploader.locator("input[type=file]").set_input_files(
        [{"name": "large.csv", "mimeType": "text/csv", "buffer": content}]
    )
    expect(uploader).to_contain_text("File must be")


def test_health_is_found_below_the_path_only(team: Team) -> None:
    assert ask(f"{team.url}/_stcore/health").body == b"ok"
    assert b'"ok"' in ask(f"{team.url}/api/health").body
    root = team.url.removesuffix(BASE_PATH)
    assert ask(f"{root}/_stcore/health").status == 404


def test_metrics_are_for_the_inside(team: Team) -> None:
    bearer = {"Authorization": f"Bearer {METRICS_TOKEN}"}
    assert ask(f"{team.url}/metrics", headers=bearer).status == 404
    assert ask(f"{team.url}/_stcore/metrics").status == 404
    inside = ask(f"{team.servers[0].url}/metrics", headers=bearer)
    assert inside.status == 200
    assert b"grasp_store_up 1.0" in inside.body


def test_headers_come_once(team: Team) -> None:
    answer = ask(f"{team.url}/")
    assert answer.status == 200
    for name in (
        "Content-Security-Policy",
        "Referrer-Policy",
        "Strict-Transport-Security",
        "X-Content-Type-Options",
        "X-Frame-Options",
    ):
        assert len(answer.values(name)) == 1, name
    assert answer.values("Server") == []


def test_scripts_come_compressed_and_are_kept(team: Team) -> None:
    page = ask(f"{team.url}/").body.decode()
    script = re.search(r'src="\.?/?(static/js/index[^"]+)"', page)
    assert script
    answer = ask(f"{team.url}/{script[1]}", headers={"Accept-Encoding": "gzip"})
    assert answer.values("Content-Encoding") == ["gzip"]
    assert "immutable" in answer.values("Cache-Control")[0]


def test_other_sites_open_no_connection(team: Team) -> None:
    own = team.url.removesuffix(BASE_PATH)
    assert handshake(team, own) == HTTPStatus.SWITCHING_PROTOCOLS
    assert handshake(team, "https://elsewhere.example") == HTTPStatus.FORBIDDEN


def handshake(team: Team, origin: str) -> int:
    """Status with which a websocket that a page of `origin` opens is answered.

    In one thread: the websockets client reads in another one, and a TLS connection of Python that two threads
    use at once now and then hangs or breaks (github.com/python/cpython/issues/151508).
    """
    site = urlsplit(team.url)
    connection = HTTPSConnection(site.netloc, timeout=PATIENCE_MS / 1_000, context=trusting_anybody())
    asked = {
        "Connection": "Upgrade",
        "Upgrade": "websocket",
        "Sec-WebSocket-Version": "13",
        "Sec-WebSocket-Key": b64encode(bytes(16)).decode(),
        "Sec-WebSocket-Protocol": "streamlit",
        "Origin": origin,
    }
    with closing(connection):
        connection.request("GET", f"{site.path}/_stcore/stream", headers=asked)
        with connection.getresponse() as answer:
            return answer.status
