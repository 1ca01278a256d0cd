"""Saved runs on both databases: asked, found, described, deleted."""

import dataclasses
import json
import threading
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from sqlalchemy import Engine

from grasp_core.model.errors import LimitError, StoreError
from grasp_core.model.remarks.remark import said
from grasp_core.model.spec import RunSpec
from grasp_core.store.links import LinkStore
from grasp_core.store.runs import AnswerStore, LostRunError, RunStore
from grasp_core.store.schema import answers, checkpoints, links, run_files, runs, tags
from tests.results import make_result
from tests.store.both import on_both
from tests.store.making import HOSTILE, RESULT, change, claim, column, create, request


@pytest.fixture
def store(engine: Engine) -> RunStore:
    return RunStore(engine)


def finish(store: RunStore, question: str, **changes: str) -> str:
    create(store, question, **changes)
    claimed = claim(store)
    store.finish(claimed, "done", result=RESULT, duration_s=1.5)
    return claimed.id


# Asked and found


def test_what_is_asked_is_found_again(store: RunStore) -> None:
    made = create(store, "Is it real?", owner="ann")
    assert store.get(made.id) == made
    assert (made.title, made.owner, made.state, made.code_version) == (
        "Is it real?",
        "ann",
        "queued",
        "0.1.0",
    )
    assert (made.note, made.tags, made.error, made.finished_at, made.duration_s) == ("", (), None, None, None)
    assert (made.done, made.total, made.attempt, made.cancel_requested) == (0, 1000, 0, False)
    assert (made.spec, made.summary) == (RESULT.spec, RESULT.data)
    assert made.created_at > 1.7e9
    assert not made.ended
    assert store.files_of(made.id) == (("votes.csv", "1" * 64), ("raters.csv", "2" * 64))
    assert store.result(made.id) is None
    assert store.get("nobody") is None
    assert store.result("nobody") is None
    assert store.counts() == {"queued": 1}


def test_the_same_question_of_one_person_is_one_run(store: RunStore) -> None:
    made = create(store, "a", owner="ann")
    assert store.create(request("a", owner="ann", title="b")) == (made, True)
    assert store.answering(request("a").key, "ann") == made
    assert store.answering(request("a").key, "bob") is None
    assert store.answering(request("b").key, "ann") is None
    assert create(store, "b").id != made.id


# The same question of several people


def test_each_has_a_run_of_their_own(store: RunStore, engine: Engine) -> None:
    """Computed once: nobody claims the second while the first goes on, and its end is both their end."""
    anns = create(store, "a", owner="ann", title="Ann's")
    claimed = claim(store)
    bobs = create(store, "a", owner="bob", title="Bob's")
    assert bobs.id != anns.id
    assert store.claim() is None
    store.keep(claimed, 400, [], None, make_result(permutations=400))
    waiting = store.get(bobs.id)
    assert (waiting.title, waiting.owner, waiting.state, waiting.done) == ("Bob's", "bob", "running", 400)
    assert waiting.computed_as == anns.id
    assert store.provisional(waiting.computed_as) == make_result(permutations=400)
    assert [run.id for run in store.search(state="running", owner="bob")] == [bobs.id]
    assert store.search(state="queued") == []
    store.finish(claimed, "done", result=RESULT, duration_s=1.5)
    for run_id, title in ((anns.id, "Ann's"), (bobs.id, "Bob's")):
        done = store.get(run_id)
        assert (done.title, done.state, done.duration_s, done.computed_as) == (title, "done", 1.5, run_id)
        assert store.result(run_id) == RESULT
    store.describe(bobs.id, title="Mine", tagged=["b"])
    assert RunStore(engine).get(anns.id).title == "Ann's"  # type: ignore[union-attr]
    links = LinkStore(engine)
    token = links.create(bobs.id, created_by="bob")
    store.delete(anns.id)
    assert links.use(token) is not None
    assert store.result(bobs.id) == RESULT
    assert store.claim() is None


def test_what_somebody_else_asked_before_is_done_at_once(store: RunStore) -> None:
    anns = finish(store, "a", owner="ann")
    bobs, known = store.create(request("a", owner="bob", title="b"))
    assert (known, bobs.state, bobs.title, bobs.done) == (False, "done", "b", 1000)
    assert store.files_of(bobs.id) == store.files_of(anns)
    assert store.create(request("a", owner="bob")) == (bobs, True)
    store.delete(anns)
    assert store.create(request("a", owner="cid"))[0].state == "done"  # of Bob, who still has it


@pytest.mark.parametrize("by", ["cancelled", "deleted"])
@pytest.mark.parametrize("counted", [None, b"counts"])
def test_who_gives_it_up_leaves_what_was_computed(store: RunStore, by: str, counted: bytes | None) -> None:
    anns = create(store, "a", owner="ann")
    claimed = claim(store)
    bobs = create(store, "a", owner="bob")
    store.keep(claimed, 10, [(0, np.ones((10, 12)))] if counted is None else [], counted)
    if by == "cancelled":
        store.request_cancel(anns.id)
        assert store.get(bobs.id).state == "running"  # type: ignore[union-attr]
        store.finish(claimed, "cancelled")
        assert store.get(anns.id).state == "cancelled"  # type: ignore[union-attr]
    else:
        store.delete(anns.id)
        with pytest.raises(LostRunError):
            store.keep(claimed, 20)
    goes_on = claim(store)
    assert (goes_on.id, goes_on.done) == (bobs.id, 10)
    assert store.counted(goes_on) == counted
    assert len(store.computed(goes_on, 12)) == (counted is None)
    store.finish(goes_on, "done", result=RESULT)
    if by == "cancelled":
        again, _ = store.create(request("a", owner="ann"))
        assert (again.id, again.state) == (anns.id, "done")


def test_who_waits_may_cancel_and_fails_with_the_first(store: RunStore) -> None:
    anns, bobs, cids = (create(store, "a", owner=owner) for owner in ("ann", "bob", "cid"))
    claimed = claim(store)
    assert claimed.id == anns.id
    store.request_cancel(bobs.id)
    assert store.get(bobs.id).state == "cancelled"  # type: ignore[union-attr]
    assert not store.keep(claimed, 10)
    store.finish(claimed, "failed", error="a sentence")
    failed = store.get(cids.id)
    assert (failed.state, failed.error) == ("failed", "a sentence")
    assert store.get(bobs.id).state == "cancelled"  # type: ignore[union-attr]


def test_each_counts_what_waits_for_them(engine: Engine) -> None:
    store = RunStore(engine, queue_limit=1)
    create(store, "a", owner="ann")
    create(store, "a", owner="bob")
    with pytest.raises(LimitError):
        store.create(request("b", owner="bob"))


@on_both
def test_of_many_who_ask_the_same_one_is_computed(store: RunStore) -> None:
    for owner in "abcdefgh":
        create(store, "a", owner=owner)
    with ThreadPoolExecutor(8) as servers:
        claimed = [one for one in servers.map(lambda _: store.claim(), range(8)) if one is not None]
    assert len(claimed) == 1
    store.finish(claimed[0], "done", result=RESULT)
    assert store.counts() == {"done": 8}


@on_both
def test_many_ask_the_same_at_once(store: RunStore) -> None:
    with ThreadPoolExecutor(8) as visitors:
        asked = list(visitors.map(lambda _: store.create(request()), range(8)))
    assert len({record.id for record, _ in asked}) == 1
    assert sum(known for _, known in asked) == 7


@pytest.mark.parametrize("state", ["failed", "cancelled"])
def test_what_failed_or_was_cancelled_is_queued_again(store: RunStore, state) -> None:
    made = create(store)
    claimed = claim(store)
    store.keep(claimed, 10, [(0, np.ones((10, 12)))])
    store.finish(claimed, state, error="a sentence" if state == "failed" else None)
    assert store.answering(request().key, "ann") is None
    again = create(store, files=(("other.csv", "3" * 64),))
    assert again.id == made.id
    assert (again.state, again.error, again.finished_at) == ("queued", None, None)
    assert store.files_of(again.id) == (("other.csv", "3" * 64),)
    ((start, block),) = store.computed(claim(store), 12)
    assert start == 0
    assert np.array_equal(block, np.ones((10, 12)))


def test_a_result_is_read_back(store: RunStore) -> None:
    run_id = finish(store, "a")
    done = store.get(run_id)
    assert (done.state, done.done, done.duration_s, done.ended) == ("done", 1000, 1.5, True)
    assert done.finished_at >= done.created_at
    assert store.result(run_id) == RESULT
    assert store.create(request("a")) == (done, True)


def test_a_result_brought_along(store: RunStore) -> None:
    added = store.add(RESULT, title="Theirs", owner="bob")
    assert store.result(added.id) == RESULT
    assert (added.state, added.owner, added.done, added.total) == ("done", "bob", 1000, 1000)
    assert store.add(RESULT, title="Theirs", owner="bob").id != added.id  # no question, so never the same
    assert store.claim() is None


def test_a_brought_results_own_texts_are_only_texts(store: RunStore) -> None:
    """A file that somebody made up may say anything."""
    odd = dataclasses.replace(
        make_result(warnings=("half \ud800 a surrogate, \x00",)), code_version="\x00\ud800" + "v" * 500
    )
    added = store.add(odd, title="\ud800 \x00", owner="bob")
    assert added.title == "\ufffd \ufffd"
    assert store.result(added.id) == odd


# Limits


def test_a_person_may_have_so_many_runs_waiting(engine: Engine) -> None:
    store = RunStore(engine, queue_limit=2)
    create(store, "a")
    create(store, "b")
    with pytest.raises(LimitError, match="You have 2 runs waiting or running, as many as one person may"):
        store.create(request("c"))
    assert store.create(request("a"))[1]  # asked before: no more work
    create(store, "c", owner="bob")
    store.finish(claim(store), "done", result=RESULT)
    assert store.counts() == {"done": 1, "queued": 2}
    create(store, "d", owner="ann")


@on_both
def test_the_limit_holds_for_many_at_once(engine: Engine) -> None:
    store = RunStore(engine, queue_limit=3)
    refused = []

    def ask(number: int) -> None:
        try:
            store.create(request(f"question {number}"))
        except LimitError:
            refused.append(number)

    with ThreadPoolExecutor(8) as visitors:
        list(visitors.map(ask, range(8)))
    assert len(refused) == 5
    assert store.counts() == {"queued": 3}


# Described and searched


def test_describing(store: RunStore) -> None:
    run_id = finish(store, "a")
    store.describe(run_id, title="New", note="first\nsecond", tagged=["b", "a", "b"])
    found = store.get(run_id)
    assert (found.title, found.note, found.tags) == ("New", "first\nsecond", ("a", "b"))
    store.describe(run_id, note="")
    found = store.get(run_id)
    assert (found.title, found.note, found.tags) == ("New", "", ("a", "b"))
    store.describe(run_id, tagged=[])
    found = store.get(run_id)
    assert found.tags == ()


def test_describing_what_was_deleted_says_so(store: RunStore) -> None:
    for given in ({"title": "x"}, {"note": "x"}, {"tagged": ["x"]}, {}):
        with pytest.raises(StoreError, match="The run was deleted"):
            store.describe("nobody", **given)


def test_a_tag_of_any_length_is_kept_or_refused(store: RunStore) -> None:
    run_id = finish(store, "a")
    store.describe(run_id, tagged=["ü" * 64])
    with pytest.raises(LimitError, match=r"A tag may have 64 characters; .* has 65"):
        store.describe(run_id, title="not this either", tagged=["x" * 65])
    found = store.get(run_id)
    assert (found.tags, found.title) == (("ü" * 64,), "a")


@on_both
@pytest.mark.parametrize("text", HOSTILE, ids=range(len(HOSTILE)))
def test_hostile_texts_are_only_texts(store: RunStore, text: str) -> None:
    other = create(store, "another")
    made = create(store, "a", title=text, owner=text, files=((text, "1" * 64),))
    assert made.title == made.owner == text
    store.describe(made.id, note=text, tagged=[text[:64]])
    found = store.get(made.id)
    assert (found.note, found.tags) == (text, (text[:64],))
    assert store.files_of(made.id) == ((text, "1" * 64),)
    expected = {made.id, other.id} if text == "" else {made.id}
    assert {record.id for record in store.search(text)} == expected
    assert [record.id for record in store.search(owner=text)] == [made.id]
    assert [record.id for record in store.search(tag=text[:64])] == [made.id]
    assert store.answering(text, "ann") is None
    assert store.get(text) is None


@on_both
@pytest.mark.parametrize("text", ["\x00", "a\x00b", "\ud800", "\udfff\ud800"])
def test_texts_that_a_database_refuses_are_made_storable(store: RunStore, text: str) -> None:
    made = create(store, "a", title=text, owner=text, files=((text, "1" * 64),))
    store.describe(made.id, note=text, tagged=[text])
    found = store.get(made.id)
    assert "\ufffd" in found.title
    assert found.title == found.note == found.tags[0] == found.owner
    assert [record.id for record in store.search(text)] == [made.id]
    assert [record.id for record in store.search(tag=text, owner=text)] == [made.id]
    assert store.get(text) is None
    claimed = claim(store)
    store.finish(claimed, "failed", error=text)


@on_both
@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("%", ["100% sure"]),
        ("_", ["snake_case"]),
        ("'", ["it's"]),
        ('"', ['"so"']),
        ("\\", ["back\\slash"]),
        ("/", ["either/or"]),
        ("SURE", ["100% sure"]),
        ("e_c", ["snake_case"]),
        ("e%c", []),
        ("anna", ['"so"', "100% sure", "back\\slash", "either/or", "it's", "snake_case"]),
        ("remark", ["it's"]),
        ("label", ["snake_case"]),
        ("nothing of the kind", []),
    ],
)
def test_search_takes_its_text_literally(store: RunStore, text: str, expected: list[str]) -> None:
    titles = ["100% sure", "snake_case", "it's", '"so"', "back\\slash", "either/or"]
    made = {title: create(store, title, owner="Anna@example.org") for title in titles}
    store.describe(made["it's"].id, note="a Remark")
    store.describe(made["snake_case"].id, tagged=["a label"])
    assert sorted(record.title for record in store.search(text)) == expected


@on_both
def test_search_narrowed_and_cut(store: RunStore) -> None:
    made = [create(store, f"run {number}", owner="ann" if number % 2 else "bob") for number in range(6)]
    store.describe(made[1].id, tagged=["x"])
    store.describe(made[2].id, tagged=["x", "y"])
    latest = [record.id for record in reversed(made)]
    assert [record.id for record in store.search()] == latest
    assert [record.id for record in store.search(limit=2)] == latest[:2]
    assert [record.id for record in store.search(owner="ann")] == latest[::2]
    assert [record.id for record in store.search(tag="x")] == [made[2].id, made[1].id]
    assert [record.id for record in store.search("run", tag="x", owner="ann")] == [made[1].id]
    assert store.search(tag="%") == []


def test_all_runs_are_asked_for_tags_and_for_files_that_they_still_need(store: RunStore) -> None:
    ours, theirs, raters = "a" * 64, "b" * 64, "c" * 64
    files = (("votes.csv", ours), ("raters.csv", raters))
    made = [create(store, f"run {number}", owner=f"person {number}", files=files) for number in range(205)]
    store.describe(made[0].id, tagged=["beta", "Alpha"])
    store.describe(made[-1].id, tagged=["beta", "gamma"])
    assert store.known_tags() == ["Alpha", "beta", "gamma"]
    store.describe(made[0].id, tagged=[])
    assert store.known_tags() == ["beta", "gamma"]
    create(store, "of another file", files=(("other.csv", theirs),))
    assert claim(store).id == made[0].id
    assert store.waiting_for([ours]) == store.waiting_for([ours, raters]) == 205
    store.request_cancel(made[1].id)
    assert store.waiting_for([ours]) == 204
    assert store.waiting_for([theirs]) == 1
    assert store.waiting_for([]) == 0


# Deleted


@on_both
def test_a_deleted_run_takes_what_is_its_own_along(engine: Engine, store: RunStore) -> None:
    kept = create(store, "kept")
    claimed = claim(store)
    deleted = create(store, "deleted")
    for record in (kept, deleted):
        store.describe(record.id, tagged=["t"])
        LinkStore(engine).create(record.id, created_by="ann")
        AnswerStore(engine).keep(record.id, "what", 1)
    store.keep(claimed, 1, [(0, np.ones((1, 2, 6)))])
    store.delete(deleted.id)
    store.delete("nobody")
    assert store.get(deleted.id) is None
    for table in (answers, tags, checkpoints, run_files, links):
        assert set(column(engine, table, "run_id")) == {kept.id}


@on_both
def test_runs_are_deleted_by_age_once_they_have_ended(engine: Engine, store: RunStore) -> None:
    done = finish(store, "done")
    create(store, "running")
    running = claim(store)
    waiting = create(store, "waiting")
    assert store.delete_older_than(1.0) == 0
    change(engine, runs, created_at=0.0)
    assert store.delete_older_than(1.0) == 0
    change(engine, runs, finished_at=runs.c.created_at + 1.0)
    assert store.delete_older_than(1.0) == 1
    assert store.get(done) is None
    assert {record.id for record in store.search()} == {running.id, waiting.id}


def test_blocks_of_runs_given_up_are_dropped_in_time(engine: Engine, store: RunStore) -> None:
    create(store, "given up")
    given_up = claim(store)
    store.keep(given_up, 1, [(0, np.ones((1, 2, 6)))])
    store.finish(given_up, "cancelled")
    create(store, "running")
    running = claim(store)
    store.keep(running, 1, [(0, np.ones((1, 2, 6)))])
    assert store.drop_checkpoints(older_than_hours=1.0) == 0
    change(engine, runs, finished_at=0.0)
    assert store.drop_checkpoints(older_than_hours=1.0) == 1
    assert column(engine, checkpoints, "run_id") == [running.id]


def test_what_another_version_saved_is_read(engine: Engine, store: RunStore) -> None:
    """Texts beyond ASCII may stand in a result as they are."""

    added = store.add(make_result(warnings=("ä",)), title="A", owner="")
    plain = make_result(warnings=("ä",)).to_dict()
    change(engine, runs, result=json.dumps(plain, ensure_ascii=False))
    found = store.result(added.id)
    assert found.warnings == (said("ä"),)
    assert isinstance(found.spec, RunSpec)


@on_both
def test_a_cancel_never_falls_between_two_states(store: RunStore) -> None:
    """However a run moves between waiting and running meanwhile."""
    for number in range(10):
        made = create(store, f"run {number}")
        ready = threading.Barrier(2)

        def move(ready: threading.Barrier = ready) -> None:
            ready.wait()
            for _ in range(5):
                claimed = store.claim()
                if claimed is None:
                    return
                store.release(claimed)

        with ThreadPoolExecutor(1) as other:
            moving = other.submit(move)
            ready.wait()
            store.request_cancel(made.id)
            moving.result()
        record = store.get(made.id)
        assert record.cancel_requested
        assert record.state == "cancelled"
