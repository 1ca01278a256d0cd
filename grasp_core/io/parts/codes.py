"""A part's annotations as codes, kept on this machine so that its file is read once."""

from __future__ import annotations

import contextlib
import os
import shutil
import tempfile
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pyarrow as pa

from grasp_core.annotations import Codes
from grasp_core.io.dataset.filters import Sieve
from grasp_core.io.dataset.questions import together

ROOM = 4
"""A file is kept only if the disk has room for so many of it."""


@dataclass(frozen=True, slots=True, eq=False)
class PartCodes:
    """A part's answers to a question that count, A in all.

    Parameters
    ----------
    item, rater, label : int arrays, shape (A,)
        Items that have an answer to any question are numbered in their order in the part; the others are
        positions in `rater_ids` and `labels`.
    n_items : int
    rater_ids, labels : pyarrow arrays of str
    """

    item: Codes
    rater: Codes
    label: Codes
    n_items: int
    rater_ids: pa.Array
    labels: pa.Array

    @classmethod
    def of(cls, sieves: Sequence[Sieve]) -> Iterator[PartCodes]:
        """The codes of what was read, by question."""
        rated = np.bincount(together(sieves).item, minlength=len(sieves[0].votes.item_ids)) > 0
        position = np.cumsum(rated) - 1
        for votes in (sieve.votes for sieve in sieves):
            ids, labels = (pa.array(texts, pa.string()) for texts in (votes.rater_ids, votes.labels))
            yield cls(position[votes.item], votes.rater, votes.label, int(rated.sum()), ids, labels)

    def keep(self, workplace: str, part: int, question: int) -> None:
        """Write them where :meth:`kept` finds them, if there is room."""
        place = kept_place(workplace, part, question, "codes")
        columns = {
            "item": pa.array(self.item.astype(np.int32)),
            "rater": _column(self.rater, self.rater_ids),
            "label": _column(self.label, self.labels),
        }
        table = pa.table(columns).replace_schema_metadata({"items": str(self.n_items)})

        def write(path: Path) -> None:
            with pa.OSFile(str(path), "wb") as file, pa.ipc.new_file(file, table.schema) as writer:
                writer.write_table(table)

        keep_whole(place, table.nbytes, write)

    @classmethod
    def kept(cls, workplace: str, part: int, question: int) -> PartCodes | None:
        """The codes that :meth:`keep` wrote, if they are there and can be read."""
        place = kept_place(workplace, part, question, "codes")
        if place is None:
            return None
        try:
            table = pa.ipc.open_file(pa.memory_map(str(place))).read_all()
        except (OSError, pa.ArrowInvalid):
            return None
        item, rater, label = (table.column(name).combine_chunks() for name in table.column_names)
        return cls(
            item.to_numpy(),
            rater.indices.to_numpy(),
            label.indices.to_numpy(),
            int(table.schema.metadata[b"items"]),
            rater.dictionary,
            label.dictionary,
        )


def _column(codes: Codes, texts: pa.Array) -> pa.DictionaryArray:
    return pa.DictionaryArray.from_arrays(pa.array(codes.astype(np.int32)), texts)


def keep_whole(place: Path | None, size: int, write: Callable[[Path], None]) -> None:
    """Write a file of about `size` bytes, whole or not at all.

    It is not written where that would leave little room for what cannot be done without.
    """
    if place is None:
        return
    with contextlib.suppress(OSError), tempfile.TemporaryDirectory(dir=place.parent) as folder:
        if shutil.disk_usage(folder).free >= ROOM * size:
            written = Path(folder) / place.name
            write(written)
            os.replace(written, place)


def kept_place(workplace: str, part: int, question: int, kind: str) -> Path | None:
    """Where the codes of a part's answers are kept; None where the workplace is an address.

    They are "codes" as they were surveyed, "npz" once raters are numbered through all parts.
    """
    return None if "://" in workplace else Path(workplace) / f"{part}-{question}.{kind}"
