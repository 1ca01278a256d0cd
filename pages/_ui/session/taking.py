"""Files taken away and pages refused, for the log."""

from __future__ import annotations

from grasp_core import server
from grasp_core.store.runs import RunRecord
from pages._ui.session.identity import visitor
from pages._ui.session.permissions import require_see


def take_away(run: RunRecord) -> None:
    """Called before a file of a run is made for a member of its project; it goes to the log.

    Raises
    ------
    AccessError
        If they see nothing of the project any more.
    """
    user = require_see(run.project)
    server.shared().audit.record(user.id, "export", "run", run.id)


def note_refusal(place: str) -> None:
    """Have the log say that somebody who has signed in was refused, so many times at most."""
    user = visitor()
    if user is not None:
        server.shared().refusals.record(user.id, "page", place)
