"""Exceptions that a user of GRASP can act on."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

FAULT = "The run stopped because of an error in GRASP itself; please file a bug."
"""What a user is told of an error that is nobody's but ours."""


class GraspError(Exception):
    """Base of every error whose message is written for the user."""


@dataclass(frozen=True, slots=True)
class Problem:
    """Something about the data that a person should know.

    Parameters
    ----------
    stops : bool
        The data cannot be used until this is mended.
    message : str
        One sentence: where, what was found, what would do.
    count : int
        Cells, rows, raters or items concerned.
    examples : tuple of str
        A few of them.
    axis : str, optional
        The demographic column concerned, where it is one.
    """

    stops: bool
    message: str
    count: int = 1
    examples: tuple[str, ...] = ()
    axis: str | None = None


class DataError(GraspError):
    """The data cannot be used as given; the message says where, what was found and what would do.

    Parameters
    ----------
    message : str
        One sentence.
    problems : iterable of Problem
        Everything that has to be mended; by default, what `message` says.
    """

    def __init__(self, message: str, problems: Iterable[Problem] = ()) -> None:
        super().__init__(message)
        self.problems = tuple(problems) or (Problem(True, message),)


class SpecError(GraspError):
    """A run was asked for in a way that cannot be computed."""


class SelfCheckError(GraspError):
    """A run's own figures disagree with independent software, so nothing is reported."""


class RunCancelledError(GraspError):
    """The run was cancelled before it was complete."""


class WorkerError(GraspError):
    """The processes that compute a run died and could not be replaced."""


class LostSchedulerError(WorkerError):
    """The scheduler of a cluster vanished while it was needed."""


class StoreError(GraspError):
    """What lasts cannot be read or written just now."""


class MissingResultError(GraspError):
    """A run has no result, or not any more."""


class LimitError(GraspError):
    """A user has asked for more than a person may have at one time."""


class SettingsError(GraspError):
    """The installation's settings cannot be used."""


class AccessError(GraspError):
    """The user may not do what they asked for."""
