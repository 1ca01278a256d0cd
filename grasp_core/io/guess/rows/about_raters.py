"""Rows of a matrix of items by raters that say something of each rater, such as gender, and are no items."""

from __future__ import annotations

from collections import Counter

from grasp_core.data_spec import DataSpec
from grasp_core.io.dataset.votes import cell_columns
from grasp_core.io.guess.values.missing import label_cells
from grasp_core.io.table import names
from grasp_core.io.table.table import Table

_BESIDE = names.word_set("of in group level year years birth range bracket code id")
_OWN = 0.5
"""Share of such a row's cells that hold what no item is labelled with."""


def rows_about_raters(table: Table, spec: DataSpec) -> list[str]:
    """Ids of rows that are called like demographics, and hold other texts than the items do."""
    column = table.column(str(spec.item))
    called = [text for text in column.values if _demographic(text)]
    if not called:
        return []
    columns = cell_columns(table, spec)
    rows = {text: int(column.among([text]).argmax()) for text in called}
    cells = {text: [table.cell(name, row) for name in columns] for text, row in rows.items()}
    within = Counter(cell for row in cells.values() for cell in row if cell not in spec.missing)
    of_items = Counter(label_cells(table, spec)) - within
    return [text for text, row in cells.items() if _differs([one for one in row if one], of_items)]


def _demographic(text: str) -> bool:
    words = set(names.words(text))
    return not words.isdisjoint(names.DEMOGRAPHIC) and words <= names.DEMOGRAPHIC | _BESIDE


def _differs(row: list[str], of_items: Counter[str]) -> bool:
    return bool(row) and sum(not of_items[cell] for cell in row) > _OWN * len(row)
