"""One person's data: found in every table, taken away, handed over or deleted, on both databases."""

import dataclasses
import io
import json
import re
import zipfile

import pytest
from sqlalchemy import Engine

from grasp_core.model.access import EVERYONE, Identity, only
from grasp_core.model.errors import AccessError, LimitError
from grasp_core.model.settings import Settings
from grasp_core.server.accounts import Accounts
from grasp_core.store.api_calls import CallOutcome, OutcomeStore, WebhookStore
from grasp_core.store.files import FileStore
from grasp_core.store.links import LinkStore
from grasp_core.store.people.audit import AuditStore
from grasp_core.store.people.credentials import SourceTokenStore, TokenStore
from grasp_core.store.people.people import IN_PROJECTS, IN_THE_LOG, MEMBER, THEIR_OWN
from grasp_core.store.people.projects import Member, ProjectStore
from grasp_core.store.readings import Draft, DraftFile, DraftStore, ReadingStore
from grasp_core.store.runs import RunStore
from grasp_core.store.schema import metadata, people
from grasp_core.store.submissions import SubmissionStore
from grasp_core.store.watches import Origin, WatchStore
from tests.made_up import BOARD
from tests.store.both import on_both
from tests.store.making import RESULT, claims, everything, request

ANN = Identity("https://id.example", "subject-of-ann", "ann@lab.example", "Ann Onymous")
BOB = Identity("https://id.example", "subject-of-bob", "bob@lab.example", "Bob")
ADDRESS = ANN.email
OF_PEOPLE = re.compile(
    r"owner|person|people|created_by|actor|author|user|member|mail|address|subject|withdrawn_by"
)
LISTED = {*IN_PROJECTS, *THEIR_OWN, *IN_THE_LOG, MEMBER}


@pytest.fixture
def accounts(engine: Engine) -> Accounts:
    return Accounts(Settings(admins=("root@lab.example",)), engine)


@pytest.fixture
def ann(accounts: Accounts) -> str:
    return accounts.sign_in(claims(ANN), browser="Ann's browser").id


@pytest.fixture
def bob(accounts: Accounts) -> str:
    return accounts.sign_in(claims(BOB)).id


def fill(engine: Engine, owner: str, other: str) -> str:
    """One of everything that can name somebody, in Everyone and in a project that only they own."""
    projects = ProjectStore(engine)
    led = projects.create("Theirs", owner=Member("person", owner, "owner")).id
    projects.admit(led, Member("person", other, "analyst"))
    shared = projects.create("Another's", owner=Member("person", other, "owner")).id
    projects.admit(shared, Member("address", ADDRESS, "viewer"))
    projects.admit(shared, Member("domain", "lab.example", "viewer"))
    projects.choose(owner, led)
    runs, links = RunStore(engine), LinkStore(engine)
    for reach in (only(EVERYONE), only(led)):
        mine = runs.within(reach).add(RESULT, title="mine", owner=owner)
        FileStore(engine).within(reach).put(b"mine", owner=owner)
        ReadingStore(engine).within(reach).remember("1" * 64, RESULT.spec.data, ("gender",), owner=owner)
        SubmissionStore(engine).within(reach).add("mine", {"t": {"1": "a"}}, {"overall": 1}, owner=owner)
        links.within(reach).create(mine.id, created_by=owner)
        watches = WatchStore(engine).within(reach)
        origin = Origin("annotations", "data:votes.csv")
        watches.add(mine.id, (origin,), owner=owner, title="mine", every="daily")
    theirs = runs.add(RESULT, title="theirs", owner=other)
    links.create(theirs.id, created_by=owner)
    links.create_leaderboard(BOARD, created_by=owner)
    DraftStore(engine).save(Draft(DraftFile("mine.csv", "5" * 64, None), None, None), owner=owner)
    SubmissionStore(engine).reserve({"t": {"1": "a"}}, owner=owner)
    TokenStore(engine).create(owner=owner, name="nightly", scope="read", days=1)
    SourceTokenStore(engine).keep(b"sealed", owner=owner, site="https://labels.example")
    OutcomeStore(engine).begin("k", "r", owner=owner)
    OutcomeStore(engine).end("k", CallOutcome(200, '{"answer": 1}'))
    WebhookStore(engine).add(theirs.id, "https://hooks.example/", owner=owner)
    WebhookStore(engine).roll_key(owner)
    AuditStore(engine).record(owner, "run", "run", theirs.id)
    return led


def naming(engine: Engine, *words: str) -> set[str]:
    """Tables that hold one of the words, in whatever column."""
    return {
        name
        for name, rows in everything(engine).items()
        if any(word in str(value) for row in rows for value in row.values() for word in words)
    }


def test_every_column_that_names_people_is_listed() -> None:
    suspects = {
        column
        for table in metadata.sorted_tables
        for column in table.columns
        if OF_PEOPLE.search(column.name) and table is not people
    }
    assert {f"{column.table.name}.{column.name}" for column in suspects - LISTED} == set()


@on_both
def test_each_listed_column_names_somebody_and_nobody_after_they_are_erased(
    engine: Engine, accounts: Accounts, ann: str, bob: str
) -> None:
    fill(engine, ann, bob)
    for trace in (*IN_PROJECTS, *THEIR_OWN):
        assert trace.table.name in naming(engine, ann), f"{trace} is not tried here"
    accounts.erase(ann, by=None, confirm=" Ann@lab.example", heir=None)
    assert naming(engine, ANN.email, ANN.subject, ANN.name) == set()
    assert naming(engine, ann) == {"audit"}
    assert accounts.audit.check() >= 3
    left = everything(engine)
    assert [row["owner"] for row in left["runs"]] == [bob]
    assert left["files"] == left["chunks"] == left["readings"] == left["submissions"] == left["watches"] == []
    assert {row["name"] for row in left["projects"]} == {"Everyone", "Theirs", "Another's"}
    assert accounts.user(claims(ANN)) is None


def test_what_is_handed_over_is_anothers_with_its_links_and_projects(engine, accounts, ann, bob) -> None:
    led = fill(engine, ann, bob)
    accounts.erase(ann, by=None, confirm=ADDRESS, heir=bob)
    assert naming(engine, ann) == {"audit"}
    left = everything(engine)
    assert {row["owner"] for table in ("runs", "files", "submissions", "watches") for row in left[table]} == {
        bob
    }
    assert (len(left["runs"]), len(left["links"]), len(left["files"])) == (3, 4, 2)
    assert {row["created_by"] for row in left["links"]} == {bob}
    assert Member("person", bob, "owner") in ProjectStore(engine).members(led)
    assert left["tokens"] == left["webhooks"] == left["outcomes"] == left["scorings"] == []


def test_a_run_that_two_asked_is_handed_over_beside_the_heirs_own(engine, accounts, ann, bob) -> None:
    runs = RunStore(engine)
    asked = {runs.create(request("a", owner=one))[0].id for one in (ann, ADDRESS, bob)}
    accounts.erase(ann, by=None, confirm=ADDRESS, heir=bob)
    assert {run.id for run in runs.search(owner=bob)} == asked
    assert runs.answering(request("a").key, bob) is not None


def test_a_project_of_nobody_with_nothing_in_it_goes_too(engine, accounts: Accounts, ann: str) -> None:
    projects = ProjectStore(engine)
    projects.create("Empty", owner=Member("person", ann, "owner"))
    full = projects.create("Full", owner=Member("person", ann, "owner"))
    RunStore(engine).within(only(full.id)).add(RESULT, title="left behind", owner="gone")
    accounts.erase(ann, by=None, confirm=ADDRESS, heir=None)
    assert [one.name for one in projects.all()] == ["Everyone", "Full"]


def test_all_of_it_is_taken_away_as_json_without_keys(engine, accounts: Accounts, ann: str, bob: str) -> None:
    fill(engine, ann, bob)
    file = io.BytesIO()
    accounts.take_away(ann, file, by=None)
    with zipfile.ZipFile(file) as archive:
        found = {name: json.loads(archive.read(name)) for name in archive.namelist()}
    assert {name.removesuffix(".json") for name in found} == naming(engine, ann, ADDRESS) | {"people"}
    assert [one["email"] for one in found["people.json"]] == [ADDRESS]
    assert {run["title"] for run in found["runs.json"]} == {"mine"}
    assert found["runs.json"][0]["result"]["format"]
    assert found["submissions.json"][0]["predictions"] == {"t": {"1": "a"}}
    assert {row["kind"] for row in found["project_members.json"]} == {"person", "address"}
    whole = json.dumps(found)
    keys = [row["token_sha256"] for name in ("tokens", "links") for row in everything(engine)[name]]
    assert keys
    assert not [key for key in keys if key in whole]
    assert accounts.audit.search(action="export")[0][0].object_id == ann


def test_two_people_of_one_address_are_kept_apart(engine, accounts: Accounts, ann: str, bob: str) -> None:
    fill(engine, ann, bob)
    for subject in ("another provider's Ann", "one more"):
        accounts.sign_in(claims(dataclasses.replace(ANN, subject=subject)))
    second, third = (one.id for one in accounts.people.search(ADDRESS)[0] if one.id != ann)
    accounts.erase(second, by=None, confirm=ADDRESS, heir=None)
    assert "project_members" in naming(engine, ADDRESS), "a membership by address is of who holds it"
    accounts.erase(ann, by=None, confirm=ADDRESS, heir=None)
    assert naming(engine, ADDRESS) == {"people"}, "and goes with them"
    assert [one.id for one in accounts.people.search(ADDRESS)[0]] == [third]


def test_who_may_not_and_what_is_not_confirmed_is_refused(engine, accounts, ann, bob) -> None:
    fill(engine, ann, bob)
    before = everything(engine)
    user = accounts.acting(bob)
    root = accounts.sign_in({**claims(BOB), "sub": "root", "email": "root@lab.example"})
    for by, confirm, heir, why in (
        (user, ADDRESS, None, "Only an admin"),
        (None, "bob@lab.example", None, "not the person's mail address"),
        (None, "", None, "not the person's mail address"),
        (None, ADDRESS, "nobody", "somebody else"),
        (None, ADDRESS, ann, "somebody else"),
    ):
        with pytest.raises((AccessError, LimitError), match=why):
            accounts.erase(ann, by=by, confirm=confirm, heir=heir)
    with pytest.raises(AccessError, match="GRASP_ADMINS"):
        accounts.erase(root.id, by=root, confirm=root.email, heir=None)
    with pytest.raises(LimitError, match="only admin"):
        accounts.erase(root.id, by=None, confirm=root.email, heir=None)
    with pytest.raises(AccessError, match="nobody of that id"):
        accounts.erase("gone", by=None, confirm="", heir=None)
    with pytest.raises(AccessError, match="Only an admin"):
        accounts.take_away(ann, io.BytesIO(), by=user)
    left = everything(engine)
    of_root = {"people", "addresses", "sessions", "audit", "audit_heads"}
    assert {name: rows for name, rows in left.items() if name not in of_root} == {
        name: rows for name, rows in before.items() if name not in of_root
    }
    assert accounts.acting(ann) is not None


def test_only_who_belongs_everywhere_takes_over(engine, accounts: Accounts, ann: str, bob: str) -> None:
    ProjectStore(engine).create("Secret", owner=Member("person", ann, "owner"))
    with pytest.raises(AccessError, match="no analyst or owner of 'Secret'; make them one first"):
        accounts.erase(ann, by=None, confirm=ADDRESS, heir=bob)
    accounts.set_role(bob, "admin", by=None)
    accounts.erase(ann, by=None, confirm=ADDRESS, heir=bob)
    assert accounts.people.get(ann) is None
