"""Tables guessed and loaded in a process of limited memory and time, as they are by what is called there."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from grasp_core.model.data_spec import DataSpec
from grasp_core.reading import work
from grasp_core.reading.dataset.load import Dataset, Fitted
from grasp_core.reading.guess.advice import Named
from grasp_core.reading.guess.recognise import Guess, Role
from grasp_core.reading.sandbox.read import handle
from grasp_core.reading.table.table import Table


def guessed(
    annotations: Table,
    raters: Table | None = None,
    items: Table | None = None,
    *,
    named: Named | None = None,
    declared: Collection[str] = (),
) -> Guess:
    """What files are recognised as."""
    given = {"named": named or Named(), "declared": tuple(declared)}
    return handle(work.guess, _tables(annotations, raters, items), given)


def roles_of(tables: Sequence[Table], *, as_given: bool = False) -> tuple[Role | None, ...]:
    """What each of several files holds."""
    numbered = {f"file {place}": table for place, table in enumerate(tables)}
    return handle(work.roles, numbered, {"as_given": as_given})


def loaded(
    annotations: Table,
    raters: Table | None,
    spec: DataSpec,
    axes: Sequence[str] | None = None,
    *,
    items: Table | None = None,
    slices: Sequence[str] | None = None,
) -> Dataset:
    """The data set that `spec` describes."""
    given = {"spec": spec, "axes": _names(axes), "slices": _names(slices)}
    return handle(work.dataset, _tables(annotations, raters, items), given)


def fitted(
    annotations: Table, raters: Table | None, spec: DataSpec, axes: Sequence[str], items: Table | None = None
) -> Fitted:
    """As much of an earlier reading as fits these files."""
    return handle(work.fitted, _tables(annotations, raters, items), {"spec": spec, "axes": tuple(axes)})


def _tables(annotations: Table, raters: Table | None, items: Table | None) -> dict[str, Table | None]:
    return {"annotations": annotations, "raters": raters, "items": items}


def _names(names: Sequence[str] | None) -> tuple[str, ...] | None:
    return None if names is None else tuple(names)
