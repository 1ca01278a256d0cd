"""Uploads: files of runs, and submissions to the benchmark, with its leaderboard."""

import hashlib
import secrets
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from http import HTTPStatus
from tempfile import SpooledTemporaryFile
from typing import Annotated, Any

from fastapi import APIRouter, Path, Query
from pydantic import Field
from starlette.concurrency import run_in_threadpool
from starlette.requests import ClientDisconnect, Request
from starlette.responses import JSONResponse, Response

from grasp_core.benchmark.leaderboard import leaderboard_dict, ranked
from grasp_core.benchmark.tasks import read_tasks
from grasp_core.model.access import EVERYONE, User
from grasp_core.model.errors import DataError
from grasp_core.server.api import _answers, forms
from grasp_core.server.api._admission import Asking, Caller, check_link
from grasp_core.server.gate import UploadLedger, room, stated_size
from grasp_core.server.problem import ProblemError, missing
from grasp_core.server.server import Stores
from grasp_core.server.submitting import NAME_LENGTH, benchmark_of, looked_at, scored, systems, tasks_folder
from grasp_core.store.links import Target

router = APIRouter(tags=["Files"])
_IN_MEMORY = 2**20
Spool = SpooledTemporaryFile[bytes]
FILE_BODY: dict[str, Any] = {
    "requestBody": {
        "required": True,
        "content": {"application/octet-stream": {"schema": {"type": "string", "format": "binary"}}},
    }
}
"""Part of the schema for a request whose body is a file."""


@router.post("/files", status_code=HTTPStatus.CREATED, openapi_extra=FILE_BODY)
async def upload(
    request: Request,
    asking: Asking,
    name: Annotated[str, Query(min_length=1, max_length=255, description="Name of the file in messages.")],
    project: forms.Project = EVERYONE,
) -> forms.StoredFile:
    """Upload a file: the request's body is its content. A run of its project names it by its sha256."""
    user = asking.runner(project)
    async with received(request, asking, user) as spool:
        return await run_in_threadpool(_keep, asking, asking.stores(project), user, name, spool)


@router.post("/files/joined", status_code=HTTPStatus.CREATED)
def join_files(
    request: Request, parts: forms.Parts, asking: Asking, project: forms.Project = EVERYONE
) -> forms.StoredFile:
    """Join uploaded parts to one file, in this order, and delete them: a large file is sent in parts."""
    user, stores = asking.runner(project), asking.stores(project)
    asking.server.rates.upload(asking.asker)
    sizes = {one.sha256: one.bytes for one in stores.files.of(user.id) if one.location is None}
    ledger: UploadLedger = request.app.state.uploads
    _check_size(sum(sizes.get(one, 0) for one in parts.sha256s), ledger.largest)
    with Spool(_IN_MEMORY) as spool:
        for one in parts.sha256s:
            content = stores.files.get(one) if one in sizes else None  # may be deleted meanwhile
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
def list_files(asking: Asking, project: forms.Project = EVERYONE) -> forms.OwnFiles:
    """List your files in a project; they are deleted some hours after no run needs them any more."""
    user = asking.seeing(project)
    found = asking.stores(project).files.of(user.id)
    return forms.OwnFiles(files=[forms.OwnFile.of(one) for one in found])


@router.get("/files/folder")
def list_folder(
    asking: Asking,
    text: Annotated[str, Query(max_length=200, description="Part of the paths to search for.")] = "",
    project: forms.Project = EVERYONE,
) -> forms.FolderFiles:
    """List files in the server's folder that a run may read; none if the server has no folder."""
    asking.runner(project)
    found = asking.server.service.inputs.allowed.listing(text)
    return forms.FolderFiles(files=[forms.FolderFile.of(one) for one in found.entries], more=found.more)


@router.delete("/files/{sha256}", status_code=HTTPStatus.NO_CONTENT)
def delete_file(
    sha256: Annotated[str, Path(pattern="^[0-9a-f]{64}$")], asking: Asking, project: forms.Project = EVERYONE
) -> None:
    """Delete a file of yours; a run of yours that still needs it will report that."""
    owner = asking.runner(project).id
    files = asking.stores(project).files
    if sha256 not in [one.sha256 for one in files.of(owner)]:
        raise missing("file of yours")
    files.delete(sha256, owner=owner)
    asking.server.audit.record(owner, "delete", "file", sha256)


@asynccontextmanager
async def received(request: Request, asking: Caller, user: User) -> AsyncIterator[Spool]:
    """Yield a request's body, on disk, counted as an upload of the person's; ProblemError without room."""
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


def _keep(asking: Caller, stores: Stores, user: User, name: str, spool: Spool) -> forms.StoredFile:
    size = spool.tell()
    if not size:
        raise ProblemError("invalid", "The file is empty: its content is the body.")
    spool.seek(0)
    sha256 = asking.server.keep_file(stores.files, spool.read(), name, user.id)
    return forms.StoredFile(sha256=sha256, name=name, bytes=size)


benchmark = APIRouter(tags=["Benchmark"])


class TaskForm(forms.Form):
    """A task of the benchmark."""

    name: str
    classes: list[str]
    fields: list[str]
    instructions: str
    test_rows: int | None
    licence: str
    difficulty: list[str]
    warning: str = Field(description="Warning for readers before they open the rows.")
    scored: bool = Field(description="True if this server has the task's gold labels.")


class Tasks(forms.Form):
    """All tasks, in the benchmark's order."""

    tasks: list[TaskForm]


class Submissions(forms.Form):
    """All submissions, newest first."""

    submissions: list[forms.Submission]


@benchmark.get("/tasks")
def list_tasks(asking: Asking) -> Tasks:
    """List the benchmark's tasks, and say which of them this server can score."""
    _ = asking.person
    settings = asking.server.settings
    held = benchmark_of(settings)
    there = () if held is None else held.with_gold()
    tasks = read_tasks(tasks_folder(settings)).values()
    return Tasks(tasks=[TaskForm.of(task, scored=task.name in there) for task in tasks])


@benchmark.get("/leaderboard")
def show_leaderboard(asking: Asking, project: forms.Project = EVERYONE) -> JSONResponse:
    """Return the project's present leaderboard, in the format `grasp-leaderboard`: docs/models.md."""
    _ = asking.person
    settings = asking.server.settings
    found = ranked(systems(asking.stores(project).submissions.all(), settings))
    content = leaderboard_dict(found, list(read_tasks(tasks_folder(settings))))
    return JSONResponse(content, headers=_answers.PRIVATE)


@benchmark.get("/submissions")
def list_submissions(asking: Asking, project: forms.Project = EVERYONE) -> Submissions:
    """List the systems that were scored in a project, newest first."""
    asking.seeing(project)
    found = asking.stores(project).submissions.all()
    return Submissions(submissions=[forms.Submission.of(one) for one in found])


@benchmark.post(
    "/submissions",
    status_code=HTTPStatus.ACCEPTED,
    response_model=forms.Work,
    responses={200: {"model": forms.Submission, "description": "These predictions were scored before"}},
    openapi_extra=FILE_BODY,
)
async def submit(
    request: Request,
    asking: Asking,
    name: Annotated[
        str, Query(min_length=1, max_length=NAME_LENGTH, pattern=r"\S", description="Name of the system.")
    ],
    project: forms.Project = EVERYONE,
    idempotency_key: _answers.IdempotencyKey = None,
) -> Response:
    """Score predictions: the body is a zip archive with `data/TASK/predictions.csv` for each task.

    The same predictions are scored once; sent with another name, they rename the system.
    """
    user, store, title = asking.runner(project), asking.stores(project).submissions, name.strip()
    async with received(request, asking, user) as spool:
        spool.seek(0)
        content = spool.read()

    def begin() -> _answers.Done:
        held = benchmark_of(asking.server.settings)
        if held is None:
            raise ProblemError("conflict", "This server holds no gold labels, so nothing can be scored here.")
        sent, _, faulty = looked_at(content, "the body", asking.server.settings)
        if faulty:
            raise DataError(faulty[0].remark, faulty)
        before = store.renamed(title, sent.predictions, owner=user.id)
        if before is not None:
            return HTTPStatus.OK, forms.Submission.of(before)
        asking.server.rates.run(asking.asker)

        def score(told: _answers.ShowStep) -> _answers.Done:
            record = scored(
                held,
                sent.predictions,
                name=title,
                owner=user.id,
                store=store,
                pool=asking.server.service.pool,
                told=lambda done, of, task: told(f"{done:,} of {of:,} rows scored; scoring {task}"),
                probabilities=sent.probabilities,
            )
            return HTTPStatus.OK, forms.Submission.of(record)

        return _answers.later(asking, user, score, asking.server.questions)

    asked = f"{project}\n{title}\n{hashlib.sha256(content).hexdigest()}"
    return await run_in_threadpool(_answers.once, asking, idempotency_key, "POST /submissions", asked, begin)


@benchmark.delete("/submissions/{submission_id}", status_code=HTTPStatus.NO_CONTENT)
def delete_submission(submission_id: str, asking: Asking, project: forms.Project = EVERYONE) -> None:
    """Remove a system from the leaderboard; its scorings stay counted."""
    asking.seeing(project)
    store = asking.stores(project).submissions
    found = [one for one in store.all() if one.id == submission_id]
    if not found:
        raise missing("submission")
    asking.manager(found[0].owner, project)
    store.delete(submission_id)
    asking.server.audit.record(asking.person.id, "delete", "submission", submission_id)


@benchmark.get("/leaderboards/{link_id}", response_model=forms.Found, responses=_answers.NOT_AGAIN)
def read_leaderboard(link_id: str, asking: Asking) -> Response:
    """Return the leaderboard that the link of this id shows, as it was when the link was made."""
    check_link(asking, Target("leaderboard", link_id))
    found = asking.stores().links.leaderboard(link_id)
    if found is None:
        raise missing("leaderboard")
    return _answers.TaggedJson(found.content, headers=_answers.PRIVATE)
