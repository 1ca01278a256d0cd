"""``token``: made, listed and withdrawn by whoever has the database."""

from __future__ import annotations

from pathlib import Path

import pytest
from sqlalchemy import URL

from grasp_core import cli
from grasp_core.model.access import Identity
from grasp_core.store.database import connect
from grasp_core.store.people.people import PeopleStore
from tests.empty_store import empty_home


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A store in which Ann and Bob have signed in."""
    home = empty_home(tmp_path)
    monkeypatch.setenv("GRASP_HOME", home)
    engine = connect(URL.create("sqlite", database=f"{home}/grasp.db"))
    for name in ("Ann", "Bob"):
        PeopleStore(engine).sign_in(Identity("https://id.example", name, f"{name.lower()}@lab.example", name))
    engine.dispose()


def test_a_token_is_made_listed_and_withdrawn(capsys: pytest.CaptureFixture[str]) -> None:
    assert (
        cli.main(["token", "make", "--person", "Ann@lab.example", "--name", "nightly", "--scope", "run"]) == 0
    )
    token = capsys.readouterr().out.strip()
    assert token.startswith("grasp_")
    assert cli.main(["token", "list"]) == 0
    listed = capsys.readouterr().out
    assert token not in listed
    token_id, owner, name, scope, state, *_ = listed.strip().split("\t")
    assert (owner, name, scope, state) == ("Ann", "nightly", "run", "works")
    assert cli.main(["token", "list", "--person", "bob@lab.example"]) == 0
    listed_of_bob = capsys.readouterr()
    assert listed_of_bob.out == ""
    assert listed_of_bob.err == "note: there are no tokens; `grasp token make` makes one\n"
    assert cli.main(["token", "withdraw", token_id]) == 0
    assert cli.main(["token", "withdraw", token_id]) == 2
    assert "no token that works" in capsys.readouterr().err
    assert cli.main(["token", "list"]) == 0
    assert "withdrawn" in capsys.readouterr().out


def test_a_token_that_would_work_for_ever_is_refused(capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["token", "make", "--name", "mine", "--days", "9999"]) == 2
    assert "366 days at most" in capsys.readouterr().err
