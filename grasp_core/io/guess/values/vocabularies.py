"""The labels, and their order, that the types of columns name: ordered categories, value labels of SPSS."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import replace

from grasp_core.data_spec import DataSpec
from grasp_core.io.dataset.checks import MAX_CATEGORIES
from grasp_core.io.dataset.recoding import in_order
from grasp_core.io.dataset.votes import cell_columns
from grasp_core.io.guess.reasons import Reason
from grasp_core.io.guess.values.missing import label_cells
from grasp_core.io.table.table import Table
from grasp_core.io.table.vocabulary import Vocabulary
from grasp_core.wording import agree, listed, quoted


def with_vocabulary(
    table: Table, spec: DataSpec, declared: Collection[str]
) -> tuple[DataSpec, list[Reason], bool]:
    """The reading with the labels that the data's types name, why, and whether they stand in an order.

    Labels that nobody uses stay; those that are `declared` to mean no value do not. A reading that recodes
    labels, or names them, is left as it is.
    """
    if spec.categories is not None or spec.recode or not table.vocabularies:
        return spec, [], False
    known = _common(table, spec)
    if known is None:
        return spec, [], False
    found = {text for text in label_cells(table, spec) if text not in spec.missing}
    values = tuple(
        text for text in known.values if text not in spec.missing and (text in found or text not in declared)
    )
    unused = [text for text in values if text not in found]
    if not found <= set(values) or not 2 <= len(values) <= MAX_CATEGORIES:
        return spec, [], False
    if not known.ordered and not unused:
        return spec, [], False
    if not known.ordered:
        values = in_order(values, ())
    said = [f"{' < '.join(map(quoted, values))}, as its type has them"] if known.ordered else []
    if unused:
        has = agree(len(unused), "is a label", "are labels")
        said.append(f"{listed(unused)} {has} that no cell has, and counted; whoever names the labels decides")
    why = Reason("categories", f"{quoted(known.column)}: {'; '.join(said)}", "sure")
    return replace(spec, categories=values), [why], known.ordered


def _common(table: Table, spec: DataSpec) -> Vocabulary | None:
    """What the types of all columns of labels say alike; of several questions none."""
    by_column: Mapping[str, Vocabulary] = {one.column: one for one in table.vocabularies}
    if spec.further:
        return None
    of = [by_column.get(name) for name in cell_columns(table, spec)]
    first = of[0] if of else None
    if first is None or any(one is None or _differ(one, first) for one in of):
        return None
    return first


def _differ(one: Vocabulary, other: Vocabulary) -> bool:
    return (one.values, one.ordered) != (other.values, other.ordered)
