"""Tables of tabs that were closed: given up at once, though Streamlit keeps a session for two minutes.

Whoever comes back within these, after a network's hiccup, has them read again.
"""

from __future__ import annotations

import asyncio
import logging

import pyarrow as pa
from streamlit import runtime

from pages._ui.session.state import KEY, Work

log = logging.getLogger("grasp.sessions")

LOOK_SECONDS = 2.0
"""How often is looked which tabs were closed."""


async def give_up_tables() -> None:
    """Give up, for ever, the tables of sessions that no tab shows."""
    while True:
        await asyncio.sleep(LOOK_SECONDS)
        try:
            look()
        except Exception as error:  # of Streamlit's inner parts: sessions still end by themselves
            log.error("closed tabs were not looked at: %s", type(error).__name__)


def look() -> None:
    """Give up the tables of sessions that no tab shows now."""
    manager = runtime.get_instance()._session_mgr
    shown = {info.session.id for info in manager.list_active_sessions()}
    given_up = False
    for info in manager.list_sessions():
        state = info.session.session_state
        held = state[KEY] if info.session.id not in shown and KEY in state else None
        if isinstance(held, Work):
            given_up |= held.give_up_tables()
    if given_up:
        pa.default_memory_pool().release_unused()
