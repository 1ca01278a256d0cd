"""One run: from a data set and a spec to a result. The work between `prepare` and `finish` may be split."""

import hashlib
import shlex
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from grasp_core.analysis import design
from grasp_core.analysis.cohesion import combined_test
from grasp_core.analysis.cohesion.columns import Places
from grasp_core.analysis.cohesion.panel import Cohesion
from grasp_core.analysis.cohesion.results import SpreadTest
from grasp_core.analysis.everybody import MOST_CELLS, everybody
from grasp_core.analysis.models.panel import Models
from grasp_core.analysis.overview import associations
from grasp_core.analysis.panel import Panel, RunPanel, VerdictPanel
from grasp_core.analysis.stages import check_given
from grasp_core.model.annotations import Raters
from grasp_core.model.errors import SpecError
from grasp_core.model.groups import AxisSet, Grouping, axis_label, count_groups, form_groups, group_sizes
from grasp_core.model.outcome import AssignmentCheck, unequal_axes
from grasp_core.model.remarks.benchmark import ranked
from grasp_core.model.remarks.cautions import Caution
from grasp_core.model.remarks.remark import Remark
from grasp_core.model.result import DataSummary, Result, RunResult, Stopping, Timing
from grasp_core.model.spec import LEVEL, SIDES, AnalysisSpec, RunSpec
from grasp_core.model.text import listed, number, quoted
from grasp_core.permutation.design import MOST_LABELS_USED
from grasp_core.permutation.testing.corrections import fewest_permutations
from grasp_core.permutation.testing.tail import Shuffles, Symmetry, check_something_moves
from grasp_core.permutation.testing.tally import Tally, kept_of
from grasp_core.reading.dataset.checks import bands
from grasp_core.reading.dataset.load import Dataset
from grasp_core.reading.dataset.recoding import ranges
from grasp_core.report.account import assignment_warnings, association_warnings, matched_warnings
from grasp_core.report.words.levels import unranked
from grasp_core.version import __version__

MAX_MEMBERSHIPS = 100_000_000
"""Most groups times raters, or times items, of a run: each takes some 12 bytes before any is shuffled."""
MAX_NULL_BYTES = 4 * 2**30
"""Most bytes of the shuffled values that a run keeps; of further permutations it keeps counts."""


@dataclass(frozen=True, slots=True, eq=False)
class Prepared:
    """A run whose observed statistics are known and whose permutations are still to be computed."""

    dataset: Dataset
    spec: RunSpec
    grouping: Grouping
    panel: RunPanel
    shuffles: Shuffles
    observed_s: float
    assignment: tuple[AssignmentCheck, ...]


def prepare(dataset: Dataset, spec: RunSpec, check: Callable[[], None] = lambda: None) -> Prepared:
    """Form the groups and make the spec's panel; `check` is called between steps, its errors end the work."""
    started = time.perf_counter()
    grouping = checked_groups(dataset, spec)
    check()
    shuffles = Shuffles.of(dataset.raters, grouping, spec.analysis)
    check()
    seen, given = design.Seen.of(dataset.annotations), dataset.annotations_of
    checks = design.check_assignment(seen, given, grouping, spec.analysis.axes, shuffles.exchange)
    check()
    panel = Models if spec.models else Cohesion
    found: RunPanel = panel(dataset, grouping, spec.analysis, unequal_axes(checks))
    observed_s = time.perf_counter() - started
    return Prepared(dataset, spec, grouping, found, shuffles, observed_s, checks)


def agreement_alone(dataset: Dataset, spec: RunSpec, load_s: float) -> RunResult:
    """Return the result of a run without axes: the agreement of all raters."""
    checked_groups(dataset, spec)
    started = time.perf_counter()
    found = everybody(dataset, spec.analysis)
    if found is None:
        raise SpecError(
            f"there are too many items and labels to count at once (at most {MOST_CELLS:,} of them "
            "multiplied); recode rare labels into one"
        )
    return RunResult(
        data=dataset.summary,
        spec=spec,
        warnings=(),
        timing=Timing(load_s, time.perf_counter() - started, 0.0),
        code_version=__version__,
        groups=(),
        dsi=(),
        everybody=found,
    )


def checked_groups(dataset: Dataset, spec: RunSpec) -> Grouping:
    """Form the groups of a run, none without axes; raises the errors of :func:`prepare`."""
    analysis = spec.analysis
    check_order(dataset, spec)
    if not analysis.axes:
        if spec.models:
            raise SpecError(
                "models are compared with groups of raters: choose at least one axis", field="axes"
            )
        return form_groups(dataset.raters, ())
    missing = [name for name in analysis.columns if name not in dataset.raters.axes]
    if missing:
        raise SpecError(
            f"the data have no axis {', '.join(missing)};"
            f" there are {', '.join(dataset.raters.axes) or 'none'}"
        )
    called: dict[str, AxisSet] = {}
    for axes in analysis.axes:
        other = called.setdefault(axis_label(axes), axes)
        if other != axes:
            raise SpecError(
                f"the axes {listed(other)} and {listed(axes)} would both be called "
                f"{quoted(axis_label(axes))}: leave one of them out, or rename its column",
                field="axes",
            )
    grouping = bounded_groups(dataset, analysis.axes, analysis.min_raters)
    if not grouping.groups:
        raise SpecError(no_groups(dataset.raters, analysis))
    check_something_moves(dataset.raters, grouping, analysis)
    check_given(dataset.raters, analysis)
    n_labels = sum(one.n_categories for one in dataset.questions if one.n_categories <= MOST_LABELS_USED)
    _check_size(grouping, analysis, len(spec.models) * len(SIDES) or Places(1, n_labels).of_group)
    return grouping


def bounded_groups(dataset: Dataset, axes: Sequence[AxisSet], min_raters: int) -> Grouping:
    """Form groups; raises SpecError, before any is made, if they need more memory than a run may take."""
    summary = dataset.summary
    groups = count_groups(dataset.raters, axes, min_raters=min_raters)
    most, what = max((summary.raters, "raters"), (summary.items, "items"))
    if groups * most > MAX_MEMBERSHIPS:
        raise SpecError(
            f"{groups:,} groups of {most:,} {what} need more memory than a run may take; of so many {what}"
            f" there may be {MAX_MEMBERSHIPS // most:,} groups: raise the smallest group size, or choose"
            " fewer axes together"
        )
    return form_groups(dataset.raters, axes, min_raters=min_raters)


def no_groups(raters: Raters, analysis: AnalysisSpec) -> str:
    """Say why no axis has a group that is large enough, and what to change."""
    said = f"no group has {number(analysis.min_raters, 'rater')} or more"
    sizes = {axes: group_sizes(raters, axes) for axes in analysis.axes}
    axes = max(sizes, key=lambda one: len(sizes[one]) / max(sizes[one].sum(), 1))
    values, known = len(sizes[axes]), int(sizes[axes].sum())
    largest = max(int(one.max(initial=0)) for one in sizes.values())
    others = "choose other axes on Analysis, or by --axis"
    if 2 * values <= known:
        return (
            f"{said}, the largest has {largest:,}; lower the smallest group size on Analysis, or by "
            f"--min-raters; or {others}"
        )
    edges = bands([text for name in axes for text in raters.axes[name].values], 3)
    joins = "--map" if edges is None or len(axes) > 1 else f"--bins {shlex.quote(axes[0])}:{edges}"
    return (
        f"{said}: {listed(axes)} has {number(values, 'value')} for {number(known, 'rater')}, as a column of "
        f"ids has; join values on Data under Recode values, or by {joins}; or {others}"
    )


def check_order(dataset: Dataset, spec: RunSpec) -> None:
    """Refuse to rank labels that nobody put in an order and whose texts do not show one."""
    data = spec.data
    if spec.analysis.level != "ordinal" or data.categories is not None:
        return
    if ranges(data, None) or ranges(data, data.label):
        return
    if (why := unranked(dataset.summary.categories)) is not None:
        raise SpecError(why, field="categories")


def run_key(summary: DataSummary, spec: RunSpec, version: str) -> str:
    """Return a hash of the data, the spec and the version of the code: the same for two equal runs."""
    run = f"{summary.sha256}:{spec.sha256()}:{version}"
    return hashlib.sha256(run.encode()).hexdigest()


def new_tally(panel: Panel, analysis: AnalysisSpec) -> Tally:
    """Make a tally for the columns of a panel."""
    tests = panel.tests
    verdict_values = panel.verdict_values if isinstance(panel, VerdictPanel) else None
    return Tally(
        panel.observed,
        tests.needs,
        analysis.permutations,
        tests.maxima,
        extremes=tests.regroupings is not None,
        verdict_values=verdict_values,
    )


def finish(
    prepared: Prepared,
    tally: Tally,
    *,
    load_s: float,
    permutations_s: float,
    stopping: Stopping | None = None,
    provisional: bool = False,
) -> Result:
    """Test the observed statistics against the shuffled ones of a tally from :func:`new_tally`."""
    found = prepared.panel.result(
        tally.null,
        permutations_done=tally.in_null if provisional else None,
        data=prepared.dataset.summary,
        spec=prepared.spec,
        warnings=_warnings(prepared, tally, provisional=provisional),
        timing=Timing(load_s, prepared.observed_s, permutations_s),
        code_version=__version__,
        stopping=stopping,
    )
    if not isinstance(found, RunResult):
        return found
    dataset, analysis, n = prepared.dataset, prepared.spec.analysis, tally.n_complete
    least = prepared.shuffles.least_p.tolist()  # if it is above the level, no mark is possible
    rows = zip(found.groups, least, strict=True)
    groups = tuple(replace(row, least_p=p) if p > LEVEL else row for row, p in rows)
    if not provisional:
        spread = SpreadTest(dataset.questions, dataset.raters, prepared.grouping, analysis, n)
        tested = combined_test.corrected([uncorrected_verdicts(prepared, tally, spread)])
        groups = combined_test.with_verdicts(groups, tested, n)
    related = () if provisional else associations(dataset.raters, analysis.tested)
    apart: list[design.Unmatched] = []  # groups whose GAI compares different items
    if len(dataset.questions) == 1 and analysis.gai == ("irr", "xrr") and not provisional:
        gai = {row.group: row.statistics["gai"].value for row in found.groups if "gai" in row.statistics}
        known = {group: value for group, value in gai.items() if value is not None}
        apart = design.unmatched(
            dataset.annotations, prepared.grouping, known, prepared.assignment, analysis.level
        )
    unanswered = [one for one in related if not {one.first, one.second} <= {*analysis.given}]
    said = [*matched_warnings(apart), *association_warnings(unanswered)]
    warnings = ranked([*said, *found.warnings])
    return replace(
        found,
        everybody=None if provisional else everybody(dataset, analysis),
        groups=groups,
        assignment=prepared.assignment,
        associations=related,
        warnings=warnings,
    )


def uncorrected_verdicts(
    prepared: Prepared, tally: Tally, spread: SpreadTest | None = None
) -> combined_test.UncorrectedTests:
    """Test all groups of a run, without correction, and whether or not one explains another."""
    grouping = prepared.grouping
    shuffles, seed = prepared.shuffles, prepared.spec.analysis.seed
    why = combined_test.untestable(grouping, shuffles.log_regroupings, unequal_axes(prepared.assignment))
    like = Symmetry.of(prepared.dataset.raters, grouping, prepared.spec.analysis).like.tolist()
    regrouping = combined_test.Regroupings(grouping, shuffles, seed).of
    return combined_test.uncorrected_tests(
        tally.verdict_values, combined_test.hypotheses(grouping), like, why, spread, regrouping
    )


def _check_size(grouping: Grouping, analysis: AnalysisSpec, per_group: int) -> None:
    columns = len(grouping.groups) * per_group
    room = columns * 8
    if min(analysis.permutations, kept_of(columns)) * room > MAX_NULL_BYTES:
        raise SpecError(
            f"{analysis.permutations:,} permutations of {len(grouping.groups)} groups need more memory than"
            f" a run may take; at most {MAX_NULL_BYTES // room:,} fit"
        )


def _warnings(prepared: Prepared, tally: Tally, *, provisional: bool) -> tuple[Remark, ...]:
    analysis, found = prepared.spec.analysis, prepared.dataset.problems
    warnings = [problem.remark for problem in found if problem.axis is None]
    # Only problems of this run's axes, even if other columns were read with them.
    warnings += design.column_warnings(prepared.dataset.raters, analysis, found)
    if not provisional:  # observed values do not wait for screens of raters
        warnings += design.screen_cautions(
            prepared.dataset.annotations, prepared.dataset.raters, prepared.grouping
        )
    kept, small = len(prepared.grouping.groups), prepared.grouping.too_small
    if small:  # counted, not named: a small group may be one person
        warnings.append(Caution.SMALL_GROUPS(small=small, groups=kept + small, least=analysis.min_raters))
    few = int((prepared.shuffles.least_p > LEVEL).sum())
    if few:
        warnings.append(Caution.FEW_REGROUPINGS(few=few, groups=kept))
    if stay := prepared.shuffles.n_fixed:
        warnings.append(Caution.CLUSTERS_STAY(raters=stay, all=prepared.dataset.summary.raters))
    tests = prepared.panel.tests.largest_family
    enough = fewest_permutations(tests, analysis)
    if analysis.permutations < enough:
        warnings.append(
            Caution.TOO_FEW_FOR_CORRECTION(permutations=analysis.permutations, tests=tests, least=enough)
        )
    if analysis.permutations < 100:
        warnings.append(Caution.TOO_FEW_FOR_P())
    if tally.lost:
        warnings.append(Caution.SOME_NOT_ESTIMABLE(lost=tally.lost, permutations=tally.permutations))
    if analysis.p_value == "paper":
        warnings.append(Caution.PAPER_P())
    said = assignment_warnings(prepared.assignment, of_models=bool(prepared.spec.models))
    return ranked([*said, *warnings, *prepared.panel.notes])
