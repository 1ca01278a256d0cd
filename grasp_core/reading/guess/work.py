"""Functions of tables that are called in the process of limited memory and time."""

from grasp_core.model.data_spec import DataSpec
from grasp_core.reading.dataset.load import Dataset, Fitted, fitting, load
from grasp_core.reading.guess.advice import Named
from grasp_core.reading.guess.recognise import Guess, Role, file_roles, recognise, with_items
from grasp_core.reading.table.table import Table

Names = tuple[str, ...]


def guess(
    annotations: Table, raters: Table | None, items: Table | None, *, named: Named, declared: Names
) -> Guess:
    """What the files are recognised as: see :func:`~grasp_core.reading.guess.recognise.recognise`."""
    return with_items(recognise(annotations, raters, named, declared), annotations, items)


def roles(*, as_given: bool, **tables: Table) -> tuple[Role | None, ...]:
    """The role of each file: see :func:`~grasp_core.reading.guess.recognise.file_roles`."""
    return file_roles(list(tables.values()), as_given=as_given)


def dataset(
    annotations: Table,
    raters: Table | None,
    items: Table | None,
    *,
    spec: DataSpec,
    axes: Names | None,
    slices: Names | None,
) -> Dataset:
    """The data set of the files: see :func:`~grasp_core.reading.dataset.load.load`."""
    return load(annotations, raters, spec, axes, items=items, slices=slices)


def fitted(
    annotations: Table, raters: Table | None, items: Table | None, *, spec: DataSpec, axes: Names
) -> Fitted:
    """As much of an earlier reading as fits: see :func:`~grasp_core.reading.dataset.load.fitting`."""
    return fitting(annotations, raters, spec, axes, items)
