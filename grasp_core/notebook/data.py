"""What is given as data: frames, tables that were read, and paths or addresses of files."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from grasp_core.engine.request.reading import Tables
from grasp_core.model.data_spec import DataSpec
from grasp_core.read.connectors.anywhere import read_anywhere
from grasp_core.read.sandbox.parse import frame_table
from grasp_core.read.table.table import Table


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
        For :func:`analyse` and the others; :meth:`~grasp_core.read.table.table.Table.frame` shows its cells,
        all of them text. Of a known tool's export it knows how it is to be read.

    Raises
    ------
    DataError
        If it cannot be read, or holds no table.
    """
    return read_anywhere(str(path), member, token=token)


def table_of(given: Any, name: str, member: str | None = None) -> Table:
    """A table of a frame, of a path or an address, or one that was read before.

    Raises
    ------
    DataError
        If it is none of these, or cannot be read.
    """
    if isinstance(given, Table):
        return given
    if isinstance(given, str | Path):
        return read(given, member=member)
    return frame_table(given, name)


def tables_of(annotations: Any, raters: Any, items: Any, members: Mapping[str, Any] | DataSpec) -> Tables:
    """The three tables; raters and items may be None.

    Raises
    ------
    DataError
    """

    def member(name: str) -> str | None:
        return members.get(name) if isinstance(members, Mapping) else getattr(members, name)

    return Tables(
        table_of(annotations, "annotations", member("member")),
        None if raters is None else table_of(raters, "raters", member("raters_member")),
        None if items is None else table_of(items, "items", member("items_member")),
    )
