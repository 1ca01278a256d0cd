"""Tokens that people asked to have kept: what the database has opens nothing without the server's key."""

from __future__ import annotations

from pathlib import Path

import pytest
import sqlalchemy as sa
from sqlalchemy import Engine

from grasp_core.model.errors import DataError
from grasp_core.model.settings import Settings
from grasp_core.reading.connectors.fetching import Box
from grasp_core.reading.connectors.source import parse
from grasp_core.server.sources import Sources
from grasp_core.store.people.tokens import SourceTokenStore
from grasp_core.store.schema import source_tokens
from tests.store.conftest import engine, new_database

__all__ = ["engine", "new_database"]

TOKEN = "täken-that-works"
KEY = "k" * 32
SOURCE = parse("sql:postgresql://ann@db.internal/labels?table=votes")
OTHERS = (
    parse("sql:postgresql://ben@db.internal/labels?table=votes"),
    parse("sql:postgresql://ann@db.internal/others?table=votes"),
    parse("sql:postgresql://ann@db.internal:5433/labels?table=votes"),
)


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
    assert kept is not None
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
        Box(KEY).open(b"short", "ann", SOURCE.site())


def test_without_a_key_none_is_kept(engine: Engine) -> None:
    here = sources(engine, "")
    assert not here.keeps
    with pytest.raises(DataError, match="keeps no tokens; whoever runs it can set GRASP_SECRET_KEY"):
        here.keep(SOURCE, TOKEN, owner="ann")
    assert here.token(SOURCE, owner="ann") == ""


def test_the_same_token_is_never_sealed_the_same_way() -> None:
    box = Box(KEY)
    assert box.seal(TOKEN, "ann", "site") != box.seal(TOKEN, "ann", "site")


def test_what_can_be_fetched_depends_on_whose_machine_it_is(engine: Engine, tmp_path: Path) -> None:
    from grasp_core.reading.sources.folder import Folder

    store = SourceTokenStore(engine)
    own = Sources(store, Settings(), None)
    anybodys = Settings(allow_anonymous=True)
    assert "sql" in own.kinds
    assert Sources(store, anybodys, None).kinds == ()
    assert Sources(store, anybodys, Folder(tmp_path)).kinds == ("sql",)
    named = Settings(allow_anonymous=True, source_hosts=("db.internal",))
    assert Sources(store, named, None).kinds == own.kinds
