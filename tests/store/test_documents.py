"""Documents on both databases: kept once per person, renamed, and deleted with their links."""

from __future__ import annotations

import hashlib
import json
from concurrent.futures import ThreadPoolExecutor

import alembic.command
import pytest
import sqlalchemy as sa
from alembic.autogenerate import compare_metadata
from alembic.migration import MigrationContext
from sqlalchemy import Engine

from grasp_core.store.database import connect
from grasp_core.store.documents import DocumentStore
from grasp_core.store.links import LinkStore, Target
from grasp_core.store.runs import RunStore
from grasp_core.store.schema import documents, links, metadata
from tests.documents import BOARD, MODELS, make_models
from tests.store.conftest import NewDatabase
from tests.store.making import HOSTILE, RESULT, change, column

HOUR, DAY = 3600, 86400


@pytest.fixture
def store(engine: Engine) -> DocumentStore:
    return DocumentStore(engine)


@pytest.mark.parametrize("text", [*HOSTILE, "\x00", "\ud800"])
def test_a_document_is_kept_whole(store: DocumentStore, text: str) -> None:
    content = make_models((text,)).to_dict()
    kept = store.keep("models", content, title=text, owner=text)
    assert store.get(kept.id) == kept
    assert store.content(kept.id) == content
    assert kept.sha256 == hashlib.sha256(json.dumps(content).encode()).hexdigest()
    assert kept.title == text or "\ufffd" in kept.title
    assert store.keep("models", content, title="again", owner=text) == kept


def test_a_person_has_a_content_once(engine: Engine, store: DocumentStore) -> None:
    with ThreadPoolExecutor(6) as pool:
        found = list(pool.map(lambda n: store.keep("models", MODELS, title=f"{n}", owner="ann"), range(12)))
    assert len(set(found)) == 1
    theirs = store.keep("models", MODELS, title="bob's", owner="bob")
    store.delete(found[0].id)
    assert store.all("models") == [theirs]
    assert column(engine, documents, "sha256") == [theirs.sha256]


def test_the_newest_of_a_kind_comes_first(engine: Engine, store: DocumentStore) -> None:
    first = store.keep("models", MODELS, title="first", owner="ann")
    change(engine, documents, created_at=documents.c.created_at - DAY)
    second = store.keep("models", make_models(("x",)).to_dict(), title="second", owner="ann")
    board = store.keep("leaderboard", BOARD, title="Leaderboard", owner="ann")
    assert [record.id for record in store.all("models")] == [second.id, first.id]
    assert [record.id for record in store.all("leaderboard")] == [board.id]


def test_renaming_changes_the_title_alone(store: DocumentStore) -> None:
    kept = store.keep("models", MODELS, title="first", owner="ann")
    store.rename(kept.id, "second")
    renamed = store.get(kept.id)
    assert renamed is not None
    assert (renamed.title, renamed.sha256, renamed.created_at) == ("second", kept.sha256, kept.created_at)


@pytest.mark.parametrize("document_id", [*HOSTILE, "\x00", "\ud800", "' OR 1=1 --"])
def test_other_ids_find_nothing(store: DocumentStore, document_id: str) -> None:
    kept = store.keep("models", MODELS, title="mine", owner="ann")
    store.rename(document_id, "theirs")
    store.delete(document_id)
    assert store.get(document_id) is store.content(document_id) is None
    assert store.all("models") == [kept]


def test_what_is_past_its_age_goes_with_its_links(engine: Engine, store: DocumentStore) -> None:
    old = store.keep("models", MODELS, title="old", owner="ann")
    token = LinkStore(engine).create(Target("document", old.id), created_by="ann")
    change(engine, documents, created_at=documents.c.created_at - 3 * DAY)
    new = store.keep("leaderboard", BOARD, title="new", owner="ann")
    assert store.delete_older_than(2) == 1
    assert store.get(old.id) is None
    assert store.get(new.id) == new
    assert LinkStore(engine).use(token) is None
    assert column(engine, links, "id") == []


def test_leaderboards_go_when_no_link_opens_them(engine: Engine, store: DocumentStore) -> None:
    made = LinkStore(engine)
    kept = {
        name: store.keep("leaderboard", {**BOARD, "tasks": [name]}, title=name, owner="ann").id
        for name in ("open", "limited", "revoked", "expired", "none", "new")
    }
    answer = store.keep("models", MODELS, title="an answer", owner="ann").id
    for name, days in (("open", None), ("limited", 1), ("revoked", None), ("expired", -1)):
        made.create(Target("document", kept[name]), created_by="ann", days=days)
    made.revoke(made.of_documents([kept["revoked"]])[0].id)
    with engine.begin() as connection:
        connection.execute(
            documents.update()
            .where(documents.c.id != kept["new"])
            .values(created_at=documents.c.created_at - 3 * HOUR)
        )
    assert store.delete_closed(older_than_hours=2) == 3
    assert {record.title for record in store.all("leaderboard")} == {"open", "limited", "new"}
    assert [record.id for record in store.all("models")] == [answer]


# The migration


def test_links_of_before_open_their_runs(monkeypatch: pytest.MonkeyPatch, new_database: NewDatabase) -> None:
    """A database of 0004 with runs and links in it: nothing is lost, and the rules of 0005 hold."""
    url = new_database()
    engine = before(monkeypatch, url)
    with engine.begin() as connection:
        run = dict.fromkeys(("title", "owner", "note", "spec", "summary", "code_version"), "x")
        run |= {"created_at": 1.0, "done": 0, "total": 1, "cancel_requested": False, "attempt": 0}
        run |= {"state": "failed", "lease_until": 0.0}
        for place in range(3):
            insert(connection, "runs", {**run, "id": f"run {place}", "key": f"{place}"})
            link = {"id": f"link {place}", "run_id": f"run {place}", "token_sha256": digest(f"{place}")}
            link |= {"label": "ünïcödé", "created_by": "ann", "created_at": 2.0, "uses": place}
            insert(connection, "links", link)
        earlier = connection.exec_driver_sql("SELECT * FROM links ORDER BY id").mappings().all()
    engine.dispose()
    engine = connect(url)
    with engine.connect() as connection:
        assert compare_metadata(MigrationContext.configure(connection), metadata) == []
        now = connection.execute(sa.select(links).order_by(links.c.id)).mappings().all()
    assert [dict(row) for row in now] == [{**row, "document_id": None} for row in earlier]
    store = LinkStore(engine)
    assert [store.use(f"{place}") for place in range(3)] == [
        Target("run", f"run {place}") for place in range(3)
    ]
    with pytest.raises(sa.exc.IntegrityError):
        change(engine, links, run_id=None)
    with pytest.raises(sa.exc.IntegrityError):
        change(engine, links, token_sha256="the same")
    RunStore(engine).delete("run 1")
    assert column(engine, links, "run_id") == ["run 0", "run 2"]
    kept = DocumentStore(engine).keep("leaderboard", BOARD, title="new", owner="ann")
    token = store.create(Target("document", kept.id), created_by="ann")
    assert store.use(token) == Target("document", kept.id)
    added = RunStore(engine).add(RESULT, title="new", owner="ann")
    assert store.use(store.create(Target("run", added.id), created_by="ann")) == Target("run", added.id)
    engine.dispose()


def before(monkeypatch: pytest.MonkeyPatch, url: sa.URL) -> Engine:
    """An empty database as migration 0004 left it."""
    upgrade = alembic.command.upgrade
    with monkeypatch.context() as patched:
        patched.setattr(alembic.command, "upgrade", lambda config, _: upgrade(config, "0004"))
        engine = connect(url)
    assert "documents" not in sa.inspect(engine).get_table_names()
    return engine


def insert(connection: sa.Connection, table: str, row: dict[str, object]) -> None:
    connection.execute(sa.table(table, *map(sa.column, row)).insert().values(row))


def digest(token: str) -> str:
    return hashlib.sha256(token.encode()).hexdigest()
