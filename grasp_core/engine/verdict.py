"""Verdicts over a whole run: whether they need more permutations, and which groups explain others."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from grasp_core.analysis.cohesion.panel import Cohesion
from grasp_core.analysis.cohesion.verdict import Joint, hypotheses, joint_tests
from grasp_core.analysis.pairs.columns import only_raters
from grasp_core.analysis.panel import Judged, Panel
from grasp_core.engine.run import Prepared, verdicts
from grasp_core.model.annotations import BoolArray
from grasp_core.model.groups import AxisSet, Group, Grouping
from grasp_core.model.result import GroupResult, RunResult
from grasp_core.model.spec import LEVEL, AnalysisSpec
from grasp_core.model.verdict import FEWEST_CLEAR
from grasp_core.permutation.nulls.tally import Tally
from grasp_core.permutation.testing.attainable import Symmetry

MOST_ROUNDS = 5
"""How often raters of a clear group are left out and the other clear ones are tested again."""

Permute = Callable[[Cohesion, AnalysisSpec, int], Tally]
"""Computes the permutations of a panel that has so many annotations."""


def verdict_open(prepared: Prepared, tally: Tally) -> bool:
    """Whether a run that may stop early has to go on with all groups for the sake of its verdicts.

    It has, while values are kept, until there are enough permutations for a clear group, and while a group's
    q is below the level and its Monte-Carlo bound is not.
    """
    if not isinstance(prepared.panel, Cohesion):
        return False
    if too_few_for_verdicts(prepared.panel, tally):
        return True
    if not tally.active.all() or tally.n_together == tally.most_kept:
        return False
    return any(one.q < LEVEL <= one.bound for one in verdicts(prepared, tally))


def too_few_for_verdicts(panel: Panel, tally: Tally) -> bool:
    """Whether a run that may stop early has too few permutations yet for anything of a panel to be clear."""
    if not isinstance(panel, Judged) or not tally.active.all():
        return False
    return tally.n_together < min(FEWEST_CLEAR, tally.most_kept)


class _Standing(NamedTuple):
    """A hypothesis that still holds: its groups, by their places in the run, and how strong it is."""

    groups: tuple[int, ...]
    p: float
    strength: float


def explained(result: RunResult, prepared: Prepared, permutations: int, permute: Permute) -> RunResult:
    """The result in which clear groups that another one explains are told so.

    The strongest stays; its raters, of an axis of two groups those of the smaller one, are left out, and the
    others are tested again on the rest, by permutations with the same seed. So on with the strongest of those
    that hold there. The others are explained by the group left out so far that has most of their raters.

    Parameters
    ----------
    result : RunResult
        With verdicts.
    permutations : int
        As many as the verdicts are of.
    """
    grouping, by = prepared.grouping, dict[int, Group]()
    standing = [
        _Standing(groups, verdict.p, verdict.strength)
        for groups in hypotheses(grouping)
        for verdict in [result.groups[groups[0]].verdict]
        if verdict is not None
        and verdict.code == "clear"
        and verdict.p is not None
        and verdict.strength is not None
    ]
    kept, out = np.ones(grouping.member.shape[1], np.bool_), list[int]()
    for _ in range(MOST_ROUNDS):
        if len(standing) < 2:
            break
        strongest = min(standing, key=lambda one: _rank(one, grouping))
        smaller = min(strongest.groups, key=lambda g: (int(grouping.n_raters[g]), grouping.groups[g].values))
        kept &= ~grouping.member[smaller]
        others = [one.groups for one in standing if one is not strongest]
        tested = _on_rest(others, prepared, kept, permutations, permute)
        standing = [_Standing(one.groups, one.p, one.strength) for one in tested if _holds(one)]
        holding = {one.groups for one in standing}
        out.append(smaller)
        for groups in (one for one in others if one not in holding):
            most = max(out[::-1], key=lambda h: int((grouping.member[h] & grouping.member[groups[0]]).sum()))
            by |= dict.fromkeys(groups, grouping.groups[most])
    return replace(result, groups=tuple(_told(row, by.get(g)) for g, row in enumerate(result.groups)))


def _rank(
    one: _Standing, grouping: Grouping
) -> tuple[float, float, int, list[tuple[AxisSet, tuple[str, ...]]]]:
    """The strongest first: by p, distance from chance, size; names decide what is equal still."""
    raters = int(grouping.n_raters[list(one.groups)].sum())
    return (
        one.p,
        -one.strength,
        -raters,
        [(group.axes, group.values) for group in _named(one.groups, grouping)],
    )


def _named(groups: Sequence[int], grouping: Grouping) -> list[Group]:
    return [grouping.groups[g] for g in groups]


def _told(row: GroupResult, by: Group | None) -> GroupResult:
    if by is None or row.verdict is None:
        return row
    return replace(row, verdict=replace(row.verdict, code="explained", by=by))


def _holds(one: Joint) -> bool:
    return one.why is None and one.p < LEVEL


def _on_rest(
    asked: Sequence[tuple[int, ...]],
    prepared: Prepared,
    kept: BoolArray,
    permutations: int,
    permute: Permute,
) -> list[Joint]:
    """Hypotheses tested on the raters who are kept; without those that lost all raters of a side."""
    grouping = prepared.grouping
    member: BoolArray = np.logical_and(grouping.member, kept)
    known: BoolArray = np.logical_and(grouping.known, kept)
    others: BoolArray = np.logical_and(known[grouping.known_of], ~member)
    left = [g for g in asked if (member[list(g)].any(axis=1) & others[list(g)].any(axis=1)).all()]
    if not left:
        return []
    chosen = [g for groups in left for g in groups]
    rest = Grouping(
        tuple(_named(chosen, grouping)), member[chosen][:, kept], known[:, kept], grouping.known_of[chosen]
    )
    analysis = replace(prepared.spec.analysis, permutations=permutations, adaptive=False, tail=False)
    first, *further = only_raters(prepared.dataset.questions, kept)
    dataset = replace(
        prepared.dataset,
        annotations=first,
        further=tuple(further),
        raters=prepared.dataset.raters.some(kept),
        models=(),
        attributes={},
    )
    panel = Cohesion.of(dataset, rest, analysis)
    tally = permute(panel, analysis, sum(one.n_annotations for one in dataset.questions))
    place = {g: k for k, g in enumerate(chosen)}
    asked_here = [tuple(place[g] for g in groups) for groups in left]
    like = Symmetry.of(dataset.raters, rest, analysis).like.tolist()
    tested = joint_tests(tally.together, asked_here, like, {})
    return [one._replace(groups=tuple(chosen[k] for k in one.groups)) for one in tested]
