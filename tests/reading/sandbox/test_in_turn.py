"""Small files are read beside large ones, whoever sent these; large ones are read whole all the same."""

from __future__ import annotations

import io
import threading
from collections.abc import Callable, Iterator
from contextvars import Context
from typing import TypeVar

import pytest

from grasp_core.model.turns import Load, ask_as
from grasp_core.reading.sandbox.client import READING
from grasp_core.reading.sandbox.read import read_table
from grasp_core.reading.tables import guessed, loaded
from tests.reading.making import csv_bytes
from tests.reading.reader_samples import ROWS

pytestmark = pytest.mark.in_earnest

T = TypeVar("T")
CSV = csv_bytes(ROWS)


def large() -> bytes:
    """It takes more processor time than a small file may, within the limits of any."""
    return b"item,rater,label\n" + b"".join(b"i%d,r%d,yes\n" % (n, n % 97) for n in range(10_000)) * 100


def of(person: str, what: Callable[[], T]) -> T:
    def asked() -> T:
        ask_as(person)
        return what()

    return Context().run(asked)


@pytest.fixture
def taken() -> Iterator[None]:
    """Two people's files take both places for large ones, until the test ends."""
    over = threading.Event()

    def read() -> None:
        with READING.turn():
            over.wait(60)

    threads = [threading.Thread(target=of, args=(person, read)) for person in ("ann", "bob")]
    for thread in threads:
        thread.start()
    while READING.load != Load(2, 0):
        assert not over.wait(0.01)
    yield
    over.set()
    for thread in threads:
        thread.join()


def test_a_small_file_needs_no_place_among_large_ones(taken: None) -> None:
    table = of("cleo", lambda: read_table(CSV, "votes.csv"))
    assert table.data.num_rows == len(ROWS) - 1
    guess = of("cleo", lambda: guessed(table))
    assert of("cleo", lambda: loaded(table, None, guess.spec)).annotations.n_annotations


def test_a_large_file_is_read_as_where_nobody_shares() -> None:
    content, working = large(), set()

    def watch(_done: int, _total: int) -> None:
        working.add(READING.load.working)

    alone = read_table(content, "votes.csv")
    for source in (content, io.BytesIO(content)):
        working.clear()
        shared = of("ann", lambda source=source: read_table(source, "votes.csv", watch=watch))
        assert working == {0, 1}  # tried as a small one first
        assert shared.data.equals(alone.data)
        assert (shared.sha256, shared.bytes, shared.kind) == (alone.sha256, alone.bytes, alone.kind)
