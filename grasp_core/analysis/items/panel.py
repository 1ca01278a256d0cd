"""One group's items under a run's own permutations, computed in pieces by any workers."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from grasp_core.analysis.items.design import (
    INSIDE,
    OUTSIDE,
    ItemsDesign,
    first,
    lay_out,
    new_moments,
    second,
)
from grasp_core.analysis.items.outcomes import (
    Concentration,
    Contribution,
    Held,
    ItemOutcome,
    ItemsResult,
    contribution,
    deviations,
    least,
    standards,
    top_tenth,
)
from grasp_core.analysis.panel import Each
from grasp_core.model.annotations import Annotations, BoolArray, FloatArray, Int64Array
from grasp_core.model.errors import DataError, SpecError
from grasp_core.model.groups import Group, form_groups
from grasp_core.model.remarks.cautions import Caution
from grasp_core.model.remarks.reasons import NoValue
from grasp_core.model.remarks.remark import Remark
from grasp_core.model.spec import RunSpec
from grasp_core.model.text import number
from grasp_core.permutation.testing.corrections import fewest_permutations
from grasp_core.permutation.testing.tail import Symmetry
from grasp_core.reading.dataset.load import Dataset
from grasp_core.statistics.items import count, weights
from grasp_core.version import __version__


@dataclass(frozen=True, slots=True)
class ItemsRequest:
    """A request to analyse a group's items, by one question and as many permutations as its run took."""

    spec: RunSpec
    group: Group
    permutations: int
    question: int = 0

    @property
    def question_name(self) -> str | None:
        """The column of labels that is analysed; None if the run has only one."""
        questions = self.spec.data.questions
        return str(questions[self.question].label) if len(questions) > 1 else None


def look_at_items(
    dataset: Dataset, asked: ItemsRequest, each: Each, progress: Callable[[float], None] = lambda _: None
) -> ItemsResult:
    """Compute the contributions of items to a group's distance and label use, the same for any `each`.

    `progress`: called after each piece with the share that is done; an exception from it ends the work.

    Raises SpecError if the group or question is not the run's; DataError if no item was labelled by both.
    """
    member, others, centred = _sides(dataset, asked)
    if asked.question >= len(dataset.questions):
        raise SpecError(f"the data answer {number(len(dataset.questions), 'question')}; choose one of them")
    whole, analysis = dataset.questions[asked.question], asked.spec.analysis
    annotations = whole.only(np.diff(whole.indptr) > 0)  # with several questions, one may lack some items
    both = count(annotations, member), count(annotations, others)
    if not weights(*both).any():
        raise DataError(f"{asked.group.label}: {NoValue.NO_SHARED_ITEM()}, so there is no item to look at")
    design = lay_out(annotations, dataset.raters, member, others, analysis)
    computed = _compute(design, asked.permutations, each, progress, centred=centred)
    return _result(dataset, asked, annotations, both, design, computed)


@dataclass(frozen=True, slots=True, eq=False)
class _Computed:
    """Observed terms, and their comparison with the permutations."""

    use: FloatArray
    apart: FloatArray
    furthest: Int64Array
    held: dict[str, Held]
    shares: FloatArray


def _sides(dataset: Dataset, asked: ItemsRequest) -> tuple[BoolArray, BoolArray, bool]:
    """Return the group's raters and its others, shape (J,) both, and whether its null is centred."""
    analysis, wanted = asked.spec.analysis, asked.group
    for axes in analysis.axes:
        if axes == wanted.axes:
            grouping = form_groups(dataset.raters, [axes], min_raters=analysis.min_raters)
            if wanted in grouping.groups:
                at = grouping.groups.index(wanted)
                symmetry = Symmetry.of(dataset.raters, grouping, analysis)
                return grouping.member[at], grouping.complement(at), bool(symmetry.centred[at])
    raise SpecError(f"the run has no group {wanted.label} of {' x '.join(wanted.axes)}")


def _compute(
    design: ItemsDesign, permutations: int, each: Each, progress: Callable[[float], None], *, centred: bool
) -> _Computed:
    use, apart = design.observed()
    sizes = np.diff(design.cells.labels_ptr)
    item_of, varies = np.repeat(np.arange(design.n_items), sizes), sizes > 1
    ranges = [(b, min(b + design.piece, permutations)) for b in range(0, permutations, design.piece)]
    done = 0

    def reporting(found: Iterator[Any]) -> Iterator[Any]:
        nonlocal done
        for one in found:
            done += 1
            progress(done / (2 * len(ranges)))
            yield one

    moments, of_pieces = new_moments(design), []
    for sums, of_piece in reporting(each(partial(first, design, least(apart)), ranges)):
        for into, of in zip(moments[:4], sums[:4], strict=True):
            into += of
        of_pieces.append(of_piece)
    shares = np.concatenate(of_pieces, axis=1)  # of the top tenth
    tested = np.stack([~np.isnan(use[design.cells.labels_ptr[:-1]]), ~np.isnan(apart)]) & varies
    by = standards(moments, item_of, tested, design.variances(), centred=centred)
    away, furthest = deviations(use, design.cells.labels_ptr, by)
    found = list(reporting(each(partial(second, design, by, least(away)), ranges)))
    reached = np.sum([one.use for one in found], axis=0)
    largest = np.concatenate([one.largest for one in found], axis=1)
    held = {
        "label_use": Held(varies, reached, moments.n[0], away, largest[0]),
        "distance": Held(
            varies, moments.reached, moments.n[1], np.asarray((apart - by.apart[0]) * by.apart[1]), largest[1]
        ),
    }
    return _Computed(use, apart, furthest, held, shares)


def _result(
    dataset: Dataset,
    asked: ItemsRequest,
    annotations: Annotations,
    both: tuple[Int64Array, Int64Array],
    design: ItemsDesign,
    computed: _Computed,
) -> ItemsResult:
    c, d = both
    weight = weights(c, d)
    paired = ~np.isnan(computed.apart)
    in_pairs = float(weight[paired].sum())
    rows = _rows(annotations, asked, both, design, computed, (float(weight.sum()), in_pairs))
    terms = np.zeros(annotations.n_categories)
    np.add.at(terms, design.cells.label, np.nan_to_num(computed.use))
    spread = _concentration(design, computed, rows)
    return ItemsResult(
        code_version=__version__,
        data=dataset.summary,
        spec=asked.spec,
        permutations=asked.permutations,
        question=asked.question_name,
        group=asked.group,
        n_raters=int((design.side == INSIDE).sum()),
        n_others=int((design.side == OUTSIDE).sum()),
        distance=float(computed.apart[paired].sum() / in_pairs) if paired.any() else None,
        label_use=dict(zip(annotations.categories, (terms / weight.sum()).tolist(), strict=True)),
        spread=spread,
        items=rows,
        warnings=tuple(_warnings(asked, spread)),
    )


def _rows(
    annotations: Annotations,
    asked: ItemsRequest,
    both: tuple[Int64Array, Int64Array],
    design: ItemsDesign,
    computed: _Computed,
    weight: tuple[float, float],
) -> tuple[ItemOutcome, ...]:
    """Return the shared items, in the order of the data; `weight`: sums over all shared and paired items."""
    correction, names = asked.spec.analysis.correction, annotations.categories
    tests = {name: held.tests(correction) for name, held in computed.held.items()}

    def part(name: str, i: int, value: float, label: str | None) -> Contribution:
        held, (p, q) = computed.held[name], tests[name]
        return contribution(value, label, p[i], q[i], int(held.n[i]), varies=bool(held.varies[i]))

    rows = []
    for i in np.flatnonzero(~np.isnan(computed.use[design.cells.labels_ptr[:-1]])).tolist():
        row = int(computed.furthest[i])
        label = names[design.cells.label[row]]
        use = part("label_use", i, float(computed.use[row] / weight[0]), label)
        apart = float(computed.apart[i] / weight[1]) if weight[1] else np.nan
        distance = None if np.isnan(apart) else part("distance", i, apart, None)
        inside, outside = (
            {names[k]: int(of[i, k]) for k in np.flatnonzero(both[0][i] + both[1][i])} for of in both
        )
        rows.append(ItemOutcome(annotations.item_ids[i], inside, outside, use, distance))
    return tuple(rows)


def _concentration(
    design: ItemsDesign, computed: _Computed, rows: tuple[ItemOutcome, ...]
) -> dict[str, Concentration]:
    starts, found = design.cells.labels_ptr[:-1], {}
    used = np.add.reduceat(np.abs(computed.use), starts) / 2
    for place, (name, sizes) in enumerate({"label_use": used, "distance": computed.apart}.items()):
        known = np.maximum(sizes[~np.isnan(sizes)], 0.0)
        parts = [row.label_use if name == "label_use" else row.distance for row in rows]
        tested = sum(part is not None and part.p is not None for part in parts)
        reason = None if known.size else NoValue.NO_PAIRED_ITEM()
        found[name] = Concentration(known.size, tested, top_tenth(known, computed.shares[place]), reason)
    return found


def _warnings(asked: ItemsRequest, spread: dict[str, Concentration]) -> Iterator[Remark]:
    shared, paired = spread["label_use"].items, spread["distance"].items
    if 0 < paired < shared:
        yield Caution.ITEMS_WITHOUT_PAIRS(paired=paired, items=shared)
    tests = max(one.tested for one in spread.values())
    enough = fewest_permutations(tests, asked.spec.analysis, one_tail=True) if tests else 0
    if asked.permutations < enough:
        yield Caution.TOO_FEW_FOR_CORRECTION(permutations=asked.permutations, tests=tests, least=enough)
    if asked.permutations < 100:
        yield Caution.TOO_FEW_FOR_P()
