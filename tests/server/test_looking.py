"""What is watched is fetched, and what has changed run again; not for whoever may not run it."""

import csv
import io
import sqlite3
import threading
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from grasp_core.model.access import EVERYONE, LOCAL_USER, User, only
from grasp_core.model.errors import AccessError, DataError
from grasp_core.reading.connectors.source import Source
from grasp_core.reading.connectors.source import make as make_source
from grasp_core.server import watches as words
from grasp_core.server.server import Server
from grasp_core.store.people.projects import Member, ProjectStore
from grasp_core.store.schema import watches
from grasp_core.store.watches import FAILURES, Origin, Watch
from tests.reading.sources.serving import site
from tests.results import make_result
from tests.server.conftest import SIGN_IN
from tests.server.watching import look, ran, votes, watching
from tests.store.making import change


@pytest.fixture
def server(tmp_path: Path, given: dict[str, Any]) -> Iterator[Server]:
    with watching(tmp_path, **given) as made:
        yield made


def watched(server: Server, **how: Any) -> Watch:
    return server.watching.add(ran(server, **how), every="daily", by=LOCAL_USER)


def write(server: Server, content: bytes) -> None:
    Path(server.settings.data_dir, "votes.csv").write_bytes(content)


def steps(server: Server, watch: Watch, **how: Any) -> list[Any]:
    return server.history.steps(server.watches, watch, **how)


def test_what_has_changed_is_run_again_and_held_against_before(server: Server) -> None:
    watch = watched(server)
    assert watch.sources == (Origin("annotations", "data:votes.csv"),)
    same = look(server, watch)
    assert (same.looked_at is not None, same.last_run) == (True, watch.last_run)
    assert words.state(same) == "Up to date with its files."
    write(server, votes(apart=True))
    changed = look(server, watch)
    assert (changed.going_run, changed.problem) == (None, None)
    assert changed.last_run != watch.last_run
    latest, first = steps(server, changed)
    assert (latest.number, latest.before, first.before) == (1, watch.last_run, None)
    assert latest.headline == "The verdict changed: Man and Woman: no difference found → may be luck."
    assert any("IRR of Woman (gender)" in told for told in latest.details)
    run = server.runs.get(latest.run_id)
    assert (run.title, run.spec, run.project) == ("Votes", server.runs.get(watch.last_run).spec, EVERYONE)
    entry = server.audit.search(action="run")[0][0]
    assert (entry.object_id, entry.details) == (run.id, {"known": False, "watch": watch.id})
    again = look(server, watch)
    assert again.last_run == changed.last_run
    assert len(server.runs.search()) == 2


def table(path: Path, content: bytes) -> Source:
    """The votes as a table of a database."""
    header, *rows = csv.reader(io.StringIO(content.decode()))
    with closing(sqlite3.connect(path)) as database, database:
        database.execute("DROP TABLE IF EXISTS votes")
        database.execute(f"CREATE TABLE votes ({', '.join(header)})")
        database.executemany("INSERT INTO votes VALUES (?, ?, ?, ?)", rows)
    return make_source("sql", f"sqlite:///{path}", {"table": "votes"})


def test_what_was_fetched_from_a_database_is_fetched_again(server: Server, tmp_path: Path) -> None:
    source = table(tmp_path / "votes.db", votes())
    snapshot = server.sources.fetch(source, owner=LOCAL_USER.id)
    server.files.within(only(EVERYONE)).put(snapshot.content, owner=LOCAL_USER.id, source=str(source))
    watch = watched(server, file=(snapshot.name, snapshot.sha256))
    assert watch.sources == (Origin("annotations", str(source)),)
    assert look(server, watch).last_run == watch.last_run
    table(tmp_path / "votes.db", votes(apart=True))
    changed = look(server, watch)
    assert changed.problem is None
    assert steps(server, changed)[0].headline.startswith("The verdict changed: Man and Woman")
    now = server.runs.get(changed.last_run)
    assert now.summary.files[0].source == str(source)
    (tmp_path / "votes.db").unlink()
    assert "votes.db" in (look(server, watch).problem or "")


def test_what_takes_a_token_is_watched_once_it_is_kept(server: Server, monkeypatch) -> None:
    run = ran(server)
    origins = (Origin("annotations", "label-studio:https://labels.example/projects/3"),)
    monkeypatch.setattr(server.watching, "origins", lambda _: origins)
    with pytest.raises(DataError, match="takes a token while you are away: this server keeps none"):
        server.watching.add(run, every="daily", by=LOCAL_USER)
    monkeypatch.setenv("LABEL_STUDIO_API_KEY", "a token of one's own machine")
    assert server.watching.add(run, every="daily", by=LOCAL_USER).sources == origins


def test_more_of_the_same_is_noise(server: Server) -> None:
    watch = watched(server)
    write(server, votes(raters=26))
    look(server, watch)
    latest = steps(server, watch)[0]
    assert latest.headline == "No group's verdict changed."
    assert latest.details[0] == "As before, no difference found: 2 groups."
    assert "Data: annotations 720 → 780, raters 24 → 26, items 30 as before." in latest.details


def test_data_that_go_back_to_what_they_were_are_told_too(server: Server) -> None:
    watch = watched(server)
    for content in (votes(apart=True), votes()):
        write(server, content)
        look(server, watch)
    found = steps(server, watch)
    assert [step.number for step in found] == [2, 1, 0]
    assert found[0].run_id == found[2].run_id, "the earlier run has the answer"
    assert found[0].headline == "The verdict changed: Man and Woman: may be luck → no difference found."


def test_failures_are_told_tried_again_and_pause_at_last(server: Server) -> None:
    watch = watched(server)
    write(server, b"item,rater,gender,label\n")
    found = look(server, watch)
    assert found.problem
    assert (found.failures, words.state(found)) == (1, "The last look failed.")
    Path(server.settings.data_dir, "votes.csv").unlink()
    for _ in range(FAILURES - 1):
        found = look(server, watch)
    assert "votes.csv cannot be read" in str(found.problem)
    assert words.state(found) == "Paused after 5 looks in a row that failed."
    write(server, votes(apart=True))
    assert look(server, watch).last_run == watch.last_run, "it is paused"
    server.watches.resume(watch.id)
    found = look(server, watch)
    assert (found.failures, found.problem, found.paused) == (0, None, None)
    assert found.last_run != watch.last_run


def test_a_run_of_changed_data_that_is_cancelled_is_tried_again(server: Server) -> None:
    watch = watched(server, permutations=5000)
    write(server, votes(apart=True))
    change(server.database, watches, next_at=0.0)
    server.watching.look_due()
    (going,) = server.watches.going()
    assert words.state(going) == "Its files have changed; they are being analysed."
    server.service.cancel(str(going.going_run))
    found = look(server, watch)
    assert found.going_run is None
    assert found.problem in (words.CANCELLED, None)
    assert look(server, watch).last_run != watch.last_run


def test_it_stops_when_its_run_is_deleted_or_moved_away(server: Server) -> None:
    watch, other = watched(server), watched(server, min_raters=3)
    server.runs.delete(str(watch.last_run))
    assert words.state(look(server, watch)).startswith("Stopped: the run that it repeats")
    away = server.projects.create("Away", owner=None).id
    server.projects.move(str(other.last_run), away)
    assert look(server, other).paused == "run"
    assert steps(server, watch) == []


def test_where_a_run_s_file_is_stays_known_as_long_as_the_run_is_there(server: Server) -> None:
    run = ran(server)
    server.files.delete_unneeded(older_than_hours=0)
    assert server.watching.refusal(run) is None
    server.runs.delete(run.id)
    assert server.files.delete_unneeded(older_than_hours=0) == 1


def test_only_what_has_an_address_is_watched(server: Server) -> None:
    content = Path(server.settings.data_dir, "votes.csv").read_bytes()
    run = ran(server, file=("votes.csv", server.files.put(content, owner="")))
    assert "The annotations file has no address" in str(server.watching.refusal(run))
    with pytest.raises(DataError, match="was uploaded"):
        server.watching.add(run, every="daily", by=LOCAL_USER)
    assert ran(server).id == run.id  # what was uploaded is taken from the folder, as the refusal advises
    assert server.watching.origins(run) == (Origin("annotations", "data:votes.csv"),)
    brought = server.runs.add(make_result(), title="Brought", owner="")
    assert "brought from elsewhere" in str(server.watching.refusal(brought))


def test_an_address_is_fetched_anew(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with site(votes=votes()) as web, watching(tmp_path, data_urls=(f"{web.url}/data/",)) as made:
        run = ran(made)
        place = (Origin("annotations", f"{web.url}/data/votes.csv"),)
        monkeypatch.setattr(made.watching, "origins", lambda _: place)
        watch = made.watching.add(run, every="hourly", by=LOCAL_USER)
        assert look(made, watch).last_run == run.id
        web.files["/data/votes.csv"] = votes(apart=True)
        asked = len(web.asked)
        assert look(made, watch).last_run != run.id
        assert len(web.asked) == asked + 1, "it is fetched once a look"


def test_of_several_servers_one_looks(server: Server) -> None:
    watch = watched(server)
    write(server, votes(apart=True))
    change(server.database, watches, next_at=0.0)
    looks: list[int] = []
    threads = [threading.Thread(target=lambda: looks.append(server.watching.look_due())) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(looks) == [0, 0, 0, 1]
    look(server, watch)
    assert len(steps(server, watch)) == 2


# Rights


def admitted(server: Server, mail: str) -> User:
    claims = {"iss": "https://id.example", "sub": mail, "email": mail, "email_verified": True}
    return server.accounts.known(server.accounts.sign_in(claims))


SIGNING_IN = pytest.mark.parametrize(
    "given", [{**SIGN_IN, "analysts": ("ann@lab.example", "bob@lab.example")}], ids=["people sign in"]
)


@SIGNING_IN
def test_it_stops_when_its_owner_may_not_run_there_any_more(server: Server) -> None:
    ann = admitted(server, "ann@lab.example")
    projects: ProjectStore = server.projects
    project = projects.create("Ours", owner=Member("person", ann.id, "owner")).id
    projects.admit(project, Member("address", "bob@lab.example", "owner"))
    ann = server.accounts.known(ann)
    run = ran(server, by=ann, project=project)
    write(server, votes(apart=True))

    def stopped(watch: Watch) -> bool:
        found = look(server, watch)
        return found.paused == "rights" and found.last_run == run.id

    watch = server.watching.add(run, every="daily", by=ann)
    projects.expel(project, "person", ann.id)
    assert stopped(watch), "who left the project"
    projects.admit(project, Member("person", ann.id, "viewer"))
    server.watches.resume(watch.id)
    assert stopped(watch), "who may only look"
    projects.admit(project, Member("person", ann.id, "analyst"))
    server.accounts.set_role(ann.id, "viewer", by=None)
    server.watches.resume(watch.id)
    assert stopped(watch), "who is a viewer of the server"
    server.accounts.set_role(ann.id, None, by=None)
    server.accounts.people.disable(ann.id)
    server.watches.resume(watch.id)
    assert stopped(watch), "who is disabled"
    server.accounts.enable(ann.id, by=None)
    server.watches.resume(watch.id)
    found = look(server, watch)
    assert (found.paused, found.problem) == (None, None)
    made = server.runs.within(only(project)).get(str(found.last_run))
    assert (made.owner, made.project) == (ann.id, project)


@SIGNING_IN
def test_who_belongs_by_a_group_alone_is_told_that_a_watch_would_not_run(server: Server) -> None:
    bob = admitted(server, "bob@lab.example")
    project = server.projects.create("Ours", owner=Member("group", "lab", "owner")).id
    run = ran(server, by=bob, project=project)
    with pytest.raises(AccessError, match="by a group of the sign-in provider alone"):
        server.watching.add(run, every="daily", by=bob)
