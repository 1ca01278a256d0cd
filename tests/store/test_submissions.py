"""Submissions on both databases: kept whole, and no more scored than allowed."""

from concurrent.futures import ThreadPoolExecutor

import pytest
from sqlalchemy import Engine

from grasp_core.model.errors import LimitError
from grasp_core.store.submissions import SubmissionStore
from tests.store.both import on_both
from tests.store.making import HOSTILE

PREDICTIONS = {"one": {"50": "yes", "51": "no"}, "two": {"50": "é\n"}}
SCORES = {
    "tasks": {"one": {"macro_f1": 0.5, "macro_f1_declared": 0.5, "ci95": [0.1, 0.9], "n": 2}},
    "overall": None,
}


@pytest.fixture
def store(engine: Engine) -> SubmissionStore:
    return SubmissionStore(engine, limit=3)


def guess(number: int) -> dict[str, dict[str, str]]:
    return {"one": {"50": str(number)}}


@on_both
def test_a_submission_is_kept_whole(store: SubmissionStore) -> None:
    kept = store.add(HOSTILE[0], PREDICTIONS, SCORES, owner="ann")
    (found,) = store.all()
    assert (found.id, found.owner, found.scores) == (kept.id, "ann", SCORES)
    assert store.predictions(kept.id) == PREDICTIONS
    assert store.predictions("unheard of") is None


def test_the_newest_comes_first(store: SubmissionStore) -> None:
    kept = (("first", PREDICTIONS), ("second", guess(1)))
    names = [store.add(name, predictions, SCORES, owner="ann").name for name, predictions in kept]
    assert [record.name for record in store.all()] == names[::-1]


@on_both
def test_the_same_from_many_tabs_at_once_stands_there_once(store: SubmissionStore) -> None:
    with ThreadPoolExecutor(8) as tabs:
        kept = list(tabs.map(lambda _: store.add("mine", PREDICTIONS, SCORES, owner="ann"), range(8)))
    assert {record.id for record in store.all()} == {record.id for record in kept}
    assert len(store.all()) == 1
    for predictions, owner in ((guess(1), "ann"), (PREDICTIONS, "bob")):
        assert store.renamed("mine", predictions, owner=owner) is None
        store.add("mine", predictions, SCORES, owner=owner)
    assert len(store.all()) == 3


@on_both
def test_the_same_under_another_name_is_renamed(store: SubmissionStore) -> None:
    names = [f"name {number}" for number in range(8)]
    with ThreadPoolExecutor(8) as tabs:
        list(tabs.map(lambda name: store.add(name, PREDICTIONS, SCORES, owner="ann"), names))
    (kept,) = store.all()
    assert kept.name in names
    last = store.renamed("last", PREDICTIONS, owner="ann")
    assert (last.id, last.name) == (kept.id, "last")
    assert [record.name for record in store.all()] == ["last"]


def test_a_person_may_not_probe(store: SubmissionStore) -> None:
    for number in range(3):
        assert store.left("one", owner="ann") == 3 - number
        store.reserve(guess(number), owner="ann")
    with pytest.raises(LimitError, match="one: you have had 3 different predictions scored"):
        store.reserve(guess(4), owner="ann")
    assert store.left("one", owner="bob") == 3
    store.reserve({"two": {"50": "x"}}, owner="ann")


def test_the_same_predictions_count_once(store: SubmissionStore) -> None:
    for _ in range(9):
        store.reserve(guess(1), owner="ann")
    assert store.left("one", owner="ann") == 2


def test_a_refused_reservation_counts_nothing(store: SubmissionStore) -> None:
    for number in range(3):
        store.reserve(guess(number), owner="ann")
    with pytest.raises(LimitError):
        store.reserve({"another": {"1": "x"}, **guess(9)}, owner="ann")
    assert store.left("another", owner="ann") == 3


def test_deleting_gives_nothing_back(store: SubmissionStore) -> None:
    store.reserve(guess(1), owner="ann")
    kept = store.add("mine", guess(1), SCORES, owner="ann")
    store.delete(kept.id)
    assert store.all() == []
    assert store.left("one", owner="ann") == 2


@on_both
def test_two_at_once_stay_within_the_limit(store: SubmissionStore) -> None:
    def attempt(number: int) -> bool:
        try:
            store.reserve(guess(number), owner="ann")
        except LimitError:
            return False
        return True

    with ThreadPoolExecutor(6) as pool:
        assert sum(pool.map(attempt, range(8))) == 3
