"""Annotations that do not count: a list of rules, an account of each, and the groups that it concerns."""

import dataclasses
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal, NamedTuple

import numpy as np

from grasp_core.model.annotations import Annotations, Axis, BoolArray, Codes, Raters, tallied
from grasp_core.model.data_spec import DataSpec, Screen
from grasp_core.model.errors import Problem, know, raise_stopping, stop
from grasp_core.model.outcome import LeftOut
from grasp_core.model.remarks.cautions import LeftOutReason
from grasp_core.model.remarks.problems import DataProblem
from grasp_core.model.remarks.remark import Remark
from grasp_core.model.text import quoted
from grasp_core.reading.dataset import _repeats as repeats
from grasp_core.reading.dataset import checks
from grasp_core.reading.dataset.raters import DescribingColumn
from grasp_core.reading.dataset.recoding import numbers_of
from grasp_core.reading.dataset.votes import Cells, Votes, annotations_of, blank_ids, cell_columns
from grasp_core.reading.table.table import Table


@dataclass(frozen=True, slots=True)
class GroupShare:
    """Annotations and raters of one value of an axis, all and removed ones; None is ``(unknown)``."""

    value: str | None
    annotations: int
    removed_annotations: int
    raters: int
    removed_raters: int


@dataclass(frozen=True, slots=True)
class Removal:
    """Annotations that one filter removed, in all and by group; raters and items that it left without any."""

    filter: Remark
    annotations: int
    raters: int
    items: int
    groups: Mapping[str, tuple[GroupShare, ...]]


class Step(NamedTuple):
    """One filter: annotations of each rater before and after, shape (J,), and items left without any."""

    what: Remark
    before: Codes
    after: Codes
    items: int


@dataclass(slots=True, eq=False)
class FilteredVotes:
    """One question's annotations, the filters applied to them, and notes on problems."""

    votes: Votes
    absent: int  # rows or cells without a label
    had: BoolArray  # (I,): items that had an annotation at first
    steps: list[Step] = field(default_factory=list)
    equal: int = 0  # number of annotations that repeat an earlier one
    notes: list[Problem] = field(default_factory=list)

    def keep(self, what: Remark, which: BoolArray) -> None:
        """Keep the annotations of a mask, shape (A,); `what` names the others."""
        items, before = _items(self.votes), per_rater(self.votes)
        self.votes = self.votes.keep(which)
        gone = items & ~_items(self.votes)
        self.steps.append(Step(what, before, per_rater(self.votes), int(gone.sum())))

    @property
    def gone(self) -> tuple[BoolArray, BoolArray]:
        """Masks of raters, shape (J,), and items, shape (I,), whose annotations were all left out."""
        left = per_rater(self.votes)
        before = self.steps[0].before if self.steps else left
        return (before > 0) & (left == 0), self.had & ~_items(self.votes)

    def labels(self) -> dict[str, int]:
        """Count the remaining annotations by label."""
        given = tallied(self.votes.label, len(self.votes.labels))
        return {self.votes.labels[code]: int(given[code]) for code in np.flatnonzero(given)}


def leave_out(votes: Votes, excluded: BoolArray, spec: DataSpec) -> FilteredVotes:
    """Leave out votes of one question by the rules; `excluded`, (J,), are raters left out."""
    labelled, notes = checks.missing_labels(votes, spec)
    sieve = FilteredVotes(labelled, votes.cells - labelled.size, _items(labelled), notes=notes)
    if spec.exclude:
        values = tuple(f"{quoted(name)} = {quoted(value)}" for name, value in spec.exclude)
        sieve.keep(LeftOutReason.RATERS_WITH(values=values), ~excluded[labelled.rater])
    for rule in _RULES:
        rule(sieve, spec)
    return sieve


def _by_values(sieve: FilteredVotes, spec: DataSpec) -> None:
    for name, value in spec.filters.drop:
        column = sieve.votes.table.column(name)
        blank = () if value.strip() else (text for text in column.values if not text.strip())
        hit = sieve.votes.of_rows(column.among([value, *blank]))
        sieve.keep(LeftOutReason.WITH_VALUE(column=name, value=value), ~hit)


def _by_ids(sieve: FilteredVotes, spec: DataSpec) -> None:
    filters, votes = spec.filters, sieve.votes
    if filters.raters:
        sieve.keep(LeftOutReason.LISTED_RATERS(), ~_listed(votes.rater_ids, filters.raters)[votes.rater])
    if filters.items:
        sieve.keep(LeftOutReason.LISTED_ITEMS(), ~_listed(votes.item_ids, filters.items)[sieve.votes.item])


def _listed(ids: Sequence[str], listed: Sequence[str]) -> BoolArray:
    """Return a mask of the ids that a list names; the empty id names all blank ids."""
    named = set(listed)
    blank = "" in named
    return np.array([one in named or (blank and not one.strip()) for one in ids], dtype=np.bool_)


def _by_time(sieve: FilteredVotes, spec: DataSpec) -> None:
    filters, column = spec.filters, str(spec.filters.time)
    if filters.time is None:
        return
    seconds = sieve.votes.of_rows(numbers_of(sieve.votes.table.column(column)))
    low = -np.inf if filters.min_time is None else float(filters.min_time)
    high = np.inf if filters.max_time is None else float(filters.max_time)
    if filters.max_time is None:
        what = LeftOutReason.TIME_BELOW(column=column, low=low)
    elif filters.min_time is None:
        what = LeftOutReason.TIME_ABOVE(column=column, high=high)
    else:
        what = LeftOutReason.TIME_OUTSIDE(column=column, low=low, high=high)
    sieve.keep(what, (seconds >= low) & (seconds <= high))


def _check(sieve: FilteredVotes, spec: DataSpec) -> None:
    """Note problems that must be solved before raters' answers are compared."""
    sieve.notes += [*blank_ids(sieve.votes, spec), *checks.labels(sieve.votes, spec)]


def _repeated(sieve: FilteredVotes, spec: DataSpec) -> None:
    """Keep, of a rater's repeated answers to an item, the one the spec chooses; equal answers count once."""
    if spec.repeated != "refuse":
        sieve.keep(repeats.others(spec), repeats.chosen(sieve.votes, spec))
    votes, notes = repeats.once(sieve.votes, spec)
    sieve.equal = sieve.votes.size - votes.size
    sieve.votes = votes
    sieve.notes += notes


def _by_gold(sieve: FilteredVotes, spec: DataSpec) -> None:
    """Leave out raters who miss the experts' labels too often; raters without such items stay."""
    filters, votes = spec.filters, sieve.votes
    if filters.gold is None or filters.min_gold is None:
        return
    gold = votes.table.column(filters.gold)
    known = ~votes.of_rows(gold.among(spec.missing))
    expected = votes.of_rows(gold.codes)
    code_of = {label: code for code, label in enumerate(votes.labels)}
    meant = np.array([code_of.get(value, -1) for value in gold.values], dtype=np.int64)[expected]
    if known.any() and not (known & (meant >= 0)).any():
        found = tuple(gold.values[code] for code in np.unique(expected[known]))
        labels = tuple(votes.labels[code] for code in votes.used_labels())
        strange = DataProblem.STRANGE_GOLD
        remark = strange(file=votes.table.name, column=filters.gold, found=found, labels=labels)
        sieve.notes.append(stop(remark, len(found), found))
        return
    n = len(votes.rater_ids)
    asked = np.bincount(votes.rater[known], minlength=n)
    right = np.bincount(votes.rater[known & (meant == votes.label)], minlength=n)
    poor = right < filters.min_gold * asked
    what = LeftOutReason.TOO_FEW_RIGHT(column=filters.gold, share=float(filters.min_gold))
    sieve.keep(what, ~poor[votes.rater])


def _by_counts(sieve: FilteredVotes, spec: DataSpec) -> None:
    least = spec.filters.min_per_rater
    if least > 1:
        enough = per_rater(sieve.votes) >= least
        sieve.keep(LeftOutReason.RATERS_WITH_FEWER(least=least), enough[sieve.votes.rater])
    least = spec.filters.min_per_item
    if least > 1:
        enough = tallied(sieve.votes.item, len(sieve.votes.item_ids)) >= least
        sieve.keep(LeftOutReason.ITEMS_WITH_FEWER(least=least), enough[sieve.votes.item])


_RULES: Sequence[Callable[[FilteredVotes, DataSpec], None]] = (
    _by_values, _by_ids, _by_time, _check, _repeated, _by_gold, _by_counts
)  # fmt: skip
"""Rules that leave annotations out, in order of application; each is undone by its field of the spec."""


_SCREENS: Mapping[Screen, LeftOutReason] = {
    "random": LeftOutReason.AT_CHANCE,
    "constant": LeftOutReason.ONE_LABEL_ALWAYS,
    "duplicates": LeftOutReason.TOO_CLOSE,
}


def screened(screen: Screen, annotations: Annotations, raters: Raters | None) -> BoolArray:
    """Return the raters whom a screen leaves out, shape (J,); of two near-duplicates one stays."""
    from grasp_core.reading.screens import constant, duplicates, random_responders  # these load all of SciPy

    if screen == "random":
        return random_responders.random_responders(annotations).random
    if screen == "constant":
        return constant.too_constant(annotations, raters).named
    return duplicates.near_duplicates(annotations).one_of_each(annotations)


def leave_out_screened(
    sieves: Sequence[FilteredVotes], spec: DataSpec, axes: Callable[[BoolArray], Mapping[str, Axis]]
) -> None:
    """Leave out the raters of the spec's screens, by their filtered answers to the first question."""
    votes = sieves[0].votes
    counted = per_rater(votes) > 0
    if not spec.screens or not counted.any() or any(note.stops for one in sieves for note in one.notes):
        return
    labels = tuple(votes.labels[code] for code in votes.used_labels())
    annotations = annotations_of(votes, labels, counted, _items(votes))
    raters = Raters(annotations.rater_ids, axes(counted))
    for screen in spec.screens:
        named = np.zeros(counted.size, dtype=np.bool_)
        named[counted] = screened(screen, annotations, raters)
        for sieve in sieves:
            sieve.keep(_SCREENS[screen](), ~named[sieve.votes.rater])


def left_out(
    table: Table, spec: DataSpec, sieves: Sequence[FilteredVotes]
) -> tuple[int, tuple[LeftOut, ...]]:
    """Account for every row of an annotations file: the number read, and the parts that do not count."""
    cells = len(table) * (len(sieves) if spec.layout == "long" else len(cell_columns(table, spec)))
    aside = [
        LeftOut(
            LeftOutReason.COLUMN_PUT_ASIDE(column=name), int((~table.column(name).among(spec.missing)).sum())
        )
        for name in (spec.ignore if spec.layout != "long" else ())
        if name in table.columns and name != spec.text
    ]
    by_reader = () if table.recipe is None else table.recipe.left_out
    found = [*by_reader, *aside]
    read = cells + sum(one.count for one in found)
    for sieve in sieves:
        found.append(LeftOut(LeftOutReason.NO_LABEL(), sieve.absent))
        found += [LeftOut(step.what, int((step.before - step.after).sum())) for step in sieve.steps]
        found.append(LeftOut(LeftOutReason.REPEATED_ALIKE(), sieve.equal))
    return read, tuple(found)


def together(sieves: Sequence[FilteredVotes]) -> Votes:
    """Merge the questions' votes into one entry per annotation."""
    votes = sieves[0].votes
    if len(sieves) == 1:
        return votes
    n_raters = len(votes.rater_ids)
    pairs = np.concatenate([t.votes.item.astype(np.int64) * n_raters + t.votes.rater for t in sieves])
    pairs, first = np.unique(pairs, return_index=True)
    item, rater = np.divmod(pairs, n_raters)
    row, label = (
        np.concatenate([getattr(t.votes, name) for t in sieves])[first] for name in ("row", "label")
    )
    return dataclasses.replace(votes, of_cells=Cells(item, rater, label, row), chosen=None)


def removals(
    sieves: Sequence[FilteredVotes], spec: DataSpec, axes: Mapping[str, DescribingColumn]
) -> tuple[Removal, ...]:
    """Return the removals of each filter by group, and by question if there are several."""
    return tuple(
        Removal(
            filter=what
            if len(sieves) == 1
            else LeftOutReason.IN_QUESTION(reason=what, question=str(question.label)),
            annotations=int((before - after).sum()),
            raters=int(((before > 0) & (after == 0)).sum()),
            items=items,
            groups={name: tuple(_shares(axis, before, after)) for name, axis in axes.items()},
        )
        for sieve, question in zip(sieves, spec.questions, strict=True)
        for what, before, after, items in sieve.steps
    )


def _shares(axis: DescribingColumn, before: Codes, after: Codes) -> Iterator[GroupShare]:
    """Yield numbers of each value; annotations of each rater before and after the filter have shape (J,)."""
    for code in np.unique(axis.codes[before > 0]):
        who = axis.codes == code
        yield GroupShare(
            value=None if code < 0 else axis.values[code],
            annotations=int(before[who].sum()),
            removed_annotations=int((before - after)[who].sum()),
            raters=int((before[who] > 0).sum()),
            removed_raters=int(((before[who] > 0) & (after[who] == 0)).sum()),
        )


def _items(votes: Votes) -> BoolArray:
    rated: BoolArray = tallied(votes.item, len(votes.item_ids)) > 0
    return rated


def per_rater(votes: Votes) -> Codes:
    """Count the annotations of each rater, shape (J,)."""
    return tallied(votes.rater, len(votes.rater_ids))


def check_columns(table: Table, spec: DataSpec) -> None:
    """Refuse filters by columns that the file does not have."""
    filters = spec.filters
    named = [name for name, _ in filters.drop] + [name for name in (filters.time, filters.gold) if name]
    found = [checks.no_column(name, (table,)) for name in dict.fromkeys(named) if name not in table.columns]
    if spec.layout == "raters-by-items" and named:
        found.append(stop(DataProblem.NO_FILTER_IN_LAYOUT(file=table.name)))
    raise_stopping(found)


def absent_ids(
    name: str, what: Literal["items", "raters"], named: Collection[str], known: Collection[str]
) -> list[Problem]:
    """Report ids of raters or items to leave out that are not in the file `name`."""
    absent = sorted(set(named) - set(known)) if named else []
    if not absent:
        return []
    code = DataProblem.LISTED_ITEMS_ABSENT if what == "items" else DataProblem.LISTED_RATERS_ABSENT
    return [know(code(file=name, **{what: len(absent)}), len(absent), absent)]


def without_effect(spec: DataSpec, steps: Iterable[Step]) -> list[Problem]:
    """Report values to leave out that no annotation has."""
    idle = {step.what for step in steps if step.before.sum() == step.after.sum()}
    return [
        know(DataProblem.NOTHING_WITH_VALUE(column=name, value=value), 0)
        for name, value in spec.filters.drop
        if LeftOutReason.WITH_VALUE(column=name, value=value) in idle
    ]
