"""Verdicts: combine the tests of each group, correct over all groups of the run, name how groups differ."""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from grasp_core.analysis.cohesion.columns import DISTANCE, GAI, Places
from grasp_core.model.annotations import FloatArray, Int64Array
from grasp_core.model.groups import AxisSet, Grouping
from grasp_core.model.outcome import FEWEST_CLEAR, Kind, Spread, Unequal, Untestable, Verdict, VerdictCode
from grasp_core.model.result import GroupResult
from grasp_core.model.spec import LEVEL, STATISTICS
from grasp_core.permutation.kernel.profiles import draw
from grasp_core.permutation.testing.corrections import Evidence, Test, combined, holding, p_of, step_down
from grasp_core.permutation.testing.p_values import FEWEST, TIE_TOLERANCE
from grasp_core.permutation.testing.tail import Shuffles

MOST_LOST = 0.01
"""Largest share of permutations that may lack a test's value if the test is to take part."""
_UNEQUAL: Mapping[str, Untestable] = {"items": "other-items", "workload": "other-workload"}
_GAP = STATISTICS.index("gap")
_VALUES = 4
_USE, _DISTANCE, GAI_AT, GAP_AT = range(_VALUES)


_FEW, _MOST_RATERS = 0.1, 1000
"""Most regroupings of a group that are tested exactly, as a share of the permutations, and most raters."""


class Regroupings(NamedTuple):
    """Drawn regroupings of a run's groups, so that each of few is tested once."""

    grouping: Grouping
    shuffles: Shuffles
    seed: int

    def of(self, g: int, permutations: int) -> Int64Array | None:
        """Number a group's regrouping in each row, (B + 1,), from 0; None unless there are few and all occur.

        Chance draws some regroupings more often than others, and so breaks ties of exact ranks.
        """
        ways = float(self.shuffles.log_regroupings[g])
        sides = self.grouping.member[g] + 2 * self.grouping.complement(g).astype(np.uint16)
        if ways > math.log(_FEW * permutations) or sides.size > _MOST_RATERS:
            return None
        drawn = np.empty((sides.size, permutations), sides.dtype)
        draw(np.uint64(self.seed), 0, *self.shuffles.exchange, sides, drawn)
        rows = np.concatenate([sides[:, None], drawn], axis=1).T
        _, first, found = np.unique(rows, axis=0, return_index=True, return_inverse=True)
        return np.argsort(np.argsort(first))[found.ravel()] if first.size == round(math.exp(ways)) else None


RegroupingOf = Callable[[int, int], Int64Array | None]
"""As :meth:`Regroupings.of`."""


class Joint(NamedTuple):
    """Outcome of one hypothesis: a group, or both groups of an axis that has only these two.

    `kinds`, `p`, `q`, `bound` and `strength` are as in :class:`~grasp_core.model.result.Verdict`; `why` is
    the reason if the hypothesis cannot be tested.
    """

    groups: tuple[int, ...]
    why: Untestable | None = None
    kinds: tuple[Kind, ...] = ()
    p: float = 1.0
    q: float = 1.0
    bound: float = 1.0
    strength: float = 0.0
    spread: Spread | None = None


class UncorrectedTests(NamedTuple):
    """Outcomes of all hypotheses, and counts, int32 (B + 1,), of those that can be tested."""

    found: list[Joint]
    reached: list[npt.NDArray[np.int32]]


def pick_verdict_values(
    shuffled: FloatArray, observed: FloatArray, places: Places, by_shares: Sequence[bool]
) -> FloatArray:
    """Pick what verdicts need: label use, distance, GAI, gap; shape (B + 1, G, 4), the observed first.

    `by_shares`, length G: True if the distance is that of shares, another question: it is then NaN.
    """
    found = np.full((len(shuffled) + 1, places.n_groups, _VALUES), np.nan)
    named = [*([places.label_use] if places.n_labels else []), DISTANCE, GAI, _GAP]
    for g in range(places.n_groups):
        columns = [places.column(g, place) for place in named]
        found[0, g, -len(named) :], found[1:, g, -len(named) :] = observed[columns], shuffled[:, columns]
        if by_shares[g]:
            found[:, g, _DISTANCE] = np.nan
    return found


def hypotheses(grouping: Grouping) -> list[tuple[int, ...]]:
    """Return one hypothesis per group; two groups of an axis that are each other's complement share one."""
    of_axis: dict[AxisSet, list[int]] = {}
    for g, group in enumerate(grouping.groups):
        of_axis.setdefault(group.axes, []).append(g)
    found: list[tuple[int, ...]] = []
    for groups in of_axis.values():
        halves = len(groups) == 2 and np.array_equal(
            grouping.member[groups[0]], grouping.complement(groups[1])
        )
        found += [tuple(groups)] if halves else [(g,) for g in groups]
    return found


def untestable(grouping: Grouping, log_regroupings: FloatArray, unequal: Unequal) -> dict[int, Untestable]:
    """Return the groups that shuffling cannot test, each with the reason.

    `log_regroupings`, shape (G,): from :func:`~grasp_core.permutation.testing.tail.log_regroupings`.
    """
    found: dict[int, Untestable] = {}
    for g, group in enumerate(grouping.groups):
        if log_regroupings[g] == 0:
            found[g] = "nothing-moves"
        elif math.exp(-log_regroupings[g]) > LEVEL - TIE_TOLERANCE:
            found[g] = "few-raters"
        elif group.axes in unequal:
            found[g] = _UNEQUAL[unequal[group.axes]]
    return found


def joint_tests(
    values: FloatArray,
    asked: Sequence[tuple[int, ...]],
    like: Sequence[int],
    untestable: Mapping[int, Untestable],
    regrouping: RegroupingOf = lambda _g, _n: None,
) -> list[Joint]:
    """Test hypotheses, and correct over all that can be tested; arguments as in :func:`uncorrected_tests`."""
    return corrected([uncorrected_tests(values, asked, like, untestable, regrouping=regrouping)])


def uncorrected_tests(
    values: FloatArray,
    asked: Sequence[tuple[int, ...]],
    like: Sequence[int],
    untestable: Mapping[int, Untestable],
    spread: Callable[..., Spread | None] | None = None,
    regrouping: RegroupingOf = lambda _g, _n: None,
) -> UncorrectedTests:
    """Test each hypothesis, without correction.

    `values`, shape (B + 1, G, 4): from :func:`pick_verdict_values`.
    `asked`: from :func:`hypotheses`.
    `like`, length G: :attr:`~grasp_core.permutation.testing.tail.Symmetry.like` of each group.
    `spread`: :class:`~grasp_core.analysis.cohesion.results.SpreadTest` of the same permutations; without it,
        spread is not tested.
    `regrouping`: :meth:`Regroupings.of` the same permutations; without it, no test is exact.

    Hypotheses are tested one after the other, so that memory beside the values is one whole number per
    hypothesis and permutation.
    """
    found: list[Joint] = []
    reached = []
    for groups in asked:
        why = next((untestable[g] for g in groups if g in untestable), None)
        if why is None and len(values) <= FEWEST:
            why = "few-permutations"
        of_row = None if why else regrouping(groups[0], len(values) - 1)
        drawn = values[:, list(groups)]
        if of_row is not None:
            drawn = drawn[np.unique(of_row, return_index=True)[1]]
        tests = [] if why else _taking_part(drawn)
        if not tests:
            found.append(Joint(groups, why or "not-estimable"))
            continue
        alike = len({like[g] for g in groups}) < len(groups)
        # If two groups have the same null distribution, each regrouping has a mirror that swaps them. The
        # values of both are ranked together: else chance would decide which mirrored value is more extreme.
        single: dict[Test, FloatArray] = {test: p_of(of) for test, of in tests if test != "cohesion"}
        cohesion = [of for test, of in tests if test == "cohesion"]
        if alike and cohesion:
            both = p_of(np.concatenate(cohesion), two_sided=True)
            parts = np.split(both, len(cohesion))
        else:
            parts = [p_of(of, two_sided=True) for of in cohesion]
        evidence = Evidence(single.get("label_use"), single.get("distance"), tuple(parts))
        whole = combined(evidence)
        p = int(whole[0]) / len(drawn)
        kinds = _kinds(evidence) if p < LEVEL else ()
        of_spread = spread(groups[0], alike=alike) if spread and p < LEVEL else None
        if of_spread is not None and of_spread.p < LEVEL:
            kinds = (*kinds, "spread")
        # Ranks cannot order groups that lie beyond all permutations, such as a group and a part of it.
        far = [(one[0] - np.nanmean(one)) / np.nanstd(one) for _, one in tests]
        strength = float(np.sqrt(sum(one**2 for one in far)))
        found.append(Joint(groups, None, kinds, p, strength=strength, spread=of_spread))
        if of_row is not None:
            whole = np.rint(whole[of_row] * (len(values) / len(drawn)))
        reached.append(whole.astype(np.int32))
    return UncorrectedTests(found, reached)


def corrected(of_panels: Sequence[UncorrectedTests]) -> list[Joint]:
    """Correct over all panels' hypotheses that can be tested, in order; permutations match by number."""
    found = [one for panel in of_panels for one in panel.found]
    reached = [one for panel in of_panels for one in panel.reached]
    if not reached:
        return found
    n = min(map(len, reached))
    down = step_down(np.stack([one[:n] for one in reached], axis=1))
    can_be_tested = (at for at, one in enumerate(found) if one.why is None)
    for at, q, bound in zip(can_be_tested, down.q.tolist(), down.bound.tolist(), strict=True):
        found[at] = found[at]._replace(q=q, bound=bound)
    return found


def _taking_part(values: FloatArray) -> list[tuple[Test, FloatArray]]:
    """The tests that can be estimated, with their values (N,); an axis of two groups has two of cohesion.

    `values`, shape (N, groups, 4): of one group, or of both halves of an axis.
    """
    # Both halves have one label use, up to its sign, and one distance.
    one_for_all: tuple[tuple[Test, int], ...] = (("label_use", _USE), ("distance", _DISTANCE))
    found = [(test, values[:, 0, place]) for test, place in one_for_all if _estimable(values[..., place])]
    place = GAI_AT if _estimable(values[..., GAI_AT]) else GAP_AT
    if _estimable(values[..., place]):
        found += [("cohesion", values[:, half, place]) for half in range(values.shape[1])]
    return found


def _estimable(values: FloatArray) -> bool:
    """Return whether values (N, groups) vary, and exist as observed and in nearly all permutations."""
    lost = np.isnan(values)
    if lost[0].any() or lost.mean(axis=0).max() > MOST_LOST:
        return False
    return bool((np.nanmax(values, axis=0) - np.nanmin(values, axis=0) > TIE_TOLERANCE).all())


def _kinds(evidence: Evidence) -> tuple[Kind, ...]:
    """Name how groups that answer differently differ; empty if closed testing names no test."""
    holds = holding(evidence)
    found: list[Kind] = []
    if "label_use" in holds:
        found.append("labels")
    elif "distance" in holds:
        found.append("items")
    return (*found, "cohesion") if "cohesion" in holds else tuple(found)


def with_verdicts(
    rows: Sequence[GroupResult], tested: Sequence[Joint], permutations: int
) -> tuple[GroupResult, ...]:
    """Return groups with their verdicts; none is marked as explained by another group yet."""
    found: dict[int, Verdict] = {}
    for one in tested:
        for g in one.groups:
            other = next((rows[h].group for h in one.groups if h != g), None)
            verdict = verdict_of(one, permutations)
            if verdict.spread is not None and g != one.groups[0]:
                verdict = replace(verdict, spread=Spread(1 / verdict.spread.ratio, verdict.spread.p))
            found[g] = replace(verdict, other=other)
    return tuple(replace(row, verdict=found[g]) for g, row in enumerate(rows))


def verdict_of(one: Joint, permutations: int) -> Verdict:
    """Return the verdict of a hypothesis after this number of permutations."""
    if one.why:
        return Verdict("untestable", why=one.why)
    clear = max(one.q, one.bound) < LEVEL and permutations >= FEWEST_CLEAR
    code: VerdictCode = "clear" if clear else "hint" if one.p < LEVEL else "none"
    return Verdict(code, one.kinds, one.p, one.q, one.bound, one.strength, spread=one.spread)
