"""The rows of one part of a partitioned data set, as annotations that count."""

from __future__ import annotations

from collections.abc import Sequence

import fsspec
import pyarrow as pa
import pyarrow.compute as pc

from grasp_core.data_spec import DataSpec, Filters
from grasp_core.errors import DataError, Problem, SpecError
from grasp_core.io import checks, parquet
from grasp_core.io.filters import Tally
from grasp_core.io.parsed import compact
from grasp_core.io.partitions import Part, PartFile, Parts, opened
from grasp_core.io.problems import number, raise_stopping
from grasp_core.io.tables import Table
from grasp_core.io.votes import read_part_votes


def check_supported(spec: DataSpec) -> None:
    """Refuse readings that need the whole table.

    Raises
    ------
    SpecError
    """
    unsupported = {
        f"layout {spec.layout}": spec.layout != "long",
        "several questions": bool(spec.further),
        "recoding": bool(spec.recode),
        "filters (all but --exclude)": spec.filters != Filters(),
    }
    found = [what for what, used in unsupported.items() if used]
    if found:
        raise SpecError(
            f"a data set that is read part by part cannot be read with {', '.join(found)}; write the folder "
            "with a row per annotation and the values that are to be analysed"
        )


def read_part(
    parts: Parts, part: Part, spec: DataSpec, excluded: pa.Array
) -> tuple[Tally, tuple[tuple[str, Problem], ...]]:
    """A part's annotations that count, sorted by item.

    Parameters
    ----------
    parts : Parts
    part : Part
    spec : DataSpec
    excluded : pyarrow array of str
        Raters who are left out.

    Returns
    -------
    Tally
    tuple of (kind, Problem)
        What to know of it.

    Raises
    ------
    DataError
        If something has to be mended first; it names the file and the row.
    """
    tally, found = _read_files(parts, part.files, part.first_row, spec, excluded)
    if any(problem.stops for _, problem in found):
        for file in part.files if len(part.files) > 1 else ():
            _, alone = _read_files(parts, (file,), 0, spec, excluded)
            raise_stopping(problem for _, problem in alone)
        raise_stopping(problem for _, problem in found)
    return tally, found


def _read_files(
    parts: Parts, files: tuple[PartFile, ...], first_row: int, spec: DataSpec, excluded: pa.Array
) -> tuple[Tally, tuple[tuple[str, Problem], ...]]:
    # Rows are numbered in their file where there is one, else through the folder.
    name = f"{parts.name}/{files[0].path}" if len(files) == 1 else parts.name
    table = _table(parts, files, spec, name, first_row if len(files) > 1 else 0)
    votes, blank = read_part_votes(table, spec)
    votes, missing = checks.missing_labels(votes, spec)
    tally = Tally.of(votes)
    if len(excluded):
        left_out = pc.is_in(pa.array(votes.rater_ids, pa.string()), value_set=excluded)
        tally.keep("excluded", ~left_out.to_numpy(zero_copy_only=False)[votes.rater])
    labels = checks.labels(tally.votes, spec)
    tally.votes, repeats = checks.repeats(tally.votes)
    # What else is to be known of ids and labels is known of all parts together.
    stopping = [*blank, *(problem for problem in labels if problem.stops)]
    kinds = {"stops": stopping, "missing": missing, "repeats": repeats}
    return tally, tuple((kind, problem) for kind, problems in kinds.items() for problem in problems)


def _table(parts: Parts, files: tuple[PartFile, ...], spec: DataSpec, name: str, first_row: int) -> Table:
    columns = [str(spec.item), str(spec.rater), str(spec.label)]
    system, root = fsspec.core.url_to_fs(parts.source)
    read: list[pa.Table] = []
    for file in files:
        shown = f"{parts.name}/{file.path}"
        with opened(system, f"{root}/{file.path}", shown) as content:
            read.append(parquet.read_columns(content, columns))
        if read[-1].num_rows != file.rows:
            raise DataError(f"{shown} has changed while it was analysed; run again when nobody writes to it")
    data = compact(pa.concat_tables(read))
    size = sum(file.bytes for file in files)
    return Table(name, tuple(columns), data, "", size, "Parquet", first_row + 1)


def told(problems: Sequence[Problem]) -> Problem:
    """One problem for the same one of several parts."""
    first, total = problems[0], sum(problem.count for problem in problems)
    if len(problems) == 1:
        return first
    more = f" (and so in {number(len(problems) - 1, 'more part')}; {total:,} in all)"
    return Problem(first.stops, first.message + more, total, first.examples)
