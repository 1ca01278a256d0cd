from urllib.parse import quote

import pytest

from grasp_core.server.headers import COOKIE
from tests.server.conftest import ANN, SIGN_IN, MakeClient


@pytest.mark.parametrize("base_path", ["", "/grasp"])
def test_a_strangers_page_waits_for_the_sign_in(client: MakeClient, base_path: str) -> None:
    stranger = client(base_path, **SIGN_IN)
    for page in ("/results?run=a-b_c", "/data", "/results?run=%3Cx%3E&y=1+2"):
        cookie = stranger.get(base_path + page).headers["Set-Cookie"]
        for part in ("HttpOnly", "SameSite=lax", f"Path={base_path or '/'};"):
            assert part in cookie
        for there in (page, "/"):  # once
            back = stranger.get(f"{base_path}/oauth2callback?code=1&state=2")
            assert back.headers["Location"] == base_path + there


def test_the_last_page_counts(client: MakeClient) -> None:
    stranger = client(**SIGN_IN)
    stranger.get("/results?run=a")
    stranger.get("/runs")
    assert stranger.get("/oauth2callback").headers["Location"] == "/runs"
    stranger.get("/results?run=a")
    stranger.get("/")
    assert stranger.get("/oauth2callback").headers["Location"] == "/"


def test_other_addresses_are_not_remembered(client: MakeClient) -> None:
    stranger = client(**SIGN_IN)
    for page in (
        *("/", "/a/b", "/auth/logout", "/x//evil.example"),
        *("/shared?token=key", "/results?a=%5c\\", "/r%20s"),
    ):
        assert COOKIE not in stranger.get(page).headers.get("Set-Cookie", ""), page


def test_nothing_is_remembered_of_those_who_have_signed_in(client: MakeClient) -> None:
    answer = client(**SIGN_IN).get("/results?run=a", headers={"X-Test-User": ANN.id})
    assert "Set-Cookie" not in answer.headers


PLANTED = (
    "//evil.example", "/\\evil.example", "https://evil.example", "\\\\evil.example", "/x/../..//evil.example",
    "javascript:alert(1)", "/results\r\nSet-Cookie: a=b", "/results?x=\r\nLocation: //evil.example",
    "/%2fevil.example", "/\t/evil.example", "/results#@evil.example", "evil.example", "", "/" + "a" * 5000,
)  # fmt: skip


def test_a_planted_cookie_leads_nowhere_else(client: MakeClient) -> None:
    stranger = client(**SIGN_IN)
    for planted in PLANTED:
        for value in (planted, quote(planted, safe=""), quote(quote(planted, safe=""), safe="")):
            if value.isprintable():
                answer = stranger.get("/oauth2callback", headers={"Cookie": f"{COOKIE}={value}"})
                assert answer.headers["Location"] == "/", value
