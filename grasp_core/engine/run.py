"""One run: from a data set and a spec to a result. What is between `prepare` and `finish` may be split."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from grasp_core import __version__
from grasp_core.annotations import Codes, FloatArray
from grasp_core.engine.self_check import self_check
from grasp_core.errors import SpecError
from grasp_core.groups import Grouping, form_groups
from grasp_core.io.load import Dataset
from grasp_core.permutation import kernel, questions, reference
from grasp_core.permutation.columns import GAI
from grasp_core.permutation.corrections import fewest_permutations, largest_family
from grasp_core.permutation.null import dsi_results, outcomes
from grasp_core.permutation.questions import Layout
from grasp_core.permutation.shuffle import identity
from grasp_core.permutation.tally import KEPT, Tally
from grasp_core.report import cautions
from grasp_core.result import GroupResult, RunResult, Stopping, Timing
from grasp_core.spec import STATISTICS, AnalysisSpec, RunSpec
from grasp_core.statistics.indices import gai

MAX_NULL_BYTES = 4 * 2**30
"""Room for the shuffled values that a run keeps; beyond :data:`KEPT` permutations it keeps counts."""


@dataclass(frozen=True, slots=True, eq=False)
class Prepared:
    """A run whose observed statistics are known and whose permutations are still to be computed.

    Parameters
    ----------
    dataset, spec
        What is run.
    grouping : Grouping
    design : Design or Questions
        What a worker needs to compute any block of permutations.
    observed : float64 array, shape (G, 7)
        In the order of :data:`~grasp_core.spec.STATISTICS`.
    reasons : sequence of dict, length G
        Why a statistic of a group is not estimable.
    annotations_of : int array, shape (J,)
        Annotations of each rater.
    observed_s : float
        Seconds spent so far.
    """

    dataset: Dataset
    spec: RunSpec
    grouping: Grouping
    design: Layout
    observed: FloatArray
    reasons: Sequence[dict[str, str]]
    annotations_of: Codes
    observed_s: float


def prepare(dataset: Dataset, spec: RunSpec) -> Prepared:
    """Form the groups, compute the observed statistics and check them.

    Raises
    ------
    SpecError
        If an axis is not in the data, no group is large enough, or the shuffled values would not fit.
    SelfCheckError
        If an observed IRR differs from ``krippendorff.alpha`` by more than 1e-9.
    """
    started = time.perf_counter()
    analysis = spec.analysis
    grouping = checked_groups(dataset, analysis)
    design = questions.lay_out(dataset.questions, dataset.raters, grouping, analysis)
    parts = questions.observed_parts(design)
    for answers, one in zip(dataset.questions, parts, strict=True):
        self_check(answers, grouping, analysis.level, kernel.statistics(one)[:, 0])
    observed = with_gai(questions.together(parts), analysis)
    reasons = _reasons(dataset, grouping, analysis, observed)
    seconds = time.perf_counter() - started
    return Prepared(dataset, spec, grouping, design, observed, reasons, dataset.annotations_of, seconds)


def checked_groups(dataset: Dataset, analysis: AnalysisSpec) -> Grouping:
    """Form the groups of a run; errors are those of :func:`prepare`."""
    _check_axes(dataset, analysis)
    grouping = form_groups(dataset.raters, analysis.axes, min_raters=analysis.min_raters)
    _check_size(grouping, analysis)
    return grouping


def new_tally(prepared: Prepared) -> Tally:
    """A tally that takes the run's shuffled statistics, with GAI, and that :func:`finish` reads."""
    return Tally(prepared.grouping.groups, prepared.observed, prepared.spec.analysis)


def finish(
    prepared: Prepared,
    tally: Tally,
    *,
    load_s: float,
    permutations_s: float,
    stopping: Stopping | None = None,
) -> RunResult:
    """Test the observed statistics against the shuffled ones.

    Parameters
    ----------
    prepared : Prepared
    tally : Tally
        From :func:`new_tally`, with every permutation from 0 on.
    load_s, permutations_s : float
        Seconds, for the result's timing.
    stopping : Stopping, optional
        How an adaptive run ended.
    """
    analysis, grouping = prepared.spec.analysis, prepared.grouping
    rows = outcomes(grouping.groups, prepared.observed, tally.null, prepared.reasons, analysis)
    dsi = dsi_results(grouping.groups, prepared.observed[:, GAI], tally.null, rows, analysis)
    return RunResult(
        data=prepared.dataset.summary,
        spec=prepared.spec,
        groups=tuple(
            GroupResult(group, int(member.sum()), int(prepared.annotations_of[member].sum()), row)
            for group, member, row in zip(grouping.groups, grouping.member, rows, strict=True)
        ),
        dsi=dsi,
        warnings=tuple(_warnings(prepared, tally)),
        timing=Timing(load_s, prepared.observed_s, permutations_s),
        code_version=__version__,
        stopping=stopping,
    )


def with_gai(counted: FloatArray, analysis: AnalysisSpec) -> FloatArray:
    """Append GAI to the kernel's statistics: shape (..., 6) becomes (..., 7)."""
    inside, across = (kernel.KERNEL_STATISTICS.index(name) for name in analysis.gai)
    index = gai(counted[..., inside], counted[..., across])
    return np.concatenate([counted, index[..., None]], axis=-1)


def _check_axes(dataset: Dataset, analysis: AnalysisSpec) -> None:
    missing = [name for name in analysis.columns if name not in dataset.raters.axes]
    if missing:
        raise SpecError(
            f"the data have no axis {', '.join(missing)};"
            f" there are {', '.join(dataset.raters.axes) or 'none'}"
        )


def _check_size(grouping: Grouping, analysis: AnalysisSpec) -> None:
    if not grouping.groups:
        raise SpecError(
            f"no group has {analysis.min_raters} raters or more; lower the smallest group size or choose"
            " other axes"
        )
    room = len(grouping.groups) * len(STATISTICS) * 8
    if min(analysis.permutations, KEPT) * room > MAX_NULL_BYTES:
        raise SpecError(
            f"{analysis.permutations:,} permutations of {len(grouping.groups)} groups need more memory than"
            f" a run may take; at most {MAX_NULL_BYTES // room:,} fit"
        )


def _reasons(
    dataset: Dataset, grouping: Grouping, analysis: AnalysisSpec, observed: FloatArray
) -> list[dict[str, str]]:
    if not np.isnan(observed).any():
        return [{} for _ in grouping.groups]
    _, reasons = reference.evaluate(
        dataset.questions, grouping, analysis, identity(dataset.annotations.n_raters)
    )
    explain_gai(reasons, observed, analysis)
    return reasons


def explain_gai(reasons: Sequence[dict[str, str]], observed: FloatArray, analysis: AnalysisSpec) -> None:
    """Add why GAI is not estimable to the reasons of its parts, where `observed`, shape (G, 7), has none."""
    for found, row in zip(reasons, observed, strict=True):
        if np.isnan(row[-1]):
            across = row[STATISTICS.index(analysis.gai[1])]
            found["gai"] = next(
                (f"its {_words(name)} has no value: {found[name]}" for name in analysis.gai if name in found),
                f"its {_words(analysis.gai[1])} is {across:.3f}, and a ratio needs it above 0",
            )


def _words(statistic: str) -> str:
    return statistic.upper() if statistic in ("irr", "xrr") else statistic.replace("_", " ")


def _warnings(prepared: Prepared, tally: Tally) -> list[str]:
    analysis, grouping = prepared.spec.analysis, prepared.grouping
    found = prepared.dataset.problems
    warnings = [problem.message for problem in found if problem.axis is None]
    # Of this run's axes alone, whichever others were read with them.
    warnings += [problem.message for name in analysis.columns for problem in found if problem.axis == name]
    everyone = form_groups(prepared.dataset.raters, analysis.axes)
    small = int((everyone.n_raters < analysis.min_raters).sum())
    if small:  # counted, not named: a small group may be one person
        warnings.append(
            cautions.SMALL_GROUPS.format(
                f"{small:,}", f"{len(everyone.groups):,}", f"{analysis.min_raters:,}"
            )
        )
    tests = largest_family(grouping.groups, analysis)
    enough = fewest_permutations(tests, analysis)
    if analysis.permutations < enough:
        warnings.append(
            cautions.TOO_FEW_FOR_CORRECTION.format(f"{analysis.permutations:,}", f"{tests:,}", f"{enough:,}")
        )
    if analysis.permutations < 100:
        warnings.append(cautions.TOO_FEW_FOR_P)
    if tally.lost:
        warnings.append(cautions.SOME_NOT_ESTIMABLE.format(f"{tally.lost:,}", f"{tally.permutations:,}"))
    if analysis.p_value == "paper":
        warnings.append(cautions.PAPER_P)
    if analysis.cross_negentropy == "paper":
        warnings.append(cautions.PAPER_CROSS_NEGENTROPY)
    return warnings
