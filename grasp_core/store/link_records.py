"""Share links as values: what they open, how they are made, what their makers see of them."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Literal, TypedDict

MOST_USES = 1_000_000
"""Visits that may be set as the most of a link."""


@dataclass(frozen=True, slots=True)
class Target:
    """The run that a link opens, or the leaderboard that this very link holds.

    `small_groups` says whether whoever made the link lets groups of few raters be seen.
    """

    kind: Literal["run", "leaderboard"]
    id: str
    small_groups: bool = field(default=False, compare=False)


@dataclass(frozen=True, slots=True)
class Lock:
    """What a link that opens asks of a visitor: its password's hash, or nothing of one who gave it before."""

    link_id: str
    target: Target
    password: str | None


class Terms(TypedDict, total=False):
    """How a link is made.

    Parameters
    ----------
    label : str
    days : float or None
        After so many days the link stops working.
    password : str or None
        What visitors are asked for.
    max_uses : int or None
        Visits after which the link stops working.
    small_groups : bool
        Whether groups of few raters are shown.
    """

    label: str
    days: float | None
    password: str | None
    max_uses: int | None
    small_groups: bool


@dataclass(frozen=True, slots=True)
class Leaderboard:
    """A leaderboard as it was when a link to it was made.

    Parameters
    ----------
    content : dict
        ``grasp-leaderboard``, see docs/models.md.
    created_at : float
        Seconds since 1970.
    """

    content: dict[str, Any]
    created_at: float
    title: str = "Leaderboard"


@dataclass(frozen=True, slots=True)
class Link:
    """A share link as its maker sees it; the token itself is shown once and not kept."""

    id: str
    target: Target
    label: str
    created_by: str
    created_at: float
    expires_at: float | None
    revoked_at: float | None
    uses: int
    last_used_at: float | None
    expired: bool
    has_password: bool = False
    max_uses: int | None = None

    @property
    def used_up(self) -> bool:
        """Whether it was opened as often as it may be."""
        return self.max_uses is not None and self.uses >= self.max_uses

    @property
    def goes_on(self) -> bool:
        """Whether it shows its result to anybody: one that is used up does to visitors who are there."""
        return self.revoked_at is None and not self.expired

    @property
    def state(self) -> str:
        """Whether it works, or why not, in a word."""
        if self.revoked_at is not None:
            return "withdrawn"
        return "expired" if self.expired else "used up" if self.used_up else "works"

    @property
    def works(self) -> bool:
        """Whether the link opens its result to somebody who was not there yet."""
        return self.goes_on and not self.used_up
