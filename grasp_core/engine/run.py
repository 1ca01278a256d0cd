"""One run: from a data set and a spec to a result. What is between `prepare` and `finish` may be split."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass

import krippendorff
import numpy as np

from grasp_core import __version__
from grasp_core.annotations import Annotations, FloatArray
from grasp_core.errors import SelfCheckError, SpecError
from grasp_core.groups import Grouping, form_groups
from grasp_core.io.load import Dataset
from grasp_core.permutation import kernel, reference
from grasp_core.permutation.corrections import fewest_permutations, largest_family
from grasp_core.permutation.design import Design, build_design
from grasp_core.permutation.null import dsi_results, outcomes
from grasp_core.permutation.shuffle import identity
from grasp_core.report import cautions
from grasp_core.result import GroupResult, RunResult, Timing
from grasp_core.spec import STATISTICS, AnalysisSpec, RunSpec
from grasp_core.statistics.counts import count
from grasp_core.statistics.indices import gai

SELF_CHECK_TOLERANCE = 1e-9
MAX_NULL_BYTES = 4 * 2**30
"""Room for the shuffled values that a run keeps."""


@dataclass(frozen=True, slots=True, eq=False)
class Prepared:
    """A run whose observed statistics are known and whose permutations are still to be computed.

    Parameters
    ----------
    dataset, spec
        What is run.
    grouping : Grouping
    design : Design
        What a worker needs to compute any block of permutations.
    observed : float64 array, shape (G, 7)
        In the order of :data:`~grasp_core.spec.STATISTICS`.
    reasons : sequence of dict, length G
        Why a statistic of a group is not estimable.
    observed_s : float
        Seconds spent so far.
    """

    dataset: Dataset
    spec: RunSpec
    grouping: Grouping
    design: Design
    observed: FloatArray
    reasons: Sequence[dict[str, str]]
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
    _check_axes(dataset, analysis)
    grouping = form_groups(dataset.raters, analysis.axes, min_raters=analysis.min_raters)
    _check_size(grouping, analysis)
    design = build_design(dataset.annotations, dataset.raters, grouping, analysis)
    counted = kernel.observed(design)
    _self_check(dataset.annotations, grouping, counted[:, 0])
    observed = with_gai(counted, analysis)
    reasons = _reasons(dataset, grouping, analysis, observed)
    return Prepared(
        dataset, spec, grouping, design, observed, reasons, observed_s=time.perf_counter() - started
    )


def finish(prepared: Prepared, shuffled: FloatArray, *, load_s: float, permutations_s: float) -> RunResult:
    """Test the observed statistics against the shuffled ones.

    Parameters
    ----------
    prepared : Prepared
    shuffled : float64 array, shape (B, G, 6)
        The kernel's output for permutations 0 to B - 1.
    load_s, permutations_s : float
        Seconds, for the result's timing.
    """
    analysis, grouping = prepared.spec.analysis, prepared.grouping
    null = with_gai(shuffled, analysis)
    rows = outcomes(grouping.groups, prepared.observed, null, prepared.reasons, analysis)
    by_gai = STATISTICS.index("gai")
    dsi = dsi_results(grouping.groups, prepared.observed[:, by_gai], null[:, :, by_gai], rows, analysis)
    annotations_of = np.bincount(
        prepared.dataset.annotations.rater, minlength=prepared.dataset.annotations.n_raters
    )
    return RunResult(
        data=prepared.dataset.summary,
        spec=prepared.spec,
        groups=tuple(
            GroupResult(group, int(member.sum()), int(annotations_of[member].sum()), row)
            for group, member, row in zip(grouping.groups, grouping.member, rows, strict=True)
        ),
        dsi=dsi,
        warnings=tuple(_warnings(prepared, null)),
        timing=Timing(load_s, prepared.observed_s, permutations_s),
        code_version=__version__,
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
    if analysis.permutations * room > MAX_NULL_BYTES:
        raise SpecError(
            f"{analysis.permutations:,} permutations of {len(grouping.groups)} groups need more memory than"
            f" a run may take; at most {MAX_NULL_BYTES // room:,} fit"
        )


def _self_check(annotations: Annotations, grouping: Grouping, irr: FloatArray) -> None:
    for group, member, value in zip(grouping.groups, grouping.member, irr, strict=True):
        if np.isnan(value):
            continue
        counts = count(annotations, member)
        expected = krippendorff.alpha(
            value_counts=counts[:, counts.any(axis=0)], level_of_measurement="nominal"
        )
        if not abs(expected - value) <= SELF_CHECK_TOLERANCE:
            raise SelfCheckError(
                f"IRR of {group.label} is {value!r} here but {float(expected)!r} by the package krippendorff;"
                " nothing is reported, please file a bug"
            )


def _reasons(
    dataset: Dataset, grouping: Grouping, analysis: AnalysisSpec, observed: FloatArray
) -> list[dict[str, str]]:
    if not np.isnan(observed).any():
        return [{} for _ in grouping.groups]
    _, reasons = reference.evaluate(
        dataset.annotations, grouping, analysis, identity(dataset.annotations.n_raters)
    )
    for found, row in zip(reasons, observed, strict=True):
        if np.isnan(row[-1]):
            across = row[STATISTICS.index(analysis.gai[1])]
            found["gai"] = next(
                (f"its {_words(name)} has no value: {found[name]}" for name in analysis.gai if name in found),
                f"its {_words(analysis.gai[1])} is {across:.3f}, and a ratio needs it above 0",
            )
    return reasons


def _words(statistic: str) -> str:
    return statistic.upper() if statistic in ("irr", "xrr") else statistic.replace("_", " ")


def _warnings(prepared: Prepared, null: FloatArray) -> list[str]:
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
    lost = int(np.isnan(null).any(axis=(1, 2)).sum())
    if lost:
        warnings.append(cautions.SOME_NOT_ESTIMABLE.format(f"{lost:,}", f"{analysis.permutations:,}"))
    if analysis.p_value == "paper":
        warnings.append(cautions.PAPER_P)
    if analysis.cross_negentropy == "paper":
        warnings.append(cautions.PAPER_CROSS_NEGENTROPY)
    return warnings
