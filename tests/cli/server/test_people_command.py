"""``people`` and ``token``: people and their tokens, by whoever has the database."""

import json
import zipfile
from collections.abc import Iterator
from pathlib import Path

import pytest
from sqlalchemy import URL

from grasp_core import cli
from grasp_core.model.access import Identity
from grasp_core.model.settings import Settings, variable
from grasp_core.server.accounts import Accounts
from grasp_core.store.database import connect, to_write
from grasp_core.store.people.credentials import TokenStore
from grasp_core.store.schema import people
from tests.commands import ran
from tests.empty_store import empty_home
from tests.server.conftest import SIGN_IN

CLAIMS = {"iss": "https://id.example", "sub": "a", "email": "ann@lab.example", "email_verified": True}


@pytest.fixture
def accounts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Accounts]:
    monkeypatch.setenv("GRASP_HOME", empty_home(tmp_path))
    engine = connect(URL.create("sqlite", database=str(tmp_path / "grasp.db")))
    yield Accounts(Settings(), engine)
    engine.dispose()


def test_people_are_listed_and_changed(accounts: Accounts, capsys: pytest.CaptureFixture[str]) -> None:
    ann = accounts.sign_in(CLAIMS)
    person_id, role, _, email, _ = ran(capsys, "people", "list", "ann").out.strip().split("\t")
    assert (person_id, role, email) == (ann.id, "analyst", "ann@lab.example")
    assert cli.main(["people", "role", "Ann@lab.example", "viewer"]) == 0
    assert (accounts.acting(ann.id) or ann).role == "viewer"
    assert cli.main(["people", "role", ann.id, "settings"]) == 0
    assert (accounts.acting(ann.id) or ann).role == "analyst"
    assert cli.main(["people", "sign-out", ann.id]) == 0
    assert accounts.sessions.of_person(ann.id) == []
    assert cli.main(["people", "disable", ann.id]) == 0
    assert accounts.acting(ann.id) is None
    assert "\tdisabled\t" in ran(capsys, "people", "list").out
    assert cli.main(["people", "enable", ann.id]) == 0
    assert accounts.acting(ann.id) is not None


def test_a_name_from_the_provider_is_one_line_and_no_command_to_a_terminal(accounts, capsys) -> None:
    ann = accounts.sign_in({**CLAIMS, "name": " Ann\n1\tadmin \x1b[2J\u202eLee\x9b31m "})
    assert ann.name == "Ann 1 admin [2J Lee 31m"
    TokenStore(accounts.people._engine).create(owner=ann.id, name="a\nb\x1b[2J", scope="read", days=1)
    with to_write(accounts.people._engine) as connection:  # as versions kept it that cleaned nothing
        connection.execute(people.update().values(name="Ann\n\x1b[2JLee"))
    for command in ("people", "token"):
        listed = ran(capsys, command, "list").out
        assert listed.count("\n") == 1
        assert "Ann [2JLee" in listed
        assert listed.replace("\t", "").strip().isprintable()


def test_nobody_and_two_of_one_address_are_told(accounts, capsys) -> None:
    assert cli.main(["people", "disable", "ann@lab.example"]) == 2
    assert "nobody of that mail address" in capsys.readouterr().err
    for subject in ("a", "b"):
        accounts.sign_in({**CLAIMS, "sub": subject})
    assert cli.main(["people", "disable", "ann@lab.example"]) == 2
    assert "2 people signed in with it" in capsys.readouterr().err


def test_the_only_admin_whose_provider_moved_gets_in_again(accounts, monkeypatch, capsys) -> None:
    for name, value in {**SIGN_IN, "admins": "ann@lab.example"}.items():
        monkeypatch.setenv(variable(name), value)
    before = accounts.sign_in(CLAIMS)
    moved = accounts.sign_in({**CLAIMS, "iss": "https://new.example", "sub": "0815"})
    for one, holder in ((before, moved), (moved, before)):
        assert cli.main(["people", "list"]) == 0
        lines = {line.split("\t")[0]: line.split("\t")[1:] for line in capsys.readouterr().out.splitlines()}
        assert (len(lines[one.id]), lines[one.id][0]) == (4, "admin")
        assert (lines[holder.id][0], lines[holder.id][4:]) == ("analyst", [f"address held by {one.id}"])
        assert cli.main(["people", "assign-address", moved.id]) == 0
    assert cli.main(["people", "assign-address", moved.id, "nobody@lab.example"]) == 2


def test_all_whom_a_new_provider_names_are_given_their_addresses(accounts, capsys) -> None:
    new = {"iss": "https://new.example"}
    addresses = [f"p{number}@lab.example" for number in range(3)]
    for claims in [{**CLAIMS, "sub": email, "email": email, **at} for at in ({}, new) for email in addresses]:
        accounts.sign_in(claims)
    last = Identity(new["iss"], addresses[2], addresses[2], "")
    accounts.disable(accounts.people.sign_in(last).id, by=None)
    assign = ["people", "assign-address", "--issuer", new["iss"]]
    assert [line.split("\t")[1] for line in ran(capsys, *assign).out.splitlines()] == addresses[:2]
    assert cli.main(assign) == 0  # once more changes nothing
    held = [one.identity for one in accounts.people.search()[0] if one.holds_address]
    assert [one.issuer for one in held] == [new["iss"], new["iss"], CLAIMS["iss"]]
    assert len({one.email for one in held}) == 3
    for wrong in ([], ["--issuer", "x", "who"]):
        with pytest.raises(SystemExit):
            cli.main(["people", "assign-address", *wrong])


def test_a_person_is_taken_away_and_erased_once_the_address_is_typed(accounts, capsys, tmp_path) -> None:
    ann = accounts.sign_in(CLAIMS)
    bob = accounts.sign_in({**CLAIMS, "sub": "b", "email": "bob@lab.example"})
    out = tmp_path / "ann.zip"
    assert cli.main(["people", "export", "ann@lab.example", "--out", str(out)]) == 0
    with zipfile.ZipFile(out) as archive:
        assert json.loads(archive.read("people.json"))[0]["id"] == ann.id
    assert cli.main(["people", "export", ann.id, "--out", str(tmp_path)]) == 2
    erase = ["people", "erase", "ann@lab.example", "--to", "bob@lab.example"]
    with pytest.raises(SystemExit):  # whose it becomes is asked
        cli.main(["people", "erase", "ann@lab.example", "--confirm", "ann@lab.example"])
    capsys.readouterr()
    assert "Deleted: the person, 1 session, 1 mail address held." in (told := ran(capsys, *erase).out)
    assert "Nothing was erased. To do it: --confirm ann@lab.example" in told
    assert cli.main([*erase, "--confirm", "bob@lab.example"]) == 2
    assert accounts.people.get(ann.id) is not None
    assert cli.main([*erase, "--confirm", "ann@lab.example"]) == 0
    assert accounts.people.get(ann.id) is None
    assert accounts.people.get(bob.id) is not None


def test_a_token_is_made_listed_and_withdrawn(accounts: Accounts, capsys: pytest.CaptureFixture[str]) -> None:
    make = ["token", "make", "--person", "Ann@lab.example", "--name", "nightly"]
    assert cli.main(make) == 2
    assert "nobody of that mail address" in capsys.readouterr().err
    ids = [
        accounts.sign_in({**CLAIMS, "sub": name, "email": f"{name}@lab.example", "name": name}).id
        for name in ("ann", "bob")
    ]
    assert cli.main(["token", "make", "--name", "mine", "--days", "9999"]) == 2
    assert "366 days at most" in capsys.readouterr().err
    token = ran(capsys, *make, "--scope", "run").out.strip()
    assert token.startswith("grasp_")
    listed = ran(capsys, "token", "list").out
    assert token not in listed
    token_id, owner, name, scope, state, *_ = listed.strip().split("\t")
    assert (owner, name, scope, state) == ("ann", "nightly", "run", "works")
    assert ran(capsys, "token", "list", "--person", ids[0]).out == listed
    listed_of_bob = ran(capsys, "token", "list", "--person", "bob@lab.example")
    assert listed_of_bob.out == ""
    assert listed_of_bob.err == "note: there are no tokens; `grasp token make` makes one\n"
    assert cli.main(["token", "withdraw", token_id]) == 0
    assert cli.main(["token", "withdraw", token_id]) == 2
    assert "no token that works" in capsys.readouterr().err
    assert "withdrawn" in ran(capsys, "token", "list").out
