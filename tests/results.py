"""Hand-made results for tests: the paper's DICES-350 values with fabricated null distributions."""

import copy
import functools
import math
from collections.abc import Sequence
from dataclasses import replace
from itertools import pairwise
from typing import Any

from benchmarks.paper import TABLE_5
from grasp_core.model.data_spec import Combine, DataSpec, Filters, MapValues
from grasp_core.model.groups import Group
from grasp_core.model.outcome import (
    Histogram,
    Kind,
    LabelUse,
    Outcome,
    PairResult,
    Shift,
    Verdict,
    VerdictCode,
)
from grasp_core.model.remarks.remark import Remark, said
from grasp_core.model.result import (
    DataSummary,
    DsiResult,
    FileFingerprint,
    GroupResult,
    RunResult,
    SliceResult,
    SlicesResult,
    Timing,
)
from grasp_core.model.spec import STATISTICS, AnalysisSpec, RunSpec

RATERS = {
    "gen x+": 27, "gen z": 49, "millenial": 28, "Man": 49, "Woman": 55, "Asian": 21, "Black": 23,
    "Latine": 22, "Multiracial": 13, "White": 25, "Asian, Man": 11, "Asian, Woman": 10, "Black, Man": 9,
    "Black, Woman": 14, "Latine, Man": 9, "Latine, Woman": 13, "Multiracial, Man": 8,
    "Multiracial, Woman": 5, "White, Man": 12, "White, Woman": 13,
}  # fmt: skip
"""Raters per group, invented apart from their total of 104."""

_BINS = 60
PAPER_STATISTICS = STATISTICS[:7]
_PERMUTATIONS = 10_000
_REACH = {"": 0.9, "*": 2.3, "**": 3.8}
"""Standard deviations from the null's median to the value, per number of stars."""
_SPREAD = {"gai": 0.5, "voting_agreement": 0.4, "negentropy": 0.25, "cross_negentropy": 0.3}
_SIGNIFICANCE = {"": "none", "*": "nominal", "**": "corrected"}


def normal_histogram(centre: float, sd: float, *, total: int = _PERMUTATIONS) -> Histogram:
    """Counts of a normal distribution in 60 bins over four standard deviations either side."""
    return Histogram(centre - 4 * sd, centre + 4 * sd, _normal_counts(total))


@functools.cache
def _normal_counts(total: int) -> tuple[int, ...]:
    edges = [-4 + 8 * position / _BINS for position in range(_BINS + 1)]
    below = [0.5 * (1 + math.erf(edge / math.sqrt(2))) for edge in edges]
    return tuple(round(total * (high - low)) for low, high in pairwise(below))


def make_outcome(value: float, direction: str, stars: str = "", *, sd: float = 0.1) -> Outcome:
    """An outcome with a normal null whose distance from the value fits the stars."""
    sign = {"up": 1, "down": -1}[direction]
    centre = value - sign * _REACH[stars] * sd
    p = math.erfc(_REACH[stars] / math.sqrt(2))
    return Outcome(
        value=value,
        null_n=_PERMUTATIONS,
        null_median=centre,
        direction=direction,  # type: ignore[arg-type]
        p=p,
        q=min(1.0, 4 * p),
        significance=_SIGNIFICANCE[stars],  # type: ignore[arg-type]
        null=normal_histogram(centre, sd),
    )


def _paper_groups() -> tuple[GroupResult, ...]:
    groups = []
    for line in TABLE_5.splitlines():
        axis, name, *cells = line.split("|")
        raters = RATERS[name]
        statistics = {}
        for statistic, cell in zip(PAPER_STATISTICS, cells, strict=True):
            stars = cell[6:]
            direction = "up" if cell[5] == "+" else "down"
            sd = _SPREAD.get(statistic, 0.1) / math.sqrt(raters)
            statistics[statistic] = make_outcome(float(cell[:5]), direction, stars, sd=sd)
        group = Group(tuple(axis.split(", ")), tuple(name.split(", ")))
        groups.append(GroupResult(group, raters, raters * 350, statistics))
    return tuple(groups)


def _dsi(groups: tuple[GroupResult, ...]) -> tuple[DsiResult, ...]:
    best: dict[tuple[str, ...], GroupResult] = {}
    for row in groups:
        current = best.get(row.group.axes)
        value = row.statistics["gai"].value
        if value is not None and (current is None or value > (current.statistics["gai"].value or 0)):
            best[row.group.axes] = row
    return tuple(
        DsiResult(
            axes,
            row.group,
            row.statistics["gai"],
            row.statistics["gai"].p,
            row.statistics["gai"].significance,
        )
        for axes, row in best.items()
    )


def make_result(
    groups: tuple[GroupResult, ...] | None = None,
    *,
    dsi: tuple[DsiResult, ...] | None = None,
    warnings: tuple[str | Remark, ...] = (),
    **analysis: Any,
) -> RunResult:
    """A result with the given groups, by default the paper's 20 of DICES-350.

    `analysis` goes to :class:`AnalysisSpec`; axes follow from the groups, DSI from their GAI.
    """
    groups = _paper_groups() if groups is None else groups
    if dsi is None:
        dsi = _dsi(groups) if all("gai" in row.statistics for row in groups) else ()
    axes = tuple(dict.fromkeys(row.group.axes for row in groups)) or (("gender",),)
    spec = RunSpec(
        DataSpec(item="item_id", rater="rater_id", label="Q_overall"),
        AnalysisSpec(
            **{"axes": axes, "permutations": _PERMUTATIONS, "statistics": PAPER_STATISTICS, **analysis}
        ),
    )
    data = DataSummary(
        items=350,
        raters=104,
        annotations=36_400,
        categories=("No", "Yes", "Unsure"),
        label_counts=(24_000, 10_000, 2_400),
        raters_per_item=(104, 104.0, 104),
        sha256="0" * 64,
        files=(FileFingerprint("dices350.csv", 1_000, "0" * 64),),
    )
    return RunResult(
        data=data,
        spec=spec,
        groups=groups,
        dsi=dsi,
        warnings=tuple(said(one) if isinstance(one, str) else one for one in warnings),
        timing=Timing(0.1, 0.2, 3.0),
        code_version="0.1.0",
    )


def asked(result: RunResult, **fields: Any) -> RunResult:
    """The same result as if other fields of the analysis had been asked for."""
    return replace(result, spec=replace(result.spec, analysis=replace(result.spec.analysis, **fields)))


def make_label_use(points: dict[str, float], stars: str = "", *, sd: float = 4.0) -> LabelUse:
    """Label use of these percentage points, with intervals of two `sd` either side, also in points."""
    p = math.erfc(_REACH[stars] / math.sqrt(2))
    most = max(points, key=lambda label: abs(points[label]))
    return LabelUse(
        labels={
            label: Shift(
                value / 100,
                (value - 2 * sd) / 100,
                (value + 2 * sd) / 100,
                p=math.erfc(abs(value) / sd / math.sqrt(2)),
                null=normal_histogram(0, sd / 100) if label == most else None,
            )
            for label, value in points.items()
        },
        p=p,
        q=min(1.0, 4 * p),
        significance=_SIGNIFICANCE[stars],  # type: ignore[arg-type]
        most=most,
        target="both",
    )


def with_label_use(row: GroupResult, use: LabelUse) -> GroupResult:
    """The same group with its label use."""
    return replace(row, label_use=use)


def make_group(
    name: str = "Woman", axis: str = "gender", *, raters: int = 12, **outcomes: Outcome
) -> GroupResult:
    """A group of one axis with the given outcome per statistic."""
    return GroupResult(Group((axis,), (name,)), raters, raters * 350, outcomes)


def make_pair(
    a: str, b: str, axis: str = "race", *, use: LabelUse | None = None, raters: int = 9, **outcomes: Outcome
) -> PairResult:
    """A pair of groups of one axis."""
    return PairResult(Group((axis,), (a,)), Group((axis,), (b,)), raters, raters + 1, outcomes, use)


def with_pairs() -> RunResult:
    """A result in which Black raters say "Yes" more often than White ones, who differ from nobody else."""
    plain = {"xrr": make_outcome(0.16, "up"), "gap_a": make_outcome(0.02, "up")}
    plain |= {"gap_b": make_outcome(-0.01, "down"), "irr_difference": make_outcome(0.03, "up")}
    apart = plain | {
        "xrr": make_outcome(0.05, "down", "*"),
        "irr_difference": make_outcome(-0.1, "down", "*"),
    }
    telling = make_label_use({"No": -13.6, "Yes": 14.2, "Unsure": -0.6}, "**")
    quiet = make_label_use({"No": 1.0, "Yes": -1.5, "Unsure": 0.5})
    pairs = (
        make_pair("Asian", "Black", use=quiet, **plain),
        make_pair("Asian", "White", use=quiet, **plain),
        make_pair("Black", "White", use=telling, **apart),
    )
    return replace(make_result(), pairs=pairs)


def with_slices() -> RunResult:
    """A result sliced by topic: women stand out on news (20 items), nobody on sport (10 items)."""
    row = make_group("Woman", irr=make_outcome(0.4, "up", "**"))
    row = with_label_use(row, make_label_use({"No": -12.0, "Yes": 12.0}, "**"))
    quiet = with_label_use(
        make_group("Woman", irr=make_outcome(0.1, "down")), make_label_use({"No": 1.0, "Yes": -1.0})
    )
    values = (SliceResult("news", 20, 8, 160, (row,), ()), SliceResult("sport", 10, 8, 80, (quiet,), ()))
    whole = make_result((quiet,), dsi=(), statistics=("irr",))
    return replace(whole, slices=(SlicesResult("topic", 2, values),))


def label_use(
    value: float, significance: str = "corrected", *, sd: float = 0.03, label: str = "unsafe"
) -> LabelUse:
    """Label use with one label so much more often, its test as the significance says."""
    shift = Shift(value, value - 2 * sd, value + 2 * sd, 0.001, normal_histogram(0, sd))
    rest = Shift(-value, -value - 2 * sd, -value + 2 * sd, 0.001)
    q = {"corrected": 0.01, "nominal": 0.08, "none": 0.6}[significance]
    return LabelUse({label: shift, "safe": rest}, None, q / 5, q, significance, label, "both")  # type: ignore[arg-type]


def saying(name: str, value: float, significance: str = "corrected", **outcomes: Outcome) -> GroupResult:
    """A group of 14 that says "unsafe" so much more often than the others."""
    return replace(make_group(name, raters=14, **outcomes), label_use=label_use(value, significance))


def judged(row: GroupResult, code: VerdictCode, *kinds: Kind, **more: Any) -> GroupResult:
    """The same group with this verdict."""
    return replace(row, verdict=replace(Verdict(code, kinds, 0.0004, 0.006, 0.009, 5.0), **more))


def without_gai(row: GroupResult, reason: str) -> GroupResult:
    """The same group, its GAI not estimable."""
    return replace(row, statistics={**row.statistics, "gai": Outcome(None, reason=said(reason))})


def naming(data: DataSpec, who: str) -> DataSpec:
    """A reading that names a rater wherever one can."""
    return replace(
        data,
        ignore=(who,),
        exclude=(("id", who),),
        recode=(MapValues("id", ((who, "r1"),)), Combine((who,), ("Yes", "No"), "any")),
        filters=Filters(raters=(who,), items=(who,), drop=(("id", who),)),
        member=who,
        raters_member=who,
    )


def so_far(result: RunResult, permutations: int) -> RunResult:
    """The same while its run goes on: p and q with intervals, none of fewer than 100 permutations."""

    def of(outcome: Outcome) -> Outcome:
        if permutations < 100 or outcome.p is None or outcome.q is None:
            return Outcome(outcome.value, reason=outcome.reason, null_n=permutations)
        around = [(0.8 * value, min(1.2 * value + 0.01, 1.0)) for value in (outcome.p, outcome.q)]
        return replace(outcome, null_n=permutations, p_interval=around[0], q_interval=around[1])

    rows = (
        replace(row, statistics={name: of(one) for name, one in row.statistics.items()})
        for row in result.groups
    )
    own = {} if permutations >= 100 else {"p_group": None, "significance_group": "none"}
    dsi = tuple(replace(row, outcome=of(row.outcome), **own) for row in result.dsi)
    return replace(result, groups=tuple(rows), dsi=dsi, permutations_done=permutations)


GONE = object()


def changed(plain: Any, path: Sequence[str | int], value: object = GONE) -> Any:
    """Plain data as in a file, in which one place holds another value, or is gone."""
    broken = copy.deepcopy(plain)
    place = broken
    for step in path[:-1]:
        place = place[step]
    if value is GONE:
        del place[path[-1]]
    else:
        place[path[-1]] = value
    return broken
