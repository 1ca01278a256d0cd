"""The column of an items file that holds the item ids."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from grasp_core.data_spec import DataSpec
from grasp_core.errors import raise_stopping
from grasp_core.io.dataset.checks import no_column
from grasp_core.io.dataset.votes import item_rows
from grasp_core.io.guess.reasons import Reason
from grasp_core.io.guess.recognise import Guess
from grasp_core.io.table.table import Table
from grasp_core.wording import quoted

_MOST = 0.5
"""Share of the items from which a column whose name says nothing is likely to hold their ids."""


def with_items(guess: Guess, annotations: Table, items: Table | None, named: str | None = None) -> Guess:
    """The guess with how an items file is read, where there is one.

    Parameters
    ----------
    guess : Guess
        Of the other files.
    annotations, items : Table
    named : str, optional
        The column of the item ids, where somebody has said it.

    Raises
    ------
    DataError
        If the items file lacks the column that is named.
    """
    if items is None:
        return guess
    if named is not None and named not in items.columns:
        raise_stopping([no_column(named, (items,))])
    if named is None:
        named, reason = _item_ids(annotations, items, guess.spec)
        guess = replace(guess, reasons=(*guess.reasons, reason))
    return replace(guess, spec=replace(guess.spec, items_id=named, items_member=items.member))


def _item_ids(annotations: Table, items: Table, spec: DataSpec) -> tuple[str, Reason]:
    """The column, and why; unsure where several hold ids, or none holds many and none is called so."""
    ids = set(item_rows(annotations, spec)[0])
    shares = {name: len(ids.intersection(items.distinct(name))) / max(len(ids), 1) for name in items.columns}
    # Where no column has any of the ids, the one called so is taken, and reading it says what is wrong.
    if spec.item in shares and (shares[spec.item] or not any(shares.values())):
        return spec.item, Reason("items_id", f"{quoted(spec.item)}: named as the item column is", "sure")
    able = [name for name in items.columns if shares[name] >= _MOST and _apart(items, name)]
    if len(able) == 1:
        said = f"{quoted(able[0])} holds {shares[able[0]]:.0%} of the items"
        return able[0], Reason("items_id", said)
    return _unsure(items, able, max(shares, key=lambda name: shares[name]))


def _unsure(items: Table, able: Sequence[str], best: str) -> tuple[str, Reason]:
    if able:
        said = f"several columns of {items.name} hold the items"
    else:
        said = f"no column of {items.name} holds half of the items, each in one row"
    candidates = tuple(able) or items.columns
    return best, Reason("items_id", said, "unsure", candidates)


def _apart(items: Table, name: str) -> bool:
    """Whether the column tells all rows apart."""
    return len(items.distinct(name)) == len(items)
