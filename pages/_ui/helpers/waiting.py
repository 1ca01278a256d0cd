"""What a server does beside pages: files that wait are dropped, kernels compiled."""

from __future__ import annotations

import asyncio
import gc
import importlib
import logging
import time
from collections.abc import Callable, Iterator, Mapping
from typing import Any, cast

from streamlit import runtime
from streamlit.runtime.app_session import AppSessionState
from streamlit.runtime.memory_uploaded_file_manager import MemoryUploadedFileManager
from streamlit.runtime.scriptrunner import get_script_run_ctx
from streamlit.runtime.state.session_state import Serialized
from streamlit.runtime.uploaded_file_manager import UploadedFile

from grasp_core.model.errors import AccessError
from grasp_core.server import server

log = logging.getLogger("grasp.uploads")

LOOK_SECONDS = 5.0
"""How often what waits is looked at."""
UNUSED_SECONDS = 40.0
"""How long an upload may wait for a widget to take it up, or stay after one has let it go."""

_File = tuple[str, str]
"""Session and file."""


def waiting_bytes() -> Mapping[str, int]:
    """Bytes that wait in memory, by session."""
    manager = _manager()
    with manager._lock:
        return {
            session: sum(len(file.data) for file in files.values())
            for session, files in manager.file_storage.items()
            if files
        }


def whose(session: str) -> str | None:
    """Id of the person who has signed in in a session's tab; None where there is none."""
    found = runtime.get_instance()._session_mgr.get_session_info(session)
    claims = {} if found is None else found.session._user_info
    if claims.get("is_logged_in") is not True:
        return None
    try:
        user = server.shared().accounts.user(claims, seen=False)
    except AccessError:
        return None
    return None if user is None else user.id


def let_go(upload: UploadedFile) -> None:
    """Drop what a widget of this session has handed over: it is kept elsewhere now."""
    context = get_script_run_ctx()
    manager = None if context is None else context.uploaded_file_mgr
    if context is not None and isinstance(manager, MemoryUploadedFileManager):
        manager.remove_file(context.session_id, upload.file_id)


async def drop_unused(arriving: Callable[[str], bool]) -> None:
    """Drop for ever what no widget takes up."""
    needed: dict[_File, float] = {}
    while True:
        try:
            drop_old(needed, arriving, time.monotonic())
        except Exception as error:  # of Streamlit's inner parts: what waits is still bounded
            log.error("what waits was not looked at: %s", type(error).__name__)
        await asyncio.sleep(LOOK_SECONDS)


def drop_old(needed: dict[_File, float], arriving: Callable[[str], bool], now: float) -> None:
    """Drop what nothing has needed for `UNUSED_SECONDS`."""
    manager = _manager()
    with manager._lock:
        there = [(session, file) for session, files in manager.file_storage.items() for file in files]
    sessions = {info.session.id: info.session for info in runtime.get_instance()._session_mgr.list_sessions()}
    in_use = {name for name, session in sessions.items() if arriving(name) or _is_busy(session)}
    taken = {(name, file) for name, session in sessions.items() for file in _taken_up(session)}
    for file in needed.keys() - there:
        del needed[file]
    new = {session for session, file in there if (session, file) not in needed}
    for file in there:
        if file in taken or file[0] in in_use or file[0] in new:
            needed[file] = now
        elif now - needed[file] >= UNUSED_SECONDS:
            manager.remove_file(*file)
            del needed[file]


def _is_busy(session: Any) -> bool:
    """Whether a script runs: what has been taken up meanwhile is seen when it ends."""
    return session._state == AppSessionState.APP_IS_RUNNING


def _taken_up(session: Any) -> Iterator[str]:
    """Files that the session's widgets hold, as the browser says or as a script has read it."""
    state = session.session_state
    for known in list(state._new_widget_state.states.values()):  # a script's thread may change it meanwhile
        if isinstance(known, Serialized):
            for file in known.value.file_uploader_state_value.uploaded_file_info:
                yield file.file_id
        else:
            yield from _held(known.value)
    for value in list(state._old_state.values()):
        yield from _held(value)


def _held(value: object) -> Iterator[str]:
    for one in value if isinstance(value, list) else [value]:
        if isinstance(one, UploadedFile):
            yield one.file_id


def _manager() -> MemoryUploadedFileManager:
    return cast(MemoryUploadedFileManager, runtime.get_instance().uploaded_file_mgr)


_YOUNG = 10_000
"""New objects after which Python looks for what nobody holds; a page makes some thousands."""


def warm() -> None:
    """Start the server's work and import what the Results page draws with."""
    try:
        server.shared()
        importlib.import_module("pages._ui.result.groups")
        gc.collect()
        gc.freeze()  # what is there stays: looking through it again stops everybody for a third of a second
        gc.set_threshold(_YOUNG, 20, 50)
    except Exception as error:  # the pages import and start all this themselves
        logging.getLogger("grasp.pages").warning("could not get ready in advance: %s", type(error).__name__)
