"""Sessions as an attacker meets them: two real servers on one database, a real provider, cookies kept."""

import time
from collections.abc import Iterator

import httpx
import pytest
from sqlalchemy import URL, Engine
from websockets import ConnectionClosed

from grasp_core.model.settings import Settings
from grasp_core.server.accounts import Accounts
from grasp_core.store.database import connect
from tests.server.served.sites import Site
from tests.server.tabs import Tab, tab

WITHIN_S = 10
USER = "_streamlit_user"


def answered(site: Site, web: httpx.Client) -> list[int]:
    """Statuses of requests with the cookies of before, wherever a session opens something."""
    told = []
    for server in site.servers:
        told += [web.get(f"{server}/api/v1/runs/{site.run_id}{rest}").status_code for rest in ("", "/status")]
        put = web.put(f"{server}/_stcore/upload_file/s/f", files={"file": ("f", b"x")})
        told.append(put.status_code)
    return told


def shown(site: Site, web: httpx.Client, server: str | None = None) -> str:
    with tab(server or site.servers[0], "account", web, site.servers[0]) as opened:
        return opened.text()


def kept(web: httpx.Client) -> httpx.Client:
    """A copy of the browser's cookies, as somebody may have taken it."""
    return httpx.Client(cookies=httpx.Cookies(web.cookies), timeout=60)


def sign_out(web: httpx.Client, **headers: str) -> httpx.Response:
    return web.post("/auth/sign-out", headers={"Origin": "null", "Sec-Fetch-Site": "same-origin", **headers})


def closes(opened: Tab) -> bool:
    """Whether the server closes the tab in time."""
    deadline = time.monotonic() + WITHIN_S
    while time.monotonic() < deadline:
        try:
            opened.socket.recv(deadline - time.monotonic())
        except TimeoutError:
            return False
        except ConnectionClosed:
            return True
    return False


def test_after_sign_out_nothing_is_answered(site: Site) -> None:
    with site.visitor() as web, kept(web) as thief:
        assert 401 not in answered(site, thief)
        assert "Sign in" not in shown(site, web)
        with (
            tab(site.servers[0], "account", web) as here,
            tab(site.servers[1], "account", web, site.servers[0]) as there,
        ):
            assert all("this one" in opened.text() for opened in (here, there))
            answer = sign_out(web)
            assert answer.status_code == 200
            assert "/oauth2/end_session" in answer.text
            assert not any(name.startswith(USER) for name in web.cookies)
            time.sleep(1.1)  # what the other server may still believe
            statuses = [status for _ in range(4) for status in answered(site, thief)]
            assert len(statuses) >= 20
            assert set(statuses) == {401}
            assert closes(here)
            assert closes(there)
        for server in site.servers:
            assert "Sign in" in shown(site, thief, server)


@pytest.mark.parametrize(
    "headers",
    [
        {"Sec-Fetch-Site": "cross-site"},
        {"Sec-Fetch-Site": "same-site"},
        {"Sec-Fetch-Site": "none", "Origin": "https://evil.example"},
    ],
)
def test_nobody_else_signs_people_out(site: Site, headers: dict[str, str]) -> None:
    with site.visitor() as web:
        assert sign_out(web, **headers).status_code == 403
        without = web.post("/auth/sign-out", headers={"Origin": "https://evil.example"})
        assert without.status_code == 403
        assert web.get("/auth/sign-out").status_code != 303
        assert web.get("/auth/logout").status_code == 404
        assert web.get(f"/api/v1/runs/{site.run_id}").status_code == 200
        assert any(name.startswith(USER) for name in web.cookies)


@pytest.fixture
def engine(site: Site) -> Iterator[Engine]:
    made = connect(URL.create("sqlite", database=str(site.home / "grasp.db")))
    yield made
    made.dispose()


def test_disabled_and_changed_roles_hold_within_seconds(site: Site, engine: Engine) -> None:
    accounts = Accounts(Settings(), engine)
    with site.visitor() as web:
        person = accounts.people.search("sue@")[0][0]
        accounts.set_role(person.id, "viewer", by=None)
        time.sleep(1.1)
        assert [status for status in answered(site, web) if status == 403] == [403, 403]
        accounts.set_role(person.id, None, by=None)
        with tab(site.servers[1], "account", web, site.servers[0]) as there:
            accounts.disable(person.id, by=None)
            assert closes(there)
        assert set(answered(site, web)) == {401}
        assert "disabled" in shown(site, web)
        with site.visitor() as again:  # the provider lets them in; this server does not
            assert set(answered(site, again)) == {401}
        accounts.enable(person.id, by=None)
        time.sleep(1.1)
        assert set(answered(site, web)) == {401}
        with site.visitor() as again:
            assert 401 not in answered(site, again)


def test_a_cookie_without_a_session_opens_nothing(site: Site, engine: Engine) -> None:
    """As one of before an upgrade, or one made with a secret that has leaked."""
    accounts = Accounts(Settings(), engine)
    with site.visitor() as web:
        assert 401 not in answered(site, web)
        key = accounts.sessions.of_person(accounts.people.search("sue@")[0][0].id)[0].key
        with engine.begin() as connection:
            connection.exec_driver_sql("DELETE FROM sessions WHERE key = ?", (key,))
        time.sleep(1.1)
        assert set(answered(site, web)) == {401}
