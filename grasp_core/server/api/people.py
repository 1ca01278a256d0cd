"""People, for admins: listed, given a mail address, all that names one taken away, erased."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from http import HTTPStatus
from typing import Annotated, Any

from fastapi import APIRouter, Query
from starlette.responses import StreamingResponse

from grasp_core.model.access import User, role_of
from grasp_core.server.accounts import STAYS, erasing
from grasp_core.server.api._admission import Asking, Caller
from grasp_core.server.api._answers import PRIVATE
from grasp_core.server.api.forms import Address, Erasing, Erasure, People, Person
from grasp_core.server.api.runs import missing
from grasp_core.server.problem import ProblemError

router = APIRouter(tags=["People"])
_IN_MEMORY = 2**22
_PAGE, _MOST = 50, 200
_ZIP: dict[int | str, dict[str, Any]] = {
    200: {
        "description": "A zip archive of JSON",
        "content": {"application/zip": {"schema": {"type": "string", "format": "binary"}}},
    }
}


@router.get("/people")
def list_people(
    asking: Asking,
    text: Annotated[str, Query(max_length=200, description="In the name or mail address.")] = "",
    start: Annotated[int, Query(ge=0, le=1_000_000)] = 0,
    limit: Annotated[int, Query(ge=1, le=_MOST)] = _PAGE,
) -> People:
    """Everybody who has signed in, by name."""
    _admin(asking)
    found, total = asking.server.accounts.people.search(text, start=start, limit=limit)
    settings = asking.server.settings
    return People(people=[Person.of(one, role=role_of(one, settings)) for one in found], total=total)


@router.post("/people/{person_id}/address", status_code=HTTPStatus.NO_CONTENT)
def assign_address(person_id: str, wanted: Address, asking: Asking) -> None:
    """Let a person hold their mail address, from now on in place of whoever held it."""
    by = _admin(asking, person_id)
    asking.server.accounts.assign_address(person_id, wanted.address, by=by)


@router.get("/people/{person_id}/export", response_class=StreamingResponse, responses=_ZIP)
def export_person(person_id: str, asking: Asking) -> StreamingResponse:
    """All that names a person; nothing that opens, and not the content of uploaded files."""
    by = _admin(asking, person_id)
    file = tempfile.SpooledTemporaryFile(max_size=_IN_MEMORY)  # noqa: SIM115 - closed once it was sent
    asking.server.accounts.take_away(person_id, file, by=by)
    safe = "".join(c for c in person_id if c.isalnum() or c in "-_")
    headers = {**PRIVATE, "Content-Disposition": f'attachment; filename="{safe}.zip"'}

    def sent() -> Iterator[bytes]:
        with file:
            file.seek(0)
            while part := file.read(2**16):
                yield part

    return StreamingResponse(sent(), media_type="application/zip", headers=headers)


@router.get("/people/{person_id}/erasure")
def preview_erasure(
    person_id: str,
    asking: Asking,
    handed_over: Annotated[
        bool, Query(description="Whether somebody gets what they own in projects.")
    ] = False,
) -> Erasure:
    """What erasing a person would do, and what stays."""
    _admin(asking, person_id)
    traces = asking.server.accounts.personal.traces(person_id)
    return Erasure(does=list(erasing(traces, handed_over=handed_over)), stays=list(STAYS))


@router.post("/people/{person_id}/erasure", status_code=HTTPStatus.NO_CONTENT)
def erase_person(person_id: str, wanted: Erasing, asking: Asking) -> None:
    """Erase all that names a person, for good, and end their sessions."""
    by = _admin(asking, person_id)
    if (wanted.to is None) != (wanted.owned == "delete"):
        raise ProblemError(HTTPStatus.UNPROCESSABLE_ENTITY, "Name in `to` who gets what is handed over.")
    asking.server.accounts.erase(person_id, by=by, confirm=wanted.confirm, heir=wanted.to)


def _admin(asking: Caller, person_id: str | None = None) -> User:
    """The admin who asks, about somebody whom there is."""
    if not asking.person.may_administer:
        raise ProblemError(
            HTTPStatus.FORBIDDEN, "This takes an admin's sign-in, or an admin's token with the scope admin."
        )
    if person_id is not None and asking.server.accounts.people.get(person_id) is None:
        raise missing("person")
    return asking.person
