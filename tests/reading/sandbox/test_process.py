"""The process that reads: in turn, counted, in bounded time, and as it would be here."""

import dataclasses
import gc
import io
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from contextvars import Context
from functools import partial
from typing import Any, TypeVar

import numpy as np
import pyarrow as pa
import pytest

from grasp_core.model.data_spec import DataSpec
from grasp_core.model.errors import DataError
from grasp_core.model.example import example_files
from grasp_core.model.turns import Load, ask_as
from grasp_core.reading.dataset.load import fitting, load
from grasp_core.reading.guess.file_roles import with_items
from grasp_core.reading.guess.recognise import recognise
from grasp_core.reading.guess.tables import fitted, guessed, loaded
from grasp_core.reading.sandbox.limits import count_open_table, held_by
from grasp_core.reading.sandbox.read import READING, read_table
from grasp_core.reading.table.table import Table
from tests.reading.making import calls, csv_bytes, read_here, text_table
from tests.reading.reader_samples import ROWS, outcome
from tests.reading.sandbox.hostile import SHAPES, Shape

pytestmark = pytest.mark.in_earnest


LONG = text_table("item rater label age/a r1 yes 30/a r2 no 41/b r1 no 30/b r2 NA 41/c r1 yes 30/c r3 no 22")
WIDE = text_table("item r1 r2 r3/a x y x/b y y x/c x x y")
ITEMS = text_table("item topic/a sports/b sports/c news", "items.csv")
CASES: dict[str, tuple[Table, Table | None, Table | None]] = {
    "long": (LONG, None, None),
    "matrix and items": (WIDE, None, ITEMS),
    "two files": (*(read_here(content, name) for name, content in example_files().items()), None),  # type: ignore[dict-item]
}


def same(one: Any, other: Any) -> bool:
    """Whether two values are equal through and through, arrays and their types included."""
    if isinstance(one, np.ndarray):
        return one.dtype == other.dtype and np.array_equal(one, other)
    if dataclasses.is_dataclass(one):
        names = [field.name for field in dataclasses.fields(one)]
        fields = ((getattr(one, name), getattr(other, name)) for name in names)
        return type(one) is type(other) and all(same(*pair) for pair in fields)
    if isinstance(one, dict):
        return list(one) == list(other) and all(same(one[key], other[key]) for key in one)
    if isinstance(one, tuple):
        return len(one) == len(other) and all(map(same, one, other))
    return bool(one == other)


@pytest.mark.parametrize("case", CASES.values(), ids=CASES)
def test_the_outcome_is_that_of_doing_it_here(case: tuple[Table, Table | None, Table | None]) -> None:
    annotations, raters, items = case
    guess = guessed(annotations, raters, items)
    assert guess == with_items(recognise(annotations, raters), annotations, items)
    spec = guess.spec
    assert same(loaded(annotations, raters, spec, items=items), load(annotations, raters, spec, items=items))
    named = loaded(annotations, raters, spec, guess.axes, items=items, slices=())
    assert same(named, load(annotations, raters, spec, guess.axes, items=items, slices=()))
    assert fitted(annotations, raters, spec, guess.axes, items) == fitting(
        annotations, raters, spec, guess.axes, items
    )


def test_tables_and_matrices_are_held_against_the_limit_of_the_asker(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GRASP_READ_MEMORY_MB", "256")
    ids = pa.array([f"id {n}" for n in range(1_000_000)])
    data = pa.table({"item": ids, "rater": ids, "label": ids})
    table = dataclasses.replace(LONG, data=data, lines=None)
    with pytest.raises(DataError, match=r"more than 0\.25 GiB"):
        loaded(table, None, DataSpec(item="item", rater="rater", label="label"))
    assert guessed(LONG).spec.layout == "long"  # the next one is handled
    monkeypatch.setenv("GRASP_READ_MEMORY_MB", "200")
    rows = pa.array(["x"] * 3_000)
    names = ["item", *(f"r{n}" for n in range(6_000))]
    data = pa.table([pa.array(map(str, range(3_000))), *[rows.dictionary_encode()] * 6_000], names=names)
    table = dataclasses.replace(LONG, data=data, lines=None)
    with pytest.raises(DataError, match="which would take about"):
        loaded(table, None, DataSpec(layout="items-by-raters", item="item"))


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


@pytest.fixture
def ann(monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    monkeypatch.setenv("GRASP_READ_MEMORY_MB", "200")
    ask_as("ann")
    yield "ann"
    ask_as(None)


def large_held() -> pa.Table:
    return pa.table({"a": np.zeros(15_000_000)})


def test_one_person_has_no_more_open_than_one_file_may_take(ann: str) -> None:
    first = large_held()
    count_open_table(first, "votes.csv")
    with pytest.raises(DataError, match=r"more\.csv"):
        count_open_table(large_held(), "more.csv")
    ask_as("bob")
    others = large_held()
    count_open_table(others, "votes.csv")
    ask_as(ann)
    del first
    assert held_by(ann) == 0
    again = large_held()
    count_open_table(again, "more.csv")
    assert held_by(ann) == again.nbytes


def test_what_is_read_counts_until_it_is_let_go_and_where_nobody_shares_not(ann: str) -> None:
    table = read_table(b"item,rater,label\na,r,1\nb,r,2\n", "votes.csv")
    assert held_by(ann) == table.data.nbytes > 0
    del table
    assert held_by(ann) == 0
    ask_as(None)
    both = large_held(), large_held()
    for table in both:
        count_open_table(table, "votes.csv")


# Reading twice as much takes about twice as long
FIRST, LONGEST = 1_000, 1 << 14
"""Where growth begins: smaller files are read at once, however slowly they grow."""
SECONDS = 0.02
"""What reading has to take for noise not to decide."""
DOUBLINGS = 3
"""Together: what grows with the square takes 64 times as long then, beyond any noise."""
TIMES = 2.5**DOUBLINGS


def once(content: bytes) -> float:
    """Processor time of a reading."""
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
    small, large = shape(size), shape(size << DOUBLINGS)
    before = min(once(small) for _ in range(2))
    after = min(once(large) for _ in range(readings))
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


@pytest.mark.parametrize("name", list(SHAPES))
def test_eight_times_the_size_takes_at_most_twelve_times_as_many_calls(name):
    shape = SHAPES[name]
    # The empty cells of a diagonal grow so until they are refused; files in a file each have a reading.
    small = {"workbook: diagonal": 250, "workbook: sheets": 20, "packed: doccano": 20}.get(name, 40)
    outcome(shape(small))  # what the first reading of a process sets up
    many, few = (calls(partial(read_here, shape(size), "votes.bin")) for size in (8 * small, small))
    assert many <= 12 * few
