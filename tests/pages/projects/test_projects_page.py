"""Projects: made, chosen, shared with others, left; and what their members see of everything else."""

import pytest

from grasp_core.model.access import EVERYONE, User, only
from grasp_core.server.server import Server
from grasp_core.store.people.projects import Member
from tests.labels import DELETE, TRY_EXAMPLE
from tests.pages.people import ANN, ASKING, BOB, ROOT, VERA
from tests.pages.visits import labels, press, text_of, visit
from tests.results import make_result

SECRET = "Hidden business"
HOSTILE = "<b>*Ours*</b>"


def known(user: User, server: Server, monkeypatch: pytest.MonkeyPatch) -> None:
    """The visitor is this person, with the projects that they have by then."""
    for module in ASKING:
        monkeypatch.setattr(module, "visitor", lambda **_: server.accounts.known(user))


@pytest.fixture
def of_bob(server: Server) -> str:
    """A project of Bob's, with a run in it."""
    return server.projects.create(SECRET, owner=Member("person", BOB.id, "owner")).id


@pytest.fixture
def run_of_bob(server: Server, of_bob: str) -> str:
    run = server.seen(only(of_bob)).runs.add(make_result(), title=SECRET, owner=BOB.id)
    server.seen(only(of_bob)).runs.describe(run.id, tagged=[SECRET])
    return run.id


def test_a_project_is_made_and_worked_in(server: Server, monkeypatch: pytest.MonkeyPatch) -> None:
    known(ANN, server, monkeypatch)
    page = visit("projects")
    assert not page.exception
    assert [choice.label for choice in page.selectbox] == []  # Everyone alone: nothing to choose
    page.button[0].click().run()
    page.text_input(key="project-name").set_value(HOSTILE)
    press(page, "Make the project")
    assert not page.exception
    [made] = [project for project in server.projects.all() if project.id != EVERYONE]
    assert made.name == HOSTILE
    assert server.projects.current(ANN.id) == made.id
    assert server.accounts.known(ANN).role_in(made.id) == "owner"
    page = visit("projects")
    assert page.selectbox(key="choose-project").value == made.id
    assert "\\<b\\>" in text_of(page) or "&lt;b" in text_of(page)


@pytest.mark.usefixtures("nothing_computed")
def test_what_is_run_belongs_to_the_chosen_project(server, of_bob, monkeypatch) -> None:
    known(BOB, server, monkeypatch)
    page = visit("start")
    page.selectbox(key="choose-project").set_value(of_bob).run()
    assert server.projects.current(BOB.id) == of_bob
    press(page, TRY_EXAMPLE)
    [run] = server.seen(only(of_bob)).runs.search()
    assert (run.project, run.owner) == (of_bob, BOB.id)
    assert server.runs.search() == []
    assert all(server.seen(only(of_bob)).files.get(sha256) for _, sha256 in server.runs.files_of(run.id))


@pytest.mark.parametrize("screen", ["start", "results", "runs", "projects", "plan", "models"])
@pytest.mark.parametrize("user", [ANN, VERA], ids=["analyst", "viewer"])
def test_others_find_nothing_of_it(screen, user, server, run_of_bob, monkeypatch) -> None:
    known(user, server, monkeypatch)
    for query in ({}, dict.fromkeys(("run", "a", "b"), run_of_bob)):
        page = visit(screen, **query)
        assert not page.exception
        assert SECRET not in text_of(page)
        assert SECRET not in str([choice.options for choice in page.selectbox])


def test_its_members_do(server, of_bob, run_of_bob, monkeypatch) -> None:
    server.projects.admit(of_bob, Member("domain", "lab.example", "viewer"))
    known(User(ANN.id, "ann", "analyst", ANN.id), server, monkeypatch)
    assert SECRET in visit("results", run=run_of_bob).caption[0].value
    page = visit("data")
    page.selectbox(key="choose-project").set_value(of_bob).run()
    assert any("In this project you are a viewer" in info.value for info in page.info)


def test_owners_change_it_and_members_only_look(server, of_bob, monkeypatch) -> None:
    server.projects.admit(of_bob, Member("person", ANN.id, "analyst"))
    known(ANN, server, monkeypatch)
    assert not {"Rename", "Archive", "Delete"} & set(labels(visit("projects").button))
    known(BOB, server, monkeypatch)
    page = visit("projects")
    page.button(key=f"archive-{of_bob}").click().run()
    assert server.projects.get(of_bob).archived
    page.button(key=f"delete-{of_bob}").click().run()
    assert "cannot be brought back" in page.warning[0].value
    press(page, DELETE)
    assert not page.exception
    assert server.projects.get(of_bob) is None


def test_a_choice_that_is_gone_is_everyone(server, of_bob, monkeypatch) -> None:
    server.projects.choose(ROOT.id, of_bob)
    known(ROOT, server, monkeypatch)
    server.projects.delete(of_bob)
    page = visit("runs")
    assert not page.exception
    assert page.session_state["project"] == EVERYONE


def test_a_run_is_moved_by_an_owner_of_both(server, of_bob, run_of_bob, monkeypatch) -> None:
    known(BOB, server, monkeypatch)
    assert "Move" not in labels(visit("results", run=run_of_bob).button)
    other = server.projects.create("The other one", owner=Member("person", BOB.id, "owner")).id
    page = visit("results", run=run_of_bob)
    assert any(f"In the project {SECRET}" in caption.value for caption in page.caption)
    press(page, "Move")
    press(page, "Move it")
    assert not page.exception
    assert server.runs.get(run_of_bob).project == other


def test_owners_say_who_belongs(server: Server, of_bob: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(type(server.settings), "sign_in", True)
    known(BOB, server, monkeypatch)
    page = visit("projects")
    page.session_state[f"members-{of_bob}"] = True
    page.run()
    page.text_input(key=f"members-name-{of_bob}").set_value("ANN@lab.example")
    press(page, "Add")
    assert not page.exception
    assert Member("address", "ann@lab.example", "viewer") in server.projects.members(of_bob)
    page.selectbox(key=f"members-role-address-ann@lab.example-{of_bob}").set_value("analyst").run()
    assert Member("address", "ann@lab.example", "analyst") in server.projects.members(of_bob)
    page.button(key=f"members-remove-person-{BOB.id}-{of_bob}").click().run()
    assert "needs an owner" in page.error[0].value
