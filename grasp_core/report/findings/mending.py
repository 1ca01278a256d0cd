"""Warnings of a result in order of importance, and ways to mend them."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from grasp_core.model.data_spec import SCREENS, Screen
from grasp_core.model.groups import AxisSet, axis_label
from grasp_core.model.remarks.benchmark import may_undo, ranked
from grasp_core.model.remarks.cautions import OF_TWO_AXES, Caution, GuardCaution, ShuffleCaution
from grasp_core.model.remarks.problems import DataProblem
from grasp_core.model.remarks.remark import Code, Remark
from grasp_core.model.result import RunResult
from grasp_core.model.spec import DEFAULT_PERMUTATIONS, MAX_PERMUTATIONS, WORKLOAD, RunSpec
from grasp_core.model.text import agree, listed, quoted
from grasp_core.report.findings.selection import explaining_axis, held_or_hinted

SCREEN_OF: Mapping[Code, Screen] = {
    Caution.RANDOM_RESPONDERS: "random",
    Caution.CONSTANT_RATERS: "constant",
    Caution.NEAR_DUPLICATES: "duplicates",
}
"""Screens that leave out the raters whom a warning counts."""
CHOOSE_SHUFFLES, _AXES = "Choose what to shuffle within", "Choose which axes to test"


@dataclass(frozen=True, slots=True)
class Mend:
    """Label of a button, and the spec that it leads to; the same spec if a person must choose first."""

    label: str
    spec: RunSpec
    on_data: str = ""


@dataclass(frozen=True, slots=True)
class WayBack:
    """Sentence on a change in a run's spec, and the way to undo the change."""

    mended: str
    mend: Mend


def mend(warning: Remark, spec: RunSpec) -> Mend | None:
    """Return the way to mend a warning of a run with this spec; None if no spec can."""
    analysis = spec.analysis
    match warning.code:
        case Caution.RANDOM_RESPONDERS | Caution.CONSTANT_RATERS | Caution.NEAR_DUPLICATES:
            screen = SCREEN_OF[warning.code]
            if screen in spec.data.screens:  # these are left out already, and others were found
                return None
            without = replace(spec, data=replace(spec.data, screens=(*spec.data.screens, screen)))
            return Mend("Run without these raters", without, "Leave raters out on Data")
        case GuardCaution.OWN_WORKLOAD | GuardCaution.OWN_WORKLOAD_WITH_MODELS if (
            analysis.cluster is None and WORKLOAD not in analysis.strata
        ):
            return _other("Shuffle within like workload", spec, strata=(*analysis.strata, WORKLOAD))
        case GuardCaution.AXES_TOGETHER if not spec.models:
            pair = {dict(warning.numbers)["first"], dict(warning.numbers)["second"]}
            names = [name for name in analysis.tested if axis_label((name,)) in pair]
            return Mend("Test each given the other", given_too(spec, names))
        case GuardCaution.ONE_SPLIT:
            return None
        case GuardCaution():
            return Mend(CHOOSE_SHUFFLES, spec)
        case Caution.FEW_REGROUPINGS | Caution.CLUSTERS_STAY if analysis.strata or analysis.cluster:
            return Mend(CHOOSE_SHUFFLES, spec)
        case ShuffleCaution.UNKNOWN_STRATUM | ShuffleCaution.UNKNOWN_CLUSTER | ShuffleCaution.ONE_STRATUM:
            return Mend(CHOOSE_SHUFFLES, spec)
        case ShuffleCaution.MIXED_CLUSTERS:
            return Mend(_AXES, spec)
        case Caution.TOO_FEW_FOR_P:
            return _permutations(DEFAULT_PERMUTATIONS, spec)
        case Caution.TOO_FEW_FOR_CORRECTION:
            least = dict(warning.numbers)["least"]
            if not isinstance(least, int):
                return None
            return _permutations(least, spec) if least <= MAX_PERMUTATIONS else Mend(_AXES, spec)
        case Caution.PAPER_P:
            return _other("Use two-sided p-values", spec, p_value="two-sided")
        case Caution.PAPER_CROSS_NEGENTROPY:
            return _other("Use smoothed cross-negentropy", spec, cross_negentropy="smooth")
        case Caution.SMALL_GROUPS | Caution.NO_GROUP_IN_SLICES if analysis.min_raters > 2:
            return _other("Show groups of 2 raters and more", spec, min_raters=2)
        case Caution.NO_GROUP_IN_SLICES:
            return Mend("Choose what to slice by", spec)
        case DataProblem.LIKE_MISSING:
            data, value = spec.data, dict(warning.numbers)["value"]
            declared = {label for one in data.questions for label in one.categories or ()}
            if not isinstance(value, str) or not value.strip() or value in declared | set(data.missing):
                return None
            label = f"Count {quoted(value)} as missing"
            counted = replace(spec, data=replace(data, missing=(*data.missing, value)))
            return Mend(label, counted, f"{label} on Data")
        case _:
            return None


def ways_back(spec: RunSpec, kept: Sequence[tuple[str, str]] = ()) -> Iterator[WayBack]:
    """Yield the ways to undo changes in a spec: raters left out or kept, and strata of like workload."""
    if spec.data.exclude:
        with_them = replace(spec, data=replace(spec.data, exclude=()))
        said = f"Left out: raters with {_valued(spec.data.exclude)}."
        yield WayBack(said, Mend("The answer with them", with_them))
    still = tuple(one for one in kept if one not in spec.data.exclude)
    if still:
        without = replace(spec, data=replace(spec.data, exclude=(*spec.data.exclude, *still)))
        yield WayBack(f"Kept: raters with {_valued(still)}.", Mend("The answer without them", without))
    if spec.data.screens:
        everybody = replace(spec, data=replace(spec.data, screens=()))
        named = "; ".join(SCREENS[screen] for screen in spec.data.screens)
        yield WayBack(f"Left out: {named}.", Mend("Bring these raters back", everybody))
    if WORKLOAD in spec.analysis.strata:
        strata = tuple(name for name in spec.analysis.strata if name != WORKLOAD)
        mended = "Shuffled within raters of like workload."
        yield WayBack(mended, _other("Shuffle whatever the workload", spec, strata=strata))


def _valued(pairs: Sequence[tuple[str, str]]) -> str:
    return listed([f"{column} = {value or '(empty cell)'}" for column, value in pairs])


def given_too(spec: RunSpec, axes: Iterable[str]) -> RunSpec:
    """Add axes to those that the run's tests are given."""
    given = tuple(dict.fromkeys((*spec.analysis.given, *axes)))
    return replace(spec, analysis=replace(spec.analysis, given=given))


def _permutations(wanted: int, spec: RunSpec) -> Mend | None:
    wanted = max(wanted, DEFAULT_PERMUTATIONS)
    if not spec.analysis.permutations < wanted <= MAX_PERMUTATIONS:
        return None
    return _other(f"Take {wanted:,} permutations", spec, permutations=wanted)


def _other(label: str, spec: RunSpec, **settings: Any) -> Mend:
    return Mend(label, replace(spec, analysis=replace(spec.analysis, **settings)))


@dataclass(frozen=True, slots=True)
class Warned:
    """The warnings of a result, each once, most important first; those in `first` may undo findings."""

    first: tuple[Remark, ...]
    others: tuple[Remark, ...]

    @property
    def lead(self) -> str:
        """Words of a section on warnings before its list; empty if all warnings are in the list."""
        if not self.first:
            return "" if self.others else "None."
        count = len(self.first)
        above = f"the {count} that {agree(count, 'stands', 'stand')} above, under “Careful”"
        return f"Beside {above}:" if self.others else f"None but {above}."


def warned(result: RunResult) -> Warned:
    """Sort the warnings by where they are shown.

    The warning that two axes go together comes first if one axis may explain what is found by the other, and
    not both were tested given the other.
    """
    given = {one.column for one in result.given}
    marked = {group.axes for group in held_or_hinted(result)}
    in_doubt = {
        (axis_label((one.first,)), axis_label((one.second,)))
        for one in result.associations
        if not {one.first, one.second} <= given and any(explaining_axis(result, one, axes) for axes in marked)
    }
    in_order = ranked(result.warnings)
    first = []
    for one in in_order:
        numbers = dict(one.numbers)
        together = one.code in OF_TWO_AXES
        if may_undo(one) and (not together or (numbers["first"], numbers["second"]) in in_doubt):
            first.append(one)
    return Warned(tuple(first), tuple(one for one in in_order if one not in first))


def caution_codes(warnings: Iterable[Remark], axes: AxisSet) -> str:
    """Codes of warnings that may undo findings on an axis, most important first, separated by blanks."""
    named = {axis_label((name,)) for name in axes}
    codes = []
    for one in ranked(warnings):
        numbers = dict(one.numbers)
        concerned = numbers.get("axis", axis_label(axes)) == axis_label(axes)
        if "axis" not in numbers and one.code in OF_TWO_AXES:
            concerned = not named.isdisjoint({numbers["first"], numbers["second"]})
        if may_undo(one) and concerned:
            codes.append(one.code.key)
    return " ".join(dict.fromkeys(codes))
