"""The plan by which a worker forms any part's annotations: written once, read by every worker."""

from __future__ import annotations

import contextlib
import json
import os
import tempfile
import uuid
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from grasp_core.annotations import Annotations, Axis, Raters
from grasp_core.errors import DataError
from grasp_core.io.parts.codes import PartCodes, keep_whole, kept_place
from grasp_core.io.parts.partitions import Parts
from grasp_core.io.parts.rows import read_part
from grasp_core.io.parts.survey import DatasetInParts
from grasp_core.io.sources import remote
from grasp_core.json_values import from_json, to_json
from grasp_core.spec import RunSpec

FILE = "plan.arrow"
_KEPT = ("indptr", "rater", "category")
_EXCLUDED = -2
"""Code of a rater who is left out, on every axis; -1 is unknown."""


@dataclass(frozen=True, slots=True, eq=False)
class PartPlan:
    """A run on a partitioned data set.

    Parameters
    ----------
    parts : Parts
    spec : RunSpec
    categories : tuple of tuple of str
        By question.
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
    categories: tuple[tuple[str, ...], ...]
    first_items: tuple[int, ...]
    rater_ids: pa.Array
    excluded: pa.Array
    raters: Raters
    place: str

    @classmethod
    def of(cls, data: DatasetInParts, spec: RunSpec) -> PartPlan:
        """The plan of a run."""
        categories = tuple(question.categories for question in data.questions)
        return cls(
            data.parts,
            spec,
            categories,
            data.first_items,
            data.rater_ids,
            data.excluded,
            data.raters,
            data.place,
        )

    def save(self) -> None:
        """Write it to its place, for :meth:`load`."""
        n_excluded = len(self.excluded)
        columns = {"rater": pa.concat_arrays([self.rater_ids, self.excluded])}
        for name, axis in self.raters.axes.items():
            codes = np.concatenate([axis.codes, np.full(n_excluded, _EXCLUDED, np.int32)])
            columns[f"axis {name}"] = pa.array(codes)
        plain = {
            "parts": to_json(self.parts),
            "spec": self.spec.to_dict(),
            "categories": self.categories,
            "first_items": self.first_items,
            "n_raters": len(self.rater_ids),
            "axes": {name: axis.values for name, axis in self.raters.axes.items()},
        }
        table = pa.table(columns).replace_schema_metadata({"plan": json.dumps(plain)})
        with remote.in_sentences(self.place, "the workers' plan"):
            files, path = remote.file_system(f"{self.place}/{FILE}")
            with files.open(path, "wb") as file, pa.ipc.new_file(file, table.schema) as writer:
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
            with remote.in_sentences(place, "the workers' plan"):
                files, path = remote.file_system(f"{place}/{FILE}")
                table = pa.ipc.open_file(pa.BufferReader(files.cat_file(path))).read_all()
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
            from_json(plain["parts"], Parts),
            RunSpec.from_dict(plain["spec"]),
            tuple(map(tuple, plain["categories"])),
            tuple(plain["first_items"]),
            ids.slice(0, n_raters),
            ids.slice(n_raters),
            Raters(("",) * n_raters, axes),
            place,
        )

    def annotations(self, index: int) -> tuple[Annotations, ...]:
        """The answers to each question in a part; ids are blank, raters those of the whole data set.

        Raises
        ------
        DataError
            If the part has to be read again and has another number of rows by now.
        """
        formed = [self._kept(index, question) for question in range(len(self.categories))]
        if None in formed:
            formed = [self._keep(index, *numbered) for numbered in enumerate(self._codes(index))]
        return tuple(one for one in formed if one is not None)

    def _kept(self, index: int, question: int) -> Annotations | None:
        place = kept_place(self.place, index, question, "npz")
        if place is None or not place.exists():
            return None
        with np.load(place, allow_pickle=False) as codes:
            arrays = [codes[name] for name in _KEPT]
        for array in arrays:
            array.flags.writeable = False
        ids = ("",) * (arrays[0].size - 1)
        return Annotations(ids, self.raters.rater_ids, self.categories[question], *arrays)

    def _keep(self, index: int, question: int, codes: PartCodes) -> Annotations:
        formed = self._formed(codes, self.categories[question])
        arrays: dict[str, Any] = {name: getattr(formed, name) for name in _KEPT}
        place = kept_place(self.place, index, question, "npz")
        size = sum(array.nbytes for array in arrays.values())
        keep_whole(place, size, lambda path: np.savez(path, **arrays))
        return formed

    def _codes(self, index: int) -> Iterable[PartCodes]:
        kept = [PartCodes.kept(self.place, index, question) for question in range(len(self.categories))]
        surveyed = [codes for codes in kept if codes is not None]
        if len(surveyed) == len(kept):
            return surveyed
        rows = read_part(self.parts, self.parts.parts[index], self.spec.data, self.excluded)
        return PartCodes.of(rows.sieves)

    def _formed(self, codes: PartCodes, categories: tuple[str, ...]) -> Annotations:
        rater = pc.index_in(codes.rater_ids, value_set=self.rater_ids).fill_null(-1).to_numpy()
        category = pc.index_in(codes.labels, value_set=pa.array(categories, pa.string()))
        return Annotations.from_codes(
            item=codes.item,
            rater=rater[codes.rater],
            category=category.fill_null(-1).to_numpy()[codes.label],
            item_ids=("",) * codes.n_items,
            rater_ids=self.raters.rater_ids,
            categories=categories,
        )


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
        files, root = remote.file_system(scratch)
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
