"""Tables and a data spec become annotations, raters and what is to be known about them."""

from __future__ import annotations

import dataclasses
import hashlib
import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from grasp_core.model.annotations import (
    Annotations,
    Axis,
    BoolArray,
    Codes,
    Int32Array,
    Int64Array,
    ModelLabels,
    Raters,
)
from grasp_core.model.data_spec import DataSpec, Screen
from grasp_core.model.errors import Problem, raise_stopping
from grasp_core.model.ordering import in_pieces, sorted_codes, tallied
from grasp_core.model.remarks.cautions import LeftOutReason
from grasp_core.model.result import DataSummary, FileFingerprint
from grasp_core.model.wording import EXAMPLES, listed, quoted
from grasp_core.reading.dataset import checks, filters, recoding
from grasp_core.reading.dataset._items import Descriptions
from grasp_core.reading.dataset.checks import answered, together
from grasp_core.reading.dataset.contents import Answers, Contents, leave_out, summary, unused
from grasp_core.reading.dataset.filters import Removal, Sieve, per_rater
from grasp_core.reading.dataset.raters import DescribingColumn, Profiles
from grasp_core.reading.dataset.recoding import all_recoded, in_order, ranges, recode
from grasp_core.reading.dataset.votes import Votes, rater_rows, read_votes
from grasp_core.reading.table.columns import near_duplicates
from grasp_core.reading.table.table import Table


def annotations_of(
    votes: Votes, categories: tuple[str, ...], counted: BoolArray, rated: BoolArray
) -> Annotations:
    """One question's votes as annotations, of the raters (J,) and the items (I,) that count."""
    position = {label: index for index, label in enumerate(categories)}
    category = np.array([position.get(label, -1) for label in votes.labels], dtype=np.int32)
    per_item, rater, label = by_item(votes)
    _replace(rater, np.cumsum(counted, dtype=np.int32) - 1)
    _replace(label, category)
    ids = _chosen(votes.item_ids, rated), _chosen(votes.rater_ids, counted)
    return Annotations.of_sorted(per_item[rated], rater, label, *ids, categories)


def by_item(votes: Votes) -> tuple[Codes, Int32Array, Int32Array]:
    """Entries of each item, shape (I,); raters and labels by item, then by rater, both of shape (A,)."""
    per_item = tallied(votes.item, len(votes.item_ids))
    return per_item, *sorted_codes(votes.pieces, per_item, len(votes.rater_ids), len(votes.labels))


def _replace(codes: Int32Array, by: Int32Array) -> None:
    """Put what stands for each code in its place."""
    for (some,) in in_pieces([codes]):
        some[:] = by[some]


def _chosen(ids: tuple[str, ...], which: BoolArray) -> tuple[str, ...]:
    return ids if which.all() else tuple(ids[position] for position in np.flatnonzero(which))


def attributes_of(
    columns: Mapping[str, DescribingColumn], rated: BoolArray, spec: DataSpec
) -> dict[str, Axis]:
    """The columns of the items that count."""
    return {name: axis_of(column, rated, ranges(spec, name)) for name, column in columns.items()}


def categories_of(answers: Answers, spec: DataSpec) -> tuple[str, ...]:
    """One question's labels: those declared, or those found in order."""
    cut = ranges(spec, None) or ranges(spec, spec.label)
    return spec.categories or in_order(answers.labels, cut)


def axis_of(column: DescribingColumn, counted: BoolArray, cut: Sequence[str]) -> Axis:
    """The axis of the raters (the attribute of the items) that count.

    `cut` are the ranges that its values were cut into, if any.
    """
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
    """As much of a reading as fits.

    `dropped`: what was left out of it, as parts of a sentence.
    """

    spec: DataSpec
    axes: tuple[str, ...]
    dropped: tuple[str, ...]


def signature(annotations: Table, raters: Table | None, items: Table | None = None) -> str:
    """Hash of the files' column names, in whatever order they stand."""
    columns: list[list[str] | str] = [
        sorted(table.columns) for table in (annotations, raters) if table is not None
    ]
    if items is not None:
        columns += ["items", sorted(items.columns)]
    return hashlib.sha256(json.dumps(columns).encode()).hexdigest()


def fitting(
    annotations: Table,
    raters: Table | None,
    spec: DataSpec,
    axes: Sequence[str],
    items: Table | None = None,
) -> Fitted:
    """As much of a reading as fits these files: axes that exist, and declared labels if all are among them.

    Raises DataError if the reading as a whole does not fit, e.g. for a column that does not exist.
    """
    annotations, raters, items, _ = recode(annotations, raters, spec, items)
    raise_stopping(checks.missing_columns(annotations, raters, spec, ()))
    if items is not None and spec.items_id not in items.columns:
        raise_stopping([checks.no_column(str(spec.items_id), (items,))])
    dropped: list[str] = []
    categories = []
    for question in spec.questions:
        raise_stopping(filters.unknown_columns(annotations, question))
        stray = _undeclared(read_votes(annotations, question), question)
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


def _undeclared(votes: Votes, spec: DataSpec) -> list[str]:
    if spec.categories is None:
        return []
    found = (votes.labels[code] for code in votes.used_labels())
    return [label for label in found if label not in spec.missing and label not in spec.categories]


REASONS: Mapping[Screen, LeftOutReason] = {
    "random": LeftOutReason.AT_CHANCE,
    "constant": LeftOutReason.ONE_LABEL_ALWAYS,
    "duplicates": LeftOutReason.TOO_CLOSE,
}


def leave_out_screened(sieves: Sequence[Sieve], spec: DataSpec) -> None:
    """Leave out whom the spec's screens name by the answers to the first question, in all questions.

    Every screen looks at the same annotations: those that exclusions and filters have left.
    """
    votes = sieves[0].votes
    counted = per_rater(votes) > 0
    if not spec.screens or not counted.any():
        return
    from grasp_core.reading.screens.screens import (
        screened,
    )  # brings all of SciPy's functions, and most data need none

    annotations = _annotations(votes)
    for screen in spec.screens:
        named = np.zeros(counted.size, dtype=np.bool_)
        named[counted] = screened(screen, annotations)
        for sieve in sieves:
            sieve.keep(REASONS[screen](), ~named[sieve.votes.rater])


def _annotations(votes: Votes) -> Annotations:
    labels = tuple(votes.labels[code] for code in np.unique(votes.label))
    rated = tallied(votes.item, len(votes.item_ids)) > 0
    return annotations_of(votes, labels, per_rater(votes) > 0, rated)


@dataclass(frozen=True, slots=True, eq=False)
class Dataset:
    """Data ready for a run.

    `raters`: in the same order as the annotations' raters.
    `problems`: what to know about; none of them stops a run.
    `removals`: what exclusions and filters left out, in the order in which they were applied.
    `further`: the answers to further questions, over the same items and raters.
    `models`: models that are to be held against the groups, over the same items.
    `attributes`: columns that describe items, whose values can make slices; its codes have shape (I,).
    """

    annotations: Annotations
    raters: Raters
    summary: DataSummary
    problems: tuple[Problem, ...]
    removals: tuple[Removal, ...] = ()
    further: tuple[Annotations, ...] = ()
    models: tuple[ModelLabels, ...] = ()
    attributes: Mapping[str, Axis] = field(default_factory=dict)

    @property
    def questions(self) -> tuple[Annotations, ...]:
        """The answers to each question; one, but for vector-valued annotations."""
        return (self.annotations, *self.further)

    @property
    def annotations_of(self) -> Int64Array:
        """Annotations of each rater, shape (J,): items of which the rater answered some question."""
        rater = answered(self.questions)[1] if self.further else self.annotations.rater
        return tallied(rater, self.annotations.n_raters)


def load(
    annotations: Table,
    raters: Table | None,
    spec: DataSpec,
    axes: Sequence[str] | None = None,
    *,
    items: Table | None = None,
    slices: Sequence[str] | None = None,
) -> Dataset:
    """Form the data set that `spec` describes.

    Values are recoded first. Rows without a label are no annotations; then excluded raters drop out, what the
    filters name in the order of their fields, repeated annotations, and whom the screens name. Only raters
    and items with at least one annotation left count. Items and raters keep the order of first appearance.
    Where both files have an axis's column, the raters file decides.

    `axes`: demographic columns; by default :func:`candidate_axes`.
    `items`: the items file, which decides where the annotations have a column of the same name.
    `slices`: columns that describe items; by default those that can make slices, or none where axes are
        named.

    Raises DataError with every problem that has to be mended first in ``problems``.
    """
    (annotations, raters, items), seen, problems = all_recoded(annotations, raters, items, spec)
    raise_stopping(checks.missing_columns(annotations, raters, spec, axes or ()))
    raise_stopping(filters.unknown_columns(annotations, spec))
    votes = [read_votes(annotations, question) for question in spec.questions]
    profiles = Profiles.of(annotations, raters, spec, votes[0].rater_ids, votes[0].rater_of_row)
    names = _candidates(profiles, spec) if axes is None else tuple(dict.fromkeys(axes))
    if axes is None:
        problems += profiles.nearly({*names, *(column for column, _ in spec.exclude)})
    excluded, found = checks.excluded_raters(profiles, spec)
    left = [leave_out(one, excluded, question) for one, question in zip(votes, spec.questions, strict=True)]
    sieves = [sieve for sieve, _ in left]
    notes_of_votes = [note for _, notes in left for note in notes]
    if not any(problem.stops for problem in notes_of_votes):
        leave_out_screened(sieves, spec)
    contents = Contents.of(sieves, spec, seen, notes_of_votes)
    files = [fingerprint(table) for table in (annotations, raters, items) if table is not None]
    rated = tallied(together(sieves).item, len(votes[0].item_ids)) > 0
    described = Descriptions.of(annotations, items, spec, votes[0].item_ids, votes[0].item_of_row)
    found += described.problems(rated)

    def form(counted: BoolArray, categories: Sequence[tuple[str, ...]]) -> list[Annotations]:
        answers = zip(sieves, categories, strict=True)
        return [annotations_of(sieve.votes, labels, counted, rated) for sieve, labels in answers]

    dataset = conclude(contents, annotations, spec, profiles, names, files, [*problems, *found], form)
    if slices is None and axes is None:
        columns, notes = described.candidates(rated), []
    else:
        columns = described.slices(slices or (), rated)
        notes = [note for column in columns.values() for note in column.problems]
    known = tuple(dict.fromkeys([*dataset.problems, *notes]))
    return dataclasses.replace(dataset, problems=known, attributes=attributes_of(columns, rated, spec))


def candidate_axes(annotations: Table, raters: Table | None, spec: DataSpec) -> tuple[str, ...]:
    """Columns of either file that can be axes: one value per rater, and not too many values.

    Raises DataError if a column that `spec` names does not exist.
    """
    annotations, raters, _, _ = recode(annotations, raters, spec)
    raise_stopping(checks.missing_columns(annotations, raters, spec, ()))
    profiles = Profiles.of(annotations, raters, spec, *rater_rows(annotations, spec))
    return _candidates(profiles, spec)


def candidate_columns(
    found: Dataset, annotations: Table, raters: Table | None, spec: DataSpec
) -> dict[str, Axis]:
    """The candidate axes' values for the raters of a data set that was formed of the files, by name."""
    annotations, raters, _, _ = recode(annotations, raters, spec)
    profiles = Profiles.of(annotations, raters, spec, *rater_rows(annotations, spec))
    counted = np.isin(profiles.rater_ids, found.annotations.rater_ids)
    return {
        name: axis_of(profiles.column(name, counted), counted, ranges(spec, name))
        for name in _candidates(profiles, spec)
    }


def _candidates(profiles: Profiles, spec: DataSpec) -> tuple[str, ...]:
    return profiles.candidates({column for column, _ in spec.exclude})


def fingerprint(table: Table) -> FileFingerprint:
    """The file that a table was read from."""
    return FileFingerprint(table.name, table.bytes, table.sha256, table.source)


def conclude(
    contents: Contents,
    table: Table,
    spec: DataSpec,
    profiles: Profiles,
    axes: Sequence[str],
    files: Sequence[FileFingerprint],
    problems: Sequence[Problem],
    form: Callable[[BoolArray, Sequence[tuple[str, ...]]], Sequence[Annotations]],
) -> Dataset:
    """The data set of these contents, checked and summed up.

    `table`: the annotations, recoded.
    `profiles`: of the contents' raters.
    `problems`: those that are known: of the raters file and of exclusions.
    `form`: takes which raters count and each question's categories, gives the annotations by question.

    Raises DataError with every problem that has to be mended first in ``problems``.
    """
    name, counted = table.name, contents.counted > 0
    columns = {axis: profiles.column(axis, counted) for axis in axes}
    found = [
        *recoding.notes(name, contents.seen),
        *problems,
        *contents.notes,
        *_about_ids(name, contents, profiles, spec),
        *_about_answers(name, contents, spec),
        *profiles.problems(counted),
        *_about_axes(columns, counted),
    ]
    if not any(problem.stops for problem in problems):  # else everybody may be excluded
        found += _shape(name, contents, profiles.rater_ids, spec)
    raise_stopping(found)
    removals = _removals(contents, columns, spec)
    found += [removal.note() for removal in removals if removal.annotations]
    categories = tuple(map(categories_of, contents.answers, spec.questions))
    formed = form(counted, categories)
    formed_axes = {axis: axis_of(column, counted, ranges(spec, axis)) for axis, column in columns.items()}
    about_files = [*table.problems, *(profiles.raters.table.problems if profiles.raters else ())]
    return Dataset(
        formed[0],
        Raters(formed[0].rater_ids, formed_axes, contents.counted[counted].astype(np.int64)),
        summary(contents, spec, categories, files, unused(table.columns, spec, columns)),
        tuple(dict.fromkeys([*about_files, *found])),  # what holds of every question once
        removals,
        tuple(formed[1:]),
    )


def _about_ids(name: str, contents: Contents, profiles: Profiles, spec: DataSpec) -> Iterator[Problem]:
    """Rater ids that look alike, and ids to leave out that nobody and nothing has."""
    if spec.rater is not None and spec.layout != "items-by-raters":
        rows = dict(zip(profiles.rater_ids, contents.rows.tolist(), strict=True))
        yield from near_duplicates(f"{name}, column {quoted(spec.rater)}", rows, ids=True)
    yield from filters.absent_ids(name, "raters", spec.filters.raters, profiles.rater_ids)
    yield from filters.absent_ids(name, "items", spec.filters.items, contents.listed_items)


def _about_answers(name: str, contents: Contents, spec: DataSpec) -> Iterator[Problem]:
    for answers, question in zip(contents.answers, spec.questions, strict=True):
        labels = answers.labels
        if len(labels) > checks.MAX_CATEGORIES and not any(problem.stops for problem in contents.notes):
            yield checks.too_many_labels(name, str(question.label), list(labels))
        elif len(labels) <= checks.MAX_CATEGORIES:
            column = "labels" if spec.layout != "long" else f"column {quoted(str(question.label))}"
            yield from checks.about_labels(f"{name}, {column}", labels, question)
        yield from filters.without_effect(question, answers.steps)


def _about_axes(columns: Mapping[str, DescribingColumn], counted: BoolArray) -> Iterator[Problem]:
    for name, column in columns.items():
        for problem in (*column.problems, *checks.axis(name, column, counted)):
            yield dataclasses.replace(problem, axis=name)


def _shape(name: str, contents: Contents, rater_ids: Sequence[str], spec: DataSpec) -> Iterator[Problem]:
    """Too little left to compare, and what dropped out beside what was left out on purpose."""
    counted = contents.counted > 0
    if len(contents.answers) > 1:
        for answers, question in zip(contents.answers, spec.questions, strict=True):
            if not answers.labels:
                yield checks.unanswered(name, str(question.label))
    if not counted.any():
        yield checks.nothing_left(name)
        return
    empty = np.flatnonzero(~counted & ~np.all([answers.gone for answers in contents.answers], axis=0))
    yield from checks.gone("items", list(contents.empty_examples), contents.empty_items, name)
    yield from checks.gone("raters", [rater_ids[j] for j in empty[:EXAMPLES]], empty.size, name)
    items, most = int(contents.per_item.sum()), contents.per_item.size - 1
    yield from checks.too_small(name, items, int(counted.sum()), most)


def _removals(
    contents: Contents, axes: Mapping[str, DescribingColumn], spec: DataSpec
) -> tuple[Removal, ...]:
    """Removals of each filter, by question where there are several."""
    by_question = [
        (filters.removals(answers.steps, axes), str(question.label))
        for answers, question in zip(contents.answers, spec.questions, strict=True)
    ]
    if len(by_question) == 1:
        return by_question[0][0]
    return tuple(
        dataclasses.replace(one, filter=LeftOutReason.IN_QUESTION(reason=one.filter, question=question))
        for found, question in by_question
        for one in found
    )
