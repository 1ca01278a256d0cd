"""Runs asked for by a file: a saved spec, or a result, which has one."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from typing import Any

from grasp_core.cli.data.reading import read_tables
from grasp_core.cli.terminal.messages import note
from grasp_core.engine.request.reading import Reading
from grasp_core.model.errors import SpecError
from grasp_core.model.spec import RunSpec
from grasp_core.model.text import printable
from grasp_core.reading.dataset.load import Dataset
from grasp_core.report.saved import RecordedSpec, read_spec


def given_options(chosen: argparse.Namespace) -> dict[str, Any]:
    """The options that were used; those left out are None, and the specs' own defaults hold."""
    return {name: value for name, value in vars(chosen).items() if value is not None and name != "command"}


def _typed(name: str, value: object) -> str:
    """An option as it was typed: one of two words that is not asked for has its own, ``--no-...``."""
    return f"--{'no-' if value is False else ''}{name.replace('_', '-')}"


def recorded_spec(chosen: argparse.Namespace, beside: Sequence[str]) -> RecordedSpec:
    """The spec of the file that ``--spec`` names.

    Parameters
    ----------
    beside : sequence of str
        Options that may stand beside it.

    Raises
    ------
    SpecError
        If another one does, or the spec asks for what cannot be computed.
    DataError
        If the file cannot be read.
    """
    allowed = {*beside, "spec"}
    given = [_typed(name, value) for name, value in given_options(chosen).items() if name not in allowed]
    if given:
        raise SpecError(
            f"--spec says all of what to run: leave out {', '.join(given)}; beside it go only "
            + ", ".join(f"--{name.replace('_', '-')}" for name in beside)
        )
    return read_spec(chosen.spec)


def reading_of(chosen: argparse.Namespace, spec: RunSpec) -> Reading:
    """The files that the options name, read as a spec says."""
    names = ("member", "raters_member", "items_member")
    members = {name: getattr(spec.data, name) for name in names}
    given = read_tables({**given_options(chosen), **members})
    return Reading(given.annotations, given.raters, spec.data, items=given.items)


def note_other_data(recorded: RecordedSpec, dataset: Dataset) -> None:
    """Say so where the data are not those that the spec was recorded with."""
    if recorded.sha256 != dataset.summary.sha256:
        other = printable(f"{', '.join(recorded.files)}, SHA-256 {recorded.sha256}")
        note(f"the spec was recorded with other data ({other}), so the numbers may differ")
