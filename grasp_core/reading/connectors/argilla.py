"""Argilla: a data set's records with their responses as JSON, by its own client."""

from __future__ import annotations

import json
import re
import warnings
from collections.abc import Iterator
from typing import Any
from uuid import UUID

from argilla import Argilla, Dataset

from grasp_core.model.errors import DataError
from grasp_core.model.text import listed, number, quoted
from grasp_core.reading.connectors.source import Job

_AT_ONCE = 250
_KEPT = ("id", "external_id", "status", "fields", "metadata", "responses")


def fetch(job: Job) -> str:
    """Write the records into a file; returns its name."""
    client = Argilla(api_url=job.start(2), api_key=job.token, timeout=int(job.seconds), retries=1)
    dataset = _dataset(client, job)
    records = list(_records(client, dataset, job))
    if not any(record.get("responses") for record in records):
        raise DataError(
            f"data set {quoted(dataset.name)} at {job.host} has {number(len(records), 'record')} and no "
            "response yet, so there is nothing to read"
        )
    name = re.sub(r"[^\w.-]", "_", f"argilla-{dataset.name}.json")
    with (job.folder / name).open("w", encoding="utf-8") as file:
        json.dump(records, file, ensure_ascii=False)
    return name


def _records(client: Argilla, dataset: Dataset, job: Job) -> Iterator[dict[str, Any]]:
    """Records as the server has them: to those without an id, the client gives another one each time."""
    place, at = f"/api/v1/datasets/{dataset.id}/records", 0
    while True:
        asked = {"offset": at, "limit": _AT_ONCE, "include": "responses"}
        answer = client.http_client.get(place, params=asked)
        answer.raise_for_status()
        found = answer.json()["items"]
        yield from ({name: record.get(name) for name in _KEPT} for record in found)
        at += len(found)
        job.told(f"{at:,} records")
        if len(found) < _AT_ONCE:
            return


def _dataset(client: Argilla, job: Job) -> Dataset:
    place, named = job.pieces[-2:]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # that there is none is said in a sentence
        if place == "dataset" and _is_id(named):
            found = client.datasets(id=named)
        else:
            workspace = client.workspaces(name=place)
            if workspace is None:
                there = [one.name for one in client.workspaces]
                have = f"of those it shows {listed(there)}" if there else "it shows none"
                raise DataError(f"{job.host} has no workspace {quoted(place)} for this API key; {have}")
            found = client.datasets(name=named, workspace=workspace)
            if found is None:
                there = [one.name for one in workspace.datasets]
                have = f"there are {listed(there)}" if there else "there is none"
                raise DataError(
                    f"workspace {quoted(place)} at {job.host} has no data set {quoted(named)}; {have}"
                )
    if found is None:
        raise DataError(f"{job.host} has no data set with the id {named} for this API key; check the address")
    return found


def _is_id(text: str) -> bool:
    try:
        UUID(text)
    except ValueError:
        return False
    return True
