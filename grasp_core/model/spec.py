"""The spec of a run: a small, canonical, versioned value that defines the run's computation.

The spec and the data's fingerprint are enough to compute the same numbers again.
"""

from __future__ import annotations

import dataclasses
import hashlib
import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from grasp_core.model.data_spec import WHICH_LABEL, DataSpec, one_question
from grasp_core.model.errors import SpecError
from grasp_core.model.fields import Wrong, asked, check, check_texts, described, refuse, twice
from grasp_core.model.groups import AxisSet
from grasp_core.model.json_values import ADDED, FormError, closed, from_json, in_file, to_json
from grasp_core.model.statistic import TABLE

SPEC_VERSION = 2
"""Version of new specs; version 1, without recoding, filters and members, can still be read."""
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
"""Fields that version 2 lacked at first; with these values, a spec keeps the hash it had without them."""
WORKLOAD = "workload"
"""Name of a stratum that is no column of a file: bins of raters by number of annotations."""
LEVEL = 0.05
"""Level of both significance marks: nominal p, and after correction q."""

STATISTICS = tuple(name for name, one in TABLE.items() if not one.optional)
"""Statistics that every run computes, and reports unless its spec names some."""
IN_GROUP = tuple(name for name in STATISTICS if TABLE[name].side == "inside")
CROSS_GROUP = tuple(name for name in STATISTICS if TABLE[name].side == "across")
SIDES = ("xrr", "macro_f1", "share", "cross_entropy", "js_divergence")
"""All statistics of a model and a group, in the order of every array of them."""

PValue = Literal["two-sided", "paper"]
CrossNegentropy = Literal["smooth", "paper"]
VotingAgreement = Literal["alpha", "kappa"]
Ties = Literal["first", "random"]
Level = Literal["nominal", "ordinal", "interval", "ratio"]
"""Level of measurement (Krippendorff): it determines how much two labels differ."""
IntervalTarget = Literal["both", "raters", "items"]
"""Target of intervals: other raters and items, other raters on these items, or these raters on others."""
Correction = Literal["benjamini-hochberg", "benjamini-yekutieli", "max-t"]
Family = Literal["statistic", "statistic-axis", "all"]

MAX_PERMUTATIONS = 10_000_000
MAX_SEED = 2**63 - 1
DEFAULT_PERMUTATIONS = 10_000
ADAPTIVE_PERMUTATIONS = 100_000
"""Most permutations of a run that may stop early, unless its spec sets the number."""


@closed
@described
@dataclass(frozen=True)
class AnalysisSpec:
    """The analysis to compute on the data.

    `axes`: ``("gender",)`` for the groups of one axis, ``("race", "gender")`` for an intersection. Without
        any, the run reports how well all raters agree.
    """

    axes: tuple[AxisSet, ...] = field(metadata={"instead": [["an axis"]]})
    statistics: tuple[str, ...] = asked(STATISTICS, "statistics to report (default: all)", "NAME,...")
    gai: tuple[str, str] = asked(("irr", "xrr"), "statistics that GAI divides (default: irr,xrr)", "IN,CROSS")
    min_raters: int = asked(2, "raters of the smallest group to show", "N", low=1, high=1_000_000)
    permutations: int = asked(
        DEFAULT_PERMUTATIONS,
        f"largest number of permutations (default: {DEFAULT_PERMUTATIONS:,}; large data stop earlier, once "
        "all marks are settled)",
        "B",
        low=1,
        high=MAX_PERMUTATIONS,
    )
    seed: int = asked(1, "seed of all random draws (default: 1)", "N", low=0, high=MAX_SEED)
    strata: tuple[str, ...] = asked(
        (),
        "shuffle profiles only among raters with the same values here; "
        f"{WORKLOAD} stands for bins of raters by number of annotations",
        "COLUMN,...",
        flag="within",
    )
    p_value: PValue = asked("two-sided", "kind of p-value (default: two-sided)")
    cross_negentropy: CrossNegentropy = asked(
        "smooth", "treatment of labels that the others never gave (default: smooth)"
    )
    ties: Ties = asked("random", "choice among equally frequent labels of an item (default: random)")
    correction: Correction = asked(
        "benjamini-hochberg", "correction of p for many tests (default: benjamini-hochberg)"
    )
    family: Family = asked("statistic", "tests that are corrected together (default: statistic)")
    level: Level = asked("nominal", "level of measurement of the labels (default: nominal)")
    adaptive: bool = asked(
        False,
        "stop permutations once all marks are settled; their number is then the limit, by default "
        f"{ADAPTIVE_PERMUTATIONS:,}",
    )
    interval: IntervalTarget = asked(
        "both", "intervals for other raters and items, or for one of the two (default: both)"
    )
    pairs: bool = asked(
        False, "compare the groups of each axis two by two, too (default: unless it takes long)"
    )
    slices: tuple[str, ...] = asked(
        (),
        "repeat all groups on the items of each value of this column, in the annotations or --items",
        "COLUMN",
        flag="slice",
        each=True,
    )
    given: tuple[str, ...] = asked(
        (),
        "test the other axes once more, with profiles also shuffled within the values of this axis",
        "COLUMN",
        each=True,
        added=True,
    )
    cluster: str | None = asked(
        None, "move the profiles of whole teams, batches or vendors together", "COLUMN", added=True
    )
    tail: bool = asked(
        False,
        "take a p that fewer than 10 permutations reach from a curve through the tail, marked as fitted",
        added=True,
    )
    voting_agreement: VotingAgreement = asked(
        "alpha", "coefficient of agreement between majority labels (default: alpha)", added=True
    )

    def __post_init__(self) -> None:
        for axes in self.axes:
            check_texts("`axes`", axes)
        check_texts("`gai`", self.gai)
        held: tuple[str, ...] = self.gai
        if len(held) != 2:
            raise SpecError(f"`gai` must hold 2 texts; found {held!r}")
        check(self, AnalysisSpec._wrong)
        # Each list in one order, so that equal specs have equal hashes.
        object.__setattr__(self, "strata", tuple(sorted(self.strata)))
        object.__setattr__(self, "statistics", tuple(name for name in TABLE if name in self.statistics))

    def _wrong(self) -> Iterator[Wrong]:
        """Yield the faults of lists and of combinations of fields."""
        if not all(self.axes):
            yield ("axes",), "an intersection needs at least one axis; leave an empty one out"
        if not self.axes and (self.given or self.strata or self.cluster is not None):
            why = "choose at least one demographic axis: without any, nothing is shuffled"
            yield ("axes", "given", "strata", "cluster"), why
        if len({frozenset(axes) for axes in self.axes}) != len(self.axes):
            yield ("axes",), "an axis or intersection is named twice"
        for axes in self.axes:
            yield from twice("axes", axes, "an axis", f"the intersection {' x '.join(axes)}")
        unknown = [name for name in self.statistics if name not in TABLE]
        yield from twice("statistics", self.statistics, "one")
        if unknown or not self.statistics:
            known = ", ".join(TABLE)
            yield ("statistics",), f"statistics must be some of {known}; found {unknown or 'none'}"
        if self.gai[0] not in IN_GROUP or self.gai[1] not in CROSS_GROUP:
            sides = f"{', '.join(IN_GROUP)} over one of {', '.join(CROSS_GROUP)}"
            yield ("gai",), f"GAI is one of {sides}; found {' over '.join(self.gai)}"
        yield from twice("slices", self.slices, "a column")
        yield from twice("given", self.given, "an axis")
        yield from twice("strata", self.strata, "an axis")
        if self.cluster is not None and WORKLOAD in self.strata:
            why = "bins of workload would cut clusters apart; leave one of the two out"
            yield ("cluster", "strata"), why
        if self.cluster in self.strata:
            why = f"{self.cluster} cannot be stratum and cluster at once: nothing could move"
            yield ("cluster", "strata"), why
        if self.tail and self.p_value == "paper":
            why = "the paper's p-values are counted; for a curve through the tail take two-sided ones"
            yield ("tail", "p_value"), why

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
    """The source of a model's labels.

    `sha256`: hash of the file.
    `column`: column of the annotations file; None if the file contains only this model's labels.
    """

    name: str
    sha256: str
    column: str | None = None

    def __post_init__(self) -> None:
        check_texts("`models`", (self.name, self.sha256, *(() if self.column is None else (self.column,))))


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
    """Data spec and analysis spec together; the hash is part of a result's identity.

    With `models`, the run compares these with the groups; without models, it computes cohesion.
    """

    data: DataSpec
    analysis: AnalysisSpec
    version: int = field(default=SPEC_VERSION)
    models: tuple[ModelSource, ...] = field(default=(), metadata=ADDED)

    def __post_init__(self) -> None:
        analysis = self.analysis
        refused = {
            "models are compared with the groups on all items; run slices without models": analysis.slices,
            "models are compared with all groups at once; leave `given` out": analysis.given,
            one_question(self.data.labels, WHICH_LABEL): self.data.further,
            "models are compared with groups, not with pairs of them; leave `pairs` out": analysis.pairs,
            "p-values of models are counted; leave `tail` out": analysis.tail,
        }
        wrong = [((), why) for why, is_asked in refused.items() if self.models and is_asked]
        if self.data.further and analysis.level != "nominal":
            why = "several questions are held together by whether answers are equal, which is level nominal;"
            wrong.append(((), f"{why} for level {analysis.level} run each question by itself"))
        refuse(wrong)

    def to_dict(self) -> dict[str, Any]:
        """JSON-ready form; :meth:`from_dict` reads it back."""
        plain: dict[str, Any] = to_json(self)
        return plain

    @classmethod
    def from_dict(cls, plain: Any) -> RunSpec:
        """Read :meth:`to_dict`'s form."""
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
        if len(strata) < 2:  # the form of versions with one stratum at most
            plain["analysis"]["strata"] = strata[0] if strata else None
        text = json.dumps(plain, sort_keys=True, separators=(",", ":"), ensure_ascii=True)
        return hashlib.sha256(text.encode()).hexdigest()


def _of_version(plain: dict[str, Any]) -> dict[str, Any]:
    if plain.get("version") not in _READ:
        raise SpecError(_NO_SPEC)
    return {**plain, "version": SPEC_VERSION}


def _of_one_stratum(plain: dict[str, Any]) -> dict[str, Any]:
    """Read `strata` as earlier versions wrote it: the name of one axis, or null."""
    strata = plain.get("strata", ())
    if strata is None or isinstance(strata, str):
        strata = () if strata is None else (strata,)
    return {**plain, "strata": strata}


in_file(RunSpec, dict, _of_version)
in_file(AnalysisSpec, dict, _of_one_stratum)
