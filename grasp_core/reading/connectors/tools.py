"""Annotations from annotation tools, each by the tool's own client, which is loaded when needed."""

from __future__ import annotations

import json
import re
import warnings
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from grasp_core.model.errors import DataError
from grasp_core.model.text import listed, number, quoted
from grasp_core.reading.connectors.source import FetchJob
from grasp_core.reading.formats.shapes.rows import want_list, want_object

if TYPE_CHECKING:
    from argilla import Argilla, Dataset


def _file_name(name: str) -> str:
    return re.sub(r"[^\w.-]", "_", name)


def _written(job: FetchJob, name: str, content: list[dict[str, Any]]) -> str:
    with (job.folder / name).open("w", encoding="utf-8") as file:
        json.dump(content, file, ensure_ascii=False)
    return name


# Label Studio: a project's annotations as its own JSON export

_CONNECT_S = 30


def label_studio(job: FetchJob) -> str:
    """Write a project's export into a file and return its name."""
    import httpx
    from label_studio_sdk import LabelStudio

    project = int(job.pieces[-1])
    limit = httpx.Timeout(job.seconds, connect=_CONNECT_S)
    with httpx.Client(timeout=limit, follow_redirects=True) as web:
        client = LabelStudio(base_url=job.start(2), api_key=job.token, httpx_client=web)
        found = client.projects.get(project)
        tasks, annotations = found.task_number or 0, found.total_annotations_number or 0
        if not annotations:
            raise DataError(
                f"project {project} at {job.host} has {number(tasks, 'task')} and no annotation yet, so "
                "there is nothing to read"
            )
        job.told(f"waiting for the export of {number(annotations, 'annotation')}")
        export = client.projects.exports.as_json(project, timeout=int(job.seconds))
    return _written(job, f"label-studio-{project}.json", _lasting(export))


def _lasting(export: Any) -> list[dict[str, Any]]:
    """Return the tasks in the order of their numbers, without texts that age, as "16 minutes ago"."""
    tasks = want_list(export, "the export", "what it holds")
    for task in tasks:
        for what in ("annotations", "drafts", "predictions"):
            for one in want_list(want_object(task, "the export", "a task").get(what) or [], "a task", what):
                if isinstance(one, dict):
                    one.pop("created_ago", None)
    return sorted(tasks, key=lambda task: int(task["id"]))


# Argilla: a data set's records with their responses

_AT_ONCE = 250
_KEPT = ("id", "external_id", "status", "fields", "metadata", "responses")


def argilla(job: FetchJob) -> str:
    """Write a data set's records into a file and return its name."""
    from argilla import Argilla

    client = Argilla(api_url=job.start(2), api_key=job.token, timeout=int(job.seconds), retries=1)
    dataset = _dataset(client, job)
    records = list(_records(client, dataset, job))
    if not any(record.get("responses") for record in records):
        raise DataError(
            f"data set {quoted(dataset.name)} at {job.host} has {number(len(records), 'record')} and no "
            "response yet, so there is nothing to read"
        )
    return _written(job, _file_name(f"argilla-{dataset.name}.json"), records)


def _records(client: Argilla, dataset: Dataset, job: FetchJob) -> Iterator[dict[str, Any]]:
    """Yield records from the server: the client would give a record without an id a new one each time."""
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


def _dataset(client: Argilla, job: FetchJob) -> Dataset:
    place, named = job.pieces[-2:]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # a missing data set gets a sentence below
        if place == "dataset" and re.fullmatch(
            r"[0-9a-fA-F]{8}(-?[0-9a-fA-F]{4}){3}-?[0-9a-fA-F]{12}", named
        ):
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


# Hugging Face: a split of a data set as Parquet; no code of a data set is run

_BATCH = 10_000


def hugging_face(job: FetchJob) -> str:
    """Write a split into a file and return its name."""
    import pyarrow.parquet as pq
    from datasets import Audio, Image, Video, load_dataset

    address, _, revision = job.source.address.partition("@")
    found = load_dataset(
        address,
        job.source.option("config") or None,
        revision=revision or None,
        token=job.token or False,
        streaming=True,
    )
    split = _split(found, job)
    rows = found[split]
    silent = [name for name, kind in (rows.features or {}).items() if isinstance(kind, (Audio, Image, Video))]
    rows = rows.remove_columns(silent) if silent else rows  # pictures and sounds, which nothing here reads
    name = _file_name(f"{address}-{split}.parquet")
    count = 0
    writer = None
    try:
        for batch in rows.with_format("arrow").iter(batch_size=_BATCH):
            writer = writer or pq.ParquetWriter(job.folder / name, batch.schema)
            writer.write_table(batch.cast(writer.schema))
            count += len(batch)
            job.told(f"{count:,} rows")
    finally:
        if writer is not None:
            writer.close()
    if not count:
        raise DataError(f"split {quoted(split)} of {address} has no rows, so there is nothing to read")
    return name


def _split(found: Any, job: FetchJob) -> str:
    splits, asked = list(found), job.source.option("split")
    if not asked and len(splits) == 1:
        return str(splits[0])
    if asked in splits:
        return asked
    have = listed(list(map(str, splits)))
    if asked:
        raise DataError(f"{job.source.address} has no split {quoted(asked)}; it has {have}")
    raise DataError(f"{job.source.address} has {len(splits)} splits: {have}; name one (?split=...)")
