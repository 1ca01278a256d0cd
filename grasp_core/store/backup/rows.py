"""Rows of a backup: what they have to be, so that whatever was restored can be read."""

from __future__ import annotations

import base64
import hashlib
import json
import zlib
from collections.abc import Callable, Mapping
from typing import Any, get_args

from sqlalchemy import Column, Table

from grasp_core.benchmark.leaderboard import read_leaderboard
from grasp_core.json_values import from_json
from grasp_core.panels.results import read_result
from grasp_core.people import Role
from grasp_core.result import DataSummary
from grasp_core.spec import RunSpec
from grasp_core.store.answers import unpacked
from grasp_core.store.files import CHUNK_BYTES
from grasp_core.store.people.members import ROLES, MemberKind
from grasp_core.store.run_records import State
from grasp_core.store.schema import (
    answers,
    checkpoints,
    chunks,
    links,
    people,
    project_members,
    runs,
    watches,
)
from grasp_core.store.watches.records import PAUSED, SECONDS, sources_of

Row = dict[str, Any]
Check = Callable[[Row | None], None]
"""Takes the rows of a table one by one, and None after the last; what is wrong raises."""


def plain_of(row: Row) -> Row:
    """A table's row as JSON has it, bytes in base64."""
    return {
        name: base64.b64encode(value).decode("ascii") if isinstance(value, bytes) else value
        for name, value in row.items()
    }


def row_of(table: Table, plain: Row) -> Row:
    """The row of a table that :func:`plain_of` was given; columns that it lacks are empty.

    Raises
    ------
    KeyError, TypeError, ValueError
        If it has another column, or a value is not of its column's kind.
    """
    unknown = plain.keys() - table.columns.keys()
    if unknown:
        raise KeyError
    return {column.name: _decoded(column, plain.get(column.name)) for column in table.columns}


def check_of(table: Table) -> Check:
    """What rows of a table have to be beyond their types."""
    if table is chunks:
        return _files_whole()
    check = _CHECKS.get(table.name)
    return lambda row: None if row is None or check is None else check(row)


def _decoded(column: Column[Any], value: Any) -> Any:
    if value is None:
        if not column.nullable:
            raise ValueError
        return None
    kind = column.type.python_type
    if kind is bytes and isinstance(value, str):
        return base64.b64decode(value, validate=True)
    if kind is float and isinstance(value, int) and not isinstance(value, bool):
        return float(value)
    if type(value) is not kind or (kind is int and abs(value) >= 2**63):
        raise TypeError
    return value


def _check_run(row: Row) -> None:
    """A run's parts can be read; one that was being computed waits to be resumed."""
    if row["state"] not in get_args(State) or (row["state"] == "done") != (row["result"] is not None):
        raise ValueError
    RunSpec.from_dict(json.loads(row["spec"]))
    from_json(json.loads(row["summary"]), DataSummary)
    if row["result"] is not None:
        read_result(json.loads(row["result"]))
    if row["state"] == "running":
        row["state"] = "cancelled" if row["cancel_requested"] else "queued"
    row["lease_until"] = 0.0


def _check_checkpoint(row: Row) -> None:
    size = row["stop"] - row["start"]
    if row["start"] < 0 or size <= 0 or not row["shuffled"] or len(row["shuffled"]) % (size * 8):
        raise ValueError


def _check_link(row: Row) -> None:
    if row.get("leaderboard") is not None:
        read_leaderboard(json.loads(row["leaderboard"]))


def _check_person(row: Row) -> None:
    if row["role"] not in (None, *get_args(Role)):
        raise ValueError


def _check_answer(row: Row) -> None:
    unpacked(row["content"])


def _check_member(row: Row) -> None:
    if row["kind"] not in get_args(MemberKind) or row["role"] not in ROLES:
        raise ValueError


def _check_watch(row: Row) -> None:
    """A watch that was being looked at is free."""
    if row["every"] not in SECONDS or row["paused"] not in (None, *PAUSED):
        raise ValueError
    sources_of(row["sources"])
    row["lease_until"] = 0.0


_CHECKS: Mapping[str, Callable[[Row], None]] = {
    runs.name: _check_run,
    checkpoints.name: _check_checkpoint,
    links.name: _check_link,
    answers.name: _check_answer,
    people.name: _check_person,
    project_members.name: _check_member,
    watches.name: _check_watch,
}


def _files_whole() -> Check:
    """Chunks come file by file, in order; each file is what its SHA-256 says."""
    file, digest = ("", ""), hashlib.sha256()

    def check(row: Row | None) -> None:
        nonlocal file, digest
        if row is None or (row["project_id"], row["sha256"]) != file:
            if file[1] and digest.hexdigest() != file[1]:
                raise ValueError
            file = ("", "") if row is None else (row["project_id"], row["sha256"])
            digest = hashlib.sha256()
        if row is not None:
            unpacking = zlib.decompressobj()
            content = unpacking.decompress(row["content"], CHUNK_BYTES + 1)
            if not unpacking.eof or len(content) > CHUNK_BYTES:
                raise ValueError
            digest.update(content)

    return check
