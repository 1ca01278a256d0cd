"""The options that say which files to read and how, and the fields of a data spec that they give."""

from __future__ import annotations

import argparse
import dataclasses
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, get_args

from grasp_core.model.data_spec import DataSpec, Filters, Layout, Question, Repeated
from grasp_core.model.errors import DataError, SpecError
from grasp_core.model.recode_steps import Bins, Combine, MapValues, Recode, range_labels
from grasp_core.model.wording import quoted
from grasp_core.reading.archives.members import MIB, read_at_most
from grasp_core.reading.connectors.source import WRITTEN

_MAX_IDS = 64 * MIB
_FILTERS = tuple(field.name for field in dataclasses.fields(Filters))


def add_reading(parser: argparse.ArgumentParser) -> None:
    """Add the options of :func:`spec_fields`, and those that name the files."""
    parser.add_argument(
        "files",
        nargs="*",
        metavar="FILE",
        help="labels, raters and items, in any order: told apart by their content",
    )
    _add_files(parser.add_argument_group("files"))
    _add_columns(
        parser.add_argument_group(
            "reading", "what --layout, --item, --rater and --label do not name is recognised"
        )
    )
    _add_recoding(parser.add_argument_group("recoding", "applied in the order map, bins, combine"))
    _add_filters(parser.add_argument_group("leaving out"))


def _add_files(files: argparse._ArgumentGroup) -> None:
    files.add_argument(
        "--annotations",
        "--from",
        metavar="FILE",
        help="a path; an address such as https://...; or a source in a tool: "
        + ", ".join(WRITTEN.values()).replace("%", "%%"),
    )
    files.add_argument("--raters", metavar="FILE", help="demographics, a row per rater; from the same places")
    files.add_argument("--member", metavar="NAME", help="file of an archive, or sheet of a workbook")
    files.add_argument("--raters-member", metavar="NAME", help="the same of the raters file")
    for earlier, today in (("--part", "member"), ("--raters-part", "raters_member")):
        files.add_argument(earlier, dest=today, help=argparse.SUPPRESS)  # as scripts may still say


def add_items(parser: argparse.ArgumentParser) -> None:
    """Add the options of an items file, for commands that look at single attributes of items."""
    group = parser.add_argument_group("items", "what else is known of the items, such as columns for --slice")
    group.add_argument("--items", metavar="FILE", help="attributes such as topic, a row per item")
    group.add_argument("--items-id", metavar="COLUMN", help="its column of item ids, if not recognised")
    group.add_argument("--items-member", metavar="NAME", help="as --member, of the items file")


def _add_columns(reading: argparse._ArgumentGroup) -> None:
    reading.add_argument("--layout", choices=get_args(Layout))
    for name in ("item", "rater"):
        reading.add_argument(f"--{name}", metavar="COLUMN")
    reading.add_argument(
        "--label", action="append", metavar="COLUMN", help="run: repeat for several questions about an item"
    )
    reading.add_argument(
        "--profile", type=names, metavar="COLUMN,...", help="raters-by-items: columns that are no item"
    )
    reading.add_argument(
        "--ignore", type=names, metavar="COLUMN,...", help="matrices: columns that are neither"
    )
    reading.add_argument("--text", metavar="COLUMN", help="the items' texts")
    reading.add_argument(
        "--categories",
        type=names,
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
    reading.add_argument(
        "--repeated",
        choices=get_args(Repeated),
        help="where a rater gives an item different labels: refuse (default), or let the first or last count",
    )
    reading.add_argument(
        "--order", metavar="COLUMN", help="times that tell first and last (default: the order of rows)"
    )


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
    group.add_argument(
        "--keep",
        type=_condition,
        action="append",
        metavar="COLUMN=VALUE",
        help="what counts although it is recommended to be left out, such as rejected annotations",
    )
    group.add_argument(
        "--recommended",
        action=argparse.BooleanOptionalAction,
        help="raters and annotations that the data mark, such as rejected ones (default: they count, and it "
        "is said how many they are; on a terminal, asked)",
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
    group.add_argument(
        "--leave-out",
        dest="screens",
        type=names,
        metavar="SCREEN,...",
        help="raters by what their labels show: random (at chance), constant, duplicates (one of each two)",
    )


def spec_fields(given: Mapping[str, Any]) -> dict[str, Any]:
    """The fields of a data spec that the options give; those that have a default are always there.

    Parameters
    ----------
    given : mapping
        Options by name; only those that were used.

    Raises
    ------
    SpecError
        If questions and lists of categories are not equally many.
    """
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
    if "exclude" in given:
        fields["exclude"] = tuple(given["exclude"])
    fields |= _questions(given.get("label", ()), given.get("categories", ()))
    fields["recode"] = (*_maps(given.get("map", ())), *given.get("bins", ()), *given.get("combine", ()))
    return fields


def _questions(labels: Sequence[str], categories: Sequence[tuple[str, ...]]) -> dict[str, Any]:
    """Label columns and the categories of each, as far as they were given."""
    if len(categories) > 1 and len(categories) != len(labels):
        raise SpecError(
            "--categories is given once for all questions, or once for each --label in their order; found "
            f"{len(categories)} for {len(labels)}"
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


def names(text: str) -> tuple[str, ...]:
    """Names that an option lists with commas."""
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
        return Bins(column or None, edges, names(named) if named else range_labels(edges))
    except (ValueError, SpecError) as error:
        why = str(error) if isinstance(error, SpecError) else "the edges must be numbers"
        raise argparse.ArgumentTypeError(f"write COLUMN:EDGE,...[:NAME,...], {why}; found {text!r}") from None


def _combine(text: str) -> Combine:
    into, _, rest = text.partition("=")
    columns, _, priority = rest.partition(":")
    try:
        return Combine(names(columns) if columns else (), names(priority), into)
    except SpecError as error:
        raise argparse.ArgumentTypeError(f"write NEW=COLUMN,...:VALUE,..., {error}; found {text!r}") from None


def _ids(text: str) -> tuple[str, ...]:
    if not text.startswith("@"):
        return (text,)
    try:
        lines = read_at_most(Path(text[1:]), _MAX_IDS, "a list of ids").decode("utf-8-sig").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        why = error.strerror if isinstance(error, OSError) else "it is not UTF-8 text"
        raise DataError(f"{quoted(text[1:])} cannot be read as a list of ids: {why}") from None
    return tuple(dict.fromkeys(line.strip() for line in lines if line.strip()))
