"""Requests and texts for the store's tests."""

import hashlib
from typing import Any

import sqlalchemy as sa
from sqlalchemy import Engine

from grasp_core.model.access import Identity
from grasp_core.model.result import RunResult
from grasp_core.store.runs import Request, RunRecord, RunStore
from grasp_core.store.schema import metadata
from tests.results import make_group, make_outcome, make_result

RESULT: RunResult = make_result((make_group("Woman", irr=make_outcome(0.2, "up")),), permutations=1000)

HOSTILE = [
    "<script>alert(1)</script>",
    "'; DROP TABLE runs; --",
    '"quoted" \\ and %s %(name)s {0} :name ?',
    "line\nbreak\ttab\r",
    "\u202eright to left\u202c \u200b",
    "🦖 ünïcödé 中文",
    "=cmd|' /C calc'!A0",
    "x" * 10_000,
    "",
]


def request(question: str = "a question", **changes: Any) -> Request:
    values = {
        "key": hashlib.sha256(question.encode()).hexdigest(),
        "title": question,
        "owner": "ann",
        "code_version": "0.1.0",
        "spec": RESULT.spec,
        "summary": RESULT.data,
        "files": (("votes.csv", "1" * 64), ("raters.csv", "2" * 64)),
    }
    return Request(**{**values, **changes})


def claims(identity: Identity, visit: str = "1") -> dict[str, object]:
    """As an identity provider tells who signs in; a visit is one session."""
    told = {"iss": identity.issuer, "sub": identity.subject, "email": identity.email, "nonce": visit}
    return {**told, "name": identity.name, "email_verified": True}


def create(runs: RunStore, question: str = "a question", **changes: Any) -> RunRecord:
    record, known = runs.create(request(question, **changes))
    assert not known
    return record


def claim(runs: RunStore) -> RunRecord:
    claimed = runs.claim()
    assert claimed is not None
    return claimed


def everything(engine: Engine) -> dict[str, list[dict[str, Any]]]:
    """All rows of all tables, by the tables' names."""
    with engine.connect() as connection:
        return {
            table.name: [
                dict(row)
                for row in connection.execute(sa.select(table).order_by(*table.primary_key)).mappings()
            ]
            for table in metadata.sorted_tables
        }


def column(engine: Engine, table: sa.Table, name: str) -> list[Any]:
    with engine.connect() as connection:
        return list(connection.execute(sa.select(table.c[name])).scalars())


def change(engine: Engine, table: sa.Table, *where: sa.ColumnElement[bool], **values: Any) -> None:
    """As time or another version would have it: change every row, or those of which this holds."""
    with engine.begin() as connection:
        connection.execute(table.update().where(*where).values(**values))
