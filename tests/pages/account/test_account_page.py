"""Account: tokens made, shown once, withdrawn."""

import dataclasses

import pytest
from streamlit.testing.v1 import AppTest

from grasp_core.model.access import Identity
from grasp_core.server.server import Server
from tests.pages.people import ANN, ROOT, VERA, become
from tests.pages.visits import press, seen, visit
from tests.results import make_result


def opened() -> AppTest:
    return visit("account")


@pytest.fixture
def account(server: Server, monkeypatch: pytest.MonkeyPatch) -> AppTest:
    become(ANN, monkeypatch)
    return opened()


def test_a_token_is_shown_once_listed_and_withdrawn(account: AppTest, server: Server) -> None:
    account.text_input(key="token-name").input("nightly *run*")
    account.selectbox(key="token-scope").select("run")
    page = press(account, "Make a token")
    assert not page.exception
    (token,) = [code.value for code in page.code]
    (made,) = server.tokens.of(ANN.id)
    assert (made.name, made.scope, made.works) == ("nightly *run*", "run", True)
    assert server.tokens.use(token) is not None
    again = opened()
    assert not again.code
    page = press(again, "Withdraw nightly *run*")
    assert server.tokens.use(token) is not None, "asked first"
    page = press(page, "Withdraw it")
    assert not page.exception
    assert server.tokens.use(token) is None
    assert "withdrawn" in " ".join(one.value for one in page.markdown)


def test_a_token_needs_a_name(account: AppTest, server: Server) -> None:
    page = press(account, "Make a token")
    assert "needs a name" in page.error[0].value
    assert server.tokens.all() == []


@pytest.mark.parametrize("holds", [True, False])
def test_whose_address_another_holds_is_told_so(account, monkeypatch, holds) -> None:
    user = dataclasses.replace(ANN, email="ann@lab.example", holds_address=holds)
    become(user, monkeypatch)
    told = [
        one.value for one in account.run().warning if "signed in with your mail address first" in one.value
    ]
    assert len(told) == (not holds)


def test_viewers_are_offered_what_they_may(account, server, monkeypatch) -> None:
    assert len(account.selectbox(key="token-scope").options) == 2
    become(VERA, monkeypatch)
    assert len(account.run().selectbox(key="token-scope").options) == 1


ADDRESS = "ann@lab.example"


@pytest.fixture
def ann(server: Server) -> str:
    for name in ("bob", "vera"):
        server.accounts.people.sign_in(Identity("i", name, f"{name}@lab.example", name.title()))
    found = server.accounts.people.sign_in(Identity("i", "ann", ADDRESS, "Ann *Onymous*"))
    server.runs.add(make_result(), title="Ann's", owner=found.id)
    return found.id


@pytest.fixture
def page(ann: str, monkeypatch: pytest.MonkeyPatch) -> AppTest:
    become(ROOT, monkeypatch)
    opened = visit("people")
    assert not opened.exception
    return opened


def erase(page: AppTest, ann: str, heir: str | None, typed: str) -> None:
    page.button(key=f"erase-{ann}").click().run()
    if heir is not None:
        page.selectbox(key="erase-to").select(heir)
    page.text_input(key="erase-typed").input(typed)
    press(page, "Erase for good")
    assert not page.exception


def test_a_person_is_erased_once_it_is_chosen_and_typed(page: AppTest, server: Server, ann: str) -> None:
    bob = server.accounts.people.search("bob")[0][0].id
    page.button(key=f"erase-{ann}").click().run()
    assert "Backups made before still hold the person" in seen(page.warning)
    for heir, typed, problem in (
        (None, ADDRESS, "Choose who gets what they own"),
        (bob, "bob@lab.example", "nothing was erased"),
    ):
        erase(page, ann, heir, typed)
        assert problem in page.session_state["erase-problem"]
        assert server.accounts.people.get(ann) is not None
    erase(page, ann, bob, ADDRESS)
    assert server.accounts.people.get(ann) is None
    assert [run.owner for run in server.runs.search()] == [bob]
    entry = server.audit.search(action="erase")[0][0]
    assert (entry.actor, entry.object_id) == (ROOT.id, ann)


def test_what_nobody_gets_is_deleted(page: AppTest, server: Server, ann: str) -> None:
    erase(page, ann, "", ADDRESS)
    assert server.accounts.people.get(ann) is None
    assert server.runs.search() == []


def test_an_export_is_offered(page: AppTest, ann: str) -> None:
    page.button(key=f"export-{ann}").click().run()
    assert not page.exception
    assert [one.label for one in page.get("download_button")] == ["Download"]


def test_an_address_that_another_holds_is_assigned_once_it_was_asked(page, server, ann) -> None:
    heir = server.accounts.people.sign_in(Identity("new", "ann", ADDRESS, "Ann *B.*"))
    page.run()
    assert f"Ann *Onymous* holds the mail address {ADDRESS}" in seen(page.caption)
    assert {one.key for one in page.button if str(one.key).startswith("address-")} == {f"address-{heir.id}"}
    page.button(key=f"address-{heir.id}").click().run()
    assert (server.accounts.people.get(ann) or heir).holds_address, "asked first"
    press(page, "Assign it")
    assert not page.exception
    assert (server.accounts.people.get(heir.id) or heir).holder == heir.id
    page.run()
    assert f"Ann *B.* holds the mail address {ADDRESS}" in seen(page.caption)
    assert [one.key for one in page.button if str(one.key).startswith("address-")] == [f"address-{ann}"]


def test_an_address_of_an_admin_by_the_settings_takes_the_command(page, server, monkeypatch, ann) -> None:
    object.__setattr__(server.settings, "admins", (ADDRESS,))
    heir = server.accounts.people.sign_in(Identity("new", "ann", ADDRESS, "Ann B."))
    page.run()
    assert f"people assign-address {heir.id}" in seen(page.caption)
    assert not [one for one in page.button if str(one.key).startswith("address-")]
    assert f"role-{heir.id}-None" in {one.key for one in page.selectbox}, "no admin by the settings"
    assert f"role-{ann}-None" not in {one.key for one in page.selectbox}
