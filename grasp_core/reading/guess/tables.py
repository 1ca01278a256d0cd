"""Guessing and loading of tables in a process of limited memory and time."""

from collections.abc import Callable, Collection, Sequence
from contextlib import suppress

from grasp_core.model.data_spec import DataSpec
from grasp_core.model.errors import DataError
from grasp_core.reading.dataset.load import Dataset, Fitted, fitting, load
from grasp_core.reading.guess.advice import Named
from grasp_core.reading.guess.file_roles import Role, file_roles, with_items
from grasp_core.reading.guess.recognise import Guess, recognise
from grasp_core.reading.sandbox.read import handle
from grasp_core.reading.table.table import Table

AT_ONCE = 16 * 2**20  # largest size, in bytes, of a file of which several sheets are read to find their roles
_TRIED = 20  # largest number of sheets, or files of an archive, that are examined


def guessed(
    annotations: Table,
    raters: Table | None = None,
    items: Table | None = None,
    *,
    named: Named | None = None,
    declared: Collection[str] = (),
    further: Collection[str] = (),
) -> Guess:
    """Recognise files: roles of columns, layout and axes."""
    given = {"named": named or Named(), "declared": tuple(declared), "further": tuple(further)}
    return handle(guess, _tables(annotations, raters, items), given)


def roles_of(tables: Sequence[Table], *, as_given: bool = False) -> tuple[Role | None, ...]:
    """Return the role of each of several files."""
    numbered = {f"file {place}": table for place, table in enumerate(tables)}
    return handle(roles, numbered, {"as_given": as_given})


def inside(
    table: Table,
    read: Callable[[str], Table],
    roles: Callable[..., tuple[Role | None, ...]] = roles_of,
    *,
    but: str | None = None,
) -> dict[Role, Table]:
    """Return tables by role in the sheets of a workbook, or the files of an archive, as of separate files.

    There are none if all sheets were read as one `table`; the sheet `but`, of a known role, is skipped.
    """
    if table.member is None or len(table.members) < 2 or table.bytes > AT_ONCE:
        return {}
    tables = []
    for member in dict.fromkeys((table.member, *table.members[:_TRIED])):
        if member != but:
            with suppress(DataError):
                tables.append(read(member))
    archive = "zip" in table.kind or "folder" in table.kind
    found = roles(tables, as_given=not archive)
    if None in found and found.count(None) > (whole := roles(tables)).count(None):
        found = whole  # the first sheet does not contain the labels
    held: dict[Role, Table] = {}
    for one, role in zip(tables, found, strict=True):
        if role is not None and (archive or role != "items"):
            held.setdefault(role, one)
    return held


def loaded(
    annotations: Table,
    raters: Table | None,
    spec: DataSpec,
    axes: Sequence[str] | None = None,
    *,
    items: Table | None = None,
    slices: Sequence[str] | None = None,
) -> Dataset:
    """Load the data set that `spec` describes."""
    given = {"spec": spec, "axes": axes, "slices": slices}
    return handle(load, _tables(annotations, raters, items), given)


def fitted(
    annotations: Table, raters: Table | None, spec: DataSpec, axes: Sequence[str], items: Table | None = None
) -> Fitted:
    """Return the parts of an earlier reading that fit these files."""
    return handle(fitting, _tables(annotations, raters, items), {"spec": spec, "axes": axes})


def _tables(annotations: Table, raters: Table | None, items: Table | None) -> dict[str, Table | None]:
    return {"annotations": annotations, "raters": raters, "items": items}


# Functions on tables that run in that process


def guess(
    annotations: Table,
    raters: Table | None,
    items: Table | None,
    *,
    named: Named,
    declared: tuple[str, ...],
    further: tuple[str, ...],
) -> Guess:
    """Recognise the files: see :func:`~grasp_core.reading.guess.recognise.recognise`."""
    return with_items(recognise(annotations, raters, named, declared, further), annotations, items)


def roles(*, as_given: bool, **tables: Table) -> tuple[Role | None, ...]:
    """Return the role of each file: see :func:`~grasp_core.reading.guess.file_roles.file_roles`."""
    return file_roles(list(tables.values()), as_given=as_given)


WORK = (guess, roles, load, fitting)
