"""Functions on tables that run in the process of limited memory and time."""

from grasp_core.reading.dataset.load import fitting, load
from grasp_core.reading.guess.advice import Named
from grasp_core.reading.guess.file_roles import Role, file_roles, with_items
from grasp_core.reading.guess.recognise import Guess, recognise
from grasp_core.reading.table.table import Table


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
