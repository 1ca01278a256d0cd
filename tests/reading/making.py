"""Tables from literal text, for tests."""

import csv
import io
import sys
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from typing import TypeVar

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from grasp_core.model.annotations import Annotations
from grasp_core.model.data_spec import DataSpec
from grasp_core.model.errors import DataError
from grasp_core.reading.sandbox import read as tables
from grasp_core.reading.sandbox.parse import parse, parse_folder
from grasp_core.reading.sandbox.read import read_table
from grasp_core.reading.table.parsed import Watch
from grasp_core.reading.table.table import Parsed, Table

T = TypeVar("T")
LONG = DataSpec(item="item", rater="rater", label="label")


def text_table(text: str, name: str = "votes.csv") -> Table:
    """A table from text: columns separated by spaces, rows by line breaks or slashes; '' is an empty cell."""
    lines = [line.split() for line in text.replace("/", "\n").splitlines() if line.strip()]
    return rows_table([["" if cell == "''" else cell for cell in line] for line in lines], name)


def rows_table(rows: Iterable[Sequence[str]], name: str = "votes.csv") -> Table:
    """A table from rows of text, the header first."""
    return read_here(csv_bytes(rows), name)


def crossed(
    header: str, row: Callable[[int, int], Sequence[object] | None], items: int = 9, raters: int = 4
) -> Table:
    """A long table: a row for each item and rater, made of their numbers, where `row` gives one."""
    made = (row(item, rater) for item in range(items) for rater in range(raters))
    return rows_table([header.split(","), *(list(map(str, cells)) for cells in made if cells)])


def tabled(head: str, rows: Iterable[Sequence[object]]) -> Table:
    """A table of these columns, whose names are separated by blanks."""
    return rows_table([head.split(), *(list(map(str, row)) for row in rows)])


def numbered(head: str, row: Callable[[int], Sequence[object]], n: int = 60) -> Table:
    """The same, of `n` rows, each made of its number."""
    return tabled(head, map(row, range(n)))


def labels_of(votes: Annotations) -> dict[tuple[str, str], str]:
    """Each annotation's label, by item and rater."""
    return {
        (votes.item_ids[i], votes.rater_ids[j]): votes.categories[k]
        for i, j, k in zip(votes.item, votes.rater, votes.category, strict=True)
    }


def read_here(content: bytes, name: str, member: str | None = None) -> Table:
    """As :func:`read_table`, but in this process: quicker, and for limits of parsing that a test changes."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(tables, "read", parsed_here)
        return read_table(content, name, member=member)


def parsed_here(files: Callable, name: str, *, folder: bool, member: str | None, watch: Watch) -> Parsed:
    """As :func:`grasp_core.reading.sandbox.read.read`, in this process."""
    contents = [b"".join(file) for file in files()]
    return parse_folder(contents, name, watch) if folder else parse(contents[0], name, member, watch)


def handled_here(work: Callable[..., T], tables: Mapping[str, Table | None], given: Mapping) -> T:
    """As :func:`grasp_core.reading.sandbox.read.handle`, in this process."""
    return work(**tables, **given)


def csv_bytes(rows: Iterable[Sequence[str]], delimiter: str = ",") -> bytes:
    file = io.StringIO()
    csv.writer(file, delimiter=delimiter).writerows(rows)
    return file.getvalue().encode()


def parquet_bytes(table: pa.Table | Mapping[str, object], **options: object) -> bytes:
    file = io.BytesIO()
    pq.write_table(table if isinstance(table, pa.Table) else pa.table(table), file, **options)
    return file.getvalue()


def arrow_bytes(table: pa.Table, new: Callable = pa.ipc.new_stream, **options: object) -> bytes:
    file = io.BytesIO()
    with new(file, table.schema, **options) as writer:
        writer.write_table(table, max_chunksize=4)
    return file.getvalue()


def written(table: Table) -> list[list[str]]:
    """Header and rows, as they would be written again."""
    return [list(table.columns), *table.head(10_000).to_numpy().tolist()]


def messages(table: Table) -> str:
    """What was said of the file."""
    return " | ".join(problem.message for problem in table.problems)


def refusal_of(act: Callable[[], object], *parts: str) -> str:
    """The line that refuses it, which has these parts."""
    with pytest.raises(DataError) as caught:
        act()
    message = str(caught.value)
    assert "\n" not in message
    assert [part for part in parts if part not in message] == []
    assert all(problem.stops for problem in caught.value.problems)
    return message


def calls(work: Callable[[], object]) -> int:
    """How many functions are called, which no other work on the machine changes; it may end in a refusal."""
    made = Counter[str]()
    sys.setprofile(lambda _frame, event, _about: made.update([event]))
    try:
        with suppress(DataError):
            work()
    finally:
        sys.setprofile(None)
    return made["call"] + made["c_call"]
