"""Results about models as raters, as values, and their file form (``grasp-models`` version 1)."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

from grasp_core.analysis.models.statistics import CLOSER_BELOW
from grasp_core.model.groups import Group
from grasp_core.model.json_values import FormError, from_json, in_file, to_json
from grasp_core.model.outcome import Outcome, Verdict, VerdictCode
from grasp_core.model.result import Result, group_of, with_group
from grasp_core.model.spec import LEVEL, SIDES, ModelSource

FORMAT = "grasp-models"


@dataclass(frozen=True, slots=True)
class ModelSummary:
    """One model.

    `name`, `source`, `sha256`: `source` is the file, `sha256` its hash.
    `labelled`, `unlabelled`: items with and without a label of this model; the latter are left out.
    `left_out`: number of labels of items that are not among the data's items.
    `overall_f1`: macro-F1 against the plurality of all raters together.
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

    `members_f1`: macro-F1 that the group's own members reach against the plurality of the group's others, on
        the items that the model labels.
    """

    statistics: Mapping[str, Outcome]
    members_f1: float | None

    @property
    def verdict(self) -> Verdict:
        """Whether the model sides with or against the group: one p and one q for all statistics together.

        Both by Simes's rule, from the statistics' own p and q.
        """
        tested = [one for one in self.statistics.values() if one.p is not None]
        if not tested:
            return Verdict("untestable", why="not-estimable")
        p, q = (_simes([getattr(one, name) for one in tested]) for name in ("p", "q"))
        code: VerdictCode = "clear" if q < LEVEL else "hint" if p < LEVEL else "none"
        return Verdict(code, p=p, q=q)

    @property
    def reproduces(self) -> bool | None:
        """True if the model's macro-F1 reaches the members'; None if one of the two is not known."""
        reached = self.statistics["macro_f1"].value
        return None if reached is None or self.members_f1 is None else reached >= self.members_f1


@dataclass(frozen=True, slots=True)
class GroupSides:
    """One group and every model, by name."""

    group: Group
    n_raters: int
    n_annotations: int
    models: Mapping[str, Side]


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class ModelsResult(Result):
    """All results about models.

    Of the spec's analysis, the axes, smallest group, permutations, seed, strata, p-value, ties, correction
    and family apply; the family is always within one model.

    `classes`: the labels that every macro-F1 averages over; empty if they are not known.
    """

    format: ClassVar = FORMAT
    kind: ClassVar = "a result about models"

    models: tuple[ModelSummary, ...]
    groups: tuple[GroupSides, ...]
    classes: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        """Refuse two models with the same name, and groups with other models than these."""
        names = {model.name for model in self.models}
        if any(row.models.keys() != names for row in self.groups) or len(names) < len(self.models):
            raise FormError("models (expected the same ones in every group)")


def _simes(values: Sequence[float | None]) -> float:
    known = sorted(1.0 if value is None else value for value in values)
    return min(len(known) * value / rank for rank, value in enumerate(known, 1))


def closer(statistic: str, outcome: Outcome) -> bool | None:
    """Return whether the model is closer to the group than to most random groups; None if not known."""
    if outcome.direction is None:
        return None
    return (outcome.direction == "down") == (statistic in CLOSER_BELOW)


def _whole(plain: dict[str, Any]) -> dict[str, Any]:
    """Fill in times, the models asked for, and no classes, if the file of an earlier version lacks them."""
    whole = {"timing": {"load_s": 0, "observed_s": 0, "permutations_s": 0}, "classes": [], **plain}
    if "models" not in plain["spec"]:
        files = {file["sha256"]: file["name"] for file in plain["data"]["files"]}
        asked = [
            to_json(_asked(model, files)) for model in from_json(plain["models"], tuple[ModelSummary, ...])
        ]
        whole["spec"] = {**plain["spec"], "models": asked}
    return whole


def _asked(model: ModelSummary, files: Mapping[str, str]) -> ModelSource:
    """Return the model asked for: a column if its hash is that of one of the data's files."""
    file = files.get(model.sha256)
    column = "" if file is None else model.source[len(f"{file}, column ") :]
    return ModelSource(model.name, model.sha256, column or None)


def _without_nulls(fields: dict[str, Any]) -> dict[str, Any]:
    for outcome in fields["statistics"].values():
        del outcome["null"]
    return {"members_f1": fields["members_f1"], "statistics": fields["statistics"]}


def _with_nulls(row: dict[str, Any]) -> dict[str, Any]:
    return {**row, "statistics": {one: {**row["statistics"][one], "null": None} for one in SIDES}}


in_file(ModelsResult, dict, _whole)
in_file(Side, _without_nulls, _with_nulls)
in_file(GroupSides, with_group, group_of)
