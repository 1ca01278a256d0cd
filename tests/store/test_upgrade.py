"""Databases as earlier versions left them go on here, or are refused in a sentence."""

import json
from collections.abc import Iterator
from pathlib import Path

import pytest
import sqlalchemy as sa
from alembic.autogenerate import compare_metadata
from alembic.migration import MigrationContext
from alembic.operations import Operations
from sqlalchemy import Engine

from grasp_core.model.access import EVERYONE
from grasp_core.model.errors import StoreError
from grasp_core.store.database import connect
from grasp_core.store.files import FileStore
from grasp_core.store.links import LinkStore
from grasp_core.store.people.projects import ProjectStore
from grasp_core.store.runs import AnswerStore, RunRecord, RunStore
from grasp_core.store.schema import metadata, submissions
from grasp_core.store.submissions import SubmissionStore
from tests.store.both import on_both_bare
from tests.store.conftest import NewDatabase
from tests.store.making import claim

BOB = "bob@lab.example"
SAMPLE = Path(__file__).parent / "data" / "0.2.0-0025.db"
"""Written by the last state before steps began anew."""


@pytest.fixture
def upgraded(bare_database: NewDatabase) -> Iterator[Engine]:
    """The sample's tables and rows, opened by this version."""
    url = bare_database()
    source = sa.create_engine(f"sqlite:///file:{SAMPLE}?mode=ro&uri=true", poolclass=sa.NullPool)
    there = sa.create_engine(url, poolclass=sa.NullPool)
    then = sa.MetaData()
    then.reflect(source)
    with source.connect() as plain, there.begin() as connection:
        if url.drivername == "sqlite":
            for (made,) in plain.exec_driver_sql("SELECT sql FROM sqlite_master WHERE sql IS NOT NULL"):
                connection.exec_driver_sql(made)
        else:  # tables of today, without what has come and with what has gone since
            metadata.create_all(connection)
            for name in metadata.tables.keys() & then.tables.keys():
                for column in {*metadata.tables[name].columns.keys()} - {*then.tables[name].columns.keys()}:
                    connection.exec_driver_sql(f"ALTER TABLE {name} DROP COLUMN {column}")
            for column in then.tables["feeds"].columns:
                column.type = column.type.as_generic()
            then.create_all(connection, [then.tables[name] for name in ("feeds", "alembic_version")])
        for table in then.sorted_tables:
            today = metadata.tables.get(table.name, table)
            kept = [today.c[column.name] for column in table.columns]
            for row in plain.execute(sa.select(*kept)).mappings():
                connection.execute(today.insert().values(dict(row)))
    engine = connect(url)
    yield engine
    engine.dispose()


@on_both_bare
def test_a_database_goes_on(upgraded: Engine) -> None:
    with upgraded.connect() as connection:
        assert compare_metadata(MigrationContext.configure(connection), metadata) == []
    done = nothing_is_lost(upgraded)
    labels = {link.label for link in LinkStore(upgraded).of_run(done.id)}
    assert labels == {"for the reviewers", "", "withdrawn"} - {""}
    for title, opened in what_links_open(upgraded).items():
        assert opened == title
    assert AnswerStore(upgraded).find(done.id, "pairs") == {"axis": [1.5, None]}
    assert what_is_waiting_goes_on(upgraded) == b"item,rater,label\n1,1,Yes\n"


@on_both_bare
def test_submissions_that_are_alike_become_one(bare_database: NewDatabase) -> None:
    engine = connect(bare_database())
    old = "uq_submissions_project_id"
    with engine.connect() as connection:
        operations = Operations(MigrationContext.configure(connection))
        with operations.batch_alter_table("submissions") as table:
            table.drop_constraint(old, type_="unique")
            table.create_unique_constraint(old, ["project_id", "sha256", "owner", "name"])
        with operations.batch_alter_table("watches") as table:
            table.drop_column("webhook")
        with operations.batch_alter_table("files") as table:
            table.drop_column("name")
        row = {"project_id": EVERYONE, "owner": BOB, "sha256": "1" * 64, "scores": "{}", "predictions": b""}
        for number, name in enumerate(("first", "second", "third")):
            one = {"id": str(number), "name": name, "created_at": float(number != 0)}
            connection.execute(submissions.insert().values({**row, **one}))
        connection.execute(
            submissions.insert().values({**row, "id": "9", "name": "x", "owner": "", "created_at": 0.0})
        )
        connection.exec_driver_sql("UPDATE alembic_version SET version_num = '0026'")
        connection.commit()
    engine.dispose()
    engine = connect(engine.url)
    with engine.connect() as connection:
        assert compare_metadata(MigrationContext.configure(connection), metadata) == []
        kept = connection.execute(sa.select(submissions.c.name).order_by(submissions.c.name)).scalars()
        assert list(kept) == ["third", "x"]
        with pytest.raises(sa.exc.IntegrityError):
            connection.execute(
                submissions.insert().values({**row, "id": "7", "name": "fourth", "created_at": 2.0})
            )
    engine.dispose()


@on_both_bare
def test_a_new_database_has_the_tables_of_one_that_was_brought_up_to_date(bare_database: NewDatabase) -> None:
    engine = connect(bare_database())
    with engine.connect() as connection:
        assert compare_metadata(MigrationContext.configure(connection), metadata) == []
    assert [one.id for one in ProjectStore(engine).all()] == [EVERYONE]
    engine.dispose()
    connect(engine.url).dispose()  # again: nothing is to be done


@on_both_bare
@pytest.mark.parametrize(("revision", "why"), [("0024", "87d4e69"), ("9999", "newer version")])
def test_an_older_or_newer_database_is_refused(bare_database: NewDatabase, revision: str, why: str) -> None:
    url = bare_database()
    engine = connect(url)
    with engine.begin() as connection:
        connection.exec_driver_sql(f"UPDATE alembic_version SET version_num = '{revision}'")
    engine.dispose()
    with pytest.raises(StoreError, match=why):
        connect(url)


def nothing_is_lost(engine: Engine) -> RunRecord:
    """Everything is in the project of everybody; returns the run that is done."""
    assert [one.id for one in ProjectStore(engine).all()] == [EVERYONE]
    runs = RunStore(engine)
    (done,) = runs.search("The answer")
    assert (done.project, done.state, done.note, done.tags) == (EVERYONE, "done", "a note, ünïcödé", ("tag",))
    result = runs.result(done.id)
    assert [row.group.label for row in result.groups] == ["Woman"]
    assert [row.name for row in SubmissionStore(engine).all()] == ["ours"]
    assert runs.search("The models")[0].state == "done"
    return done


def what_links_open(engine: Engine) -> dict[str, str | None]:
    """Title of what each token opens, by that of what it opened when it was given out."""
    told = json.loads(SAMPLE.with_suffix(".json").read_text(encoding="utf-8"))
    links, runs = LinkStore(engine), RunStore(engine)
    assert links.use(told["withdrawn"]) is None
    titles: dict[str, str | None] = {}
    for title, token in told["opens"].items():
        target = links.use(token)
        if target is not None and target.kind == "leaderboard":
            assert links.leaderboard(target.id) is not None
            titles[title] = "The leaderboard"
        else:
            record = runs.get(target.id) if target is not None else None
            titles[title] = record.title if record is not None else None
    return titles


def what_is_waiting_goes_on(engine: Engine) -> bytes | None:
    """From the permutation at which it was left; returns the file that it reads."""
    runs = RunStore(engine)
    (waiting,) = runs.search("The question")
    claimed = claim(runs)
    assert (claimed.id, claimed.done) == (waiting.id, 3)
    ((start, block),) = runs.computed(claimed, 6)
    assert (start, block.tolist()) == (0, [[0.0, 1.0, 2.0, 3.0, 4.0, 5.0]] * 3)
    ((name, sha256),) = runs.files_of(waiting.id)
    assert name == "votes.csv"
    return FileStore(engine).get(sha256)
