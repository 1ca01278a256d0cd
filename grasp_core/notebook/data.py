"""What is given as data: frames, tables that were read, and paths or addresses of files."""

from __future__ import annotations

import io
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from grasp_core.engine.request.reading import Reading, Tables, as_named, reading_of
from grasp_core.model.data_spec import DataSpec
from grasp_core.model.spec import RunSpec
from grasp_core.notebook.options import Python, answer_of, data_fields
from grasp_core.reading.connectors.fetching import read_anywhere
from grasp_core.reading.dataset.load import Dataset, load
from grasp_core.reading.example import example_files
from grasp_core.reading.sandbox.parse import frame_table
from grasp_core.reading.table.table import Table

if TYPE_CHECKING:
    import pandas as pd


def read(path: str | Path, *, member: str | None = None, token: str | None = None) -> Table:
    """Read a file of any format that docs/formats.md lists, as the dashboard does.

    Parameters
    ----------
    path : str or Path
        Of a file or a folder; an address such as ``https://...`` or ``s3://...``; or a source in a tool, such
        as ``label-studio:https://host/projects/3`` (docs/formats.md).
    member : str, optional
        Sheet of a workbook, or file of an archive.
    token : str, optional
        Of a source; by default what the tool's own environment variable holds.

    Returns
    -------
    Table
        For :func:`analyse` and others; :meth:`~grasp_core.reading.table.table.Table.frame` shows its cells,
        all of them text. Of a known tool's export it knows how it is to be read.

    Raises
    ------
    DataError
        If it cannot be read, or holds no table.
    """
    return read_anywhere(str(path), member, token=token)


def table_of(given: Any, name: str, member: str | None = None) -> Table:
    """A table of a frame, of a path or an address, or one that was read before."""
    if isinstance(given, Table):
        return given
    if isinstance(given, str | Path):
        return read(given, member=member)
    return frame_table(given, name)


def load_example() -> tuple[pd.DataFrame, pd.DataFrame]:
    """The built-in example: synthetic judgements whether texts are unsafe, with two planted groups.

    Returns
    -------
    annotations, raters : DataFrame
        36,400 labels of 350 items by 104 raters, and the raters' race, gender and age.

    Examples
    --------
    >>> annotations, raters = load_example()
    >>> len(annotations), len(raters)
    (36400, 104)
    """
    import pandas as pd

    files = example_files()
    annotations, raters = (
        pd.read_csv(io.BytesIO(files[name]), dtype=str) for name in ("annotations.csv", "raters.csv")
    )
    return annotations, raters


def tables_of(annotations: Any, raters: Any, items: Any, members: Mapping[str, Any] | DataSpec) -> Tables:
    """The three tables; raters and items may be None."""

    def member(name: str) -> str | None:
        return members.get(name) if isinstance(members, Mapping) else getattr(members, name)

    return Tables(
        table_of(annotations, "annotations", member("member")),
        None if raters is None else table_of(raters, "raters", member("raters_member")),
        None if items is None else table_of(items, "items", member("items_member")),
    )


def loaded(found: Reading, run_spec: RunSpec) -> Dataset:
    """The data set of a run."""
    axes, slices = run_spec.analysis.columns, run_spec.analysis.slices
    return load(found.annotations, found.raters, run_spec.data, axes, items=found.items, slices=slices)


def reading(
    tables: Tables, options: Mapping[str, Any], voice: Python, *, axes_named: bool, several: bool = False
) -> Reading:
    """The tables as the options say; what they leave open is recognised, unless `guess` is False."""
    fields = data_fields(options, several=several)
    if not options.get("guess", True):
        return as_named(tables, fields)
    return reading_of(tables, fields, voice, answer_of(options), axes_named=axes_named)
