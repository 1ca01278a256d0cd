"""The role of each file: annotations, raters or items; and how the items file is read."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Literal

from grasp_core.model.data_spec import DataSpec
from grasp_core.model.errors import DataError, raise_stopping
from grasp_core.model.text import quoted
from grasp_core.reading.dataset.checks import no_column
from grasp_core.reading.dataset.raters import SPELLED_OTHERWISE
from grasp_core.reading.dataset.votes import unit_rows
from grasp_core.reading.guess.advice import Reason
from grasp_core.reading.guess.look import Look
from grasp_core.reading.guess.recognise import OFTEN, Guess, known_of_people, recognise
from grasp_core.reading.table import names
from grasp_core.reading.table.parsed import with_joined
from grasp_core.reading.table.table import Table

_MOST = 0.5  # share of the items from which a column whose name says nothing is likely to have their ids


def with_items(guess: Guess, annotations: Table, items: Table | None, named: str | None = None) -> Guess:
    """Add the reading of the items file to the guess, if there is one; `named` is its column of ids."""
    if items is None:
        return guess
    if named is not None and named not in items.columns:
        raise_stopping([no_column(named, (items,))])
    if named is None:
        named, reason = _item_ids(annotations, items, guess.spec)
        guess = replace(guess, reasons=(*guess.reasons, reason))
    return replace(guess, spec=replace(guess.spec, items_id=named, items_member=items.member))


def _item_ids(annotations: Table, items: Table, spec: DataSpec) -> tuple[str, Reason]:
    """Return the items file's id column, and why; unsure if several fit, or none has many ids or the name."""
    ids = set(unit_rows(annotations, spec, "item")[0])
    shares = {name: held / max(len(ids), 1) for name, held in items.holding(ids).items()}
    # If no column has any of the ids, the column with this name is taken, and reading it reports the error.
    if spec.item in shares and (shares[spec.item] or not any(shares.values())):
        return spec.item, Reason("items_id", f"{quoted(spec.item)}: named as the item column is", "sure")
    able = [
        name
        for name in items.columns
        if shares[name] >= _MOST and len(items.distinct(name)) == len(items)  # one value per row
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

_SHARED = 0.5  # share of a file's ids, or of the annotations' ids if these are fewer, that both must have
_APART = 0.9
"""Fewest distinct values of a column of ids with any other name, as a share of the rows; see `OFTEN`."""
_EQUAL = 0.05  # largest difference of shares that cannot distinguish raters from items


def file_roles(tables: Sequence[Table], *, as_given: bool = False) -> tuple[Role | None, ...]:
    """Return the role of each file; `as_given`: the first that can be annotations is, as for sheets.

    The annotations are in the file that most others can be joined to. Another file describes raters, or
    items, if it has a row for each of them. A file with the annotations' columns has more annotations.
    """
    of_raters: tuple[Role, ...] = ("raters",)
    if all(table.recipe is not None and table.recipe.raters for table in tables):
        return of_raters * len(tables)
    best: tuple[Role | None, ...] = ()
    refusal: DataError | None = None
    largest = sorted(tables, key=lambda table: len(table) * len(table.columns), reverse=True)
    for table in tables if as_given else largest:
        try:
            guess = recognise(table)
        except DataError as error:
            refusal = refusal or error
            continue
        roles = tuple("annotations" if other is table else _role(table, guess, other) for other in tables)
        if not best or roles.count(None) < best.count(None):
            best = roles
        if as_given or None not in roles:
            break
    if not best and tables and all(known_of_people(Look(table)) for table in tables):
        return of_raters * len(tables)  # their labels may still come
    if not best:
        raise refusal or DataError("no file was given")
    return best


def role_by_names(table: Table) -> Role | None:
    """Return what the names of the columns tell of, raters or items; None if of neither or of both."""
    of_raters = any(names.mentions(name, names.RATER | names.DEMOGRAPHIC) for name in table.columns)
    of_items = any(names.mentions(name, names.ITEM | names.TEXT) for name in table.columns)
    if of_raters == of_items:
        return None
    return "raters" if of_raters else "items"


def _joined_by(
    look: Look, ids: Mapping[Role, set[str]], written: Callable[[str], str] = str
) -> tuple[dict[Role, float], dict[Role, str]]:
    """Return the largest share of raters' and items' ids, as `written`, in one column, and its name."""
    shares: dict[Role, float] = {"raters": 0.0, "items": 0.0}
    keys: dict[Role, str] = {}
    wanted = {role: set(map(written, texts)) for role, texts in ids.items()}
    for name in look.columns:
        texts = look.texts(name)
        called = names.is_id(name) or names.id_score(name, names.RATER) > 0  # some may occur there twice
        if len(texts) < 2 or len(texts) < (OFTEN if called else _APART) * look.n:
            continue
        known = set(map(written, texts))
        for role, own in wanted.items():
            share = len(known & own) / max(min(len(known), len(own)), 1)
            if share > shares[role] and len(known & own) > 1:
                shares[role], keys[role] = share, name
    return shares, keys


def _differ(shares: Mapping[Role, float]) -> bool:
    return max(shares.values()) >= _SHARED and abs(shares["raters"] - shares["items"]) > _EQUAL


def _others_of(look: Look, name: str | None) -> set[str]:
    """Return texts of other columns that identify the same raters or items, such as names."""
    if name is None or name not in look.columns:
        return set()
    return set().union(*(look.texts(one) for one in look.columns if one != name and look.alike(one, name)))


def _role(annotations: Table, guess: Guess, other: Table) -> Role | None:
    spec = guess.spec
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
    theirs = Look(other)
    unsure = any(reason.field in ("item", "rater") for reason in guess.uncertain)

    def told(shares: Mapping[Role, float], keys: Mapping[Role, str]) -> Role | None:
        if not unsure and _differ(shares):
            return max(shares, key=lambda role: shares[role])
        # If raters and items have the same ids, as 1, 2 and 3, or their columns are unsure, names decide.
        if max(shares.values()) >= _SHARED:
            for name in keys.values():
                if name in (spec.rater, spec.item) and not unsure:
                    return "raters" if name == spec.rater else "items"
            return role_by_names(other)
        return None

    role = told(*_joined_by(theirs, ids))
    if role is not None or unsure:
        return role
    look = Look(table)
    others, _ = _joined_by(
        theirs, {"raters": _others_of(look, spec.rater), "items": _others_of(look, spec.item)}
    )
    if _differ(others):
        return "raters" if others["raters"] > others["items"] else "items"
    # Ids that are spelled otherwise join to nothing; once their role is known, this is reported.
    found = (told(*_joined_by(theirs, ids, written)) for _, written in SPELLED_OTHERWISE)
    return next((role for role in found if role is not None), None)
