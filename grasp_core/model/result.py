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

    `least_p` is the smallest two-sided p that the group's regroupings allow, if that is above the level of
    marks; one-tailed tests, such as those of distance and label use, can reach half of it. Only groups of a
    finished run have a `verdict`; groups in results of earlier versions have none.
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

    `outcome` is the largest GAI, with the permutation distribution of the largest GAI of the same groups.
    Its `p` is the p of the largest *studentised* GAI. In results of earlier versions, whose `test` is
    "largest", it is the upper tail of that distribution. `p_group` and `significance_group` belong to the GAI
    of the group that attains the largest value, the paper's convention.
    """

    axes: AxisSet
    group: Group | None
    outcome: Outcome
    p_group: float | None
    significance_group: Significance
    test: DsiTest = field(default="largest", metadata=ADDED)


@dataclass(frozen=True, slots=True)
class SliceResult:
    """Results on the items of one value of a column, without raters who have no annotation there."""

    value: str
    items: int
    raters: int
    annotations: int
    groups: tuple[GroupResult, ...]
    dsi: tuple[DsiResult, ...]


@dataclass(frozen=True, slots=True)
class SlicesResult:
    """The slices of one column, corrected together; `without` counts items without a value, in no slice."""

    column: str
    without: int
    values: tuple[SliceResult, ...]


@dataclass(frozen=True, slots=True)
class GivenResult:
    """Results of the groups that do not use axis `column`, with profiles shuffled within its values too."""

    column: str
    groups: tuple[GroupResult, ...]
    dsi: tuple[DsiResult, ...]


@dataclass(frozen=True, slots=True)
class Findable:
    """Shift at which a lone group of `n_raters` raters would get the verdict "clear" in four of five runs.

    `shift` is how much more often the group gives a label, as a share: 0.11 are 11 percentage points.
    """

    n_raters: int
    shift: float


@dataclass(frozen=True, slots=True)
class LabelAgreement:
    """Agreement on one label: how often other raters of an item give the label that one rater gave.

    `annotations` counts annotations with this label on items that several rated. `again` is the share of the
    others' answers on the same items that are this label too, `by_chance` the share expected by chance.
    `alone` counts items that got the label once; `beside` is the most frequent other label on these items.
    """

    label: str
    annotations: int
    again: float | None
    by_chance: float | None
    alone: int
    beside: str | None


@dataclass(frozen=True, slots=True)
class RaterAgreement:
    """Agreement of one unnamed rater: the share `again` of others on the same item who answer the same.

    `number` is the rater's position in the order of ids, from 1. `annotations` counts the rater's answers on
    items that others rated too. `differs` is true if the rater agrees with the others clearly less than they
    agree among themselves on the same items, and by more than luck explains.
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
    """Agreement among all raters, of whatever groups.

    `alpha` is Krippendorff's, with its 95 % interval for other items; None if it is not estimable, for the
    `reason` given. `items` counts items that several rated, `unanimous` is the share of them on which all
    agree, `plurality` the mean share of an item's most frequent label. `labels` is empty with several
    questions. `raters`, least agreement first, is empty if there are too many to list.
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


ONE_SPLIT = 0.9995
"""Cramér's V above which two axes divide the raters alike; it is 1 but for rounding."""


@dataclass(frozen=True, slots=True)
class Association:
    """Association of two axes of a run: bias-corrected Cramér's V, 0 to 1.

    `p` tests that the axes are independent, corrected over all pairs; results of earlier versions have none.
    """

    first: str
    second: str
    v: float
    p: float | None = field(default=None, metadata=ADDED)

    @property
    def one_split(self) -> bool:
        """True if both axes divide the raters alike, so that neither can be tested given the other."""
        return self.v > ONE_SPLIT


@dataclass(frozen=True, slots=True)
class FileFingerprint:
    """Name, size and hash of an input file, and its source if a connector fetched it."""

    name: str
    bytes: int
    sha256: str
    source: str = field(default="", metadata=ADDED)


@dataclass(frozen=True, slots=True)
class DataSummary:
    """The data of a run, without a single raw row.

    `sha256` is the file's hash, or for several files the hash of their hashes in order.
    `raters_per_item` is minimum, median and maximum; `label_counts` is in the order of `categories`. Results
    of earlier versions have no `account`.
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

    `group` is None for the DSI of `axes`; `corrected` is true for the mark after correction. `model` is the
    model compared with the group, if there are models, `other` the other group of a pair, `slice` the column
    and value whose items are analysed, `given` the axis within whose values profiles were shuffled.
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
    """The end of an adaptive run: its number of permutations, and the marks still undecided.

    `risk` bounds the probability that a test's interval misses its p-value with endless permutations.
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
    """The part of a result that every run has, whatever its panel.

    `format` is the result's name in files, `kind` its name for people. `versions` are versions of the file
    form that can be read; the last one is written.
    With `permutations_done` the result is provisional: the run has computed so many permutations and
    continues. With `later`, its groups are done and the later stage of that name, e.g. "pairs", continues.
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
        """True if permutations continue, so that everything but the observed values may still change."""
        return self.permutations_done is not None

    @property
    def permutations(self) -> int:
        """Number of permutations computed; an adaptive run's spec gives only the maximum."""
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
    """All results about cohesion; enough to draw every table and figure.

    If the spec asked for them, `pairs` compares the groups of each axis two by two, `slices` are the slices
    of each column and `given` the groups given each axis. `associations` are pairs of associated axes.
    `assignment` checks for each axis or intersection whether its groups got the same items, and as many.
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
        """True if no axis was named, so that the result is about all raters together and no group."""
        return not self.spec.analysis.axes


# The form of rows in files: a group's axes and values beside its results.


def with_group(fields: dict[str, Any]) -> dict[str, Any]:
    """Return a row's form in files."""
    return {**fields.pop("group"), **fields}


def group_of(row: dict[str, Any]) -> dict[str, Any]:
    """Return the fields of a row in :func:`with_group`'s form."""
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
