"""What raters add to their groups' use of labels in all parts together, since it is a sum over raters.

Each part's is worked out once, with the observed statistics. Where there is room, it is added up by rater:
a permutation then goes through the raters once, whatever the number of parts that they are in.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np
import pyarrow as pa

from grasp_core.io.parts import workplace
from grasp_core.io.parts.codes import SHARED, as_file, in_one_piece
from grasp_core.io.sources import remote
from grasp_core.permutation import questions
from grasp_core.permutation.kernel.label_use import OfRaters
from grasp_core.permutation.questions import AnyDesign

ROOM = 1 << 24
"""Raters times categories of a question, at most: 128 MiB of sums. Beyond it, each part adds its own."""
ALL = "all"


def fit(n_raters: int, categories: Sequence[Sequence[str]]) -> bool:
    """Whether what raters add to the categories of each question has room."""
    return n_raters * max(map(len, categories)) <= ROOM


def keep(place: str, part: int, design: AnyDesign) -> tuple[int, ...]:
    """Write what a part's raters add, for :class:`Totals`; the questions of which they say it.

    Raises
    ------
    DataError
        If it cannot be written.
    """
    found = {q: one.of_raters for q, one in enumerate(questions.designs_of(design))}
    return tuple(q for q, of in found.items() if of is not None and _write(place, part, q, of))


class Totals:
    """What raters add in all parts.

    Parameters
    ----------
    n_raters : int
    categories : sequence of sequences of str
        By question.
    """

    def __init__(self, n_raters: int, categories: Sequence[Sequence[str]]) -> None:
        self._sums = [np.zeros((n_raters, len(labels))) for labels in categories]

    def add(self, place: str, part: int, said: Iterable[int]) -> None:
        """Add what :func:`keep` wrote of some questions; part after part, so that sums are the same bits.

        Raises
        ------
        DataError
            If it cannot be reached from here.
        """
        for question in said:
            of = _read(place, part, question)
            self._sums[question][np.repeat(of.rater, np.diff(of.ptr)), of.category] += of.more

    def write(self, place: str) -> None:
        """Write them for :func:`of_all`.

        Raises
        ------
        DataError
            If they cannot be written.
        """
        for question, sums in enumerate(self._sums):
            rater, category = np.nonzero(sums)
            entries = np.bincount(rater, minlength=len(sums))
            there = np.flatnonzero(entries)
            ptr = np.append(0, np.cumsum(entries[there]))
            found = OfRaters(there.astype(np.int32), ptr, category.astype(np.int32), sums[rater, category])
            _write(place, ALL, question, found)


def of_all(place: str, n_questions: int) -> list[OfRaters]:
    """What raters add in all parts, by question.

    Raises
    ------
    DataError
        If it cannot be reached from here.
    """
    return [_read(place, ALL, question) for question in range(n_questions)]


def _write(place: str, part: int | str, question: int, found: OfRaters) -> bool:
    lists = {name: pa.LargeListArray.from_arrays(found.ptr, getattr(found, name)) for name in _LISTS}
    with remote.in_sentences(place, SHARED):
        workplace.write(place, _name(part, question), as_file(pa.table({"rater": found.rater, **lists})))
    return True


def _read(place: str, part: int | str, question: int) -> OfRaters:
    with remote.in_sentences(place, SHARED):
        table = pa.ipc.open_file(workplace.read(place, _name(part, question))).read_all()
    rater, category, more = (in_one_piece(table.column(name)) for name in ("rater", *_LISTS))
    values = (rater, category.offsets, category.values, more.values)
    # Copies: arrays that must not be written are another type, for which kernels would be compiled again.
    return OfRaters(*(value.to_numpy().copy() for value in values))


def _name(part: int | str, question: int) -> str:
    return f"{part}-{question}.of-raters"


_LISTS = ("category", "more")
