"""Migrations of links and of what was kept beside runs, on both databases."""

from __future__ import annotations

import hashlib
import json

import pytest
import sqlalchemy as sa
from alembic.autogenerate import compare_metadata
from alembic.migration import MigrationContext

from grasp_core.access import EVERYONE
from grasp_core.store.database import connect
from grasp_core.store.links import LinkStore, Target
from grasp_core.store.runs import RunStore
from grasp_core.store.schema import links, metadata
from tests.made_up import BOARD, make_models
from tests.store.both import on_both_bare
from tests.store.conftest import NewDatabase
from tests.store.earlier import before, insert
from tests.store.making import HOSTILE, RESULT, change, column

RUN = {
    **dict.fromkeys(("title", "owner", "note", "spec", "summary", "code_version"), "x"),
    **{"created_at": 1.0, "done": 0, "total": 1, "cancel_requested": False, "attempt": 0},
    **{"state": "failed", "lease_until": 0.0},
}
SINCE = ("leaderboard", "password", "max_uses", "small_groups")
"""Columns that links have got since."""


def test_links_of_before_open_their_runs(monkeypatch: pytest.MonkeyPatch, bare_database: NewDatabase) -> None:
    """A database of 0004 with runs and links in it: nothing is lost, and links open one thing each."""
    url = bare_database()
    engine = before(monkeypatch, url, "0004")
    with engine.begin() as connection:
        for place in range(3):
            insert(connection, "runs", {**RUN, "id": f"run {place}", "key": f"{place}"})
            link = {"id": f"link {place}", "run_id": f"run {place}", "token_sha256": digest(f"{place}")}
            link |= {"label": "ünïcödé", "created_by": "ann", "created_at": 2.0, "uses": place}
            insert(connection, "links", link)
        earlier = connection.exec_driver_sql("SELECT * FROM links ORDER BY id").mappings().all()
    engine.dispose()
    engine = connect(url)
    with engine.connect() as connection:
        assert compare_metadata(MigrationContext.configure(connection), metadata) == []
        now = connection.execute(sa.select(links).order_by(links.c.id)).mappings().all()
    assert [dict(row) for row in now] == [
        {**row, **dict.fromkeys(SINCE), "project_id": EVERYONE} for row in earlier
    ]
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
    board = store.use(store.create_leaderboard(BOARD, created_by="ann"))
    assert board is not None
    assert board.kind == "leaderboard"
    added = RunStore(engine).add(RESULT, title="new", owner="ann")
    assert store.use(store.create(added.id, created_by="ann")) == Target("run", added.id)
    engine.dispose()


@on_both_bare
def test_documents_of_before_are_runs(monkeypatch: pytest.MonkeyPatch, bare_database: NewDatabase) -> None:
    """A database of 0006: answers are runs of the same id, and the same links open them and leaderboards."""
    url = bare_database()
    engine = before(monkeypatch, url, "0006")
    results = {f"answer {place}": make_models((text,)) for place, text in enumerate(HOSTILE)}
    with engine.begin() as connection:
        insert(connection, "runs", {**RUN, "id": "run", "key": "k"})
        insert(connection, "links", link("run", run_id="run"))
        for number, (answer, result) in enumerate(results.items()):
            insert(connection, "documents", document("models", answer, before_runs(result.to_dict()), number))
            insert(connection, "links", link(answer, document_id=answer))
        insert(connection, "documents", document("leaderboard", "board", BOARD, 99))
        insert(connection, "documents", document("leaderboard", "unseen", {**BOARD, "tasks": []}, 100))
        for name in ("board", "again"):
            insert(connection, "links", link(name, document_id="board"))
    engine.dispose()
    engine = connect(url)
    store, runs = LinkStore(engine), RunStore(engine)
    with engine.connect() as connection:
        assert compare_metadata(MigrationContext.configure(connection), metadata) == []
    assert store.use("run") == Target("run", "run")
    for number, (answer, result) in enumerate(results.items()):
        assert store.use(answer) == Target("run", answer)
        record, found = runs.get(answer), runs.result(answer)
        assert record is not None
        assert found is not None
        assert (record.title, record.owner, record.state) == (f"A {answer}", "ann", "done")
        assert (record.created_at, record.finished_at, record.duration_s) == (number, number, None)
        assert (record.spec, record.summary) == (result.spec, result.data)
        assert found.to_dict() == {**result.to_dict(), "timing": found.to_dict()["timing"]}
    assert {found.target.id for found in store.of_leaderboards()} == {"link of board", "link of again"}
    for name in ("board", "again"):
        kept = store.leaderboard(f"link of {name}")
        assert kept is not None
        assert kept.content == BOARD
        assert store.use(name) == Target("leaderboard", f"link of {name}")
    assert len(column(engine, links, "id")) == len(results) + 3
    engine.dispose()


def before_runs(content: dict) -> dict:
    """As it was written then: without times, and without the models in the spec."""
    spec = {name: value for name, value in content["spec"].items() if name != "models"}
    return {name: value for name, value in content.items() if name != "timing"} | {"spec": spec}


def document(kind: str, document_id: str, content: dict, created_at: float) -> dict[str, object]:
    row = {"id": document_id, "kind": kind, "title": f"A {document_id}", "owner": "ann"}
    return {**row, "created_at": created_at, "sha256": digest(document_id), "content": json.dumps(content)}


def link(name: str, **opens: str) -> dict[str, object]:
    row = {"id": f"link of {name}", "token_sha256": digest(name), "label": "", "created_by": "ann"}
    return {**row, "created_at": 2.0, "uses": 0, **opens}


def digest(token: str) -> str:
    return hashlib.sha256(token.encode()).hexdigest()
