"""Whose judgements models reproduce, as values, and their file form (``grasp-models`` version 1)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from grasp_core.groups import Group
from grasp_core.plain import damaged, number, optional, require_header, text, texts
from grasp_core.raft.raters.statistics import CLOSER_BELOW, SIDES
from grasp_core.result import DataSummary, Outcome, group_from_dict, group_to_dict, outcome_from_dict
from grasp_core.spec import RunSpec

FORMAT = "grasp-models"
FORMAT_VERSION = 1


@dataclass(frozen=True, slots=True)
class ModelSummary:
    """One model.

    Parameters
    ----------
    name, source, sha256 : str
        `source` is the file, `sha256` its hash.
    labelled, unlabelled : int
        Items with and without a label of this model; the latter are left out.
    left_out : int
        Labels of items that the data do not hold any more.
    overall_f1 : float
        Macro-F1 against the plurality of all raters together.
    """

    name: str
    source: str
    sha256: str
    labelled: int
    unlabelled: int
    left_out: int
    overall_f1: float


@dataclass(frozen=True, slots=True)
class Side:
    """One model against one group.

    Parameters
    ----------
    statistics : mapping from name to Outcome
        Those of :data:`~grasp_core.raft.raters.statistics.SIDES`.
    members_f1 : float or None
        Macro-F1 that the group's own members reach against the plurality of the group's others, on the items
        that the model labels.
    """

    statistics: Mapping[str, Outcome]
    members_f1: float | None

    @property
    def reproduces(self) -> bool | None:
        """Whether the model reaches what the members reach; None where one of the two is not known."""
        reached = self.statistics["macro_f1"].value
        return None if reached is None or self.members_f1 is None else reached >= self.members_f1


@dataclass(frozen=True, slots=True)
class GroupSides:
    """One group and every model, by name."""

    group: Group
    n_raters: int
    n_annotations: int
    models: Mapping[str, Side]


@dataclass(frozen=True, slots=True)
class ModelsResult:
    """Everything that was found.

    Of the spec's analysis the axes, smallest group, permutations, seed, strata, p-value, ties, correction and
    family hold; the family is always within one model.
    """

    data: DataSummary
    spec: RunSpec
    models: tuple[ModelSummary, ...]
    groups: tuple[GroupSides, ...]
    warnings: tuple[str, ...]
    code_version: str

    def to_dict(self) -> dict[str, Any]:
        """JSON-ready form, described in docs/models.md."""
        return {
            "format": FORMAT,
            "version": FORMAT_VERSION,
            "code_version": self.code_version,
            "data": self.data.to_dict(),
            "spec": self.spec.to_dict(),
            "models": [
                {name: getattr(model, name) for name in ModelSummary.__slots__} for model in self.models
            ],
            "groups": [_group_to_dict(row) for row in self.groups],
            "warnings": list(self.warnings),
        }

    @classmethod
    def from_dict(cls, plain: Any) -> ModelsResult:
        """Read :meth:`to_dict`'s form.

        Raises
        ------
        DataError
            If it is not a ``grasp-models`` of version 1, or a field is missing or of the wrong kind.
        """
        plain = require_header(plain, "a result about models", FORMAT, FORMAT_VERSION)
        with damaged("the result file"):
            return _result_from_dict(plain)


def closer(statistic: str, outcome: Outcome) -> bool | None:
    """Whether the model is closer to the group than to most chance groupings; None where nobody knows."""
    if outcome.direction is None:
        return None
    return (outcome.direction == "down") == (statistic in CLOSER_BELOW)


_OUTCOME = ("value", "reason", "null_n", "null_median", "direction", "p", "q", "significance")


def _group_to_dict(row: GroupSides) -> dict[str, Any]:
    return {
        **group_to_dict(row.group),
        "n_raters": row.n_raters,
        "n_annotations": row.n_annotations,
        "models": {
            name: {
                "members_f1": side.members_f1,
                "statistics": {
                    statistic: {field: getattr(outcome, field) for field in _OUTCOME}
                    for statistic, outcome in side.statistics.items()
                },
            }
            for name, side in row.models.items()
        },
    }


def _result_from_dict(plain: Mapping[str, Any]) -> ModelsResult:
    models = tuple(_model_from_dict(model) for model in plain["models"])
    groups = tuple(_group_from_dict(row) for row in plain["groups"])
    names = {model.name for model in models}
    if any(row.models.keys() != names for row in groups) or len(names) < len(models):
        raise ValueError("models (expected the same ones in every group)")
    return ModelsResult(
        data=DataSummary.from_dict(plain["data"]),
        spec=RunSpec.from_dict(plain["spec"]),
        models=models,
        groups=groups,
        warnings=texts(plain["warnings"]),
        code_version=text(plain["code_version"]),
    )


def _group_from_dict(plain: Mapping[str, Any]) -> GroupSides:
    return GroupSides(
        group=group_from_dict(plain),
        n_raters=int(plain["n_raters"]),
        n_annotations=int(plain["n_annotations"]),
        models={
            text(name): Side(
                {one: outcome_from_dict({**side["statistics"][one], "null": None}) for one in SIDES},
                optional(number, side["members_f1"]),
            )
            for name, side in plain["models"].items()
        },
    )


def _model_from_dict(plain: Mapping[str, Any]) -> ModelSummary:
    return ModelSummary(
        name=text(plain["name"]),
        source=text(plain["source"]),
        sha256=text(plain["sha256"]),
        labelled=int(plain["labelled"]),
        unlabelled=int(plain["unlabelled"]),
        left_out=int(plain["left_out"]),
        overall_f1=number(plain["overall_f1"]),
    )
