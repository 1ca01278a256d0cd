"""Files: uploaded, deleted."""

from __future__ import annotations

import secrets
from http import HTTPStatus
from tempfile import SpooledTemporaryFile
from typing import Annotated, Any

from fastapi import APIRouter, Path, Query
from starlette.concurrency import run_in_threadpool
from starlette.requests import ClientDisconnect, Request

from grasp_core.access import EVERYONE, User
from grasp_core.server import Stores
from grasp_core.web.api.admission import Asking, Caller
from grasp_core.web.api.forms import Project, StoredFile
from grasp_core.web.problem import ProblemError
from grasp_core.web.uploads import UploadLedger, room, stated_size

router = APIRouter(tags=["Files"])
_IN_MEMORY = 2**20
_Spool = SpooledTemporaryFile[bytes]
_BODY: dict[str, Any] = {
    "requestBody": {
        "required": True,
        "content": {"application/octet-stream": {"schema": {"type": "string", "format": "binary"}}},
    }
}


@router.post("/files", status_code=HTTPStatus.CREATED, openapi_extra=_BODY)
async def upload(
    request: Request,
    asking: Asking,
    name: Annotated[str, Query(min_length=1, max_length=255, description="What messages call it.")],
    project: Project = EVERYONE,
) -> StoredFile:
    """Upload a file: the request's body is its content. A run of its project names it by its sha256."""
    user, ledger = asking.runner(project), _ledger(request)
    quota = await run_in_threadpool(room, asking.server, user)
    size = stated_size(request, ledger.largest)
    with ledger.admitted(secrets.token_hex(8), user.id, size, quota=quota), _Spool(_IN_MEMORY) as spool:
        await _receive(request, spool, min(size, ledger.largest))
        return await run_in_threadpool(_keep, asking, asking.stores(project), user, name, spool)


@router.delete("/files/{sha256}", status_code=HTTPStatus.NO_CONTENT)
def delete_file(
    sha256: Annotated[str, Path(pattern="^[0-9a-f]{64}$")], asking: Asking, project: Project = EVERYONE
) -> None:
    """Delete a file of your own; a run that still needs it will say so."""
    owner = asking.runner(project).id
    asking.stores(project).files.delete(sha256, owner=owner)
    asking.server.audit.record(owner, "delete", "file", sha256)


def _ledger(request: Request) -> UploadLedger:
    ledger: UploadLedger = request.app.state.uploads
    return ledger


async def _receive(request: Request, spool: _Spool, most: int) -> None:
    """Write what arrives to disk, one piece beyond the limit at most."""
    try:
        async for piece in request.stream():
            await run_in_threadpool(spool.write, piece)
            if spool.tell() > most:
                raise ProblemError(
                    HTTPStatus.REQUEST_ENTITY_TOO_LARGE,
                    f"The file is larger than {most / 2**20:,.0f} MiB, the most that is taken.",
                )
    except ClientDisconnect:
        raise ProblemError(HTTPStatus.BAD_REQUEST, "The upload broke off; send it again.") from None


def _keep(asking: Caller, stores: Stores, user: User, name: str, spool: _Spool) -> StoredFile:
    size = spool.tell()
    if not size:
        raise ProblemError(HTTPStatus.UNPROCESSABLE_ENTITY, "The file is empty: its content is the body.")
    spool.seek(0)
    sha256 = stores.files.put(spool.read(), owner=user.id)
    asking.server.audit.record(user.id, "upload", "file", sha256, {"bytes": size})
    return StoredFile(sha256=sha256, name=name, bytes=size)
