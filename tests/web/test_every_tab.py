"""Every page over a real websocket, by whoever has no business with a run: a page added later, too."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import dataclass

import httpx
import pytest
from sqlalchemy import URL

from grasp_core.access import only
from grasp_core.accounts import accounts_of
from grasp_core.engine.pools import workers
from grasp_core.server import make_server
from grasp_core.settings import Settings, variable
from grasp_core.store.database import connect
from grasp_core.store.people.members import Member
from grasp_core.store.people.projects import ProjectStore
from pages._ui.shell.screens import SCREENS
from tests.provider import providing, sign_in
from tests.results import make_result
from tests.serving import free_port, serving
from tests.web.conftest import SIGN_IN
from tests.web.tabs import Tab, tab

TITLE = "Nobody elses business"
PROJECT = "A project of few"
WHO = ("ann", "vera", "bob", "dora", "eve")
PEOPLE = {
    who: {"email": f"{who}@{'evil' if who == 'eve' else 'lab'}.example", "name": who, "email_verified": True}
    for who in WHO
}


@dataclass(frozen=True)
class Site:
    url: str
    run_id: str
    clients: dict[str, httpx.Client]
    """Of a stranger and of people who have signed in; some were disabled or signed out since."""


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    folder = tmp_path_factory.mktemp("every-tab")
    store = make_server(Settings(home=str(folder / "home")), workers.threads)
    few = ProjectStore(store.database).create(PROJECT, owner=Member("address", "ann@lab.example", "owner"))
    run_id = store.runs.within(only(few.id)).add(make_result(), title=TITLE, owner="ann@lab.example").id
    store.service.close()
    store.database.dispose()
    port = free_port()
    with providing(PEOPLE) as provider, ExitStack() as stack:
        settings = {**SIGN_IN, "public_url": f"http://localhost:{port}", "allowed_domains": "lab.example"}
        settings |= {"analysts": "bob@lab.example,ann@lab.example,dora@lab.example"}
        settings["oidc_metadata_url"] = f"{provider}/.well-known/openid-configuration"
        environment = {variable(name): value for name, value in settings.items()}
        served = stack.enter_context(serving(folder, environment, host="localhost", port=port))
        clients = {"nobody": stack.enter_context(httpx.Client(base_url=served.url))}
        for who in WHO:
            clients[who] = stack.enter_context(httpx.Client(base_url=served.url, timeout=60))
            sign_in(clients[who], who, SIGN_IN["cookie_secret"])
        gone = stack.enter_context(httpx.Client(base_url=served.url, timeout=60))
        sign_in(gone, "ann", SIGN_IN["cookie_secret"])
        clients["signed out"] = httpx.Client(base_url=served.url, cookies=httpx.Cookies(gone.cookies))
        gone.post("/auth/sign-out", headers={"Origin": "null", "Sec-Fetch-Site": "same-origin"})
        engine = connect(URL.create("sqlite", database=str(folder / "home" / "grasp.db")))
        accounts = accounts_of(Settings(), engine)
        accounts.disable(accounts.people.search("dora@")[0][0].id, by=None)
        engine.dispose()
        yield Site(served.url, run_id, clients)


def drawn(opened: Tab) -> str:
    return " ".join(str(message.delta) for message in opened.seen)


@pytest.mark.parametrize("who", ["nobody", "eve", "signed out", "dora", "vera", "bob"])
def test_no_page_shows_a_run_to_those_who_do_not_belong_to_its_project(site: Site, who: str) -> None:
    """A stranger, one not admitted, an ended session, a disabled account, a viewer, an analyst."""
    with tab(site.url, "", site.clients[who]) as opened:
        for screen in SCREENS:
            opened.show("" if screen.path == "/" else screen.name, query=f"run={site.run_id}&token=x")
            shown = drawn(opened)
            assert TITLE not in shown, screen
            assert PROJECT not in shown, screen
            assert shown, screen


def test_it_is_shown_to_a_member(site: Site) -> None:
    with tab(site.url, "", site.clients["ann"]) as opened:
        opened.show("results", query=f"run={site.run_id}")
        assert TITLE in drawn(opened)
        opened.show("projects")
        assert PROJECT in drawn(opened)
