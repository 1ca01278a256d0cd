"""What files and columns are taken for, and what is asked."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Literal

from grasp_core.model.data_spec import DataSpec
from grasp_core.model.errors import DataError, raise_stopping
from grasp_core.model.text import listed, quoted
from grasp_core.reading.dataset.checks import no_column
from grasp_core.reading.dataset.votes import item_rows
from grasp_core.reading.guess.advice import Reason
from grasp_core.reading.guess.look import Look
from grasp_core.reading.guess.recognise import Guess, recognise
from grasp_core.reading.table import names
from grasp_core.reading.table.parsed import PLUS, with_joined
from grasp_core.reading.table.table import Table

_NAMES = {
    "layout": "layout",
    "item": "item column",
    "rater": "rater column",
    "label": "label column",
    "items_id": "items file's column of item ids",
}
_MOST_ASKED = 12


def question(reason: Reason) -> str:
    """The question that an unsure reason asks, e.g. "the label column is not certain: 'a' or 'b'?"."""
    if not reason.candidates:
        return reason.sentence
    explained = reason.field == "layout" or len(reason.candidates) == 1 or PLUS in reason.candidates[0]
    why = f" ({reason.sentence})" if explained else ""
    *others, last = reason.candidates
    either = f"{listed(others)} or {quoted(last)}" if others else quoted(last)
    if len(others) >= _MOST_ASKED:
        either = listed(reason.candidates, _MOST_ASKED)
    return f"the {_NAMES[reason.field]} is not certain: {either}?{why}"


_MOST = 0.5
"""Share of the items from which a column whose name says nothing is likely to hold their ids."""


def with_items(guess: Guess, annotations: Table, items: Table | None, named: str | None = None) -> Guess:
    """The guess with how an items file is read, where there is one.

    - `named`: the column of the item ids, where somebody has said it.
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
    able = [
        name
        for name in items.columns
        if shares[name] >= _MOST and len(items.distinct(name)) == len(items)  # it tells all rows apart
    ]
    if len(able) == 1:
        said = f"{quoted(able[0])} holds {shares[able[0]]:.0%} of the items"
        return able[0], Reason("items_id", said)
    said = f"no column of {items.name} holds half of the items, each in one row"
    if able:
        said = f"several columns of {items.name} hold the items"
    best = max(shares, key=lambda name: shares[name])
    return best, Reason("items_id", said, "unsure", tuple(able) or items.columns)


Role = Literal["annotations", "raters", "items"]

_SHARED = 0.5
"""Share of a file's ids, or of those that the annotations have, that both must hold."""
_APART = 0.9
"""Share of a column's rows that have a value of their own where it holds the ids of a file."""
_EQUAL = 0.05
"""Shares that differ by less do not tell raters from items."""


def file_roles(tables: Sequence[Table], *, as_given: bool = False) -> tuple[Role | None, ...]:
    """The role of each file.

    The annotations are in the file that most others can be joined to. Another file describes raters, or
    items, where it has a row for each of them. A file of the annotations' own columns holds more of them.

    - `as_given`: the first that can hold annotations does, as on the sheets of a workbook.
    """
    of_raters: tuple[Role, ...] = ("raters",)
    if all(table.recipe is not None and table.recipe.raters for table in tables):
        return of_raters * len(tables)
    best: tuple[Role | None, ...] = ()
    refusal: DataError | None = None
    largest = sorted(tables, key=lambda table: len(table) * len(table.columns), reverse=True)
    for table in tables if as_given else largest:
        try:
            spec = recognise(table).spec
        except DataError as error:
            refusal = refusal or error
            continue
        roles = tuple("annotations" if other is table else _role(table, spec, other) for other in tables)
        if not best or roles.count(None) < best.count(None):
            best = roles
        if as_given or None not in roles:
            break
    if not best:
        raise refusal or DataError("no file was given")
    return best


def _role(annotations: Table, spec: DataSpec, other: Table) -> Role | None:
    if other.recipe is not None and other.recipe.raters:
        return "raters"
    if set(other.columns) == set(annotations.columns):
        return "annotations"
    # Ids of raters and items, as the annotations name them.
    table = with_joined(annotations, (spec.item, spec.rater))
    own = {name: set(table.distinct(name)) - {""} for name in (spec.item, spec.rater) if name is not None}
    heads = set(annotations.columns) - own.keys()
    ids: dict[Role, set[str]] = {
        "raters": heads if spec.layout == "items-by-raters" else own.get(str(spec.rater), set()),
        "items": heads if spec.layout == "raters-by-items" else own.get(str(spec.item), set()),
    }
    look = Look(other)
    shares: dict[Role, float] = {"raters": 0.0, "items": 0.0}
    keys: dict[Role, str] = {}
    for name in other.columns:
        known = look.texts(name)
        if len(known) < 2 or len(known) < _APART * look.n:
            continue
        for role, texts in ids.items():
            share = len(known & texts) / max(min(len(known), len(texts)), 1)
            if share > shares[role] and len(known & texts) > 1:
                shares[role], keys[role] = share, name
    if max(shares.values()) < _SHARED:
        return None
    if abs(shares["raters"] - shares["items"]) > _EQUAL:
        return max(shares, key=lambda role: shares[role])
    # Where raters and items have the same ids, such as 1, 2 and 3, the names of columns tell.
    for name in keys.values():
        if name in (spec.rater, spec.item):
            return "raters" if name == spec.rater else "items"
    of_raters = any(names.mentions(name, names.RATER | names.DEMOGRAPHIC) for name in other.columns)
    of_items = any(names.mentions(name, names.ITEM | names.TEXT) for name in other.columns)
    if of_raters == of_items:
        return None
    return "raters" if of_raters else "items"
