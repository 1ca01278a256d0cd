"""Who is looking."""

from __future__ import annotations

from grasp_core.access import LOCAL_USER, User


def current_user() -> User:
    """The person of this session."""
    return LOCAL_USER
