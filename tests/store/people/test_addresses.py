"""Who holds a mail address has what settings and projects give to it; on both databases."""

import dataclasses
from concurrent.futures import ThreadPoolExecutor

import pytest
from sqlalchemy import Engine

from grasp_core.model.access import Identity, User
from grasp_core.model.errors import AccessError, LimitError
from grasp_core.model.settings import Settings
from grasp_core.server.accounts import Accounts
from grasp_core.store.people.people import PeopleStore
from grasp_core.store.people.projects import Member
from tests.store import making
from tests.store.both import on_both

ROOT, ANN = "root@lab.example", "ann@lab.example"
SETTINGS = Settings(admins=(ROOT,), analysts=(ANN,), allowed_domains=("lab.example",))


def claims(subject: str, email: str = ANN, issuer: str = "https://id.example") -> dict[str, object]:
    return making.claims(Identity(issuer, subject, email, subject), visit=subject)


@pytest.fixture
def accounts(engine: Engine) -> Accounts:
    return Accounts(SETTINGS, engine)


@pytest.fixture
def root(accounts: Accounts) -> User:
    """An admin by the settings."""
    return accounts.sign_in(claims("root", ROOT))


def now(accounts: Accounts, user: User) -> User:
    """The person as their tokens and watches may act now."""
    return accounts.acting(user.id)


@pytest.mark.parametrize("issuer", ["https://id.example", "https://other.example"])
def test_to_whom_an_address_passes_on_gets_nothing_by_it(accounts: Accounts, issuer: str) -> None:
    """No role of the settings, no project; what is said of the organisation holds for them, too."""
    projects = accounts.projects
    by = {
        kind: projects.create(kind, owner=Member("person", "somebody", "owner")).id
        for kind in ("address", "domain", "group")
    }
    projects.admit(by["address"], Member("address", ANN, "analyst"))
    projects.admit(by["domain"], Member("domain", "lab.example", "viewer"))
    projects.admit(by["group"], Member("group", "raters", "viewer"))
    ann, root = accounts.sign_in(claims("ann")), accounts.sign_in(claims("root", ROOT))
    heir = accounts.sign_in(claims("heir", issuer=issuer))
    second_root = accounts.sign_in(claims("second root", ROOT, issuer=issuer))
    assert [user.role for user in (ann, root, heir, second_root)] == ["analyst", "admin", "viewer", "viewer"]
    heir = dataclasses.replace(heir, groups=("raters",))
    assert set(accounts.known(ann).projects) == {by["address"], by["domain"]}
    assert set(accounts.known(heir).projects) == {by["domain"], by["group"]}
    assert accounts.sign_in(claims("ann")).role == "analyst", "who held it holds it"
    assert accounts.sign_in(claims("heir", issuer=issuer)).role == "viewer", "also when they come again"
    everybody = Accounts(Settings(analysts=("*",)), accounts.people._engine)
    assert now(everybody, heir).role == "analyst", "* names no address"


def test_who_is_renamed_keeps_the_address_from_others(accounts: Accounts) -> None:
    ann = accounts.sign_in(claims("ann"))
    assert accounts.sign_in(claims("ann", "ann.b@lab.example")).id == ann.id
    assert accounts.sign_in(claims("heir")).role == "viewer"
    assert accounts.sign_in(claims("ann")).role == "analyst"


@on_both
def test_of_many_who_sign_in_first_at_once_one_holds_the_address(engine: Engine, accounts: Accounts) -> None:
    with ThreadPoolExecutor(4) as threads:
        users = list(threads.map(lambda number: accounts.sign_in(claims(str(number))), range(8)))
    assert [now(accounts, user).holds_address for user in users].count(True) == 1
    assert len({person.holder for person in PeopleStore(engine).enabled()}) == 1


def test_an_admin_assigns_it_and_it_holds_at_once_at_every_server(engine, accounts, root) -> None:
    project = accounts.projects.create("Ours", owner=Member("address", ANN, "owner")).id
    ann, heir = accounts.sign_in(claims("ann")), accounts.sign_in(claims("heir"))
    elsewhere = Accounts(SETTINGS, engine)
    assert elsewhere.known(ann).projects == {project: "owner"}
    accounts.assign_address(heir.id, " Ann@lab.example", by=root)
    for server in (accounts, Accounts(SETTINGS, engine)):
        assert [(server.user(claims(who)) or root).role for who in ("ann", "heir")] == ["viewer", "analyst"]
    assert elsewhere.known(now(elsewhere, ann)).projects == {}
    assert elsewhere.known(now(elsewhere, heir)).projects == {project: "owner"}
    assert accounts.sign_in(claims("ann")).role == "viewer", "who held it does not take it back"


def test_refusals_and_assigning_stand_in_the_log_without_the_address(accounts: Accounts, root: User) -> None:
    ann, heir = accounts.sign_in(claims("ann")), accounts.sign_in(claims("heir"))
    accounts.assign_address(heir.id, ANN, by=root)
    entries = reversed(accounts.audit.search()[0])
    assert [(one.actor, one.action, one.kind, one.object_id, one.details) for one in entries] == [
        (root.id, "sign-in", "", "", {}),
        (ann.id, "sign-in", "", "", {}),
        (heir.id, "sign-in", "", "", {}),
        (heir.id, "refusal", "address", ann.id, {}),
        (root.id, "assign", "address", heir.id, {"from": ann.id}),
    ]
    assert "lab.example" not in "".join(accounts.audit.lines())


def test_who_may_not_and_what_is_not_theirs_is_refused(accounts: Accounts, root: User) -> None:
    ann, heir = accounts.sign_in(claims("ann")), accounts.sign_in(claims("heir"))
    second_root = accounts.sign_in(claims("second root", ROOT))
    accounts.disable(accounts.sign_in(claims("former")).id, by=root)
    former = accounts.people.search("former")[0][0].id
    for person_id, address, by, why in (
        (heir.id, ANN, ann, "Only an admin"),
        (heir.id, ANN, heir, "Only an admin"),
        (second_root.id, ROOT, root, r"GRASP_ADMINS.*people assign-address"),
        (heir.id, ROOT, None, "not the person's mail address"),
        (former, ANN, None, "is disabled"),
        ("gone", ANN, None, "nobody of that id"),
    ):
        with pytest.raises((AccessError, LimitError), match=why):
            accounts.assign_address(person_id, address, by=by)
    assert [now(accounts, user).role for user in (ann, heir, root)] == ["analyst", "viewer", "admin"]


def test_whoever_runs_the_server_assigns_an_admins_address(accounts: Accounts, root: User) -> None:
    """As where the provider moved and names the only admin by another issuer and subject."""
    moved = accounts.sign_in(claims("0815", ROOT, issuer="https://new.example"))
    assert moved.role == "viewer"
    accounts.assign_address(moved.id, ROOT, by=None)
    assert [now(accounts, user).role for user in (root, moved)] == ["viewer", "admin"]
    with pytest.raises(LimitError, match="only admin"):
        accounts.disable(moved.id, by=None)
    accounts.disable(root.id, by=None)  # who held the address before is no admin any more


@on_both
def test_erasing_its_holder_frees_it(accounts: Accounts, root: User) -> None:
    project = accounts.projects.create("Ours", owner=Member("person", "somebody", "owner")).id
    accounts.projects.admit(project, Member("address", ANN, "viewer"))
    ann = accounts.sign_in(claims("ann"))
    accounts.sign_in(claims("ann", "ann.b@lab.example"))
    accounts.erase(ann.id, by=root, confirm="ann.b@lab.example", heir=None)
    heir = accounts.sign_in(claims("heir"))
    assert heir.role == "analyst"
    assert accounts.known(heir).projects == {}, "memberships of who held it went with them"
