"""What earlier versions wrote: their databases go on here, and their back-ups are restored."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import sqlalchemy as sa
from alembic.autogenerate import compare_metadata
from alembic.migration import MigrationContext
from sqlalchemy import Engine

from grasp_core.access import EVERYONE
from grasp_core.json_values import to_json
from grasp_core.people import Identity
from grasp_core.store.answers import AnswerStore
from grasp_core.store.backup.backup import restore_backup
from grasp_core.store.database import connect
from grasp_core.store.files import FileStore
from grasp_core.store.links import LinkStore
from grasp_core.store.people.people import PeopleStore
from grasp_core.store.people.projects import ProjectStore
from grasp_core.store.readings import ReadingStore
from grasp_core.store.runs import RunRecord, RunStore
from grasp_core.store.schema import metadata
from grasp_core.store.submissions import SubmissionStore
from tests.store.both import on_both_bare
from tests.store.conftest import NewDatabase
from tests.store.earlier import before, insert
from tests.store.making import RESULT, claim, request

SAMPLES = sorted((Path(__file__).parent / "data").glob("*.db"))


@pytest.fixture(params=SAMPLES, ids=lambda path: path.stem)
def sample(request: pytest.FixtureRequest) -> Path:
    path: Path = request.param
    return path


@pytest.fixture
def upgraded(sample: Path, bare_database: NewDatabase, monkeypatch: pytest.MonkeyPatch) -> Iterator[Engine]:
    """The sample's rows, in a database that its version had made, opened by this one."""
    source = sa.create_engine(f"sqlite:///file:{sample}?mode=ro&uri=true", poolclass=sa.NullPool)
    tables = sa.MetaData()
    tables.reflect(source)
    url = bare_database()
    with source.connect() as plain:
        revision = plain.execute(sa.select(tables.tables["alembic_version"])).scalar_one()
        earlier = before(monkeypatch, url, revision)
        with earlier.begin() as connection:
            for table in tables.sorted_tables:
                for row in plain.execute(sa.select(table)).mappings():
                    if table.name != "alembic_version":
                        insert(connection, table.name, dict(row))
    earlier.dispose()
    engine = connect(url)
    yield engine
    engine.dispose()


@on_both_bare
def test_a_database_goes_on(sample: Path, upgraded: Engine) -> None:
    with upgraded.connect() as connection:
        assert compare_metadata(MigrationContext.configure(connection), metadata) == []
    done = nothing_is_lost(upgraded)
    labels = {link.label for link in LinkStore(upgraded).of_run(done.id)}
    assert labels == {"for the reviewers", *(["withdrawn"] if told(sample) else [])}
    for title, opened in what_links_open(sample, upgraded).items():
        assert opened == title
    assert AnswerStore(upgraded).find(done.id, "pairs") == answer_of(sample)
    assert what_is_waiting_goes_on(upgraded) == b"item,rater,label\n1,1,Yes\n"


def test_what_a_person_made_under_their_address_is_theirs_when_they_sign_in(
    sample: Path, upgraded: Engine
) -> None:
    owner = nothing_is_lost(upgraded).owner
    ann = PeopleStore(upgraded).sign_in(Identity("https://id.example", "4711", owner, "Ann"))
    done = nothing_is_lost(upgraded)
    assert done.owner == ann.id
    assert {link.created_by for link in LinkStore(upgraded).of_run(done.id)} == {ann.id}
    assert {row.owner for row in RunStore(upgraded).search("The question")}.isdisjoint({owner, ann.id})
    reading = ReadingStore(upgraded).recall("1" * 64, owner=ann.id)
    assert (reading is not None) == bool(told(sample))


@on_both_bare
def test_of_people_with_one_address_who_signed_in_first_holds_it(
    bare_database: NewDatabase, monkeypatch: pytest.MonkeyPatch
) -> None:
    url = bare_database()
    earlier = before(monkeypatch, url, "0018")
    people = {
        "later, still here": ("ann@lab.example", 2.0, 9.0),
        "first": ("ann@lab.example", 1.0, 3.0),
        "alone": ("bob@lab.example", 4.0, 5.0),
        "b, at once": ("carl@lab.example", 6.0, 6.0),
        "a, at once": ("carl@lab.example", 6.0, 6.0),
    }
    with earlier.begin() as connection:
        for name, (email, created, signed_in) in people.items():
            row = {"id": name, "issuer": "i", "subject": name, "name": name, "email": email}
            insert(connection, "people", {**row, "created_at": created, "signed_in_at": signed_in})
    earlier.dispose()
    upgraded = connect(url)
    held = {person.id for person in PeopleStore(upgraded).enabled() if person.holds_address}
    assert held == {"first", "alone", "a, at once"}
    upgraded.dispose()


@on_both_bare
def test_what_one_person_asked_before_may_be_asked_by_another(
    bare_database: NewDatabase, monkeypatch: pytest.MonkeyPatch
) -> None:
    url = bare_database()
    earlier = before(monkeypatch, url, "0020")
    asked = request("a")
    row = {
        **{"id": "anns", "project_id": EVERYONE, "key": asked.key, "title": "a", "owner": "ann", "note": ""},
        **{"state": "done", "created_at": 1.0, "finished_at": 2.0, "code_version": "0.1.0", "done": 1000},
        **{"spec": json.dumps(RESULT.spec.to_dict()), "summary": json.dumps(to_json(RESULT.data))},
        **{"result": json.dumps(RESULT.to_dict()), "total": 1000, "attempt": 1, "lease_until": 0.0},
        "cancel_requested": False,
    }
    with earlier.begin() as connection:
        insert(connection, "runs", row)
        insert(connection, "tags", {"run_id": "anns", "tag": "kept"})
    earlier.dispose()
    upgraded = connect(url)
    runs = RunStore(upgraded)
    assert runs.get("anns").tags == ("kept",)  # type: ignore[union-attr]
    bobs, _ = runs.create(request("a", owner="bob"))
    assert runs.result(bobs.id) == runs.result("anns") == RESULT
    upgraded.dispose()


@on_both_bare
def test_a_submission_that_stood_twice_stands_once(
    bare_database: NewDatabase, monkeypatch: pytest.MonkeyPatch
) -> None:
    url = bare_database()
    earlier = before(monkeypatch, url, "0022")
    row = {"project_id": EVERYONE, "name": "mine", "owner": "ann", "sha256": "1" * 64, "scores": "{}"}
    with earlier.begin() as connection:
        for one, at, sha256 in (
            ("late", 2.0, "1"),
            ("first", 1.0, "1"),
            ("also", 2.0, "1"),
            ("other", 3.0, "2"),
        ):
            made = {"id": one, "created_at": at, "sha256": sha256 * 64, "predictions": b""}
            insert(connection, "submissions", {**row, **made})
    earlier.dispose()
    upgraded = connect(url)
    assert [record.id for record in SubmissionStore(upgraded).all()] == ["other", "first"]
    upgraded.dispose()


@pytest.mark.parametrize("sample", [path for path in SAMPLES if path.with_suffix(".zip").exists()])
def test_a_back_up_is_restored(sample: Path, bare_database: NewDatabase) -> None:
    engine = connect(bare_database())
    contents = restore_backup(engine, sample.with_suffix(".zip"), None)
    assert (contents.runs, contents.files) == (3, 1)
    done = nothing_is_lost(engine)
    kept = LinkStore(engine).of_run(done.id)
    assert sorted(link.label for link in kept) == ["for the reviewers", "withdrawn"]
    # Nobody signed it, so anybody may have written its links.
    assert not any(link.works for link in kept)
    assert set(what_links_open(sample, engine).values()) == {None}
    assert AnswerStore(engine).find(done.id, "pairs") == answer_of(sample)
    assert what_is_waiting_goes_on(engine) == b"item,rater,label\n1,1,Yes\n"
    engine.dispose()


def told(sample: Path) -> dict[str, Any]:
    """Tokens that the version gave out, by what they open; nothing of the first."""
    path = sample.with_suffix(".json")
    return json.loads(path.read_text(encoding="utf-8")) if path.exists() else {}


def answer_of(sample: Path) -> Any:
    """What the version kept beside the result; versions before 0009 kept nothing."""
    return {"axis": [1.5, None]} if sample.stem.endswith("0009") else None


def nothing_is_lost(engine: Engine) -> RunRecord:
    """Everything is in the project of everybody; returns the run that is done."""
    assert [one.id for one in ProjectStore(engine).all()] == [EVERYONE]
    runs = RunStore(engine)
    (done,) = runs.search("The answer")
    assert (done.project, done.state, done.note, done.tags) == (EVERYONE, "done", "a note, ünïcödé", ("tag",))
    result = runs.result(done.id)
    assert result is not None
    assert [row.group.label for row in result.groups] == ["Woman"]
    if runs.search("The models"):
        assert [row.name for row in SubmissionStore(engine).all()] == ["ours"]
        assert runs.search("The models")[0].state == "done"
    return done


def what_links_open(sample: Path, engine: Engine) -> dict[str, str | None]:
    """Title of what each token opens, by that of what it opened when it was given out."""
    links, runs = LinkStore(engine), RunStore(engine)
    assert links.use(told(sample).get("withdrawn", "none")) is None
    titles: dict[str, str | None] = {}
    for title, token in told(sample).get("opens", {}).items():
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
