"""Form a data set of tables by a data spec: annotations, raters, and problems to report."""

import dataclasses
import hashlib
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from grasp_core.model.annotations import (
    Annotations,
    Axis,
    BoolArray,
    Codes,
    Int64Array,
    ModelLabels,
    Raters,
    tallied,
)
from grasp_core.model.data_spec import Combine, DataSpec
from grasp_core.model.errors import Problem, know, raise_stopping, stop
from grasp_core.model.outcome import Account, Unit, added_up
from grasp_core.model.remarks.problems import DataProblem
from grasp_core.model.result import DataSummary, FileFingerprint
from grasp_core.model.text import EXAMPLES, listed, quoted
from grasp_core.reading.dataset import checks, filters
from grasp_core.reading.dataset._items import Descriptions
from grasp_core.reading.dataset.filters import FilteredVotes, Removal, per_rater
from grasp_core.reading.dataset.raters import DescribingColumn, Profiles
from grasp_core.reading.dataset.recoding import in_order, ranges, recode
from grasp_core.reading.dataset.votes import (
    Votes,
    alike_ids,
    annotations_of,
    id_columns,
    read_votes,
    unit_rows,
)
from grasp_core.reading.table.columns import misspelt, near_duplicates, odd_texts
from grasp_core.reading.table.parsed import parts_of
from grasp_core.reading.table.table import Table


def axis_of(column: DescribingColumn, counted: BoolArray, cut: Sequence[str]) -> Axis:
    """Form the axis of the raters, or items, that count; `cut` are ranges into which values were cut."""
    codes = column.codes[counted]
    code_of = {column.values[code]: code for code in np.unique(codes[codes >= 0]).tolist()}
    used = [code_of[value] for value in in_order(code_of, cut)]
    position = np.full(len(column.values) + 1, -1, dtype=np.int32)
    position[used] = np.arange(len(used), dtype=np.int32)
    of_unit = position[codes]
    of_unit.flags.writeable = False
    return Axis(tuple(column.values[code] for code in used), of_unit)


@dataclass(frozen=True, slots=True)
class Fitted:
    """The parts of a reading that fit the files; `dropped` names the other parts, for a sentence."""

    spec: DataSpec
    axes: tuple[str, ...]
    dropped: tuple[str, ...]


def fitting(
    annotations: Table, raters: Table | None, spec: DataSpec, axes: Sequence[str], items: Table | None = None
) -> Fitted:
    """Keep the parts of a reading that fit: axes that exist, and declared labels if they include all."""
    annotations, raters, items, _ = recode(annotations, raters, spec, items)
    raise_stopping(checks.missing_columns(annotations, raters, spec, ()))
    if items is not None and spec.items_id not in items.columns:
        raise_stopping([checks.no_column(str(spec.items_id), (items,))])
    dropped: list[str] = []
    categories = []
    for question in spec.questions:
        filters.check_columns(annotations, question)
        votes = read_votes(annotations, question)
        found = (votes.labels[code] for code in votes.used_labels())
        known_labels = question.categories and {*question.missing, *question.categories}
        stray = [label for label in found if known_labels and label not in known_labels]
        categories.append(None if stray else question.categories)
        if stray:
            dropped.append(f"the order of the labels, for {listed(stray, 5)} was not among them")
    further = (
        dataclasses.replace(question, categories=declared)
        for question, declared in zip(spec.further, categories[1:], strict=True)
    )
    spec = dataclasses.replace(spec, categories=categories[0], further=tuple(further))
    columns = {*annotations.columns, *(raters.columns if raters else ())}
    known = tuple(name for name in axes if name in columns)
    return Fitted(spec, known, tuple(dropped))


@dataclass(frozen=True, slots=True, eq=False)
class Dataset:
    """Data ready for a run.

    - `raters`: in the same order as the annotations' raters.
    - `removals`: counts that exclusions and filters left out, in order of application.
    - `further`: the answers to further questions, over the same items and raters.
    - `models`: models to be compared with the groups, over the same items.
    - `attributes`: columns that describe items, whose values can make slices; codes have shape (I,).
    - `batches`: the column of the batch or month in which items were rated, if no slices were named.
    """

    annotations: Annotations
    raters: Raters
    summary: DataSummary
    problems: tuple[Problem, ...]
    removals: tuple[Removal, ...] = ()
    further: tuple[Annotations, ...] = ()
    models: tuple[ModelLabels, ...] = ()
    attributes: Mapping[str, Axis] = field(default_factory=dict)
    batches: Mapping[str, Axis] = field(default_factory=dict)

    @property
    def questions(self) -> tuple[Annotations, ...]:
        """The answers to each question; more than one only for vector-valued annotations."""
        return (self.annotations, *self.further)

    @property
    def annotations_of(self) -> Int64Array:
        """Number of annotations of each rater, shape (J,): items with an answer to any question."""
        n_raters, rater = self.annotations.n_raters, self.annotations.rater
        if self.further:
            pairs = [one.item.astype(np.int64) * n_raters + one.rater for one in self.questions]
            rater = np.unique(np.concatenate(pairs)) % n_raters
        return tallied(rater, n_raters)


def load(
    annotations: Table,
    raters: Table | None,
    spec: DataSpec,
    axes: Sequence[str] | None = None,
    *,
    items: Table | None = None,
    slices: Sequence[str] | None = None,
) -> Dataset:
    """Form the data set that `spec` describes: recode values, then leave out annotations that do not count.

    - `axes`: demographic columns, first from the raters file; by default :func:`candidate_axes`.
    - `slices`: columns that describe items; by default all that can make slices, or none if axes are named.
    """
    annotations, raters, items, problems = recode(annotations, raters, spec, items)
    raise_stopping(checks.missing_columns(annotations, raters, spec, axes or ()))
    filters.check_columns(annotations, spec)
    votes = [read_votes(annotations, question) for question in spec.questions]
    profiles = Profiles.of(annotations, raters, spec, votes[0].rater_ids, votes[0].rater_of_row)
    names = _candidates(profiles, spec) if axes is None else tuple(dict.fromkeys(axes))
    if axes is None:
        problems += profiles.nearly({*names, *(column for column, _ in spec.exclude)})
    excluded, found = checks.excluded_raters(profiles, spec)
    sieves = [
        filters.leave_out(one, excluded, question)
        for one, question in zip(votes, spec.questions, strict=True)
    ]
    filters.leave_out_screened(
        sieves,
        spec,
        lambda counted: _axes({name: profiles.column(name, counted) for name in names}, counted, spec),
    )
    left = filters.together(sieves)
    counted, per_item = per_rater(left) > 0, tallied(left.item, len(left.item_ids))
    described = Descriptions.of(annotations, items, spec, votes[0].item_ids, votes[0].item_of_row)
    problems += [*found, *described.problems(per_item > 0)]
    columns = {axis: profiles.column(axis, counted) for axis in names}
    found = [
        *problems,
        *alike_ids(left, spec),
        *(note for sieve in sieves for note in sieve.notes),
        *_about_ids(left, spec),
        *_about_answers(annotations.name, votes, sieves, spec),
        *profiles.problems(counted),
        *(
            dataclasses.replace(problem, axis=name)
            for name, column in columns.items()
            for problem in (*column.problems, *checks.axis(name, column, counted))
        ),
    ]
    if not any(problem.stops for problem in problems):  # else all raters may be excluded
        found += _shape(left, sieves, per_item, spec)
    raise_stopping(found)
    removals = filters.removals(sieves, spec, columns)
    for one in removals:
        told = DataProblem.LEFT_OUT(
            annotations=one.annotations, raters=one.raters, items=one.items, reason=one.filter
        )
        found += [know(told, one.annotations)] if one.annotations else []
    if slices is None and axes is None:
        slicing = described.candidates(per_item > 0)
    else:
        slicing = described.slices(slices or (), per_item > 0)
        found += [note for column in slicing.values() for note in column.problems]
    batches = {} if slices else described.batches(per_item > 0, {*names})
    if len(batches) > 1:
        first, *others = batches
        found.append(know(DataProblem.OTHER_BATCHES(column=first, others=tuple(others)), len(others)))
    batches = dict(list(batches.items())[:1])
    categories = [
        question.categories or in_order(sieve.labels(), ranges(spec, None) or ranges(spec, question.label))
        for sieve, question in zip(sieves, spec.questions, strict=True)
    ]
    formed = [
        annotations_of(sieve.votes, labels, counted, per_item > 0)
        for sieve, labels in zip(sieves, categories, strict=True)
    ]
    parts = {*columns, *(slices or ()), *(name.removesuffix(" (month)") for name in batches)}
    files = [table for table in (annotations, raters, items) if table is not None]
    about_files = [problem for table in files[: 1 if raters is None else 2] for problem in table.problems]
    return Dataset(
        formed[0],
        Raters(formed[0].rater_ids, _axes(columns, counted, spec), per_rater(left)[counted].astype(np.int64)),
        _summary(left, spec, sieves, categories, files, unused(annotations.columns, spec, parts)),
        tuple(dict.fromkeys([*about_files, *found])),  # a problem of every question once
        removals,
        tuple(formed[1:]),
        attributes={
            name: axis_of(column, per_item > 0, ranges(spec, name)) for name, column in slicing.items()
        },
        batches={name: axis_of(column, per_item > 0, ranges(spec, name)) for name, column in batches.items()},
    )


def candidate_axes(annotations: Table, raters: Table | None, spec: DataSpec) -> tuple[str, ...]:
    """Return columns of either file that can be axes: one value per rater, and not too many values.

    The spec's labels need not exist: recoding that is not named yet may make them.
    """
    annotations, raters, _, _ = recode(annotations, raters, spec)
    raise_stopping(checks.missing_columns(annotations, raters, spec, (), made=spec.labels))
    profiles = Profiles.of(annotations, raters, spec, *unit_rows(annotations, spec, "rater"))
    return _candidates(profiles, spec)


def candidate_columns(
    found: Dataset, annotations: Table, raters: Table | None, spec: DataSpec
) -> dict[str, Axis]:
    """Return candidate axes by name, with values of the raters of a data set that these files formed."""
    annotations, raters, _, _ = recode(annotations, raters, spec)
    profiles = Profiles.of(annotations, raters, spec, *unit_rows(annotations, spec, "rater"))
    counted = np.isin(profiles.ids, found.annotations.rater_ids)
    columns = {name: profiles.column(name, counted) for name in _candidates(profiles, spec)}
    return _axes(columns, counted, spec)


def _axes(columns: Mapping[str, DescribingColumn], counted: BoolArray, spec: DataSpec) -> dict[str, Axis]:
    return {name: axis_of(column, counted, ranges(spec, name)) for name, column in columns.items()}


def _candidates(profiles: Profiles, spec: DataSpec) -> tuple[str, ...]:
    return profiles.candidates({column for column, _ in spec.exclude})


def _about_ids(votes: Votes, spec: DataSpec) -> Iterator[Problem]:
    """Report rater ids that look alike, and ids to leave out that no rater or item has."""
    name = votes.table.name
    if votes.rater_of_row is not None and spec.rater is not None:
        rows = tallied(votes.rater_of_row, len(votes.rater_ids)).tolist()
        counts = dict(zip(votes.rater_ids, rows, strict=True))
        yield from near_duplicates(f"{name}, column {quoted(spec.rater)}", counts, ids=True)
    yield from filters.absent_ids(name, "raters", spec.filters.raters, votes.rater_ids)
    yield from filters.absent_ids(name, "items", spec.filters.items, votes.item_ids)


def _about_answers(
    name: str, votes: Sequence[Votes], sieves: Sequence[FilteredVotes], spec: DataSpec
) -> Iterator[Problem]:
    """Report on the labels of each question, whose `votes` are those before any was left out."""
    for before, sieve, question in zip(votes, sieves, spec.questions, strict=True):
        labels = sieve.labels()
        if len(labels) <= checks.MAX_CATEGORIES:
            column = "labels" if spec.layout != "long" else f"column {quoted(str(question.label))}"
            where = f"{name}, {column}"
            if question.categories is None:
                yield from (*odd_texts(where, labels, question.missing), *misspelt(where, labels))
            given = {before.labels[code] for code in before.used_labels()}
            gone = tuple(one for one in question.categories or () if one in given and one not in labels)
            if gone and labels:
                told = DataProblem.LABELS_LEFT_OUT(where=where, labels=gone, count=len(gone))
                yield know(told, len(gone), gone)
            if len(labels) == 1:
                yield know(DataProblem.ONE_LABEL(where=where, label=next(iter(labels))))
        yield from filters.without_effect(question, sieve.steps)


def _shape(
    votes: Votes, sieves: Sequence[FilteredVotes], per_item: Codes, spec: DataSpec
) -> Iterator[Problem]:
    """Report data too small to compare, and raters and items lost without being left out on purpose."""
    name, counted = votes.table.name, per_rater(votes) > 0
    for sieve, question in zip(sieves, spec.questions, strict=True):
        if len(sieves) > 1 and not sieve.votes.size:
            yield stop(DataProblem.NO_ANSWER_LEFT(file=name, column=str(question.label)))
    if not counted.any():
        yield stop(DataProblem.NOTHING_LEFT(file=name))
        return
    gone_raters, gone_items = (
        np.all(gone, axis=0) for gone in zip(*(sieve.gone for sieve in sieves), strict=True)
    )
    items, raters = np.flatnonzero((per_item == 0) & ~gone_items), np.flatnonzero(~counted & ~gone_raters)
    if items.size:
        ids = [votes.item_ids[i] for i in items[:EXAMPLES]]
        yield know(DataProblem.ITEMS_GONE(file=name, items=items.size), items.size, ids)
    if raters.size:
        ids = [votes.rater_ids[j] for j in raters[:EXAMPLES]]
        yield know(DataProblem.RATERS_GONE(file=name, raters=raters.size), raters.size, ids)
    rated = int(np.count_nonzero(per_item))
    if rated == 1:
        yield know(DataProblem.ONE_ITEM(file=name))
    if counted.sum() == 1:
        yield know(DataProblem.ONE_RATER(file=name))
    if per_item.max() < 2:
        yield know(DataProblem.NOBODY_SHARES_AN_ITEM(file=name), rated)


def unused(columns: Sequence[str], spec: DataSpec, parts: Collection[str]) -> tuple[str, ...]:
    """Return columns of the annotations file that are neither used nor in `parts`, the axes and slices."""
    used = {*parts, *id_columns(spec), *spec.labels, *(name for name, _ in spec.exclude)}
    used |= {part for name in id_columns(spec) for part in parts_of(name, columns)}
    used |= {name for name, _ in spec.filters.drop}
    used |= {name for name in (spec.text, spec.order, spec.filters.time, spec.filters.gold) if name}
    for step in spec.recode:
        used |= set(step.columns) if isinstance(step, Combine) else set()
    described = {"long": columns, "raters-by-items": spec.profile}.get(spec.layout, ())
    return tuple(name for name in columns if name in described and name not in used)


def _summary(
    votes: Votes,
    spec: DataSpec,
    sieves: Sequence[FilteredVotes],
    categories: Sequence[Sequence[str]],
    files: Sequence[Table],
    unused_columns: tuple[str, ...],
) -> DataSummary:
    named = []
    for question, sieve, of_question in zip(spec.questions, sieves, categories, strict=True):
        before, given = f"{question.label}: " if len(sieves) > 1 else "", sieve.labels()
        named += [(f"{before}{label}", given.get(label, 0)) for label in of_question]
    unit: Unit = "cell" if spec.layout != "long" else "answer" if spec.further else "row"
    read, left_out = filters.left_out(votes.table, spec, sieves)
    per_item = tallied(votes.item, len(votes.item_ids))
    sizes = per_item[per_item > 0]
    joined = "\n".join(file.sha256 for file in files)
    used = sum(sieve.votes.size for sieve in sieves)
    return DataSummary(
        items=sizes.size,
        raters=int(np.count_nonzero(per_rater(votes))),
        annotations=votes.size,
        categories=tuple(name for name, _ in named),
        label_counts=tuple(count for _, count in named),
        raters_per_item=(int(sizes.min()), float(np.median(sizes)), int(sizes.max())),
        sha256=joined if len(files) == 1 else hashlib.sha256(joined.encode("ascii")).hexdigest(),
        files=tuple(FileFingerprint(file.name, file.bytes, file.sha256, file.source) for file in files),
        account=Account(unit, read, used, added_up(left_out), unused_columns),
    )
