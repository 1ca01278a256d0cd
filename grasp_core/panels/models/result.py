"""Whose judgements models reproduce, as values, and their file form (``grasp-models`` version 1)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

from grasp_core.groups import Group
from grasp_core.json_values import FormError, damaged, from_json, in_file, require_header, to_json
from grasp_core.panels.models.statistics import CLOSER_BELOW
from grasp_core.result import Outcome, Result, group_of, with_group
from grasp_core.spec import SIDES, ModelSource

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
        Those of :data:`~grasp_core.spec.SIDES`.
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


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelsResult(Result):
    """Everything that was found about models.

    Of the spec's analysis the axes, smallest group, permutations, seed, strata, p-value, ties, correction and
    family hold; the family is always within one model.
    """

    format: ClassVar = FORMAT

    models: tuple[ModelSummary, ...]
    groups: tuple[GroupSides, ...]

    @classmethod
    def from_dict(cls, plain: Any) -> ModelsResult:
        """Read :meth:`to_dict`'s form; earlier files have no times, and their spec no models.

        Raises
        ------
        DataError
            If it is not a ``grasp-models`` of version 1, or a field is missing or of the wrong kind.
        """
        plain = require_header(plain, "a result about models", FORMAT, FORMAT_VERSION)
        with damaged("the result file"):
            found = from_json(_of_earlier(plain), cls)
            names = {model.name for model in found.models}
            if any(row.models.keys() != names for row in found.groups) or len(names) < len(found.models):
                raise FormError("models (expected the same ones in every group)")
            return found


def closer(statistic: str, outcome: Outcome) -> bool | None:
    """Whether the model is closer to the group than to most chance groupings; None where nobody knows."""
    if outcome.direction is None:
        return None
    return (outcome.direction == "down") == (statistic in CLOSER_BELOW)


def _of_earlier(plain: Mapping[str, Any]) -> dict[str, Any]:
    """A file that lacks times or the models asked for, with them."""
    whole = {"timing": {"load_s": 0, "observed_s": 0, "permutations_s": 0}, **plain}
    if "models" not in plain["spec"]:
        files = [file["name"] for file in plain["data"]["files"]]
        asked = [
            to_json(_source(model, files)) for model in from_json(plain["models"], tuple[ModelSummary, ...])
        ]
        whole["spec"] = {**plain["spec"], "models": asked}
    return whole


def _source(model: ModelSummary, files: Sequence[str]) -> ModelSource:
    """Where labels were, from the words in which a summary tells it."""
    columns = (model.source.removeprefix(f"{name}, column ") for name in files)
    column = next((found for found in columns if found != model.source), None)
    return ModelSource(model.name, model.sha256, column)


def _without_nulls(fields: dict[str, Any]) -> dict[str, Any]:
    for outcome in fields["statistics"].values():
        del outcome["null"]
    return {"members_f1": fields["members_f1"], "statistics": fields["statistics"]}


def _with_nulls(row: dict[str, Any]) -> dict[str, Any]:
    return {**row, "statistics": {one: {**row["statistics"][one], "null": None} for one in SIDES}}


in_file(Side, _without_nulls, _with_nulls)
in_file(GroupSides, with_group, group_of)
