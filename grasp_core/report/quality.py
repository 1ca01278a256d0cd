"""The quality report on data before a run: its tables and sentences."""

import dataclasses
import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, Self

import numpy as np
import pandas as pd

from grasp_core.analysis.design import Seen, check_assignment
from grasp_core.analysis.overview import (
    SIZES,
    ConstantInGroup,
    ConstantRaters,
    Overlap,
    Overview,
    RandomInGroup,
    RandomRaters,
    SmallGroups,
    constant_raters,
    overlaps,
    overview,
    random_raters,
    small_groups,
)
from grasp_core.analysis.power import DetectableEffect, GroupPower, estimate, power_tasks
from grasp_core.model.annotations import Axis, Codes
from grasp_core.model.groups import AxisSet, Group, axis_label, form_groups, group_label
from grasp_core.model.json_values import damaged, from_json, in_file, to_json
from grasp_core.model.outcome import AssignmentCheck
from grasp_core.model.remarks.cautions import Caution
from grasp_core.model.remarks.remark import Remark
from grasp_core.model.result import DataSummary, group_of, with_group
from grasp_core.model.text import json_text, number, printable_name
from grasp_core.permutation.draw import Exchange
from grasp_core.reading.dataset.load import Dataset
from grasp_core.reading.screens.constant import FEWEST_ANNOTATIONS
from grasp_core.reading.screens.duplicates import FEWEST_COMMON, CloseRaters, near_duplicates
from grasp_core.reading.screens.random_responders import (
    FEWEST_RATERS,
    FEWEST_SHARED,
    LEAST_AGREEMENT,
    MAX_CELLS,
)
from grasp_core.report.account import assignment_warnings
from grasp_core.report.contents import ranged
from grasp_core.report.tables import Column, numbers, texts
from grasp_core.report.words.names import TEXTS, format_p, format_p_value, two_decimals

FORMAT = "grasp-quality"
FORMAT_VERSION = 1
MIN_RATERS = 2
"""Fewest raters of a group that is named."""


@dataclass(frozen=True, slots=True)
class QualityChecks:
    """Quality of raters, their groups and the axes, without the check for raters who agree too closely."""

    overview: Overview
    random: RandomRaters
    constant: ConstantRaters
    small: tuple[SmallGroups, ...]
    overlaps: tuple[Overlap, ...]
    assignment: tuple[AssignmentCheck, ...]

    def cautions(self, duplicates: CloseRaters | None) -> list[Remark]:
        """Warnings on raters and on the assignment of items, as a run would give them."""
        found, random, constant = assignment_warnings(self.assignment), self.random, self.constant
        if random.random:
            found.append(Caution.RANDOM_RESPONDERS(raters=random.random, looked_at=random.looked_at))
        if constant.constant:
            named = {"raters": constant.constant, "looked_at": constant.looked_at}
            found.append(Caution.CONSTANT_RATERS(**named, least=FEWEST_ANNOTATIONS))
        if duplicates is not None and duplicates.pairs:
            found.append(Caution.NEAR_DUPLICATES(raters=duplicates.raters, pairs=duplicates.pairs))
        return found


@dataclass(frozen=True, slots=True)
class QualityReport(QualityChecks):
    """The report on what data can and cannot show; `power` is empty if it was not asked for."""

    data: DataSummary
    duplicates: CloseRaters
    power: tuple[GroupPower, ...] = ()

    @property
    def warnings(self) -> list[Remark]:
        """The warnings of the whole report."""
        return self.cautions(self.duplicates)

    def to_dict(self) -> dict[str, Any]:
        """JSON-ready form: counts only, no rater is named."""
        return {
            "format": FORMAT,
            "version": FORMAT_VERSION,
            "data": to_json(self.data),
            "overview": {**to_json(self.overview), "missing": self.overview.missing},
            "random_responders": to_json(self.random),
            "constant_raters": to_json(self.constant),
            "near_duplicates": self.duplicates._asdict(),
            "small_groups": to_json(self.small),
            "axes": [{**to_json(row), "nearly_identical": row.nearly_identical} for row in self.overlaps],
            "assignment": [{**to_json(row), "large": row.large} for row in self.assignment],
            "warnings": [one.to_dict() for one in self.warnings],
            "power": to_json(self.power),
        }

    @classmethod
    def from_dict(cls, plain: Mapping[str, Any]) -> Self:
        """The report that :meth:`to_dict` wrote."""
        with damaged("the report"):
            return cls(
                data=from_json(plain["data"], DataSummary),
                overview=from_json(plain["overview"], Overview),
                random=from_json(plain["random_responders"], RandomRaters),
                constant=from_json(plain["constant_raters"], ConstantRaters),
                duplicates=CloseRaters(**plain["near_duplicates"]),
                small=from_json(plain["small_groups"], tuple[SmallGroups, ...]),
                overlaps=from_json(plain["axes"], tuple[Overlap, ...]),
                power=from_json(plain["power"], tuple[GroupPower, ...]),
                assignment=from_json(plain["assignment"], tuple[AssignmentCheck, ...]),
            )


for _kind in (RandomInGroup, ConstantInGroup, GroupPower):
    in_file(_kind, with_group, group_of)
in_file(
    SmallGroups,
    lambda row: {
        **{"axis": row["axes"], "groups": row["groups"], "smallest": row["smallest"]},
        "fewer_than": dict(zip(map(str, SIZES), row["fewer"], strict=True)),
    },
    lambda row: {**row, "axes": row["axis"], "fewer": [row["fewer_than"][str(size)] for size in SIZES]},
)


def looked_at(dataset: Dataset, exchange: Exchange | None = None) -> QualityChecks:
    """Check raters, groups and axes of the data."""
    annotations, raters = dataset.annotations, dataset.raters
    axes = [(name,) for name in raters.axes]
    grouping = form_groups(raters, axes, min_raters=MIN_RATERS)
    return QualityChecks(
        overview(annotations, raters),
        random_raters(annotations, raters),
        constant_raters(annotations, raters),
        small_groups(raters),
        overlaps(raters),
        check_assignment(Seen.of(annotations), dataset.annotations_of, grouping, axes, exchange),
    )


def power_of(data: Dataset, axes: Sequence[AxisSet], tell: Callable[[int, int], object]) -> list[GroupPower]:
    """Estimate the GAI that a run can find for each group; `tell` takes how many are done, of how many."""
    tasks = power_tasks(data.annotations, data.raters, axes) if axes else ()
    found: list[GroupPower] = []
    for task in tasks:
        tell(len(found), len(tasks))
        found.append(estimate(task))
    return found


def quality_report(
    dataset: Dataset,
    names: Sequence[str] | None = None,
    power: Sequence[GroupPower] = (),
    exchange: Exchange | None = None,
    duplicates: CloseRaters | None = None,
) -> QualityReport:
    """Check everything except power, which takes longer: pass it in, and duplicates, if they are known."""
    if names is not None:
        axes = {name: dataset.raters.axes[name] for name in names}
        dataset = dataclasses.replace(dataset, raters=dataclasses.replace(dataset.raters, axes=axes))
    looked = looked_at(dataset, exchange)
    duplicates = duplicates or near_duplicates(dataset.annotations).counted
    seen = {one.name: getattr(looked, one.name) for one in dataclasses.fields(looked)}
    return QualityReport(data=dataset.summary, duplicates=duplicates, power=tuple(power), **seen)


def quality_json(report: QualityReport) -> str:
    """The report as the text of a JSON file."""
    return json_text(report.to_dict())


NO_VALUE = "–"
NOT_FOUND = "none"
POWER_MEANING: str = TEXTS["explained"]["power"]


def overview_table(found: Overview) -> pd.DataFrame:
    """Sizes and missing annotations; columns ``what`` and ``value`` (text)."""
    rows = {
        "Items": f"{found.items:,}",
        "Raters": f"{found.raters:,}",
        "Annotations": f"{found.annotations:,}",
        "Raters per item": ranged(*dataclasses.astuple(found.raters_per_item)),
        "Annotations per rater": ranged(*dataclasses.astuple(found.annotations_per_rater)),
        "Item-rater pairs with an annotation": f"{found.filled:.1%}",
        "Item-rater pairs without one": f"{found.missing:.1%}",
    }
    for axis in found.unknown:
        rows[f"Raters unknown on {_axis(axis.axis)}"] = f"{axis.raters:,} ({axis.share:.1%})"
    return pd.DataFrame({"what": list(rows), "value": list(rows.values())})


def _overview_numbers(found: Overview) -> pd.DataFrame:
    rows: dict[str, float] = {"items": found.items, "raters": found.raters, "annotations": found.annotations}
    for name in ("raters_per_item", "annotations_per_rater"):
        rows |= {f"{name}_{part}": getattr(getattr(found, name), part) for part in ("low", "median", "high")}
    rows |= {"filled": found.filled} | {f"unknown_{one.axis}": one.raters for one in found.unknown}
    return pd.DataFrame({"what": list(rows), "value": list(map(float, rows.values()))})


def histogram_table(found: Overview) -> pd.DataFrame:
    """Items by number of raters."""
    bars = found.items_by_raters
    names = [f"{bar.low:,}" if bar.low == bar.high else f"{bar.low:,} to {bar.high:,}" for bar in bars]
    return pd.DataFrame({"raters per item": names, "items": [bar.items for bar in bars]})


def screened_table(found: RandomRaters | ConstantRaters) -> pd.DataFrame:
    """Groups that have raters at chance, or raters who gave one label always."""
    at_chance = isinstance(found, RandomRaters)
    named = Column("random", "at chance") if at_chance else Column("constant", "always one label")
    return texts((*_OF_GROUP, named, Column("looked_at", "raters looked at")), found.by_group)


def small_groups_table(found: Sequence[SmallGroups]) -> pd.DataFrame:
    """Groups per axis and pair of axes, and how many are small."""
    few = [
        Column(partial(lambda place, row: row.fewer[place], place), f"fewer than {size} raters")
        for place, size in enumerate(SIZES)
    ]
    smallest = Column("smallest", "raters in the smallest")
    return texts((Column("axes", "axis", _axes), Column("groups", "groups"), smallest, *few), found)


def overlap_table(found: Sequence[Overlap]) -> pd.DataFrame:
    """Association of each pair of axes, closest first."""
    return texts(_OVERLAPS, sorted(found, key=lambda row: -1.0 if row.v is None else row.v, reverse=True))


def power_table(found: Sequence[GroupPower]) -> pd.DataFrame:
    """Effects that a run could find, per group."""
    return texts(_POWER, found)


def looked_tables(found: QualityChecks) -> dict[str, pd.DataFrame]:
    """All tables that have rows, by title."""
    titled = {
        "Overview": overview_table(found.overview),
        "Items by number of raters": histogram_table(found.overview),
        "Raters at chance": screened_table(found.random),
        "Raters who gave one label always": screened_table(found.constant),
        "Small groups": small_groups_table(found.small),
        "Axes that go together": overlap_table(found.overlaps),
        "Items and workloads of groups": texts(ASSIGNED, found.assignment),
    }
    return {title: table for title, table in titled.items() if not table.empty}


def report_tables(report: QualityReport) -> dict[str, pd.DataFrame]:
    """The tables of :func:`looked_tables`, and :func:`power_table` if power was estimated."""
    power = {"What these raters and items could find": power_table(report.power)} if report.power else {}
    return looked_tables(report) | power


def report_numbers(report: QualityReport) -> dict[str, pd.DataFrame]:
    """The tables of :func:`report_tables` with numbers in place of texts, for programs."""
    titled = {
        "Overview": _overview_numbers(report.overview),
        "Axes that go together": numbers(_OVERLAPS, report.overlaps),
        "Items and workloads of groups": numbers(ASSIGNED, report.assignment),
        "What these raters and items could find": numbers(_POWER, report.power),
    }
    return {title: titled.get(title, table) for title, table in report_tables(report).items()}


def findings(found: QualityChecks, duplicates: CloseRaters | None) -> list[str]:
    """Sentences on all that deserves a look; plain text that may quote names of axes."""
    sentences = [f"{one}." for one in found.cautions(duplicates)]
    for row in found.overlaps:
        names = " and ".join(_axes((name,)) for name in (row.first, row.second))
        if row.related and not row.nearly_identical:
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
    """A sentence on the search for raters at chance: raters covered, and raters found."""
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


def duplicates_sentence(found: CloseRaters) -> str:
    """A sentence on the search for near-duplicates: pairs covered, and pairs found."""
    part = "" if found.items_used == 1 else f", on {found.items_used:.0%} of the items, drawn at random"
    if not found.pairs_looked_at:
        return (
            f"No two raters have {FEWEST_COMMON} items in common{part}, so near-duplicates cannot be found."
        )
    result = f"{number(found.pairs, 'pair')} found" if found.pairs else "none found"
    pairs = number(found.pairs_looked_at, "pair")
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


def _shift(row: GroupPower, shift: DetectableEffect | None) -> str:
    if row.reason is not None:
        return NO_VALUE
    if shift is None:
        return NOT_FOUND
    sign = "+" if shift.change >= 0 else ""
    return f"{two_decimals(shift.gai)} ± {shift.error:.2f} ({sign}{two_decimals(shift.change)})"


def _axes(names: tuple[str, ...]) -> str:
    return printable_name(axis_label(names))


def _axis(name: str) -> str:
    return _axes((name,))


def _or_dash(form: str, most: float = math.inf) -> Callable[[float | None], str]:
    return lambda value: NO_VALUE if value is None else form.format(min(value, most))


def _p(value: float | None) -> str:
    return NO_VALUE if value is None else format_p_value(value)


def _group_name(group: Group | None) -> str:
    return NO_VALUE if group is None else printable_name(group_label(group))


def _verdict(row: Overlap) -> str:
    return "nearly identical" if row.nearly_identical else "go together" if row.related else ""


def _most_different_columns(
    name: str, group: str, size: str, form: str, most: float = math.inf
) -> Iterator[Column]:
    """Columns of the group of an axis that differs most by the check `name`: the group, its size, and p."""

    def taken(part: str, row: AssignmentCheck) -> Any:
        found = getattr(row, name)
        return None if found is None else getattr(found, part)

    def label(row: AssignmentCheck) -> str | None:
        found = taken("group", row)
        return None if found is None else group_label(found)

    yield Column(partial(taken, "group"), group, _group_name)
    yield Column(label, name=f"{name}_group")
    yield Column(partial(taken, "size"), size, _or_dash(form, most), f"{name}_size", kind="value")
    yield Column(partial(taken, "p"), f"p of {name}", _p, f"{name}_p", kind="p")


_OF_GROUP = (Column("group.axes", "axis", _axes), Column("group", "group", _group_name))
_OVERLAPS = (
    Column("first", "axis", _axis, "axis"),
    Column("second", "other axis", _axis, "other_axis"),
    Column("v", "Cramér's V", _or_dash("{:.2f}"), "cramers_v", kind="value"),
    Column("p", "p", _p, "p", kind="p"),
    Column("related", name="together"),
    Column("nearly_identical", name="nearly_identical"),
    Column(_verdict, "verdict"),
    Column("raters", "raters", name="raters"),
)
ASSIGNED = (
    Column(lambda row: _axes(row.axes), "axis", name="axis"),
    # Above 1 a group meets the others more often than by chance: it is shown as 1, fully mixed.
    *_most_different_columns("items", "group by items", "meets the others", "{:.0%}", 1.0),
    *_most_different_columns("workload", "group by workload", "times as many", "{:.2f}"),
)
_POWER = (
    Column(lambda row: _axes(row.group.axes), "axis", name="axis"),
    _OF_GROUP[1],
    Column(lambda row: group_label(row.group), name="group"),
    Column("n_raters", "raters", name="raters"),
    Column(
        "expected",
        "usual GAI",
        lambda gai: NO_VALUE if gai is None else two_decimals(gai),
        "gai",
        kind="value",
    ),
    Column(lambda row: _shift(row, row.up), "up to be found"),
    Column(lambda row: _shift(row, row.down), "down to be found"),
    Column(lambda row: row.up and row.up.gai, name="gai_up", kind="value"),
    Column(lambda row: row.down and row.down.gai, name="gai_down", kind="value"),
    Column(lambda row: None if row.reason is None else str(row.reason), name="reason"),
)


# Counts of labels, and of raters by their values

UNKNOWN = "(unknown)"
"""Row or column of the raters whose value on an axis is unknown."""
TOTAL = "Total"


def label_counts(dataset: Dataset) -> pd.DataFrame:
    """Annotations per label, in the order of the categories; ``share`` is of all annotations."""
    data = dataset.summary
    counts = np.array(data.label_counts, dtype=np.int64)
    return pd.DataFrame(
        {"label": list(data.categories), "annotations": counts, "share": counts / max(data.annotations, 1)}
    )


def axis_counts(dataset: Dataset, axis: str) -> pd.DataFrame:
    """Raters and annotations per value of an axis; ``share`` is of all raters."""
    values, codes = _with_unknown(dataset.raters.axes[axis])
    per_rater = np.bincount(dataset.annotations.rater, minlength=codes.size)
    raters = np.bincount(codes, minlength=len(values))
    annotations = np.bincount(codes, weights=per_rater, minlength=len(values)).astype(np.int64)
    return pd.DataFrame(
        {axis: values, "raters": raters, "annotations": annotations, "share": raters / max(codes.size, 1)}
    )


def cross_table(dataset: Dataset, rows: str, columns: str) -> pd.DataFrame:
    """Raters per value of one axis (index) and of another (columns), with totals."""
    row_values, row_codes = _with_unknown(dataset.raters.axes[rows])
    column_values, column_codes = _with_unknown(dataset.raters.axes[columns])
    cell = row_codes * len(column_values) + column_codes
    counts = np.bincount(cell, minlength=len(row_values) * len(column_values))
    counts = counts.reshape(len(row_values), len(column_values))
    counts = np.hstack([counts, counts.sum(axis=1, keepdims=True)])
    counts = np.vstack([counts, counts.sum(axis=0, keepdims=True)])
    return pd.DataFrame(
        counts,
        index=pd.Index([*row_values, TOTAL], name=rows),
        columns=pd.Index([*column_values, TOTAL], name=columns),
    )


def _with_unknown(axis: Axis) -> tuple[list[str], Codes]:
    codes = axis.codes.astype(np.int64)
    if (codes >= 0).all():
        return list(axis.values), codes
    return [*axis.values, UNKNOWN], np.where(codes < 0, len(axis.values), codes)
