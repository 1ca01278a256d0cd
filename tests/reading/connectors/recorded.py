"""Tools as their own clients find them.

Label Studio 1.23.2 gave what stands here and in ``label_studio_export.json`` (cut to two tasks); Argilla's
and Hugging Face's answers are written after what argilla 2.8.0 and datasets 5.2.0 read.
"""

from __future__ import annotations

import base64
import io
import json
import re
import time
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from tests.reading.connectors.answering import Answer, Asked, as_json

TOKEN = "a-token-that-works"
EXPORT = json.loads((Path(__file__).parent / "label_studio_export.json").read_text("utf-8"))
_PROJECT = {"id": 3, "title": "Toxicity", "task_number": 2, "total_annotations_number": 6}
_DAY = "2026-11-23T05:01:38.757070Z"
VOTES = pa.table({"item": ["a", "a", "b"], "rater": [1, 2, 1], "label": ["Yes", "No", None]})


def jwt(kind: str) -> str:
    """A token as Label Studio makes them; it is not checked who signed it."""
    parts = [{"alg": "HS256", "typ": "JWT"}, {"token_type": kind, "exp": int(time.time()) + 3600}]
    return ".".join(
        base64.urlsafe_b64encode(json.dumps(part).encode()).decode().rstrip("=") for part in (*parts, {})
    )


REFRESH, _ACCESS = jwt("refresh"), jwt("access")


def label_studio(asked: Asked) -> Answer | None:
    """A project 3 with two tasks, a project 4 with none, both for who has the token."""
    if asked.path == "/api/token/refresh/":
        return as_json({"access": _ACCESS})
    if asked.authorization != f"Bearer {_ACCESS}":
        return as_json({"status_code": 401, "detail": "Authentication credentials were not provided."}, 401)
    if asked.path == "/api/projects/3/":
        return as_json(_PROJECT)
    if asked.path == "/api/projects/4/":
        return as_json({**_PROJECT, "id": 4, "task_number": 0, "total_annotations_number": 0})
    if asked.path == "/api/version/":
        return as_json({"release": "1.23.2"})
    if asked.path == "/api/projects/3/export":
        return as_json(EXPORT)
    return None


_WORKSPACE = {"id": "6f9619ff-8b86-4d01-b42d-00cf4fc964f1", "name": "lab"}
DATASET = "6f9619ff-8b86-4d01-b42d-00cf4fc964f2"
_USERS = [f"6f9619ff-8b86-4d01-b42d-00cf4fc9640{number}" for number in range(3)]


def _record(number: int) -> dict[str, Any]:
    answers = [
        {
            "id": f"6f9619ff-8b86-4d01-b42d-00cf4fc9{user}{number:03}",
            "values": {"toxic": {"value": ("Yes", "No")[(number + user) % 2]}},
            "status": "submitted" if user < 2 else "draft",
            "user_id": _USERS[user],
        }
        for user in range(3)
    ]
    return {
        "id": f"6f9619ff-8b86-4d01-b42d-00cf4fc9{number:04}",
        "external_id": None,
        "status": "pending",
        "fields": {"text": f"text {number}"},
        "metadata": None,
        "responses": answers,
        "inserted_at": _DAY,
        "updated_at": _DAY,
    }


RECORDS = [_record(number) for number in range(300)]


def argilla(asked: Asked) -> Answer | None:
    """A workspace "lab" with a data set "votes" of 300 records, each with two responses and a draft."""
    own = {"name": "votes", "status": "ready", "workspace_id": _WORKSPACE["id"]}
    stamps = {"inserted_at": _DAY, "updated_at": _DAY}
    dataset = {"id": DATASET, **own, "distribution": {"strategy": "overlap", "min_submitted": 2}, **stamps}
    if asked.path == "/api/v1/me":
        return as_json({"id": _USERS[0], "username": "ann", "role": "owner", **stamps})
    if asked.path in ("/api/v1/me/workspaces", "/api/v1/workspaces"):
        return as_json({"items": [{**_WORKSPACE, **stamps}]})
    if asked.path == f"/api/v1/workspaces/{_WORKSPACE['id']}":
        return as_json({**_WORKSPACE, **stamps})
    if asked.path == "/api/v1/me/datasets":
        return as_json({"items": [dataset]})
    if asked.path == f"/api/v1/datasets/{DATASET}":
        return as_json(dataset)
    if asked.path == f"/api/v1/datasets/{DATASET}/records":
        at, most = int(asked.query["offset"][0]), int(asked.query["limit"][0])
        return as_json({"items": RECORDS[at : at + most]})
    if f"/datasets/{DATASET}/" in asked.path:  # fields, questions, ...
        return as_json({"items": []})
    return None


def _parquet() -> bytes:
    out = io.BytesIO()
    pq.write_table(VOTES, out)
    return out.getvalue()


_COMMIT = "a" * 40
_FILES = {
    "README.md": b"---\nlicense: mit\n---\n",
    "data/train-00000-of-00001.parquet": _parquet(),
    "data/test-00000-of-00001.parquet": _parquet(),
}


def hub(asked: Asked) -> Answer | None:
    """A data set lab/votes with two splits."""
    if found := re.fullmatch(r"/datasets/lab/votes/resolve/[^/]+/(.+)", asked.path):
        content = _FILES.get(found[1])
        return None if content is None else (200, content, {"ETag": '"x"', "X-Repo-Commit": _COMMIT})
    if found := re.fullmatch(r"/api/datasets/lab/votes/tree/[^/]+/?(.*)", asked.path):
        return as_json(_below(found[1]))
    if re.fullmatch(r"/api/datasets/lab/votes(/revision/[^/]+)?", asked.path):
        files = [{"rfilename": name} for name in _FILES]
        return as_json({"id": "lab/votes", "sha": _COMMIT, "siblings": files})
    if asked.path.startswith("/api/datasets/"):
        return 401, b'{"error": "Repository not found"}', {"X-Error-Code": "RepoNotFound"}
    return None


def _below(folder: str) -> list[dict[str, Any]]:
    if not folder:
        readme = {"type": "file", "oid": "b" * 40, "size": 9, "path": "README.md"}
        return [{"type": "directory", "oid": "b" * 40, "size": 0, "path": "data"}, readme]
    return [
        {"type": "file", "oid": "b" * 40, "size": len(content), "path": name}
        for name, content in _FILES.items()
        if name.startswith(f"{folder}/")
    ]
