"""Share links of runs: made, listed, withdrawn."""

from __future__ import annotations

from http import HTTPStatus
from typing import Annotated, cast

from fastapi import APIRouter, Query
from starlette.responses import Response

from grasp_core.server.api._admission import Asking
from grasp_core.server.api._answers import Done, IdempotencyKey, once
from grasp_core.server.api.forms import Link, Links, MadeLink, NewLink, Withdrawn
from grasp_core.server.api.runs import managed_run, missing
from grasp_core.server.links import told_of, withdraw_of_person, withdraw_of_run
from grasp_core.server.problem import ProblemError
from grasp_core.store.links import Terms
from grasp_core.store.visiting import fingerprint

router = APIRouter(tags=["Links"])


@router.get("/runs/{run_id}/links")
def list_links(run_id: str, asking: Asking) -> Links:
    """The links to a run, for those who may make them; never their tokens."""
    _ = asking.person
    record, _ = managed_run(asking, run_id)
    return Links(links=[Link.of(one) for one in asking.stores(record.project).links.of_run(record.id)])


@router.post("/runs/{run_id}/links", status_code=HTTPStatus.CREATED, response_model=MadeLink)
def make_link(run_id: str, new: NewLink, asking: Asking, idempotency_key: IdempotencyKey = None) -> Response:
    """Make a link that shows the result to people without an account, without what could name a person."""
    record, user = managed_run(asking, run_id)
    action = f"POST /runs/{record.id}/links"
    asked = new
    if new.password is not None:  # of what is asked a plain hash is kept: it takes as long as the link's
        known = fingerprint(new.password, f"{user.id}\n{action}\n{idempotency_key}")
        asked = new.model_copy(update={"password": known})

    def make() -> Done:
        links = asking.stores(record.project).links
        terms = cast(Terms, {**new.model_dump(), "label": new.label.strip()})
        token = links.create(record.id, created_by=user.id, **terms)
        asking.server.audit.record(user.id, "share", "run", record.id, told_of(terms))
        address = f"{asking.server.settings.public_url}/shared?token={token}"
        return HTTPStatus.CREATED, MadeLink.of(links.of_token(token), token=token, address=address)

    kept = {"token": None, "address": None}
    return once(asking, idempotency_key, action, asked.model_dump_json(), make, kept)


@router.delete("/runs/{run_id}/links/{link_id}", status_code=HTTPStatus.NO_CONTENT)
def withdraw_link(run_id: str, link_id: str, asking: Asking) -> None:
    """Withdraw a link: it stops working at once, and for good."""
    record, user = managed_run(asking, run_id)
    if link_id not in [link.id for link in asking.stores(record.project).links.of_run(record.id)]:
        raise missing("link to this run")
    asking.stores(record.project).links.revoke(link_id)
    asking.server.audit.record(user.id, "withdraw", "link", link_id)


@router.delete("/runs/{run_id}/links")
def withdraw_links(run_id: str, asking: Asking) -> Withdrawn:
    """Withdraw all links to a run."""
    record, user = managed_run(asking, run_id)
    links = asking.stores(record.project).links
    return Withdrawn(withdrawn=withdraw_of_run(links, asking.server.audit, record.id, by=user))


@router.delete("/links")
def withdraw_links_of_person(
    asking: Asking,
    person: Annotated[
        str | None, Query(max_length=64, description="Id of another person, whose links admins may withdraw.")
    ] = None,
) -> Withdrawn:
    """Withdraw all links that you made, or as an admin all that a person made, in every project."""
    user = asking.person
    if not user.may_run:
        raise ProblemError(HTTPStatus.FORBIDDEN, "This takes an analyst, and of a token the scope run.")
    if user.may_administer and person is not None and asking.server.accounts.people.get(person) is None:
        raise missing("person")
    links, audit, whose = asking.server.links, asking.server.audit, user.id if person is None else person
    return Withdrawn(withdrawn=withdraw_of_person(links, audit, whose, by=user))
