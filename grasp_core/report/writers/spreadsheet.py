"""A result as an Excel workbook in which every text stays a text."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence

import pandas as pd

from grasp_core.analysis.rater_map_values import RaterMap
from grasp_core.model.groups import axis_label, group_label
from grasp_core.model.remarks.benchmark import ranked
from grasp_core.model.result import Everybody, RunResult, SliceResult, SlicesResult
from grasp_core.report.contents import conventions, marks, methods, not_estimable, raters_per_item, run_title
from grasp_core.report.findings.sentences import answer
from grasp_core.report.in_numbers import pairs_table
from grasp_core.report.pairs import most_told
from grasp_core.report.rater_map import printable_map, sentences
from grasp_core.report.slices import as_result, as_results
from grasp_core.report.tables import MEAN, dsi_table, label_use_table, or_nan, results_table, with_label_use
from grasp_core.report.words.names import WORDS, reported_statistics
from grasp_core.report.words.printable import printable_result
from grasp_core.report.writers._workbook import Book, Cell, Column, Kind


def table_xlsx(result: RunResult, found: RaterMap | None = None) -> bytes:
    """Workbook with the answer and its warnings, then every table, and the map where it was made."""
    result = printable_result(result)
    found = None if found is None else printable_map(found)
    book = Book(run_title(result.spec), max(result.permutations, 1))
    told = answer(result)
    rows = [("Answer", told.headline.plain)]
    rows += [("Warning", str(warning)) for warning in ranked(result.warnings)]
    rows += [("", sentence.plain) for sentence in told.details]
    if result.pairs:
        rows += [("Pairs", sentence.plain) for sentence in most_told(result, len(result.pairs))]
    book.add("Answer", _texts(("What", "In words"), rows), frozen=1)
    if result.of_everybody and result.everybody is not None:
        for sheet, table in _agreement(result.everybody).items():
            book.add(sheet, table, frozen=1)
        book.add("Data", _data(result))
        return book.content()
    book.add("Table 5", _groups(result), frozen=2)
    book.add("DSI", _dsi(result), frozen=1)
    if with_label_use(result):
        book.add("Label use", _label_use(result), frozen=4)
    if result.pairs:
        book.add("Pairs", _columns(pairs_table(result), _PAIRS), frozen=3)
    if result.slices:
        book.add("Slices", _slices(result, _groups), frozen=5)
    if any(with_label_use(view) for _, _, view in _views(result)):
        book.add("Label use by slice", _slices(result, _label_use), frozen=5)
    if any(view.dsi for _, _, view in _views(result)):
        book.add("DSI by slice", _slices(result, _dsi), frozen=4)
    if result.given:
        blocks = []
        for one in result.given:
            columns = _groups(as_result(result, one))
            blocks.append([Column("Given", "text", [one.column] * len(columns[0].cells)), *columns])
        book.add("Given", _below(blocks), frozen=3)
    if found is not None and found.reason is None:
        axes, groups = _of_map(found)
        book.add("Map of raters", axes, frozen=1)
        book.add("Groups on the map", groups, frozen=2)
    book.add("Methods & conventions", _methods(result, found))
    book.add("Data", _data(result))
    return book.content()


def _agreement(found: Everybody) -> dict[str, list[Column]]:
    """Of all raters: by label, by rater, and by batch, each on its sheet."""
    sheets = {}
    if found.labels:
        sheets["By label"] = [
            Column("Label", "text", [one.label for one in found.labels]),
            Column("Answers", "count", [one.annotations for one in found.labels]),
            Column("Another says so too", "value", [or_nan(one.again) for one in found.labels]),
            Column("By chance", "value", [or_nan(one.by_chance) for one in found.labels]),
            Column("Items with one such answer", "count", [one.alone for one in found.labels]),
        ]
    if found.raters:
        sheets["By rater"] = [
            Column("Rater", "count", [one.number for one in found.raters]),
            Column("Answers", "count", [one.annotations for one in found.raters]),
            Column("As another did", "value", [one.again for one in found.raters]),
            Column("Clearly less", "text", ["yes" if one.differs else "" for one in found.raters]),
        ]
    if found.batches:
        sheets["By batch"] = [
            Column("Column", "text", [one.column for one in found.batches]),
            Column("Value", "text", [one.value for one in found.batches]),
            Column("Items", "count", [one.items for one in found.batches]),
            Column("Alpha", "value", [or_nan(one.alpha) for one in found.batches]),
        ]
    return sheets


def _groups(result: RunResult) -> list[Column]:
    table = results_table(result)
    columns = [
        Column("Axis", "text", table["axis"].tolist()),
        Column("Group", "text", table["group"].tolist()),
        Column("Raters", "count", table["raters"].tolist()),
        Column("Annotations", "count", table["annotations"].tolist()),
    ]
    for name in reported_statistics(result):
        words = WORDS[name].name
        beside = [
            f"{name}_{sign}" for sign in ("arrow", "stars", "fitted", "form") if f"{name}_{sign}" in table
        ]
        signs = table[beside].sum(axis=1).tolist()
        columns += [
            Column(words, "value", table[name].tolist()),
            Column(f"{words} from", "end", table[f"{name}_low"].tolist()),
            Column(f"{words} to", "end", table[f"{name}_high"].tolist()),
            Column(f"{words} ↑↓ *", "mark", signs),
            Column(f"{words} p", "p", table[f"{name}_p"].tolist()),
            Column(f"{words} q", "p", table[f"{name}_q"].tolist()),
        ]
    return columns


_Heads = Mapping[str, tuple[str, Kind]]
_DSI: _Heads = {
    "axis": ("Axis", "text"),
    "dsi": ("DSI", "value"),
    "low": ("from", "end"),
    "high": ("to", "end"),
    "stars": ("*", "mark"),
    "group": ("Attained by", "text"),
    "p": ("p (against the largest of random groupings)", "p"),
    "q": ("q", "p"),
    "p_group": ("p of that group", "p"),
    "stars_group": ("* of that group", "mark"),
    "reason": ("Why not estimable", "text"),
}
_LABEL_USE: _Heads = {
    "axis": ("Axis", "text"),
    "group": ("Group", "text"),
    "raters": ("Raters", "count"),
    "label": ("Label", "text"),
    "shift": ("Points more often than the others", "points"),
    "low": ("from", "points"),
    "high": ("to", "points"),
    "p": ("p", "p"),
    "q": ("q", "p"),
    "stars": ("*", "mark"),
}
_PAIRS: _Heads = {
    "axis": ("Axis", "text"),
    "first": ("First", "text"),
    "second": ("Second", "text"),
    "raters_first": ("Raters of the first", "count"),
    "raters_second": ("Raters of the second", "count"),
    "statistic": ("Statistic, or label in points", "text"),
    "value": ("Value", "value"),
    "low": ("from", "end"),
    "high": ("to", "end"),
    "p": ("p", "p"),
    "q": ("q", "p"),
    "stars": ("*", "mark"),
    "reason": ("Why not estimable", "text"),
    "verdict": ("Verdict of the pair", "text"),
    "verdict_p": ("its p", "p"),
    "verdict_q": ("its q", "p"),
}


def _columns(table: pd.DataFrame, heads: _Heads) -> list[Column]:
    return [Column(head, kind, table[name].tolist()) for name, (head, kind) in heads.items()]


def _dsi(result: RunResult) -> list[Column]:
    return _columns(dsi_table(result), _DSI)


def _label_use(result: RunResult) -> list[Column]:
    """Points as numbers; of the mean, its units."""
    table = label_use_table(result)
    scale = table["label"].eq(MEAN).map({True: 1, False: 100})
    for name in ("shift", "low", "high"):
        table[name] *= scale
    return _columns(table, _LABEL_USE)


def _views(result: RunResult) -> Iterator[tuple[SlicesResult, SliceResult, RunResult]]:
    for found in result.slices:
        for one, view in as_results(result, found):
            yield found, one, view


def _slices(result: RunResult, make: Callable[[RunResult], list[Column]]) -> list[Column]:
    """A sheet's columns of all slices, one below the other, behind the slices' columns, values and items."""
    blocks = []
    for found, one, view in _views(result):
        columns = make(view)
        rows = len(columns[0].cells)
        first = [
            Column("Column", "text", [found.column] * rows),
            Column("Value", "text", [one.value] * rows),
            Column("Items", "count", [one.items] * rows),
        ]
        blocks.append([*first, *columns])
    return _below(blocks)


def _below(blocks: Sequence[Sequence[Column]]) -> list[Column]:
    """Blocks of like columns, one below the other."""
    return [
        Column(of_all[0].head, of_all[0].kind, [cell for one in of_all for cell in one.cells])
        for of_all in zip(*blocks, strict=True)
    ]


def _of_map(found: RaterMap) -> tuple[list[Column], list[Column]]:
    """What each axis explains; and how far two raters of a group differ, and one of it from one outside."""
    axes = found.axes
    rows = [(axis_label(axis.axes), row) for axis in axes for row in axis.groups]
    return [
        Column("Axis", "text", [axis_label(axis.axes) for axis in axes]),
        Column("Groups", "count", [len(axis.groups) for axis in axes]),
        Column("Other raters", "count", [axis.others for axis in axes]),
        Column("Share explained", "value", [or_nan(axis.explained) for axis in axes]),
        Column("by chance", "value", [or_nan(axis.by_chance) for axis in axes]),
        Column("p", "p", [or_nan(axis.p) for axis in axes]),
        Column("q", "p", [or_nan(axis.q) for axis in axes]),
        Column("Why not tested", "text", [str(axis.reason or "") for axis in axes]),
    ], [
        Column("Axis", "text", [axis for axis, _ in rows]),
        Column("Group", "text", [group_label(row.group) for _, row in rows]),
        Column("Raters on the map", "count", [row.n_raters for _, row in rows]),
        Column("Two of the group", "value", [or_nan(row.within) for _, row in rows]),
        Column("One of it, one other", "value", [or_nan(row.between) for _, row in rows]),
    ]


def _methods(result: RunResult, found: RaterMap | None) -> list[Column]:
    analysis = result.spec.analysis
    rows = [("Statistic", method.name, method.explanation, method.formula) for method in methods(result)]
    rows += [("Mark", sign, meaning, "") for sign, meaning in marks(analysis)]
    rows += [
        ("Convention", name, sentence, "") for name, sentence in conventions(result.spec, result.stopping)
    ]
    rows += [("Not estimable", "", sentence, "") for sentence in not_estimable(result)]
    if found is not None:
        said = sentences(found, analysis.level)
        rows += [("Map of raters", "", sentence.plain, "") for sentence in said]
    return _texts(("Kind", "Name", "In words", "Formula"), rows)


def _data(result: RunResult) -> list[Column]:
    data = result.data
    rows: list[tuple[str, str, Cell]] = [
        ("Run", "Title", run_title(result.spec)),
        ("Run", "GRASP version", result.code_version),
        ("Count", "Items", data.items),
        ("Count", "Raters", data.raters),
        ("Count", "Annotations", data.annotations),
        ("Count", "Raters per item", raters_per_item(result)),
    ]
    rows += [
        ("Annotations with label", label, count)
        for label, count in zip(data.categories, data.label_counts, strict=False)
    ]
    if data.account is not None:
        rows.append(("Count", f"{data.account.unit.capitalize()}s read", data.account.read))
        rows += [("Left out", str(one.reason), one.count) for one in data.account.left_out]
    for file in data.files:
        rows += [("Bytes of file", file.name, file.bytes), ("SHA-256 of file", file.name, file.sha256)]
    rows.append(("SHA-256", "All data", data.sha256))
    kinds, names, values = zip(*rows, strict=True)
    return [Column("Kind", "text", kinds), Column("Name", "text", names), Column("Value", "count", values)]


def _texts(heads: Sequence[str], rows: Sequence[Sequence[str]]) -> list[Column]:
    return [Column(head, "text", [row[position] for row in rows]) for position, head in enumerate(heads)]
