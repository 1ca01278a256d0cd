"""The files that the options name, read; what the options leave open is recognised."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from grasp_core.asked.leaving_out import Answer
from grasp_core.asked.reading import Reading, Tables, reading_of
from grasp_core.cli.data.fetched import read_place
from grasp_core.cli.data.options import spec_fields
from grasp_core.cli.terminal.lines import VOICE
from grasp_core.errors import SpecError
from grasp_core.io.table.table import Table


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


def read_tables(given: Mapping[str, Any]) -> Tables:
    """The files alone."""
    beside = [_beside(given, name) for name in ("raters", "items")]
    return Tables(read_place(given["annotations"], given.get("member")), *beside)


def _beside(given: Mapping[str, Any], name: str) -> Table | None:
    return read_place(given[name], given.get(f"{name}_member")) if name in given else None
