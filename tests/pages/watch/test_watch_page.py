"""Watch: begun on a result, followed, paused and deleted on its page."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from grasp_core.model.access import LOCAL_USER, only
from grasp_core.server import server as server_module
from grasp_core.server.server import Server
from grasp_core.store.runs import RunRecord
from grasp_core.store.watches import Watch
from tests.labels import DELETE
from tests.pages.people import BOB, VERA, become
from tests.pages.visits import labels, press, seen, visit, widget
from tests.results import make_result
from tests.server.watching import look, ran, votes, watching


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[Server]:
    with watching(tmp_path) as made:
        monkeypatch.setattr(server_module, "shared", lambda: made)
        yield made


@pytest.fixture
def run(server: Server) -> RunRecord:
    return ran(server, title="*Votes*")


def begun(server: Server, run: RunRecord) -> Watch:
    return server.watching.add(run, every="daily", by=LOCAL_USER)


def test_a_result_is_watched_from_its_page(server: Server, run: RunRecord) -> None:
    page = visit("watch")
    assert "Nothing is watched in this project." in seen(page.info)
    page = visit("results", run=run.id)
    press(page, "Watch")
    assert page.code[0].value == "votes.csv"
    page.segmented_control(key="watch-every").set_value("hourly")
    page.button(key="watch-add").click().run()
    assert not page.exception
    (watch,) = server.watches.all()
    assert (watch.every, watch.last_run) == ("hourly", run.id)
    entry = server.audit.search(action="watch")[0][0]
    assert (entry.object_id, entry.details) == (watch.id, {"run": run.id, "every": "hourly"})


def test_only_what_has_an_address_is_offered_and_only_to_who_may_run(server, run, monkeypatch) -> None:
    brought = server.runs.add(make_result(), title="Brought", owner="")
    assert "Watch" not in labels(visit("results", run=brought.id).button)
    become(VERA, monkeypatch)
    assert "Watch" not in labels(visit("results", run=run.id).button)


def test_what_changed_is_told_with_the_values(server: Server, run: RunRecord) -> None:
    watch = begun(server, run)
    Path(server.settings.data_dir, "votes.csv").write_bytes(votes(apart=True))
    look(server, watch)
    page = visit("watch")
    assert not page.exception
    assert [header.value for header in page.header] == ["\\*Votes\\*"]
    text = seen(page.markdown)
    assert "moved further than noise explains" in text
    assert "- Moved: " in text
    assert "IRR of Woman (gender)" in text
    assert "Data: annotations 720 as before" in text
    widget(page.expander, "Each value, before and now")
    page.session_state[f"table-{server.watches.get(watch.id).last_run}-1"] = True
    page.run()
    assert not page.exception
    table = page.dataframe[0].value
    assert set(table["group"]) == {"Woman", "Man"}
    assert "95 %" in str(page.dataframe[0].proto.columns)


def test_it_is_paused_resumed_looked_at_and_deleted(server: Server, run: RunRecord) -> None:
    watch = begun(server, run)
    page = visit("watch")
    press(page, "Pause")
    assert "Paused." in seen(page.markdown)
    press(page, "Resume")
    page.selectbox(key=f"every-{watch.id}").set_value("weekly").run()
    press(page, "Look now")
    assert not page.exception
    server.watching.look_due()
    found = server.watches.get(watch.id)
    assert (found.every, found.paused, found.looked_at is None) == ("weekly", None, False)
    press(page, "Delete")
    press(page, DELETE)
    assert server.watches.all() == []
    told = [entry.details for entry in server.audit.search(action="watch")[0]]
    assert told == [{"every": "weekly"}, {"paused": False}, {"paused": True}]


def test_a_failed_look_says_why(server: Server, run: RunRecord) -> None:
    watch = begun(server, run)
    Path(server.settings.data_dir, "votes.csv").unlink()
    look(server, watch)
    assert "votes.csv cannot be read" in seen(visit("watch").warning)


def test_who_does_not_own_it_looks_and_other_projects_see_nothing(server, run, monkeypatch) -> None:
    watch = begun(server, run)
    become(BOB, monkeypatch)
    page = visit("watch")
    assert "Votes" in page.header[0].value
    assert "Pause" not in labels(page.button)
    hidden = server.projects.create("Hidden", owner=None).id
    theirs = ran(server, project=hidden, title="Nobody else's", min_raters=3)
    server.watching.add(theirs, every="daily", by=LOCAL_USER)
    assert "Nobody else" not in seen(visit("watch").header)
    assert len(server.watches.within(only(hidden)).all()) == 1
    monkeypatch.setattr("pages._ui.helpers.identity.may_manage", lambda *_: True)  # as it was when drawn
    assert press(visit("watch"), "Pause").exception
    found = server.watches.get(watch.id)
    assert found.paused is None
