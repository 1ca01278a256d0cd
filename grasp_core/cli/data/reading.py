"""Files that options name: read, fetched, and what is said of them."""

from __future__ import annotations

import argparse
import getpass
import sys
from collections.abc import Mapping, Sequence
from typing import Any

from grasp_core.cli.data.options import spec_fields
from grasp_core.cli.terminal.messages import VOICE, clear_line, note, say, show_line
from grasp_core.engine.request.leaving_out import Answer
from grasp_core.engine.request.reading import Reading, Tables, reading_of
from grasp_core.model.data_spec import DataSpec
from grasp_core.model.errors import DataError, SpecError
from grasp_core.model.text import printable
from grasp_core.model.wording import closest, quoted
from grasp_core.reading.connectors.fetching import NEEDED, VARIABLES, read_anywhere
from grasp_core.reading.connectors.source import TOOLS, Source
from grasp_core.reading.dataset.load import Dataset
from grasp_core.reading.guess.roles import Role, file_roles
from grasp_core.reading.table.table import Table
from grasp_core.report.account import account_sentences
from grasp_core.report.words.label_use import labelled_sentence

_COMPARED = 20_000
"""Distinct texts among which one that is like another is looked for."""


def say_data(dataset: Dataset, spec: DataSpec) -> None:
    """Say on standard output which labels there are and how many, on standard error how they were read."""
    say(printable(labelled_sentence(spec, dataset.summary)))
    say_account(dataset)


def say_account(dataset: Dataset) -> None:
    """Say how much was read, used and left out, and the columns that nothing was taken from."""
    for sentence in account_sentences(dataset.summary.account):
        note(printable(sentence))


def read_place(place: str, member: str | None) -> Table:
    """Read a path, an address or a source.

    Raises
    ------
    DataError
    """
    try:
        table = read_anywhere(place, member, ask=_ask, told=_told)
    finally:
        clear_line()
    if table.source:
        note(printable(f"{table.name} is what {table.source} holds now, SHA-256 {table.sha256}"))
    return table


def _ask(source: Source) -> str:
    """The token, as somebody types it: an option would be seen by others at this machine."""
    if source.in_file or (source.kind == "sql" and "@" not in source.address):
        return ""
    if not sys.stdin.isatty():
        if source.kind in NEEDED:
            raise DataError(f"{TOOLS[source.kind]} asks for a token: put it into {VARIABLES[source.kind]}")
        return ""
    what = "Password" if source.kind == "sql" else "Token"
    return getpass.getpass(f"{what} for {source.shown} (none: Enter; unasked: {VARIABLES[source.kind]}): ")


def _told(words: str) -> None:
    if words:
        show_line(words)


_OPTIONS: Mapping[Role, str] = {"annotations": "--annotations", "raters": "--raters", "items": "--items"}


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
    answer = Answer(given.get("keep", ()), given.get("recommended"))
    tables = read_tables(given)
    _say_not_missing(given.get("missing", ()), tables)
    return reading_of(tables, spec_fields(given), VOICE, answer, axes_named="axis" in given)


def _say_not_missing(texts: Sequence[str], given: Tables) -> None:
    """Name the texts of ``--missing`` that no cell holds, and those that may be meant."""
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
    """Take files that are named without an option for what their content says, as if options named them.

    Raises
    ------
    DataError, SpecError
        If a file cannot be read, its content does not tell its role, two have one role, or none has labels.
    """
    files: Sequence[str] = vars(chosen).pop("files")
    able = {role: option for role, option in _OPTIONS.items() if role in vars(chosen)}
    if files and any(vars(chosen)[role] is not None for role in able):
        raise SpecError(f"name files alone, or by {', '.join(able.values())}, not both")
    roles = file_roles([read_place(file, None) for file in files]) if files else ()
    for file, role in zip(files, roles, strict=True):
        if role is None:
            raise SpecError(
                f"{file}: nothing in it joins to the labels; say what it holds by an option, such as --raters"
            )
        if role not in able:
            raise SpecError(f"{file} looks like {role}, which `grasp {command}` has no use for: leave it out")
        if vars(chosen)[role] is not None:
            raise SpecError(
                f"{vars(chosen)[role]} and {file} both look like {role}: name one by {_OPTIONS[role]}"
            )
        setattr(chosen, role, file)
    if files:
        note(", ".join(f"{file}: {role}" for file, role in zip(files, roles, strict=True)))
    if chosen.annotations is None:
        raise SpecError(f"name the file with the labels, such as: grasp {command} labels.csv raters.csv")


def read_tables(given: Mapping[str, Any]) -> Tables:
    """The files alone."""
    beside = [_beside(given, name) for name in ("raters", "items")]
    return Tables(read_place(given["annotations"], given.get("member")), *beside)


def _beside(given: Mapping[str, Any], name: str) -> Table | None:
    return read_place(given[name], given.get(f"{name}_member")) if name in given else None
