"""Documents of databases up to 0006 and backups up to 4: answers about models, now runs, and leaderboards."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from typing import Any

from sqlalchemy import Column, Double, MetaData, String, Table, Text

from grasp_core.access import EVERYONE
from grasp_core.benchmark.leaderboard import read_leaderboard
from grasp_core.json_values import to_json
from grasp_core.panels.models.result import ModelsResult
from grasp_core.store.schema import links


def run_of(document: Mapping[str, Any]) -> dict[str, Any]:
    """The row of `runs` that a row of the table `documents` becomes; links and addresses keep its id.

    Raises
    ------
    DataError, ValueError
        If the content is no result about models.
    """
    result = ModelsResult.from_dict(json.loads(document["content"]))
    return {
        "id": document["id"],
        "key": None,
        "title": document["title"],
        "owner": document["owner"],
        "note": "",
        "state": "done",
        "error": None,
        "created_at": document["created_at"],
        "finished_at": document["created_at"],
        "duration_s": None,
        "code_version": result.code_version[:64],
        "spec": json.dumps(result.spec.to_dict()),
        "summary": json.dumps(to_json(result.data)),
        "result": document["content"],
        "done": result.permutations,
        "total": result.permutations,
        "cancel_requested": False,
        "attempt": 0,
        "lease_until": 0.0,
    }


class Documents:
    """The rows of an earlier backup that are no longer what they were, and what becomes of them."""

    documents = Table(
        "documents",
        MetaData(),
        *(Column(name, String, nullable=False) for name in ("id", "kind", "title", "owner", "sha256")),
        Column("created_at", Double, nullable=False),
        Column("content", Text, nullable=False),
    )
    links = Table(
        "links",
        MetaData(),
        *(Column(c.name, c.type, nullable=c.nullable) for c in links.columns if c.name != "leaderboard"),
        Column("document_id", String),
    )

    def __init__(self) -> None:
        self._boards: dict[str, str] = {}

    def run(self, document: dict[str, Any]) -> dict[str, Any] | None:
        """The run that an answer becomes; a leaderboard waits for its links.

        Raises
        ------
        DataError, ValueError
            If the document could not be shown.
        """
        if hashlib.sha256(document["content"].encode()).hexdigest() != document["sha256"]:
            raise ValueError(document["sha256"])
        if document["kind"] == "models":
            return {**run_of(document), "project_id": EVERYONE}
        read_leaderboard(json.loads(document["content"]))
        self._boards[document["id"]] = document["content"]
        return None

    def link(self, link: dict[str, Any]) -> dict[str, Any]:
        """The link to the run or leaderboard that its document has become."""
        document_id = link.pop("document_id")
        board = self._boards.get(document_id)
        run_id = link["run_id"] if document_id is None or board is not None else document_id
        return {**link, "run_id": run_id, "leaderboard": board}
