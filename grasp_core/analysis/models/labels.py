"""A model's labels for the items of a data set, from a file or from a column."""

from collections.abc import Mapping, Sequence

import numpy as np

from grasp_core.model.annotations import Annotations, Codes, Int32Array, ModelLabels
from grasp_core.model.data_spec import DataSpec
from grasp_core.model.errors import DataError
from grasp_core.model.sizes import MIB
from grasp_core.model.spec import ModelSource
from grasp_core.model.text import closest, listed, number, quoted
from grasp_core.reading.dataset.load import Dataset
from grasp_core.reading.dataset.recoding import own_recoded
from grasp_core.reading.table.table import Table

ID, LABEL = "ID", "Label"
"""Columns of a file with a label per item, named as in RAFT."""
MAX_NAME = 80
MAX_MODEL_FILE = 256 * MIB
"""Largest file with a model's labels, in bytes as given; a million labels are about 20 MB."""


def sources(models: Sequence[ModelLabels]) -> tuple[ModelSource, ...]:
    """Return the sources of the models' labels, as a run's spec names them."""
    return tuple(ModelSource(model.name, model.sha256, model.column) for model in models)


def read_model(table: Table, name: str, dataset: Dataset, spec: DataSpec) -> ModelLabels:
    """Read a model's labels from a file with one row per item.

    `table`: with the columns ``ID`` and ``Label``; or with two columns, one named like the item column of
        the data. A blank label means none. Unknown ids are left out if at least half of the items have a
        label, and fewer items lack one than ids are unknown: people voted on part of a benchmark's rows.

    Raises DataError if columns are missing, or an id is unknown or occurs twice, or a label is none of the
    categories.
    """
    check_name(name)
    key, answer = _columns(table, spec)
    annotations = dataset.annotations
    ids, given = table.column(key), table.column(answer)
    of_id = _positions(ids.values, annotations.item_ids)
    of_label = _positions(given.values, annotations.categories)
    has_label = np.array([bool(text.strip()) for text in given.values], dtype=np.bool_)
    item, label = of_id[ids.codes], of_label[given.codes]
    _check_once(table, ids.values, ids.codes)
    gone = item < 0
    # If more ids are unknown than items lack a label, not all are misspelt: people voted on part of the rows.
    unlabelled = annotations.n_items - np.unique(item[~gone]).size
    part = unlabelled <= annotations.n_items / 2 and unlabelled < gone.sum()
    if gone.any() and not part and not any(removal.items for removal in dataset.removals):
        row = int(np.flatnonzero(gone)[0])
        raise DataError(
            f"{table.name}, row {table.row(row)}, column {quoted(key)}: the data have no item "
            f"{quoted(ids.values[ids.codes[row]])}{_more(int(gone.sum()))}; "
            f"its items are called as in the annotations, e.g. {listed(annotations.item_ids[:3])}"
        )
    wrong = (label < 0) & has_label[given.codes] & ~(gone & part)
    if wrong.any():
        row = int(np.flatnonzero(wrong)[0])
        text = given.values[given.codes[row]]
        raise DataError(
            f"{table.name}, row {table.row(row)}, column {quoted(answer)}: "
            f"{_no_category(text, annotations, _more(int(wrong.sum())))}"
        )
    labels = np.full(annotations.n_items, -1, dtype=np.int32)
    labels[item[~gone]] = label[~gone]
    return _model(name, labels, table.name, table.sha256, int(gone.sum()))


def read_model_column(table: Table, column: str, name: str, dataset: Dataset, spec: DataSpec) -> ModelLabels:
    """Read a column of the annotations file as a model, such as experts' gold labels: one value per item.

    Raises DataError if there is no such column, or a value that differs within an item or is no category.
    """
    check_name(name)
    table = own_recoded(table, spec)
    _check_column(table, column, name, spec)
    annotations = dataset.annotations
    ids, given = table.column(str(spec.item)), table.column(column)
    of_label = _positions(given.values, annotations.categories)
    missing = np.array(
        [not text.strip() or text in spec.missing for text in given.values], dtype=np.bool_
    ) & (of_label < 0)
    item = _positions(ids.values, annotations.item_ids)[ids.codes]
    rows = np.flatnonzero((item >= 0) & ~missing[given.codes])
    label = of_label[given.codes]
    wrong = rows[label[rows] < 0]
    if wrong.size:
        text = given.values[given.codes[wrong[0]]]
        raise DataError(
            f"{table.name}, row {table.row(wrong[0])}, column {quoted(column)}: "
            f"{_no_category(text, annotations)}"
        )
    labels = np.full(annotations.n_items, -1, dtype=np.int32)
    labels[item[rows[::-1]]] = label[rows[::-1]]  # backwards, so that the first row's value stays
    differing = rows[labels[item[rows]] != label[rows]]
    if differing.size:
        raise DataError(
            f"{table.name}, row {table.row(differing[0])}, column {quoted(column)}: an item has one value "
            "in one row and another here; a model's column has one value per item"
        )
    return _model(name, labels, f"{table.name}, column {column}", table.sha256, 0, column)


def _check_column(table: Table, column: str, name: str, spec: DataSpec) -> None:
    if spec.layout == "raters-by-items":
        raise DataError(
            f"{table.name} has a row per rater, so no column of it has a value per item; give model "
            f"{quoted(name)} a file with the columns {ID} and {LABEL}"
        )
    if spec.item is None:
        raise DataError(f"{table.name} has no column of item ids, so no column of it can be a model's")
    if column not in table.columns:
        raise DataError(
            f"{table.name} has no column {quoted(column)} for model {quoted(name)}; "
            f"its columns are {listed(table.columns)}"
        )


def read_models(
    asked: Sequence[ModelSource],
    files: Mapping[str, Table],
    annotations: Table,
    dataset: Dataset,
    spec: DataSpec,
) -> tuple[ModelLabels, ...]:
    """Read the models of a run's spec, from `files` by hash or the data's table of annotations."""
    return tuple(
        read_model(files[model.sha256], model.name, dataset, spec)
        if model.column is None
        else read_model_column(annotations, model.column, model.name, dataset, spec)
        for model in asked
    )


def check_name(name: str) -> None:
    """Raise DataError if a name cannot be shown."""
    if not name.strip() or len(name) > MAX_NAME:
        raise DataError(f"a model's name has 1 to {MAX_NAME} characters; found {quoted(name)}")


def check_models(models: Sequence[ModelLabels]) -> None:
    """Raise DataError if there is no model, or two have the same name."""
    if not models:
        raise DataError(f"there is no model to look at; give a file with the columns {ID} and {LABEL}")
    names = [model.name for model in models]
    twice = [name for name in names if names.count(name) > 1]
    if twice:
        raise DataError(f"two models are called {quoted(twice[0])}; give each a name of its own")


def _model(
    name: str, labels: Int32Array, source: str, sha256: str, left_out: int, column: str | None = None
) -> ModelLabels:
    if not (labels >= 0).any():
        raise DataError(f"{source}: model {quoted(name)} has no label for any item of the data")
    labels.flags.writeable = False
    return ModelLabels(name, labels, source, sha256, left_out, column)


def _columns(table: Table, spec: DataSpec) -> tuple[str, str]:
    if ID in table.columns and LABEL in table.columns:
        return ID, LABEL
    if len(table.columns) == 2 and spec.item in table.columns:
        (other,) = (name for name in table.columns if name != spec.item)
        return str(spec.item), other
    raise DataError(
        f"{table.name} needs the columns {ID} (the item's id) and {LABEL}; it has {listed(table.columns)}"
    )


def _positions(values: Sequence[str], among: Sequence[str]) -> Int32Array:
    position = {text: index for index, text in enumerate(among)}
    return np.array([position.get(value, -1) for value in values], dtype=np.int32)


def _check_once(table: Table, values: Sequence[str], codes: Codes) -> None:
    _, first = np.unique(codes, return_index=True)
    if first.size < codes.size:
        again = np.ones(codes.size, dtype=np.bool_)
        again[first] = False
        row = int(np.flatnonzero(again)[0])
        raise DataError(
            f"{table.name}, row {table.row(row)}: the ID {quoted(values[codes[row]])} occurs twice"
            f"{_more(int(again.sum()))}; give each item one row"
        )


def _no_category(text: str, annotations: Annotations, more: str = "") -> str:
    close = closest(text, annotations.categories)
    hint = f"; did you mean {listed(close)}?" if close else ""
    categories = listed(annotations.categories)
    return f"the label {quoted(text)} is none of the categories of the data, {categories}{more}{hint}"


def _more(count: int) -> str:
    return f" (and {number(count - 1, 'more such row')})" if count > 1 else ""
