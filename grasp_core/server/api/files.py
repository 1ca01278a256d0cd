"""Files: uploaded, deleted."""

from __future__ import annotations

import secrets
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from http import HTTPStatus
from tempfile import SpooledTemporaryFile
from typing import Annotated, Any

from fastapi import APIRouter, Path, Query
from starlette.concurrency import run_in_threadpool
from starlette.requests import ClientDisconnect, Request

from grasp_core.model.access import EVERYONE, User
from grasp_core.server.api._admission import Asking, Caller
from grasp_core.server.api.forms import OwnFile, OwnFiles, Parts, Project, StoredFile
from grasp_core.server.gate import UploadLedger, room, stated_size
from grasp_core.server.problem import ProblemError, missing
from grasp_core.server.server import Stores

router = APIRouter(tags=["Files"])
_IN_MEMORY = 2**20
Spool = SpooledTemporaryFile[bytes]
FILE_BODY: dict[str, Any] = {
    "requestBody": {
        "required": True,
        "content": {"application/octet-stream": {"schema": {"type": "string", "format": "binary"}}},
    }
}
"""What the schema says of a request whose body is a file."""


@router.post("/files", status_code=HTTPStatus.CREATED, openapi_extra=FILE_BODY)
async def upload(
    request: Request,
    asking: Asking,
    name: Annotated[str, Query(min_length=1, max_length=255, description="What messages call it.")],
    project: Project = EVERYONE,
) -> StoredFile:
    """Upload a file: the request's body is its content. A run of its project names it by its sha256."""
    user = asking.runner(project)
    async with received(request, asking, user) as spool:
        return await run_in_threadpool(_keep, asking, asking.stores(project), user, name, spool)


@router.post("/files/joined", status_code=HTTPStatus.CREATED)
def join_files(request: Request, parts: Parts, asking: Asking, project: Project = EVERYONE) -> StoredFile:
    """Join files of yours to one, in this order, and delete them: a large file is sent in parts."""
    user, stores = asking.runner(project), asking.stores(project)
    asking.server.rates.upload(asking.asker)
    sizes = {one.sha256: one.bytes for one in stores.files.of(user.id) if one.location is None}
    ledger: UploadLedger = request.app.state.uploads
    _check_size(sum(sizes.get(one, 0) for one in parts.sha256s), ledger.largest)
    with Spool(_IN_MEMORY) as spool:
        for one in parts.sha256s:
            content = stores.files.get(one) if one in sizes else None  # it may go while others are read
            if content is None:
                raise ProblemError("not-found", f"There is no part {one} of yours; upload it first.")
            spool.write(content)
        joined = _keep(asking, stores, user, parts.name, spool)
    for one in {*parts.sha256s} - {joined.sha256}:
        stores.files.delete(one, owner=user.id)
    return joined


def _check_size(size: int, most: int) -> None:
    if size > most:
        raise ProblemError(
            "too-large", f"The file is larger than {most / 2**20:,.0f} MiB, the most that is taken."
        )


@router.get("/files")
def list_files(asking: Asking, project: Project = EVERYONE) -> OwnFiles:
    """Files of yours that a project has; they are deleted some hours after no run needs them any more."""
    user = asking.seeing(project)
    found = asking.stores(project).files.of(user.id)
    return OwnFiles(files=[OwnFile.of(one) for one in found])


@router.delete("/files/{sha256}", status_code=HTTPStatus.NO_CONTENT)
def delete_file(
    sha256: Annotated[str, Path(pattern="^[0-9a-f]{64}$")], asking: Asking, project: Project = EVERYONE
) -> None:
    """Delete a file of your own; a run that still needs it will say so."""
    owner = asking.runner(project).id
    files = asking.stores(project).files
    if sha256 not in [one.sha256 for one in files.of(owner)]:
        raise missing("file of yours")
    files.delete(sha256, owner=owner)
    asking.server.audit.record(owner, "delete", "file", sha256)


@asynccontextmanager
async def received(request: Request, asking: Caller, user: User) -> AsyncIterator[Spool]:
    """A request's body, on disk, counted as an upload of the person's; raises ProblemError without room."""
    ledger: UploadLedger = request.app.state.uploads
    asking.server.rates.upload(asking.asker)
    quota = await run_in_threadpool(room, asking.server, user)
    size = stated_size(request, ledger.largest)
    name = secrets.token_hex(8)
    with ledger.admitted(name, user.id, size, quota=quota) as arrived, Spool(_IN_MEMORY) as spool:
        try:
            async for piece in request.stream():
                arrived(len(piece))
                await run_in_threadpool(spool.write, piece)
                _check_size(spool.tell(), min(size, ledger.largest))
        except ClientDisconnect:
            raise ProblemError("bad-request", "The upload broke off; send it again.") from None
        yield spool


def _keep(asking: Caller, stores: Stores, user: User, name: str, spool: Spool) -> StoredFile:
    size = spool.tell()
    if not size:
        raise ProblemError("invalid", "The file is empty: its content is the body.")
    spool.seek(0)
    sha256 = stores.files.put(spool.read(), owner=user.id)
    asking.server.audit.record(user.id, "upload", "file", sha256, {"bytes": size})
    return StoredFile(sha256=sha256, name=name, bytes=size)
