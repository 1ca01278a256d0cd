"""Erasing a person, in sentences: what goes, who gets what, and what stays."""

from __future__ import annotations

from collections.abc import Mapping

from grasp_core.model.wording import listed, number
from grasp_core.store.people.people import Traces

_WORDS: Mapping[str, str] = {
    "addresses": "mail address held",
    "current_projects": "choice of a project",
    "files": "uploaded file",
    "drafts": "draft",
    "links": "share link",
    "outcomes": "answer to a program",
    "project_members": "membership",
    "readings": "remembered reading",
    "runs": "run",
    "scorings": "counted scoring",
    "sessions": "session",
    "source_tokens": "kept token of a tool",
    "submissions": "submission",
    "tokens": "token",
    "watches": "watch",
    "webhooks": "webhook",
}
_PLURALS: Mapping[str, str] = {
    "addresses": "mail addresses held",
    "current_projects": "choices of a project",
    "outcomes": "answers to programs",
    "source_tokens": "kept tokens of tools",
    "watches": "watches",
}
STAYS = (
    "The log keeps its entries, under an id that nothing explains any more.",
    "Backups made before still hold the person: delete them, or erase again after one is restored.",
    "Titles, notes, tags and labels that people wrote are not searched for names.",
    "A mail address that the person held is free: whoever signs in with it next has what GRASP_ADMINS and "
    "GRASP_ANALYSTS give to it.",
    "Whoever signs in again is somebody new; the sign-in provider or GRASP_ALLOWED_DOMAINS keeps people out.",
)
"""What is to be known before."""


def erasing(traces: Traces, *, handed_over: bool) -> tuple[str, ...]:
    """What erasing a person does.

    Parameters
    ----------
    traces : Traces
        What names them.
    handed_over : bool
        Whether somebody gets what they own in projects.
    """
    held, own, led = _counted(traces.held), _counted(traces.own), list(traces.led.values())
    found = []
    if held:
        found.append(f"{'Handed over' if handed_over else 'Deleted for everybody'}: {held}.")
    found.append(f"Deleted: the person{f', {own}' if own else ''}.")
    if led:
        then = (
            "get the new owner"
            if handed_over
            else "are left to admins; those with nothing in them are deleted"
        )
        found.append(f"Projects that nobody else owns {then}: {listed(led)}.")
    return tuple(found)


def _counted(rows: Mapping[str, int]) -> str:
    return ", ".join(
        number(count, _WORDS.get(table, f"row of {table}"), _PLURALS.get(table))
        for table, count in rows.items()
    )
