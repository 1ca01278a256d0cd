"""The spec of a run: a small, canonical, versioned value that says what it computes.

The spec and the data's fingerprint are all that is needed to compute the same numbers again.
"""

from __future__ import annotations

import dataclasses
import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, get_args

from grasp_core.model.data_spec import DataSpec
from grasp_core.model.errors import SpecError
from grasp_core.model.groups import AxisSet
from grasp_core.model.json_values import ADDED, FormError, closed, from_json, in_file, to_json
from grasp_core.model.statistic import TABLE

SPEC_VERSION = 2
"""Version 1 lacked recoding, filters and parts; it is still read."""
_READ = (1, SPEC_VERSION)
_NO_SPEC = f"this is not a run spec of version {' or '.join(map(str, _READ))}"
_LATER: Mapping[str, Mapping[str, Any]] = {
    "analysis": {"level": "nominal", "adaptive": False, "interval": "both", "pairs": False, "slices": []},
    "data": {
        "further": [],
        "repeated": "refuse",
        "order": None,
        "items_id": None,
        "items_part": None,
        "screens": [],
    },
}
"""Fields that version 2 lacked at first; with these values a spec keeps the hash it had without them."""
WORKLOAD = "workload"
"""The stratum that no file has: bins of raters by number of annotations."""
LEVEL = 0.05
"""Level of both significance marks: nominal p, and after correction q."""

STATISTICS = tuple(name for name, one in TABLE.items() if not one.optional)
"""Those that every run computes, and reports unless it is told which."""
IN_GROUP = tuple(name for name in STATISTICS if TABLE[name].side == "inside")
CROSS_GROUP = tuple(name for name in STATISTICS if TABLE[name].side == "across")
SIDES = ("xrr", "macro_f1", "share", "cross_entropy", "js_divergence")
"""All statistics of a model and a group, in the order of every array of them."""

PValue = Literal["two-sided", "paper"]
CrossNegentropy = Literal["smooth", "paper"]
VotingAgreement = Literal["alpha", "kappa"]
Ties = Literal["first", "random"]
Level = Literal["nominal", "ordinal", "interval", "ratio"]
"""Of measurement (Krippendorff): what makes two labels differ much or little."""
IntervalTarget = Literal["both", "raters", "items"]
"""What intervals are for: other raters and items, other raters on these items, or these raters on others."""
Correction = Literal["benjamini-hochberg", "benjamini-yekutieli", "max-t"]
Family = Literal["statistic", "statistic-axis", "all"]

MAX_PERMUTATIONS = 10_000_000
MAX_SEED = 2**63 - 1
DEFAULT_PERMUTATIONS = 10_000
ADAPTIVE_PERMUTATIONS = 100_000
"""The most that a run takes which is told to stop early, unless it is told how many."""


@closed
@dataclass(frozen=True)
class AnalysisSpec:
    """The analysis: what is computed on the data.

    `axes`: ``("gender",)`` for the groups of one axis, ``("race", "gender")`` for an intersection. Without
        any, the run tells how well all raters agree.
    `statistics`: those reported, out of :data:`~grasp_core.model.statistic.TABLE`.
    `gai`: in-group and cross-group statistic whose ratio is the group association index.
    `min_raters`: groups with fewer raters are not shown.
    `strata`: axes within whose values, or combinations of them, profiles are shuffled; :data:`WORKLOAD`
        stands for bins of raters by number of annotations. Without any, they are shuffled over all raters.
    `p_value`, `cross_negentropy`, `voting_agreement`, `ties`, `correction`, `family`: conventions of
        docs/methods.md, "Cross-group cohesion" and "Observed against shuffled".
    `adaptive`: whether permutations stop once further ones are not expected to change a mark; `permutations`
        is then the most there are.
    `level`: level of measurement of the labels, for IRR and XRR.
    `interval`: what intervals are for: other raters and other items, other raters alone, or other items
        alone.
    `pairs`: whether the groups of each axis are held against each other two by two.
    `slices`: columns that describe items: the groups are computed once more on the items of each of their
        values.
    `given`: axes given which the others are tested once more: profiles are shuffled within their values too.
    `cluster`: column whose values, such as teams, hold raters together: profiles move by whole clusters.
    `tail`: whether p-values that fewer than 10 permutations reach are taken from a curve through the tail.
    """

    axes: tuple[AxisSet, ...]
    statistics: tuple[str, ...] = STATISTICS
    gai: tuple[str, str] = ("irr", "xrr")
    min_raters: int = 2
    permutations: int = DEFAULT_PERMUTATIONS
    seed: int = 1
    strata: tuple[str, ...] = ()
    p_value: PValue = "two-sided"
    cross_negentropy: CrossNegentropy = "smooth"
    ties: Ties = "random"
    correction: Correction = "benjamini-hochberg"
    family: Family = "statistic"
    level: Level = "nominal"
    adaptive: bool = False
    interval: IntervalTarget = "both"
    pairs: bool = False
    slices: tuple[str, ...] = ()
    given: tuple[str, ...] = field(default=(), metadata=ADDED)
    cluster: str | None = field(default=None, metadata=ADDED)
    tail: bool = field(default=False, metadata=ADDED)
    voting_agreement: VotingAgreement = field(default="alpha", metadata=ADDED)

    def __post_init__(self) -> None:
        _choice("p_value", self.p_value, PValue)
        _choice("cross_negentropy", self.cross_negentropy, CrossNegentropy)
        _choice("voting_agreement", self.voting_agreement, VotingAgreement)
        _choice("ties", self.ties, Ties)
        _choice("correction", self.correction, Correction)
        _choice("family", self.family, Family)
        _choice("level", self.level, Level)
        _choice("interval", self.interval, IntervalTarget)
        for axes in self.axes:
            _texts("axes", axes)
        _texts("statistics", self.statistics)
        _texts("gai", self.gai, length=2)
        _texts("slices", self.slices)
        _unique("`slices`", self.slices, "a column")
        _texts("given", self.given)
        _unique("`given`", self.given, "an axis")
        _texts("strata", self.strata)
        _unique("`strata`", self.strata, "an axis")
        object.__setattr__(self, "strata", tuple(sorted(self.strata)))  # one order: one question, one hash
        if not isinstance(self.cluster, str | None):
            raise SpecError(f"`cluster` must be the name of a column; found {self.cluster!r}")
        if self.cluster is not None and WORKLOAD in self.strata:
            raise SpecError("bins of workload would cut clusters apart; leave one of the two out")
        if self.cluster in self.strata:
            raise SpecError(f"{self.cluster} cannot be stratum and cluster at once: nothing could move")
        if not all(self.axes):
            raise SpecError("an intersection needs at least one axis; leave an empty one out")
        if not self.axes and (self.given or self.strata or self.cluster is not None):
            raise SpecError("choose at least one demographic axis: without any, nothing is shuffled")
        if len({frozenset(axes) for axes in self.axes}) != len(self.axes):
            raise SpecError("an axis or intersection is named twice")
        for axes in self.axes:
            _unique(f"the intersection {' x '.join(axes)}", axes, "an axis")
        _unique("`statistics`", self.statistics, "one")
        unknown = [name for name in self.statistics if name not in TABLE]
        if unknown or not self.statistics:
            raise SpecError(f"statistics must be some of {', '.join(TABLE)}; found {unknown or 'none'}")
        in_order = tuple(name for name in TABLE if name in self.statistics)
        object.__setattr__(self, "statistics", in_order)  # one order, so that one question has one hash
        if self.gai[0] not in IN_GROUP or self.gai[1] not in CROSS_GROUP:
            raise SpecError(
                f"GAI is one of {', '.join(IN_GROUP)} over one of {', '.join(CROSS_GROUP)};"
                f" found {' over '.join(self.gai)}"
            )
        for name in ("adaptive", "pairs", "tail"):
            if not isinstance(getattr(self, name), bool):
                raise SpecError(f"`{name}` must be true or false; found {getattr(self, name)!r}")
        if self.tail and self.p_value == "paper":
            raise SpecError(
                "the paper's p-values are counted; for a curve through the tail take two-sided ones"
            )
        _whole("permutations", self.permutations, 1, MAX_PERMUTATIONS)
        _whole("min_raters", self.min_raters, 1, 1_000_000)
        _whole("seed", self.seed, 0, MAX_SEED)

    @property
    def columns(self) -> tuple[str, ...]:
        """Every axis that the data must have, each once."""
        beside = [name for name in (*self.strata, self.cluster, *self.given) if name not in (None, WORKLOAD)]
        return tuple(dict.fromkeys((*self.tested, *map(str, beside))))

    @property
    def tested(self) -> tuple[str, ...]:
        """Every axis by which groups are formed, each once."""
        return tuple(dict.fromkeys(name for axes in self.axes for name in axes))


@closed
@dataclass(frozen=True, slots=True)
class ModelSource:
    """Where a model's labels are.

    `sha256`: of the file.
    `column`: of the annotations file; without one the file holds this model's labels alone.
    """

    name: str
    sha256: str
    column: str | None = None

    def __post_init__(self) -> None:
        _texts("models", (self.name, self.sha256, *(() if self.column is None else (self.column,))))


PAPER_CONVENTIONS: Mapping[str, Any] = {
    "p_value": "paper",
    "cross_negentropy": "paper",
    "voting_agreement": "kappa",
    "ties": "first",
}
"""The conventions of preset "As in the paper"; GRASP's own are two-sided p, smoothed q and alpha."""


@closed
@dataclass(frozen=True, slots=True)
class RunSpec:
    """Reading and analysis together; its hash is part of a result's identity.

    With `models`, these are held against the groups; without, cohesion is computed.
    """

    data: DataSpec
    analysis: AnalysisSpec
    version: int = field(default=SPEC_VERSION)
    models: tuple[ModelSource, ...] = field(default=(), metadata=ADDED)

    def __post_init__(self) -> None:
        if self.models and self.analysis.slices:
            raise SpecError("models are held against the groups on all items; run slices without models")
        if self.models and self.analysis.given:
            raise SpecError("models are held against all groups at once; leave `given` out")
        if self.models and self.data.further:
            raise SpecError("models are held against the answers to one question; run each by itself")
        if self.models and self.analysis.pairs:
            raise SpecError("models are held against groups, not against pairs of them; leave `pairs` out")
        if self.models and self.analysis.tail:
            raise SpecError("p-values of models are counted; leave `tail` out")
        if self.data.further and self.analysis.level != "nominal":
            raise SpecError(
                "several questions are held together by whether answers are equal, which is level nominal;"
                f" for level {self.analysis.level} run each question by itself"
            )

    def to_dict(self) -> dict[str, Any]:
        """JSON-ready form; :meth:`from_dict` reads it back."""
        plain: dict[str, Any] = to_json(self)
        return plain

    @classmethod
    def from_dict(cls, plain: Any) -> RunSpec:
        """Read :meth:`to_dict`'s form.

        Raises SpecError if a field is unknown, missing, of the wrong kind or out of range.
        """
        if not isinstance(plain, dict):
            raise SpecError(_NO_SPEC)
        try:
            return from_json(plain, cls)
        except FormError as error:
            raise SpecError(f"the run spec cannot be read: {error}", further=error.sentences[1:]) from None

    def sha256(self) -> str:
        """Hash of the canonical JSON form, the same for specs that mean the same."""
        plain = dataclasses.replace(self, data=self.data.canonical()).to_dict()
        for part, fields in _LATER.items():
            for name, value in fields.items():
                if plain[part][name] == value:
                    del plain[part][name]
        strata = plain["analysis"]["strata"]
        if len(strata) < 2:  # as it was when there was one at most
            plain["analysis"]["strata"] = strata[0] if strata else None
        text = json.dumps(plain, sort_keys=True, separators=(",", ":"), ensure_ascii=True)
        return hashlib.sha256(text.encode()).hexdigest()


def _of_version(plain: dict[str, Any]) -> dict[str, Any]:
    if plain.get("version") not in _READ:
        raise SpecError(_NO_SPEC)
    return {**plain, "version": SPEC_VERSION}


in_file(RunSpec, dict, _of_version)


def _of_one_stratum(plain: dict[str, Any]) -> dict[str, Any]:
    """As earlier versions wrote it: the name of one axis, or null."""
    strata = plain.get("strata", ())
    if strata is None or isinstance(strata, str):
        strata = () if strata is None else (strata,)
    return {**plain, "strata": strata}


in_file(AnalysisSpec, dict, _of_one_stratum)


def _choice(name: str, value: object, literal: object) -> None:
    choices = get_args(literal)
    if value not in choices:
        raise SpecError(f"`{name}` must be one of {', '.join(choices)}; found {value!r}")


def _texts(name: str, values: object, length: int | None = None) -> None:
    if not isinstance(values, tuple) or not all(isinstance(value, str) for value in values):
        raise SpecError(f"`{name}` must be a list of texts; found {values!r}")
    if length is not None and len(values) != length:
        raise SpecError(f"`{name}` must hold {length} texts; found {values!r}")


def _unique(field: str, values: tuple[str, ...], what: str) -> None:
    if len(set(values)) != len(values):
        raise SpecError(f"{field} names {what} twice")


def _whole(name: str, value: object, low: int, high: int) -> None:
    if not isinstance(value, int) or isinstance(value, bool) or not low <= value <= high:
        raise SpecError(f"`{name}` must be a whole number from {low} to {high}; found {value!r}")
