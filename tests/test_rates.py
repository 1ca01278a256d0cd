"""How often somebody may ask: who is counted together, and what normal use never meets."""

import dataclasses
import threading
import time
from contextlib import ExitStack

import pytest

from grasp_core.model import rates as rates_module
from grasp_core.model.errors import TooOftenError
from grasp_core.model.rates import MANY, Asker, Rates
from grasp_core.model.settings import Settings

OFFICE = "203.0.113.7"
STRANGER = Asker("", OFFICE)
ANN, BOB = Asker("ann", OFFICE), Asker("bob", OFFICE)


def few(**settings: object) -> Rates:
    return Rates(dataclasses.replace(Settings(), **settings))  # type: ignore[arg-type]


def test_an_office_at_work_meets_no_limit() -> None:
    """A hundred people behind one address, each with ten tabs, reload twenty times a minute and upload."""
    rates = Rates(Settings())
    people = [Asker(f"person {number}", OFFICE) for number in range(100)]
    with ExitStack() as tabs:
        for person in people:
            for _ in range(10):
                tabs.enter_context(rates.tab(person))
    for person in people:
        for _ in range(20):
            rates.before_tab(person)
            with rates.tab(person):
                rates.request(person, changes=False)
        for _ in range(5):
            rates.upload(person)
            rates.run(person)


def test_an_office_without_sign_in_meets_no_limit() -> None:
    rates = Rates(Settings())
    with ExitStack() as tabs:
        for _ in range(100 * 10):
            tabs.enter_context(rates.tab(STRANGER))
    for _ in range(100 * 20):
        with rates.tab(STRANGER):
            rates.before_guess(STRANGER)
    for _ in range(100 * 5):
        rates.run(STRANGER)
        rates.upload(STRANGER)


@pytest.mark.parametrize(("what", "setting"), [("upload", "upload_rate"), ("run", "run_rate")])
def test_one_persons_haste_is_no_other_s(what: str, setting: str) -> None:
    rates = few(**{setting: "3/hour"})
    ask = getattr(rates, what)
    for _ in range(3):
        ask(ANN)
    with pytest.raises(TooOftenError, match=rf"One person may have 3 {what}s .*per hour") as refused:
        ask(ANN)
    assert 1 <= refused.value.seconds <= 2 * 3600
    ask(BOB)
    for _ in range(3 * MANY):
        ask(STRANGER)
    with pytest.raises(TooOftenError, match=rf"One address may have 30 {what}s"):
        ask(STRANGER)


def test_tabs_count_for_person_and_address_while_they_are_open() -> None:
    rates = few(tabs=2)
    with rates.tab(ANN), rates.tab(ANN):
        for ask in (lambda: rates.before_tab(ANN), lambda: rates.tab(ANN).__enter__()):
            with pytest.raises(TooOftenError, match="One person may have 2 tabs open"):
                ask()
        with rates.tab(BOB):
            pass
        with ExitStack() as office:
            for number in range(2 * MANY - 2):
                office.enter_context(rates.tab(Asker(f"person {number}", OFFICE)))
            with pytest.raises(TooOftenError, match="One address may have 20 tabs open"):
                rates.before_tab(BOB)
            rates.before_tab(Asker("bob", "203.0.113.8"))
    rates.before_tab(ANN)


def test_different_tokens_are_guesses_and_the_same_one_again_is_not() -> None:
    rates = few(guess_rate="5/hour")
    for _ in range(100):
        rates.before_guess(ANN)
        rates.guess(ANN, "expired")
    for number in range(4):
        rates.before_guess(BOB)
        rates.guess(BOB, f"guess {number}")
    for asker in (ANN, BOB, STRANGER):
        with pytest.raises(TooOftenError, match="5 links or tokens that open nothing"):
            rates.before_guess(asker)
    rates.before_guess(Asker("", "203.0.113.8"))


@pytest.mark.parametrize(
    ("one", "other", "same"),
    [
        ("2001:db8:1:2::1", "2001:db8:1:2:ffff::9", True),
        ("2001:db8:1:2::1", "2001:db8:1:3::1", False),
        ("fe80::1%eth0", "fe80::2", True),
        ("::ffff:203.0.113.7", OFFICE, True),
        (OFFICE, "203.0.113.8", False),
        ("testclient", "", False),
    ],
)
def test_a_household_is_one_address(one: str, other: str, same: bool) -> None:
    assert (Asker("", one).key == Asker("", other).key) == same


def test_counters_are_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(rates_module, "COUNTERS", 100)
    rates = few(run_rate="1/hour")
    for number in range(1000):
        rates.run(Asker("", f"2001:db8:0:{number:x}::1"))
    assert len(rates._storage.storage) == 100
    assert len(rates._storage.locks) <= 101
    assert len(rates._storage.expirations) == 100
    last = Asker("", "2001:db8:0:3e7::1")
    for _ in range(MANY - 1):
        rates.run(last)
    with pytest.raises(TooOftenError):
        rates.run(last)


def test_counting_starts_no_threads() -> None:
    """With a thread for each few requests, all of them wait for threads while the machine is busy."""
    rates = Rates(Settings())
    threading.Event().wait(0.1)  # for the library's first one to end
    before = set(threading.enumerate())
    for number in range(50):
        rates.request(Asker(f"person {number}", OFFICE), changes=True)
    assert set(threading.enumerate()) <= before


def test_counters_start_anew_after_their_time(monkeypatch: pytest.MonkeyPatch) -> None:
    rates = few(run_rate="3/hour")
    for _ in range(3):
        rates.run(ANN)
    now = time.time()
    monkeypatch.setattr(time, "time", lambda: now + 2 * 3600)
    for _ in range(3):
        rates.run(ANN)
