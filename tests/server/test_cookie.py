"""Streamlit's cookies are read as Streamlit writes them; an upgrade that changes them fails here."""

import asyncio
import dataclasses
import secrets
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from http.cookies import SimpleCookie
from pathlib import Path
from typing import Any

import itsdangerous
import pytest
from starlette.requests import HTTPConnection
from starlette.responses import Response
from streamlit.web.server.starlette import starlette_auth_routes, starlette_websocket
from streamlit.web.server.starlette.starlette_server_config import (
    AUTH_COOKIE_MAX_AGE_SECONDS,
    USER_COOKIE_NAME,
)

from grasp_core.engine.pools import workers
from grasp_core.model.access import Identity
from grasp_core.model.settings import Settings
from grasp_core.server import server as server_module
from grasp_core.server.accounts import Accounts, session_key
from grasp_core.server.server import Server
from grasp_core.store.people.projects import Member
from pages._ui.helpers.identity import claims_of, sender, signed_in
from tests.empty_store import empty_home
from tests.server.conftest import SIGN_IN

SETTINGS = Settings(**SIGN_IN, allowed_domains=("lab.example",))
CLAIMS = {
    "iss": "https://id.example",
    "sub": "s-1",
    "email": "ann@lab.example",
    "email_verified": True,
    "name": "Ann",
}


@pytest.fixture(autouse=True)
def accounts(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[Accounts]:
    """A server on which everybody has a session whom Streamlit's cookie names, and may have one."""
    with closing(Server(dataclasses.replace(SETTINGS, home=empty_home(tmp_path)), workers.threads)) as made:
        monkeypatch.setattr(server_module, "shared", lambda: made)
        yield made.accounts


@pytest.fixture(autouse=True)
def secret(monkeypatch: pytest.MonkeyPatch) -> None:
    for module in (starlette_auth_routes, starlette_websocket):
        monkeypatch.setattr(module, "get_cookie_secret", lambda: SIGN_IN["cookie_secret"])


def cookies(**claims: Any) -> dict[str, str]:
    """What Streamlit sets after a sign-in."""
    answer = Response()
    told = {**CLAIMS, "origin": SETTINGS.origin, "is_logged_in": True, "provider": "default", **claims}
    # In a thread of its own: where browser tests ran before, this one has an event loop already.
    with ThreadPoolExecutor(1) as thread:
        setting = starlette_auth_routes._set_auth_cookie(answer, told, {"id_token": "t"})
        thread.submit(asyncio.run, setting).result()
    set_cookies: SimpleCookie = SimpleCookie()
    for line in answer.headers.getlist("Set-Cookie"):
        set_cookies.load(line)
    return {name: morsel.value for name, morsel in set_cookies.items()}


def request(cookie: dict[str, str], **headers: str) -> HTTPConnection:
    text = "; ".join(f"{name}={value}" for name, value in cookie.items())
    sent = {"cookie": text, **headers}
    raw = [(name.lower().encode(), value.encode("latin-1")) for name, value in sent.items()]
    return HTTPConnection({"type": "http", "headers": raw, "path": "/", "query_string": b""})


def with_session(accounts: Accounts, **claims: Any) -> dict[str, str]:
    """The cookie of somebody who has a session, whether or not they should have been given one."""
    made = cookies(**claims)
    told = claims_of(made, str(claims.get("origin", SETTINGS.origin)))
    person = accounts.people.sign_in(Identity("https://id.example", "s-1", "ann@lab.example", "Ann"))
    accounts.sessions.begin(session_key(told or {**CLAIMS, **claims}), person.id, "")
    return made


def test_a_cookie_says_who_signed_in(accounts: Accounts) -> None:
    cookie = cookies()
    claims = signed_in(request(cookie), SETTINGS.origin)
    assert claims["email"] == CLAIMS["email"]
    assert sender(request(cookie, Origin=SETTINGS.origin), SETTINGS) is None  # no session has begun
    begun = accounts.sign_in(claims)
    user = sender(request(cookie, Origin=SETTINGS.origin), SETTINGS)
    assert user == begun
    assert (user.email, user.name) == ("ann@lab.example", "Ann")
    assert user.id not in (user.email, claims["sub"])


def test_a_request_beside_the_pages_has_the_groups_of_the_sign_in(accounts: Accounts) -> None:
    project = accounts.projects.create("Ours", owner=Member("group", "annotators", "owner"))
    seen = []
    for groups in (["annotators"], ["others"]):
        user = sender(request(with_session(accounts, groups=groups)), SETTINGS)
        seen.append(accounts.known(user).may_see(project.id))
    assert seen == [True, False]


def test_the_key_is_the_same_where_streamlit_tells_the_claims_to_pages() -> None:
    claims = signed_in(request(cookies()), SETTINGS.origin)
    told = {**claims, "tokens": {}}  # as a page connects
    assert session_key(claims) == session_key(told)
    assert session_key(claims) != session_key({**claims, "nonce": "another sign-in"})


def test_a_large_cookie_comes_in_pieces() -> None:
    pieces = cookies(groups=[secrets.token_hex(20) for _ in range(200)])
    assert f"{USER_COOKIE_NAME}_2" in pieces
    claims = signed_in(request(pieces), SETTINGS.origin)
    assert len(claims["groups"]) == 200
    del pieces[f"{USER_COOKIE_NAME}_2"]
    assert signed_in(request(pieces), SETTINGS.origin) is None


@pytest.mark.parametrize(
    "claims", [{"email": "eve@evil.example"}, {"email_verified": False}, {"email": None}]
)
def test_not_everybody_who_signed_in_is_admitted(claims: dict[str, Any], accounts: Accounts) -> None:
    assert sender(request(with_session(accounts)), SETTINGS) is not None
    assert sender(request(with_session(accounts, **claims)), SETTINGS) is None


@pytest.mark.parametrize(
    ("claims", "headers"),
    [
        ({"origin": "https://other.example"}, {}),
        ({"origin": "http://grasp.example"}, {}),
        ({"is_logged_in": False}, {}),
        ({"is_logged_in": "yes"}, {}),
        ({}, {"Origin": "https://evil.example"}),
        ({}, {"Origin": "null"}),
    ],
)
def test_another_address_or_no_sign_in(claims, headers, accounts) -> None:
    assert sender(request(with_session(accounts, **claims), **headers), SETTINGS) is None


def _forged(value: str) -> list[str]:
    payload, time, signature = value.rsplit(".", 2)
    other = itsdangerous.URLSafeTimedSerializer("x" * 32, salt=USER_COOKIE_NAME)
    unsalted = itsdangerous.URLSafeTimedSerializer(SIGN_IN["cookie_secret"])
    swapped = signature[:-2] + ("AA" if not signature.endswith("AA") else "BB")
    return [
        "", "x", "a.b.c", value[:-1], value + "x", f"{payload}.{time}.", f"{payload}.{time}.{swapped}",
        f"{payload[:-1]}.{time}.{signature}", f"{payload}.{time[::-1]}.{signature}",
        other.dumps('{"email": "ann@lab.example"}'), unsalted.dumps('{"email": "ann@lab.example"}'),
        '{"email": "ann@lab.example"}', "\u00ff\u00fe", "chunks-3", cookies()["_streamlit_user_tokens"],
    ]  # fmt: skip


def test_forged_and_tampered_cookies_say_nothing(accounts: Accounts) -> None:
    for value in _forged(with_session(accounts)[USER_COOKIE_NAME]):
        assert sender(request({USER_COOKIE_NAME: value}), SETTINGS) is None, value


def test_an_old_cookie_says_nothing(monkeypatch: pytest.MonkeyPatch, accounts: Accounts) -> None:
    old = with_session(accounts)
    assert sender(request(old), SETTINGS) is not None
    later = itsdangerous.TimestampSigner.get_timestamp
    days = AUTH_COOKIE_MAX_AGE_SECONDS + 2 * 86400
    monkeypatch.setattr(itsdangerous.TimestampSigner, "get_timestamp", lambda self: later(self) + days)
    assert sender(request(old), SETTINGS) is None


def test_another_secret_says_nothing(monkeypatch: pytest.MonkeyPatch, accounts: Accounts) -> None:
    before = with_session(accounts)
    monkeypatch.setattr(starlette_websocket, "get_cookie_secret", lambda: "y" * 32)
    assert sender(request(before), SETTINGS) is None
