"""What is known of a partitioned data set once each part was read: raters, categories, sizes, identity."""

from __future__ import annotations

import dataclasses
import hashlib
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from grasp_core.annotations import Annotations, BoolArray, Codes, OffsetArray, Raters
from grasp_core.data_spec import DataSpec
from grasp_core.errors import DataError, Problem
from grasp_core.io import checks
from grasp_core.io.columns import near_duplicates
from grasp_core.io.filters import Removal
from grasp_core.io.load import Dataset, about_axes, form_axis
from grasp_core.io.part_codes import surveyed_place
from grasp_core.io.part_rows import check_supported, read_part, told
from grasp_core.io.partitions import Part, Parts, sample
from grasp_core.io.problems import EXAMPLES, number, quoted, raise_stopping, stop
from grasp_core.io.profiles import Profiles, rater_column
from grasp_core.io.recoding import in_order
from grasp_core.io.scan import Scan, ScanTask, item_hashes, scan_part
from grasp_core.io.tables import Table
from grasp_core.result import DataSummary, FileFingerprint

Each = Callable[[Callable[[Any], Any], Iterable[Any]], Iterator[Any]]
"""Computes a function of each argument, results in order; e.g. :meth:`grasp_core.engine.pool.Pool.each`."""
_NOBODY = pa.array([], pa.string())


@dataclass(frozen=True, slots=True, eq=False)
class PartitionedData:
    """A data set in parts, and what all of them have in common.

    Parameters
    ----------
    parts : Parts
    spec : DataSpec
    rater_ids : pyarrow array of str, length J
        Raters who count, in order of first appearance.
    excluded : pyarrow array of str
    first_items : tuple of int
        Items before each part.
    annotations_of : int64 array, shape (J,)
    dataset : Dataset
        Everything but the annotations, which stay where they are: it has none, and its ids are blank.
    """

    parts: Parts
    spec: DataSpec
    rater_ids: pa.Array
    excluded: pa.Array
    first_items: tuple[int, ...]
    annotations_of: OffsetArray
    dataset: Dataset


def survey(
    parts: Parts,
    raters: Table | None,
    spec: DataSpec,
    axes: Sequence[str],
    each: Each,
    place: str | None = None,
) -> PartitionedData:
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
    place : str, optional
        The run's :func:`~grasp_core.io.part_plan.workplace`: each part's codes are kept there. Without it, or
        where it is an address, parts are read again.

    Raises
    ------
    DataError
        As :func:`grasp_core.io.load.load`; and if an item's annotations are spread over parts.
    SpecError
        If the reading needs the whole table.
    """
    check_supported(spec)
    head = sample(parts)
    if raters is None:
        raise DataError(
            f"{parts.name} is read part by part, so its raters are described in a file of their own; name it "
            "as the raters file"
        )
    raise_stopping(checks.missing_columns(head, raters, spec, axes))
    raise_stopping(_only_inside(head, raters, axes))
    excluded = _excluded(head, raters, spec)
    total = _Total(parts, spec)
    tasks = [
        ScanTask(parts, part, spec, excluded, None if place is None else surveyed_place(place, number))
        for number, part in enumerate(parts.parts)
    ]
    for part, scan in zip(parts.parts, each(scan_part, tasks), strict=True):
        total.add(part, scan)
    total.check_items()
    return total.formed(head, raters, axes, excluded)


@dataclass(slots=True, eq=False)
class _Total:
    """Adds the parts up."""

    parts: Parts
    spec: DataSpec
    rater_ids: pa.Array = field(default_factory=lambda: _NOBODY)
    before: Codes = field(default_factory=lambda: np.zeros(0, np.int64))
    after: Codes = field(default_factory=lambda: np.zeros(0, np.int64))
    scans: list[Scan] = field(default_factory=list)
    labels: Counter[str] = field(default_factory=Counter)

    def add(self, part: Part, scan: Scan) -> None:
        """Take a part's raters and labels over."""
        known = pc.index_in(scan.rater_ids, value_set=self.rater_ids)
        fresh = known.is_null().to_numpy(zero_copy_only=False)
        codes = known.fill_null(0).to_numpy().astype(np.int64)
        codes[fresh] = len(self.rater_ids) + np.arange(fresh.sum())
        self.rater_ids = pa.concat_arrays([self.rater_ids, scan.rater_ids.filter(pa.array(fresh))])
        for name in ("before", "after"):
            counts = np.pad(getattr(self, name), (0, int(fresh.sum())))
            counts[codes] += getattr(scan, name)
            setattr(self, name, counts)
        self.labels.update(scan.labels)
        if len(self.labels) > checks.MAX_CATEGORIES:
            raise_stopping([checks.too_many_labels(self.parts.name, str(self.spec.label), len(self.labels))])
        self.scans.append(
            dataclasses.replace(scan, rater_ids=_NOBODY, before=self.before[:0], after=self.after[:0])
        )

    def check_items(self) -> None:
        """Refuse items that lie in several parts.

        Raises
        ------
        DataError
        """
        hashes = np.concatenate([scan.item_hashes for scan in self.scans])
        part_of = np.repeat(np.arange(len(self.scans)), [scan.item_hashes.size for scan in self.scans])
        order = np.argsort(hashes, kind="stable")
        same = np.flatnonzero(hashes[order][1:] == hashes[order][:-1])
        if not same.size:
            return
        for position in same[:EXAMPLES]:  # equal hashes may be of different ids, though hardly ever
            pair = [self.parts.parts[part_of[order[at]]] for at in (position, position + 1)]
            first, second = (self._items(part, hashes[order[position]]) for part in pair)
            for item in sorted(first & second):
                raise DataError(self._spread(item, pair, same.size))

    def _items(self, part: Part, wanted: np.uint64) -> set[str]:
        tally, _ = read_part(self.parts, part, self.spec, _NOBODY)
        return {
            tally.votes.item_ids[at] for at in np.flatnonzero(item_hashes(tally.votes.item_ids) == wanted)
        }

    def _spread(self, item: str, pair: Sequence[Part], count: int) -> str:
        first, second = map(self.parts.name_of, pair)
        others = f" (and {number(count - 1, 'more item')} likewise)" if count > 1 else ""
        return (
            f"item {quoted(item)} has annotations in {first} and in {second}{others}; the annotations of an "
            "item must lie in one file to be read part by part: write the folder sorted or partitioned by "
            "item, as python -m grasp_core partition does"
        )

    def formed(self, head: Table, raters: Table, axes: Sequence[str], excluded: pa.Array) -> PartitionedData:
        """The data set."""
        counted = self.after > 0
        ids = tuple(self.rater_ids.to_pylist())
        profiles = Profiles.of(head, raters, self.spec, ids, None)
        columns = {name: profiles.column(name, counted) for name in dict.fromkeys(axes)}
        _, by_exclusion = checks.excluded_raters(profiles, self.spec)
        problems = [*self._problems(ids), *by_exclusion, *profiles.problems(counted)]
        problems += [*about_axes(columns, counted), *self._shape(counted, ids)]
        raise_stopping(problems)
        categories = self.spec.categories or in_order(self.labels, ())
        blank = ("",) * int(counted.sum())
        summary = self._summary(categories, len(blank), raters)
        formed = {name: form_axis(column, counted, ()) for name, column in columns.items()}
        nothing = Annotations.from_codes(
            item=[], rater=[], category=[], item_ids=(), rater_ids=blank, categories=categories
        )
        items = np.cumsum([0, *(int(scan.per_item[1:].sum()) for scan in self.scans)])
        return PartitionedData(
            self.parts,
            self.spec,
            self.rater_ids.filter(pa.array(counted)),
            excluded,
            tuple(items[:-1].tolist()),
            self.after[counted].astype(np.int64),
            Dataset(nothing, Raters(blank, formed), summary, (*raters.problems, *problems)),
        )

    def _problems(self, ids: tuple[str, ...]) -> list[Problem]:
        """What to know of the parts, the same of several parts once; of labels and raters as a whole."""
        kinds: dict[str, list[Problem]] = {}
        for kind, problem in (found for scan in self.scans for found in scan.problems):
            kinds.setdefault(kind, []).append(problem)
        name = self.parts.name
        counts = dict.fromkeys(ids, 1)
        return [
            *(told(problems) for kind, problems in kinds.items()),
            *near_duplicates(f"{name}, column {quoted(str(self.spec.rater))}", counts, fold_case=False),
            *checks.about_labels(f"{name}, column {quoted(str(self.spec.label))}", self.labels, self.spec),
        ]

    def _shape(self, counted: BoolArray, ids: tuple[str, ...]) -> list[Problem]:
        name = self.parts.name
        if not counted.any():
            return [checks.nothing_left(name)]
        gone_raters = (self.before > 0) & ~counted
        empty = np.flatnonzero((self.before == 0) & ~counted)
        per_item = self._per_item()
        examples = [item for scan in self.scans for item in scan.empty_examples][:EXAMPLES]
        found = [
            *checks.gone("item", examples, sum(scan.empty_items for scan in self.scans), name),
            *checks.gone("rater", [ids[j] for j in empty[:EXAMPLES]], empty.size, name),
            *checks.too_small(name, int(per_item[1:].sum()), int(counted.sum()), per_item.size - 1),
        ]
        if self.spec.exclude:
            rules = " or ".join(f"{quoted(column)} = {quoted(value)}" for column, value in self.spec.exclude)
            removal = Removal(
                filter=f"raters with {rules}",
                annotations=int(self.before[gone_raters].sum()),
                raters=int(gone_raters.sum()),
                items=sum(scan.gone_items for scan in self.scans),
                groups={},
            )
            found += [removal.note()] if removal.annotations else []
        return found

    def _per_item(self) -> Codes:
        counts = np.zeros(max(scan.per_item.size for scan in self.scans), dtype=np.int64)
        for scan in self.scans:
            counts[: scan.per_item.size] += scan.per_item
        return counts

    def _summary(self, categories: Sequence[str], n_raters: int, raters: Table) -> DataSummary:
        per_item = self._per_item()
        sizes = np.flatnonzero(per_item)
        whole = hashlib.sha256()
        files = [file for part in self.parts.parts for file in part.files]
        hashes = [sha256 for scan in self.scans for sha256 in scan.sha256]
        for file, sha256 in zip(files, hashes, strict=True):
            whole.update(f"{file.path}\n{sha256}\n".encode())
        folder = FileFingerprint(self.parts.name, self.parts.bytes, whole.hexdigest())
        fingerprints = (folder, FileFingerprint(raters.name, raters.bytes, raters.sha256))
        joined = "\n".join(file.sha256 for file in fingerprints)
        return DataSummary(
            items=int(per_item[1:].sum()),
            raters=n_raters,
            annotations=int(self.after.sum()),
            categories=tuple(categories),
            label_counts=tuple(self.labels[label] for label in categories),
            raters_per_item=(int(sizes[0]), _median(per_item), int(sizes[-1])),
            sha256=hashlib.sha256(joined.encode("ascii")).hexdigest(),
            files=fingerprints,
        )


def _only_inside(head: Table, raters: Table, axes: Sequence[str]) -> list[Problem]:
    return [
        stop(
            f"{raters.name} has no column {quoted(name)}; where annotations are read part by part, only the "
            "raters file describes raters"
        )
        for name in dict.fromkeys(axes)
        if name not in raters.columns and name in head.columns
    ]


def _excluded(head: Table, raters: Table, spec: DataSpec) -> pa.Array:
    """Ids of the raters whom `spec.exclude` leaves out."""
    if not spec.exclude:
        return _NOBODY
    key = rater_column(raters, spec, head.distinct(str(spec.rater)), head.name)
    ids = raters.distinct(key)
    out, _ = checks.excluded_raters(Profiles.of(head, raters, spec, ids, None), spec)
    return pa.array([ids[j] for j in np.flatnonzero(out)], pa.string())


def _median(per_item: Codes) -> float:
    """Median of whole numbers that are counted by size."""
    reached = np.cumsum(per_item)
    total = int(reached[-1] - reached[0])
    middle = [(total - 1) // 2, total // 2]
    return float(np.mean(np.searchsorted(reached - reached[0], middle, side="right")))
