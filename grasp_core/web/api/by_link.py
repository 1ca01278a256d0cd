"""Strangers who bring a share link's token, and what they may see."""

from __future__ import annotations

from http import HTTPStatus

from grasp_core.errors import AccessError, LimitError
from grasp_core.rater_map.public_view import map_without_small_groups
from grasp_core.rater_map.values import RaterMap
from grasp_core.report.public_view import public_view
from grasp_core.result import Result
from grasp_core.store.links import Target
from grasp_core.store.visiting.tries import SECONDS
from grasp_core.visitors import PasswordError
from grasp_core.web.api.admission import SIGN_IN, WITH_LINK, Caller
from grasp_core.web.problem import ProblemError

TAKES_PASSWORD = f"This link opens with its password alone: send it as {WITH_LINK}."


def check_link(asking: Caller, target: Target) -> None:
    """Refuse a stranger whose link does not open this; they are told nothing about what there is.

    Raises
    ------
    ProblemError
    """
    if asking.user is not None:
        return
    opened = _opened(asking, target)
    if opened is None:
        raise ProblemError(HTTPStatus.UNAUTHORIZED, SIGN_IN)
    if opened != target:
        raise ProblemError(HTTPStatus.NOT_FOUND, f"This link opens no {target.kind} of that id.")


def _opened(asking: Caller, target: Target) -> Target | None:
    if asking.token is None or not asking.first:
        return _still_open(asking)
    try:
        return asking.server.visitors.open(asking.token, asking.visitor, target)
    except PasswordError:
        raise ProblemError(HTTPStatus.UNAUTHORIZED, TAKES_PASSWORD) from None
    except LimitError as error:
        wait = {"Retry-After": f"{SECONDS:.0f}"}
        raise ProblemError(HTTPStatus.TOO_MANY_REQUESTS, str(error), wait) from None
    except AccessError:
        return None


def _still_open(asking: Caller) -> Target | None:
    return None if asking.token is None else asking.server.links.use(asking.token, count=False)


def shown_to(asking: Caller, result: Result) -> Result:
    """The result as the caller may see it."""
    if asking.user is not None:
        return result
    return public_view(result, small_groups=shows_small_groups(asking))


def map_shown_to(asking: Caller, found: RaterMap | None, result: Result) -> RaterMap | None:
    """The map of raters as the caller may see it, beside the result as they see it."""
    if asking.user is not None or shows_small_groups(asking):
        return found
    return map_without_small_groups(found, result)


def shows_small_groups(asking: Caller) -> bool:
    """Whether a stranger's link shows groups of few raters."""
    target = _still_open(asking)
    return target is not None and target.small_groups
