"""Values that threads share: made once, by whoever asks first."""

from __future__ import annotations

import threading
from concurrent.futures import ThreadPoolExecutor

import pytest

from grasp_core.engine.latest import Latest


def test_threads_wait_for_the_one_that_makes_a_value() -> None:
    latest, started, go_on, made = Latest[str](2), threading.Event(), threading.Event(), list[str]()

    def make() -> str:
        started.set()
        go_on.wait()
        made.append("once")
        return "made"

    with ThreadPoolExecutor(2) as threads:
        asked = [threads.submit(latest.get, "key", make) for _ in range(2)]
        started.wait()
        assert latest.get("another", lambda: "at once") == "at once"  # nobody waits for other keys
        go_on.set()
        assert [future.result() for future in asked] == ["made", "made"]
    assert made == ["once"]


def test_only_the_latest_are_kept() -> None:
    latest, made = Latest[int](2), list[str]()
    for key in ("a", "b", "a", "c", "a", "b"):
        assert latest.get(key, lambda key=key: made.append(key) or len(made)) <= len(made)
    assert made == ["a", "b", "c", "b"]


def test_what_could_not_be_made_is_tried_again() -> None:
    latest = Latest[int](1)
    with pytest.raises(ZeroDivisionError):
        latest.get("key", lambda: 1 // 0)
    assert latest.get("key", lambda: 3) == 3
