"""What a run found, as immutable values, and its file form (``grasp-run`` version 1)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

from grasp_core.groups import AxisSet, Group
from grasp_core.plain import damaged, number, one_of, optional, require_header, text, texts
from grasp_core.spec import STATISTICS, RunSpec

FORMAT = "grasp-run"
FORMAT_VERSION = 1

Direction = Literal["up", "down"]
Significance = Literal["none", "nominal", "corrected"]


@dataclass(frozen=True, slots=True)
class Histogram:
    """Counts of shuffled values in equal bins from `low` to `high`."""

    low: float
    high: float
    counts: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Outcome:
    """An observed value held against its null distribution.

    `value` is None where it is not estimable, and `reason` then says why. `p` is None too where
    fewer than 100 shuffled values (`null_n`) were estimable. `q` is `p` after correction.
    """

    value: float | None
    reason: str | None = None
    null_n: int = 0
    null_median: float | None = None
    direction: Direction | None = None
    p: float | None = None
    q: float | None = None
    significance: Significance = "none"
    null: Histogram | None = None


@dataclass(frozen=True, slots=True)
class GroupResult:
    """One group's row of Table 5."""

    group: Group
    n_raters: int
    n_annotations: int
    statistics: Mapping[str, Outcome]


@dataclass(frozen=True, slots=True)
class DsiResult:
    """Diversity sensitivity index of one axis or intersection.

    `outcome` holds the maximum GAI against the permutation distribution of the *maximum* over the
    same groups (its `p` is the upper tail); `p_group` and `significance_group` are those of the
    attaining group's GAI, the paper's convention.
    """

    axes: AxisSet
    group: Group | None
    outcome: Outcome
    p_group: float | None
    significance_group: Significance


@dataclass(frozen=True, slots=True)
class FileFingerprint:
    """Name, size and hash of an input file."""

    name: str
    bytes: int
    sha256: str


@dataclass(frozen=True, slots=True)
class DataSummary:
    """What the data were, without a single raw row.

    `sha256` is the file's hash, or for several files the hash of their hashes in order.
    `raters_per_item` is minimum, median and maximum; `label_counts` follows `categories`.
    """

    items: int
    raters: int
    annotations: int
    categories: tuple[str, ...]
    label_counts: tuple[int, ...]
    raters_per_item: tuple[int, float, int]
    sha256: str
    files: tuple[FileFingerprint, ...]

    def to_dict(self) -> dict[str, Any]:
        """JSON-ready form; :meth:`from_dict` reads it back."""
        return {
            "items": self.items,
            "raters": self.raters,
            "annotations": self.annotations,
            "categories": list(self.categories),
            "label_counts": list(self.label_counts),
            "raters_per_item": list(self.raters_per_item),
            "sha256": self.sha256,
            "files": [{"name": file.name, "bytes": file.bytes, "sha256": file.sha256} for file in self.files],
        }

    @classmethod
    def from_dict(cls, plain: Any) -> DataSummary:
        """Read :meth:`to_dict`'s form.

        Raises
        ------
        KeyError, TypeError, ValueError
            If a field is missing or of the wrong kind.
        """
        low, median, high = plain["raters_per_item"]
        return cls(
            items=int(plain["items"]),
            raters=int(plain["raters"]),
            annotations=int(plain["annotations"]),
            categories=texts(plain["categories"]),
            label_counts=tuple(int(count) for count in plain["label_counts"]),
            raters_per_item=(int(low), number(median), int(high)),
            sha256=text(plain["sha256"]),
            files=tuple(
                FileFingerprint(text(file["name"]), int(file["bytes"]), text(file["sha256"]))
                for file in plain["files"]
            ),
        )


@dataclass(frozen=True, slots=True)
class Undecided:
    """A mark that more permutations might still change.

    `group` is None for the DSI of `axes`; `corrected` says which of a test's two marks is meant.
    """

    axes: AxisSet
    group: Group | None
    statistic: str
    corrected: bool


@dataclass(frozen=True, slots=True)
class Stopping:
    """How an adaptive run ended: after how many permutations, and with which marks undecided.

    `risk` bounds the probability that a test's interval misses its p-value of endless permutations.
    """

    permutations: int
    risk: float
    undecided: tuple[Undecided, ...]


@dataclass(frozen=True, slots=True)
class Timing:
    """Seconds spent."""

    load_s: float
    observed_s: float
    permutations_s: float


@dataclass(frozen=True, slots=True)
class RunResult:
    """Everything a run found; enough to draw every table and figure."""

    data: DataSummary
    spec: RunSpec
    groups: tuple[GroupResult, ...]
    dsi: tuple[DsiResult, ...]
    warnings: tuple[str, ...]
    timing: Timing
    code_version: str
    stopping: Stopping | None = None

    @property
    def permutations(self) -> int:
        """Permutations that were computed; an adaptive run's spec only says how many at most."""
        return self.spec.analysis.permutations if self.stopping is None else self.stopping.permutations

    def to_dict(self) -> dict[str, Any]:
        """JSON-ready form, described in docs/file-formats.md."""
        return {
            "format": FORMAT,
            "version": FORMAT_VERSION,
            "code_version": self.code_version,
            "data": self.data.to_dict(),
            "spec": self.spec.to_dict(),
            "groups": [
                {
                    **group_to_dict(row.group),
                    "n_raters": row.n_raters,
                    "n_annotations": row.n_annotations,
                    "statistics": {
                        name: _outcome_to_dict(outcome) for name, outcome in row.statistics.items()
                    },
                }
                for row in self.groups
            ],
            "dsi": [_dsi_to_dict(row) for row in self.dsi],
            "warnings": list(self.warnings),
            "timing": {
                "load_s": self.timing.load_s,
                "observed_s": self.timing.observed_s,
                "permutations_s": self.timing.permutations_s,
            },
            **({} if self.stopping is None else {"stopping": _stopping_to_dict(self.stopping)}),
        }

    @classmethod
    def from_dict(cls, plain: Any) -> RunResult:
        """Read :meth:`to_dict`'s form.

        Raises
        ------
        DataError
            If it is not a ``grasp-run`` of version 1, or a field is missing or of the wrong kind.
        """
        plain = require_header(plain, "a GRASP result", FORMAT, FORMAT_VERSION)
        with damaged("the result file"):
            return _result_from_dict(plain)


def _result_from_dict(plain: Mapping[str, Any]) -> RunResult:
    return RunResult(
        data=DataSummary.from_dict(plain["data"]),
        spec=RunSpec.from_dict(plain["spec"]),
        groups=tuple(
            GroupResult(
                group=group_from_dict(row),
                n_raters=int(row["n_raters"]),
                n_annotations=int(row["n_annotations"]),
                statistics={
                    name: outcome_from_dict(row["statistics"][name])
                    for name in STATISTICS
                    if name in row["statistics"]
                },
            )
            for row in plain["groups"]
        ),
        dsi=tuple(_dsi_from_dict(row) for row in plain["dsi"]),
        warnings=texts(plain["warnings"]),
        timing=Timing(**{name: number(seconds) for name, seconds in plain["timing"].items()}),
        code_version=text(plain["code_version"]),
        stopping=_stopping_from_dict(plain["stopping"]) if "stopping" in plain else None,
    )


def _stopping_to_dict(stopping: Stopping) -> dict[str, Any]:
    return {
        "permutations": stopping.permutations,
        "risk": stopping.risk,
        "undecided": [
            {
                "axis": list(mark.axes),
                "group": None if mark.group is None else group_to_dict(mark.group)["group"],
                "statistic": mark.statistic,
                "corrected": mark.corrected,
            }
            for mark in stopping.undecided
        ],
    }


def _stopping_from_dict(plain: Mapping[str, Any]) -> Stopping:
    marks = tuple(
        Undecided(
            texts(mark["axis"]),
            None if mark["group"] is None else group_from_dict(mark),
            one_of(mark["statistic"], (*STATISTICS, "dsi")),
            one_of(mark["corrected"], (True, False)),
        )
        for mark in plain["undecided"]
    )
    return Stopping(int(plain["permutations"]), number(plain["risk"]), marks)


def group_to_dict(group: Group) -> dict[str, Any]:
    """A group's axes and values."""
    return {"axis": list(group.axes), "group": dict(zip(group.axes, group.values, strict=True))}


def group_from_dict(plain: Mapping[str, Any]) -> Group:
    """Read :func:`group_to_dict`'s form; what is wrong raises as in :mod:`grasp_core.plain`."""
    axes = texts(plain["axis"])
    return Group(axes, tuple(text(plain["group"][name]) for name in axes))


def _outcome_to_dict(outcome: Outcome) -> dict[str, Any]:
    null = outcome.null
    return {
        "value": outcome.value,
        "null_median": outcome.null_median,
        "direction": outcome.direction,
        "p": outcome.p,
        "q": outcome.q,
        "significance": outcome.significance,
        "reason": outcome.reason,
        "null_n": outcome.null_n,
        "null": None if null is None else {"low": null.low, "high": null.high, "counts": list(null.counts)},
    }


def outcome_from_dict(plain: Mapping[str, Any]) -> Outcome:
    """Read an outcome; what is wrong raises as in :mod:`grasp_core.plain`."""
    null = plain["null"]
    return Outcome(
        value=optional(number, plain["value"]),
        reason=optional(text, plain["reason"]),
        null_n=int(plain["null_n"]),
        null_median=optional(number, plain["null_median"]),
        direction=one_of(plain["direction"], ("up", "down", None)),
        p=optional(number, plain["p"]),
        q=optional(number, plain["q"]),
        significance=one_of(plain["significance"], ("none", "nominal", "corrected")),
        null=None
        if null is None
        else Histogram(
            number(null["low"]), number(null["high"]), tuple(int(count) for count in null["counts"])
        ),
    )


def _dsi_to_dict(row: DsiResult) -> dict[str, Any]:
    outcome = _outcome_to_dict(row.outcome)
    return {
        "axis": list(row.axes),
        "group": None if row.group is None else group_to_dict(row.group)["group"],
        "value": outcome.pop("value"),
        "p": row.p_group,
        "significance": row.significance_group,
        "p_max": outcome.pop("p"),
        "q_max": outcome.pop("q"),
        "significance_max": outcome.pop("significance"),
        **outcome,
    }


def _dsi_from_dict(plain: Mapping[str, Any]) -> DsiResult:
    renamed = {"p": plain["p_max"], "q": plain["q_max"], "significance": plain["significance_max"]}
    return DsiResult(
        axes=texts(plain["axis"]),
        group=None if plain["group"] is None else group_from_dict(plain),
        outcome=outcome_from_dict({**plain, **renamed}),
        p_group=optional(number, plain["p"]),
        significance_group=one_of(plain["significance"], ("none", "nominal", "corrected")),
    )
