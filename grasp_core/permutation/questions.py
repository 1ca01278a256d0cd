"""Several questions about the same items, evaluated together under the same permutations.

IRR and XRR: disagreements are summed over the questions before the ratio is taken; a question in which a
group's disagreements are not estimable adds nothing. Other statistics are averaged over the questions in
which they have a value. :mod:`grasp_core.statistics.association` is the plain version for tests.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from grasp_core.model.annotations import Annotations, FloatArray, Raters
from grasp_core.model.groups import Grouping
from grasp_core.model.remarks.reasons import NoValue
from grasp_core.model.remarks.remark import Remark
from grasp_core.model.spec import AnalysisSpec
from grasp_core.permutation import compiled, label_use
from grasp_core.permutation.design import Design, build_design
from grasp_core.permutation.kernel.profiles import Membership
from grasp_core.permutation.label_use import RaterTerms, Residuals
from grasp_core.permutation.uncompiled import FURTHER

_DISAGREEMENTS = 2 * len(compiled.RATIOS)
"""Number of the first :data:`compiled.COMPONENTS`, which are summed."""
_LABELS = len(compiled.COMPONENTS)
"""Position at which labels begin; each question has its own labels."""


@dataclass(frozen=True, slots=True, eq=False)
class Questions:
    """One design per question, and raters' terms for tests of label use, None if it is not tested."""

    designs: tuple[Design, ...]
    terms: RaterTerms | None = None

    @property
    def n_groups(self) -> int:
        """Number of groups, G."""
        return self.designs[0].n_groups

    @property
    def n_further(self) -> int:
        """Number of statistics that kernels lack, F."""
        return self.designs[0].n_further


def lay_out(
    questions: Sequence[Annotations],
    raters: Raters,
    grouping: Grouping,
    spec: AnalysisSpec,
    *,
    residuals: Residuals | None = None,
    **how: Any,
) -> Questions:
    """Build the design of each question by :func:`build_design`; label use is tested with `residuals`."""
    shared = Membership(raters, grouping, spec)
    designs = (build_design(one, raters, grouping, spec, membership=shared, **how) for one in questions)
    return Questions(tuple(designs), None if residuals is None else RaterTerms.of(residuals, shared))


def shuffled(design: Questions, seed: int, start: int, stop: int) -> FloatArray:
    """Return values of all questions together under permutations `start` to `stop` - 1.

    Returns shape (stop - start, G, V + F + 1 + L), as by :func:`values`.
    """
    components = [compiled.shuffled_components(one, seed, start, stop) for one in design.designs]
    differences = None if design.terms is None else label_use.shuffled(design.terms, seed, start, stop)
    return values(components, differences, design.n_further)


def values(
    components: Sequence[FloatArray], differences: FloatArray | None, n_further: int = 0
) -> FloatArray:
    """Return :func:`joint_statistics`, then the differences of label use, (..., 1 + L), if tested."""
    found = joint_statistics(components, n_further)
    return found if differences is None else np.concatenate([found, differences], axis=-1)


def observed_differences(design: Questions) -> FloatArray | None:
    """Return differences of label use under the raters' own profiles, shape (G, 1 + L)."""
    return None if design.terms is None else label_use.observed(design.terms)


def observed_components(design: Questions) -> list[FloatArray]:
    """Return :func:`compiled.components` of each question under the own profiles, shape (G, V + 2)."""
    return [compiled.components(one, compiled.observed_sums(one)) for one in design.designs]


def components(design: Questions, sums: FloatArray) -> list[FloatArray]:
    """Return :func:`compiled.components` of each question, (..., V + 2), from sums over items, (..., S)."""
    designs = design.designs
    by_question = np.split(sums, np.cumsum([one.n_sums for one in designs])[:-1], axis=-1)
    return [compiled.components(one, of_one) for one, of_one in zip(designs, by_question, strict=True)]


def joint_statistics(components: Sequence[FloatArray], n_further: int = 0) -> FloatArray:
    """Return the statistics of all questions as one: arrays (..., V + 2) become one of shape (..., V).

    Labels are in the order of the questions; after them come the `n_further` statistics that kernels lack.
    """
    if len(components) == 1:
        return compiled.statistics(components[0])
    behind = [one.shape[-1] - n_further for one in components]
    parts = [np.split(one, [_LABELS, end], axis=-1) for one, end in zip(components, behind, strict=True)]
    stacked = np.stack([np.concatenate([first, last], axis=-1) for first, _, last in parts])
    known = ~np.isnan(stacked)
    whole = np.where(known, stacked, 0.0).sum(axis=0)
    n = known.sum(axis=0)[..., _DISAGREEMENTS:]
    averages = whole[..., _DISAGREEMENTS:]
    np.divide(averages, n, out=averages, where=n > 0)
    averages[n == 0] = np.nan
    labels = [of_labels for _, of_labels, _ in parts]
    return compiled.statistics(np.concatenate([whole[..., :_LABELS], *labels, whole[..., _LABELS:]], axis=-1))


def reasons(components: Sequence[FloatArray], names: Sequence[str] = ()) -> list[dict[str, Remark]]:
    """Return for each group why statistics have no value, by name, from all questions' components."""
    groups = range(len(components[0]))
    return [_reasons_of_group([of_question[g] for of_question in components], names) for g in groups]


def _reasons_of_group(components: Sequence[FloatArray], names: Sequence[str]) -> dict[str, Remark]:
    missing = np.isnan(joint_statistics(components, len(names)))
    absent = dict(zip(compiled.KERNEL_STATISTICS, missing, strict=False))
    absent |= zip(names, missing[missing.size - len(names) :], strict=True)
    fixed = np.stack([of_question[:_LABELS] for of_question in components])
    lacks = dict(zip(compiled.COMPONENTS, np.isnan(fixed).T, strict=True))  # of each question
    paired, shared = (not lacks[f"{name}_observed"].all() for name in compiled.RATIOS)
    first_shared = not lacks["xrr_observed"][0]  # of the first question, as in the twin
    why = {
        "irr": NoValue.ONE_LABEL_INSIDE if paired else NoValue.NO_PAIR,
        "xrr": NoValue.ONE_LABEL_ACROSS if shared else NoValue.NO_SHARED_ITEM,
        "negentropy": NoValue.NO_ANNOTATION,
        "cross_negentropy": NoValue.NO_SHARED_ITEM,
        "plurality_size": NoValue.NO_ANNOTATION,
        "voting_agreement": NoValue.ONE_PLURALITY if first_shared else NoValue.NO_SHARED_ITEM,
        "distance": NoValue.NO_PAIRED_ITEM if first_shared else NoValue.NO_SHARED_ITEM,
        "shares_distance": NoValue.NO_SHARED_ITEM,
        **{name: FURTHER[name].missing for name in names},
    }
    return {name: reason() for name, reason in why.items() if absent[name]}
