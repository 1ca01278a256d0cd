"""Folders that Hugging Face `datasets` saves with `save_to_disk`, packed as an archive."""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Callable, Sequence
from pathlib import PurePosixPath
from typing import Any

from grasp_core.model.errors import DataError
from grasp_core.model.wording import listed, quoted
from grasp_core.reading.archives.stack import Member, together
from grasp_core.reading.formats.columnar import arrow_files
from grasp_core.reading.table.parsed import Parsed, Watch

_STATE, _INFO, _SPLITS = "state.json", "dataset_info.json", "dataset_dict.json"
_WRITE_AGAIN = "save it again with save_to_disk, or write it with to_parquet or to_csv"

Read = Callable[[str], bytes]


def read(names: Sequence[str], member: Read, name: str, chosen: str | None, watch: Watch) -> Parsed | None:
    """A saved data set, or the splits of several that make one; None for other archives.

    Splits that hold raters and no annotation twice are read as one table, with a column that says which. Else
    the first is read, and the others are named; `chosen` chooses one.

    Raises DataError if its files are not those that it names, or damaged, or there is no such split.
    """
    folders = [
        {PurePosixPath(path).parent for path in names if PurePosixPath(path).name == file}
        for file in (_STATE, _INFO)
    ]
    splits = {folder.name or "data": str(folder) for folder in sorted(folders[0] & folders[1])}
    if not splits:
        return None
    ordered = _order(names, member, splits, name)
    if chosen is not None and chosen not in ordered:
        raise DataError(f"{name} holds no split {quoted(chosen)}; its splits are {listed(ordered)}")
    wanted = ordered if chosen is None else [chosen]
    tables = [Member(split, _table(splits[split], names, member, name, watch)) for split in wanted]
    if len(ordered) == 1:
        return tables[0].parsed
    parsed = together(tables, [], name, "split")
    return dataclasses.replace(
        parsed, members=tuple(ordered), member=parsed.member if chosen is None else chosen
    )


def _order(names: Sequence[str], member: Read, splits: dict[str, str], name: str) -> list[str]:
    """The splits in the order in which the data set names them."""
    about = next((path for path in names if PurePosixPath(path).name == _SPLITS), None)
    told = _json(member(about), name, about).get("splits") if about is not None else None
    given = [split for split in told if split in splits] if isinstance(told, list) else []
    return given or list(splits)


def _table(folder: str, names: Sequence[str], member: Read, name: str, watch: Watch) -> Parsed:
    within = "" if folder == "." else f"{folder}/"
    shown = f"{name}, {folder}" if within else name
    state = _json(member(f"{within}{_STATE}"), name, f"{within}{_STATE}")
    if state.get("_indices_data_files"):
        raise DataError(f"{shown}: this data set keeps a selection of its rows apart; {_WRITE_AGAIN}")
    files = state.get("_data_files")
    listed_files = files if isinstance(files, list) else []
    paths = [f"{within}{file.get('filename')}" for file in listed_files if isinstance(file, dict)]
    gone = [path for path in paths if path not in names]
    if gone or not paths:
        what = f"lacks {listed(gone)}" if gone else f"names no data files in its {_STATE}"
        raise DataError(f"{shown}: this saved data set {what}; {_WRITE_AGAIN}")
    parsed = arrow_files.parse([member(path) for path in paths], shown, watch)
    return dataclasses.replace(parsed, kind=parsed.kind.replace("Arrow", "Hugging Face dataset"))


def _json(content: bytes, name: str, path: str) -> dict[str, Any]:
    try:
        found = json.loads(content)
    except (ValueError, RecursionError):
        found = None
    if not isinstance(found, dict):
        raise DataError(f"{name}, {path}: a damaged description of a data set; {_WRITE_AGAIN}")
    return found
