"""What was found about a group's items, their texts, and its file form (``grasp-items``)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal, Self

from grasp_core.model.data_spec import DataSpec
from grasp_core.model.groups import Group
from grasp_core.model.json_values import damaged, from_json, in_file, require_header, to_json
from grasp_core.model.outcome import Significance
from grasp_core.model.remarks.remark import Remark
from grasp_core.model.result import DataSummary, group_of, with_group
from grasp_core.model.spec import RunSpec
from grasp_core.read.table.table import Table

KEPT = 1_200
"""Characters kept of a text; nobody reads more of it in a table."""


def texts_of_items(table: Table, spec: DataSpec) -> dict[str, str] | None:
    """The beginning of the first text of each item; None where no column holds texts.

    Parameters
    ----------
    table : Table
        The annotations.
    """
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
"""What items may carry."""


@dataclass(frozen=True, slots=True)
class Contribution:
    """What one item adds to a measure of the group.

    `value` is its part of the distance, or of how much more often the group gives `label`, the one that lies
    furthest on this item; the parts that all items have in one label, or in the distance, add up to the
    group's value. `q` is `p` after correction over the items. Where there is no p-value, `reason` says why.
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
        """What the item adds to a measure."""
        return self.distance if measure == "distance" else self.label_use


@dataclass(frozen=True, slots=True)
class TopTenth:
    """The share of all that items carry which the tenth of them carries that carries most.

    `chance` is the median of that share over the permutations, `low` and `high` hold 95 % of them; None
    where fewer than 100 permutations have such a share.
    """

    items: int
    share: float
    chance: float | None
    low: float | None
    high: float | None


@dataclass(frozen=True, slots=True)
class Spread:
    """How a measure is spread over the items.

    `items` have a value and `tested` of them a p-value. Without any value `reason` says why.
    """

    items: int
    tested: int
    top: TopTenth | None
    reason: Remark | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ItemsResult:
    """Which items carry one group's distance and label use.

    `data` and `spec` are the run's, `permutations` those that were computed, `question` the column of labels
    that was looked at. `distance` is None without an item on which both sides have two labels; `label_use`
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
    spread: Mapping[str, Spread]
    items: tuple[ItemOutcome, ...]
    warnings: tuple[Remark, ...]

    def to_dict(self) -> dict[str, Any]:
        """JSON-ready form, with its format and version; described in docs."""
        return {"format": FORMAT, "version": FORMAT_VERSION, **to_json(self)}

    @classmethod
    def from_dict(cls, plain: Any) -> Self:
        """Read :meth:`to_dict`'s form.

        Raises
        ------
        DataError
            If it is of another format or version, or a field is missing or of the wrong kind.
        """
        plain = require_header(plain, "a GRASP result about items", FORMAT, (FORMAT_VERSION,))
        with damaged("the file of items"):
            return from_json(plain, cls)


in_file(ItemsResult, with_group, group_of)
