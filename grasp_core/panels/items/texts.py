"""Items' texts, from the column that holds them: for people who may see the data."""

from __future__ import annotations

from grasp_core.data_spec import DataSpec
from grasp_core.io.table.table import Table

KEPT = 1_200
"""Characters kept of a text; nobody reads more of it in a table."""


def texts_of_items(table: Table, spec: DataSpec) -> dict[str, str] | None:
    """The beginning of the first text of each item; None where no column holds texts.

    Parameters
    ----------
    table : Table
        The annotations.
    spec : DataSpec
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
