"""Everything that is said about data before a run."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from grasp_core.data_quality.odd_raters import ConstantRaters, RandomRaters, constant_raters, random_raters
from grasp_core.data_quality.overview import (
    SIZES,
    Overlap,
    Overview,
    SmallGroups,
    overlaps,
    overview,
    small_groups,
)
from grasp_core.data_quality.power import GroupPower
from grasp_core.guards.check import Seen, check_assignment
from grasp_core.io.dataset.load import Dataset
from grasp_core.model.assignment import AssignmentCheck
from grasp_core.model.groups import form_groups
from grasp_core.model.json_values import to_json
from grasp_core.model.remarks.cautions import Caution
from grasp_core.model.remarks.remark import Remark
from grasp_core.model.result import DataSummary, with_group
from grasp_core.permutation.exchange import Exchange
from grasp_core.report.account import said_of_assignment
from grasp_core.report.words.printable import json_text
from grasp_core.screens.constant import FEWEST_ANNOTATIONS
from grasp_core.screens.duplicates import Duplicates, near_duplicates

FORMAT = "grasp-quality"
FORMAT_VERSION = 1
MIN_RATERS = 2
"""Smaller groups are not named."""


@dataclass(frozen=True, slots=True)
class QualityReport:
    """The report on what data can and cannot show; `power` is empty where it was not asked for."""

    data: DataSummary
    overview: Overview
    random: RandomRaters
    constant: ConstantRaters
    duplicates: Duplicates
    small: tuple[SmallGroups, ...]
    overlaps: tuple[Overlap, ...]
    power: tuple[GroupPower, ...] = ()
    assignment: tuple[AssignmentCheck, ...] = ()

    @property
    def warnings(self) -> list[Remark]:
        """What deserves a look of raters and of who rated what, as a run would warn of it."""
        found = said_of_assignment(self.assignment)
        if self.random.random:
            found.append(
                Caution.RANDOM_RESPONDERS(raters=self.random.random, looked_at=self.random.looked_at)
            )
        if self.constant.constant:
            found.append(
                Caution.CONSTANT_RATERS(
                    raters=self.constant.constant, looked_at=self.constant.looked_at, least=FEWEST_ANNOTATIONS
                )
            )
        if self.duplicates.pairs:
            found.append(
                Caution.NEAR_DUPLICATES(raters=self.duplicates.raters, pairs=len(self.duplicates.pairs))
            )
        return found

    def to_dict(self) -> dict[str, Any]:
        """JSON-ready form: counts only, no rater is named."""
        return {
            "format": FORMAT,
            "version": FORMAT_VERSION,
            "data": to_json(self.data),
            "overview": {**to_json(self.overview), "missing": self.overview.missing},
            "random_responders": {
                **to_json(self.random),
                "by_group": [with_group(row) for row in to_json(self.random.by_group)],
            },
            "constant_raters": {
                **to_json(self.constant),
                "by_group": [with_group(row) for row in to_json(self.constant.by_group)],
            },
            "near_duplicates": {
                "pairs": len(self.duplicates.pairs),
                "raters": self.duplicates.raters,
                "pairs_looked_at": self.duplicates.looked_at,
                "items_used": self.duplicates.items_used,
            },
            "small_groups": [
                {
                    "axis": list(row.axes),
                    "groups": row.groups,
                    "smallest": row.smallest,
                    "fewer_than": dict(zip(map(str, SIZES), row.fewer, strict=True)),
                }
                for row in self.small
            ],
            "axes": [{**to_json(row), "nearly_identical": row.nearly_identical} for row in self.overlaps],
            "assignment": [{**to_json(row), "large": row.large} for row in self.assignment],
            "warnings": [one.to_dict() for one in self.warnings],
            "power": [with_group(row) for row in to_json(self.power)],
        }


class Looked(NamedTuple):
    """What is seen of raters, their groups and the axes, but for raters who agree too closely."""

    overview: Overview
    random: RandomRaters
    constant: ConstantRaters
    small: tuple[SmallGroups, ...]
    overlaps: tuple[Overlap, ...]
    assignment: tuple[AssignmentCheck, ...]


def looked_at(dataset: Dataset, exchange: Exchange | None = None) -> Looked:
    """Look at data.

    Parameters
    ----------
    exchange : Exchange, optional
        See :func:`quality_report`.
    """
    annotations, raters = dataset.annotations, dataset.raters
    return Looked(
        overview(annotations, raters),
        random_raters(annotations, raters),
        constant_raters(annotations, raters),
        small_groups(raters),
        overlaps(raters),
        _assignment(dataset, exchange),
    )


def quality_report(
    dataset: Dataset,
    names: Sequence[str] | None = None,
    power: Sequence[GroupPower] = (),
    exchange: Exchange | None = None,
) -> QualityReport:
    """Look at everything but power, which takes longer and is given where it was estimated.

    Parameters
    ----------
    names : sequence of str, optional
        Axes of interest; by default all.
    power : sequence of GroupPower
    exchange : Exchange, optional
        Who may take whose profile where it is looked who rated what; by default everybody anybody's.

    Raises
    ------
    KeyError
        If the data set lacks one of the axes.
    """
    if names is not None:
        axes = {name: dataset.raters.axes[name] for name in names}
        dataset = dataclasses.replace(dataset, raters=dataclasses.replace(dataset.raters, axes=axes))
    looked = looked_at(dataset, exchange)
    return QualityReport(
        dataset.summary,
        duplicates=near_duplicates(dataset.annotations),
        power=tuple(power),
        **looked._asdict(),
    )


def _assignment(dataset: Dataset, exchange: Exchange | None) -> tuple[AssignmentCheck, ...]:
    """Whether the groups of each of the raters' axes were given the same items, and as many."""
    axes = [(name,) for name in dataset.raters.axes]
    grouping = form_groups(dataset.raters, axes, min_raters=MIN_RATERS)
    return check_assignment(Seen.of(dataset.annotations), dataset.annotations_of, grouping, axes, exchange)


def quality_json(report: QualityReport) -> str:
    """The report's file form."""
    return json_text(report.to_dict())
