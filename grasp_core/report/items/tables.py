"""A group's items as tables: for people, and as CSV."""

from __future__ import annotations

import csv
import io
from collections.abc import Mapping, Sequence
from typing import Literal

import pandas as pd

from grasp_core.panels.items.result import Contribution, ItemOutcome, ItemsResult, Measure
from grasp_core.report.items.sentences import ranked
from grasp_core.report.items.words import cut_text, item_name, percent, points, shares
from grasp_core.report.table_csv import exact, safe_cell
from grasp_core.report.words.names import STARS, format_p_value, format_value, group_label, one_line
from grasp_core.report.words.printable import printable_name

_SIDES = ("group", "others")
_OTHERS = "Others"
ItemOrder = Literal["part", "p", "item"]
"""Rows by the size of the item's part, by its p-value, or as the data have them."""
_TESTS = ("", "_p", "_q", "_significance", "_reason")
CSV_COLUMNS = (
    "item",
    "n_group",
    "n_others",
    "label",
    *(f"{measure}{test}" for measure in ("label_use", "distance") for test in _TESTS),
)
"""Columns of the CSV; behind them are two for each label, ``group: LABEL`` and ``others: LABEL``."""


def in_order(
    result: ItemsResult, measure: Measure, order: ItemOrder
) -> list[tuple[ItemOutcome, Contribution]]:
    """The items that have a part of a measure."""
    found = ranked(result, measure)
    if order == "p":
        return sorted(found, key=lambda pair: 2.0 if pair[1].p is None else pair[1].p)
    if order == "item":
        place = {row.item: at for at, row in enumerate(result.items)}
        return sorted(found, key=lambda pair: place[pair[0].item])
    return found


def items_table(
    result: ItemsResult,
    measure: Measure,
    rows: Sequence[tuple[ItemOutcome, Contribution]],
    texts: Mapping[str, str] | None = None,
) -> pd.DataFrame:
    """Items with their parts, both sides' labels, p and q, as text.

    Parameters
    ----------
    rows : sequence
        Those wanted, from :func:`in_order`.
    texts : mapping from item to text, optional
        Only for those who may see them; an item without one has an empty cell.
    """
    group = _group_head(result)
    cells = []
    for row, part in rows:
        p, q = (format_p_value(one, permutations=result.permutations) for one in (part.p, part.q))
        line: dict[str, str] = {"Item": item_name(row)}
        if texts is not None:
            line["Text"] = cut_text(texts.get(row.item, ""))
        if part.label is not None:
            line["Label"] = one_line(printable_name(part.label))
        line |= {
            "Part": part_text(result, measure, part),
            group: shares(row.inside),
            _OTHERS: shares(row.outside),
            "p": p,
            "q": f"{q} {STARS[part.significance]}".rstrip(),
        }
        cells.append(line)
    return pd.DataFrame(cells)


def side_bars(
    result: ItemsResult, rows: Sequence[tuple[ItemOutcome, Contribution]]
) -> dict[str, list[list[float]]]:
    """Of both sides' columns of :func:`items_table`, each item's shares of the labels, in the data's order.

    Labels of :attr:`ItemsResult.label_use`; a side that gave the item no label has shares of 0.
    """
    labels = list(result.label_use)
    return {
        _group_head(result): [_label_shares(row.inside, labels) for row, _ in rows],
        _OTHERS: [_label_shares(row.outside, labels) for row, _ in rows],
    }


def _label_shares(counts: Mapping[str, int], labels: Sequence[str]) -> list[float]:
    total = sum(counts.values())
    return [round(counts.get(label, 0) / total, 3) if total else 0.0 for label in labels]


def _group_head(result: ItemsResult) -> str:
    """The group's name, unless another column is called so."""
    name = group_label(result.group)
    return f"{name} raters" if name in ("Item", "Text", "Label", "Part", _OTHERS, "p", "q") else name


def part_text(result: ItemsResult, measure: Measure, part: Contribution) -> str:
    """A part as people read it: points of label use; of distance its value and the share of the whole."""
    if measure == "label_use":
        return f"{points(part.value, 2)} points"
    whole = result.distance or 0.0
    value = format_value(part.value) if abs(part.value) >= 0.0005 else f"{part.value:.5f}".replace("-", "−")
    return f"{value} ({percent(part.value / whole)})" if whole > 0 else value


def items_csv(result: ItemsResult) -> str:
    """Every number at full precision, one line per item, in the order of the data.

    Notes
    -----
    Text cells that a spreadsheet would run as a formula get a leading apostrophe. What has no value is empty,
    with the reason beside it.
    """
    buffer = io.StringIO(newline="")
    writer = csv.writer(buffer)
    labels = list(result.label_use)
    writer.writerow([*CSV_COLUMNS, *(safe_cell(f"{side}: {label}") for label in labels for side in _SIDES)])
    for row in result.items:
        counts = [str(of.get(label, 0)) for label in labels for of in (row.inside, row.outside)]
        sizes = [str(sum(of.values())) for of in (row.inside, row.outside)]
        label = safe_cell(row.label_use.label or "")
        parts = [label, *_tests(row.label_use), *_tests(row.distance)]
        writer.writerow([safe_cell(row.item), *sizes, *parts, *counts])
    return buffer.getvalue()


def _tests(part: Contribution | None) -> list[str]:
    """The cells of a part, in the order of the columns; empty without one."""
    if part is None:
        return [""] * len(_TESTS)
    reason = "" if part.reason is None else safe_cell(str(part.reason))
    return [exact(part.value), exact(part.p), exact(part.q), part.significance, reason]
