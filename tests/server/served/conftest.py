"""Real servers that the tests of this folder share: each takes seconds of processor time to start.

All tests of the folder run in one process (:mod:`tests.scheduling`).
"""

from collections.abc import Iterator
from contextlib import ExitStack

import httpx
import pytest
from sqlalchemy import URL

from grasp_core.engine.pools import workers
from grasp_core.model.access import only
from grasp_core.model.settings import Settings, variable
from grasp_core.server.accounts import Accounts
from grasp_core.server.server import Server
from grasp_core.store.database import connect
from grasp_core.store.people.projects import Member, ProjectStore
from tests.provider import providing, sign_in
from tests.results import make_result
from tests.server.conftest import SIGN_IN
from tests.server.served.sites import BUILT, PEOPLE, PROJECT, SECRET_TITLE, TITLE, Site
from tests.serving import Served, free_port, serving

QUOTA_MB = 100
LIMIT_MB = 512
SOONER = 4
"""The server drops what nobody takes up this many times sooner than it is shipped to."""
HURRY = f"""
from pages._ui.helpers import sessions as waiting
waiting.UNUSED_SECONDS /= {SOONER}
waiting.LOOK_SECONDS /= {SOONER}
"""


NOTE_WHAT_IS_BUILT = """
import json
import streamlit as st
def walk(routes, before=""):
    for route in routes:
        included = getattr(route, "original_router", None)  # FastAPI's, which is looked into at each request
        if included is not None:
            yield from walk(included.routes, before)
            continue
        path = before + route.path
        inner = getattr(route, "routes", None)
        if inner:
            yield from walk(inner, path)
        elif type(route).__name__ != "WebSocketRoute":
            yield [path, sorted(getattr(route, "methods", None) or ["GET"])]
build = st.App._build_starlette_app
def noted(self):
    built = build(self)
    sessions = next(one for one in built.user_middleware if one.cls.__name__ == "SessionMiddleware")
    with open({file!r}, "w") as file:
        json.dump({{"routes": list(walk(built.routes)), "key": sessions.kwargs["secret_key"]}}, file)
    return built
st.App._build_starlette_app = noted
"""
"""The server writes down its routes, and the key of its sessions."""


@pytest.fixture(scope="session")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    """A server without sign-in, below a path, with little room for files."""
    limits = {variable("file_quota_mb"): str(QUOTA_MB), variable("read_memory_mb"): str(LIMIT_MB)}
    folder = tmp_path_factory.mktemp("served")
    with serving(folder, limits, host="localhost", base_path="/grasp", before=HURRY) as one:
        yield one


@pytest.fixture(scope="session")
def site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    """Two servers of one installation at which people sign in, with a run in a project of few."""
    folder = tmp_path_factory.mktemp("site")
    store = Server(Settings(home=str(folder / "home")), workers.threads)
    few = ProjectStore(store.database).create(PROJECT, owner=Member("address", "ann@lab.example", "owner"))
    secret = (
        store.runs.within(only(few.id)).add(make_result(), title=SECRET_TITLE, owner="ann@lab.example").id
    )
    everybodys = store.runs.add(make_result(), title=TITLE, owner="ann@lab.example").id
    store.service.close()
    store.database.dispose()
    port = free_port()
    (folder / "second").mkdir()
    with providing(PEOPLE) as provider, ExitStack() as stack:
        settings = {**SIGN_IN, "public_url": f"http://localhost:{port}", "allowed_domains": "lab.example"}
        settings |= {"analysts": "bob@lab.example,ann@lab.example,dora@lab.example,sue@lab.example"}
        settings["oidc_metadata_url"] = f"{provider}/.well-known/openid-configuration"
        settings["log_format"] = "json"
        environment = {variable(name): value for name, value in settings.items()}
        environment |= {"STREAMLIT_LOGGER_HIDE_WELCOME_MESSAGE": "true", "GRASP_HOME": str(folder / "home")}
        noting = NOTE_WHAT_IS_BUILT.format(file=str(folder / BUILT))
        first = stack.enter_context(serving(folder, environment, host="localhost", port=port, before=noting))
        second = stack.enter_context(serving(folder / "second", environment, host="localhost"))

        def client() -> httpx.Client:  # of http alone: it need not load certificates
            return stack.enter_context(httpx.Client(base_url=first.url, timeout=60, verify=False))

        clients = {who: client() for who in ("nobody", "ann", "vera", "bob", "dora", "eve", "signed out")}
        for who in ("ann", "vera", "bob", "dora", "eve"):
            sign_in(clients[who], who, SIGN_IN["cookie_secret"])
        gone = client()
        sign_in(gone, "ann", SIGN_IN["cookie_secret"])
        clients["signed out"].cookies = httpx.Cookies(gone.cookies)
        gone.post("/auth/sign-out", headers={"Origin": "null", "Sec-Fetch-Site": "same-origin"})
        engine = connect(URL.create("sqlite", database=str(folder / "home" / "grasp.db")))
        accounts = Accounts(Settings(), engine)
        accounts.disable(accounts.people.search("dora@")[0][0].id, by=None)
        engine.dispose()
        yield Site(first, second, folder / "home", clients, everybodys, secret)
