"""Tables and a data spec become annotations, raters and what is to be known about them."""

from __future__ import annotations

import dataclasses
import hashlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from grasp_core.annotations import Annotations, Axis, BoolArray, OffsetArray, Raters
from grasp_core.data_spec import DataSpec
from grasp_core.errors import Problem
from grasp_core.io import checks, filters
from grasp_core.io.filters import Removal
from grasp_core.io.problems import quoted, raise_stopping
from grasp_core.io.profiles import Profile, Profiles
from grasp_core.io.questions import answered, left_out, together, unanswered
from grasp_core.io.recoding import in_order, ranges, recode
from grasp_core.io.tables import Table
from grasp_core.io.votes import Votes, rater_rows, read_votes
from grasp_core.result import DataSummary, FileFingerprint


@dataclass(frozen=True, slots=True, eq=False)
class Dataset:
    """Data ready for a run.

    Parameters
    ----------
    annotations : Annotations
    raters : Raters
        In the same order as the annotations' raters.
    summary : DataSummary
    problems : tuple of Problem
        What to know about; none of them stops a run.
    removals : tuple of Removal
        What exclusions and filters left out, in the order in which they were applied.
    further : tuple of Annotations
        The answers to further questions, over the same items and raters.
    """

    annotations: Annotations
    raters: Raters
    summary: DataSummary
    problems: tuple[Problem, ...]
    removals: tuple[Removal, ...] = ()
    further: tuple[Annotations, ...] = ()

    @property
    def questions(self) -> tuple[Annotations, ...]:
        """The answers to each question; one, but for vector-valued annotations."""
        return (self.annotations, *self.further)

    @property
    def annotations_of(self) -> OffsetArray:
        """Annotations of each rater, shape (J,): items of which the rater answered some question."""
        (_, rater) = answered(self.questions)
        return np.bincount(rater, minlength=self.annotations.n_raters)


def load(
    annotations: Table, raters: Table | None, spec: DataSpec, axes: Sequence[str] | None = None
) -> Dataset:
    """Form the data set that `spec` describes.

    Values are recoded first. Rows without a label are no annotations; then excluded raters drop out, what the
    filters name in the order of their fields, and repeated annotations. Only raters and items with at least
    one annotation left count. Items and raters keep the order of first appearance. Where
    both files have an axis's column, the raters file decides.

    Parameters
    ----------
    annotations, raters : Table
    spec : DataSpec
    axes : sequence of str, optional
        Demographic columns; by default :func:`candidate_axes`.

    Returns
    -------
    Dataset

    Raises
    ------
    DataError
        With every problem that has to be mended first in ``problems``.
    """
    annotations, raters, problems = recode(annotations, raters, spec)
    raise_stopping(checks.missing_columns(annotations, raters, spec, axes or ()))
    questions = [(question, *read_votes(annotations, question)) for question in spec.questions]
    _, votes, found = questions[0]
    problems += found
    found = filters.problems(votes, spec)
    raise_stopping(found)
    problems += found
    profiles = Profiles.of(annotations, raters, spec, votes.rater_ids, votes.rater_of_row)
    names = _candidates(profiles, spec) if axes is None else tuple(dict.fromkeys(axes))

    excluded, found = checks.excluded_raters(profiles, spec)
    problems += found
    tallies: list[filters.Tally] = []
    for question, votes, _ in questions:
        tally, found = _filtered(votes, excluded, question)
        tallies.append(tally)
        problems += found
    votes, gone_raters, gone_items = together(tallies)
    counted = np.bincount(votes.rater, minlength=len(votes.rater_ids)) > 0
    rated = np.bincount(votes.item, minlength=len(votes.item_ids)) > 0
    problems += profiles.problems(counted)
    columns = {name: profiles.column(name, counted) for name in names}
    problems += about_axes(columns, counted)
    if not excluded.all():
        problems += [*unanswered(tallies), *checks.shape(votes, gone_raters, gone_items)]
    raise_stopping(problems)
    removals = left_out(tallies, columns)
    problems += [removal.note() for removal in removals if removal.annotations]

    formed, *further = (
        _annotations(tally.votes, question, counted, rated)
        for tally, question in zip(tallies, spec.questions, strict=True)
    )
    about_files = [*annotations.problems, *(raters.problems if raters else ())]
    known = tuple(dict.fromkeys([*about_files, *problems]))  # what holds of every question once
    formed_axes = {name: form_axis(column, counted, ranges(spec, name)) for name, column in columns.items()}
    summary = _summary(spec.labels, (formed, *further), annotations, raters)
    return Dataset(formed, Raters(formed.rater_ids, formed_axes), summary, known, removals, tuple(further))


def candidate_axes(annotations: Table, raters: Table | None, spec: DataSpec) -> tuple[str, ...]:
    """Columns of either file that can be axes: one value per rater, and not too many values.

    Raises
    ------
    DataError
        If a column that `spec` names does not exist.
    """
    annotations, raters, _ = recode(annotations, raters, spec)
    raise_stopping(checks.missing_columns(annotations, raters, spec, ()))
    profiles = Profiles.of(annotations, raters, spec, *rater_rows(annotations, spec))
    return _candidates(profiles, spec)


def _candidates(profiles: Profiles, spec: DataSpec) -> tuple[str, ...]:
    return profiles.candidates({column for column, _ in spec.exclude})


def _filtered(votes: Votes, excluded: BoolArray, spec: DataSpec) -> tuple[filters.Tally, list[Problem]]:
    """Leave out what has no label, who is excluded, what the filters name, and repetitions."""
    votes, problems = checks.missing_labels(votes, spec)
    tally = filters.Tally.of(votes)
    if spec.exclude:
        rules = " or ".join(f"{quoted(name)} = {quoted(value)}" for name, value in spec.exclude)
        tally.keep(f"raters with {rules}", ~excluded[votes.rater])
    problems += filters.by_values(tally, spec)
    problems += checks.labels(tally.votes, spec)
    tally.votes, found = checks.repeats(tally.votes)
    problems += found
    problems += filters.by_gold(tally, spec)
    filters.by_counts(tally, spec)
    return tally, problems


def about_axes(columns: Mapping[str, Profile], counted: BoolArray) -> Iterator[Problem]:
    """What to know of the demographic columns; `counted` are the raters who count, shape (J,)."""
    for name, column in columns.items():
        for problem in (*column.problems, *checks.axis(name, column, counted)):
            yield dataclasses.replace(problem, axis=name)


def _annotations(votes: Votes, spec: DataSpec, counted: BoolArray, rated: BoolArray) -> Annotations:
    used = np.unique(votes.label)
    found = [votes.labels[code] for code in used]
    cut = ranges(spec, None) or ranges(spec, spec.label)
    categories = spec.categories or in_order(found, cut)
    position = {label: index for index, label in enumerate(categories)}
    category = np.full(len(votes.labels), -1, dtype=np.int64)
    category[used] = [position[label] for label in found]
    return Annotations.from_codes(
        item=(np.cumsum(rated) - 1)[votes.item],
        rater=(np.cumsum(counted) - 1)[votes.rater],
        category=category[votes.label],
        item_ids=_chosen(votes.item_ids, rated),
        rater_ids=_chosen(votes.rater_ids, counted),
        categories=categories,
    )


def _chosen(ids: tuple[str, ...], which: BoolArray) -> tuple[str, ...]:
    return tuple(ids[position] for position in np.flatnonzero(which))


def form_axis(column: Profile, counted: BoolArray, cut: Sequence[str]) -> Axis:
    """The axis of the raters who count; `cut` are the ranges that its values were cut into, if any."""
    codes = column.codes[counted]
    code_of = {column.values[code]: code for code in np.unique(codes[codes >= 0]).tolist()}
    used = [code_of[value] for value in in_order(code_of, cut)]
    position = np.full(len(column.values) + 1, -1, dtype=np.int32)
    position[used] = np.arange(len(used), dtype=np.int32)
    by_rater = position[codes]
    by_rater.flags.writeable = False
    return Axis(tuple(column.values[code] for code in used), by_rater)


def _summary(names: Sequence[str], questions: Sequence[Annotations], *tables: Table | None) -> DataSummary:
    """What the data were; labels bear their question's name where there are several."""
    formed = questions[0]
    item, _ = answered(questions)
    labels = formed.categories
    if len(questions) > 1:
        labels = tuple(
            f"{name}: {category}"
            for name, one in zip(names, questions, strict=True)
            for category in one.categories
        )
    files = tuple(
        FileFingerprint(table.name, table.bytes, table.sha256) for table in tables if table is not None
    )
    per_item = np.bincount(item, minlength=formed.n_items)
    counts = [np.bincount(one.category, minlength=one.n_categories) for one in questions]
    joined = "\n".join(file.sha256 for file in files)
    return DataSummary(
        items=formed.n_items,
        raters=formed.n_raters,
        annotations=int(item.size),
        categories=labels,
        label_counts=tuple(np.concatenate(counts).tolist()),
        raters_per_item=(int(per_item.min()), float(np.median(per_item)), int(per_item.max())),
        sha256=files[0].sha256 if len(files) == 1 else hashlib.sha256(joined.encode("ascii")).hexdigest(),
        files=files,
    )
