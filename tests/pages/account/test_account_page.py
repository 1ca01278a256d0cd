"""Account: tokens made, shown once, withdrawn."""

import dataclasses

import pytest
from streamlit.testing.v1 import AppTest

from grasp_core.server.server import Server
from tests.pages.people import ANN, VERA, become
from tests.pages.visits import press, visit


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
