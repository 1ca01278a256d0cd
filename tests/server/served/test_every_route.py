"""Every route that the app has, asked without a session: a route added later is asked, too."""

import json
import re
import subprocess
import sys
from pathlib import Path

import httpx
import pytest
import streamlit as st

from tests.server.conftest import SIGN_IN
from tests.server.served.sites import TITLE, Site
from tests.serving import READY_S, ROOT

OPEN = {
    *("/_stcore/health", "/api/health", "/robots.txt", "/_stcore/host-config"),
    *("/api/v1/", "/api/v1/openapi.json"),
}
START_PAGE = (Path(st.__file__).parent / "static" / "index.html").read_text(encoding="utf-8")


def test_a_sign_in_may_change_servers(site: Site) -> None:
    assert site.built()["key"] == SIGN_IN["cookie_secret"]


def test_no_route_shows_strangers_anything(site: Site) -> None:
    listed = site.built()["routes"]
    paths = {path for path, _ in listed}
    assert {
        "/api/v1/runs/{run_id}",
        "/metrics",
        "/robots.txt",
        "/auth/login",
        "/media/{file_id:path}",
    } <= paths
    headers = {"X-Forwarded-For": "198.51.100.7"}
    with httpx.Client(base_url=site.first.url, headers=headers, timeout=READY_S) as stranger:
        for path, methods in listed:
            values = (site.run_id, "x", "..%2f..%2fapp.py")
            for address in {re.sub(r"\{[^}]*\}", value, path) or "/" for value in values}:
                for method in {*methods, "GET", "POST"} - {"HEAD"}:
                    _check(stranger.request(method, address), path, site.run_id)


def _check(answer: httpx.Response, path: str, run_id: str) -> None:
    shown = f"{answer.request.method} {answer.request.url}: {answer.status_code} {answer.text[:200]}"
    assert TITLE not in answer.text, shown
    assert run_id not in answer.text, shown
    if answer.status_code in (400, 401, 403, 404, 405):
        assert len(answer.text) < 1000, shown
    elif answer.is_redirect:  # to the start page, or a tidier address
        moved = path.replace("/api/", "/api/v1/").partition("{")[0] if path.startswith("/api/") else None
        there = answer.headers["Location"]
        assert re.fullmatch(r"/?[\w-]*/?", there) or (moved and there.startswith(moved)), shown
    elif path not in OPEN:
        assert answer.text in ("", START_PAGE), shown


@pytest.mark.parametrize(
    "page", ["/", "/results", "/shared?token=x", "/static/index.html", "/nothing/at/all"]
)
def test_html_is_streamlits_empty_start_page(site: Site, page: str) -> None:
    answer = httpx.get(site.first.url + page, timeout=READY_S)
    assert answer.text == START_PAGE
    assert answer.headers["Cache-Control"] == "no-store"
    assert answer.headers["X-Robots-Tag"] == "noindex, nofollow"


def test_robots_stay_out(site: Site) -> None:
    assert httpx.get(f"{site.first.url}/robots.txt", timeout=READY_S).text == "User-agent: *\nDisallow: /\n"


SAY = """
import logging, sys, warnings
from grasp_core.model.logs import set_up_logs
logging.getLogger("uvicorn.error")
set_up_logs("json")
from streamlit.logger import get_logger
get_logger("streamlit.imported.later").warning("one")
logging.getLogger("asyncio").error("two")
warnings.warn("three")
try:
    1 / 0
except ZeroDivisionError:
    get_logger("streamlit.imported.later").exception("four")
get_logger("uvicorn.error").error("five")
get_logger("websockets").error("six")
"""


def test_whoever_writes_a_line_writes_json() -> None:
    """Also modules and servers whose handlers are made after the start, other libraries, and warnings."""
    said = subprocess.run(
        [sys.executable, "-c", SAY], cwd=ROOT, capture_output=True, text=True, timeout=120, check=True
    )
    lines = [json.loads(line) for line in (said.stdout + said.stderr).splitlines()]
    assert [line["logger"] for line in lines] == [
        "streamlit.imported.later",
        "asyncio",
        "py.warnings",
        "streamlit.imported.later",
        "uvicorn.error",
        "websockets",
    ]


def test_secrets_and_tokens_stay_out_of_the_log(site: Site) -> None:
    for page in (
        "/shared?token=the-key",
        "/oauth2callback?code=the-code&state=s",
        "/auth/login?provider=forged",
    ):
        httpx.get(site.first.url + page, timeout=READY_S)
    httpx.get(f"{site.first.url}/api/v1/runs/x", headers={"Authorization": "Bearer the-key"}, timeout=READY_S)
    said = site.first.said()
    lines = [json.loads(line) for line in said.splitlines()]
    assert "streamlit" in {line["logger"].partition(".")[0] for line in lines}
    for secret in ("the-key", "the-code", "forged", SIGN_IN["oidc_client_secret"], SIGN_IN["cookie_secret"]):
        assert secret not in said
