"""Runs: find, read, export, share and delete them."""

import base64
import json
import math
import time
from collections.abc import AsyncIterator, Mapping
from http import HTTPStatus
from typing import Annotated, Any, cast
from urllib.parse import quote

import anyio
from anyio.to_thread import run_sync
from fastapi import APIRouter, Depends, Path, Query
from fastapi.sse import EventSourceResponse, ServerSentEvent
from starlette.concurrency import run_in_threadpool
from starlette.responses import JSONResponse, Response

from grasp_core.analysis.models.result import ModelsResult
from grasp_core.analysis.rater_map_values import ANSWER, of_answer
from grasp_core.engine.request_fields import for_requests
from grasp_core.model.access import EVERYONE, User
from grasp_core.model.errors import MissingResultError, StoreError
from grasp_core.model.groups import one_line
from grasp_core.model.result import Result, RunResult
from grasp_core.model.text import printable
from grasp_core.report.findings.answer import answer
from grasp_core.report.models import answer as of_models
from grasp_core.report.models import sides_csv
from grasp_core.report.pairs import PAIRS_SAID, most_told
from grasp_core.report.public_view import public_spec
from grasp_core.report.saved import result_json, spec_json
from grasp_core.report.writers.registry import EXPORTS, ResultExport, safe_name
from grasp_core.server.api import forms
from grasp_core.server.api._admission import (
    Asking,
    Caller,
    check_link,
    map_shown_to,
    shown_to,
    shows_small_groups,
)
from grasp_core.server.api._answers import NOT_AGAIN, PRIVATE, Done, IdempotencyKey, Tagged, TaggedJson, once
from grasp_core.server.identity import logged_terms, withdraw_of_person, withdraw_of_run
from grasp_core.server.problem import ProblemError, again_after, missing
from grasp_core.store.database import digest_of
from grasp_core.store.links import LinkTerms, Target, fingerprint
from grasp_core.store.runs import RunRecord

router = APIRouter(tags=["Runs"])

AGAIN_SECONDS = 2
"""Seconds after which to ask again for a run's progress."""
_PAGE, _MOST = 50, 200
_OF_MODELS: Mapping[str, Any] = {"csv": sides_csv, "json": result_json, "spec": spec_json}
"""Exports of results about models, with the functions that write them."""


_FILES: dict[int | str, dict[str, Any]] = {
    200: {
        "description": "The file",
        "content": {
            kind.partition(";")[0]: {
                "schema": {"type": "object"} if "json" in kind else {"type": "string", "format": "binary"}
            }
            for kind in (export.media_type for export in EXPORTS.values())
        },
    }
}


@router.get("/runs")
def list_runs(
    asking: Asking,
    text: Annotated[str, Query(max_length=200, description="Part of the title, note, owner or a tag.")] = "",
    tag: Annotated[str | None, Query(max_length=64)] = None,
    owner: Annotated[str | None, Query(max_length=200)] = None,
    state: forms.State | None = None,
    limit: Annotated[int, Query(ge=1, le=_MOST)] = _PAGE,
    cursor: Annotated[str | None, Query(max_length=200, description="`next` of the page before.")] = None,
    project: forms.Project = EVERYONE,
) -> forms.Runs:
    """List the runs of a project, latest first."""
    asking.seeing(project)
    after = None if cursor is None else _place_of(cursor)
    store = asking.stores(project).runs
    found = store.search(text, tag=tag, owner=owner, state=state, after=after, limit=limit + 1)
    shown = found[:limit]
    following = None
    if found[limit:]:
        place = json.dumps([shown[-1].created_at, shown[-1].id]).encode("ascii")
        following = base64.urlsafe_b64encode(place).decode("ascii")
    return forms.Runs(runs=[forms.Run.of(one) for one in shown], next=following)


def _place_of(cursor: str) -> tuple[float, str]:
    """Return time and id of the run after which a page begins; raises ProblemError if it is no cursor."""
    try:
        created_at, run_id = json.loads(base64.b64decode(cursor.encode("ascii"), b"-_", validate=True))
        if isinstance(created_at, float) and math.isfinite(created_at) and isinstance(run_id, str):
            return created_at, run_id
    except (ValueError, TypeError, RecursionError):
        pass
    raise ProblemError(
        "not-found", "There is no page of that cursor: give the `next` of the page before, unchanged."
    )


@router.get("/runs/{run_id}", response_model=forms.Found, responses=NOT_AGAIN)
def read_run(run_id: str, asking: Asking) -> Response:
    """Return the result of a run or, before it is done, its progress and provisional result.

    A share link's token opens its own run, without anything that could name a person or a file.
    """
    record = visible_run(asking, run_id)
    if record.state == "done":
        return TaggedJson(result_of(asking, record).to_dict(), headers=PRIVATE)
    if record.ended:
        return JSONResponse(so_far(asking, record, None), headers=PRIVATE)
    found = asking.server.service.provisional(record.computed_as)
    return JSONResponse(so_far(asking, record, found), headers={**PRIVATE, **again_after(AGAIN_SECONDS)})


@router.get("/runs/{run_id}/status")
def read_status(run_id: str, asking: Asking) -> forms.Run:
    """Return a run without its result: its title, its state, and the reason if it failed."""
    _ = asking.person
    return forms.Run.of(visible_run(asking, run_id))


@router.get("/runs/{run_id}/answer")
def read_answer(run_id: str, asking: Asking) -> forms.Answer:
    """Return the sentences about a result that the page *Results* shows."""
    result = result_of(asking, visible_run(asking, run_id))
    if isinstance(result, RunResult):
        found, pairs = answer(result), most_told(result, PAIRS_SAID) if result.pairs else ()
    else:
        found, pairs = of_models(cast("ModelsResult", result)), ()
    return forms.Answer(
        headline=_said(found.headline.plain),
        mind=[_said(str(one)) for one in found.warned.first],
        sentences=[_said(one.plain) for one in (*found.details, *pairs)],
        warnings=[_said(str(one)) for one in found.warned.others],
    )


def _said(text: str) -> str:
    return printable(for_requests(one_line(text)))


@router.get("/runs/{run_id}/exports/{name}", response_class=Response, responses={**_FILES, **NOT_AGAIN})
def export_run(
    run_id: str, name: Annotated[str, Path(json_schema_extra={"enum": list(EXPORTS)})], asking: Asking
) -> Response:
    """Return the result as a file. Results about models have csv, json and spec."""
    record = visible_run(asking, run_id)
    export = EXPORTS.get(name)
    if export is None:
        raise ProblemError("not-found", f"There is no such export; there are {', '.join(EXPORTS)}.")
    check_done(record)
    with asking.server.exports.turn():
        if not record.spec.models:
            content, file_name = _exported(asking, record, export)
        elif name in _OF_MODELS:
            content = _OF_MODELS[name](result_of(asking, record)).encode("utf-8", "replace")
            file_name = f"{safe_name(record.title)}.{export.extension}"
        else:
            raise ProblemError(
                "not-found", f"Results about models have no {name}; they have {', '.join(_OF_MODELS)}."
            )
    if asking.user is not None:
        asking.server.audit.record(asking.user.id, "export", "run", run_id, {"format": name})
    return Tagged(
        content,
        media_type=export.media_type,
        headers={**PRIVATE, "Content-Disposition": f"attachment; filename*=UTF-8''{quote(file_name)}"},
    )


@router.delete("/runs/{run_id}", status_code=204)
def delete_run(run_id: str, asking: Asking) -> None:
    """Delete a run with its links for everybody; a run that has not ended is stopped first.

    Other people with the same data and spec keep their runs.
    """
    record, user = managed_run(asking, run_id)
    asking.server.service.cancel(record.id)
    asking.stores(record.project).runs.delete(record.id)
    asking.server.audit.record(user.id, "delete", "run", record.id)


@router.post("/runs/{run_id}/cancel", response_model=forms.Run)
def cancel_run(run_id: str, asking: Asking) -> forms.Run:
    """Stop a run; it stays in the list. A run that has ended does not change.

    Other people with the same data and spec keep their runs.
    """
    record, user = managed_run(asking, run_id)
    if not record.ended:
        asking.server.service.cancel(record.id)
        asking.server.audit.record(user.id, "change", "run", record.id, {"cancelled": True})
    return forms.Run.of(visible_run(asking, run_id))


@router.patch("/runs/{run_id}")
def change_run(run_id: str, changed: forms.ChangedRun, asking: Asking) -> forms.Run:
    """Change a run's title, note or tags; fields that are not sent stay as they are."""
    record, _ = managed_run(asking, run_id)
    title, note, tags = changed.title, changed.note, changed.tags
    asking.stores(record.project).runs.describe(
        record.id,
        title=None if title is None else title.strip(),
        note=None if note is None else note.strip(),
        tagged=None if tags is None else [tag.strip() for tag in tags],
    )
    return forms.Run.of(visible_run(asking, run_id))


def visible_run(asking: Caller, run_id: str) -> RunRecord:
    """Return the run of this id if the caller may see it; else raise ProblemError."""
    check_link(asking, Target("run", run_id))
    record = asking.stores().runs.get(run_id)
    if record is None:
        raise missing("run")
    return record


def managed_run(asking: Caller, run_id: str) -> tuple[RunRecord, User]:
    """Return the run of this id and the user, if they may change it; else raise ProblemError."""
    record = visible_run(asking, run_id)
    return record, asking.manager(record.owner, record.project)


def result_of(asking: Caller, record: RunRecord) -> Result:
    """Return the run's result as the caller may see it; raises ProblemError if there is none (yet)."""
    check_done(record)
    try:
        result = asking.server.service.result(record.id)
    except MissingResultError:  # deleted meanwhile
        raise missing("run") from None
    return shown_to(asking, result)


def _exported(asking: Caller, record: RunRecord, export: ResultExport) -> tuple[bytes, str]:
    """Return a result as a file and the file's name; the result, which never changes, is loaded only once."""
    stranger = asking.user is None
    shown = f"small groups: {shows_small_groups(asking)}" if stranger else "all"
    drawn = asking.server.answers.find(record.id, ANSWER)

    def make() -> bytes:
        result = cast(RunResult, result_of(asking, record))
        raters = map_shown_to(asking, of_answer(drawn), result)
        return asking.server.exports.make(export, result, raters)

    key = json.dumps([record.id, export.name, shown, drawn])
    spec = public_spec(record.spec) if stranger else record.spec
    return asking.server.exports.once(key, make), export.file_name(spec)


def check_done(record: RunRecord) -> None:
    """Raise ProblemError if the run has no result, or none yet."""
    if record.state != "done":
        again = {} if record.ended else again_after(AGAIN_SECONDS)
        raise ProblemError("conflict", f"The run is {record.state}; it has no result.", again)


def agreement_of(asking: Caller, record: RunRecord, of_models: str) -> RunResult:
    """As :func:`result_of`, but raise a ProblemError with the sentence `of_models` for a run about models."""
    found = result_of(asking, record)
    if not isinstance(found, RunResult):
        raise ProblemError("not-found", of_models)
    return found


def so_far(asking: Caller, record: RunRecord, found: Result | None) -> dict[str, object]:
    """Return a run's state and provisional result; strangers get no error, as it may quote data.

    `waiting` is the reason why there is no progress yet, if it is known.
    """
    waits = record.state == "running" and not record.done
    return {
        "id": record.id,
        "state": record.state,
        "permutations": {"done": record.done, "total": record.total},
        "waiting": asking.server.service.progress(record).waiting if waits else None,
        "error": None if asking.user is None else record.error,
        "provisional": None if found is None else shown_to(asking, found).to_dict(),
    }


POLL_SECONDS = 1.0
CHECK_SECONDS = 5.0
"""Seconds between checks that a follower may still see the run."""
MAX_STREAMS = 200
"""Most streams by which runs are followed at one time on one server."""
EACH = 10
"""Most of these streams for one person, for one link and for one stranger's address."""
_open: list[frozenset[tuple[str, str]]] = []
_looking = anyio.CapacityLimiter(4)  # streams leave the other threads to all other requests


async def _followed(run_id: str, asking: Asking) -> AsyncIterator[RunRecord]:
    """Yield the run; its stream counts for the person, or else for the address, and for a stranger's link."""
    link = {("link", digest_of(asking.token or ""))} if asking.user is None else set()
    keys = frozenset({asking.asker.key, *link})
    if any(sum(key in one for one in _open) >= EACH for key in keys):
        raise ProblemError(
            "too-often",
            f"You, or others by this link or from this address, follow {EACH} runs, the most there may be; "
            "end one, or ask for states.",
            again_after(10),
        )
    if len(_open) >= MAX_STREAMS:
        raise ProblemError("unavailable", "Too many runs are followed; ask for states.", again_after(10))
    _open.append(keys)
    try:
        yield await run_in_threadpool(visible_run, asking, run_id)
    finally:
        _open.remove(keys)


@router.get("/runs/{run_id}/events", response_class=EventSourceResponse)
async def follow_run(
    asking: Asking, record: Annotated[RunRecord, Depends(_followed)]
) -> AsyncIterator[ServerSentEvent]:
    """Follow a run by events: `progress`, `provisional` with a provisional result, and at last `end`."""
    found: Result | None = None
    told: dict[str, object] | None = None
    checked = time.monotonic()
    while True:
        state = await run_sync(so_far, asking, record, None, limiter=_looking)
        if state != told:
            yield ServerSentEvent(event="end" if record.ended else "progress", data=state)
        if record.ended:
            return
        told, before = state, found
        found = await run_sync(asking.server.service.provisional, record.computed_as, limiter=_looking)
        if found is not None and found is not before and found != before:
            yield ServerSentEvent(event="provisional", data=shown_to(asking, found).to_dict())
        await anyio.sleep(POLL_SECONDS)
        if asking.server.service.closing.is_set():
            return
        again = time.monotonic() - checked > CHECK_SECONDS
        checked = time.monotonic() if again else checked
        later = await run_sync(_later, asking, record, again, limiter=_looking)
        if later is None:
            return
        record = later


def _later(asking: Caller, record: RunRecord, again: bool) -> RunRecord | None:
    """Return the run as it is now; None if it was deleted, or the caller may not see it any more."""
    try:
        return visible_run(asking.again(), record.id) if again else asking.stores().runs.get(record.id)
    except (ProblemError, StoreError):
        return None


sharing = APIRouter(tags=["Links"])


@sharing.get("/runs/{run_id}/links")
def list_links(run_id: str, asking: Asking) -> forms.Links:
    """List the links to a run, without their tokens, for people who may make links."""
    _ = asking.person
    record, _ = managed_run(asking, run_id)
    return forms.Links(
        links=[forms.Link.of(one) for one in asking.stores(record.project).links.of_run(record.id)]
    )


@sharing.post("/runs/{run_id}/links", status_code=HTTPStatus.CREATED, response_model=forms.MadeLink)
def make_link(
    run_id: str, new: forms.NewLink, asking: Asking, idempotency_key: IdempotencyKey = None
) -> Response:
    """Make a link by which people without an account see the result, except what could name a person."""
    record, user = managed_run(asking, run_id)
    action = f"POST /runs/{record.id}/links"
    asked = new
    if new.password is not None:  # hashed as slowly as the link's, since a plain hash of the request is kept
        known = fingerprint(new.password, f"{user.id}\n{action}\n{idempotency_key}")
        asked = new.model_copy(update={"password": known})

    def make() -> Done:
        links = asking.stores(record.project).links
        terms = cast(LinkTerms, {**new.model_dump(), "label": new.label.strip()})
        token = links.create(record.id, created_by=user.id, **terms)
        asking.server.audit.record(user.id, "share", "run", record.id, logged_terms(terms))
        address = f"{asking.server.settings.public_url}/shared?token={token}"
        return HTTPStatus.CREATED, forms.MadeLink.of(links.of_token(token), token=token, address=address)

    kept = {"token": None, "address": None}
    return once(asking, idempotency_key, action, asked.model_dump_json(), make, kept)


@sharing.delete("/runs/{run_id}/links/{link_id}", status_code=HTTPStatus.NO_CONTENT)
def withdraw_link(run_id: str, link_id: str, asking: Asking) -> None:
    """Withdraw a link: it stops working at once, and for good."""
    record, user = managed_run(asking, run_id)
    if link_id not in [link.id for link in asking.stores(record.project).links.of_run(record.id)]:
        raise missing("link to this run")
    asking.stores(record.project).links.revoke(link_id)
    asking.server.audit.record(user.id, "withdraw", "link", link_id)


@sharing.delete("/runs/{run_id}/links")
def withdraw_links(run_id: str, asking: Asking) -> forms.Withdrawn:
    """Withdraw all links to a run."""
    record, user = managed_run(asking, run_id)
    links = asking.stores(record.project).links
    return forms.Withdrawn(withdrawn=withdraw_of_run(links, asking.server.audit, record.id, by=user))


@sharing.delete("/links")
def withdraw_links_of_person(
    asking: Asking,
    person: Annotated[
        str | None, Query(max_length=64, description="Id of another person, whose links admins may withdraw.")
    ] = None,
) -> forms.Withdrawn:
    """Withdraw all links that you made, or as an admin all that a person made, in every project."""
    user = asking.person
    if not user.may_run:
        raise ProblemError("forbidden", "This takes an analyst, and of a token the scope run.")
    if user.may_administer and person is not None and asking.server.accounts.people.get(person) is None:
        raise missing("person")
    links, audit, whose = asking.server.links, asking.server.audit, user.id if person is None else person
    return forms.Withdrawn(withdrawn=withdraw_of_person(links, audit, whose, by=user))
