"""Options that several commands share, and the fields of a spec that they set."""

from __future__ import annotations

import argparse
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from grasp_core.cli.parser import option
from grasp_core.engine.reading_request import Reading
from grasp_core.engine.run_request import proposed_axes, with_axes
from grasp_core.model.data_spec import Bins, Combine, DataSpec, Filters, MapValues, range_labels
from grasp_core.model.errors import DataError, SpecError
from grasp_core.model.fields import fields_of
from grasp_core.model.groups import AxisSet
from grasp_core.model.sizes import MIB, read_at_most
from grasp_core.model.spec import ADAPTIVE_PERMUTATIONS, DEFAULT_PERMUTATIONS, AnalysisSpec
from grasp_core.model.text import quoted
from grasp_core.notebook.options import data_fields
from grasp_core.reading.connectors.source import TOOLS

_MAX_IDS = 64 * MIB


class AtMost(int):
    """The most permutations of an adaptive run."""


def add_fields(group: argparse._ArgumentGroup, spec: type, *wanted: str) -> None:
    """Add options for these fields of a spec, from the fields' own descriptions."""
    for one in map(fields_of(spec).__getitem__, wanted):
        kinds: dict[Any, dict[str, Any]] = {
            bool: {"action": argparse.BooleanOptionalAction if one.name == "pairs" else "store_true"},
            tuple[str, ...]: {"action": "append"} if one.each else {"type": names},
            tuple[tuple[str, str], ...]: {"action": "append", "type": _condition},
            int: {"type": int},
            float: {"type": float},
        }
        how = {"choices": one.choices} if one.choices else kinds.get(one.kind, {"type": names})
        if one.kind is str:
            how = {}
        shown: dict[str, Any] = {} if one.metavar is None else {"metavar": one.metavar}
        repeated = "; repeat for several" if one.each and one.metavar != "COLUMN=VALUE" else ""
        group.add_argument(
            f"--{one.flag}", dest=one.name, default=None, help=f"{one.help}{repeated}", **shown, **how
        )


def given_options(chosen: argparse.Namespace) -> dict[str, Any]:
    """Return the options that were used; for the others, which are None, the specs' defaults apply."""
    return {name: value for name, value in vars(chosen).items() if value is not None and name != "command"}


def add_reading(parser: argparse.ArgumentParser, *, items: bool = False) -> None:
    """Add the options of :func:`spec_fields`, and the options that name the files."""
    parser.add_argument(
        "files",
        nargs="*",
        metavar="FILE",
        help="labels, raters and items, in any order: recognised by their content",
    )
    files = parser.add_argument_group("files")
    tools = ", ".join(tool.written for tool in TOOLS.values()).replace("%", "%%")
    option(
        files,
        "--annotations --from FILE",
        f"a path; an address such as https://...; or a source in a tool: {tools}",
    )
    option(files, "--raters FILE", "demographics, a row per rater; from the same places")
    add_fields(files, DataSpec, "member", "raters_member")
    for earlier, today in (("--part", "member"), ("--raters-part", "raters_member")):
        files.add_argument(earlier, dest=today, help=argparse.SUPPRESS)  # older scripts may use them
    named = "columns that you do not name are recognised, or asked for"
    reading = parser.add_argument_group("reading", named)
    add_fields(reading, DataSpec, "layout", "item", "rater")
    option(
        reading,
        "--label COLUMN",
        "column of the labels; run: repeat for several questions about an item",
        action="append",
    )
    add_fields(reading, DataSpec, "profile", "ignore", "text")
    option(
        reading,
        "--categories LABEL,...",
        "labels in order, or a task's task.json with its classes (default: the labels in the file); with "
        "several questions once for all, or once for each",
        _labels,
        action="append",
    )
    add_fields(reading, DataSpec, "missing", "repeated", "order")
    group = parser.add_argument_group("recoding", "applied in the order map, bins, combine")
    for usage, kind, words in (
        ("--map COLUMN:OLD=NEW", _mapped, "replace a value (no NEW: no value; no COLUMN: the labels)"),
        ("--bins COLUMN:EDGE,...[:NAME,...]", _bins, "cut numbers into ranges, e.g. age:25,40"),
        (
            "--combine NEW=COLUMN,...:VALUE,...",
            _combine,
            "one answer from several questions: the first listed value that any of them has",
        ),
    ):
        option(group, usage, words, kind, action="append")
    _add_filters(parser.add_argument_group("leaving out"))
    if items:
        about = "further columns about the items, such as for --slice"
        group = parser.add_argument_group("items", about)
        option(group, "--items FILE", "attributes such as topic, a row per item")
        add_fields(group, DataSpec, "items_id", "items_member")


def _add_filters(group: argparse._ArgumentGroup) -> None:
    add_fields(group, DataSpec, "exclude")
    add_fields(group, Filters, "drop")
    option(
        group,
        "--keep COLUMN=VALUE",
        "keep these rows, or this spelling, although --recommended would not, such as rejected annotations",
        _condition,
        action="append",
    )
    option(
        group,
        "--recommended",
        "leave out raters and annotations that the data mark, such as rejected ones, and rows without an id; "
        "count a rater's last answer to an item; merge spellings that differ by case or blanks (default: ask "
        "on a terminal; elsewhere count all, and say how many they are)",
        action=argparse.BooleanOptionalAction,
    )
    for what in ("rater", "item"):
        words = f"leave out this {what}; @FILE: the {what}s of a file, one per line"
        option(group, f"--exclude-{what} ID", words, _ids, action="append", dest=f"{what}s_out")
    limits = ("time", "min_time", "max_time", "gold", "min_gold", "min_per_rater", "min_per_item")
    add_fields(group, Filters, *limits)
    add_fields(group, DataSpec, "screens")


def add_axes(group: argparse._ArgumentGroup) -> None:
    """Add the options of :func:`named_axes`."""
    option(
        group,
        "--axis COLUMN",
        "compare groups by this column; repeat for several (default: the recognised axes)",
        action="append",
    )
    option(
        group,
        "--intersect COLUMN:COLUMN[:...]",
        "compare groups by these columns together, too; repeat for several",
        action="append",
    )


def add_groups_and_test(group: argparse._ArgumentGroup) -> None:
    """Add the options of :func:`analysis_fields` that every command with groups and tests has."""
    add_axes(group)
    option(
        group,
        "--permutations B|auto[:MOST]",
        f"a number, or auto: until all marks are settled, at most {ADAPTIVE_PERMUTATIONS:,} or MOST "
        f"(default: {DEFAULT_PERMUTATIONS:,}; large data stop earlier, once all marks are settled)",
        _permutations,
    )
    fields = ("seed", "min_raters", "strata", "cluster", "p_value", "ties", "correction", "family")
    add_fields(group, AnalysisSpec, *fields)


def _labels(text: str) -> tuple[str, ...]:
    if Path(text).name != "task.json":
        return names(text)
    from grasp_core.benchmark.tasks import read_task  # few commands need it

    return read_task(Path(text).parent).classes


def spec_fields(given: Mapping[str, Any]) -> dict[str, Any]:
    """Return the data spec's fields that the options set; filters, missing and recode are always included."""
    filters = {name: given[name] for name in fields_of(Filters) if name in given}
    for name in ("raters", "items"):
        filters[name] = tuple(one for several in given.get(f"{name}_out", ()) for one in several)
    if "drop" in filters:
        filters["drop"] = tuple(filters["drop"])
    changes: dict[str | None, list[tuple[str, str]]] = {}
    for column, old, new in given.get("map", ()):
        changes.setdefault(column, []).append((old, new))
    maps = [MapValues(column, tuple(values)) for column, values in changes.items()]
    steps = (*maps, *given.get("bins", ()), *given.get("combine", ()))
    labels, categories = given.get("label", ()), given.get("categories", ())
    if len(categories) > 1 and len(categories) != len(labels):
        raise SpecError(
            "--categories is given once for all questions, or once for each --label in their order; found "
            f"{len(categories)} for {len(labels)}"
        )
    own: dict[str, Any] = {**given, "filters": Filters(**filters), "recode": steps}
    if categories:
        several = len(categories) > 1
        own["categories"] = dict(zip(labels, categories, strict=True)) if several else categories[0]
    return data_fields(own, several=True)


def axes_given(given: Mapping[str, Any]) -> tuple[tuple[AxisSet, ...], tuple[AxisSet, ...]]:
    """Return the axes that the options name, and the intersections."""
    crossed = tuple(tuple(names.split(":")) for names in given.get("intersect", ()))
    return tuple((name,) for name in given.get("axis", ())), crossed


def named_axes(given: Mapping[str, Any], found: Reading) -> tuple[AxisSet, ...]:
    """Return the axes and intersections of the options; intersections alone are added to recognised axes."""
    singles, crossed = axes_given(given)
    if crossed and not singles:
        singles = tuple(axes for axes in proposed_axes(found) if axes not in crossed)
    return (*singles, *crossed)


def analysis_fields(given: Mapping[str, Any], found: Reading) -> dict[str, Any]:
    """Return the fields of an :class:`AnalysisSpec` that the options set, and its axes."""
    return with_axes(found, test_fields(given), named_axes(given, found))


def test_fields(given: Mapping[str, Any]) -> dict[str, Any]:
    """Return the fields of an :class:`AnalysisSpec` that the options set, without axes."""
    fields = {name: given[name] for name in fields_of(AnalysisSpec) if name in given}
    fields |= {name: tuple(value) for name, value in fields.items() if isinstance(value, list)}
    if isinstance(given.get("permutations"), AtMost):
        fields.update(permutations=int(given["permutations"]), adaptive=True)
    return fields


def names(text: str) -> tuple[str, ...]:
    """Return the names that an option lists with commas."""
    return tuple(text.split(","))


def _permutations(text: str) -> int:
    auto, colon, most = text.partition(":")
    try:
        if auto == "auto":
            return AtMost(most if colon else ADAPTIVE_PERMUTATIONS)
        return int(text)
    except ValueError:
        raise argparse.ArgumentTypeError(
            f"must be a whole number, auto, or auto:MOST such as auto:1000000; found {text!r}"
        ) from None


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
