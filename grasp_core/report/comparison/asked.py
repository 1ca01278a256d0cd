"""What two runs asked, and of which data, in words that can be compared with each other."""

from __future__ import annotations

from collections.abc import Iterable

from grasp_core.model.data_spec import DataSpec
from grasp_core.model.groups import AxisSet, axis_label
from grasp_core.model.result import Result
from grasp_core.model.spec import STATISTICS, ModelSource, RunSpec
from grasp_core.report.contents import raters_per_item
from grasp_core.report.conventions import (
    CORRECTION,
    CROSS_NEGENTROPY,
    FAMILY,
    INTERVAL,
    LEVEL,
    P_VALUE,
    TIES,
    VOTING_AGREEMENT,
    profiles_move,
)
from grasp_core.report.words.levels import left_out, step_sentence
from grasp_core.report.words.names import WORDS

_LAYOUTS = {
    "long": "one row per annotation",
    "items-by-raters": "one row per item",
    "raters-by-items": "one row per rater",
}


def asked(spec: RunSpec) -> dict[str, str]:
    """Every field of a spec, in words."""
    analysis = spec.analysis
    inside, across = analysis.gai
    return {
        **_reading(spec.data),
        **({"Models": "; ".join(map(_source, spec.models))} if spec.models else {}),
        "Axes and intersections": _sets(analysis.axes),
        "Given": ", ".join(analysis.given) or "none",
        "Slices": ", ".join(analysis.slices) or "none",
        "Statistics": ", ".join(WORDS[name].name for name in STATISTICS if name in analysis.statistics),
        "GAI": f"{WORDS[inside].name} divided by {WORDS[across].name}",
        "Intervals": INTERVAL[analysis.interval].label,
        "Pairs of groups": "compared" if analysis.pairs else "not compared",
        "Smallest group": f"{analysis.min_raters:,} raters",
        "Permutations": f"{'at most ' if analysis.adaptive else ''}{analysis.permutations:,}",
        "Seed": str(analysis.seed),
        "Profiles shuffled": profiles_move(analysis),
        "p-value": P_VALUE[analysis.p_value].label,
        "Correction": CORRECTION[analysis.correction].label,
        "Corrected together": FAMILY[analysis.family].label,
        "Level of measurement": LEVEL[analysis.level].label,
        "Cross-negentropy": CROSS_NEGENTROPY[analysis.cross_negentropy].label,
        "Voting agreement": VOTING_AGREEMENT[analysis.voting_agreement].label,
        "Tied votes": TIES[analysis.ties].label,
    }


def _reading(data: DataSpec) -> dict[str, str]:
    return {
        "Layout": _LAYOUTS[data.layout],
        "Item column": data.item or "none",
        **({} if data.items_id is None else {"Ids of the items file": data.items_id}),
        "Rater column": data.rater or "none",
        "Label column": ", ".join(data.labels) or data.label or "none",
        "Profile columns": ", ".join(data.profile) or "none",
        "Labels declared": "; ".join(map(_declared, data.questions)),
        "Texts that mean missing": ", ".join(token or "(empty)" for token in data.missing) or "none",
        "Columns ignored": ", ".join(data.ignore) or "none",
        "Values recoded": "; ".join(step_sentence(step) for step in data.recode) or "none",
        "Left out": "; ".join(left_out(data)) or "nothing",
    }


def _source(model: ModelSource) -> str:
    where = f"SHA-256 {model.sha256[:8]}" if model.column is None else f"column {model.column}"
    return f"{model.name} ({where})"


def _declared(question: DataSpec) -> str:
    return ", ".join(question.categories) if question.categories else "none; those found"


def _sets(axes: Iterable[AxisSet]) -> str:
    """Sorted, since their order changes nothing."""
    return ", ".join(sorted(axis_label(tuple(sorted(names))) for names in axes))


def data_of(result: Result) -> dict[str, str]:
    """The data of a run, in numbers."""
    data = result.data
    labels = zip(data.categories, data.label_counts, strict=False)
    return {
        "Fingerprint (SHA-256)": data.sha256,
        "Items": f"{data.items:,}",
        "Raters": f"{data.raters:,}",
        "Annotations": f"{data.annotations:,}",
        "Raters per item": raters_per_item(result),
        "Annotations per label": ", ".join(f"{label}: {count:,}" for label, count in labels),
        "GRASP version": result.code_version,
    }
