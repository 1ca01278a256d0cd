"""``link``: made, listed and withdrawn by whoever has the database."""

from __future__ import annotations

import io
from collections.abc import Iterator
from pathlib import Path

import pytest

from grasp_core import cli
from grasp_core.engine.pools import workers
from grasp_core.server import Server, make_server
from grasp_core.settings import read_settings
from grasp_core.store.links import Target
from grasp_core.visitors import Visitor
from tests.empty_store import empty_home
from tests.results import make_result


@pytest.fixture
def server(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Server]:
    monkeypatch.setenv("GRASP_HOME", empty_home(tmp_path))
    made = make_server(read_settings(), workers.threads)
    yield made
    made.service.close()
    made.database.dispose()


def test_a_link_is_made_listed_and_withdrawn(
    server: Server, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    run = server.runs.add(make_result(), title="A run", owner="").id
    monkeypatch.setattr("sys.stdin", io.StringIO("correct horse\n"))
    assert (
        cli.main(["link", "make", run, "--password", "--uses", "2", "--label", "board", "--days", "0"]) == 0
    )
    token = capsys.readouterr().out.strip().partition("token=")[2]
    opened = server.visitors.open(token, Visitor("", "", "correct horse"))
    assert (opened, opened.small_groups) == (Target("run", run), False)
    assert cli.main(["link", "list", "--run", run]) == 0
    link_id, *facts = capsys.readouterr().out.rstrip("\n").split("\t")
    assert facts == [f"run {run}", "", "board", "works", "no end", "used 1 of 2", "password"]
    assert cli.main(["link", "withdraw", link_id]) == 0
    assert cli.main(["link", "withdraw", link_id]) == 2
    assert "no link that works" in capsys.readouterr().err
    assert server.links.use(token, count=False) is None


def test_all_links_to_a_run_or_of_a_person_are_withdrawn(
    server: Server, capsys: pytest.CaptureFixture[str]
) -> None:
    run = server.runs.add(make_result(), title="A run", owner="").id
    for person in ("ann@lab.example", "bob@lab.example", "bob@lab.example"):
        assert cli.main(["link", "make", run, "--person", person, "--small-groups"]) == 0
    capsys.readouterr()
    assert cli.main(["link", "withdraw", "--person", "Bob@lab.example"]) == 0
    assert cli.main(["link", "withdraw", "--run", run]) == 0
    assert capsys.readouterr().out == "withdrawn: 2\nwithdrawn: 1\n"
    entries, _ = server.audit.search()
    assert [(entry.actor, entry.action) for entry in entries] == [("command", "withdraw")] * 2 + [
        ("command", "share")
    ] * 3


@pytest.mark.parametrize("uses", ["0", "-1", "1000001"])
def test_a_number_of_visits_is_from_one_to_a_million(
    server: Server, capsys: pytest.CaptureFixture[str], uses: str
) -> None:
    assert cli.main(["link", "make", "any", "--uses", uses]) == 2
    assert "--uses takes a whole number from 1 to 1,000,000" in capsys.readouterr().err
