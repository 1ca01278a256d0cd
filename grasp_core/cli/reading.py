"""Files that options name: read or fetch them, also as a saved spec says, and print notes on them."""

import argparse
import getpass
import os
import shlex
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from grasp_core.cli.options import given_options, spec_fields
from grasp_core.cli.terminal.messages import TERMINAL, clearing, note, show_line
from grasp_core.engine.reading_request import AdviceAnswer, InputTables, Reading, reading_of
from grasp_core.model.data_spec import WHICH_LABEL, DataSpec, one_question
from grasp_core.model.errors import DataError, SpecError
from grasp_core.model.fields import fields_of
from grasp_core.model.spec import AnalysisSpec
from grasp_core.model.text import closest, number, printable, quoted
from grasp_core.reading.archives.stack import by_columns
from grasp_core.reading.connectors.fetching import read_anywhere
from grasp_core.reading.connectors.source import Source
from grasp_core.reading.dataset.load import Dataset
from grasp_core.reading.dataset.votes import unit_rows
from grasp_core.reading.guess.file_roles import file_roles, role_by_names
from grasp_core.reading.guess.recognise import recognise
from grasp_core.reading.guess.tables import inside
from grasp_core.reading.sandbox.read import read_together
from grasp_core.reading.table.parsed import with_joined
from grasp_core.reading.table.table import Table
from grasp_core.report.saved import RecordedSpec, read_spec

_COMPARED = 20_000
"""Most distinct texts that are searched for a similar text."""
_ROLES = ("annotations", "raters", "items")
_SORTED: dict[tuple[str, str | None], Table] = {}
"""Files or sheets that were read to recognise their roles, by absolute place, until a role takes them."""


def read_place(place: str, member: str | None) -> Table:
    """Read a path, an address or a source, unless it was already read to recognise its role."""
    if (at := (os.path.abspath(place), member)) in _SORTED:
        return _SORTED.pop(at)
    with clearing():
        table = read_anywhere(place, member, ask=_ask, told=lambda words: show_line(words) if words else None)
    if table.source:
        note(printable(f"{table.name} is what {table.source} holds now, SHA-256 {table.sha256}"))
    return table


def _ask(source: Source) -> str:
    """Ask for the token on the terminal: in an option, others at this machine could see it."""
    if source.in_file or (source.kind == "sql" and "@" not in source.address):
        return ""
    if not sys.stdin.isatty():
        if source.tool.needs_token:
            raise DataError(f"{source.tool.name} asks for a token: put it into {source.tool.variable}")
        return ""
    what = "Password" if source.kind == "sql" else "Token"
    return getpass.getpass(f"{what} for {source.shown} (none: Enter; unasked: {source.tool.variable}): ")


def read(given: Mapping[str, Any], *, several: bool = False) -> Reading:
    """Read the files; settings that the options leave open are recognised, and noted on standard error."""
    if len(given.get("label", ())) > 1 and not several:
        raise SpecError(one_question(given["label"], WHICH_LABEL))
    answer = AdviceAnswer(given.get("keep", ()), given.get("recommended"))
    tables = _read_tables(given)
    _say_not_missing(given.get("missing", ()), tables)
    return reading_of(tables, spec_fields(given), TERMINAL, answer, axes_named="axis" in given)


def _say_not_missing(texts: Sequence[str], given: InputTables) -> None:
    """Print the texts of ``--missing`` that no cell contains, and similar texts that may be meant."""
    if not texts:
        return
    tables = [table for table in (given.annotations, given.raters, given.items) if table is not None]
    cells = {text for table in tables for name in table.columns for text in table.distinct(name)}
    for text in texts:
        if text not in cells:
            close = closest(text, sorted(cells)) if len(cells) <= _COMPARED else ()
            meant = f"; did you mean {' or '.join(map(quoted, close))}?" if close else ""
            note(f"--missing {quoted(text)}: no cell holds this text alone{meant}")


def sort_files(chosen: argparse.Namespace, command: str = "run") -> None:
    """Give files that are named without an option their roles by their content, as if options named them."""
    files: Sequence[str] = vars(chosen).pop("files")
    able = [role for role in _ROLES if role in vars(chosen)]
    beside = [role for role in able if vars(chosen)[role] is not None]
    member = chosen.member if len(files) == 1 else None
    if files and beside and (len(files) > 1 or "annotations" in beside):
        raise SpecError(f"name files alone, or by {', '.join(f'--{role}' for role in able)}, not both")
    files, tables = _joined(files, [read_place(file, member) for file in files])
    if len(files) == 1 and (beside or tables[0].member is not None):  # its sheets get their roles below
        _SORTED[os.path.abspath(files[0]), member], chosen.annotations, files = tables[0], files[0], []
    tables = tables if files else []
    # Ids of a file that somebody names may join to nothing: that is reported when the files are read.
    found = zip(file_roles(tables), tables, strict=True) if files else ()
    roles = tuple(role or role_by_names(table) for role, table in found)
    labels = next((file for file, role in zip(files, roles, strict=True) if role == "annotations"), "")
    for file, role, table in zip(files, roles, tables, strict=True):
        if role is None:
            raise SpecError(
                f"{file}: {_unjoined(table, tables[roles.index('annotations')], labels)}; say what each file "
                f"holds, such as --annotations {shlex.quote(labels)} --raters {shlex.quote(file)}"
            )
        if role not in able:
            raise SpecError(f"{file} looks like {role}, which `grasp {command}` has no use for: leave it out")
        if vars(chosen)[role] is not None:
            raise SpecError(f"{vars(chosen)[role]} and {file} both look like {role}: name one by --{role}")
        setattr(chosen, role, file)
    if files:
        _SORTED.update(
            {(os.path.abspath(file), member): one for file, one in zip(files, tables, strict=True)}
        )
        note(", ".join(f"{file}: {role}" for file, role in zip(files, roles, strict=True)))
    if chosen.annotations is None:
        raise SpecError(f"name the file with the labels, such as: grasp {command} labels.csv raters.csv")
    _take_inside(chosen, able)


def _unjoined(table: Table, annotations: Table, labels: str) -> str:
    """Say why a file has no role: an open question on the annotations, or ids that are not theirs."""
    guess = recognise(annotations)
    for one in guess.uncertain:
        if one.field in ("layout", "item", "rater"):
            return f"what it holds cannot be told before the {one.field} of {labels} is certain"
    spec = guess.spec
    annotations = with_joined(annotations, (spec.item, spec.rater))
    rater, item = (unit_rows(annotations, spec, unit)[0][0] for unit in ("rater", "item"))
    return (
        f"nothing in it joins to {labels}, where raters are called as {quoted(rater)} and items as "
        f"{quoted(item)}; it begins with {quoted(table.cell(table.columns[0], 0))}"
    )


def _take_inside(chosen: argparse.Namespace, able: Sequence[str]) -> None:
    """Give the sheets of the labels' own workbook their roles by their content, if no option names one."""
    file, known = chosen.annotations, vars(chosen).get("raters")
    place = os.path.abspath(file)
    apart = known is not None and os.path.abspath(known) != place
    if apart or chosen.member is not None or vars(chosen).get("spec") is not None or not os.path.exists(file):
        return
    table = read_place(file, None)
    _SORTED[place, None] = table
    but = None if known is None else chosen.raters_member
    held = inside(table, lambda member: read_place(file, member), file_roles, but=but)
    labels = held.get("annotations")
    if labels is None or (len(held) == 1 and labels.member == table.member):
        return
    said = []
    for role, one in held.items():
        if role in able:
            own = "member" if role == "annotations" else f"{role}_member"
            vars(chosen).update({role: file, own: one.member})
            _SORTED[place, one.member] = one
            flag = f"--{role} {shlex.quote(file)} --{own.replace('_', '-')} {shlex.quote(str(one.member))}"
            said.append(f"{quoted(str(one.member))}: {role} ({flag})")
    note(f"inside {file}, {', '.join(said)}")


def _joined(files: Sequence[str], tables: Sequence[Table]) -> tuple[list[str], list[Table]]:
    """Return files and tables; files with the same columns are read together, like a folder of them."""
    if len(set(files)) < len(files) or not all(map(os.path.isfile, files)):
        return list(files), list(tables)
    places: list[str] = []
    read: list[Table] = []
    for several in by_columns(zip(files, tables, strict=True), lambda one: one[1].columns).values():
        (place, table), *more = several
        if more:
            paths = [Path(file).resolve() for file, _ in several]
            folder = Path(os.path.commonpath([path.parent for path in paths]))
            place = f"{place} and {number(len(more), 'more file')} of its columns"
            table = read_together(paths, folder, place)
        places.append(place)
        read.append(table)
    return places, read


def _read_tables(given: Mapping[str, Any]) -> InputTables:
    """Read only the files."""
    beside = [
        read_place(given[name], given.get(f"{name}_member")) if name in given else None
        for name in ("raters", "items")
    ]
    return InputTables(read_place(given["annotations"], given.get("member")), *beside)


def recorded_spec(chosen: argparse.Namespace, beside: Sequence[str]) -> tuple[Reading, RecordedSpec]:
    """Return the data, read as the spec says, and the spec of the file that ``--spec`` names."""
    flags = {one.name: one.flag for spec in (AnalysisSpec, DataSpec) for one in fields_of(spec).values()}
    used = given_options(chosen)
    typed = [
        f"--{'no-' if value is False else ''}{flags.get(name, name.replace('_', '-'))}"
        for name, value in used.items()
        if name not in {*beside, "spec"}
    ]
    if typed:
        raise SpecError(
            f"--spec says all of what to run: leave out {', '.join(typed)}; beside it go only "
            + ", ".join(f"--{name.replace('_', '-')}" for name in beside)
        )
    recorded = read_spec(chosen.spec)
    data = recorded.spec.data
    members = {name: getattr(data, name) for name in ("member", "raters_member", "items_member")}
    tables = _read_tables({**used, **members})
    return Reading(tables.annotations, tables.raters, data, items=tables.items), recorded


def note_other_data(recorded: RecordedSpec, dataset: Dataset) -> None:
    """Print a note if the data are not those that the spec was recorded with."""
    if recorded.sha256 != dataset.summary.sha256:
        other = printable(f"{', '.join(recorded.files)}, SHA-256 {recorded.sha256}")
        note(f"the spec was recorded with other data ({other}), so the numbers may differ")
