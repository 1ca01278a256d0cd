"""Turns at work: a share for each person, in turn, and nobody waits for ever."""

import threading
from collections.abc import Callable, Iterator
from contextvars import Context

import pytest

from grasp_core.model import turns as turns_module
from grasp_core.model.errors import TooOftenError
from grasp_core.model.turns import Load, Turns, ask_as, loads

LONG = 20.0


class Crowd:
    """People in threads of their own who take turns, and go on when they are told."""

    def __init__(self, turns: Turns) -> None:
        self.turns = turns
        self.begun: list[str] = []
        self.refused: list[str] = []
        self._ends: dict[str, threading.Event] = {}
        self._threads: list[threading.Thread] = []

    def come(self, who: str, waits: Callable[[], None] = lambda: None) -> None:
        """Have somebody come: the letter is the person, the rest tells their turns apart."""
        self._ends[who] = threading.Event()
        before = self.turns.load

        def work() -> None:
            ask_as(who[0])
            try:
                with self.turns.turn(waits):
                    self.begun.append(who)
                    self._ends[who].wait(LONG)
            except (TooOftenError, InterruptedError):
                self.refused.append(who)

        thread = threading.Thread(target=lambda: Context().run(work), daemon=True)
        self._threads.append(thread)
        thread.start()
        self.until(lambda: self.turns.load != before or who in self.refused)

    def end(self, who: str) -> None:
        self._ends[who].set()

    def until(self, what: Callable[[], bool]) -> None:
        waiting = threading.Event()
        for _ in range(2_000):
            if what():
                return
            waiting.wait(0.01)
        raise AssertionError((self.begun, self.refused, self.turns.load))

    def leave(self) -> None:
        for end in self._ends.values():
            end.set()
        for thread in self._threads:
            thread.join(LONG)


def crowd(**more: float) -> Crowd:
    given = {"at_once": 2, "each": 1, "waiting": 4, "waiting_each": 3, "patience": LONG, **more}
    return Crowd(Turns("testing", **given))  # type: ignore[arg-type]


@pytest.fixture
def people() -> Iterator[Crowd]:
    made = crowd()
    yield made
    made.leave()


def test_one_person_leaves_a_place_to_others(people: Crowd) -> None:
    for who in ("a1", "a2", "a3"):
        people.come(who)
    assert (people.begun, people.turns.load) == (["a1"], Load(1, 2))
    people.come("b1")
    people.until(lambda: people.begun == ["a1", "b1"])
    people.end("b1")
    people.until(lambda: people.turns.load == Load(1, 2))
    people.end("a1")
    people.until(lambda: people.begun == ["a1", "b1", "a2"])


def test_who_has_fewest_turns_is_next() -> None:
    people = crowd(each=2)
    for who in ("a1", "a2", "a3", "b1"):
        people.come(who)
    people.end("a1")
    people.until(lambda: people.begun == ["a1", "a2", "b1"])
    people.leave()


def test_people_come_in_turn_however_many_places_in_the_queue_they_have() -> None:
    people = crowd(at_once=1)
    for who in ("a1", "a2", "a3", "b1"):
        people.come(who)
    for number, (done, following) in enumerate([("a1", "b1"), ("b1", "a2")], 2):
        people.end(done)
        people.until(lambda number=number: len(people.begun) == number)
        assert people.begun[-1] == following
    people.come("c1")
    people.end("a2")
    people.until(lambda: people.begun == ["a1", "b1", "a2", "c1"])
    people.leave()


def test_who_finds_no_place_is_told_when_to_come_again(people: Crowd) -> None:
    for who in ("a1", "a2", "a3", "a4", "a5"):
        people.come(who)
    assert people.refused == ["a5"]
    for who in ("b1", "b2", "c1"):
        people.come(who)
    assert people.refused == ["a5", "c1"]
    assert loads()["testing"] == Load(2, 4)
    ask_as("d")
    try:
        with pytest.raises(TooOftenError) as caught, people.turns.turn():
            pass
        assert caught.value.seconds > 0
    finally:
        ask_as(None)


def test_who_loses_patience_or_gives_up_leaves_the_queue() -> None:
    people = crowd(patience=0.1)
    people.come("a1")
    people.come("a2")
    people.until(lambda: people.refused == ["a2"])
    people.leave()
    people = crowd()

    def give_up() -> None:
        raise InterruptedError

    people.come("a1")
    people.come("a2", give_up)
    people.until(lambda: people.refused == ["a2"])
    assert people.turns.load == Load(1, 0)
    people.leave()


def test_where_nobody_shares_there_are_no_shares() -> None:
    turns = Turns("testing", at_once=2, each=1, waiting=0, waiting_each=0, patience=0)
    with turns.turn(), turns.turn():
        assert turns.load == Load(2, 0)


def test_nobody_waits_for_a_server_that_ends(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("grasp_core.model.turns._ending", threading.Event())
    people = crowd()
    for who in ("a1", "a2"):
        people.come(who)
    turns_module.end()
    people.until(lambda: people.refused == ["a2"])
    with pytest.raises(TooOftenError):
        turns_module.check_going()
    people.leave()


def test_a_server_has_threads_for_all_who_wait() -> None:
    before = turns_module.most_held()
    Turns("testing threads", at_once=3, each=1, waiting=7, waiting_each=3, patience=LONG)
    assert turns_module.most_held() == before + 10
