"""Models as raters as a panel: how far each model agrees with each group."""

import dataclasses
import itertools
from collections.abc import Hashable
from typing import Any

import numpy as np

from grasp_core.analysis.models import kernel
from grasp_core.analysis.models.kernel import SidesDesign, build_design
from grasp_core.analysis.models.result import GroupSides, ModelsResult, ModelSummary, Side
from grasp_core.analysis.models.statistics import compared_classes, members_macro_f1, plurality_macro_f1
from grasp_core.model.annotations import BoolArray, FloatArray, Int64Array, ModelLabels
from grasp_core.model.groups import Grouping
from grasp_core.model.outcome import ALL_ALIKE, Unequal
from grasp_core.model.remarks.cautions import ModelCaution
from grasp_core.model.remarks.reasons import NoValue
from grasp_core.model.remarks.remark import Remark
from grasp_core.model.result import Undecided
from grasp_core.model.spec import SIDES, AnalysisSpec
from grasp_core.permutation.design import tie_ranks
from grasp_core.permutation.testing.families import Family, Tests
from grasp_core.permutation.testing.outcomes import outcomes, withheld
from grasp_core.permutation.testing.p_values import Known, Null
from grasp_core.permutation.testing.tail import Symmetry
from grasp_core.reading.dataset.load import Dataset
from grasp_core.statistics.items import count


class Models:
    """Agreement of each model with each group, by every statistic of ``SIDES``, as a panel."""

    def __init__(
        self, dataset: Dataset, grouping: Grouping, analysis: AnalysisSpec, unequal: Unequal = ALL_ALIKE
    ) -> None:
        self._dataset, self._grouping, self._analysis = dataset, grouping, analysis
        models = [model.labels for model in dataset.models]
        everybody = count(dataset.annotations, np.ones(dataset.annotations.n_raters, dtype=np.bool_))
        ranks = self._ranks()
        self._classes = compared_classes(models, everybody, ranks)
        self._overall = [plurality_macro_f1(x, everybody, ranks, self._classes) for x in models]
        self._whole = self._lay_out(grouping)
        symmetry = Symmetry.of(dataset.raters, grouping, analysis)
        n_models = len(dataset.models)
        families: dict[Hashable, list[int]] = {}
        of_group = n_models * len(SIDES)
        for m, s, g in itertools.product(range(n_models), range(len(SIDES)), range(len(grouping.groups))):
            key = {"statistic": s, "statistic-axis": (s, grouping.groups[g].axes), "all": None}[
                analysis.family
            ]
            families.setdefault((m, key), []).append((g * n_models + m) * len(SIDES) + s)
        asked = Tests(
            tuple(Family(tuple(of), analysis.p_value, analysis.correction) for of in families.values()),
            np.repeat(np.eye(len(grouping.groups), dtype=np.bool_), n_models * len(SIDES), axis=0),
            known=Known(
                like=tuple((symmetry.like[:, None] * of_group + np.arange(of_group)).ravel().tolist())
            ),
        )
        self._untested = {
            g * of_group + c
            for g, group in enumerate(grouping.groups)
            for c in range(of_group)
            if group.axes in unequal
        }
        self.tests = asked.without(self._untested)
        self.observed = kernel.observed(self._whole).swapaxes(0, 1).ravel()
        self.per_unit = of_group
        self.notes = tuple(note for model in dataset.models for note in _notes(model))

    def work(self, active: BoolArray) -> SidesDesign:
        """See :class:`~grasp_core.analysis.panel.Panel`."""
        some = self._grouping.some(np.flatnonzero(active).tolist())
        return self._whole if some is self._grouping else self._lay_out(some)

    def columns(self, values: FloatArray) -> FloatArray:
        """See :class:`~grasp_core.analysis.panel.Panel`."""
        return values.reshape(len(values), -1)

    def result(self, null: Null, *, permutations_done: int | None, **of_run: Any) -> ModelsResult:
        """Return each group's and model's outcomes by statistic, and macro-F1 of the group's own members."""
        ranks, annotations_of = self._ranks(), self._dataset.annotations_of
        reasons, so_far = self._reasons(), permutations_done is not None
        tested = outcomes(self.tests, self.observed, null, reasons, so_far=so_far)
        tested |= {c: withheld(self.observed[c], reasons.get(c)) for c in self._untested}
        found = (dataclasses.replace(tested[c], null=None) for c in range(self.observed.size))
        rows = []
        for group, member in zip(self._grouping.groups, self._grouping.member, strict=True):
            counts = count(self._dataset.annotations, member)
            sides = {
                model.name: Side(
                    {name: next(found) for name in SIDES},
                    _or_none(members_macro_f1(model.labels, counts, ranks, self._classes)),
                )
                for model in self._dataset.models
            }
            rows.append(GroupSides(group, int(member.sum()), int(annotations_of[member].sum()), sides))
        models = tuple(
            ModelSummary(
                *(model.name, model.source, model.sha256, model.n_labelled),
                *(ranks.shape[0] - model.n_labelled, model.left_out, overall),
            )
            for model, overall in zip(self._dataset.models, self._overall, strict=True)
        )
        names = self._dataset.annotations.categories
        return ModelsResult(
            models=models,
            classes=tuple(names[k] for k in np.flatnonzero(self._classes)),
            groups=tuple(rows),
            permutations_done=permutations_done,
            **of_run,
        )

    def undecided(self, c: int, *, corrected: bool) -> Undecided:
        """See :class:`~grasp_core.analysis.panel.RunPanel`."""
        pair, s = divmod(c, len(SIDES))
        g, m = divmod(pair, len(self._dataset.models))
        group = self._grouping.groups[g]
        return Undecided(group.axes, group, SIDES[s], corrected, self._dataset.models[m].name)

    def _lay_out(self, some: Grouping) -> SidesDesign:
        labels = np.stack([model.labels for model in self._dataset.models])
        return build_design(
            self._dataset.annotations, self._dataset.raters, some, self._analysis, labels, self._classes
        )

    def _ranks(self) -> Int64Array:
        """Return the ranks that decide between tied categories, shape (I, K)."""
        return np.asarray(tie_ranks(self._dataset.annotations, self._analysis)[0])

    def _reasons(self) -> dict[int, Remark]:
        """Return the reasons why columns have no value, by column."""
        missing = np.isnan(self.observed).reshape(-1, len(SIDES))  # by group and model
        none_shared, one_label = NoValue.NO_ITEM_WITH_BOTH(), NoValue.ONE_LABEL_WITH_MODEL()
        return {
            row * len(SIDES) + s: none_shared if of_pair.all() else one_label
            for row, of_pair in enumerate(missing)
            for s in np.flatnonzero(of_pair).tolist()
        }


def _notes(model: ModelLabels) -> list[Remark]:
    notes: list[Remark] = []
    without = int((model.labels < 0).sum())
    if without:
        notes.append(ModelCaution.MODEL_UNLABELLED(model=model.name, items=without))
    if model.left_out:
        notes.append(ModelCaution.MODEL_OF_OTHER_ITEMS(model=model.name, labels=model.left_out))
    return notes


def _or_none(value: float) -> float | None:
    return None if np.isnan(value) else value
