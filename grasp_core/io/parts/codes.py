"""A part's annotations as codes, kept so that its file is read once."""

from __future__ import annotations

import contextlib
import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from grasp_core.annotations import Codes, Int32Array, Int64Array
from grasp_core.io.dataset.filters import Sieve
from grasp_core.io.dataset.forming import by_item
from grasp_core.io.dataset.questions import together
from grasp_core.io.parts import workplace
from grasp_core.io.sources import remote
from grasp_core.ordering import tallied


@dataclass(frozen=True, slots=True, eq=False)
class PartCodes:
    """A part's answers to a question that count, item after item, A in all.

    Parameters
    ----------
    indptr : int64 array, shape (I + 1,)
        Item i has the answers ``indptr[i]:indptr[i + 1]``. Items that have an answer to any question are
        numbered in their order in the part.
    rater, label : int32 arrays, shape (A,)
        Places among the part's own raters, and in `labels`.
    labels : tuple of str
    """

    indptr: Int64Array
    rater: Codes
    label: Codes
    labels: tuple[str, ...]

    @classmethod
    def of(cls, sieves: Sequence[Sieve]) -> Iterator[PartCodes]:
        """The codes of what was read, by question."""
        rated = tallied(together(sieves).item, len(sieves[0].votes.item_ids)) > 0
        for votes in (sieve.votes for sieve in sieves):
            per_item, rater, label = by_item(votes)
            indptr = np.concatenate(([0], np.cumsum(per_item[rated])))
            yield cls(indptr, rater, label, votes.labels)

    def keep(self, place: str, part: int, question: int) -> None:
        """Write them where :meth:`kept` finds them, if there is room: an item a row, its answers as lists."""
        lists = {name: pa.LargeListArray.from_arrays(self.indptr, getattr(self, name)) for name in _LISTS}
        table = pa.table(lists).replace_schema_metadata({"labels": json.dumps(self.labels)})
        workplace.write_if_room(place, _name(part, question), as_file(table))

    @classmethod
    def kept(cls, place: str, part: int, question: int) -> PartCodes | None:
        """The codes that :meth:`keep` wrote, if they are there and can be read."""
        with contextlib.suppress(Exception):  # every protocol's package has errors of its own
            table = pa.ipc.open_file(workplace.read(place, _name(part, question))).read_all()
            labels = tuple(json.loads(table.schema.metadata[b"labels"]))
            rater, label = (in_one_piece(table.column(name)) for name in _LISTS)
            return cls(rater.offsets.to_numpy(), rater.values.to_numpy(), label.values.to_numpy(), labels)
        return None


_LISTS = ("rater", "label")
SHARED = "what the run's workers share"


def keep_raters(place: str, part: int, places: Int32Array) -> None:
    """Write where a part's raters stand among those of all parts, shape (J,), for :func:`kept_raters`.

    Raises
    ------
    DataError
        If they cannot be written; without them there is no going on.
    """
    with remote.in_sentences(place, SHARED):
        workplace.write(place, f"{part}.raters", pa.py_buffer(places))


def kept_raters(place: str, part: int) -> Int32Array:
    """What :func:`keep_raters` wrote.

    Raises
    ------
    DataError
        If it cannot be reached from here.
    """
    with remote.in_sentences(place, SHARED):
        return np.frombuffer(workplace.read(place, f"{part}.raters"), np.int32)


def as_file(table: pa.Table) -> pa.Buffer:
    """A table as the content of an Arrow file."""
    sink = pa.BufferOutputStream()
    with pa.ipc.new_file(sink, table.schema) as writer:
        writer.write_table(table)
    return sink.getvalue()


def in_one_piece(column: pa.ChunkedArray) -> pa.Array:
    """A column of a file that :func:`as_file` made, where it lies."""
    return column.chunk(0) if column.num_chunks else column.combine_chunks()


def _name(part: int, question: int) -> str:
    return f"{part}-{question}.codes"
