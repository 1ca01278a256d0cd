"""Share links of runs: made, listed, withdrawn."""

from __future__ import annotations

from http import HTTPStatus

from fastapi import APIRouter
from starlette.responses import Response

from grasp_core.store.runs import RunRecord
from grasp_core.web.api.admission import Asking, Caller
from grasp_core.web.api.forms import Link, Links, MadeLink, NewLink
from grasp_core.web.api.once import Done, IdempotencyKey, once
from grasp_core.web.api.runs import missing, visible_run

router = APIRouter(tags=["Links"])


@router.get("/runs/{run_id}/links")
def list_links(run_id: str, asking: Asking) -> Links:
    """The links to a run, for those who may make them; never their tokens."""
    _ = asking.person
    record = visible_run(asking, run_id)
    asking.manager(record.owner, record.project)
    return Links(links=[Link.of(one) for one in asking.stores(record.project).links.of_run(record.id)])


@router.post("/runs/{run_id}/links", status_code=HTTPStatus.CREATED, response_model=MadeLink)
def make_link(run_id: str, new: NewLink, asking: Asking, idempotency_key: IdempotencyKey = None) -> Response:
    """Make a link that shows the result to people without an account, without what could name a person."""
    record = visible_run(asking, run_id)
    user = asking.manager(record.owner, record.project)
    return once(
        asking,
        idempotency_key,
        f"POST /runs/{record.id}/links",
        new.model_dump_json(),
        lambda: _make(asking, record, new, user.id),
        {"token": None, "address": None},
    )


@router.delete("/runs/{run_id}/links/{link_id}", status_code=HTTPStatus.NO_CONTENT)
def withdraw_link(run_id: str, link_id: str, asking: Asking) -> None:
    """Withdraw a link: it stops working at once, and for good."""
    record = visible_run(asking, run_id)
    user = asking.manager(record.owner, record.project)
    if link_id not in [link.id for link in asking.stores(record.project).links.of_run(record.id)]:
        raise missing("link to this run")
    asking.stores(record.project).links.revoke(link_id)
    asking.server.audit.record(user.id, "withdraw", "link", link_id)


def _make(asking: Caller, record: RunRecord, new: NewLink, created_by: str) -> Done:
    links = asking.stores(record.project).links
    token = links.create(record.id, created_by=created_by, label=new.label.strip(), days=new.days)
    asking.server.audit.record(created_by, "share", "run", record.id, {"days": new.days})
    address = f"{asking.server.settings.public_url}/shared?token={token}"
    return HTTPStatus.CREATED, MadeLink.made(links.of_token(token), token, address)
