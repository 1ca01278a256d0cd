"""Watches: make, list, change and delete them, and look now; keys for receivers of webhooks."""

from http import HTTPStatus
from typing import Annotated, ClassVar, Literal

from fastapi import APIRouter
from pydantic import Field
from starlette.responses import Response

from grasp_core.model.access import EVERYONE, User
from grasp_core.server import watches as history
from grasp_core.server.api._admission import Asking, Caller
from grasp_core.server.api._answers import Done, IdempotencyKey, once
from grasp_core.server.api.forms import Form, Makers, Project, Time, WebhookKey
from grasp_core.server.api.runs import check_done, visible_run
from grasp_core.server.problem import missing
from grasp_core.store.watches import EVERY
from grasp_core.store.watches import Watch as Stored

router, webhooks = APIRouter(tags=["Watches"]), APIRouter(tags=["Webhooks"])
Every = Annotated[
    str,
    Field(
        pattern=f"^({EVERY.pattern})$",
        description="`hourly`, `daily`, `weekly`, every so many hours or days, as `6h` or `3d`, or a cron "
        "line of UTC that names one minute of the hour, as `30 6 * * 1-5`.",
    ),
]
Webhook = Annotated[str, Field(max_length=2000)]


class NewWatch(Form):
    """A run to watch."""

    run: str = Field(max_length=32, description="Id of a finished run whose files have addresses.")
    every: Every = "daily"
    webhook: Webhook | None = Field(
        None, description="Address that gets a signed message when a run of changed data ends."
    )


class ChangedWatch(Form):
    """Changes to a watch."""

    every: Every | None = None
    paused: bool | None = None
    webhook: Webhook | None = Field(None, description="New webhook; send null to remove it.")


class WatchedFile(Form):
    """One of the watched files, and its location."""

    kind: Literal["annotations", "raters", "items"]
    location: str


class Watch(Form):
    """A saved analysis that is run again when its files change."""

    id: str
    project: str
    title: str
    owner: str
    every: Every
    sources: list[WatchedFile]
    state: str = Field(description="One sentence for people.")
    paused: Literal["person", "failures", "rights", "run"] | None = Field(
        description="Reason for the pause; null if it is not paused."
    )
    failures: int = Field(description="Number of checks that failed in a row.")
    problem: str | None = Field(description="Reason why the last check failed.")
    created_at: Time
    looked_at: Time | None
    next_at: Time
    last_run: str | None = Field(description="Id of the run that new data are compared with.")
    going_run: str | None = Field(description="Id of the run of changed data, until it ends.")
    has_webhook: bool
    made: ClassVar[Makers] = {"state": history.state, "has_webhook": lambda watch: watch.webhook is not None}


class Watches(Form):
    """All watches of a project, latest first."""

    watches: list[Watch]


class Step(Form):
    """A run of a watch, and the changes since the run before."""

    number: int = Field(description="0 for the run that was watched.")
    run: str
    before: str | None = Field(description="Id of the run that it is compared with.")
    at: Time
    headline: str = Field(description="The changes, in one sentence.")
    details: list[str] = Field(description="Changes one by one: data, values with intervals, marks, groups.")
    noise_alone: bool | None = Field(description="True if noise may explain all changes; null if unknown.")
    made: ClassVar[Makers] = {
        "run": lambda step: step.run_id,
        "noise_alone": lambda step: step.found and step.found.noise_alone,
    }


class WatchSteps(Form):
    """A watch and its runs, latest first."""

    watch: Watch
    steps: list[Step]


@router.get("/watches")
def list_watches(asking: Asking, project: Project = EVERYONE) -> Watches:
    """List the watches of a project, latest first."""
    asking.seeing(project)
    return Watches(watches=[Watch.of(one) for one in asking.stores(project).watches.all()])


@router.post("/watches", status_code=HTTPStatus.CREATED, response_model=Watch)
def add_watch(new: NewWatch, asking: Asking, idempotency_key: IdempotencyKey = None) -> Response:
    """Watch a run: GRASP looks at its files as often as `every` says, and runs changed data again as you."""
    _ = asking.person
    run = visible_run(asking, new.run)
    user = asking.runner(run.project)

    def add() -> Done:
        check_done(run)
        webhook = None if new.webhook is None else asking.server.webhooks.check(new.webhook)
        watch = asking.server.watching.add(run, every=new.every, by=user, webhook=webhook)
        asking.server.audit.record(user.id, "watch", "watch", watch.id, {"run": run.id, "every": new.every})
        return HTTPStatus.CREATED, Watch.of(watch)

    return once(asking, idempotency_key, "POST /watches", new.model_dump_json(), add)


@router.get("/watches/{watch_id}")
def read_watch(watch_id: str, asking: Asking) -> WatchSteps:
    """Return a watch, and the changes from run to run."""
    watch = _visible(asking, watch_id)
    steps = asking.server.history.steps(asking.stores(watch.project).watches, watch)
    return WatchSteps(watch=Watch.of(watch), steps=[Step.of(step) for step in steps])


@router.patch("/watches/{watch_id}")
def change_watch(watch_id: str, changed: ChangedWatch, asking: Asking) -> Watch:
    """Change how often a watch looks or its webhook, pause it, or resume it: then it looks soon."""
    watch, user = _managed(asking, watch_id)
    store, details = asking.stores(watch.project).watches, changed.model_dump(exclude_none=True)
    if "webhook" in changed.model_fields_set:
        webhook = None if changed.webhook is None else asking.server.webhooks.check(changed.webhook)
        store.set_webhook(watch.id, webhook)
        details = {**details, "webhook": webhook is not None}
    if changed.every is not None:
        store.set_every(watch.id, changed.every)
    if changed.paused is not None:
        (store.pause if changed.paused else store.resume)(watch.id)
    if details:
        asking.server.audit.record(user.id, "watch", "watch", watch.id, details)
    return Watch.of(_visible(asking, watch_id))


@router.post("/watches/{watch_id}/look")
def look_now(watch_id: str, asking: Asking) -> Watch:
    """Let a watch look soon, but not within a minute of its last look."""
    watch, _ = _managed(asking, watch_id)
    asking.stores(watch.project).watches.look_now(watch.id)
    return Watch.of(_visible(asking, watch_id))


@router.delete("/watches/{watch_id}", status_code=HTTPStatus.NO_CONTENT)
def delete_watch(watch_id: str, asking: Asking) -> None:
    """Delete a watch; its runs stay."""
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


@webhooks.get("/webhooks/key")
def read_key(asking: Asking) -> WebhookKey:
    """Return the keys by which your receivers check that a message is this server's (Standard Webhooks).

    Whoever has a key can sign messages, so it takes a token with the scope run.
    """
    asking.changing()
    return _keys(asking)


@webhooks.post("/webhooks/key")
def roll_key(asking: Asking) -> WebhookKey:
    """Make a new key. The one before stays valid beside it until the next is made; earlier ones end."""
    asking.changing()
    asking.server.webhooks.roll(asking.person.id)
    asking.server.audit.record(asking.person.id, "change", "webhook key")
    return _keys(asking)


def _keys(asking: Asking) -> WebhookKey:
    key, *previous = asking.server.webhooks.keys(asking.person.id)
    return WebhookKey(key=key, previous=previous[0] if previous else None)
