"""Right labels that stand beside the annotations, in a column of the same file."""

from __future__ import annotations

from grasp_core.data_spec import DataSpec
from grasp_core.errors import DataError
from grasp_core.io.dataset.recoding import own_recoded
from grasp_core.io.table.table import Table
from grasp_core.wording import closest, listed, quoted


def gold_labels(annotations: Table, spec: DataSpec, column: str) -> dict[str, str]:
    """Right label of each item that has one in a column of the annotations file, recoded as the data are.

    Raises
    ------
    DataError
        If the layout has no such column, or an item has two right labels.
    """
    table = own_recoded(annotations, spec)
    item = spec.item
    if spec.layout == "raters-by-items" or item is None:
        raise DataError(f"{table.name}: in this layout no column can tell right labels; write a row per item")
    for name in (column, item):
        if name not in table.columns:
            close = closest(name, table.columns)
            hint = f"did you mean {listed(close)}?" if close else f"its columns are {listed(table.columns)}"
            raise DataError(f"{table.name} has no column {quoted(name)}; {hint}")
    items, labels = table.column(item), table.column(column)
    known: dict[str, str] = {}
    for position, (one, label) in enumerate(zip(items.codes.tolist(), labels.codes.tolist(), strict=True)):
        text = labels.values[label]
        if text and text not in spec.missing:
            first = known.setdefault(items.values[one], text)
            if first != text:
                raise DataError(
                    f"{table.name}, row {table.row(position)}, column {quoted(column)}: the item has another "
                    "right label in an earlier row; give every item one"
                )
    return known
