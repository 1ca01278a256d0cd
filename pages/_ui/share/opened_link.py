"""Links that are opened, and whether they still work."""

from __future__ import annotations

from dataclasses import dataclass

import streamlit as st

from grasp_core import server
from grasp_core.errors import AccessError
from grasp_core.store.links import Leaderboard
from grasp_core.store.runs import RunRecord

CLOSED = (
    "This link does not work: it may be incomplete, or it has ended. Ask whoever sent it for another one."
)
_OPENED = "opened-link"


@dataclass(frozen=True, slots=True)
class OpenedLink:
    """A link that works, or did when the page was drawn."""

    token: str
    opened: RunRecord | Leaderboard

    def check(self) -> None:
        """Refuse once the link does not work any more.

        Raises
        ------
        AccessError
            With the one sentence for unknown, expired and revoked links.
        """
        if server.shared().links.use(self.token, count=False) is None:
            raise AccessError(CLOSED)


def open_link() -> OpenedLink | None:
    """The link of the address, opened; counted once a visit, whatever is clicked then."""
    token = st.query_params.get("token", "")
    shared = server.shared()
    target = shared.links.use(token, count=st.session_state.get(_OPENED) != token) if token else None
    if target is None:
        return None
    opened = (shared.runs.get if target.kind == "run" else shared.links.leaderboard)(target.id)
    if opened is None:
        return None
    st.session_state[_OPENED] = token
    return OpenedLink(token, opened)
