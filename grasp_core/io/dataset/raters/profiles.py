"""Profiles of raters as the files have them: one value, or unknown, per rater and column."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass, replace

import numpy as np
import pandas as pd

from grasp_core.annotations import BoolArray, Codes
from grasp_core.data_spec import DataSpec
from grasp_core.errors import DataError, Problem, know, stop
from grasp_core.io.dataset.raters.columns import DescribingColumn, Source, merged
from grasp_core.io.dataset.raters.ids import alike, rater_column
from grasp_core.io.dataset.votes import id_columns
from grasp_core.io.table.columns import near_duplicates
from grasp_core.io.table.table import Table
from grasp_core.remarks.problems import DataProblem
from grasp_core.wording import quoted


@dataclass(frozen=True, slots=True, eq=False)
class Profiles:
    """Both files' columns that describe raters; the raters file comes first.

    Parameters
    ----------
    rater_ids : tuple of str, length J
    missing : tuple of str
    annotations, raters : Source or None
    """

    rater_ids: tuple[str, ...]
    missing: tuple[str, ...]
    annotations: Source | None
    raters: Source | None

    @classmethod
    def of(
        cls,
        annotations: Table,
        raters: Table | None,
        spec: DataSpec,
        rater_ids: tuple[str, ...],
        rater_of_row: Codes | None,
    ) -> Profiles:
        """Connect the files; the last two arguments are those of :class:`~grasp_core.io.dataset.votes.Votes`.

        Raises
        ------
        DataError
            If no column of the raters file holds rater ids of the annotations.
        """
        inside = None
        if rater_of_row is not None:
            taken = {*id_columns(spec), *spec.labels}
            names = spec.profile if spec.layout == "raters-by-items" else annotations.columns
            columns = tuple(name for name in names if name not in taken)
            inside = Source(annotations, spec.rater, rater_of_row, columns, len(rater_ids))
        beside = None
        if raters is not None:
            key = rater_column(raters, spec, rater_ids, annotations.name)
            column = raters.column(key)
            positions = (
                pd.Index(rater_ids).get_indexer(pd.Index(column.values))[column.codes].astype(np.int64)
            )
            others = tuple(name for name in raters.columns if name != key)
            beside = Source(raters, key, positions, others, len(rater_ids))
        return cls(rater_ids, spec.missing, inside, beside)

    @property
    def sources(self) -> tuple[Source, ...]:
        """The files that describe raters, the one that decides first."""
        return tuple(source for source in (self.raters, self.annotations) if source is not None)

    def candidates(self, left_out: Collection[str]) -> tuple[str, ...]:
        """Columns that can be axes: one value per rater, at least two and not too many in all."""
        names: dict[str, None] = {}
        for source in self.sources:
            for name in source.columns:
                if (
                    name not in left_out
                    and source.divides(name, self.missing)
                    and (source is self.raters or source.constant(name, self.missing))
                ):
                    names[name] = None
        return tuple(names)

    def nearly(self, left_out: Collection[str]) -> list[Problem]:
        """Columns that would be axes, had not a few raters several values."""
        source = self.annotations
        if source is None:
            return []
        return [
            problem
            for name in source.columns
            if name not in left_out
            and (self.raters is None or name not in self.raters.columns)
            and source.divides(name, self.missing)
            and (problem := source.nearly_constant(name, self.missing)) is not None
        ]

    def column(self, name: str, counted: BoolArray) -> DescribingColumn:
        """Each rater's value; the raters file decides where it has one; `counted`, (J,), are who count.

        Raises
        ------
        DataError
            If the column holds the rater ids.
        """
        found = [
            source.column(name, self.missing, counted) for source in self.sources if name in source.columns
        ]
        if not found:
            raise DataError(DataProblem.COLUMN_OF_IDS(column=name, file=self.sources[0].table.name))
        if len(found) == 1:
            return found[0]
        column, differ = merged(found[0], found[1], counted)
        if not differ.size:
            return column
        files = tuple(source.table.name for source in self.sources)
        remark = DataProblem.FILES_DISAGREE(files=files, column=name, raters=differ.size, decides=files[0])
        problem = know(remark, differ.size, [self.rater_ids[rater] for rater in differ])
        return replace(column, problems=(*column.problems, problem))

    def problems(self, counted: BoolArray) -> list[Problem]:
        """Problems of the raters file's ids; `counted`, shape (J,), are raters with labels that count."""
        if self.raters is None:
            return []
        return [
            *_id_problems(self.raters),
            *self._unmatched(self.raters, counted),
        ]

    def _unmatched(self, source: Source, counted: BoolArray) -> list[Problem]:
        problems: list[Problem] = []
        described = np.zeros(len(self.rater_ids), dtype=np.bool_)
        described[source.unit_of_row[source.unit_of_row >= 0]] = True
        without = np.flatnonzero(counted & ~described)
        file, key = source.table.name, str(source.key)
        if without.size:
            remark = DataProblem.RATERS_NOT_DESCRIBED(raters=without.size, column=key, file=file)
            problems.append(know(remark, without.size, [self.rater_ids[rater] for rater in without]))
        idle = np.flatnonzero(source.unit_of_row < 0)
        if idle.size:
            column = source.table.column(key)
            ids = [column.values[code] for code in np.unique(column.codes[idle])]
            remark = DataProblem.RATERS_WITHOUT_ANNOTATIONS(raters=len(ids), file=file)
            problems.append(know(remark, len(ids), ids))
            near = alike([self.rater_ids[rater] for rater in without], ids) if without.size else None
            if near is not None:
                remark = DataProblem.IDS_WRITTEN_OTHERWISE(
                    file=file, column=key, ids=len(near.pairs), difference=near.but_for
                )
                problems.append(know(remark, len(near.pairs), [other for _, other in near.pairs]))
        return problems


def _id_problems(source: Source) -> list[Problem]:
    table, key = source.table, str(source.key)
    column = table.column(key)
    counts = column.counts()
    where = f"{table.name}, column {quoted(key)}"
    problems = near_duplicates(where, dict(zip(column.values, counts.tolist(), strict=True)), ids=True)
    blank = np.flatnonzero(column.among([value for value in column.values if not value.strip()]))
    if blank.size:
        row = table.row(blank[0])
        problems.append(stop(DataProblem.BLANK_RATER_ID(file=table.name, row=row, column=key), blank.size))
    repeated = np.flatnonzero(counts > 1)
    if repeated.size:
        remark = DataProblem.RATERS_IN_SEVERAL_ROWS(where=where, raters=repeated.size)
        problems.append(know(remark, repeated.size, [column.values[position] for position in repeated]))
    return problems
