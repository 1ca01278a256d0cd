"""The caller, with their projects and tokens; and people, for admins."""

import tempfile
from http import HTTPStatus
from typing import Annotated, Any

from fastapi import APIRouter, Query
from pydantic import Field
from starlette.background import BackgroundTask
from starlette.responses import StreamingResponse

from grasp_core.model.access import ProjectRole, Role, Scope, User, role_of
from grasp_core.server.accounts import STAYS, erasing
from grasp_core.server.api._admission import Asking, Caller
from grasp_core.server.api._answers import PRIVATE
from grasp_core.server.api.forms import Address, Erasing, Erasure, Form, People, Person, Time
from grasp_core.server.problem import ProblemError, missing

own = APIRouter(tags=["Account"])


class Token(Form):
    """A personal token, without its secret text."""

    id: str
    name: str
    scope: Scope
    created_at: Time
    expires_at: Time
    revoked_at: Time | None
    last_used_at: Time | None
    works: bool


class Tokens(Form):
    """Your tokens, latest first."""

    tokens: list[Token]


class Project(Form):
    """A project of yours."""

    id: str
    name: str
    role: ProjectRole = Field(description="Your role in the project, limited by the token.")
    archived: bool = Field(description="True if the project is archived: nothing can be added.")
    created_at: Time


class Projects(Form):
    """Your projects: Everyone first, then by name."""

    projects: list[Project]


class Me(Form):
    """The person who makes the request."""

    id: str = Field(description="Your id, as runs name their owner; empty on a server without sign-in.")
    name: str
    email: str
    role: Role = Field(description="Your role on the server, limited by the token.")
    token: Token | None = Field(description="The token of this request; null for a sign-in on the pages.")
    file_bytes: int = Field(description="Bytes of your stored files.")
    file_quota_bytes: int = Field(description="Bytes that your stored files may take.")


@own.get("/me")
def read_me(asking: Asking) -> Me:
    """Return who you are here, the token of the request, and the room that your files take."""
    user, token = asking.person, asking.personal_token()
    return Me.of(
        user,
        token=None if token is None else Token.of(token),
        file_bytes=asking.server.files.used(user.id),
        file_quota_bytes=asking.server.settings.file_quota_mb * 2**20,
    )


@own.get("/projects")
def list_projects(asking: Asking) -> Projects:
    """List your projects, with your role in each."""
    user = asking.person
    found = [
        Project.of(one, role=role)
        for one in asking.stores().projects.all()
        if (role := user.role_in(one.id)) is not None
    ]
    return Projects(projects=found)


@own.get("/tokens")
def list_tokens(asking: Asking) -> Tokens:
    """List your tokens, also ended ones, without their secret texts. They are made on *Account*."""
    return Tokens(tokens=[Token.of(one) for one in asking.server.tokens.of(asking.person.id)])


@own.delete("/tokens/{token_id}", status_code=HTTPStatus.NO_CONTENT)
def withdraw_token(token_id: str, asking: Asking) -> None:
    """Withdraw a token of yours: it stops working at once, and for good."""
    asking.changing()
    tokens, owner = asking.server.tokens, asking.person.id
    if token_id not in [one.id for one in tokens.of(owner)]:
        raise missing("token")
    tokens.revoke(token_id, owner=owner)
    asking.server.audit.record(owner, "withdraw", "token", token_id)


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
    text: Annotated[str, Query(max_length=200, description="Part of the name or mail address.")] = "",
    start: Annotated[int, Query(ge=0, le=1_000_000)] = 0,
    limit: Annotated[int, Query(ge=1, le=_MOST)] = _PAGE,
) -> People:
    """List everybody who has signed in, by name."""
    _admin(asking)
    found, total = asking.server.accounts.people.search(text, start=start, limit=limit)
    settings = asking.server.settings
    return People(people=[Person.of(one, role=role_of(one, settings)) for one in found], total=total)


@router.post("/people/{person_id}/address", status_code=HTTPStatus.NO_CONTENT)
def assign_address(person_id: str, wanted: Address, asking: Asking) -> None:
    """Make a person the holder of their mail address, in place of the person who held it before."""
    by = _admin(asking, person_id)
    asking.server.accounts.assign_address(person_id, wanted.address, by=by)


@router.get("/people/{person_id}/export", response_class=StreamingResponse, responses=_ZIP)
def export_person(person_id: str, asking: Asking) -> StreamingResponse:
    """Return all data that name a person, without keys, passwords and the content of uploaded files."""
    by = _admin(asking, person_id)
    file = tempfile.SpooledTemporaryFile(max_size=_IN_MEMORY)  # noqa: SIM115 - closed once it was sent
    asking.server.accounts.take_away(person_id, file, by=by)
    safe = "".join(c for c in person_id if c.isalnum() or c in "-_")
    headers = {**PRIVATE, "Content-Disposition": f'attachment; filename="{safe}.zip"'}
    file.seek(0)
    parts, closing = iter(lambda: file.read(2**16), b""), BackgroundTask(file.close)
    return StreamingResponse(parts, headers=headers, media_type="application/zip", background=closing)


@router.get("/people/{person_id}/erasure")
def preview_erasure(
    person_id: str,
    asking: Asking,
    handed_over: Annotated[
        bool, Query(description="True if another person gets the runs and files of this person.")
    ] = False,
) -> Erasure:
    """Report what erasing a person would do, and what would stay."""
    _admin(asking, person_id)
    traces = asking.server.accounts.personal.traces(person_id)
    return Erasure(does=list(erasing(traces, handed_over=handed_over)), stays=list(STAYS))


@router.post("/people/{person_id}/erasure", status_code=HTTPStatus.NO_CONTENT)
def erase_person(person_id: str, wanted: Erasing, asking: Asking) -> None:
    """Erase all data that name a person, for good, and end their sessions."""
    by = _admin(asking, person_id)
    if (wanted.to is None) != (wanted.owned == "delete"):
        raise ProblemError("invalid", "Name in `to` who gets what is handed over.")
    asking.server.accounts.erase(person_id, by=by, confirm=wanted.confirm, heir=wanted.to)


def _admin(asking: Caller, person_id: str | None = None) -> User:
    """Return the admin who makes the request; raises ProblemError for others, and without such a person."""
    if not asking.person.may_administer:
        raise ProblemError(
            "forbidden", "This takes an admin's sign-in, or an admin's token with the scope admin."
        )
    if person_id is not None and asking.server.accounts.people.get(person_id) is None:
        raise missing("person")
    return asking.person
