"""Readings of files: as options say, and what they leave open as it is recognised."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, get_args

from grasp_core.asked.leaving_out import dropped_by_format, left_out, with_guessed_ids
from grasp_core.asked.voice import Voice
from grasp_core.data_spec import DataSpec, Filters
from grasp_core.errors import UnsureError
from grasp_core.io.guess.asking import question
from grasp_core.io.guess.item_ids import with_items
from grasp_core.io.guess.named import Named
from grasp_core.io.guess.reasons import Confidence
from grasp_core.io.guess.recognise import Guess, recognise
from grasp_core.io.table.recipe import Recipe
from grasp_core.io.table.table import Table


@dataclass(frozen=True, slots=True, eq=False)
class Tables:
    """The files that somebody gives: annotations, and what is known of raters and of items."""

    annotations: Table
    raters: Table | None = None
    items: Table | None = None


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


def reading_of(
    given: Tables, fields: Mapping[str, Any], voice: Voice, keep: Sequence[tuple[str, str]] = ()
) -> Reading:
    """How the files are to be read; what the fields leave open is recognised, and said.

    Parameters
    ----------
    given : Tables
    fields : mapping
        Fields of a data spec that somebody named; `filters`, `missing` and `recode` always.
    voice : Voice
    keep : sequence of (column, value)
        Annotations that count although their file's format leaves them out.

    Raises
    ------
    UnsureError
        If what is left open cannot be told.
    DataError, SpecError
    """
    annotations, raters, items = given.annotations, given.raters, given.items
    named = Named.among(fields)
    guess = recognise(annotations, raters, named, {*_labels(fields), *fields["missing"]})
    guess = with_items(guess, annotations, items, fields.get("items_id"))
    if named.whole:
        return _as_named(given, fields, guess, voice, keep)
    _refuse_unsure(given, guess, voice)
    for field in dict.fromkeys(reason.field for reason in guess.reasons):
        _say_reasons(guess, field, voice)
    spec = left_out(_joined(guess.spec, fields), guess.spec.filters.drop, keep, voice)
    return Reading(annotations, raters, spec, guess.axes, guess.recipe, items)


def _as_named(
    given: Tables,
    fields: Mapping[str, Any],
    guess: Guess,
    voice: Voice,
    keep: Sequence[tuple[str, str]],
) -> Reading:
    """The reading that the fields name; of a guess, what holds no labels, and what the format leaves out."""
    annotations, raters = given.annotations, given.raters
    _refuse_unsure(given, guess, voice, ("items_id",))
    _say_reasons(guess, "items_id", voice)
    of_files = {"member": annotations.member, "raters_member": None if raters is None else raters.member}
    of_items = {"items_id": guess.spec.items_id, "items_member": guess.spec.items_member}
    spec = DataSpec(**{**of_files, **of_items, **fields})
    if guess.spec.layout == spec.layout:
        for name in ("profile", "ignore"):
            if name not in fields:
                spec = dataclasses.replace(spec, **{name: getattr(guess.spec, name)})
                _say_reasons(guess, name, voice)
        spec = dataclasses.replace(spec, missing=_missing(guess.spec, fields))
        _say_reasons(guess, "missing", voice)
        spec = with_guessed_ids(spec, guess)
    spec = left_out(spec, dropped_by_format(guess, spec), keep, voice)
    if spec.layout != "long":
        _say_reasons(guess, "filters", voice)
    elif (guess.spec.item, guess.spec.rater) == (spec.item, spec.rater):
        _say_reasons(guess, "filters", voice, ("unsure",))
    for column, value in set(spec.filters.drop) - set(fields["filters"].drop):
        kept = voice.condition("keep", column, value)
        voice.note(f"left out: annotations with {column}={value}; {kept} counts them")
    _note_exclusions(guess, spec, voice)
    return Reading(annotations, raters, spec, items=given.items)


def _refuse_unsure(given: Tables, guess: Guess, voice: Voice, fields: Sequence[str] | None = None) -> None:
    """Nothing runs on a guess that is unsure, of all fields or of those named: what it may be is listed."""
    unsure = [reason for reason in guess.uncertain if fields is None or reason.field in fields]
    asked: dict[str, list[str]] = {}
    for reason in unsure:
        said = question(reason)
        of = given.items if reason.field == "items_id" and given.items is not None else given.annotations
        ask = f"{said}{' ' if said.endswith('?') else '; '}name it with {voice.option(reason.field)}"
        asked.setdefault(of.name, []).append(ask)
    if asked:
        sentences = (f"{file}: {'; '.join(questions)}" for file, questions in asked.items())
        raise UnsureError("; ".join(sentences), unsure[0].field)


def _say_reasons(
    guess: Guess, field: str, voice: Voice, confidences: Sequence[Confidence] = get_args(Confidence)
) -> None:
    for reason in guess.reasons:
        if reason.field == field and reason.confidence in confidences:
            voice.note(f"{reason.field}: {reason.sentence} ({reason.confidence})")


def _joined(guessed: DataSpec, fields: Mapping[str, Any]) -> DataSpec:
    """The guess with what was given: further missing texts, exclusions, steps and filters."""
    more = dict(fields)
    more["missing"] = _missing(guessed, fields)
    more["recode"] = tuple(dict.fromkeys((*guessed.recode, *fields["recode"])))
    exclude = fields.get("exclude", guessed.exclude)  # () where somebody said that nobody is left out
    more["exclude"] = exclude and tuple(dict.fromkeys((*guessed.exclude, *exclude)))
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


def _note_exclusions(guess: Guess, data: DataSpec, voice: Voice) -> None:
    """Say so where raters seem to be marked for leaving out, as the dashboard does."""
    for column, value in guess.spec.exclude:
        if column not in {name for name, _ in data.exclude}:
            does = voice.condition("exclude", column, value)
            voice.note(f"column {column!r} may mark raters to leave out; {does} does")
