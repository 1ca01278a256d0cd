"""Whether an earlier reading fits other files of the same columns."""

from __future__ import annotations

import dataclasses
import hashlib
import json
from collections.abc import Sequence
from dataclasses import dataclass

from grasp_core.model.data_spec import DataSpec
from grasp_core.model.errors import raise_stopping
from grasp_core.model.wording import listed
from grasp_core.read.dataset import checks, filters
from grasp_core.read.dataset.recoding import recode
from grasp_core.read.dataset.votes import Votes, read_votes
from grasp_core.read.table.table import Table


@dataclass(frozen=True, slots=True)
class Fitted:
    """As much of a reading as fits.

    Parameters
    ----------
    dropped : tuple of str
        What was left out of it, as parts of a sentence.
    """

    spec: DataSpec
    axes: tuple[str, ...]
    dropped: tuple[str, ...]


def signature(annotations: Table, raters: Table | None, items: Table | None = None) -> str:
    """Hash of the files' column names, in whatever order they stand."""
    columns: list[list[str] | str] = [
        sorted(table.columns) for table in (annotations, raters) if table is not None
    ]
    if items is not None:
        columns += ["items", sorted(items.columns)]
    return hashlib.sha256(json.dumps(columns).encode()).hexdigest()


def fitting(
    annotations: Table,
    raters: Table | None,
    spec: DataSpec,
    axes: Sequence[str],
    items: Table | None = None,
) -> Fitted:
    """As much of a reading as fits these files: axes that exist, and declared labels if all are among them.

    Raises
    ------
    DataError
        If the reading as a whole does not fit, e.g. for a column that does not exist.
    """
    annotations, raters, items, _ = recode(annotations, raters, spec, items)
    raise_stopping(checks.missing_columns(annotations, raters, spec, ()))
    if items is not None and spec.items_id not in items.columns:
        raise_stopping([checks.no_column(str(spec.items_id), (items,))])
    dropped: list[str] = []
    categories = []
    for question in spec.questions:
        raise_stopping(filters.unknown_columns(annotations, question))
        stray = _undeclared(read_votes(annotations, question), question)
        categories.append(None if stray else question.categories)
        if stray:
            dropped.append(f"the order of the labels, for {listed(stray, 5)} was not among them")
    further = (
        dataclasses.replace(question, categories=declared)
        for question, declared in zip(spec.further, categories[1:], strict=True)
    )
    spec = dataclasses.replace(spec, categories=categories[0], further=tuple(further))
    columns = {*annotations.columns, *(raters.columns if raters else ())}
    known = tuple(name for name in axes if name in columns)
    return Fitted(spec, known, tuple(dropped))


def _undeclared(votes: Votes, spec: DataSpec) -> list[str]:
    if spec.categories is None:
        return []
    found = (votes.labels[code] for code in votes.used_labels())
    return [label for label in found if label not in spec.missing and label not in spec.categories]
