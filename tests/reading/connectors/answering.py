"""A web server of the tests' own that answers as tools do, and tools as their own clients find them."""

from __future__ import annotations

import base64
import io
import json
import re
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit

import pyarrow as pa
import pyarrow.parquet as pq

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
    ends: threading.Event = field(default_factory=threading.Event)

    @property
    def host(self) -> str:
        return urlsplit(self.url).netloc


def as_json(value: Any, status: int = 200) -> Answer:
    return status, json.dumps(value).encode(), {"Content-Type": "application/json"}


@contextmanager
def tool(answer: Callable[[Asked], Answer | None]) -> Iterator[Tool]:
    """Serve what `answer` gives; None is 404."""
    served = Tool()

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            size = int(self.headers.get("Content-Length") or 0)
            self.rfile.read(size)
            parts = urlsplit(self.path)
            asked = Asked(
                self.command, parts.path, parse_qs(parts.query), self.headers.get("Authorization") or ""
            )
            served.asked.append(asked)
            status, content, headers = answer(asked) or as_json({"detail": "not found"}, 404)
            begin, end = 0, len(content) - 1
            if (wanted := self.headers.get("Range")) and status == 200:
                first, _, last = wanted.removeprefix("bytes=").partition("-")
                begin, end = int(first), min(int(last or end), end)
                headers = {**headers, "Content-Range": f"bytes {begin}-{end}/{len(content)}"}
                status, content = 206, content[begin : end + 1]
            self.send_response(status)
            for name, value in {**headers, "Content-Length": str(len(content))}.items():
                self.send_header(name, value)
            self.end_headers()
            if self.command != "HEAD":
                self.wfile.write(content)

        def do_POST(self) -> None:
            self.do_GET()

        def do_HEAD(self) -> None:
            self.do_GET()

        def log_message(self, *_: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    served.url = f"http://127.0.0.1:{server.server_port}"
    thread = threading.Thread(target=server.serve_forever, args=(0.01,))
    thread.start()
    try:
        yield served
    finally:
        served.ends.set()
        server.shutdown()
        thread.join()
        server.server_close()


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
