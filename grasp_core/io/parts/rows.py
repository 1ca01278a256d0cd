"""The rows of one part of a partitioned data set, as annotations that count."""

from __future__ import annotations

import dataclasses
import hashlib
import io
from typing import NamedTuple

import pyarrow as pa
import pyarrow.compute as pc

from grasp_core.data_spec import DataSpec
from grasp_core.errors import DataError, raise_stopping
from grasp_core.io.dataset.contents import Note, leave_out
from grasp_core.io.dataset.filters import Sieve
from grasp_core.io.dataset.recoding import Seen, recoded
from grasp_core.io.dataset.votes import read_votes
from grasp_core.io.formats.columnar import parquet
from grasp_core.io.parts.partitions import Part, PartFile, Parts, opened
from grasp_core.io.sources import remote
from grasp_core.io.table.parsed import compact
from grasp_core.io.table.table import Table
from grasp_core.recode_steps import Combine


class PartRows(NamedTuple):
    """A part's annotations that count, a sieve per question; what recoding saw, and what to know.

    `sha256` is of each file, whose content is fetched once for this and for the rows.
    """

    sieves: list[Sieve]
    seen: tuple[Seen, ...]
    notes: list[Note]
    sha256: tuple[str, ...]


def read_part(parts: Parts, part: Part, spec: DataSpec, excluded: pa.Array) -> PartRows:
    """A part's annotations that count, sorted by item.

    Parameters
    ----------
    parts : Parts
    part : Part
    spec : DataSpec
    excluded : pyarrow array of str
        Raters who are left out.

    Raises
    ------
    DataError
        If something has to be mended first; it names the file and the row.
    """
    try:
        return _read_files(parts, part.files, part.first_row, spec, excluded)
    except DataError:
        for file in part.files if len(part.files) > 1 else ():
            _read_files(parts, (file,), 0, spec, excluded)
        raise


def _read_files(
    parts: Parts, files: tuple[PartFile, ...], first_row: int, spec: DataSpec, excluded: pa.Array
) -> PartRows:
    # Rows are numbered in their file where there is one, else through the folder.
    name = f"{parts.name}/{files[0].path}" if len(files) == 1 else parts.name
    table, sha256 = _table(parts, files, spec, name, first_row if len(files) > 1 else 0)
    table, seen = recoded(table, _of_annotations(parts, spec))
    sieves: list[Sieve] = []
    notes: list[Note] = []
    for question in spec.questions:
        votes = read_votes(table, question)
        out = pc.is_in(pa.array(votes.rater_ids, pa.string()), value_set=excluded)
        sieve, found = leave_out(votes, out.to_numpy(zero_copy_only=False), question, whole=False)
        sieves.append(sieve)
        notes += found
    raise_stopping(problem for _, problem in notes)
    return PartRows(sieves, seen, notes, sha256)


def _of_annotations(parts: Parts, spec: DataSpec) -> DataSpec:
    """Without the steps on columns of the raters file alone."""
    known = {None, *parts.columns, *(step.into for step in spec.recode if isinstance(step, Combine))}
    own = (step for step in spec.recode if isinstance(step, Combine) or step.column in known)
    return dataclasses.replace(spec, recode=tuple(own))


def _table(
    parts: Parts, files: tuple[PartFile, ...], spec: DataSpec, name: str, first_row: int
) -> tuple[Table, tuple[str, ...]]:
    columns = _columns(parts, spec)
    system, root = remote.file_system(parts.source)
    read: list[pa.Table] = []
    sha256: list[str] = []
    for file in files:
        shown = f"{parts.name}/{file.path}"
        with opened(system, f"{root}/{file.path}", shown) as stream:
            content = io.BytesIO(stream.read()) if "://" in parts.source else stream
            sha256.append(hashlib.file_digest(content, "sha256").hexdigest())
            content.seek(0)
            read.append(parquet.read_columns(content, columns))
        if read[-1].num_rows != file.rows:
            raise changed(shown)
    data = compact(pa.concat_tables(read))
    size = sum(file.bytes for file in files)
    return Table(name, tuple(columns), data, "", size, "Parquet", first_row + 1), tuple(sha256)


def changed(shown: str) -> DataError:
    """The error for a file that is no longer what it was when the run began."""
    return DataError(f"{shown} has changed while it was analysed; run again when nobody writes to it")


def _columns(parts: Parts, spec: DataSpec) -> list[str]:
    """The columns that the spec names; no others are read."""
    named = [spec.item, spec.rater, *spec.labels, spec.order, spec.filters.time]
    named += [name for name, _ in spec.filters.drop]
    for step in spec.recode:
        named += step.columns if isinstance(step, Combine) else [step.column]
    return [name for name in dict.fromkeys(named) if name in parts.columns]
