"""Plans as immutable values, their file form, and whether people without an account may see them."""

from dataclasses import dataclass, field
from typing import Any, Literal, get_args

from grasp_core.analysis.small_groups import LEAST, some_hidden
from grasp_core.model.errors import SpecError
from grasp_core.model.groups import Group
from grasp_core.model.json_values import ADDED, closed, to_json
from grasp_core.model.remarks.remark import Remark
from grasp_core.model.result import Result
from grasp_core.model.spec import MAX_SEED, Level
from grasp_core.model.text import listed
from grasp_core.version import __version__

FORMAT = "grasp-plan"
FORMAT_VERSION = 1

Target = Literal["labels", "distance", "gap", "gai", "dsi"]
"""The tested value: a group's label use, distance, gap or GAI, or the DSI of its axis."""
GOALS = (0.5, 0.8, 0.9, 0.95)
"""Chances of finding the difference that may be asked for."""
LINES = (0.5, 0.8, 0.95)
MOST_LABELS = 20
MOST = 100_000
"""Most raters, and most items, that are planned for."""


@dataclass(frozen=True, slots=True)
class Assumed:
    """An assumed task, for plans without data; `agreement` is the IRR among raters of one group."""

    labels: int = 2
    agreement: float = 0.4

    def __post_init__(self) -> None:
        if not 2 <= self.labels <= MOST_LABELS:
            raise SpecError(f"a plan takes 2 to {MOST_LABELS} labels; found {self.labels}")
        if not 0.02 <= self.agreement <= 0.9:
            raise SpecError(f"the agreement assumed is an IRR between 0.02 and 0.9; found {self.agreement:g}")


@closed
@dataclass(frozen=True, slots=True)
class PlanSpec:
    """Settings of a plan.

    `share`: the group's share of the raters.
    `raters`, `items`: fewest and most on the surface.
    `size`: size of the difference: points for labels, else the value of the statistic. None: as in the pilot.
    `label`: the label whose points are meant; None: the label that the pilot's group uses most differently,
        or the first.
    `each`: number of labels that every item gets; None: one from every rater.
    `goal`: chance of finding the difference, one of :data:`GOALS`.
    `per_annotation`, `per_rater`: cost of an annotation, and of recruiting a rater.
    """

    target: Target
    share: float
    raters: tuple[int, int]
    items: tuple[int, int]
    size: float | None = None
    label: str | None = None
    each: int | None = None
    goal: float = 0.8
    per_annotation: float = 1.0
    per_rater: float = 0.0
    level: Level = "nominal"
    assumed: Assumed | None = None
    seed: int = 1

    def __post_init__(self) -> None:
        if self.target not in get_args(Target):
            raise SpecError(f"a plan is of {listed(get_args(Target))}; found {self.target!r}")
        if self.goal not in GOALS:
            raise SpecError(f"the goal is a chance of {listed([f'{goal:g}' for goal in GOALS])}")
        if not 0.01 <= self.share <= 0.99:
            raise SpecError(
                f"the group's share of the raters lies between 0.01 and 0.99; found {self.share:g}"
            )
        _range("raters", self.raters)
        _range("items", self.items)
        if self.each is not None and not 2 <= self.each <= self.raters[0]:
            raise SpecError(
                f"labels an item are 2 to {self.raters[0]:,}, the fewest raters of the plan; "
                f"found {self.each:,}"
            )
        if self.n_group(self.raters[0]) < 2 or self.raters[0] - self.n_group(self.raters[0]) < 2:
            raise SpecError(
                f"of {self.raters[0]:,} raters a share of {self.share:g} leaves fewer than 2 on one side; "
                "begin with more raters"
            )
        if min(self.per_annotation, self.per_rater) < 0 or self.per_annotation + self.per_rater == 0:
            raise SpecError("costs are not below 0, and one of them is above")
        if self.assumed is not None and self.size is None:
            raise SpecError("without a pilot the size of the difference has to be said")
        if not 0 <= self.seed <= MAX_SEED:
            raise SpecError(f"the seed is a whole number from 0 to {MAX_SEED}; found {self.seed}")

    def n_group(self, raters: int) -> int:
        """Return the number of raters of the group, given the number in all."""
        return round(self.share * raters)

    def annotations(self, raters: float, items: float) -> float:
        """Return the number of annotations of a design."""
        return items * (raters if self.each is None else self.each)


def _range(name: str, given: tuple[int, int]) -> None:
    low, high = given
    if not 4 <= low < high <= MOST:
        raise SpecError(f"{name} range from 4 or more up to at most {MOST:,}; found {low:,} to {high:,}")


@dataclass(frozen=True, slots=True)
class Cell:
    """Number of simulated data sets of one design, and of those in which the difference was found."""

    raters: int
    items: int
    sets: int
    hits: int


@dataclass(frozen=True, slots=True)
class ChanceFit:
    """The chance of finding the difference as a function of raters and annotations.

    `signal`: x, as in :func:`~grasp_core.analysis.planner.sample_size.chance`, of one design.
    `of_raters`: share of that design's noise that more annotations do not reduce.
    `steep`: x is proportional to the noise to the power -`steep`.
    `uneven`: variation of the difference itself between data sets.
    `raters`, `annotations`: the design whose x is `signal`.
    `miss`: mean distance between the simulated shares and the fitted ones.
    """

    signal: float
    of_raters: float
    steep: float
    uneven: float
    raters: float
    annotations: float
    two_sided: bool
    miss: float


@dataclass(frozen=True, slots=True)
class Sizes:
    """The planned difference in every measure; the number of raters and items does not change it.

    `points` are those of `label`; `within` is the group's IRR, `agreement` that of the others; `gai` is None
    if the group and the others do not agree with each other at all.
    """

    label: str
    points: float
    distance: float
    within: float
    gap: float
    gai: float | None
    agreement: float


@dataclass(frozen=True, slots=True)
class Have:
    """A group of the axis, with its number of raters in the pilot; the plan is for the `chosen` one."""

    name: str
    n_raters: int
    chosen: bool


@dataclass(frozen=True, slots=True)
class Plan:
    """Chances of finding a difference, by raters and items.

    `factors`: x may differ by these factors from the pilot's: 10 % and 90 % quantiles over pilots of its
        size. None without a pilot, before they are known, or if too few pilots can have the difference.
    `pilot`: its numbers of raters, items and annotations.
    `done`, `total`: number of data sets simulated so far, and in all.
    """

    spec: PlanSpec
    group: Group | None
    have: tuple[Have, ...]
    sizes: Sizes
    cells: tuple[Cell, ...]
    fit: ChanceFit
    factors: tuple[float, float] | None
    pilot: tuple[int, int, int] | None
    done: int
    total: int
    warnings: tuple[Remark, ...] = field(default=(), metadata=ADDED)

    @property
    def whole(self) -> bool:
        """True if all data sets have been simulated."""
        return self.done >= self.total


def plan_dict(plan: Plan) -> dict[str, Any]:
    """Return the plan's file form."""
    return {"format": FORMAT, "version": FORMAT_VERSION, "code_version": __version__, "plan": to_json(plan)}


def of_large_groups(plan: Plan, result: Result) -> bool:
    """Return whether a plan, which lists all groups of its axis, reveals no small one."""
    return not some_hidden(result) and all(one.n_raters >= LEAST for one in plan.have)
