"""The benchmark: systems' predictions handed in, and how they fare."""

from __future__ import annotations

from http import HTTPStatus
from typing import Annotated, Any

from fastapi import APIRouter, Query
from pydantic import Field
from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import JSONResponse, Response

from grasp_core.benchmark.leaderboard import leaderboard_dict, ranked
from grasp_core.benchmark.tasks import read_tasks
from grasp_core.model.access import EVERYONE
from grasp_core.server.api._admission import Asking, check_link
from grasp_core.server.api._answers import NOT_AGAIN, PRIVATE, TaggedJson
from grasp_core.server.api.files import FILE_BODY, received
from grasp_core.server.api.forms import Form, Found, Project, Time
from grasp_core.server.problem import ProblemError, missing
from grasp_core.server.submitting import NAME_LENGTH, benchmark_of, checked, scored, systems, tasks_folder
from grasp_core.store.links import Target

router = APIRouter(tags=["Benchmark"])


class Submission(Form):
    """A system that was scored."""

    id: str
    name: str
    owner: str
    created_at: Time
    scores: dict[str, Any] = Field(description="As `raft score --details` writes them, docs/models.md.")


class TaskForm(Form):
    """A task of the benchmark."""

    name: str
    classes: list[str]
    fields: list[str]
    instructions: str
    test_rows: int | None
    licence: str
    difficulty: list[str]
    warning: str = Field(description="What a reader should know before opening its rows.")
    scored: bool = Field(description="Whether this server has its gold labels.")


class Tasks(Form):
    """All of them, in the benchmark's order."""

    tasks: list[TaskForm]


class Submissions(Form):
    """All of them, newest first."""

    submissions: list[Submission]


@router.get("/tasks")
def list_tasks(asking: Asking) -> Tasks:
    """The benchmark's tasks, and which of them this server can score."""
    _ = asking.person
    settings = asking.server.settings
    held = benchmark_of(settings)
    there = () if held is None else held.with_gold()
    tasks = read_tasks(tasks_folder(settings)).values()
    return Tasks(tasks=[TaskForm.of(task, scored=task.name in there) for task in tasks])


@router.get("/leaderboard")
def show_leaderboard(asking: Asking, project: Project = EVERYONE) -> JSONResponse:
    """The project's leaderboard as it is now, a `grasp-leaderboard`: docs/models.md."""
    _ = asking.person
    settings = asking.server.settings
    found = ranked(systems(asking.stores(project).submissions.all(), settings))
    content = leaderboard_dict(found, list(read_tasks(tasks_folder(settings))))
    return JSONResponse(content, headers=PRIVATE)


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

    The same predictions are scored once; another name renames the system.
    """
    user, stores = asking.runner(project), asking.stores(project)
    async with received(request, asking, user) as spool:

        def score() -> Submission:
            held = benchmark_of(asking.server.settings)
            if held is None:
                raise ProblemError(
                    "conflict", "This server holds no gold labels, so nothing can be scored here."
                )
            spool.seek(0)
            sent, _ = checked(spool.read(), "the archive", asking.server.settings)
            title, store, pool = name.strip(), stores.submissions, asking.server.service.pool
            record = scored(held, sent.predictions, name=title, owner=user.id, store=store, pool=pool)
            return Submission.of(record)

        return await run_in_threadpool(score)


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


@router.get("/leaderboards/{link_id}", response_model=Found, responses=NOT_AGAIN)
def read_leaderboard(link_id: str, asking: Asking) -> Response:
    """The leaderboard that the link of this id shows, as it was when the link was made."""
    check_link(asking, Target("leaderboard", link_id))
    found = asking.stores().links.leaderboard(link_id)
    if found is None:
        raise missing("leaderboard")
    return TaggedJson(found.content, headers=PRIVATE)
