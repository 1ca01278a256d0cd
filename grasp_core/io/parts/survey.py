"""Facts of a partitioned data set once each part was read: raters, categories, sizes, identity."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, fields
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa

from grasp_core.annotations import Annotations, BoolArray, Int32Array, Int64Array
from grasp_core.data_spec import DataSpec
from grasp_core.errors import DataError, Problem, raise_stopping, stop
from grasp_core.io.dataset import checks, filters
from grasp_core.io.dataset.contents import Contents
from grasp_core.io.dataset.load import Dataset, conclude, fingerprint
from grasp_core.io.dataset.raters.ids import rater_column
from grasp_core.io.dataset.raters.profiles import Profiles
from grasp_core.io.dataset.recoding import recoded, recoded_beside
from grasp_core.io.parts.codes import keep_raters
from grasp_core.io.parts.numbering import Hashes, Numbering
from grasp_core.io.parts.partitions import Part, Parts, sample
from grasp_core.io.parts.refused import REFUSED, check_supported
from grasp_core.io.parts.rows import read_part
from grasp_core.io.parts.scan import ScanTask, hashes_of, scan_part
from grasp_core.io.table.table import Table
from grasp_core.remarks.problems import DataProblem
from grasp_core.result import FileFingerprint
from grasp_core.wording import EXAMPLES, number, quoted

Each = Callable[[Callable[[Any], Any], Iterable[Any]], Iterator[Any]]
"""Computes a function of each argument, results in order: `each` of :mod:`grasp_core.engine.pools.pool`."""
_NOBODY = pa.array([], pa.string())


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class DatasetInParts(Dataset):
    """A data set whose annotations stay where they are: it has none of its own, and its ids are blank.

    Parameters
    ----------
    parts : Parts
    sha256 : tuple of tuple of str
        Of each part's files.
    excluded : pyarrow array of str
    first_items : tuple of int
        Items before each part.
    position : int32 array
        Of all raters who occur, in order of first appearance, the place among the J who count; else -1.
    per_rater : int64 array, shape (J,)
        Annotations of each rater.
    place : str
        The run's :func:`~grasp_core.io.parts.workplace.workplace`, where parts' codes and the places of their
        raters are kept.
    """

    parts: Parts
    sha256: tuple[tuple[str, ...], ...]
    excluded: pa.Array
    first_items: tuple[int, ...]
    position: Int32Array
    per_rater: Int64Array
    place: str

    @property
    def annotations_of(self) -> Int64Array:
        """Annotations of each rater, shape (J,)."""
        return self.per_rater


def survey(
    parts: Parts,
    raters: Table | None,
    spec: DataSpec,
    axes: Sequence[str],
    each: Each,
    place: str,
) -> DatasetInParts:
    """Read every part once.

    Parameters
    ----------
    parts : Parts
    raters : Table or None
    spec : DataSpec
    axes : sequence of str
        Demographic columns of the raters file.
    each : callable
        See :data:`Each`.
    place : str
        The run's :func:`~grasp_core.io.parts.workplace.workplace`.

    Raises
    ------
    DataError
        As :func:`grasp_core.io.dataset.load.load`; and if an item's annotations are spread over parts.
    SpecError
        If the reading needs the whole table.
    """
    head = _head(parts, raters, spec, axes)
    tasks = [ScanTask(parts, at, spec, head.excluded, place) for at in range(len(parts.parts))]
    read = _read_all(parts, spec, tasks, each)
    profiles = Profiles.of(
        head.annotations, head.raters, spec, tuple(read.contents.rater_ids.to_pylist()), None
    )
    _, by_exclusion = checks.excluded_raters(profiles, spec)
    found = conclude(
        read.contents,
        head.annotations,
        spec,
        profiles,
        tuple(dict.fromkeys(axes)),
        (read.folder, fingerprint(head.raters)),
        [*head.problems, *by_exclusion],
        _without_annotations,
    )
    counted = read.contents.counted > 0
    return DatasetInParts(
        *(getattr(found, field.name) for field in fields(Dataset)),
        parts=parts,
        sha256=read.sha256,
        excluded=head.excluded,
        first_items=read.first_items,
        position=np.where(counted, np.cumsum(counted) - 1, -1).astype(np.int32),
        per_rater=read.contents.counted[counted].astype(np.int64),
        place=place,
    )


class _Head(NamedTuple):
    """The columns of the annotations and the raters, both recoded; what to know, and who is left out."""

    annotations: Table
    raters: Table
    problems: list[Problem]
    excluded: pa.Array


def _head(parts: Parts, raters: Table | None, spec: DataSpec, axes: Sequence[str]) -> _Head:
    """What can be checked before any part is read."""
    check_supported(spec)
    head = sample(parts)
    if raters is None:
        raise DataError(REFUSED["raters"].format(name=parts.name))
    some_ids = head.distinct(str(spec.rater)) if spec.rater in head.columns else ()
    head, _ = recoded(head.taken(np.arange(0)), spec, raters)  # its columns
    raters, problems = recoded_beside(raters, spec)
    raise_stopping(checks.missing_columns(head, raters, spec, axes))
    raise_stopping([*filters.unknown_columns(head, spec), *_only_inside(head, raters, axes)])
    return _Head(head, raters, problems, _excluded(head, raters, spec, some_ids))


def _without_annotations(counted: BoolArray, categories: Sequence[tuple[str, ...]]) -> list[Annotations]:
    """Annotations by question that hold none; the ids of the raters who count are blank."""
    blank = ("",) * int(counted.sum())
    nothing: dict[str, Any] = {"item": (), "rater": (), "category": (), "item_ids": (), "rater_ids": blank}
    return [Annotations.from_codes(**nothing, categories=labels) for labels in categories]


class _Read(NamedTuple):
    """The contents of all parts, the items before each, the hashes of its files, and the folder."""

    contents: Contents
    first_items: tuple[int, ...]
    sha256: tuple[tuple[str, ...], ...]
    folder: FileFingerprint


def _read_all(parts: Parts, spec: DataSpec, tasks: Sequence[ScanTask], each: Each) -> _Read:
    n_items, numbering = 0, Numbering()
    total: list[Contents] = []
    item_hashes: list[Hashes] = []
    firsts: list[int] = []
    sha256: list[tuple[str, ...]] = []
    for task, scan in zip(tasks, each(scan_part, tasks), strict=True):
        found = scan.contents
        places = numbering.places(found.rater_ids, scan.rater_hashes)
        keep_raters(task.place, task.number, places)
        # No more than one is held.
        total = [found if not total else total[0].and_of(found, numbering.ids, places)]
        firsts.append(n_items)
        n_items += int(found.per_item.sum())
        item_hashes.append(scan.item_hashes)
        sha256.append(scan.sha256)
    _check_items(parts, spec, item_hashes)
    return _Read(total[0], tuple(firsts), tuple(sha256), _folder(parts, sha256))


def _folder(parts: Parts, sha256: Sequence[tuple[str, ...]]) -> FileFingerprint:
    """The fingerprint of all files."""
    whole = hashlib.sha256()
    for part, of_files in zip(parts.parts, sha256, strict=True):
        for file, digest in zip(part.files, of_files, strict=True):
            whole.update(f"{file.path}\n{digest}\n".encode())
    return FileFingerprint(parts.name, parts.bytes, whole.hexdigest())


def _check_items(parts: Parts, spec: DataSpec, found: Sequence[Hashes]) -> None:
    """Refuse items that lie in several parts.

    Raises
    ------
    DataError
    """
    hashes = np.concatenate(found)
    part_of = np.repeat(np.arange(len(found)), [of_part.size for of_part in found])
    order = np.argsort(hashes, kind="stable")
    same = np.flatnonzero(hashes[order][1:] == hashes[order][:-1])
    for position in same[:EXAMPLES]:  # equal hashes may be of different ids, though hardly ever
        pair = [parts.parts[part_of[order[at]]] for at in (position, position + 1)]
        first, second = (_items(parts, part, spec, hashes[order[position]]) for part in pair)
        for item in sorted(first & second):
            raise DataError(_spread(parts, item, pair, same.size))


def _items(parts: Parts, part: Part, spec: DataSpec, wanted: np.uint64) -> set[str]:
    ids = read_part(parts, part, spec, _NOBODY).sieves[0].votes.item_ids
    return {ids[at] for at in np.flatnonzero(hashes_of(ids) == wanted)}


def _spread(parts: Parts, item: str, pair: Sequence[Part], count: int) -> str:
    first, second = map(parts.name_of, pair)
    others = f" (and {number(count - 1, 'more item')} likewise)" if count > 1 else ""
    return (
        f"item {quoted(item)} has annotations in {first} and in {second}{others}; the annotations of an "
        "item must lie in one file to be read part by part: write the folder sorted or partitioned by "
        "item, as grasp partition does"
    )


def _only_inside(head: Table, raters: Table, axes: Sequence[str]) -> list[Problem]:
    return [
        stop(DataProblem.ONLY_RATERS_FILE(file=raters.name, column=name))
        for name in dict.fromkeys(axes)
        if name not in raters.columns and name in head.columns
    ]


def _excluded(head: Table, raters: Table, spec: DataSpec, some_ids: Sequence[str]) -> pa.Array:
    """Ids of the raters whom `spec.exclude` leaves out."""
    if not spec.exclude:
        return _NOBODY
    ids = raters.distinct(rater_column(raters, spec, some_ids, head.name))
    out, _ = checks.excluded_raters(Profiles.of(head, raters, spec, ids, None), spec)
    return pa.array([ids[j] for j in np.flatnonzero(out)], pa.string())
