"""A web server of the tests' own that answers as tools do, and tools as their own clients find them."""

import base64
import json
import re
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit

import pyarrow as pa

from tests.reading.making import parquet_bytes
from tests.reading.sources.serving import send, serve

Answer = tuple[int, bytes, dict[str, str]]


@dataclass
class Asked:
    """A request."""

    method: str
    path: str
    query: dict[str, list[str]]
    authorization: str


@dataclass
class Tool:
    """A server: where it is, and what it was asked."""

    url: str = ""
    asked: list[Asked] = field(default_factory=list)

    @property
    def host(self) -> str:
        return urlsplit(self.url).netloc


def as_json(value: Any, status: int = 200) -> Answer:
    return status, json.dumps(value).encode(), {"Content-Type": "application/json"}


@contextmanager
def tool(answer: Callable[[Asked], Answer | None]) -> Iterator[Tool]:
    """Serve what `answer` gives, the part of it that is asked for; None is 404."""
    served = Tool()

    def handle(to: BaseHTTPRequestHandler) -> None:
        to.rfile.read(int(to.headers.get("Content-Length") or 0))
        parts = urlsplit(to.path)
        by = to.headers.get("Authorization") or ""
        asked = Asked(to.command, parts.path, parse_qs(parts.query), by)
        served.asked.append(asked)
        status, content, headers = answer(asked) or as_json({"detail": "not found"}, 404)
        if (wanted := to.headers.get("Range")) and status == 200:
            first, _, last = wanted.removeprefix("bytes=").partition("-")
            begin, end = int(first), min(int(last or len(content)), len(content) - 1)
            headers = {**headers, "Content-Range": f"bytes {begin}-{end}/{len(content)}"}
            status, content = 206, content[begin : end + 1]
        send(to, status, content, headers)

    with serve(handle) as served.url:
        yield served


TOKEN = "a-token-that-works"
EXPORT = json.loads((Path(__file__).parent / "label_studio_export.json").read_text("utf-8"))
_PROJECT = {"id": 3, "title": "Toxicity", "task_number": 2, "total_annotations_number": 6}
_STAMPS = dict.fromkeys(("inserted_at", "updated_at"), "2026-11-23T05:01:38.757070Z")
VOTES = pa.table({"item": ["a", "a", "b"], "rater": [1, 2, 1], "label": ["Yes", "No", None]})


def jwt(kind: str) -> str:
    """A token as Label Studio makes them; it is not checked who signed it."""
    parts = ({"alg": "HS256", "typ": "JWT"}, {"token_type": kind, "exp": int(time.time()) + 3600}, {})
    encoded = (base64.urlsafe_b64encode(json.dumps(part).encode()).decode() for part in parts)
    return ".".join(part.rstrip("=") for part in encoded)


REFRESH, _ACCESS = jwt("refresh"), jwt("access")


def label_studio(asked: Asked) -> Answer | None:
    """A project 3 with two tasks, a project 4 with none, both for who has the token."""
    if asked.path == "/api/token/refresh/":
        return as_json({"access": _ACCESS})
    if asked.authorization != f"Bearer {_ACCESS}":
        return as_json({"status_code": 401, "detail": "Authentication credentials were not provided."}, 401)
    answers = {
        "/api/projects/3/": _PROJECT,
        "/api/projects/4/": {**_PROJECT, "id": 4, "task_number": 0, "total_annotations_number": 0},
        "/api/version/": {"release": "1.23.2"},
        "/api/projects/3/export": EXPORT,
    }
    return as_json(answers[asked.path]) if asked.path in answers else None


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
    about = {"status": "pending", "fields": {"text": f"text {number}"}, "metadata": None, **_STAMPS}
    record_id = f"6f9619ff-8b86-4d01-b42d-00cf4fc9{number:04}"
    return {"id": record_id, "external_id": None, **about, "responses": answers}


RECORDS = [_record(number) for number in range(300)]


def argilla(asked: Asked) -> Answer | None:
    """A workspace "lab" with a data set "votes" of 300 records, each with two responses and a draft."""
    own = {"name": "votes", "status": "ready", "workspace_id": _WORKSPACE["id"]}
    strategy = {"distribution": {"strategy": "overlap", "min_submitted": 2}}
    dataset, lab = {"id": DATASET, **own, **strategy, **_STAMPS}, {**_WORKSPACE, **_STAMPS}
    answers: dict[str, object] = {
        "me": {"id": _USERS[0], "username": "ann", "role": "owner", **_STAMPS},
        **{path: {"items": [lab]} for path in ("me/workspaces", "workspaces")},
        f"workspaces/{_WORKSPACE['id']}": lab,
        "me/datasets": {"items": [dataset]},
        f"datasets/{DATASET}": dataset,
    }
    path = asked.path.removeprefix("/api/v1/")
    if path == f"datasets/{DATASET}/records":
        at, most = int(asked.query["offset"][0]), int(asked.query["limit"][0])
        return as_json({"items": RECORDS[at : at + most]})
    if path.startswith(f"datasets/{DATASET}/"):  # fields, questions, ...
        return as_json({"items": []})
    return as_json(answers[path]) if path in answers else None


_COMMIT = "a" * 40
_FILES = {
    "README.md": b"---\nlicense: mit\n---\n",
    "data/train-00000-of-00001.parquet": parquet_bytes(VOTES),
    "data/test-00000-of-00001.parquet": parquet_bytes(VOTES),
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
