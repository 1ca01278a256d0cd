"""What people of each role see of the pages, and what is refused whatever the page shows."""

from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from streamlit.testing.v1 import AppTest

from grasp_core.engine.pools import workers
from grasp_core.model.access import EVERYONE
from grasp_core.model.errors import AccessError
from grasp_core.model.settings import Settings
from grasp_core.server import server as server_module
from grasp_core.server.identity import CLOSED
from grasp_core.server.server import Server
from grasp_core.store.people import audit as refusals
from pages._ui.data import arriving as doors
from pages._ui.data import files
from pages._ui.helpers import identity, state
from pages._ui.helpers import identity as permissions
from pages._ui.helpers.screens import SCREENS
from tests.empty_store import empty_home
from tests.pages.visits import plain, text_of
from tests.results import make_result
from tests.server.conftest import SIGN_IN
from tests.serving import ROOT

SAID = {"iss": "https://id.example", "email_verified": True}
CLAIMS: dict[str, dict[str, Any] | None] = {
    "stranger": None,
    "not admitted": {**SAID, "sub": "e", "email": "eve@evil.example"},
    "viewer": {**SAID, "sub": "v", "email": "vera@lab.example"},
    "analyst": {**SAID, "sub": "a", "email": "ann@lab.example", "name": "*Ann*"},
    "admin": {**SAID, "sub": "r", "email": "root@lab.example"},
}
ADMITTED = ("viewer", "analyst", "admin")
TITLE = "A run that is nobody else's business"


@pytest.fixture
def server(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Server]:
    settings = Settings(
        **SIGN_IN,
        home=empty_home(tmp_path),
        allowed_domains=("lab.example",),
        analysts=("ann@lab.example",),
        admins=("root@lab.example",),
    )
    with closing(Server(settings, workers.threads)) as made:
        monkeypatch.setattr(server_module, "shared", lambda: made)
        for who in ADMITTED:
            made.accounts.sign_in(CLAIMS[who] or {})
        yield made


@pytest.fixture
def run_id(server: Server) -> str:
    return server.runs.add(make_result(), title=TITLE, owner=user_id(server, "analyst")).id


def user_id(server: Server, who: str) -> str:
    return server.accounts.user(CLAIMS[who] or {}).id


def become(who: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(identity, "session_claims", lambda: CLAIMS[who])


def visit(name: str, run_id: str) -> AppTest:
    page = AppTest.from_file(ROOT / "pages" / "main.py", default_timeout=60)
    page.query_params["run"] = run_id
    page.query_params["token"] = run_id
    return page.switch_page(f"{name}.py").run()


def test_every_screen_is_listed() -> None:
    written = {path.stem for path in (ROOT / "pages").glob("*.py")} - {"__init__", "main"}
    assert {screen.name for screen in SCREENS} == written
    assert [screen.name for screen in SCREENS if screen.audience == "everybody"] == ["shared"]


@pytest.mark.parametrize("who", ["stranger", "not admitted"])
def test_no_page_shows_strangers_anything(who: str, run_id: str, monkeypatch: pytest.MonkeyPatch) -> None:
    become(who, monkeypatch)
    for screen in SCREENS:
        page = visit(screen.name, run_id)
        assert not page.exception, screen
        assert TITLE not in text_of(page), screen
        labels = [button.label for button in page.button]
        if screen.audience == "everybody":
            assert CLOSED in text_of(page)
        elif who == "stranger":
            assert labels == ["Sign in"], screen
            assert [title.value for title in page.title] == ["GRASP"], screen
        else:
            assert labels == [], screen
            assert [one.value for one in page.get("html") if 'action="/auth/sign-out"' in one.value], screen
            assert "evil.example" in plain(page.error[0].value), screen
            assert [title.value for title in page.title] == ["GRASP"], screen


@pytest.mark.parametrize("who", ["viewer", "analyst", "admin"])
def test_pages_by_role(who: str, run_id: str, server: Server, monkeypatch: pytest.MonkeyPatch) -> None:
    become(who, monkeypatch)
    kept_from = {"viewer": ("analysts", "admins"), "analyst": ("admins",)}.get(who, ())
    monkeypatch.setattr(refusals, "AGAIN_SECONDS", 0)  # each is noted
    before = 0
    for screen in SCREENS:
        page = visit(screen.name, run_id)
        assert not page.exception, screen
        assert "Sign in" not in [button.label for button in page.button], screen
        kept_out = permissions.VIEWERS_LOOK in [info.value for info in page.info]
        assert kept_out == (who == "viewer" and screen.name in ("start", "data", "analysis")), screen
        assert (permissions.ADMINS_ONLY in [info.value for info in page.info]) == (
            who != "admin" and screen.audience == "admins"
        ), screen
        if screen.name == "more":
            listed = [link.proto.label.strip("*").partition("*")[0] for link in page.get("page_link")]
            of_admins = ["People", "Log"] if who == "admin" else []
            assert listed == ["Models", "Runs", "Watch", "Projects", *of_admins]
        noted = server.audit.search(action="refusal", actor=user_id(server, who))[1]
        assert (noted > before) == (screen.audience in kept_from), screen
        before = noted
        if screen.name == "account":
            assert f"role on this server is {who}" in text_of(page)
        if kept_out:
            assert all(button.disabled for button in page.button), screen


def test_no_page_is_shown_while_nobody_can_be_known(run_id: str, server: Server, monkeypatch) -> None:
    def fail() -> None:
        raise RuntimeError("rater 4711")

    monkeypatch.setattr(identity, "session_claims", fail)
    for name in ("results", "shared"):
        page = visit(name, run_id)
        assert "went wrong in GRASP itself" in text_of(page)
        assert TITLE not in text_of(page)
        assert "4711" not in text_of(page)


@pytest.mark.parametrize("who", ["stranger", "not admitted", "viewer"])
def test_actions_ask_for_themselves(who: str, run_id: str, server: Server, monkeypatch) -> None:
    become(who, monkeypatch)
    result = make_result()
    with pytest.raises(AccessError):
        permissions.require_run()
    with pytest.raises(AccessError):
        permissions.require_manage("somebody's", EVERYONE)
    with pytest.raises(AccessError):
        permissions.require_admin()
    with pytest.raises(AccessError):
        doors.try_example()
    with pytest.raises(AccessError):
        state.submit(None, result.spec, 0.0)  # type: ignore[arg-type]
    with pytest.raises(AccessError):
        files._kept(b"a,b,c\n1,2,3\n", "a.csv")
    assert server.files.used("") == server.files.used(user_id(server, "viewer")) == 0
    assert [run.id for run in server.runs.search()] == [run_id]


def test_analysts_manage_their_own_and_admins_all(server: Server, monkeypatch: pytest.MonkeyPatch) -> None:
    ann = user_id(server, "analyst")
    become("analyst", monkeypatch)
    assert permissions.require_manage(ann, EVERYONE).role == "analyst"
    with pytest.raises(AccessError, match="admin"):
        permissions.require_manage(user_id(server, "admin"), EVERYONE)
    become("admin", monkeypatch)
    assert permissions.require_manage(ann, EVERYONE).role == "admin"
    assert permissions.may_manage("anybody", EVERYONE)
    become("stranger", monkeypatch)
    assert not permissions.may_manage("", EVERYONE)
