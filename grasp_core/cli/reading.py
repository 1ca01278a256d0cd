"""Options that say which files to read and how; shared by the commands that need data."""

from __future__ import annotations

import argparse
import dataclasses
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, get_args

from grasp_core.data_spec import (
    Bins,
    Combine,
    DataSpec,
    Filters,
    Layout,
    MapValues,
    Question,
    Recode,
    range_labels,
)
from grasp_core.errors import DataError, SpecError
from grasp_core.io.partitions import Parts, sample
from grasp_core.io.places import read_anywhere
from grasp_core.io.problems import quoted
from grasp_core.io.recipe import Recipe
from grasp_core.io.recognise import Guess, recognise
from grasp_core.io.tables import Table

_FILTERS = tuple(field.name for field in dataclasses.fields(Filters))
_WHOLE_READING = ("layout", "item", "rater", "label")
"""Whoever names one of these says how the file is to be read; otherwise it is recognised."""


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
    """

    annotations: Table
    raters: Table | None
    spec: DataSpec
    axes: tuple[str, ...] = ()
    recipe: Recipe | None = None


def add_reading(parser: argparse.ArgumentParser) -> None:
    """Add the options of :func:`read`."""
    files = parser.add_argument_group("files")
    files.add_argument(
        "--annotations", required=True, metavar="FILE", help="a path, or an address such as https://..."
    )
    files.add_argument("--raters", metavar="FILE", help="demographics, a row per rater")
    files.add_argument("--part", metavar="NAME", help="sheet of a workbook, or file in an archive")
    files.add_argument("--raters-part", metavar="NAME", help="the same of the raters file")
    reading = parser.add_argument_group(
        "reading", "without --layout, --item, --rater and --label, the files are recognised"
    )
    reading.add_argument("--layout", choices=get_args(Layout))
    for name in ("item", "rater"):
        reading.add_argument(f"--{name}", metavar="COLUMN")
    reading.add_argument(
        "--label", action="append", metavar="COLUMN", help="run: repeat for several questions about an item"
    )
    reading.add_argument(
        "--profile", type=_names, metavar="COLUMN,...", help="raters-by-items: columns that are no item"
    )
    reading.add_argument(
        "--ignore", type=_names, metavar="COLUMN,...", help="matrices: columns that are neither"
    )
    reading.add_argument("--text", metavar="COLUMN", help="the items' texts")
    reading.add_argument(
        "--categories",
        type=_names,
        action="append",
        metavar="LABEL,...",
        help="in order; default: those found; of several questions once for all, or once for each",
    )
    reading.add_argument(
        "--missing",
        action="append",
        metavar="TEXT",
        help="cell text that means no value, as the empty cell does; repeat for several",
    )
    _add_recoding(parser.add_argument_group("recoding", "applied in the order map, bins, combine"))
    _add_filters(parser.add_argument_group("leaving out"))


def _add_recoding(group: argparse._ArgumentGroup) -> None:
    group.add_argument(
        "--map",
        type=_mapped,
        action="append",
        metavar="COLUMN:OLD=NEW",
        help="replace a value (no NEW: no value; no COLUMN: the labels)",
    )
    group.add_argument(
        "--bins",
        type=_bins,
        action="append",
        metavar="COLUMN:EDGE,...[:NAME,...]",
        help="cut numbers into ranges, e.g. age:25,40",
    )
    group.add_argument(
        "--combine",
        type=_combine,
        action="append",
        metavar="NEW=COLUMN,...:VALUE,...",
        help="one answer from several questions: the first of the values that any has",
    )


def _add_filters(group: argparse._ArgumentGroup) -> None:
    group.add_argument(
        "--exclude", type=_condition, action="append", metavar="COLUMN=VALUE", help="raters with this value"
    )
    group.add_argument(
        "--drop", type=_condition, action="append", metavar="COLUMN=VALUE", help="annotations with this value"
    )
    for what in ("rater", "item"):
        group.add_argument(
            f"--exclude-{what}",
            dest=f"{what}s_out",
            type=_ids,
            action="append",
            metavar="ID",
            help=f"this {what}; @FILE: those in a file, one per line",
        )
    group.add_argument("--time", metavar="COLUMN", help="time that an annotation took, for the next two")
    group.add_argument("--min-time", type=float, metavar="TIME", help="annotations that took less")
    group.add_argument("--max-time", type=float, metavar="TIME", help="annotations that took longer")
    group.add_argument("--gold", metavar="COLUMN", help="the right labels, for the next one")
    group.add_argument("--min-gold", type=float, metavar="SHARE", help="raters right less often, 0 to 1")
    group.add_argument("--min-per-rater", type=int, metavar="N", help="raters with fewer annotations")
    group.add_argument("--min-per-item", type=int, metavar="N", help="items with fewer annotations")


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
    annotations, raters = read_tables(given)
    fields = _fields(given)
    if any(name in given for name in _WHOLE_READING):
        spec = DataSpec(**{"part": annotations.part, "raters_part": _part(raters), **fields})
        _note_exclusions(recognise(annotations, raters), spec)
        return Reading(annotations, raters, spec)
    guess = recognise(annotations, raters)
    for reason in guess.reasons:
        _note(f"{reason.field}: {reason.sentence} ({reason.confidence})")
    spec = _joined(guess.spec, fields)
    return Reading(annotations, raters, spec, guess.axes, guess.recipe)


def read_tables(given: Mapping[str, Any]) -> tuple[Table, Table | None]:
    """The files alone; of a data set that is read part by part (`parts`) the first rows."""
    parts: Parts | None = given.get("parts")
    if parts is None:
        annotations = read_anywhere(given["annotations"], part=given.get("part"))
    else:
        annotations = sample(parts)
    named = given.get("raters")
    return annotations, None if named is None else read_anywhere(named, part=given.get("raters_part"))


def _joined(guessed: DataSpec, fields: Mapping[str, Any]) -> DataSpec:
    """The guess with what was given: further missing texts, exclusions, steps and filters."""
    more = dict(fields)
    for name in ("missing", "exclude", "recode"):
        more[name] = tuple(dict.fromkeys((*getattr(guessed, name), *fields.get(name, ()))))
    given = {name: value for name, value in dataclasses.asdict(fields["filters"]).items()}
    default = dataclasses.asdict(Filters())
    changed = {name: value for name, value in given.items() if value != default[name]}
    more["filters"] = dataclasses.replace(guessed.filters, **changed)
    return dataclasses.replace(guessed, **more)


def _fields(given: Mapping[str, Any]) -> dict[str, Any]:
    """The fields of a data spec that the options give."""
    plain = {field.name for field in dataclasses.fields(DataSpec)} - {
        "label",
        "categories",
        "missing",
        "exclude",
        "recode",
        "filters",
    }
    fields = {name: value for name, value in given.items() if name in plain}
    filters = {name: value for name, value in given.items() if name in _FILTERS}
    for name in ("raters", "items"):
        filters[name] = tuple(one for several in given.get(f"{name}_out", ()) for one in several)
    if "drop" in filters:
        filters["drop"] = tuple(filters["drop"])
    fields["filters"] = Filters(**filters)
    fields["missing"] = tuple(dict.fromkeys((*DataSpec.missing, *given.get("missing", ()))))
    fields["exclude"] = tuple(given.get("exclude", ()))
    fields |= _questions(given.get("label", ()), given.get("categories", ()))
    fields["recode"] = (*_maps(given.get("map", ())), *given.get("bins", ()), *given.get("combine", ()))
    return fields


def _questions(labels: Sequence[str], categories: Sequence[tuple[str, ...]]) -> dict[str, Any]:
    """Label columns and the categories of each, as far as they were given."""
    if len(categories) > 1 and len(categories) != len(labels):
        raise SpecError(
            f"--categories is given once for all questions, or once for each --label in their order; found"
            f" {len(categories)} for {len(labels)}"
        )
    fields: dict[str, Any] = {"label": labels[0]} if labels else {}
    if categories:
        fields["categories"] = categories[0]
    if len(labels) > 1:
        declared = categories if len(categories) > 1 else [fields.get("categories")] * len(labels)
        pairs = zip(labels[1:], declared[1:], strict=True)
        fields["further"] = tuple(Question(label, found) for label, found in pairs)
    return fields


def _maps(given: Sequence[tuple[str | None, str, str]]) -> list[Recode]:
    """One step per column."""
    columns: dict[str | None, list[tuple[str, str]]] = {}
    for column, old, new in given:
        columns.setdefault(column, []).append((old, new))
    return [MapValues(column, tuple(values)) for column, values in columns.items()]


def _note_exclusions(guess: Guess, data: DataSpec) -> None:
    """Say so where raters seem to be marked for leaving out, as the dashboard does."""
    for column, value in guess.spec.exclude:
        if column not in {name for name, _ in data.exclude}:
            _note(f"column {column!r} may mark raters to leave out; --exclude {column}={value} does")


def _note(sentence: str) -> None:
    print(f"note: {sentence}", file=sys.stderr)


def _part(table: Table | None) -> str | None:
    return None if table is None else table.part


def _names(text: str) -> tuple[str, ...]:
    return tuple(text.split(","))


def _condition(text: str) -> tuple[str, str]:
    column, equals, value = text.partition("=")
    if not equals or not column:
        raise argparse.ArgumentTypeError(f"write COLUMN=VALUE; found {text!r}")
    return column, value


def _mapped(text: str) -> tuple[str | None, str, str]:
    column, colon, change = text.partition(":")
    old, equals, new = change.partition("=")
    if not colon or not equals:
        raise argparse.ArgumentTypeError(f"write COLUMN:OLD=NEW; found {text!r}")
    return column or None, old, new


def _bins(text: str) -> Bins:
    column, _, rest = text.partition(":")
    written, _, named = rest.partition(":")
    try:
        edges = tuple(float(edge) for edge in written.split(","))
        return Bins(column or None, edges, _names(named) if named else range_labels(edges))
    except (ValueError, SpecError) as error:
        why = str(error) if isinstance(error, SpecError) else "the edges must be numbers"
        raise argparse.ArgumentTypeError(f"write COLUMN:EDGE,...[:NAME,...], {why}; found {text!r}") from None


def _combine(text: str) -> Combine:
    into, _, rest = text.partition("=")
    columns, _, priority = rest.partition(":")
    try:
        return Combine(_names(columns) if columns else (), _names(priority), into)
    except SpecError as error:
        raise argparse.ArgumentTypeError(f"write NEW=COLUMN,...:VALUE,..., {error}; found {text!r}") from None


def _ids(text: str) -> tuple[str, ...]:
    if not text.startswith("@"):
        return (text,)
    try:
        lines = Path(text[1:]).read_text(encoding="utf-8-sig").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        why = error.strerror if isinstance(error, OSError) else "it is not UTF-8 text"
        raise DataError(f"{quoted(text[1:])} cannot be read as a list of ids: {why}") from None
    return tuple(dict.fromkeys(line.strip() for line in lines if line.strip()))
