"""Reading twice as much takes about twice as long, whatever the shape of the file."""

from __future__ import annotations

import gc
import time
from contextlib import suppress

import pytest

from grasp_core.model.errors import DataError
from grasp_core.reading.table.table import Table
from tests.reading.making import read_here
from tests.reading.reader_samples import outcome
from tests.reading.sandbox.hostile import SHAPES, Shape

pytestmark = pytest.mark.in_earnest

FIRST, LONGEST = 1_000, 1 << 14
"""Where growth begins: smaller files are read at once, however slowly they grow."""
SECONDS = 0.02
"""What reading has to take for noise not to decide."""
DOUBLINGS = 3
"""Together: what grows with the square takes 64 times as long then, beyond any noise."""
TIMES = 2.5**DOUBLINGS


def seconds(content: bytes, readings: int) -> float:
    """Least processor time of some readings."""
    return min(once(content) for _ in range(readings))


def once(content: bytes) -> float:
    gc.collect()
    gc.disable()  # as the process that reads does
    started = time.process_time()
    try:
        with suppress(DataError):
            read_here(content, "votes.bin")
        return time.process_time() - started
    finally:
        gc.enable()


def measurable(shape: Shape) -> int:
    """Size from which reading takes a while; the largest tried, where it never does."""
    size = FIRST
    while size < LONGEST and once(shape(size)) < SECONDS:
        size *= 2
    return size


def growth(shape: Shape, size: int, readings: int) -> float:
    before, after = seconds(shape(size), 2), seconds(shape(size << DOUBLINGS), readings)
    return after / max(before, SECONDS / 2)


@pytest.mark.long
@pytest.mark.parametrize("name", list(SHAPES))
def test_twice_the_size_takes_at_most_two_and_a_half_times_as_long(name):
    shape = SHAPES[name]
    size = measurable(shape)
    # What grows with the square does so at every size; a second look is for whatever else the machine did.
    assert growth(shape, size, 1) <= TIMES or growth(shape, size, 2) <= TIMES


@pytest.mark.parametrize("name", list(SHAPES))
def test_small_files_of_every_shape_are_read_or_refused_with_their_name(name):
    for size in (1, 2, 30):
        assert isinstance(outcome(SHAPES[name](size)), Table | DataError)


SMALL_BOMBS = {
    "marks in a comment": lambda: SHAPES["workbook: marks in a comment"](1_000_000),
    "repeated fields": lambda: SHAPES["JSON: repeated fields"](40_000),
    "a field in each record": lambda: SHAPES["JSON: fields of each record"](20_000),
    "cells on a diagonal": lambda: SHAPES["workbook: diagonal"](4_000),
}


@pytest.fixture(scope="module")
def plain():
    """Processor time that a plain file takes."""
    return once(SHAPES["JSON: records"](100_000))


@pytest.mark.parametrize("name", list(SMALL_BOMBS))
def test_what_took_minutes_takes_no_longer_than_a_plain_file(name, plain):
    assert once(SMALL_BOMBS[name]()) < 5 * plain
