"""Tables and queries of real databases; tokens that people asked to have kept."""

import sqlite3
import tempfile
from pathlib import Path
from urllib.parse import urlsplit

import pyarrow.parquet as pq
import pytest
import sqlalchemy as sa
from sqlalchemy import Engine

from grasp_core.model.errors import DataError
from grasp_core.model.settings import Settings
from grasp_core.reading.connectors import sql
from grasp_core.reading.connectors.fetching import fetch
from grasp_core.reading.connectors.source import FetchJob, hosts_of, make, parse
from grasp_core.reading.sandbox.read import read_table
from grasp_core.reading.sources.allowed import Folder
from grasp_core.server.watches import Sources, TokenSeal
from grasp_core.store.people.credentials import SourceTokenStore
from grasp_core.store.schema import source_tokens
from tests.store.conftest import engine, new_database

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
        job = FetchJob(source, "", Path(folder), seconds, lambda _: None, address.removeprefix("sqlite:///"))
        found = pq.read_table(Path(folder) / sql.fetch(job)).to_pydict()
    return {name: ["" if cell is None else cell for cell in column] for name, column in found.items()}


def test_tables_come_in_the_order_of_their_key_and_queries_hold_all_letters(address: str) -> None:
    assert cells(address, table="votes") == SORTED
    asked = "-- who: %s :x\nWITH few AS (SELECT item, rater % 7 AS r FROM votes WHERE label LIKE '%0%')\n"
    assert cells(address, query=f"{asked}SELECT * FROM few;") == {"item": ["ü\n"], "r": ["1"]}


@pytest.mark.parametrize(
    ("asked", "sentence"),
    [
        ({"query": "DELETE FROM votes"}, "a query is one SELECT"),
        ({"query": "SELECT 1 AS a; DROP TABLE votes"}, "a query is one SELECT|cannot do this query"),
        ({"query": "SELECT nothing FROM votes"}, "nothing"),
        ({"query": "SELECT * FROM votes WHERE 1 = 0"}, "has no rows"),
        ({"query": "SELECT 1 AS a, 2 AS a"}, "two columns called 'a'"),
        ({"table": "vote"}, "has no table 'vote'; it has 'votes'"),
    ],
)
def test_what_is_no_question_is_refused(address: str, asked: dict[str, str], sentence: str) -> None:
    with pytest.raises(DataError, match=sentence):
        cells(address, **asked)
    assert cells(address, table="votes") == SORTED


@pytest.mark.parametrize(
    ("query", "sentence"),
    [
        ("WITH gone AS (DELETE FROM votes RETURNING *) SELECT * FROM gone", "is only read here"),
        ("SELECT set_config('transaction_read_only', 'off', false) AS a", "is only read here"),
        ("SELECT nextval('x') AS a", "x"),
        ("SELECT pg_sleep(30) AS a", "took longer than 1 s"),
        (
            "SELECT set_config('statement_timeout', '0', false) AS a, CASE n WHEN 15000 THEN pg_sleep(9) END "
            "AS b FROM generate_series(1, 20000) AS n",
            "took longer than 1 s",
        ),
    ],
)
def test_postgresql_only_reads_and_not_for_ever(server: str, query: str, sentence: str) -> None:
    with pytest.raises(DataError, match=sentence):
        cells(server, seconds=1 if "longer" in sentence else 60, query=query)
    assert cells(server, table="votes") == SORTED


def test_postgresql_that_is_not_there_or_not_for_one(server: str) -> None:
    for wrong, sentence in (
        (server.replace("/postgres", "/other"), "has no database 'other'"),
        (server.replace("grasp@", "nobody@"), "does not accept this user with this password"),
        (server.replace(str(urlsplit(server).port), "1"), "there is no connection to it"),
    ):
        with pytest.raises(DataError, match=sentence):
            cells(wrong, table="votes")


def test_sqlite_reads_nothing_else(sqlite: Path) -> None:
    delete = "WITH a AS (SELECT 1) DELETE FROM votes"
    for query in ("SELECT * FROM pragma_database_list", "SELECT load_extension('x')", delete):
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


# Tokens open nothing without the server's key
__all__ = ["engine", "new_database"]
TOKEN = "täken-that-works"
KEY = "k" * 32
SOURCE = parse("sql:postgresql://ann@db.internal/labels?table=votes")
OTHERS = [
    parse(str(SOURCE).replace(old, new))
    for old, new in (("ann@", "ben@"), ("/labels", "/others"), (".internal", ".internal:5433"))
]


def sources(engine: Engine, key: str = KEY) -> Sources:
    return Sources(SourceTokenStore(engine), Settings(secret_key=key), None)


def test_a_kept_token_is_for_one_person_and_one_server(engine: Engine) -> None:
    here = sources(engine)
    assert here.keeps
    here.keep(SOURCE, "an earlier one", owner="ann")
    here.keep(SOURCE, f" {TOKEN}\n", owner="ann")
    assert here.token(SOURCE, owner="ann") == TOKEN
    assert here.token(parse(f"{SOURCE}s"), owner="ann") == TOKEN  # another table
    assert [here.token(source, owner="ann") for source in OTHERS] == [""] * 3
    assert here.token(SOURCE, owner="ben") == ""
    kept = here.kept(SOURCE, owner="ann")
    assert kept.site == "postgresql://ann@db.internal/labels"
    assert not here.forget(SOURCE.site(), owner="ben")
    assert here.forget(SOURCE.site(), owner="ann")
    assert here.token(SOURCE, owner="ann") == ""


def test_the_database_alone_opens_nothing(engine: Engine) -> None:
    sources(engine).keep(SOURCE, TOKEN, owner="ann")
    with engine.begin() as connection:
        (sealed,) = connection.execute(sa.select(source_tokens.c.sealed)).scalars()
        assert TOKEN.encode() not in sealed
        connection.execute(source_tokens.update().values(owner="ben"))
    with pytest.raises(DataError, match="the kept token cannot be opened"):
        sources(engine).token(SOURCE, owner="ben")
    with engine.begin() as connection:
        connection.execute(source_tokens.update().values(owner="ann"))
    with pytest.raises(DataError, match="the kept token cannot be opened"):
        sources(engine, "x" * 32).token(SOURCE, owner="ann")
    with pytest.raises(DataError, match="cannot be opened"):
        TokenSeal(KEY).open(b"short", "ann", SOURCE.site())


def test_without_a_key_none_is_kept_and_with_one_none_is_sealed_the_same_way(engine: Engine) -> None:
    here = sources(engine, "")
    assert not here.keeps
    with pytest.raises(DataError, match="keeps no tokens; whoever runs it can set GRASP_SECRET_KEY"):
        here.keep(SOURCE, TOKEN, owner="ann")
    assert here.token(SOURCE, owner="ann") == ""
    box = TokenSeal(KEY)
    assert box.seal(TOKEN, "ann", "site") != box.seal(TOKEN, "ann", "site")


def test_what_can_be_fetched_depends_on_whose_machine_it_is(engine: Engine, tmp_path: Path) -> None:
    def kinds(folder: Folder | None = None, **settings: object) -> tuple[str, ...]:
        return Sources(SourceTokenStore(engine), Settings(**settings), folder).kinds

    assert "sql" in kinds()
    assert kinds(allow_anonymous=True) == ()
    assert kinds(Folder(tmp_path), allow_anonymous=True) == ("sql",)
    assert kinds(allow_anonymous=True, source_hosts=("db.internal",)) == kinds()
