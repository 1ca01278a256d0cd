"""The files that the options name, read; what the options leave open is recognised."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from grasp_core.asked.reading import Reading, Tables, reading_of
from grasp_core.cli.data.options import spec_fields
from grasp_core.cli.terminal import VOICE
from grasp_core.errors import SpecError
from grasp_core.io.parts.partitions import Parts, sample
from grasp_core.io.sources.allowed import read_anywhere
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
    return reading_of(read_tables(given), spec_fields(given), VOICE, given.get("keep", ()))


def read_tables(given: Mapping[str, Any]) -> Tables:
    """The files alone; of annotations that are read part by part (`parts`) the first rows."""
    parts: Parts | None = given.get("parts")
    if parts is None:
        annotations = read_anywhere(given["annotations"], member=given.get("member"))
    else:
        annotations = sample(parts)
    return Tables(annotations, _beside(given, "raters"), _beside(given, "items"))


def _beside(given: Mapping[str, Any], name: str) -> Table | None:
    return read_anywhere(given[name], member=given.get(f"{name}_member")) if name in given else None
