"""What a worker needs to form any part's annotations: written once, read by every worker."""

from __future__ import annotations

import contextlib
import dataclasses
import json
import os
import tempfile
import uuid
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import fsspec
import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from grasp_core.annotations import Annotations, Axis, IntArray, OffsetArray, Raters
from grasp_core.errors import DataError
from grasp_core.io import remote
from grasp_core.io.part_codes import PartCodes, formed_place, keep_whole, surveyed_place
from grasp_core.io.part_rows import read_part
from grasp_core.io.partitions import Part, PartFile, Parts
from grasp_core.io.survey import PartitionedData
from grasp_core.spec import RunSpec

FILE = "plan.arrow"
_EXCLUDED = -2
"""Code of a rater who is left out, on every axis; -1 is unknown."""


@dataclass(frozen=True, slots=True, eq=False)
class PartPlan:
    """A run on a partitioned data set.

    Parameters
    ----------
    parts : Parts
    spec : RunSpec
    categories : tuple of str, length K
    first_items : tuple of int
        Items before each part.
    rater_ids : pyarrow array of str, length J
    excluded : pyarrow array of str
    raters : Raters
        Their ids are blank.
    place : str
        The run's :func:`workplace`, by path or address: the plan lies there and, if it is a path, parts'
        codes, so that a part's file is read once, for the survey, and not for each piece of work.
    """

    parts: Parts
    spec: RunSpec
    categories: tuple[str, ...]
    first_items: tuple[int, ...]
    rater_ids: pa.Array
    excluded: pa.Array
    raters: Raters
    place: str

    @classmethod
    def of(cls, data: PartitionedData, spec: RunSpec, place: str) -> PartPlan:
        """The plan of a run."""
        return cls(
            data.parts,
            spec,
            data.dataset.summary.categories,
            data.first_items,
            data.rater_ids,
            data.excluded,
            data.dataset.raters,
            place,
        )

    def save(self) -> None:
        """Write it to its place, for :meth:`load`."""
        n_excluded = len(self.excluded)
        columns = {"rater": pa.concat_arrays([self.rater_ids, self.excluded])}
        for name, axis in self.raters.axes.items():
            codes = np.concatenate([axis.codes, np.full(n_excluded, _EXCLUDED, np.int32)])
            columns[f"axis {name}"] = pa.array(codes)
        plain = {
            "parts": dataclasses.asdict(self.parts),
            "spec": self.spec.to_dict(),
            "categories": self.categories,
            "first_items": self.first_items,
            "n_raters": len(self.rater_ids),
            "axes": {name: axis.values for name, axis in self.raters.axes.items()},
        }
        table = pa.table(columns).replace_schema_metadata({"plan": json.dumps(plain)})
        with (
            remote.in_sentences(self.place, "the workers' plan"),
            fsspec.open(f"{self.place}/{FILE}", "wb") as file,
            pa.ipc.new_file(file, table.schema) as writer,
        ):
            writer.write_table(table)

    @classmethod
    def load(cls, place: str) -> PartPlan:
        """Read a file written by :meth:`save`; workers of one machine share its memory.

        Raises
        ------
        DataError
            If it cannot be reached from here.
        """
        if "://" in place:
            with (
                remote.in_sentences(place, "the workers' plan"),
                fsspec.open(f"{place}/{FILE}", "rb") as file,
            ):
                table = pa.ipc.open_file(pa.BufferReader(file.read())).read_all()
        else:
            try:
                table = pa.ipc.open_file(pa.memory_map(f"{place}/{FILE}")).read_all()
            except OSError:
                raise DataError(
                    "the workers do not reach this machine's temporary folder; name a folder or an address "
                    "that all of them reach with --scratch"
                ) from None
        plain = json.loads(table.schema.metadata[b"plan"])
        n_raters = plain["n_raters"]
        ids = table.column("rater").combine_chunks()
        axes = {
            name: Axis(tuple(values), table.column(f"axis {name}").to_numpy()[:n_raters])
            for name, values in plain["axes"].items()
        }
        return cls(
            _parts(plain["parts"]),
            RunSpec.from_dict(plain["spec"]),
            tuple(plain["categories"]),
            tuple(plain["first_items"]),
            ids.slice(0, n_raters),
            ids.slice(n_raters),
            Raters(("",) * n_raters, axes),
            place,
        )

    def annotations(self, index: int) -> Annotations:
        """A part's annotations; ids are blank, raters those of the whole data set.

        Raises
        ------
        DataError
            If the part has to be read again and has another number of rows by now.
        """
        place = formed_place(self.place, index)
        formed = self._kept(place)
        if formed is None:
            formed = self._formed(self._codes(index))
            arrays: dict[str, Any] = {
                "indptr": formed.indptr,
                "rater": formed.rater,
                "category": formed.category,
            }
            size = sum(array.nbytes for array in arrays.values())
            if place is not None:
                keep_whole(place, size, lambda path: np.savez(path, **arrays))
        return formed

    def _kept(self, place: Path | None) -> Annotations | None:
        if place is None or not place.exists():
            return None
        with np.load(place, allow_pickle=False) as codes:
            return self._of_codes(codes["indptr"], codes["rater"], codes["category"])

    def _codes(self, index: int) -> PartCodes:
        place = surveyed_place(self.place, index)
        surveyed = None if place is None else PartCodes.kept(place)
        if surveyed is not None:
            return surveyed
        tally, _ = read_part(self.parts, self.parts.parts[index], self.spec.data, self.excluded)
        return PartCodes.of(tally.votes)

    def _formed(self, codes: PartCodes) -> Annotations:
        rater = pc.index_in(codes.rater_ids, value_set=self.rater_ids).fill_null(-1).to_numpy()
        category = pc.index_in(codes.labels, value_set=pa.array(self.categories, pa.string()))
        rated = np.bincount(codes.item, minlength=codes.n_items) > 0
        return Annotations.from_codes(
            item=(np.cumsum(rated) - 1)[codes.item],
            rater=rater[codes.rater],
            category=category.fill_null(-1).to_numpy()[codes.label],
            item_ids=("",) * int(rated.sum()),
            rater_ids=self.raters.rater_ids,
            categories=self.categories,
        )

    def _of_codes(self, indptr: OffsetArray, rater: IntArray, category: IntArray) -> Annotations:
        for codes in (indptr, rater, category):
            codes.flags.writeable = False
        ids = ("",) * (indptr.size - 1)
        return Annotations(ids, self.raters.rater_ids, self.categories, indptr, rater, category)


@contextlib.contextmanager
def workplace(scratch: str | None = None) -> Iterator[str]:
    """A folder for what the workers of a run share, by path or address; it is removed at the end.

    Parameters
    ----------
    scratch : str, optional
        Path or address of a folder that all workers reach, made if need be; by default the folder is a
        temporary one of this machine.

    Raises
    ------
    DataError
        If it cannot be made.
    """
    if scratch is None:
        with tempfile.TemporaryDirectory(prefix="grasp-parts-", ignore_cleanup_errors=True) as folder:
            yield folder
        return
    with remote.in_sentences(scratch, f"scratch folder {scratch}"):
        files, root = fsspec.core.url_to_fs(scratch)
    name = f"grasp-parts-{uuid.uuid4().hex}"
    if "://" not in scratch:
        scratch = root  # whole, since workers run in folders of their own
        try:
            os.makedirs(f"{root}/{name}")
        except OSError as error:
            raise DataError(f"scratch folder {root}: {error.strerror}; name another") from None
    try:
        yield f"{scratch.rstrip('/')}/{name}"
    finally:
        with contextlib.suppress(Exception):  # every protocol's package has errors of its own
            files.rm(f"{root.rstrip('/')}/{name}", recursive=True)


def _parts(plain: Mapping[str, Any]) -> Parts:
    parts = [
        Part(tuple(PartFile(**file) for file in part["files"]), part["first_row"]) for part in plain["parts"]
    ]
    return Parts(plain["source"], plain["name"], tuple(plain["columns"]), tuple(parts))
