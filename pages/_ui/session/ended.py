"""What Streamlit keeps for people who are gone: open tabs of sessions that have ended, tables of closed tabs.

Streamlit keeps what a closed tab held for two minutes; whoever comes back within these, after a network's
hiccup, has its tables read again.
"""

from __future__ import annotations

import asyncio
import logging
from collections import defaultdict
from collections.abc import Callable, Collection
from contextlib import suppress
from typing import Any

import pyarrow as pa
from starlette.concurrency import run_in_threadpool
from starlette.websockets import WebSocketDisconnect
from streamlit import runtime

from grasp_core.accounts import Accounts, session_key
from grasp_core.errors import StoreError
from pages._ui.session.state import KEY, Work

log = logging.getLogger("grasp.sessions")

LOOK_SECONDS = 4.0
"""How often is asked which sessions have ended, here or at another server."""
CLOSED_SECONDS = 2.0
"""How often is looked which tabs were closed."""
REDRAW_SECONDS = 1.5
"""How long a tab that is going to be closed has to show that it asks to sign in."""
POLICY_VIOLATION = 1008


async def close_ended(accounts: Callable[[], Accounts]) -> None:
    """Close, for ever, tabs whose session has ended.

    Parameters
    ----------
    accounts : callable
        Returns the accounts of the process's server.
    """
    while True:
        await asyncio.sleep(LOOK_SECONDS)
        try:
            open_keys = set(_open_tabs())
            if open_keys:
                await close_tabs(open_keys - await run_in_threadpool(_going_on, accounts, open_keys))
        except StoreError as error:
            log.warning("not looked which sessions have ended: %s", error)
        except Exception as error:  # of Streamlit's inner parts: each rerun and request still asks
            log.error("tabs were not looked at: %s", type(error).__name__)


async def close_tabs(keys: Collection[str]) -> None:
    """Close the tabs of these sessions, and forget what they held: files, answers, what was chosen.

    Each is drawn anew first, and so asks to sign in: a browser that comes back keeps what was shown last.
    """
    tabs = [tab for key, found in _open_tabs().items() if key in keys for tab in found]
    for tab in tabs:
        if tab.client is not None:
            tab.session.request_rerun(None)
    if tabs:
        await asyncio.sleep(REDRAW_SECONDS)
    for tab in tabs:
        runtime.get_instance().close_session(tab.session.id)
        if tab.client is not None:
            with suppress(RuntimeError, WebSocketDisconnect):  # closed, or left, at this very moment
                await tab.client._websocket.close(POLICY_VIOLATION)


async def give_up_tables() -> None:
    """Give up, for ever, the tables of sessions that no tab shows."""
    while True:
        await asyncio.sleep(CLOSED_SECONDS)
        try:
            give_up_closed()
        except Exception as error:  # of Streamlit's inner parts: sessions still end by themselves
            log.error("closed tabs were not looked at: %s", type(error).__name__)


def give_up_closed() -> None:
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


def _going_on(accounts: Callable[[], Accounts], keys: Collection[str]) -> set[str]:
    return accounts().sessions.going_on(keys)


def _open_tabs() -> dict[str, list[Any]]:
    """What Streamlit knows of people's tabs, also of those closed a moment ago, by session key."""
    if not runtime.exists():
        return {}
    found = defaultdict(list)
    for tab in runtime.get_instance()._session_mgr.list_sessions():
        if tab.session._user_info.get("is_logged_in") is True:
            found[session_key(tab.session._user_info)].append(tab)
    return found
