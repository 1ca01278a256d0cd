"""Projects, and who belongs to them."""

import pytest
from sqlalchemy import Engine

from grasp_core.model.access import EVERYONE, User
from grasp_core.model.errors import LimitError, StoreError
from grasp_core.store.people import projects as members_module
from grasp_core.store.people.projects import NAME_LENGTH, Member, ProjectStore
from tests.store.both import on_both
from tests.store.making import HOSTILE

ANN = User("1", "Ann", "analyst", "ann@lab.example", ("raters", "x" * 300), holds_address=True)


@pytest.fixture
def store(engine: Engine) -> ProjectStore:
    return ProjectStore(engine)


def named(**kinds: tuple[str, ...]) -> pytest.MarkDecorator:
    """Names of members to try, by kind."""
    return pytest.mark.parametrize(
        ("kind", "name"), [(kind, one) for kind, some in kinds.items() for one in some]
    )


@pytest.fixture
def project(store: ProjectStore) -> str:
    """A project of somebody else."""
    return store.create("Ours", owner=Member("person", "somebody", "owner")).id


@named(
    person=("1",),
    address=("ANN@lab.example ",),
    domain=("@Lab.Example", "lab.example"),
    group=("raters", "x" * 300),
)
def test_a_person_belongs_by_id_address_domain_or_group(store, project: str, kind, name: str) -> None:
    assert store.roles(ANN) == {}
    store.admit(project, Member(kind, name, "analyst"))
    assert store.roles(ANN) == {project: "analyst"}
    row = next(member for member in store.members(project) if member.role == "analyst")
    store.expel(project, row.kind, row.name)
    assert store.roles(ANN) == {}


@named(
    person=("2",),
    address=("ann@lab.example.evil.example",),
    domain=("example.org", "b.example"),
    group=("rater", "RATERS"),
)
def test_others_do_not(store: ProjectStore, project: str, kind, name: str) -> None:
    store.admit(project, Member(kind, name, "owner"))
    assert store.roles(ANN) == {}


def test_what_one_lacks_counts_for_nothing_and_of_several_roles_the_highest(store, project: str) -> None:
    store.admit(project, Member("domain", "lab.example", "viewer"))
    assert store.roles(User("2", "Bob", "analyst")) == {}
    own = store.create("Own", owner=Member("person", "1", "owner")).id
    store.admit(own, Member("domain", "lab.example", "viewer"))
    assert store.roles(ANN) == {project: "viewer", own: "owner"}


@named(
    address=("ann", "@lab.example", "ann@", "a@b@c.example", "ann@lab.example, bob@lab.example"),
    domain=("example", "ann@lab.example", "*.example", ""),
    group=(" ", "x" * 321),
    person=("",),
)
def test_what_names_nobody_is_refused_in_a_sentence(store: ProjectStore, kind, name: str) -> None:
    project = store.create("Ours", owner=Member("person", "1", "owner")).id
    with pytest.raises(LimitError, match="is not"):
        store.admit(project, Member(kind, name, "viewer"))
    assert len(store.members(project)) == 1


def test_an_owner_is_left(store: ProjectStore) -> None:
    project = store.create("Ours", owner=Member("person", "1", "owner")).id
    with pytest.raises(StoreError, match="needs an owner"):
        store.expel(project, "person", "1")
    with pytest.raises(StoreError, match="needs an owner"):
        store.admit(project, Member("person", "1", "viewer"))
    assert store.members(project) == [Member("person", "1", "owner")]
    store.admit(project, Member("group", "leads", "owner"))
    store.expel(project, "person", "1")
    assert store.members(project) == [Member("group", "leads", "owner")]


@on_both
@pytest.mark.parametrize("text", HOSTILE[:-2])
def test_names_are_kept_as_they_are(store: ProjectStore, text: str) -> None:
    project = store.create(text, owner=Member("person", text, "owner"))
    assert project.name == " ".join(text.split())
    store.choose(text, project.id)
    assert store.current(text) == project.id
    assert User(text, text, "analyst").id
    assert store.roles(User(text, text, "analyst")) == {project.id: "owner"}


@pytest.mark.parametrize("name", ["", "  \n", "x" * (NAME_LENGTH + 1)])
def test_a_name_has_a_length(store: ProjectStore, name: str) -> None:
    with pytest.raises(LimitError, match=f"1 to {NAME_LENGTH} characters"):
        store.create(name, owner=Member("person", "1", "owner"))
    assert [project.id for project in store.all()] == [EVERYONE]


def test_everyone_stays_as_it_is(store: ProjectStore) -> None:
    for change in (
        lambda: store.rename(EVERYONE, "Mine"),
        lambda: store.archive(EVERYONE),
        lambda: store.delete(EVERYONE),
        lambda: store.admit(EVERYONE, Member("person", "1", "owner")),
        lambda: store.expel(EVERYONE, "person", "1"),
    ):
        with pytest.raises(StoreError, match="stays as it is"):
            change()
    assert [(project.name, project.archived) for project in store.all()] == [("Everyone", False)]


@on_both
def test_projects_are_listed_by_name_and_those_in_the_archive_last(store: ProjectStore) -> None:
    b, a, old = (store.create(name, owner=Member("person", "1", "owner")) for name in ("b", "A", "A0"))
    store.archive(old.id)
    store.rename(b.id, " B  2 ")
    assert [project.name for project in store.all()] == ["Everyone", "A", "B 2", "A0"]
    store.archive(old.id, False)
    assert [project.archived for project in store.all()] == [False] * 4
    store.delete(a.id)
    assert store.get(a.id) is None
    with pytest.raises(StoreError, match="was deleted"):
        store.rename(a.id, "A")


def test_another_process_s_change_is_known_in_seconds(engine: Engine, monkeypatch) -> None:
    here, there = ProjectStore(engine), ProjectStore(engine)
    project = here.create("Ours", owner=Member("person", "1", "owner")).id
    assert here.roles(ANN) == {project: "owner"}
    there.delete(project)
    monkeypatch.setattr(members_module, "KNOWN_SECONDS", 0.0)
    assert here.roles(ANN) == {}


def test_the_current_project_goes_with_it(store: ProjectStore) -> None:
    assert store.current("1") is None
    project = store.create("Ours", owner=Member("person", "1", "owner")).id
    store.choose("1", EVERYONE)
    store.choose("1", project)
    assert store.current("1") == project
    store.delete(project)
    assert store.current("1") is None
