"""Watches: made, listed, changed, looked at."""

from __future__ import annotations

from http import HTTPStatus

from fastapi import APIRouter
from starlette.responses import Response

from grasp_core.access import EVERYONE, User
from grasp_core.store.runs import RunRecord
from grasp_core.store.watches.records import Watch as Stored
from grasp_core.web.api.admission import Asking, Caller
from grasp_core.web.api.forms import Project
from grasp_core.web.api.once import Done, IdempotencyKey, once
from grasp_core.web.api.runs import missing, visible_run
from grasp_core.web.api.watches.forms import ChangedWatch, NewWatch, Step, Watch, Watches, WatchSteps

router = APIRouter(tags=["Watches"])


@router.get("/watches")
def list_watches(asking: Asking, project: Project = EVERYONE) -> Watches:
    """Watches of a project, latest first."""
    _ = asking.person
    return Watches(watches=[Watch.of(one) for one in asking.stores(project).watches.all()])


@router.post("/watches", status_code=HTTPStatus.CREATED, response_model=Watch)
def add_watch(new: NewWatch, asking: Asking, idempotency_key: IdempotencyKey = None) -> Response:
    """Watch a run: its files are looked at so often, and what has changed is run again, as you."""
    _ = asking.person
    run = visible_run(asking, new.run)
    user = asking.runner(run.project)
    return once(
        asking,
        idempotency_key,
        "POST /watches",
        new.model_dump_json(),
        lambda: _add(asking, run, new, user),
    )


@router.get("/watches/{watch_id}")
def read_watch(watch_id: str, asking: Asking) -> WatchSteps:
    """A watch, and what changed from run to run."""
    watch = _visible(asking, watch_id)
    steps = asking.server.history.steps(asking.stores(watch.project).watches, watch)
    return WatchSteps(watch=Watch.of(watch), steps=[Step.of(step) for step in steps])


@router.patch("/watches/{watch_id}")
def change_watch(watch_id: str, changed: ChangedWatch, asking: Asking) -> Watch:
    """Look more or less often, pause, or resume: then it is looked at soon."""
    watch, user = _managed(asking, watch_id)
    store, details = asking.stores(watch.project).watches, changed.model_dump(exclude_none=True)
    if changed.every is not None:
        store.set_every(watch.id, changed.every)
    if changed.paused is not None:
        (store.pause if changed.paused else store.resume)(watch.id)
    if details:
        asking.server.audit.record(user.id, "watch", "watch", watch.id, details)
    return Watch.of(_visible(asking, watch_id))


@router.post("/watches/{watch_id}/look")
def look_now(watch_id: str, asking: Asking) -> Watch:
    """Have the next look soon, and not before its time."""
    watch, _ = _managed(asking, watch_id)
    asking.stores(watch.project).watches.look_now(watch.id)
    return Watch.of(_visible(asking, watch_id))


@router.delete("/watches/{watch_id}", status_code=HTTPStatus.NO_CONTENT)
def delete_watch(watch_id: str, asking: Asking) -> None:
    """Delete a watch with its feeds; its runs stay."""
    watch, user = _managed(asking, watch_id)
    asking.stores(watch.project).watches.delete(watch.id)
    asking.server.audit.record(user.id, "delete", "watch", watch.id)


def _visible(asking: Caller, watch_id: str) -> Stored:
    _ = asking.person
    found = asking.stores().watches.get(watch_id)
    if found is None:
        raise missing("watch")
    return found


def _managed(asking: Caller, watch_id: str) -> tuple[Stored, User]:
    watch = _visible(asking, watch_id)
    return watch, asking.manager(watch.owner, watch.project)


def _add(asking: Caller, run: RunRecord, new: NewWatch, user: User) -> Done:
    watch = asking.server.watching.add(run, every=new.every, by=user)
    asking.server.audit.record(user.id, "watch", "watch", watch.id, {"run": run.id, "every": new.every})
    return HTTPStatus.CREATED, Watch.of(watch)
