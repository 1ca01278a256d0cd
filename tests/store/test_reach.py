"""Nothing of a project is found, changed or told of by whoever does not reach it; every method is asked."""

import inspect
from collections.abc import Callable
from typing import Any

import pytest
from sqlalchemy import Engine

from grasp_core.model.access import EVERYONE, Reach, only
from grasp_core.model.errors import AccessError, GraspError
from grasp_core.store.base import Bound
from grasp_core.store.files import FileStore
from grasp_core.store.links import LinkStore
from grasp_core.store.people.projects import Member, ProjectStore
from grasp_core.store.readings import Draft, DraftFile, DraftStore, ReadingStore
from grasp_core.store.runs import AnswerStore, RunStore
from grasp_core.store.submissions import SubmissionStore
from grasp_core.store.watches import Origin, WatchStore
from tests.results import make_result
from tests.store.both import on_both
from tests.store.making import RESULT, claim, create, everything, request

SECRET = "nobody else's business"
FILE = b"item,rater,label\n1,1,nobody else's business\n"
BOARD: dict[str, Any] = {"title": SECRET}
SCORES: dict[str, Any] = {"tasks": {}, "overall": 0.5}
PREDICTIONS = {"task": {"1": SECRET}}
SIGNATURE = "9" * 64

FOR_THE_SERVER = {
    "claim", "somebody_waits", "losses", "forget_losses",  # whoever computes, by a claim
    "keep", "computed", "counted", "finish", "release",
    "delete_older_than", "drop_checkpoints", "delete_unneeded", "delete_leaderboards",  # what sweeps
    "end_visits",
    "use", "lock", "of_token",  # by a token, which is the right to see
    "used", "reserve", "left",  # of the person who asks
    "roles", "current",  # of the person who asks
    "take", "looked", "failed", "stop", "going", "run_done", "run_failed",  # whoever looks, by a claim
    "within",
}  # fmt: skip


class Filled:
    """Project B with one of everything, and what names it."""

    def __init__(self, engine: Engine) -> None:
        self.engine = engine
        stores = (RunStore, FileStore, LinkStore, ReadingStore, DraftStore, SubmissionStore, AnswerStore)
        stores += (ProjectStore, WatchStore)
        self.all: dict[type[Bound], Any] = {store: store(engine) for store in stores}
        projects = self.all[ProjectStore]
        self.a = projects.create("A", owner=Member("person", "ann", "owner")).id
        self.b = projects.create(SECRET, owner=Member("person", "bob", "owner")).id
        self.reach = Reach(frozenset({EVERYONE, self.a}), self.a)
        of_b = self.within(only(self.b)).values()
        runs, files, links, readings, drafts, submissions, answers, _, watches = of_b
        self.sha256 = files.put(FILE, owner="bob", source=SECRET)
        files.refer("5" * 64, 1, f"data:{SECRET}", owner="bob")
        named = ((SECRET, self.sha256),)
        self.done = create(runs, "asked", title=SECRET, owner="bob", files=named).id
        runs.finish(claim(RunStore(engine)), "done", result=make_result(warnings=(SECRET,)))
        runs.describe(self.done, note=SECRET, tagged=[SECRET])
        answers.keep(self.done, "what", {SECRET: 1})
        self.going = create(runs, "waiting", title=SECRET, owner="bob", files=named).id
        runs.keep(claim(RunStore(engine)), 1, provisional=RESULT)
        links.create(self.done, created_by="bob", label=SECRET)
        links.create_leaderboard(BOARD, created_by="bob", label=SECRET)
        self.run_link, self.board_link = links.of_run(self.done)[0].id, links.of_leaderboards()[0].id
        readings.remember(SIGNATURE, RESULT.spec.data, (SECRET,), owner="bob")
        drafts.save(Draft(DraftFile(SECRET, self.sha256, None), None, None), owner="bob")
        self.watch = watches.add(
            self.done, [Origin("annotations", f"data:{SECRET}")], owner="bob", title=SECRET, every="daily"
        ).id
        self.submission = submissions.add(SECRET, PREDICTIONS, SCORES, owner="bob").id

    def within(self, reach: Reach) -> dict[type[Bound], Any]:
        return {kind: store.within(reach) for kind, store in self.all.items()}

    def rows_of_b(self) -> dict[str, list[Any]]:
        return {name: sorted(map(repr, rows)) for name, rows in everything(self.engine).items()}


ASKED: dict[type[Bound], dict[str, Callable[[Any, Filled], Any]]] = {
    RunStore: {
        "answering": lambda store, b: store.answering(request("asked").key, "bob"),
        "get": lambda store, b: store.get(b.done),
        "result": lambda store, b: store.result(b.done),
        "provisional": lambda store, b: store.provisional(b.going),
        "files_of": lambda store, b: store.files_of(b.done),
        "known_tags": lambda store, b: store.known_tags(),
        "waiting_for": lambda store, b: store.waiting_for([b.sha256]),
        "search": lambda store, b: [
            *store.search(),
            *store.search(SECRET, tag=None),
            *store.search(owner="bob"),
        ],
        "counts": lambda store, b: store.counts(),
        "request_cancel": lambda store, b: store.request_cancel(b.going),
        "describe": lambda store, b: store.describe(b.done, title="Mine now"),
        "delete": lambda store, b: store.delete(b.done),
    },
    FileStore: {
        "get": lambda store, b: store.get(b.sha256),
        "location": lambda store, b: store.location("5" * 64),
        "locations": lambda store, b: store.locations([b.sha256, "5" * 64]),
        "source": lambda store, b: store.source(b.sha256),
        "sizes": lambda store, b: store.sizes([b.sha256, "5" * 64]),
        "of": lambda store, b: store.of("bob"),
        "delete": lambda store, b: store.delete(b.sha256, owner="bob"),
    },
    LinkStore: {
        "create": lambda store, b: store.create(b.done, created_by="ann"),
        "of_run": lambda store, b: store.of_run(b.done),
        "of_leaderboards": lambda store, b: store.of_leaderboards(),
        "leaderboard": lambda store, b: store.leaderboard(b.board_link),
        "of_person": lambda store, b: store.of_person("bob"),
        "revoke": lambda store, b: store.revoke(b.run_link) or store.revoke(b.board_link),
        "revoke_of_run": lambda store, b: store.revoke_of_run(b.done),
        "revoke_of_person": lambda store, b: store.revoke_of_person("bob"),
    },
    ReadingStore: {"recall": lambda store, b: store.recall(SIGNATURE, owner="bob")},
    DraftStore: {"load": lambda store, b: store.load(owner="bob")},
    SubmissionStore: {
        "all": lambda store, b: store.all(),
        "predictions": lambda store, b: store.predictions(b.submission),
        "renamed": lambda store, b: store.renamed(SECRET, PREDICTIONS, owner="bob"),
        "delete": lambda store, b: store.delete(b.submission),
    },
    AnswerStore: {
        "keep": lambda store, b: store.keep(b.done, "what", {}),
        "find": lambda store, b: store.find(b.done, "what"),
        "names": lambda store, b: store.names(b.done, ""),
    },
    WatchStore: {
        "get": lambda store, b: store.get(b.watch),
        "all": lambda store, b: store.all(),
        "runs_of": lambda store, b: store.runs_of(b.watch),
        "pause": lambda store, b: store.pause(b.watch),
        "resume": lambda store, b: store.resume(b.watch),
        "set_every": lambda store, b: store.set_every(b.watch, "hourly"),
        "set_webhook": lambda store, b: store.set_webhook(b.watch, "https://hooks.example.org/"),
        "look_now": lambda store, b: store.look_now(b.watch),
        "delete": lambda store, b: store.delete(b.watch),
        "add": lambda store, b: store.add(b.done, (), owner="ann", title="Mine", every="daily"),
    },
    ProjectStore: {
        "all": lambda store, b: [one for one in store.all() if one.id not in (EVERYONE, b.a)],
        "get": lambda store, b: store.get(b.b),
        "rename": lambda store, b: store.rename(b.b, "Mine now"),
        "archive": lambda store, b: store.archive(b.b),
        "delete": lambda store, b: store.delete(b.b),
        "holdings": lambda store, b: sum(vars_of(store.holdings(b.b))),
        "members": lambda store, b: store.members(b.b),
        "admit": lambda store, b: store.admit(b.b, Member("person", "ann", "owner")),
        "expel": lambda store, b: store.expel(b.b, "person", "bob"),
        "move": lambda store, b: store.move(b.done, b.a),
        "choose": lambda store, b: store.choose("ann", b.b),
    },
}
ADDS = {
    RunStore: {
        "create": lambda store: store.create(request("asked"))[0].project,
        "add": lambda store: store.add(RESULT, title="Brought", owner="ann").project,
    },
    FileStore: {
        "put": lambda store: store.put(FILE, owner="ann") and store.get(store.put(FILE, owner="ann")) == FILE,
        "refer": lambda store: store.refer("5" * 64, 1, "data:mine", owner="ann") or store.location("5" * 64),
    },
    LinkStore: {"create_leaderboard": lambda store: store.create_leaderboard({}, created_by="ann")},
    ReadingStore: {"remember": lambda store: store.remember(SIGNATURE, RESULT.spec.data, (), owner="ann")},
    DraftStore: {"save": lambda store: store.save(MINE, owner="ann") or store.load(owner="ann") == MINE},
    SubmissionStore: {"add": lambda store: store.add("Mine", PREDICTIONS, SCORES, owner="ann").project},
    ProjectStore: {"create": lambda store: store.create("A third", owner=None).id},
}
MINE = Draft(DraftFile("mine.csv", "5" * 64, None), None, None)
CHANGES = {
    "request_cancel", "describe", "delete", "revoke", "keep", "choose", "rename", "archive",
    "move", "admit", "expel", "pause", "resume", "set_every", "set_webhook", "look_now", "withdraw", "add",
    "revoke_of_run", "revoke_of_person",
}  # fmt: skip
METHODS = [(kind, name) for kind, calls in ASKED.items() for name in calls]


def vars_of(counts: Any) -> list[int]:
    return [getattr(counts, name) for name in counts.__slots__]


def asked(call: Callable[[], Any]) -> Any:
    """What is found, or how it is refused."""
    try:
        return call()
    except GraspError as refused:
        return refused


@pytest.fixture
def filled(engine: Engine) -> Filled:
    return Filled(engine)


def test_every_method_of_every_store_is_asked() -> None:
    def below(kind: type) -> set[type]:
        return {kind}.union(*map(below, kind.__subclasses__()))

    leaves = {kind for kind in below(Bound) if not kind.__subclasses__()}
    assert leaves == ASKED.keys()
    for kind in leaves:
        public = {name for name, _ in inspect.getmembers(kind, callable) if not name.startswith("_")}
        known = FOR_THE_SERVER | ASKED[kind].keys() | ADDS.get(kind, {}).keys()
        assert public <= known, kind


@on_both
def test_a_member_of_another_project_finds_and_changes_nothing(filled: Filled) -> None:
    before = filled.rows_of_b()
    for kind, name in METHODS:
        found = asked(lambda: ASKED[kind][name](filled.within(filled.reach)[kind], filled))  # noqa: B023
        assert SECRET not in str(found), name
        assert isinstance(found, GraspError) or not any(found if isinstance(found, list) else [found]), name
    assert filled.rows_of_b() == before


@on_both
def test_its_own_members_find_all_of_it(filled: Filled) -> None:
    """The test above could not fail where there is nothing to find."""
    stores = filled.within(only(filled.b))
    for kind, name in METHODS:
        if name in CHANGES:
            continue
        assert ASKED[kind][name](stores[kind], filled), name


@on_both
def test_what_somebody_adds_is_their_own_project_s_though_another_holds_the_same(filled: Filled) -> None:
    before = filled.rows_of_b()
    stores = filled.within(filled.reach)
    assert ADDS[RunStore]["create"](stores[RunStore]) == filled.a
    assert ADDS[RunStore]["add"](stores[RunStore]) == filled.a
    assert ADDS[FileStore]["put"](stores[FileStore])
    assert ADDS[FileStore]["refer"](stores[FileStore]) == "data:mine"
    assert ADDS[SubmissionStore]["add"](stores[SubmissionStore]) == filled.a
    ADDS[ReadingStore]["remember"](stores[ReadingStore])
    ADDS[LinkStore]["create_leaderboard"](stores[LinkStore])
    assert [run.project for run in stores[RunStore].search()] == [filled.a] * 2
    assert stores[ReadingStore].recall(SIGNATURE, owner="ann").axes == ()
    after = filled.rows_of_b()
    assert all(set(rows) <= set(after[table]) for table, rows in before.items())
    theirs = filled.within(only(filled.b))
    assert theirs[RunStore].get(filled.done).title == SECRET
    assert theirs[FileStore].location("5" * 64) == f"data:{SECRET}"
    stores[FileStore].delete(filled.sha256, owner="ann")
    assert theirs[FileStore].get(filled.sha256) == FILE


@on_both
def test_a_run_is_moved_by_whoever_reaches_both_projects(filled: Filled) -> None:
    with pytest.raises(AccessError):
        filled.within(filled.reach)[ProjectStore].move(filled.done, filled.a)
    with pytest.raises(AccessError):
        ProjectStore(filled.engine).move(filled.done, "nowhere")
    both = Reach(frozenset({filled.a, filled.b}), filled.b)
    with pytest.raises(GraspError, match="once it has ended"):
        filled.within(both)[ProjectStore].move(filled.going, filled.a)
    filled.within(both)[ProjectStore].move(filled.done, filled.a)
    mine, theirs = filled.within(filled.reach), filled.within(only(filled.b))
    assert mine[RunStore].get(filled.done).title == SECRET
    assert mine[FileStore].get(filled.sha256) == FILE
    assert [link.id for link in mine[LinkStore].of_run(filled.done)] == [filled.run_link]
    assert mine[AnswerStore].find(filled.done, "what") == {SECRET: 1}
    assert theirs[RunStore].get(filled.done) is None
    assert theirs[FileStore].get(filled.sha256) == FILE  # the run that goes on needs it
    again = create(theirs[RunStore], "asked", owner="bob")
    RunStore(filled.engine).request_cancel(again.id)
    with pytest.raises(GraspError, match="same data and settings already"):
        filled.within(both)[ProjectStore].move(again.id, filled.a)


@on_both
def test_nothing_is_added_to_a_project_that_is_archived_or_gone(filled: Filled) -> None:
    projects = ProjectStore(filled.engine)
    projects.archive(filled.a)
    for sentence in ("archived", "deleted"):
        stores = filled.within(filled.reach)
        for kind, calls in ADDS.items():
            for name, add in calls.items():
                if kind not in (ProjectStore, LinkStore):
                    refused = asked(lambda: add(stores[kind]))  # noqa: B023
                    assert isinstance(refused, AccessError), name
                    assert sentence in str(refused)
        if sentence == "archived":
            projects.delete(filled.a)
    with pytest.raises(AccessError):
        Reach(frozenset({EVERYONE}), filled.b)


@on_both
def test_a_deleted_project_takes_all_that_is_its_own_along(filled: Filled) -> None:
    ProjectStore(filled.engine).delete(filled.b)
    assert not [text for rows in filled.rows_of_b().values() for text in rows if SECRET in text]
