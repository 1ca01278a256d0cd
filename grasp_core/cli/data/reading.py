"""The files that the options name, read; what the options leave open is recognised."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from grasp_core.cli.data.leaving_out import dropped_by_format, left_out, with_guessed_ids
from grasp_core.cli.data.options import spec_fields
from grasp_core.cli.terminal import note
from grasp_core.data_spec import DataSpec, Filters
from grasp_core.errors import DataError, SpecError
from grasp_core.io.guess.asking import question
from grasp_core.io.guess.item_ids import with_items
from grasp_core.io.guess.named import Named
from grasp_core.io.guess.recognise import Guess, recognise
from grasp_core.io.parts.partitions import Parts, sample
from grasp_core.io.sources.allowed import read_anywhere
from grasp_core.io.table.recipe import Recipe
from grasp_core.io.table.table import Table


@dataclass(frozen=True, slots=True, eq=False)
class Reading:
    """The files, and how they are to be read.

    Parameters
    ----------
    annotations : Table
    raters : Table or None
    spec : DataSpec
    axes : tuple of str
        Proposed where the reading was recognised; else empty.
    recipe : Recipe or None
        The known format or data set, where it decided the reading.
    items : Table or None
    """

    annotations: Table
    raters: Table | None
    spec: DataSpec
    axes: tuple[str, ...] = ()
    recipe: Recipe | None = None
    items: Table | None = None


def read(given: Mapping[str, Any], *, several: bool = False) -> Reading:
    """Read the files; what the options leave open is recognised, and said on standard error.

    Parameters
    ----------
    given : mapping
        Options by name; only those that were used.
    several : bool
        Whether the command takes several questions together.

    Raises
    ------
    DataError, SpecError
    """
    if len(given.get("label", ())) > 1 and not several:
        raise SpecError("this command looks at one question at a time: give one --label")
    annotations, raters, items = read_tables(given)
    fields = spec_fields(given)
    named = Named.among({**given, "label": fields.get("label")})
    guess = recognise(annotations, raters, named, {*_labels(fields), *fields["missing"]})
    guess = with_items(guess, annotations, items, given.get("items_id"))
    if named.whole:
        return dataclasses.replace(_as_named(annotations, raters, given, fields, guess), items=items)
    _refuse_unsure(annotations, guess)
    for field in dict.fromkeys(reason.field for reason in guess.reasons):
        _say_reasons(guess, field)
    spec = left_out(_joined(guess.spec, fields), guess.spec.filters.drop, given.get("keep", ()))
    return Reading(annotations, raters, spec, guess.axes, guess.recipe, items)


def _as_named(
    annotations: Table,
    raters: Table | None,
    given: Mapping[str, Any],
    fields: Mapping[str, Any],
    guess: Guess,
) -> Reading:
    """The reading that the options name; of a guess, what holds no labels, and what the format leaves out."""
    _refuse_unsure(annotations, guess, ("items_id",))
    _say_reasons(guess, "items_id")
    of_files = {"member": annotations.member, "raters_member": _member(raters)}
    of_items = {"items_id": guess.spec.items_id, "items_member": guess.spec.items_member}
    spec = DataSpec(**{**of_files, **of_items, **fields})
    if guess.spec.layout == spec.layout:
        for name in ("profile", "ignore"):
            if name not in fields:
                spec = dataclasses.replace(spec, **{name: getattr(guess.spec, name)})
                _say_reasons(guess, name)
        spec = dataclasses.replace(spec, missing=_missing(guess.spec, fields))
        _say_reasons(guess, "missing")
        spec = with_guessed_ids(spec, guess)
    spec = left_out(spec, dropped_by_format(guess, spec), given.get("keep", ()))
    if spec.layout != "long":
        _say_reasons(guess, "filters")
    for column, value in set(spec.filters.drop) - set(fields["filters"].drop):
        note(f"left out: annotations with {column}={value}; --keep {column}={value} counts them")
    _note_exclusions(guess, spec)
    return Reading(annotations, raters, spec)


def _refuse_unsure(annotations: Table, guess: Guess, fields: Sequence[str] | None = None) -> None:
    """Nothing runs on a guess that is unsure, of all fields or of those named: what it may be is listed."""
    asked = [
        f"{said}{' ' if said.endswith('?') else '; '}name it with --{reason.field.replace('_', '-')}"
        for reason in guess.uncertain
        if fields is None or reason.field in fields
        for said in [question(reason)]
    ]
    if asked:
        raise DataError(f"{annotations.name}: {'; '.join(asked)}")


def _say_reasons(guess: Guess, field: str) -> None:
    for reason in guess.reasons:
        if reason.field == field:
            note(f"{reason.field}: {reason.sentence} ({reason.confidence})")


def read_tables(given: Mapping[str, Any]) -> tuple[Table, Table | None, Table | None]:
    """The files alone; of annotations that are read part by part (`parts`) the first rows."""
    parts: Parts | None = given.get("parts")
    if parts is None:
        annotations = read_anywhere(given["annotations"], member=given.get("member"))
    else:
        annotations = sample(parts)
    raters, items = (
        read_anywhere(given[name], member=given.get(f"{name}_member")) if name in given else None
        for name in ("raters", "items")
    )
    return annotations, raters, items


def _joined(guessed: DataSpec, fields: Mapping[str, Any]) -> DataSpec:
    """The guess with what was given: further missing texts, exclusions, steps and filters."""
    more = dict(fields)
    more["missing"] = _missing(guessed, fields)
    for name in ("exclude", "recode"):
        more[name] = tuple(dict.fromkeys((*getattr(guessed, name), *fields.get(name, ()))))
    given = {name: value for name, value in dataclasses.asdict(fields["filters"]).items()}
    default = dataclasses.asdict(Filters())
    changed = {name: value for name, value in given.items() if value != default[name]}
    more["filters"] = dataclasses.replace(guessed.filters, **changed)
    return dataclasses.replace(guessed, **more)


def _missing(guessed: DataSpec, fields: Mapping[str, Any]) -> tuple[str, ...]:
    """Texts that mean "no value": those given, and those guessed but for what is declared a label."""
    labels = _labels(fields)
    return tuple(dict.fromkeys((*fields["missing"], *(t for t in guessed.missing if t not in labels))))


def _labels(fields: Mapping[str, Any]) -> set[str]:
    """Texts declared to be labels, of any question."""
    declared = set(fields.get("categories") or ())
    return declared.union(*(one.categories or () for one in fields.get("further", ())))


def _note_exclusions(guess: Guess, data: DataSpec) -> None:
    """Say so where raters seem to be marked for leaving out, as the dashboard does."""
    for column, value in guess.spec.exclude:
        if column not in {name for name, _ in data.exclude}:
            note(f"column {column!r} may mark raters to leave out; --exclude {column}={value} does")


def _member(table: Table | None) -> str | None:
    return None if table is None else table.member
