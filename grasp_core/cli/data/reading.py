"""The files that the options name, read; what the options leave open is recognised."""

from __future__ import annotations

import argparse
from collections.abc import Mapping, Sequence
from typing import Any

from grasp_core.asked.leaving_out import Answer
from grasp_core.asked.reading import Reading, Tables, reading_of
from grasp_core.cli.data.fetched import read_place
from grasp_core.cli.data.options import spec_fields
from grasp_core.cli.terminal.lines import VOICE, note
from grasp_core.errors import SpecError
from grasp_core.io.guess.roles import Role, file_roles
from grasp_core.io.table.table import Table

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
    return reading_of(read_tables(given), spec_fields(given), VOICE, answer, axes_named="axis" in given)


def sort_files(chosen: argparse.Namespace) -> None:
    """Take files that are named without an option for what their content says, as if options named them.

    Raises
    ------
    DataError, SpecError
        If a file cannot be read, its content does not tell its role, two have one role, or none has labels.
    """
    files: Sequence[str] = vars(chosen).pop("files")
    if files and any(vars(chosen)[role] is not None for role in _OPTIONS):
        raise SpecError(f"name files alone, or by {', '.join(_OPTIONS.values())}, not both")
    roles = file_roles([read_place(file, None) for file in files]) if files else ()
    for file, role in zip(files, roles, strict=True):
        if role is None:
            raise SpecError(
                f"{file}: nothing in it joins to the labels; say what it holds by an option, such as --raters"
            )
        if vars(chosen)[role] is not None:
            raise SpecError(
                f"{vars(chosen)[role]} and {file} both look like {role}: name one by {_OPTIONS[role]}"
            )
        setattr(chosen, role, file)
    if files:
        note(", ".join(f"{file}: {role}" for file, role in zip(files, roles, strict=True)))
    if chosen.annotations is None:
        raise SpecError("name the file with the labels, such as: grasp run labels.csv raters.csv")


def read_tables(given: Mapping[str, Any]) -> Tables:
    """The files alone."""
    beside = [_beside(given, name) for name in ("raters", "items")]
    return Tables(read_place(given["annotations"], given.get("member")), *beside)


def _beside(given: Mapping[str, Any], name: str) -> Table | None:
    return read_place(given[name], given.get(f"{name}_member")) if name in given else None
