"""Verdicts over a whole run, and the differences that the run could have found."""

import copy
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np
import scipy  # its optimize takes a while to load, and is when it is first used
from scipy.special import expit, logit, ndtr, ndtri

from grasp_core.analysis.cohesion.combined_test import (
    Joint,
    Regroupings,
    UncorrectedTests,
    corrected,
    hypotheses,
    joint_tests,
    uncorrected_tests,
)
from grasp_core.analysis.cohesion.panel import Cohesion
from grasp_core.analysis.pairs import only_raters
from grasp_core.analysis.panel import Panel, VerdictPanel
from grasp_core.engine.pools.pool import Pool
from grasp_core.engine.run import Prepared, uncorrected_verdicts
from grasp_core.model.annotations import Annotations, BoolArray, FloatArray
from grasp_core.model.groups import AxisSet, Group, Grouping
from grasp_core.model.outcome import FEWEST_CLEAR
from grasp_core.model.result import Findable, RunResult
from grasp_core.model.spec import LEVEL, AnalysisSpec
from grasp_core.permutation.draw import exchange_of, permutation
from grasp_core.permutation.testing.corrections import MISS, share_interval
from grasp_core.permutation.testing.tail import Shuffles, Symmetry
from grasp_core.permutation.testing.tally import Tally
from grasp_core.reading.dataset.load import Dataset

MOST_ROUNDS = 5
"""Most rounds in which raters of a clear group are left out and the other clear ones are tested again."""

Permute = Callable[[Cohesion, AnalysisSpec, int], Tally]
"""Computes the permutations of a panel, given its number of annotations."""


def verdict_open(prepared: Prepared, tally: Tally) -> bool:
    """Return whether an adaptive run must continue with all groups because of its verdicts.

    While values are kept, it must, until there are enough permutations for a clear group, and as long as a
    group's q is below the level and its Monte-Carlo bound is not.
    """
    if not isinstance(prepared.panel, Cohesion):
        return False
    if too_few_for_verdicts(prepared.panel, tally):
        return True
    if not tally.active.all() or tally.n_complete == tally.most_kept:
        return False
    return any(one.q < LEVEL <= one.bound for one in corrected([uncorrected_verdicts(prepared, tally)]))


def too_few_for_verdicts(panel: Panel, tally: Tally) -> bool:
    """Return whether an adaptive run has too few permutations yet for a clear verdict of the panel."""
    if not isinstance(panel, VerdictPanel) or not tally.active.all():
        return False
    return tally.n_complete < min(FEWEST_CLEAR, tally.most_kept)


class _Standing(NamedTuple):
    """A hypothesis that is still significant: its groups, as indices in the run, and its strength."""

    groups: tuple[int, ...]
    p: float
    strength: float


def explained(result: RunResult, prepared: Prepared, permutations: int, permute: Permute) -> RunResult:
    """Mark the clear groups of a result that another clear group explains.

    The strongest group stays clear. Without its raters (of an axis of two groups, the smaller group's), the
    others are tested again, by permutations with the same seed. A group that is then not significant is
    explained by the group left out so far with most of its raters. The strongest of the rest is next.
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

    def rank(one: _Standing) -> tuple[float, float, int, list[tuple[AxisSet, tuple[str, ...]]]]:
        """Sort the strongest first: by p, distance from chance and size, and equal ones by their names."""
        names = [(group.axes, group.values) for group in _named(one.groups, grouping)]
        return one.p, -one.strength, -int(grouping.n_raters[list(one.groups)].sum()), names

    kept, out = np.ones(grouping.member.shape[1], np.bool_), list[int]()
    for _ in range(MOST_ROUNDS):
        if len(standing) < 2:
            break
        strongest = min(standing, key=rank)
        smaller = min(strongest.groups, key=lambda g: (int(grouping.n_raters[g]), grouping.groups[g].values))
        kept &= ~grouping.member[smaller]
        others = [one.groups for one in standing if one is not strongest]
        tested = _on_rest(others, prepared, kept, permutations, permute)
        standing = [
            _Standing(one.groups, one.p, one.strength) for one in tested if one.why is None and one.p < LEVEL
        ]
        holding = {one.groups for one in standing}
        out.append(smaller)
        for groups in (one for one in others if one not in holding):
            most = max(out[::-1], key=lambda h: int((grouping.member[h] & grouping.member[groups[0]]).sum()))
            by |= dict.fromkeys(groups, grouping.groups[most])
    rows = list(result.groups)
    for g, group in by.items():
        if (verdict := rows[g].verdict) is not None:
            rows[g] = replace(rows[g], verdict=replace(verdict, code="explained", by=group))
    return replace(result, groups=tuple(rows))


def _named(groups: Sequence[int], grouping: Grouping) -> list[Group]:
    return [grouping.groups[g] for g in groups]


def _on_rest(
    asked: Sequence[tuple[int, ...]], prepared: Prepared, kept: BoolArray, permutations: int, permute: Permute
) -> list[Joint]:
    """Test hypotheses on the raters who are kept; leave out hypotheses that lost all raters of a side."""
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
        batches={},
    )
    panel = Cohesion(dataset, rest, analysis)
    tally = permute(panel, analysis, sum(one.n_annotations for one in dataset.questions))
    place = {g: k for k, g in enumerate(chosen)}
    asked_here = [tuple(place[g] for g in groups) for groups in left]
    like = Symmetry.of(dataset.raters, rest, analysis).like.tolist()
    regroupings = Regroupings(rest, Shuffles.of(dataset.raters, rest, analysis), analysis.seed)
    tested = joint_tests(tally.verdict_values, asked_here, like, {}, regroupings.of)
    return [one._replace(groups=tuple(chosen[k] for k in one.groups)) for one in tested]


POWER = 0.8
SETS = (10, 40)
"""Planted data sets of each shift: first to find the shift roughly, then to measure it."""
_ABOUT, _NEAR = (0.5, 0.75, 1.0, 1.5, 2.25), (0.8, 1.0, 1.25)
"""Shifts that are planted, in multiples of the estimate so far."""
PERMUTATIONS = 999
"""Permutations of the one group with which planted data sets are compared."""
MOST_ANNOTATIONS = 200_000
"""Most annotations of data in which shifts are planted."""
_MOST_OF_REST = 0.8
"""Largest share of the other labels that is changed into the label."""
_EXPECTED = 5.0
"""Number of annotations that a rater is assumed to have given as the items suggest."""
_SEED = 5


def findable(prepared: Prepared, tally: Tally, pool: Pool, check: Callable[[], None]) -> tuple[Findable, ...]:
    """Return the shifts that could have been found for the smallest and largest group with a verdict.

    One worker computes each; `check` is called meanwhile, and an exception from it ends the work. Empty with
    more than 200,000 annotations, and with fewer than 3,000 permutations, as nothing is clear then.
    """
    dataset, grouping = prepared.dataset, prepared.grouping
    if not isinstance(prepared.panel, Cohesion):
        return ()
    size = sum(one.n_annotations for one in dataset.questions)
    if size > MOST_ANNOTATIONS or tally.n_complete < FEWEST_CLEAR or not prepared.panel.places.n_labels:
        return ()
    tested = uncorrected_verdicts(prepared, tally)
    known = [one.groups for one in tested.found if one.why is None]
    if not known:
        return ()
    limit = _limit(tested)
    by_size = sorted(known, key=lambda groups: (int(grouping.n_raters[groups[0]]), groups))
    ends = list(dict.fromkeys((by_size[0], by_size[-1])))
    asked = [(dataset, grouping.some(groups), prepared.spec.analysis, limit) for groups in ends]
    shifts = zip(ends, pool.each(_needed, asked, check=check), strict=True)
    return tuple(
        Findable(int(grouping.n_raters[groups[0]]), shift) for groups, shift in shifts if shift is not None
    )


def _needed(asked: tuple[Dataset, Grouping, AnalysisSpec, float]) -> float | None:
    return _Planting(*asked).needed()


def _limit(tested: UncorrectedTests) -> float:
    """Return the largest p* with which a lone group is clear: few permutations have a smaller one."""
    counts = np.sort(np.stack(tested.reached)[:, 1:].min(axis=0))
    n = counts.size
    most = next(k for k in range(int(LEVEL * n), -1, -1) if share_interval(k, n, MISS)[1] < LEVEL or k == 0)
    return (int(counts[most]) - 1) / (n + 1)


class _Planting:
    """A group, or both groups of an axis, in whose place shifts are planted."""

    def __init__(self, dataset: Dataset, grouping: Grouping, analysis: AnalysisSpec, limit: float) -> None:
        self._dataset, self._grouping, self._limit = dataset, grouping, limit
        self._analysis = replace(analysis, tail=False)
        self._exchange = exchange_of(dataset.raters, analysis)
        self._like = Symmetry.of(dataset.raters, grouping, analysis).like.tolist()
        first = dataset.questions[0]
        shares = np.bincount(first.category, minlength=first.n_categories) / max(first.n_annotations, 1)
        self._label = int(np.argmax(np.where(shares <= 0.5, shares, -1.0)))
        self._most = _MOST_OF_REST * (1 - float(shares[self._label]))
        self._odds = odds_of(first, self._label)
        self._drawn = 0

    def needed(self) -> float | None:
        """Return the shift that is found in four of five sets, as a share; None if no shift is."""
        panel, null = self._null(self._dataset, self._grouping)
        spread = float(null[:, panel.places.labels(0)[self._label]].std())
        about = spread * float(ndtri(POWER) - ndtri(max(self._limit, 1e-4) / 2))
        shift = self._reached([about * part for part in _ABOUT], SETS[0], panel, null)
        if shift is None:
            return None
        # If some raters are shifted, raters spread more, and so do their permutations.
        planted, grouping = self._planted(shift)
        panel, null = self._null(planted, grouping)
        return self._reached([shift * part for part in _NEAR], SETS[1], panel, null)

    def _null(self, dataset: Dataset, grouping: Grouping) -> tuple[Cohesion, FloatArray]:
        panel = Cohesion(dataset, grouping, self._analysis)
        work = panel.work(np.ones(len(grouping.groups), np.bool_))
        return panel, panel.columns(work.shuffled(self._analysis.seed, 0, PERMUTATIONS))

    def _reached(self, shifts: Sequence[float], sets: int, panel: Cohesion, null: FloatArray) -> float | None:
        """Return the shift that is found in four of five sets, by a curve through the hits of each shift."""
        planted = sorted({min(shift, self._most) for shift in shifts})
        hits = [sum(self._finds(shift, panel, null) for _ in range(sets)) for shift in planted]
        found = shift_of(np.array(planted), np.array(hits), sets)
        return found if found is not None and found <= self._most else None

    def _finds(self, shift: float, panel: Cohesion, null: FloatArray) -> bool:
        dataset, grouping = self._planted(shift)
        held = copy.copy(panel)
        held.observed = Cohesion(dataset, grouping, self._analysis).observed
        groups = tuple(range(len(grouping.groups)))
        (one,) = uncorrected_tests(held.verdict_values(null), [groups], self._like, {}).found
        return one.why is None and one.p <= self._limit

    def _planted(self, shift: float) -> tuple[Dataset, Grouping]:
        """Return the data with a shift of a group that is drawn at random."""
        number = self._drawn
        self._drawn += 1
        seed = self._analysis.seed + _SEED
        source = permutation(seed, number, *self._exchange)
        grouping = replace(self._grouping, member=self._grouping.member[:, source])
        grouping = replace(grouping, known=self._grouping.known[:, source])
        rng = np.random.default_rng([seed, number])
        first, *further = self._dataset.questions
        shifted = shifted_by(first, self._odds, grouping.member[0], self._label, shift, rng)
        dataset = replace(self._dataset, annotations=shifted, further=tuple(further))
        return dataset, grouping


def odds_of(annotations: Annotations, label: int) -> FloatArray:
    """Return the log odds that each annotation is the label, by its item and its rater, shape (A,).

    A rater's odds relative to the items' are estimated from all the rater's annotations and
    :data:`_EXPECTED` more, which are as the items suggest.
    """
    item, rater, labelled = annotations.item, annotations.rater, annotations.category == label
    given = np.bincount(item, labelled, minlength=annotations.n_items)
    share = (given + 0.5) / (np.diff(annotations.indptr) + 1)  # of each item
    n, yes, expected = (
        np.bincount(rater, of, minlength=annotations.n_raters) for of in (None, labelled, share[item])
    )
    usual = np.where(n > 0, expected / np.maximum(n, 1), 0.5)
    lean = np.log((yes + _EXPECTED * usual) / (n - yes + _EXPECTED * (1 - usual))) - logit(usual)
    return np.asarray(logit(share)[item] + lean[rater])


def shifted_by(
    annotations: Annotations,
    odds: FloatArray,
    inside: BoolArray,
    label: int,
    shift: float,
    rng: np.random.Generator,
) -> Annotations:
    """Return annotations in which raters `inside`, shape (J,), give a label more often by `shift` on average.

    The odds of the label, from :func:`odds_of`, rise by the same factor on each item and for each rater. So
    the label becomes more frequent on items that are open to it, and raters differ as much as before.
    """
    category, own = annotations.category.copy(), np.flatnonzero(inside[annotations.rater])
    odds = odds[own]
    now = float(expit(odds).mean())
    wanted = min(shift, 0.99 * (1 - now))
    factor = scipy.optimize.brentq(lambda one: float(expit(odds + one).mean()) - now - wanted, 0, 50)
    chance = (expit(odds + factor) - expit(odds)) / expit(-odds)
    category[own[rng.random(own.size) < chance]] = label
    category.setflags(write=False)
    return replace(annotations, category=category)


def shift_of(shifts: FloatArray, hits: FloatArray, sets: int) -> float | None:
    """Return the shift found in a share :data:`POWER` of sets, by a probit curve; None without one."""
    if hits.max() < sets / 2 or hits[-1] <= hits[0]:
        return None
    scale = float(shifts.mean())

    def unlikely(curve: FloatArray) -> float:
        chance = np.clip(ndtr(curve[0] + np.exp(curve[1]) * shifts / scale), 1e-6, 1 - 1e-6)
        return float(-(hits * np.log(chance) + (sets - hits) * np.log1p(-chance)).sum())

    start, rise = scipy.optimize.minimize(unlikely, np.array([-2.0, 1.0]), method="Nelder-Mead").x
    return float((ndtri(POWER) - start) / np.exp(rise) * scale)
