"""Contributions of items to a group's label use and distance: the outcome of each item, as a result."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, Self

import numpy as np

from grasp_core.analysis.items.design import ItemMoments, Standards
from grasp_core.model.annotations import BoolArray, FloatArray, Int64Array
from grasp_core.model.data_spec import DataSpec
from grasp_core.model.groups import Group
from grasp_core.model.json_values import damaged, from_json, in_file, require_header, to_json
from grasp_core.model.outcome import Significance, significance_of
from grasp_core.model.remarks.reasons import NoValue
from grasp_core.model.remarks.remark import Remark
from grasp_core.model.result import DataSummary, group_of, with_group
from grasp_core.model.spec import Correction, RunSpec
from grasp_core.permutation.testing.corrections import corrected, family_wise
from grasp_core.permutation.testing.p_values import FEWEST, TIE_TOLERANCE, tolerance
from grasp_core.reading.table.table import Table
from grasp_core.statistics.items import tenth, top_share

KEPT = 1_200
"""Most characters of a text that are kept; nobody reads more in a table."""


def texts_of_items(table: Table, spec: DataSpec) -> dict[str, str] | None:
    """Return the beginning of the first text of each item; None if no column contains texts."""
    if spec.text is None or spec.item is None or {spec.text, spec.item} - set(table.columns):
        return None
    item, text = table.column(spec.item), table.column(spec.text)
    kept = [words[:KEPT] + ("…" if len(words) > KEPT else "") for words in text.values]
    found: dict[str, str] = {}
    for code, words in zip(item.codes.tolist(), text.codes.tolist(), strict=True):
        if kept[words] not in spec.missing:
            found.setdefault(item.values[code], kept[words])
    return found


FORMAT = "grasp-items"
FORMAT_VERSION = 1

Measure = Literal["distance", "label_use"]


@dataclass(frozen=True, slots=True)
class Contribution:
    """The contribution of one item to a measure of the group.

    `value` is its part of the distance, or of how much more often the group gives `label`, the label that
    deviates most on this item. The parts of all items in one label, or in the distance, add up to the group's
    value. `q` is `p` after correction over the items. If there is no p-value, `reason` says why.
    """

    value: float
    label: str | None
    p: float | None
    q: float | None
    significance: Significance
    reason: Remark | None


@dataclass(frozen=True, slots=True)
class ItemOutcome:
    """One item that both sides labelled.

    `inside` and `outside` count the labels of the group and of the others; labels that nobody gave the item
    are left out. `distance` is None where a side has fewer than two labels.
    """

    item: str
    inside: Mapping[str, int]
    outside: Mapping[str, int]
    label_use: Contribution
    distance: Contribution | None

    def of(self, measure: Measure) -> Contribution | None:
        """Return the item's contribution to a measure."""
        return self.distance if measure == "distance" else self.label_use


@dataclass(frozen=True, slots=True)
class TopTenth:
    """Share of the items' sizes that the largest tenth of the items has.

    `chance` is the median of that share over the permutations, and 95 % of them are from `low` to `high`;
    None if fewer than 100 permutations have such a share.
    """

    items: int
    share: float
    chance: float | None
    low: float | None
    high: float | None


@dataclass(frozen=True, slots=True)
class Concentration:
    """Concentration of a measure on few items.

    `items` counts items with a value, `tested` those with a p-value. Without any value `reason` says why.
    """

    items: int
    tested: int
    top: TopTenth | None
    reason: Remark | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ItemsResult:
    """Contributions of items to one group's distance and label use.

    `data` and `spec` are the run's, `permutations` is the number computed, `question` the column of labels
    that was analysed. `distance` is None without an item on which both sides have two labels; `label_use`
    follows the question's categories.
    """

    code_version: str
    data: DataSummary
    spec: RunSpec
    permutations: int
    question: str | None
    group: Group
    n_raters: int
    n_others: int
    distance: float | None
    label_use: Mapping[str, float]
    spread: Mapping[str, Concentration]
    items: tuple[ItemOutcome, ...]
    warnings: tuple[Remark, ...]

    def to_dict(self) -> dict[str, Any]:
        """JSON-ready form, with its format and version; described in docs."""
        return {"format": FORMAT, "version": FORMAT_VERSION, **to_json(self)}

    @classmethod
    def from_dict(cls, plain: Any) -> Self:
        """Read :meth:`to_dict`'s form; raises DataError if it is of another format or damaged."""
        plain = require_header(plain, "a GRASP result about items", FORMAT, (FORMAT_VERSION,))
        with damaged("the file of items"):
            return from_json(plain, cls)


in_file(ItemsResult, with_group, group_of)


_CONSTANT = 1e-7
"""Standard deviations up to this are taken for rounding, since they come from sums of squares."""
_RANGE = (0.025, 0.5, 0.975)


@dataclass(frozen=True, slots=True, eq=False)
class Held:
    """One measure of all items, compared with the permutations.

    `varies`, shape (I,): True for items with at least two different labels.
    `reached`, `n`, shape (I,): permutations that reach the item's value, and those in which it has one.
    `deviation`, (I,), NaN without a value; `largest`, (B,): the largest of any item in each permutation.
    """

    varies: BoolArray
    reached: Int64Array
    n: Int64Array
    deviation: FloatArray
    largest: FloatArray

    def tests(self, method: Correction) -> tuple[list[float | None], list[float | None]]:
        """Return p and q of every item; None if the item is not tested."""
        tested = ~np.isnan(self.deviation) & self.varies & (self.n >= FEWEST)
        shares = (1 + self.reached) / (self.n + 1)
        p = [share if test else None for share, test in zip(shares.tolist(), tested.tolist(), strict=True)]
        return p, corrected(p, method, lambda: self._family_wise(self.deviation[tested]))

    def _family_wise(self, deviations: FloatArray) -> FloatArray:
        order = np.sort(self.largest)
        below = np.searchsorted(order, deviations - TIE_TOLERANCE)
        return family_wise(order.size - below, order.size)


def standards(
    moments: ItemMoments,
    item_of: Int64Array,
    tested: BoolArray,
    variances: FloatArray | None,
    *,
    centred: bool,
) -> Standards:
    """Return means and reciprocal standard deviations of terms, from their sums over all permutations.

    `item_of`, (L,): each label's item; `tested`, (2, I): items that count by label use, and by distance.
    `variances`, (L,): those of an item's labels in proportion, or None if unknown. Measured ones would set
        apart, by their noise, labels that are equally far off.
    `centred`: True if terms of label use are 0 on average over all regroupings.
    """
    enough = tested & (moments.n >= FEWEST)
    use = _standard(moments.use_sums, moments.n[0, item_of], enough[0, item_of])
    if variances is not None:
        varies = use[1] > 0
        measured = np.bincount(item_of, np.where(varies, 1 / np.where(varies, use[1], 1.0) ** 2, 0.0))
        shared = np.bincount(item_of, np.where(varies, variances, 0.0))
        scale = (measured / np.where(shared > 0, shared, 1.0))[item_of] * variances
        use[1] = np.where(varies, 1 / np.sqrt(np.where(varies, scale, 1.0)), 0.0)
    if centred:
        use[0] = 0.0
    return Standards(use, _standard(moments.apart_sums, moments.n[1], enough[1]))


def _standard(sums: FloatArray, n: Int64Array, enough: BoolArray) -> FloatArray:
    centre, squares = sums / np.maximum(n, 1)
    deviation = np.sqrt(np.maximum(squares - centre**2, 0.0))
    varies = enough & (deviation > _CONSTANT * np.maximum(1.0, np.abs(centre)))
    return np.stack([centre, np.where(varies, 1 / np.where(varies, deviation, 1.0), 0.0)])


def deviations(use: FloatArray, labels_ptr: Int64Array, by: Standards) -> tuple[FloatArray, Int64Array]:
    """Return the deviation of each item's furthest label, (I,), NaN without a term, and its row of L."""
    away, starts = np.abs(use - by.use[0]) * by.use[1], labels_ptr[:-1]
    furthest, sizes = np.maximum.reduceat(away, starts), np.diff(labels_ptr)

    def largest(values: FloatArray) -> BoolArray:
        return values >= np.repeat(np.maximum.reduceat(values, starts), sizes) - TIE_TOLERANCE

    # If no label deviates, take the largest term; of equal ones, the label that the group gives more often.
    tied = largest(np.where(np.repeat(furthest > 0, sizes), away, np.abs(use)))
    chosen = largest(np.where(tied, use, -np.inf))
    at = np.minimum.reduceat(np.where(chosen, np.arange(use.size), use.size), starts)
    return furthest, np.minimum(at, use.size - 1)


def least(values: FloatArray) -> FloatArray:
    """Return the smallest value that reaches each observed one; for NaN it is NaN, which nothing reaches."""
    return np.asarray(values - tolerance(values))


def contribution(
    value: float, label: str | None, p: float | None, q: float | None, n: int, *, varies: bool
) -> Contribution:
    """Make one item's contribution, with its significance or the reason why it is not tested."""
    reason: Remark | None = None
    if p is None:
        reason = NoValue.FEW_SHUFFLED_VALUES(shuffled=n) if varies else NoValue.ONE_LABEL_ACROSS()
    return Contribution(value, label, p, q, significance_of(p, q), reason)


def top_tenth(sizes: FloatArray, shares: Sequence[float] | FloatArray) -> TopTenth | None:
    """Compare the top tenth's share of sizes (I,) with those of permutations; None if all sizes are 0."""
    share, known = top_share(sizes), np.asarray(shares)[~np.isnan(shares)]
    if np.isnan(share):
        return None
    chance = np.quantile(known, _RANGE).tolist() if known.size >= FEWEST else [None] * 3
    return TopTenth(tenth(sizes.size), share, chance[1], chance[0], chance[2])
