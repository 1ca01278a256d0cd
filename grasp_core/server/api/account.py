"""Whoever asks: who they are, their projects, and their tokens."""

from __future__ import annotations

from http import HTTPStatus

from fastapi import APIRouter
from pydantic import Field

from grasp_core.model.access import ProjectRole, Role, Scope
from grasp_core.server.api._admission import Asking
from grasp_core.server.api.forms import Form, Time
from grasp_core.server.api.runs import missing

router = APIRouter(tags=["Account"])


class Token(Form):
    """A personal token, without what opens."""

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
    role: ProjectRole = Field(description="Yours in it, as far as the token goes.")
    archived: bool = Field(description="Whether nothing is added to it any more.")
    created_at: Time


class Projects(Form):
    """Your projects: Everyone first, then by name."""

    projects: list[Project]


class Me(Form):
    """Who asks."""

    id: str = Field(description="What runs name as their owner; empty where nobody signs in.")
    name: str
    email: str
    role: Role = Field(description="On the server, as far as the token goes.")
    token: Token | None = Field(description="By which the request came; null for a sign-in on the pages.")
    file_bytes: int = Field(description="That your stored files take.")
    file_quota_bytes: int = Field(description="That they may take.")


@router.get("/me")
def read_me(asking: Asking) -> Me:
    """Who you are here, by which token, and how much room your files take."""
    user, token = asking.person, asking.personal_token()
    return Me(
        id=user.id,
        name=user.name,
        email=user.email,
        role=user.role,
        token=None if token is None else Token.of(token),
        file_bytes=asking.server.files.used(user.id),
        file_quota_bytes=asking.server.settings.file_quota_mb * 2**20,
    )


@router.get("/projects")
def list_projects(asking: Asking) -> Projects:
    """Your projects, with your role in each."""
    user = asking.person
    found = [
        Project.of(one, role=role)
        for one in asking.stores().projects.all()
        if (role := user.role_in(one.id)) is not None
    ]
    return Projects(projects=found)


@router.get("/tokens")
def list_tokens(asking: Asking) -> Tokens:
    """Your tokens, also those that have ended; never what opens. They are made on *Account*."""
    return Tokens(tokens=[Token.of(one) for one in asking.server.tokens.of(asking.person.id)])


@router.delete("/tokens/{token_id}", status_code=HTTPStatus.NO_CONTENT)
def withdraw_token(token_id: str, asking: Asking) -> None:
    """Withdraw a token of yours: it stops working at once, and for good."""
    asking.changing()
    tokens, owner = asking.server.tokens, asking.person.id
    if token_id not in [one.id for one in tokens.of(owner)]:
        raise missing("token")
    tokens.revoke(token_id, owner=owner)
    asking.server.audit.record(owner, "withdraw", "token", token_id)
