"""The plan by which a worker forms any part's annotations: written once, read by every worker."""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa

from grasp_core.annotations import Annotations, Axis, Int32Array, Raters
from grasp_core.errors import DataError
from grasp_core.io.parts import workplace
from grasp_core.io.parts.codes import PartCodes, as_file, in_one_piece, kept_raters
from grasp_core.io.parts.partitions import Parts
from grasp_core.io.parts.rows import changed, read_part
from grasp_core.io.parts.survey import DatasetInParts
from grasp_core.io.sources import remote
from grasp_core.json_values import from_json, to_json
from grasp_core.spec import RunSpec

FILE = "plan.arrow"
WORKERS_PLAN = "the workers' plan"


@dataclass(frozen=True, slots=True, eq=False)
class PartPlan:
    """A run on a partitioned data set.

    Parameters
    ----------
    parts : Parts
    sha256 : tuple of tuple of str
        Of each part's files.
    spec : RunSpec
    categories : tuple of tuple of str
        By question.
    first_items : tuple of int
        Items before each part.
    excluded : pyarrow array of str
        Raters who are left out.
    position : int32 array
        Of all raters who occur, the place among the J who count; else -1.
    raters : Raters
        Those who count; their ids are blank.
    place : str
        The run's :func:`~grasp_core.io.parts.workplace.workplace`, where the plan lies, and parts' codes, so
        that a part's file is read once, for the survey, and not for each piece of work.
    """

    parts: Parts
    sha256: tuple[tuple[str, ...], ...]
    spec: RunSpec
    categories: tuple[tuple[str, ...], ...]
    first_items: tuple[int, ...]
    excluded: pa.Array
    position: Int32Array
    raters: Raters
    place: str

    @classmethod
    def of(cls, data: DatasetInParts, spec: RunSpec) -> PartPlan:
        """The plan of a run."""
        categories = tuple(question.categories for question in data.questions)
        return cls(
            data.parts,
            data.sha256,
            spec,
            categories,
            data.first_items,
            data.excluded,
            data.position,
            data.raters,
            data.place,
        )

    def save(self) -> None:
        """Write it to its place, for :meth:`load`: one row, whose cells are lists.

        Raises
        ------
        DataError
            If it cannot be written.
        """
        lists = {"excluded": self.excluded, "position": pa.array(self.position)}
        lists["workload"] = pa.array(self.raters.workload)
        lists |= {f"axis {name}": pa.array(axis.codes) for name, axis in self.raters.axes.items()}
        plain = {
            "parts": to_json(self.parts),
            "sha256": self.sha256,
            "spec": self.spec.to_dict(),
            "categories": self.categories,
            "first_items": self.first_items,
            "n_raters": len(self.raters.rater_ids),
            "axes": {name: axis.values for name, axis in self.raters.axes.items()},
        }
        row = {
            name: pa.LargeListArray.from_arrays([0, len(values)], values) for name, values in lists.items()
        }
        table = pa.table(row).replace_schema_metadata({"plan": json.dumps(plain)})
        with remote.in_sentences(self.place, WORKERS_PLAN):
            workplace.write(self.place, FILE, as_file(table))

    @classmethod
    def load(cls, place: str) -> PartPlan:
        """Read a file written by :meth:`save`; workers of one machine share its memory.

        Raises
        ------
        DataError
            If it cannot be reached from here.
        """
        table = _table(place)
        plain = json.loads(table.schema.metadata[b"plan"])
        lists = {name: in_one_piece(table.column(name)).values for name in table.column_names}
        axes = {
            name: Axis(tuple(values), lists[f"axis {name}"].to_numpy())
            for name, values in plain["axes"].items()
        }
        return cls(
            from_json(plain["parts"], Parts),
            tuple(map(tuple, plain["sha256"])),
            RunSpec.from_dict(plain["spec"]),
            tuple(map(tuple, plain["categories"])),
            tuple(plain["first_items"]),
            lists["excluded"],
            lists["position"].to_numpy(),
            Raters(("",) * plain["n_raters"], axes, lists["workload"].to_numpy()),
            place,
        )

    def annotations(self, index: int) -> tuple[Annotations, ...]:
        """The answers to each question in a part; ids are blank, raters those of the whole data set.

        Raises
        ------
        DataError
            If the part has to be read again and a file of it has changed, or what workers share is away.
        """
        kept = [PartCodes.kept(self.place, index, question) for question in range(len(self.categories))]
        found: Iterable[PartCodes] = [codes for codes in kept if codes is not None]
        if None in kept:
            found = self._read_again(index)
        places = self.position[kept_raters(self.place, index)]
        return tuple(
            self._formed(codes, places, labels) for codes, labels in zip(found, self.categories, strict=True)
        )

    def no_annotations(self) -> tuple[Annotations, ...]:
        """No answers to each question."""
        none: dict[str, Any] = {"item": (), "rater": (), "category": (), "item_ids": ()}
        return tuple(
            Annotations.from_codes(**none, rater_ids=self.raters.rater_ids, categories=labels)
            for labels in self.categories
        )

    def _read_again(self, index: int) -> list[PartCodes]:
        part = self.parts.parts[index]
        rows = read_part(self.parts, part, self.spec.data, self.excluded)
        for file, before, now in zip(part.files, self.sha256[index], rows.sha256, strict=True):
            if before != now:
                raise changed(f"{self.parts.name}/{file.path}")
        codes = list(PartCodes.of(rows.sieves))
        for question, one in enumerate(codes):
            one.keep(self.place, index, question)
        return codes

    def _formed(self, codes: PartCodes, places: Int32Array, categories: tuple[str, ...]) -> Annotations:
        position = {label: number for number, label in enumerate(categories)}
        category = np.array([position.get(label, -1) for label in codes.labels], np.int32)
        rater, label = places[codes.rater], category[codes.label]
        for array in (codes.indptr, rater, label):
            array.flags.writeable = False
        items = ("",) * (codes.indptr.size - 1)
        return Annotations(items, self.raters.rater_ids, categories, codes.indptr, rater, label)


def _table(place: str) -> pa.Table:
    if "://" in place:
        with remote.in_sentences(place, WORKERS_PLAN):
            return pa.ipc.open_file(workplace.read(place, FILE)).read_all()
    try:
        return pa.ipc.open_file(workplace.read(place, FILE)).read_all()
    except OSError:
        raise DataError(
            "the workers do not reach this machine's temporary folder; name a folder or an address "
            "that all of them reach with --scratch"
        ) from None
