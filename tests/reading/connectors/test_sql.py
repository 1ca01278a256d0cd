"""Tables and queries of real databases: what comes of them, and that nothing is changed."""

from __future__ import annotations

import sqlite3
import tempfile
from pathlib import Path
from urllib.parse import urlsplit

import pyarrow.parquet as pq
import pytest

from grasp_core.model.errors import DataError
from grasp_core.reading.connectors import sql
from grasp_core.reading.connectors.fetching import fetch
from grasp_core.reading.connectors.hosts import hosts_of
from grasp_core.reading.connectors.source import Job, make
from grasp_core.reading.sandbox.read import read_table
from grasp_core.reading.sources.folder import Folder

SORTED = {
    "item": ["a", "a", "b", "ü\n"],
    "rater": ["2", "10", "1", "1"],
    "label": ["No", "", "Yes", "100%"],
    "seconds": ["0.5", "1.25", "", ""],
}


@pytest.fixture(params=["sqlite", "server"])
def address(request: pytest.FixtureRequest) -> str:
    found = request.getfixturevalue(request.param)
    return f"sqlite:///{found}" if isinstance(found, Path) else found


def cells(address: str, seconds: float = 60, **option: str) -> dict[str, list[str]]:
    source = make("sql", address, option)
    with tempfile.TemporaryDirectory() as folder:
        job = Job(source, "", Path(folder), seconds, lambda _: None, address.removeprefix("sqlite:///"))
        found = pq.read_table(Path(folder) / sql.fetch(job))
    return {
        name: ["" if cell is None else cell for cell in found[name].to_pylist()]
        for name in found.column_names
    }


def test_a_table_comes_in_the_order_of_its_key(address: str) -> None:
    assert cells(address, table="votes") == SORTED


def test_a_query_may_hold_all_that_python_reads_otherwise(address: str) -> None:
    asked = "-- who: %s :x\nWITH few AS (SELECT item, rater % 7 AS r FROM votes WHERE label LIKE '%0%')\n"
    assert cells(address, query=f"{asked}SELECT * FROM few;") == {"item": ["ü\n"], "r": ["1"]}


@pytest.mark.parametrize(
    ("query", "sentence"),
    [
        ("DELETE FROM votes", "a query is one SELECT"),
        ("SELECT 1 AS a; DROP TABLE votes", "a query is one SELECT|cannot do this query"),
        ("SELECT nothing FROM votes", "nothing"),
        ("SELECT * FROM votes WHERE 1 = 0", "has no rows"),
        ("SELECT 1 AS a, 2 AS a", "two columns called 'a'"),
    ],
)
def test_what_is_no_question_is_refused(address: str, query: str, sentence: str) -> None:
    with pytest.raises(DataError, match=sentence):
        cells(address, query=query)
    assert cells(address, table="votes") == SORTED


def test_a_table_that_is_not_there(address: str) -> None:
    with pytest.raises(DataError, match="has no table 'vote'; it has 'votes'"):
        cells(address, table="vote")


@pytest.mark.parametrize(
    ("query", "sentence"),
    [
        ("WITH gone AS (DELETE FROM votes RETURNING *) SELECT * FROM gone", "is only read here"),
        ("SELECT set_config('transaction_read_only', 'off', false) AS a", "is only read here"),
        ("SELECT nextval('x') AS a", "x"),
        ("SELECT pg_sleep(30) AS a", "took longer than 3 s"),
        (
            "SELECT set_config('statement_timeout', '0', false) AS a, CASE n WHEN 15000 THEN pg_sleep(9) END "
            "AS b FROM generate_series(1, 20000) AS n",
            "took longer than 3 s",
        ),
    ],
)
def test_postgresql_only_reads_and_not_for_ever(server: str, query: str, sentence: str) -> None:
    with pytest.raises(DataError, match=sentence):
        cells(server, seconds=3, query=query)
    assert cells(server, table="votes") == SORTED


def test_postgresql_that_is_not_there_or_not_for_one(server: str) -> None:
    for wrong, sentence in (
        (server.replace("/postgres", "/other"), "has no database 'other'"),
        (server.replace("grasp@", "nobody@"), "does not accept this user with this password"),
        (server.replace(str(urlsplit(server).port), "1"), "there is no connection to it"),
    ):
        with pytest.raises(DataError, match=sentence):
            cells(wrong, table="votes")


@pytest.mark.parametrize(
    "query",
    [
        "SELECT * FROM pragma_database_list",
        "SELECT load_extension('x')",
        "WITH a AS (SELECT 1) DELETE FROM votes",
    ],
)
def test_sqlite_reads_nothing_else(sqlite: Path, query: str) -> None:
    with pytest.raises(DataError, match="a query is one SELECT"):
        cells(f"sqlite:///{sqlite}", query=query)


def test_a_servers_databases_are_those_of_its_folder(sqlite: Path, tmp_path: Path) -> None:
    hosts, folder = hosts_of([], own_machine=False), Folder(sqlite.parent)
    inside = make("sql", f"sqlite:///{sqlite.name}", {"table": "votes"})
    snapshot = fetch(inside, hosts=hosts, folder=folder)
    assert len(read_table(snapshot.content, snapshot.name)) == 4
    (tmp_path / "other.db").write_bytes(sqlite.read_bytes())
    (sqlite.parent / "link.db").symlink_to(tmp_path / "other.db")
    for path in (f"/{sqlite}", f"../{tmp_path.name}/other.db", "link.db", "nowhere.db"):
        source = make("sql", f"sqlite:///{path}", {"table": "votes"})
        with pytest.raises(DataError, match="folder"):
            fetch(source, hosts=hosts, folder=folder)
    with pytest.raises(DataError, match=r"GRASP_DATA_DIR\); it has none"):
        fetch(inside, hosts=hosts)


def test_a_file_that_is_no_database(tmp_path: Path) -> None:
    (tmp_path / "text.db").write_text("item,rater,label\n" * 100, "utf-8")
    with pytest.raises(DataError, match="is no SQLite database that can be opened"):
        cells(f"sqlite:///{tmp_path}/text.db", table="votes")
    connection = sqlite3.connect(tmp_path / "empty.db")
    connection.execute("CREATE TABLE votes (item TEXT)")
    connection.close()
    with pytest.raises(DataError, match="table 'votes' has no rows"):
        cells(f"sqlite:///{tmp_path}/empty.db", table="votes")
