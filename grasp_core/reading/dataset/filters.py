"""Which annotations are left out, and whom that concerns: filters are not neutral."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Literal, NamedTuple

import numpy as np

from grasp_core.model.account import LeftOut
from grasp_core.model.annotations import BoolArray, Codes
from grasp_core.model.data_spec import DataSpec
from grasp_core.model.errors import Problem, know, stop
from grasp_core.model.ordering import tallied
from grasp_core.model.remarks.cautions import LeftOutReason
from grasp_core.model.remarks.problems import DataProblem
from grasp_core.model.remarks.remark import Remark
from grasp_core.model.wording import closest, quoted
from grasp_core.reading.dataset.raters import DescribingColumn
from grasp_core.reading.dataset.recoding import numbers_of
from grasp_core.reading.dataset.votes import Votes
from grasp_core.reading.table.columns import Column
from grasp_core.reading.table.table import Table


@dataclass(frozen=True, slots=True)
class GroupShare:
    """How much of one value of an axis a filter removed; ``(unknown)`` has the value None."""

    value: str | None
    annotations: int
    removed_annotations: int
    raters: int
    removed_raters: int


@dataclass(frozen=True, slots=True)
class Removal:
    """Counts of what one filter removed.

    `filter`: E.g. "raters with fewer than 5 annotations".
    `annotations`, `raters`, `items`: removed; raters and items that have none left.
    """

    filter: Remark
    annotations: int
    raters: int
    items: int
    groups: Mapping[str, tuple[GroupShare, ...]]

    def note(self) -> Problem:
        """The removal as something to know."""
        remark = DataProblem.LEFT_OUT(
            annotations=self.annotations, raters=self.raters, items=self.items, reason=self.filter
        )
        return know(remark, self.annotations)


class Step(NamedTuple):
    """One filter: annotations of each rater before and after it, shape (J,), and items it left none of."""

    what: Remark
    before: Codes
    after: Codes
    items: int


@dataclass(slots=True, eq=False)
class Sieve:
    """Applies filters one after the other and keeps account."""

    votes: Votes
    absent: int
    had: BoolArray
    steps: list[Step] = field(default_factory=list)
    equal: int = 0

    @classmethod
    def of(cls, votes: Votes, absent: int) -> Sieve:
        """Begin with all annotations that have a label; `absent` rows or cells have none."""
        return cls(votes, absent, _items(votes))

    def keep(self, what: Remark, which: BoolArray) -> None:
        """Keep the chosen annotations, shape (A,); `what` names the others."""
        items, before = _items(self.votes), per_rater(self.votes)
        self.votes = self.votes.keep(which)
        gone = items & ~_items(self.votes)
        self.steps.append(Step(what, before, per_rater(self.votes), int(gone.sum())))

    def keep_once(self, votes: Votes) -> None:
        """Go on with `votes`, in which equal annotations are no longer repeated."""
        self.equal += self.votes.size - votes.size
        self.votes = votes

    @property
    def gone_items(self) -> BoolArray:
        """Items whose annotations were all left out, by position."""
        gone: BoolArray = self.had & ~_items(self.votes)
        return gone

    def left_out(self) -> list[LeftOut]:
        """Counts of what was left out, by reason."""
        return [
            LeftOut(LeftOutReason.NO_LABEL(), self.absent),
            *(LeftOut(step.what, int((step.before - step.after).sum())) for step in self.steps),
            LeftOut(LeftOutReason.REPEATED_ALIKE(), self.equal),
        ]


def removals(steps: Iterable[Step], axes: Mapping[str, DescribingColumn]) -> tuple[Removal, ...]:
    """Removals of each filter, by group."""
    return tuple(
        Removal(
            filter=what,
            annotations=int((before - after).sum()),
            raters=int(((before > 0) & (after == 0)).sum()),
            items=items,
            groups={name: tuple(shares(axis, before, after)) for name, axis in axes.items()},
        )
        for what, before, after, items in steps
    )


def excluding(spec: DataSpec) -> Remark:
    """Who is excluded."""
    values = tuple(f"{quoted(name)} = {quoted(value)}" for name, value in spec.exclude)
    return LeftOutReason.RATERS_WITH(values=values)


def _items(votes: Votes) -> BoolArray:
    rated: BoolArray = tallied(votes.item, len(votes.item_ids)) > 0
    return rated


def per_rater(votes: Votes) -> Codes:
    """Annotations of each rater, shape (J,)."""
    return tallied(votes.rater, len(votes.rater_ids))


def shares(axis: DescribingColumn, before: Codes, after: Codes) -> Iterator[GroupShare]:
    """How much of each value was removed; the annotations of each rater before and after have shape (J,)."""
    for code in np.unique(axis.codes[before > 0]):
        who = axis.codes == code
        yield GroupShare(
            value=None if code < 0 else axis.values[code],
            annotations=int(before[who].sum()),
            removed_annotations=int((before - after)[who].sum()),
            raters=int((before[who] > 0).sum()),
            removed_raters=int(((before[who] > 0) & (after[who] == 0)).sum()),
        )


def unknown_columns(table: Table, spec: DataSpec) -> list[Problem]:
    """Columns to filter by that the file does not have."""
    filters = spec.filters
    named = [name for name, _ in filters.drop] + [name for name in (filters.time, filters.gold) if name]
    found: list[Problem] = []
    for name in dict.fromkeys(named):
        if name not in table.columns:
            close = closest(name, table.columns)
            remark = DataProblem.NO_COLUMN_TO_FILTER(file=table.name, column=name, close=close)
            found.append(stop(remark, 1, close))
    if spec.layout == "raters-by-items" and named:
        found.append(stop(DataProblem.NO_FILTER_IN_LAYOUT(file=table.name)))
    return found


def absent_ids(
    name: str, what: Literal["items", "raters"], named: Collection[str], known: Collection[str]
) -> list[Problem]:
    """Ids of raters or items that are to be left out and are not in the file `name`."""
    absent = sorted(set(named) - set(known)) if named else []
    if not absent:
        return []
    code = DataProblem.LISTED_ITEMS_ABSENT if what == "items" else DataProblem.LISTED_RATERS_ABSENT
    return [know(code(file=name, **{what: len(absent)}), len(absent), absent)]


def without_effect(spec: DataSpec, steps: Iterable[Step]) -> list[Problem]:
    """Values that annotations are to be left out by, and that none has."""
    idle = {step.what for step in steps if step.before.sum() == step.after.sum()}
    return [
        know(DataProblem.NOTHING_WITH_VALUE(column=name, value=value), 0)
        for name, value in spec.filters.drop
        if LeftOutReason.WITH_VALUE(column=name, value=value) in idle
    ]


def by_values(sieve: Sieve, spec: DataSpec) -> None:
    """Leave out by value, by id and by time."""
    filters = spec.filters
    for name, value in filters.drop:
        hit = sieve.votes.of_rows(sieve.votes.table.column(name).among([value]))
        sieve.keep(LeftOutReason.WITH_VALUE(column=name, value=value), ~hit)
    if filters.raters:
        listed_raters = np.isin(np.array(sieve.votes.rater_ids, dtype=object), filters.raters)
        sieve.keep(LeftOutReason.LISTED_RATERS(), ~listed_raters[sieve.votes.rater])
    if filters.items:
        listed_items = np.isin(np.array(sieve.votes.item_ids, dtype=object), filters.items)
        sieve.keep(LeftOutReason.LISTED_ITEMS(), ~listed_items[sieve.votes.item])
    if filters.time is not None:
        sieve.keep(*_in_time(sieve.votes, spec))


def _in_time(votes: Votes, spec: DataSpec) -> tuple[Remark, BoolArray]:
    filters = spec.filters
    seconds = votes.of_rows(numbers_of(votes.table.column(str(filters.time))))
    low = -np.inf if filters.min_time is None else float(filters.min_time)
    high = np.inf if filters.max_time is None else float(filters.max_time)
    column = str(filters.time)
    if filters.max_time is None:
        what = LeftOutReason.TIME_BELOW(column=column, low=low)
    elif filters.min_time is None:
        what = LeftOutReason.TIME_ABOVE(column=column, high=high)
    else:
        what = LeftOutReason.TIME_OUTSIDE(column=column, low=low, high=high)
    return what, (seconds >= low) & (seconds <= high)


def by_gold(sieve: Sieve, spec: DataSpec) -> list[Problem]:
    """Leave out raters who miss the experts' labels too often; those without such items stay."""
    filters, votes = spec.filters, sieve.votes
    if filters.gold is None or filters.min_gold is None:
        return []
    gold = votes.table.column(filters.gold)
    known = ~votes.of_rows(gold.among(spec.missing))
    expected = votes.of_rows(gold.codes)
    code_of = {label: code for code, label in enumerate(votes.labels)}
    meant = np.array([code_of.get(value, -1) for value in gold.values], dtype=np.int64)[expected]
    if known.any() and not (known & (meant >= 0)).any():
        return [_strange_gold(votes, gold, np.unique(expected[known]), filters.gold)]
    n = len(votes.rater_ids)
    asked = np.bincount(votes.rater[known], minlength=n)
    right = np.bincount(votes.rater[known & (meant == votes.label)], minlength=n)
    poor = right < filters.min_gold * asked
    what = LeftOutReason.TOO_FEW_RIGHT(column=filters.gold, share=float(filters.min_gold))
    sieve.keep(what, ~poor[votes.rater])
    return []


def _strange_gold(votes: Votes, gold: Column, codes: Codes, name: str) -> Problem:
    found = [gold.values[code] for code in codes]
    labels = [votes.labels[code] for code in votes.used_labels()]
    remark = DataProblem.STRANGE_GOLD(
        file=votes.table.name, column=name, found=tuple(found), labels=tuple(labels)
    )
    return stop(remark, len(found), found)


def by_counts(sieve: Sieve, spec: DataSpec) -> None:
    """Leave out raters, then items, with too few annotations."""
    filters = spec.filters
    if filters.min_per_rater > 1:
        counts = per_rater(sieve.votes)
        sieve.keep(
            LeftOutReason.RATERS_WITH_FEWER(least=filters.min_per_rater),
            (counts >= filters.min_per_rater)[sieve.votes.rater],
        )
    if filters.min_per_item > 1:
        per_item = tallied(sieve.votes.item, len(sieve.votes.item_ids))
        sieve.keep(
            LeftOutReason.ITEMS_WITH_FEWER(least=filters.min_per_item),
            (per_item >= filters.min_per_item)[sieve.votes.item],
        )
