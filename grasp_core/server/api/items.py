"""Which items carry what a group of a run says differently: asked for, listed, read; never by share links."""

from __future__ import annotations

from http import HTTPStatus

from fastapi import APIRouter
from starlette.responses import JSONResponse, Response

from grasp_core.analysis.items.panel import ItemsAsked
from grasp_core.engine.background import all_asked, check_items, id_of
from grasp_core.model.errors import SpecError
from grasp_core.model.groups import Group
from grasp_core.model.result import RunResult
from grasp_core.model.text import listed, printable, quoted
from grasp_core.server.api._admission import Asking, Caller
from grasp_core.server.api._answers import NOT_AGAIN, PRIVATE, Done, IdempotencyKey, TaggedJson, once
from grasp_core.server.api.forms import AskedItems, FoundItems, Items, NewItems
from grasp_core.server.api.runs import AGAIN_SECONDS, agreement_of, missing, visible_run
from grasp_core.server.problem import ProblemError, again_after
from grasp_core.store.runs import RunRecord

router = APIRouter(tags=["Items of groups"])

_WHAT = "list of items"


@router.get("/runs/{run_id}/items")
def list_items(run_id: str, asking: Asking) -> Items:
    """Of which groups of a run items were asked for, on the page or here."""
    record, result = _run(asking, run_id)
    kept = asking.server.items.kept_ids(record)
    found = (
        _told(asking, record, one, kept=id_of(one.group, one.question) in kept) for one in all_asked(result)
    )
    return Items(items=[one for one in found if one is not None])


@router.post(
    "/runs/{run_id}/items",
    status_code=HTTPStatus.ACCEPTED,
    response_model=AskedItems,
    responses={200: {"model": AskedItems, "description": "The same was asked before, and is kept"}},
)
def ask_items(run_id: str, new: NewItems, asking: Asking, idempotency_key: IdempotencyKey = None) -> Response:
    """Have found which items carry what a group says differently, as *Results* does; kept with the run.

    It is computed once, whoever asks for it, and takes some seconds.
    """
    record, result = _run(asking, run_id)
    asking.runner(record.project)

    def ask() -> Done:
        check_items(result)
        server, asked = asking.server, _asked(result, new)
        named = id_of(asked.group, asked.question)
        if named in server.items.kept_ids(record):
            return HTTPStatus.OK, AskedItems.of(asked, state="done", share=1.0, error=None)
        going = server.items.under_way(record, named)
        if going is None or going.ended.is_set():
            server.rates.run(asking.asker)
        making = server.items.start(record, asked, owner=asking.person.id)
        return HTTPStatus.ACCEPTED, AskedItems.of(asked, state="running", share=making.share, error=None)

    place = f"/runs/{record.id}/items"
    return once(asking, idempotency_key, f"POST {place}", new.model_dump_json(), ask, place=place)


@router.get("/runs/{run_id}/items/{items_id}", response_model=FoundItems, responses=NOT_AGAIN)
def read_items(run_id: str, items_id: str, asking: Asking) -> Response:
    """The items of a group, as files have them; before they are found, how far that is.

    They hold ids of items and counts of labels, no text and no rater.
    """
    record, result = _run(asking, run_id)
    asked = {id_of(one.group, one.question): one for one in all_asked(result)}.get(items_id)
    if asked is None:
        raise missing(_WHAT)
    plain = asking.server.items.kept(record.id, record.project, items_id)
    if plain is not None:
        return TaggedJson(plain, headers=PRIVATE)
    told = _told(asking, record, asked, kept=False)
    if told is None:
        raise missing(_WHAT)
    again = again_after(AGAIN_SECONDS) if told.state == "running" else {}
    return JSONResponse(told.model_dump(), headers={**PRIVATE, **again})


def _run(asking: Caller, run_id: str) -> tuple[RunRecord, RunResult]:
    """A run that the person may see, and its result."""
    _ = asking.person
    record = visible_run(asking, run_id)
    return record, agreement_of(asking, record, "Results about models have no groups.")


def _asked(result: RunResult, new: NewItems) -> ItemsAsked:
    """What is asked, with the group as the result has it."""
    labels = [str(one.label) for one in result.spec.data.questions]
    if new.question is None and len(labels) > 1:
        raise SpecError(
            f"items are looked at by one question; name one of {listed(labels)}", field="question"
        )
    if new.question is not None and new.question not in labels:
        named = quoted(printable(new.question))
        raise ProblemError(HTTPStatus.NOT_FOUND, f"There is no question {named}; there is {listed(labels)}.")
    question = 0 if new.question is None else labels.index(new.question)
    wanted = Group(tuple(new.group), tuple(new.group.values()))
    for asked in all_asked(result):
        if (asked.group.key, asked.question) == (wanted.key, question):
            return asked
    shown = printable(f"{wanted.label} of {' x '.join(wanted.axes)}")
    raise ProblemError(HTTPStatus.NOT_FOUND, f"The run has no group {shown}.")


def _told(asking: Caller, record: RunRecord, asked: ItemsAsked, *, kept: bool) -> AskedItems | None:
    """How far it is with what was asked; None where nobody has asked, or another server computes it."""
    if kept:
        return AskedItems.of(asked, state="done", share=1.0, error=None)
    making = asking.server.items.under_way(record, id_of(asked.group, asked.question))
    if making is None or making.cancelled:
        return None
    if making.error is not None:
        return AskedItems.of(asked, state="failed", share=making.share, error=making.error)
    return AskedItems.of(asked, state="running", share=making.share, error=None)
