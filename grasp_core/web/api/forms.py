"""What the API takes and gives, field by field; the schema and the reference page are made of it."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field

from grasp_core.store.run_records import RunRecord

State = Literal["queued", "running", "done", "failed", "cancelled"]


class Form(BaseModel):
    """A JSON object; what it does not have is refused, not passed over."""

    model_config = ConfigDict(extra="forbid")


class ProblemListed(Form):
    """One of the things that are wrong."""

    code: str
    text: str
    count: int | None = None
    examples: list[str] | None = None
    field: str | None = None
    place: str | None = None


class Problem(Form):
    """Why a request cannot be answered (RFC 9457)."""

    type: str
    title: str
    status: int
    detail: str = Field(description="One sentence for people.")
    problems: list[ProblemListed] | None = Field(None, description="All that is wrong, with codes.")


class Permutations(Form):
    """How far a run is."""

    done: int
    total: int


class Run(Form):
    """A run, without its result."""

    id: str
    title: str
    owner: str
    note: str
    tags: list[str]
    state: State
    error: str | None = Field(description="Why it failed.")
    permutations: Permutations
    created_at: datetime
    finished_at: datetime | None
    version: str = Field(description="The version of GRASP that was asked.")

    @classmethod
    def of(cls, record: RunRecord) -> Run:
        """The form of a record."""
        return cls(
            id=record.id,
            title=record.title,
            owner=record.owner,
            note=record.note,
            tags=list(record.tags),
            state=record.state,
            error=record.error,
            permutations=Permutations(done=record.done, total=record.total),
            created_at=at(record.created_at),
            finished_at=None if record.finished_at is None else at(record.finished_at),
            version=record.code_version,
        )


class Runs(Form):
    """A page of a list."""

    runs: list[Run]
    next: str | None = Field(description="`cursor` of the next page; null on the last one.")


class Found(BaseModel):
    """A result as files have it, or how far it is and what it has found so far; docs/file-formats.md."""

    model_config = ConfigDict(extra="allow")

    format: str | None = Field(None, description="`grasp-run` or `grasp-models`, of a result.")
    state: State | None = Field(None, description="Of a run that has no result.")
    permutations: Any = None
    provisional: dict[str, Any] | None = Field(None, description="What a run that goes on has found.")


def at(seconds: float) -> datetime:
    """A time of the store."""
    return datetime.fromtimestamp(seconds, UTC)
