"""What a data set holds, and what became of every row."""

from __future__ import annotations

import hashlib
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from grasp_core.model.account import Account, LeftOut, Unit, added_up
from grasp_core.model.annotations import BoolArray, Codes
from grasp_core.model.data_spec import DataSpec
from grasp_core.model.errors import Problem
from grasp_core.model.ordering import tallied
from grasp_core.model.recode_steps import Combine
from grasp_core.model.remarks.cautions import LeftOutReason
from grasp_core.model.result import DataSummary, FileFingerprint
from grasp_core.model.wording import EXAMPLES
from grasp_core.reading.dataset import _repeats as repeats
from grasp_core.reading.dataset import checks, filters
from grasp_core.reading.dataset.checks import together
from grasp_core.reading.dataset.filters import Sieve, Step, per_rater
from grasp_core.reading.dataset.recoding import Seen
from grasp_core.reading.dataset.votes import Votes, alike_ids, blank_ids, cell_columns, id_columns
from grasp_core.reading.table.parsed import parts_of
from grasp_core.reading.table.table import Table


@dataclass(frozen=True, slots=True, eq=False)
class Answers:
    """The answers to one question.

    `steps`: what was left out, in order.
    `left`, shape (J,): answers of each rater that count.
    """

    steps: tuple[Step, ...]
    left: Codes
    labels: Mapping[str, int]

    @property
    def gone(self) -> BoolArray:
        """Raters all of whose answers were left out, shape (J,)."""
        gone: BoolArray = ((self.steps[0].before if self.steps else self.left) > 0) & (self.left == 0)
        return gone


@dataclass(frozen=True, slots=True, eq=False)
class Contents:
    """What a data set holds.

    `rater_ids`, length J: of all rows, in order of first appearance.
    `rows`, shape (J,): rows that are each rater's.
    `counted`, shape (J,): annotations of each rater that count: answers to one question or more.
    `answers`: by question.
    `per_item`: items by their number of annotations that count, from 1 on; the first entry is 0.
    `empty_items`: items without one, though nobody left theirs out.
    `listed_items`: of the ids that are to be left out, those that are there.
    """

    rater_ids: pa.Array
    rows: Codes
    counted: Codes
    answers: tuple[Answers, ...]
    per_item: Codes
    empty_items: int
    empty_examples: tuple[str, ...]
    listed_items: frozenset[str]
    seen: tuple[Seen, ...]
    read: int
    left_out: tuple[LeftOut, ...]
    notes: tuple[Problem, ...]

    @classmethod
    def of(
        cls, sieves: Sequence[Sieve], spec: DataSpec, seen: tuple[Seen, ...], notes: Sequence[Problem]
    ) -> Contents:
        """The contents that the sieves, one per question, have left."""
        votes = together(sieves)
        ids, of_row = votes.rater_ids, votes.rater_of_row
        per_item = tallied(votes.item, len(votes.item_ids))
        gone = np.all([sieve.gone_items for sieve in sieves], axis=0)
        empty = np.flatnonzero((per_item == 0) & ~gone)
        read, left_out = _read_and_left_out(votes.table, spec, sieves)
        return cls(
            rater_ids=pa.array(ids, pa.string()),
            rows=np.zeros(len(ids), np.int64) if of_row is None else tallied(of_row, len(ids)),
            counted=per_rater(votes),
            answers=tuple(
                Answers(tuple(sieve.steps), per_rater(sieve.votes), _labels(sieve.votes)) for sieve in sieves
            ),
            per_item=np.bincount(per_item[per_item > 0], minlength=1),
            empty_items=empty.size,
            empty_examples=tuple(votes.item_ids[i] for i in empty[:EXAMPLES]),
            listed_items=frozenset(
                spec.filters.items and set(spec.filters.items).intersection(votes.item_ids)
            ),
            seen=seen,
            read=read,
            left_out=left_out,
            notes=(*alike_ids(votes, spec), *notes),
        )


def leave_out(votes: Votes, excluded: BoolArray, spec: DataSpec) -> tuple[Sieve, list[Problem]]:
    """Leave out what has no label, who is excluded, what the filters name, and repetitions.

    `excluded`, shape (J,): raters who are left out.
    `spec`: of one question.
    """
    labelled, missing = checks.missing_labels(votes, spec)
    sieve = Sieve.of(labelled, votes.cells - labelled.size)
    if spec.exclude:
        sieve.keep(filters.excluding(spec), ~excluded[labelled.rater])
    filters.by_values(sieve, spec)
    stopping = [*blank_ids(sieve.votes, spec), *checks.labels(sieve.votes, spec)]
    repeats.choose(sieve, spec)
    labelled, again = repeats.once(sieve.votes, spec)
    sieve.keep_once(labelled)
    stopping += filters.by_gold(sieve, spec)
    filters.by_counts(sieve, spec)
    return sieve, [*missing, *stopping, *again]


def _read_and_left_out(
    table: Table, spec: DataSpec, sieves: Sequence[Sieve]
) -> tuple[int, tuple[LeftOut, ...]]:
    """How much of an annotations file was read, and what of it was left out."""
    cells = len(table) * (len(sieves) if spec.layout == "long" else len(cell_columns(table, spec)))
    aside = [] if spec.layout == "long" else _put_aside(table, spec)
    by_reader = () if table.recipe is None else table.recipe.left_out
    found = (*by_reader, *aside, *(one for sieve in sieves for one in sieve.left_out()))
    return cells + sum(one.count for one in (*by_reader, *aside)), found


def _put_aside(table: Table, spec: DataSpec) -> list[LeftOut]:
    """Columns of a matrix that are put aside, each with its cells that hold something."""
    return [
        LeftOut(
            LeftOutReason.COLUMN_PUT_ASIDE(column=name),
            int((~table.column(name).among(spec.missing)).sum()),
        )
        for name in spec.ignore
        if name in table.columns
    ]


def _labels(votes: Votes) -> dict[str, int]:
    given = tallied(votes.label, len(votes.labels))
    return {votes.labels[code]: int(given[code]) for code in np.flatnonzero(given)}


def unused(columns: Sequence[str], spec: DataSpec, axes: Collection[str]) -> tuple[str, ...]:
    """Columns of the annotations file that are neither used nor an axis."""
    used = {*axes, *id_columns(spec), *spec.labels, *(name for name, _ in spec.exclude)}
    used |= {part for name in id_columns(spec) for part in parts_of(name, columns)}
    used |= {name for name, _ in spec.filters.drop}
    used |= {name for name in (spec.text, spec.order, spec.filters.time, spec.filters.gold) if name}
    for step in spec.recode:
        used |= set(step.columns) if isinstance(step, Combine) else set()
    if spec.layout == "long":
        return tuple(name for name in columns if name not in used)
    described = spec.profile if spec.layout == "raters-by-items" else ()
    return tuple(name for name in columns if name in described and name not in used)


def summary(
    contents: Contents,
    spec: DataSpec,
    categories: Sequence[Sequence[str]],
    files: Sequence[FileFingerprint],
    unused_columns: tuple[str, ...],
) -> DataSummary:
    """Sizes and identity of the data; labels bear their question's name where there are several."""
    named = [
        (f"{label}: {category}" if len(categories) > 1 else category, answers.labels.get(category, 0))
        for label, answers, of_question in zip(
            [question.label for question in spec.questions], contents.answers, categories, strict=True
        )
        for category in of_question
    ]
    unit: Unit = "cell" if spec.layout != "long" else "answer" if spec.further else "row"
    used = sum(int(answers.left.sum()) for answers in contents.answers)
    sizes = np.flatnonzero(contents.per_item)
    joined = "\n".join(file.sha256 for file in files)
    return DataSummary(
        items=int(contents.per_item.sum()),
        raters=int((contents.counted > 0).sum()),
        annotations=int(contents.counted.sum()),
        categories=tuple(name for name, _ in named),
        label_counts=tuple(count for _, count in named),
        raters_per_item=(int(sizes[0]), _median(contents.per_item), int(sizes[-1])),
        sha256=files[0].sha256 if len(files) == 1 else hashlib.sha256(joined.encode("ascii")).hexdigest(),
        files=tuple(files),
        account=Account(unit, contents.read, used, added_up(contents.left_out), unused_columns),
    )


def _median(per_item: Codes) -> float:
    """Median of whole numbers that are counted by size."""
    reached = np.cumsum(per_item)
    total = int(reached[-1])
    middle = [(total - 1) // 2, total // 2]
    return float(np.mean(np.searchsorted(reached, middle, side="right")))
