"""What a worker needs to form any part's annotations: written once, read by every worker."""

from __future__ import annotations

import contextlib
import dataclasses
import json
import tempfile
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
from grasp_core.io.part_codes import PartCodes, codes_place, keep_whole
from grasp_core.io.part_rows import read_part
from grasp_core.io.partitions import Part, PartFile, Parts
from grasp_core.io.survey import PartitionedData
from grasp_core.spec import RunSpec

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
        Where the plan was read from; a part's codes are kept beside it on this machine, so that its file is
        read once, for the survey, and not for each piece of work. Empty where they are not kept.
    """

    parts: Parts
    spec: RunSpec
    categories: tuple[str, ...]
    first_items: tuple[int, ...]
    rater_ids: pa.Array
    excluded: pa.Array
    raters: Raters
    place: str = ""

    @classmethod
    def of(cls, data: PartitionedData, spec: RunSpec) -> PartPlan:
        """The plan of a run."""
        return cls(
            data.parts,
            spec,
            data.dataset.summary.categories,
            data.first_items,
            data.rater_ids,
            data.excluded,
            data.dataset.raters,
        )

    def save(self, place: str) -> None:
        """Write to a path or an address that all workers reach."""
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
            remote.in_sentences(place, "the workers' plan"),
            fsspec.open(place, "wb") as file,
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
            with remote.in_sentences(place, "the workers' plan"), fsspec.open(place, "rb") as file:
                table = pa.ipc.open_file(pa.BufferReader(file.read())).read_all()
        else:
            try:
                table = pa.ipc.open_file(pa.memory_map(place)).read_all()
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
            "" if "://" in place else place,
        )

    @staticmethod
    def remove(place: str) -> None:
        """Remove a file written by :meth:`save` and what is kept beside it, if they are there."""
        files, path = fsspec.core.url_to_fs(place)
        with contextlib.suppress(OSError):
            files.rm_file(path)
        if "://" not in place:
            for kept in Path(place).parent.glob(f"{Path(place).name}.*"):
                kept.unlink(missing_ok=True)

    def annotations(self, index: int) -> Annotations:
        """A part's annotations; ids are blank, raters those of the whole data set.

        Raises
        ------
        DataError
            If the part has changed since it was surveyed.
        """
        kept = Path(f"{self.place}.{index}.npz") if self.place else None
        if kept is not None and kept.exists():
            with np.load(kept, allow_pickle=False) as codes:
                return self._of_codes(codes["indptr"], codes["rater"], codes["category"])
        read = self._formed(self._codes(index))
        if kept is not None:
            codes = {"indptr": read.indptr, "rater": read.rater, "category": read.category}
            if keep_whole(kept, lambda path: np.savez(path, **codes)):
                codes_place(self.place, index).unlink(missing_ok=True)
        return read

    def _codes(self, index: int) -> PartCodes:
        surveyed = PartCodes.kept(codes_place(self.place, index)) if self.place else None
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
    """The path or address of a new plan; what lies there and beside it is removed at the end.

    Parameters
    ----------
    scratch : str, optional
        Path or address of a folder that all workers reach; by default a temporary one of this machine.
    """
    with tempfile.TemporaryDirectory(prefix="grasp-parts-") as folder:
        place = f"{(scratch or folder).rstrip('/')}/{Path(folder).name}.arrow"
        try:
            yield place
        finally:
            PartPlan.remove(place)


def _parts(plain: Mapping[str, Any]) -> Parts:
    parts = [
        Part(tuple(PartFile(**file) for file in part["files"]), part["first_row"]) for part in plain["parts"]
    ]
    return Parts(plain["source"], plain["name"], tuple(plain["columns"]), tuple(parts))
