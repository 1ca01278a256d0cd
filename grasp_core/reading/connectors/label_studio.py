"""Label Studio: a project's annotations as its own JSON export, by its own client."""

from __future__ import annotations

import json
from typing import Any

import httpx
from label_studio_sdk import LabelStudio

from grasp_core.model.errors import DataError
from grasp_core.model.text import number
from grasp_core.reading.connectors.source import Job
from grasp_core.reading.formats.shapes.rows import want_list, want_object

_CONNECT_S = 30


def fetch(job: Job) -> str:
    """Write the export into a file; returns its name."""
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
        name = f"label-studio-{project}.json"
        export = client.projects.exports.as_json(project, timeout=int(job.seconds))
    with (job.folder / name).open("w", encoding="utf-8") as file:
        json.dump(_lasting(export), file, ensure_ascii=False)
    return name


def _lasting(export: Any) -> list[dict[str, Any]]:
    """The tasks in the order of their numbers, without what changes by itself: "16 minutes ago"."""
    tasks = want_list(export, "the export", "what it holds")
    for task in tasks:
        for what in ("annotations", "drafts", "predictions"):
            for one in want_list(want_object(task, "the export", "a task").get(what) or [], "a task", what):
                if isinstance(one, dict):
                    one.pop("created_ago", None)
    return sorted(tasks, key=lambda task: int(task["id"]))
