"""Ways to mend what a run warns of: the same run with other settings."""

from __future__ import annotations

from dataclasses import dataclass, replace

from grasp_core.remarks.cautions import Caution
from grasp_core.remarks.guards import GuardCaution
from grasp_core.remarks.remark import Remark
from grasp_core.report.words import axis_label
from grasp_core.spec import DEFAULT_PERMUTATIONS, MAX_PERMUTATIONS, WORKLOAD, AnalysisSpec


@dataclass(frozen=True, slots=True)
class Mend:
    """What a button says, and the settings that it leads to."""

    label: str
    analysis: AnalysisSpec


def mend(warning: Remark, analysis: AnalysisSpec) -> Mend | None:
    """The one way to mend a warning of a run with these settings; None where settings cannot.

    Parameters
    ----------
    warning : Remark
    analysis : AnalysisSpec
    """
    match warning.code:
        case GuardCaution.OWN_WORKLOAD | GuardCaution.OWN_WORKLOAD_WITH_MODELS if (
            analysis.cluster is None and WORKLOAD not in analysis.strata
        ):
            strata = (*analysis.strata, WORKLOAD)
            return Mend("Shuffle within like workload", replace(analysis, strata=strata))
        case GuardCaution.AXES_TOGETHER:
            pair = {dict(warning.numbers)["first"], dict(warning.numbers)["second"]}
            names = [name for name in analysis.tested if axis_label((name,)) in pair]
            given = tuple(dict.fromkeys((*analysis.given, *names)))
            return Mend("Test each given the other", replace(analysis, given=given))
        case GuardCaution():
            return Mend("Choose what to shuffle within", analysis)
        case Caution.TOO_FEW_FOR_P:
            return _permutations(DEFAULT_PERMUTATIONS, analysis)
        case Caution.TOO_FEW_FOR_CORRECTION:
            least = dict(warning.numbers)["least"]
            return _permutations(least, analysis) if isinstance(least, int) else None
        case Caution.PAPER_P:
            return Mend("Use two-sided p-values", replace(analysis, p_value="two-sided"))
        case Caution.PAPER_CROSS_NEGENTROPY:
            return Mend("Use smoothed cross-negentropy", replace(analysis, cross_negentropy="smooth"))
        case Caution.SMALL_GROUPS if analysis.min_raters > 2:
            return Mend("Show groups of 2 raters and more", replace(analysis, min_raters=2))
        case _:
            return None


def _permutations(wanted: int, analysis: AnalysisSpec) -> Mend | None:
    wanted = max(wanted, DEFAULT_PERMUTATIONS)
    if not analysis.permutations < wanted <= MAX_PERMUTATIONS:
        return None
    return Mend(f"Take {wanted:,} permutations", replace(analysis, permutations=wanted))
