"""The benchmark: systems' predictions handed in, and how they fare."""

from __future__ import annotations

from http import HTTPStatus
from typing import Annotated

from fastapi import APIRouter, Query
from starlette.concurrency import run_in_threadpool
from starlette.requests import Request

from grasp_core.model.access import EVERYONE, User
from grasp_core.server import Server, Stores
from grasp_core.submitting import NAME_LENGTH, benchmark_of, checked, scored
from grasp_core.web.api.admission import Asking
from grasp_core.web.api.files import FILE_BODY, Spool, received
from grasp_core.web.api.forms import Project, Submission, Submissions
from grasp_core.web.api.runs import missing
from grasp_core.web.problem import ProblemError

router = APIRouter(tags=["Benchmark"])


@router.get("/submissions")
def list_submissions(asking: Asking, project: Project = EVERYONE) -> Submissions:
    """Systems that were scored in a project, newest first."""
    asking.seeing(project)
    found = asking.stores(project).submissions.all()
    return Submissions(submissions=[Submission.of(one) for one in found])


@router.post("/submissions", status_code=HTTPStatus.CREATED, openapi_extra=FILE_BODY)
async def submit(
    request: Request,
    asking: Asking,
    name: Annotated[
        str, Query(min_length=1, max_length=NAME_LENGTH, pattern=r"\S", description="Of the system.")
    ],
    project: Project = EVERYONE,
) -> Submission:
    """Have predictions scored: the body is a zip archive with `data/TASK/predictions.csv` for each task.

    The same predictions under the same name are scored once.
    """
    user, stores = asking.runner(project), asking.stores(project)
    async with received(request, asking, user) as spool:
        return await run_in_threadpool(_score, asking.server, stores, user, name.strip(), spool)


@router.delete("/submissions/{submission_id}", status_code=HTTPStatus.NO_CONTENT)
def delete_submission(submission_id: str, asking: Asking, project: Project = EVERYONE) -> None:
    """Take a system off the leaderboard; what was scored stays counted."""
    asking.seeing(project)
    store = asking.stores(project).submissions
    found = [one for one in store.all() if one.id == submission_id]
    if not found:
        raise missing("submission")
    asking.manager(found[0].owner, project)
    store.delete(submission_id)
    asking.server.audit.record(asking.person.id, "delete", "submission", submission_id)


def _score(server: Server, stores: Stores, user: User, name: str, spool: Spool) -> Submission:
    held = benchmark_of(server.settings)
    if held is None:
        raise ProblemError(
            HTTPStatus.CONFLICT, "This server holds no gold labels, so nothing can be scored here."
        )
    spool.seek(0)
    submission, _ = checked(spool.read(), "the archive", server.settings)
    record = scored(
        held,
        submission.predictions,
        name=name,
        owner=user.id,
        store=stores.submissions,
        pool=server.service.pool,
    )
    return Submission.of(record)
