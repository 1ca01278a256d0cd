"""A run's result, as immutable values, and its file form (``grasp-run`` version 3)."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, ClassVar, Literal, Self

from grasp_core.model.groups import AxisSet, Group
from grasp_core.model.json_values import (
    ADDED,
    WrongKindError,
    closed,
    damaged,
    from_json,
    in_file,
    require_header,
    to_json,
)
from grasp_core.model.outcome import (
    PAIR_STATISTICS,
    Account,
    AssignmentCheck,
    LabelUse,
    Outcome,
    PairResult,
    Significance,
    Verdict,
)
from grasp_core.model.remarks.remark import Remark
from grasp_core.model.spec import SIDES, RunSpec
from grasp_core.model.statistic import TABLE

FORMAT = "grasp-run"
READ_VERSIONS = (1, 2, 3)
"""Version 1 lacked label use, version 2 verdicts."""

DsiTest = Literal["largest", "studentised"]


@dataclass(frozen=True, slots=True)
class GroupResult:
    """One group's row of Table 5.

    `least_p` is the smallest two-sided p that the group's regroupings allow, where that is above the level of
    marks; tests of one tail, such as those of distance and label use, may have half of it. Only the groups of
    a finished run have a `verdict`; those of results of earlier versions have none.
    """

    group: Group
    n_raters: int
    n_annotations: int
    statistics: Mapping[str, Outcome]
    label_use: LabelUse | None = field(default=None, metadata=ADDED)
    least_p: float | None = field(default=None, metadata=ADDED)
    verdict: Verdict | None = field(default=None, metadata=ADDED)


@dataclass(frozen=True, slots=True)
class DsiResult:
    """Diversity sensitivity index of one axis or intersection.

    `outcome` holds the largest GAI, with the permutation distribution of the largest of the same groups.
    Its `p` is that of the largest *studentised* GAI; in results of earlier versions, whose `test` is
    "largest", the upper tail of that distribution. `p_group` and `significance_group` are those of the
    attaining group's GAI, the paper's convention.
    """

    axes: AxisSet
    group: Group | None
    outcome: Outcome
    p_group: float | None
    significance_group: Significance
    test: DsiTest = field(default="largest", metadata=ADDED)


@dataclass(frozen=True, slots=True)
class SliceResult:
    """What was found on the items of one value of a column; raters without an annotation there are gone."""

    value: str
    items: int
    raters: int
    annotations: int
    groups: tuple[GroupResult, ...]
    dsi: tuple[DsiResult, ...]


@dataclass(frozen=True, slots=True)
class SlicesResult:
    """The slices of one column, corrected together; items `without` a value are in none."""

    column: str
    without: int
    values: tuple[SliceResult, ...]


@dataclass(frozen=True, slots=True)
class GivenResult:
    """The groups that axis `column` has no part in, with profiles shuffled within its values too."""

    column: str
    groups: tuple[GroupResult, ...]
    dsi: tuple[DsiResult, ...]


@dataclass(frozen=True, slots=True)
class Findable:
    """That a lone group of so many raters is clear in four of five runs if it gives a label more often.

    `shift` says how much more often, as a share: 0.11 are 11 percentage points.
    """

    n_raters: int
    shift: float


@dataclass(frozen=True, slots=True)
class LabelAgreement:
    """How often another rater of an item gives a label that one has given it.

    `annotations` are those on items that several rated. `again` is the share of the others' answers on the
    same items that are this label too, `by_chance` the share of all answers that would be. `alone` are the
    items that got the label once, `beside` the label that they got most besides.
    """

    label: str
    annotations: int
    again: float | None
    by_chance: float | None
    alone: int
    beside: str | None


@dataclass(frozen=True, slots=True)
class RaterAgreement:
    """How often a rater, who is not named, answers as another does on the same item.

    `number` is the rater's place in the order of ids, from 1. `annotations` are those on items that others
    rated too. `differs` says that the rater agrees with the others clearly less than they do among themselves
    on the same items, and by more than luck explains.
    """

    number: int
    annotations: int
    again: float
    differs: bool


@dataclass(frozen=True, slots=True)
class BatchAgreement:
    """Agreement on the items of one value of a column, such as a batch or a month."""

    column: str
    value: str
    items: int
    alpha: float | None


@dataclass(frozen=True, slots=True)
class Everybody:
    """How well all raters agree, whoever they are.

    `alpha` is Krippendorff's, with its 95 % interval for other items; None where it is not estimable, which
    `reason` says. `items` are those that several rated, `unanimous` the share of them on which all agree,
    `plurality` the mean share of an item's most frequent label. `labels` are empty of several questions,
    `raters`, least agreement first, where there are too many to list.
    """

    alpha: float | None
    low: float | None
    high: float | None
    reason: Remark | None
    items: int
    plurality: float | None
    unanimous: float | None
    labels: tuple[LabelAgreement, ...]
    raters: tuple[RaterAgreement, ...]
    batches: tuple[BatchAgreement, ...]


@dataclass(frozen=True, slots=True)
class Association:
    """How closely two axes of a run go together: bias-corrected Cramér's V, 0 to 1.

    `p` is that of independent axes after correction over all pairs; results of earlier versions have none.
    """

    first: str
    second: str
    v: float
    p: float | None = field(default=None, metadata=ADDED)


@dataclass(frozen=True, slots=True)
class FileFingerprint:
    """Name, size and hash of an input file, and what it was fetched from, where a connector brought it."""

    name: str
    bytes: int
    sha256: str
    source: str = field(default="", metadata=ADDED)


@dataclass(frozen=True, slots=True)
class DataSummary:
    """The data of a run, without a single raw row.

    `sha256` is the file's hash, or for several files the hash of their hashes in order.
    `raters_per_item` is minimum, median and maximum; `label_counts` follows `categories`. Results of earlier
    versions have no `account`.
    """

    items: int
    raters: int
    annotations: int
    categories: tuple[str, ...]
    label_counts: tuple[int, ...]
    raters_per_item: tuple[int, float, int]
    sha256: str
    files: tuple[FileFingerprint, ...]
    account: Account | None = field(default=None, metadata=ADDED)


@dataclass(frozen=True, slots=True)
class Undecided:
    """A mark that more permutations might still change.

    `group` is None for the DSI of `axes`; `corrected` says which of a test's two marks is meant. `model` is
    the model that is held against the group, where there are some, `other` the other group of a pair, `slice`
    the column and the value whose items are meant, `given` the axis within whose values profiles were
    shuffled.
    """

    axes: AxisSet
    group: Group | None
    statistic: str
    corrected: bool
    model: str | None = field(default=None, metadata=ADDED)
    other: Group | None = field(default=None, metadata=ADDED)
    slice: tuple[str, str] | None = field(default=None, metadata=ADDED)
    given: str | None = field(default=None, metadata=ADDED)


@dataclass(frozen=True, slots=True)
class Stopping:
    """How an adaptive run ended: after how many permutations, and with which marks undecided.

    `risk` bounds the probability that a test's interval misses its p-value of endless permutations.
    """

    permutations: int
    risk: float
    undecided: tuple[Undecided, ...]


@closed
@dataclass(frozen=True, slots=True)
class Timing:
    """Seconds spent."""

    load_s: float
    observed_s: float
    permutations_s: float


_LAST = ("warnings", "timing", "stopping", "permutations_done", "later")


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class Result:
    """The part of a result that every run has, whatever its panel found.

    `format` is its name in files, `kind` what people call it, `versions` those of the form in files that are
    read, of which the last is written.
    With `permutations_done` it is provisional: of a run that goes on, after so many permutations. With
    `later` its groups are done, and a later stage of that name goes on, such as "pairs".
    """

    format: ClassVar[str]
    kind: ClassVar[str]
    versions: ClassVar[tuple[int, ...]] = (1,)

    data: DataSummary
    spec: RunSpec
    warnings: tuple[Remark, ...]
    timing: Timing = field(compare=False)
    code_version: str
    stopping: Stopping | None = field(default=None, metadata=ADDED)
    permutations_done: int | None = field(default=None, metadata=ADDED)
    later: str | None = field(default=None, metadata=ADDED)

    def __repr__(self) -> str:
        data = self.data
        return (
            f"<{type(self).__name__}: {data.annotations:,} annotations of {data.items:,} items by "
            f"{data.raters:,} raters; axes {', '.join(map(':'.join, self.spec.analysis.axes)) or 'none'}; "
            f"{self.permutations:,} permutations>"
        )

    @property
    def provisional(self) -> bool:
        """Whether permutations go on, so that all but the observed values may still change."""
        return self.permutations_done is not None

    @property
    def permutations(self) -> int:
        """Permutations that were computed; an adaptive run's spec only says how many at most."""
        if self.permutations_done is not None:
            return self.permutations_done
        if not self.spec.analysis.axes:
            return 0
        return self.spec.analysis.permutations if self.stopping is None else self.stopping.permutations

    def to_dict(self) -> dict[str, Any]:
        """JSON-ready form, with its format and version; described in docs."""
        found = to_json(self)
        first = {name: found.pop(name) for name in ("code_version", "data", "spec")}
        last = {name: found.pop(name) for name in _LAST if name in found}
        return {"format": self.format, "version": self.versions[-1], **first, **found, **last}

    @classmethod
    def from_dict(cls, plain: Any) -> Self:
        """Read :meth:`to_dict`'s form."""
        plain = require_header(plain, cls.kind, cls.format, cls.versions)
        with damaged("the result file"):
            return from_json(plain, cls)


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class RunResult(Result):
    """Everything that was found about cohesion; enough to draw every table and figure.

    `pairs` are those of each axis's groups, `slices` those of each column, and `given` the groups given each
    axis, where they were asked. `associations` are the pairs of axes that go together.
    `assignment` says of each axis or intersection whether its groups were given the same items, and as many.
    """

    format: ClassVar = FORMAT
    kind: ClassVar = "a GRASP result"
    versions: ClassVar = READ_VERSIONS

    groups: tuple[GroupResult, ...]
    dsi: tuple[DsiResult, ...]
    pairs: tuple[PairResult, ...] = field(default=(), metadata=ADDED)
    slices: tuple[SlicesResult, ...] = field(default=(), metadata=ADDED)
    assignment: tuple[AssignmentCheck, ...] = field(default=(), metadata=ADDED)
    given: tuple[GivenResult, ...] = field(default=(), metadata=ADDED)
    associations: tuple[Association, ...] = field(default=(), metadata=ADDED)
    findable: tuple[Findable, ...] = field(default=(), metadata=ADDED)
    everybody: Everybody | None = field(default=None, metadata=ADDED)

    @property
    def of_everybody(self) -> bool:
        """Whether no axis was named, so that it tells of all raters together and of no group."""
        return not self.spec.analysis.axes


# How rows stand in files: a group's axes and values beside what was found about it.


def with_group(fields: dict[str, Any]) -> dict[str, Any]:
    """A row's form in files."""
    return {**fields.pop("group"), **fields}


def group_of(row: dict[str, Any]) -> dict[str, Any]:
    """The fields of :func:`with_group`'s form."""
    return {**row, "group": row}


def _with_axes(fields: dict[str, Any]) -> dict[str, Any]:
    group = fields.pop("group")
    return {"axis": fields.pop("axes"), "group": group and group["group"], **fields}


def _axes_of(row: dict[str, Any]) -> dict[str, Any]:
    return {**row, "axes": row["axis"], "group": None if row["group"] is None else row}


def _mark(row: dict[str, Any]) -> dict[str, Any]:
    if row["statistic"] not in (*TABLE, *SIDES, *PAIR_STATISTICS, "label_use", "dsi"):
        raise WrongKindError(row["statistic"], "a statistic")
    return _axes_of(row)


_OF_GREATEST, _WHILE_IT_GOES_ON = ("p", "q", "significance"), ("p_interval", "q_interval")


def _with_outcome(fields: dict[str, Any]) -> dict[str, Any]:
    outcome = fields.pop("outcome")
    own = {"p": fields.pop("p_group"), "significance": fields.pop("significance_group")}
    of_greatest = [*_OF_GREATEST, *(name for name in _WHILE_IT_GOES_ON if name in outcome)]
    greatest = {f"{name}_max": outcome.pop(name) for name in of_greatest}
    return {**_with_axes(fields), "value": outcome.pop("value"), **own, **greatest, **outcome}


def _outcome_of(row: dict[str, Any]) -> dict[str, Any]:
    of_greatest = [*_OF_GREATEST, *(name for name in _WHILE_IT_GOES_ON if f"{name}_max" in row)]
    outcome = {**row, **{name: row[f"{name}_max"] for name in of_greatest}}
    own = {"p_group": row["p"], "significance_group": row["significance"]}
    return {**_axes_of(row), "outcome": outcome, **own}


in_file(
    Group,
    lambda fields: {"axis": fields["axes"], "group": dict(zip(*fields.values(), strict=True))},
    lambda row: {"axes": row["axis"], "values": [row["group"][name] for name in row["axis"]]},
)
in_file(
    GroupResult,
    with_group,
    lambda row: {
        **group_of(row),
        "statistics": {name: row["statistics"][name] for name in TABLE if name in row["statistics"]},
    },
)
in_file(DsiResult, _with_outcome, _outcome_of)
in_file(Undecided, _with_axes, _mark)
