"""What is said about data before a run: the quality report, its tables and sentences."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import pandas as pd

from grasp_core.analysis.design import Seen, check_assignment
from grasp_core.analysis.overview import (
    SIZES,
    ConstantRaters,
    Overlap,
    Overview,
    RandomRaters,
    SmallGroups,
    Spread,
    constant_raters,
    overlaps,
    overview,
    random_raters,
    small_groups,
)
from grasp_core.analysis.power import GroupPower, Shift
from grasp_core.model.groups import axis_label, form_groups, group_label
from grasp_core.model.json_values import to_json
from grasp_core.model.outcome import Apart, AssignmentCheck
from grasp_core.model.remarks.cautions import Caution
from grasp_core.model.remarks.remark import Remark
from grasp_core.model.result import DataSummary, with_group
from grasp_core.model.text import agree, json_text, number, printable_name
from grasp_core.permutation.draw import Exchange
from grasp_core.reading.dataset.load import Dataset
from grasp_core.reading.screens.constant import FEWEST_ANNOTATIONS
from grasp_core.reading.screens.duplicates import FEWEST_COMMON, Duplicates, near_duplicates
from grasp_core.reading.screens.random_responders import (
    FEWEST_RATERS,
    FEWEST_SHARED,
    LEAST_AGREEMENT,
    MAX_CELLS,
)
from grasp_core.report.account import said_of_assignment
from grasp_core.report.columns import or_nan
from grasp_core.report.words.names import MINUS, format_p, format_p_value

FORMAT = "grasp-quality"
FORMAT_VERSION = 1
MIN_RATERS = 2
"""Smaller groups are not named."""


@dataclass(frozen=True, slots=True)
class QualityReport:
    """The report on what data can and cannot show; `power` is empty where it was not asked for."""

    data: DataSummary
    overview: Overview
    random: RandomRaters
    constant: ConstantRaters
    duplicates: Duplicates
    small: tuple[SmallGroups, ...]
    overlaps: tuple[Overlap, ...]
    power: tuple[GroupPower, ...] = ()
    assignment: tuple[AssignmentCheck, ...] = ()

    @property
    def warnings(self) -> list[Remark]:
        """What deserves a look of raters and of who rated what, as a run would warn of it."""
        found = said_of_assignment(self.assignment)
        if self.random.random:
            found.append(
                Caution.RANDOM_RESPONDERS(raters=self.random.random, looked_at=self.random.looked_at)
            )
        if self.constant.constant:
            found.append(
                Caution.CONSTANT_RATERS(
                    raters=self.constant.constant, looked_at=self.constant.looked_at, least=FEWEST_ANNOTATIONS
                )
            )
        if self.duplicates.pairs:
            found.append(
                Caution.NEAR_DUPLICATES(raters=self.duplicates.raters, pairs=len(self.duplicates.pairs))
            )
        return found

    def to_dict(self) -> dict[str, Any]:
        """JSON-ready form: counts only, no rater is named."""
        return {
            "format": FORMAT,
            "version": FORMAT_VERSION,
            "data": to_json(self.data),
            "overview": {**to_json(self.overview), "missing": self.overview.missing},
            "random_responders": {
                **to_json(self.random),
                "by_group": [with_group(row) for row in to_json(self.random.by_group)],
            },
            "constant_raters": {
                **to_json(self.constant),
                "by_group": [with_group(row) for row in to_json(self.constant.by_group)],
            },
            "near_duplicates": {
                "pairs": len(self.duplicates.pairs),
                "raters": self.duplicates.raters,
                "pairs_looked_at": self.duplicates.looked_at,
                "items_used": self.duplicates.items_used,
            },
            "small_groups": [
                {
                    "axis": list(row.axes),
                    "groups": row.groups,
                    "smallest": row.smallest,
                    "fewer_than": dict(zip(map(str, SIZES), row.fewer, strict=True)),
                }
                for row in self.small
            ],
            "axes": [{**to_json(row), "nearly_identical": row.nearly_identical} for row in self.overlaps],
            "assignment": [{**to_json(row), "large": row.large} for row in self.assignment],
            "warnings": [one.to_dict() for one in self.warnings],
            "power": [with_group(row) for row in to_json(self.power)],
        }


class Looked(NamedTuple):
    """What is seen of raters, their groups and the axes, but for raters who agree too closely."""

    overview: Overview
    random: RandomRaters
    constant: ConstantRaters
    small: tuple[SmallGroups, ...]
    overlaps: tuple[Overlap, ...]
    assignment: tuple[AssignmentCheck, ...]


def looked_at(dataset: Dataset, exchange: Exchange | None = None) -> Looked:
    """Look at data."""
    annotations, raters = dataset.annotations, dataset.raters
    axes = [(name,) for name in raters.axes]
    grouping = form_groups(raters, axes, min_raters=MIN_RATERS)
    return Looked(
        overview(annotations, raters),
        random_raters(annotations, raters),
        constant_raters(annotations, raters),
        small_groups(raters),
        overlaps(raters),
        check_assignment(Seen.of(annotations), dataset.annotations_of, grouping, axes, exchange),
    )


def quality_report(
    dataset: Dataset,
    names: Sequence[str] | None = None,
    power: Sequence[GroupPower] = (),
    exchange: Exchange | None = None,
) -> QualityReport:
    """Look at everything but power, which takes longer and is given where it was estimated."""
    if names is not None:
        axes = {name: dataset.raters.axes[name] for name in names}
        dataset = dataclasses.replace(dataset, raters=dataclasses.replace(dataset.raters, axes=axes))
    looked = looked_at(dataset, exchange)
    return QualityReport(
        dataset.summary,
        duplicates=near_duplicates(dataset.annotations),
        power=tuple(power),
        **looked._asdict(),
    )


def quality_json(report: QualityReport) -> str:
    """The report's file form."""
    return json_text(report.to_dict())


NO_VALUE = "–"
NOT_FOUND = "none"
POWER_MEANING = (
    "For these raters and items: “up to be found” is the smallest GAI above the usual one that 8 of 10 runs "
    "on data of this shape would mark at p < 0.05; “down” is the largest GAI below it. Smaller differences "
    "may be there and be missed; “none” means that even the strongest simulated effect is mostly missed. "
    "Correction for many groups asks for more. What other raters and items would find, a plan says."
)


def overview_table(found: Overview) -> pd.DataFrame:
    """Sizes and what is missing; columns ``what`` and ``value`` (text)."""
    rows = {
        "Items": f"{found.items:,}",
        "Raters": f"{found.raters:,}",
        "Annotations": f"{found.annotations:,}",
        "Raters per item": _spread(found.raters_per_item),
        "Annotations per rater": _spread(found.annotations_per_rater),
        "Item-rater pairs with an annotation": f"{found.filled:.1%}",
        "Item-rater pairs without one": f"{found.missing:.1%}",
    }
    for axis in found.unknown:
        rows[f"Raters unknown on {_axes((axis.axis,))}"] = f"{axis.raters:,} ({axis.share:.1%})"
    return pd.DataFrame({"what": list(rows), "value": list(rows.values())})


def histogram_table(found: Overview) -> pd.DataFrame:
    """Items by number of raters."""
    bars = found.items_by_raters
    names = [f"{bar.low:,}" if bar.low == bar.high else f"{bar.low:,} to {bar.high:,}" for bar in bars]
    return pd.DataFrame({"raters per item": names, "items": [bar.items for bar in bars]})


def screened_table(found: RandomRaters | ConstantRaters) -> pd.DataFrame:
    """Groups that have raters at chance, or raters who gave one label always."""
    head, count = (
        ("at chance", "random") if isinstance(found, RandomRaters) else ("always one label", "constant")
    )
    return pd.DataFrame(
        {
            "axis": [_axes(row.group.axes) for row in found.by_group],
            "group": [printable_name(group_label(row.group)) for row in found.by_group],
            head: [getattr(row, count) for row in found.by_group],
            "raters looked at": [row.looked_at for row in found.by_group],
        }
    )


def small_groups_table(found: Sequence[SmallGroups]) -> pd.DataFrame:
    """Groups per axis and pair of axes, and how many are small."""
    table = {
        "axis": [_axes(row.axes) for row in found],
        "groups": [row.groups for row in found],
        "raters in the smallest": [row.smallest for row in found],
    }
    for place, size in enumerate(SIZES):
        table[f"fewer than {size} raters"] = [row.fewer[place] for row in found]
    return pd.DataFrame(table)


def overlap_table(found: Sequence[Overlap]) -> pd.DataFrame:
    """How closely each pair of axes goes together, closest first."""
    rows = sorted(found, key=lambda row: -1.0 if row.v is None else row.v, reverse=True)
    return pd.DataFrame(
        {
            "axis": [_axes((row.first,)) for row in rows],
            "other axis": [_axes((row.second,)) for row in rows],
            "Cramér's V": [NO_VALUE if row.v is None else f"{row.v:.2f}" for row in rows],
            "p": [NO_VALUE if row.p is None else format_p_value(row.p) for row in rows],
            "verdict": [
                "nearly identical" if row.nearly_identical else "go together" if row.together else ""
                for row in rows
            ],
            "raters": [row.raters for row in rows],
        }
    )


def assignment_table(found: Sequence[AssignmentCheck]) -> pd.DataFrame:
    """How often each axis's most separate group meets the others on its items, and how much more it rated."""
    rows = []
    for row in found:
        cells = {"axis": _axes(row.axes)}
        for group, size, p, form, most, one in (
            # Above 1 it meets them more often than by chance, which is as mixed as can be.
            ("group by items", "meets the others", "p of items", "{:.0%}", 1.0, row.items),
            ("group by workload", "times as many", "p of workload", "{:.2f}", math.inf, row.workload),
        ):
            cells |= {
                group: NO_VALUE if one is None else printable_name(group_label(one.group)),
                size: NO_VALUE if one is None else form.format(min(one.size, most)),
                p: NO_VALUE if one is None else format_p_value(one.p),
            }
        rows.append(cells)
    columns = ["axis", "group by items", "meets the others", "p of items"]
    columns += ["group by workload", "times as many", "p of workload"]
    return pd.DataFrame(rows, columns=columns)


def power_table(found: Sequence[GroupPower]) -> pd.DataFrame:
    """Effects that a run could find, per group."""
    return pd.DataFrame(
        {
            "axis": [_axes(row.group.axes) for row in found],
            "group": [printable_name(group_label(row.group)) for row in found],
            "raters": [row.n_raters for row in found],
            "usual GAI": [NO_VALUE if row.expected is None else _number(row.expected) for row in found],
            "up to be found": [_shift(row, row.up) for row in found],
            "down to be found": [_shift(row, row.down) for row in found],
        }
    )


def findings(found: Looked | QualityReport, duplicates: Duplicates | None) -> list[str]:
    """Sentences on all that deserves a look; plain text that may quote names of axes."""
    random, constant = found.random, found.constant
    sentences = [f"{warning}." for warning in said_of_assignment(found.assignment)]
    if random.random:
        sentences.append(
            f"{number(random.random, 'rater')} of {random.looked_at:,} with {FEWEST_SHARED} or more items "
            f"that others labelled too {agree(random.random, 'agrees', 'agree')} with them no more than "
            "chance does, as if without reading. A few such raters in a group make it differ where nobody's "
            "opinion does: leave them out."
        )
    if constant.constant:
        sentences.append(
            f"{number(constant.constant, 'rater')} of {constant.looked_at:,} with {FEWEST_ANNOTATIONS} or "
            "more annotations gave one label always, more than its frequency explains. If they did not look, "
            "leave them out."
        )
    if duplicates is not None and duplicates.pairs:
        sentences.append(
            f"{number(len(duplicates.pairs), 'pair')} of raters ({number(duplicates.raters, 'rater')}) agree "
            "far more than independent raters would: one person with two accounts, copied answers, or two "
            "people who see the task very much alike. Look before you leave anybody out."
        )
    for row in found.overlaps:
        names = " and ".join(_axes((name,)) for name in (row.first, row.second))
        if row.together and not row.nearly_identical:
            sentences.append(
                f"{names} overlap among the raters (Cramér's V {row.v:.2f}, {format_p(row.p)}): it cannot "
                "be told yet which matters. Test each given the other: on Analysis, under Given, or "
                "by --given."
            )
        if row.nearly_identical:
            sentences.append(
                f"{names} go together so closely (Cramér's V {row.v:.2f}) that these data cannot tell "
                "them apart: what is found for the one may be due to the other."
            )
    tiny = [row for row in found.small if len(row.axes) == 1 and row.fewer[1]]
    if tiny:
        names = ", ".join(_axes(row.axes) for row in tiny)
        groups = sum(row.fewer[1] for row in tiny)
        sentences.append(
            f"{number(groups, 'group')} of single axes ({names}) with fewer than {SIZES[1]} raters: little "
            "can be said about such groups, and they may point to persons."
        )
    return sentences


def random_sentence(found: RandomRaters) -> str:
    """A sentence on what the search for raters at chance covered."""
    if found.agreement is None:
        return (
            f"Raters at chance: not looked for, which takes {FEWEST_RATERS} raters with {FEWEST_SHARED} or "
            f"more items that others labelled too, and at most {MAX_CELLS:,} annotations times labels."
        )
    covered = number(found.looked_at, "rater")
    if found.agreement < LEAST_AGREEMENT:
        return (
            f"Raters at chance: none named among {covered}, since here everybody agrees little: the typical "
            f"rater avoids {max(found.agreement, 0):.0%} of the disagreements of chance."
        )
    named = f"{found.random:,} found" if found.random else "none found"
    return (
        f"Raters at chance: {named} among {covered} with {FEWEST_SHARED} or more items that others labelled."
    )


def duplicates_sentence(found: Duplicates) -> str:
    """A sentence on what the search for near-duplicates covered."""
    part = "" if found.items_used == 1 else f", on {found.items_used:.0%} of the items, drawn at random"
    if not found.looked_at:
        return (
            f"No two raters have {FEWEST_COMMON} items in common{part}, so near-duplicates cannot be found."
        )
    result = f"{number(len(found.pairs), 'pair')} found" if found.pairs else "none found"
    pairs = number(found.looked_at, "pair")
    return (
        f"Near-duplicates: {result} among {pairs} of raters with {FEWEST_COMMON} or more common items{part}."
    )


def power_sentences(found: Sequence[GroupPower]) -> list[str]:
    """Sentences to stand beside :func:`power_table`."""
    sentences = [POWER_MEANING]
    thinned = next((row for row in found if row.n_items < row.all_items), None)
    if thinned is not None:
        sentences.append(
            f"Simulated on {thinned.n_items:,} of {thinned.all_items:,} items, drawn at random, to bound the "
            "time: with all of them, somewhat smaller differences are found too."
        )
    reasons = dict.fromkeys(row.reason for row in found if row.reason)
    return [*sentences, *(f"{NO_VALUE}: {reason}." for reason in reasons)]


def _shift(row: GroupPower, shift: Shift | None) -> str:
    if row.reason is not None:
        return NO_VALUE
    if shift is None:
        return NOT_FOUND
    sign = "+" if shift.change >= 0 else ""
    return f"{_number(shift.gai)} ± {shift.error:.2f} ({sign}{_number(shift.change)})"


def _number(value: float) -> str:
    return f"{value:.2f}".replace("-", MINUS)


def _spread(spread: Spread) -> str:
    if spread.low == spread.high:
        return f"{spread.low:,}"
    return f"{spread.low:,} to {spread.high:,} (median {spread.median:,g})"


def _axes(names: tuple[str, ...]) -> str:
    return printable_name(axis_label(names))


def report_numbers(report: QualityReport) -> dict[str, pd.DataFrame]:
    """The tables of :func:`report_tables` with numbers in place of texts, for programs."""
    sizes = report.overview
    overview: dict[str, float] = {
        "items": sizes.items,
        "raters": sizes.raters,
        "annotations": sizes.annotations,
    }
    for name, spread in (
        ("raters_per_item", sizes.raters_per_item),
        ("annotations_per_rater", sizes.annotations_per_rater),
    ):
        overview |= {f"{name}_{part}": getattr(spread, part) for part in ("low", "median", "high")}
    overview |= {"filled": sizes.filled} | {f"unknown_{one.axis}": one.raters for one in sizes.unknown}
    titled = {
        "Overview": pd.DataFrame({"what": list(overview), "value": list(map(float, overview.values()))}),
        "Axes that go together": pd.DataFrame(
            [
                {
                    "axis": row.first,
                    "other_axis": row.second,
                    "cramers_v": or_nan(row.v),
                    "p": or_nan(row.p),
                    "together": row.together,
                    "nearly_identical": row.nearly_identical,
                    "raters": row.raters,
                }
                for row in report.overlaps
            ]
        ),
        "Items and workloads of groups": pd.DataFrame(
            [
                {
                    "axis": _axes(row.axes),
                    **_of_apart("items", row.items),
                    **_of_apart("workload", row.workload),
                }
                for row in report.assignment
            ]
        ),
        "What these raters and items could find": pd.DataFrame(
            [
                {
                    "axis": _axes(row.group.axes),
                    "group": group_label(row.group),
                    "raters": row.n_raters,
                    "gai": or_nan(row.expected),
                    "gai_up": or_nan(None if row.up is None else row.up.gai),
                    "gai_down": or_nan(None if row.down is None else row.down.gai),
                    "reason": None if row.reason is None else str(row.reason),
                }
                for row in report.power
            ]
        ),
    }
    return {title: titled.get(title, table) for title, table in report_tables(report).items()}


def _of_apart(name: str, found: Apart | None) -> dict[str, object]:
    if found is None:
        return {f"{name}_group": None, f"{name}_size": float("nan"), f"{name}_p": float("nan")}
    return {f"{name}_group": group_label(found.group), f"{name}_size": found.size, f"{name}_p": found.p}


def report_tables(report: QualityReport) -> dict[str, pd.DataFrame]:
    """All tables that have rows, by title."""
    titled = {
        "Overview": overview_table(report.overview),
        "Items by number of raters": histogram_table(report.overview),
        "Raters at chance": screened_table(report.random),
        "Raters who gave one label always": screened_table(report.constant),
        "Small groups": small_groups_table(report.small),
        "Axes that go together": overlap_table(report.overlaps),
        "Items and workloads of groups": assignment_table(report.assignment),
        "What these raters and items could find": power_table(report.power),
    }
    return {title: table for title, table in titled.items() if not table.empty}
