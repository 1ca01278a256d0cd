"""Work beside a page: waited for or gone on with; uploads that wait are dropped, kernels compiled."""

from __future__ import annotations

import asyncio
import contextvars
import gc
import importlib
import logging
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, cast

import streamlit as st
from streamlit import runtime
from streamlit.runtime.app_session import AppSessionState
from streamlit.runtime.memory_uploaded_file_manager import MemoryUploadedFileManager
from streamlit.runtime.scriptrunner import get_script_run_ctx
from streamlit.runtime.state.session_state import Serialized
from streamlit.runtime.uploaded_file_manager import UploadedFile

from grasp_core.model.errors import FAULT, AccessError, DataError, GraspError
from grasp_core.model.text import escape_markdown
from grasp_core.server import server

_POLL_S = 0.1
_AT_ONCE_S = 0.5
"""Work that takes no longer is shown at once."""

Tell = Callable[..., None]
"""Called by the work to say how far it is; ends it once nobody waits any more."""


class _CancelledError(Exception):
    """The visitor wants no more of it."""


@dataclass(eq=False)
class Working:
    """Work under way in a thread of its own.

    `about` is what was asked: the outcome is shown where the same is asked. `words` say what is being done.
    """

    about: object = None
    words: str = ""
    started: float = field(default_factory=time.monotonic)
    told: tuple[Any, ...] = ()
    cancelled: bool = False
    result: Any = None
    error: Exception | None = None
    ended: threading.Event = field(default_factory=threading.Event)

    def begin(self, function: Callable[[Tell], Any]) -> None:
        """Begin; who asks is known there, too."""
        run = contextvars.copy_context().run
        threading.Thread(target=run, args=(self._run, function), name="grasp-work", daemon=True).start()

    def _run(self, function: Callable[[Tell], Any]) -> None:
        try:
            self.result = function(self._tell)
        except Exception as error:  # handed to the page's thread
            self.error = error
        self.ended.set()

    def _tell(self, *told: Any) -> None:
        self.told = told
        if self.cancelled:
            raise _CancelledError


def waited_for(function: Callable[[Tell], Any], draw: Callable[..., None]) -> Any:
    """What comes of the work; `draw` is given what it told last, and any click ends both.

    Raises GraspError as the work does, or as a sentence without data where it fails otherwise.
    """
    working = Working()
    working.begin(function)
    try:
        while not working.ended.wait(_POLL_S):
            draw(*working.told)  # where a click ends this script
    finally:
        working.cancelled = True
    if working.error is not None:
        raise working.error if isinstance(working.error, GraspError) else DataError(FAULT) from working.error
    return working.result


def start(key: str, about: object, words: str, function: Callable[[Tell], Any]) -> None:
    """Begin work that goes on while its visitor looks at other views, once; it must not touch the page."""
    if not under_way(key):
        working = st.session_state[key] = Working(about, words)
        working.begin(function)
        working.ended.wait(_AT_ONCE_S)


def under_way(key: str) -> bool:
    """Whether the work begun last is not done yet."""
    working = st.session_state.get(key)
    return isinstance(working, Working) and not working.ended.is_set()


def outcome(key: str, about: object) -> Any:
    """What came of the work about this; None, and its bar or what was wrong, where nothing did yet."""
    working = st.session_state.get(key)
    if not isinstance(working, Working) or working.about != about:
        return None
    if not working.ended.is_set():
        _watch(key)
    elif isinstance(working.error, GraspError):
        st.error(escape_markdown(f"{working.error}."))
    elif working.error is not None:  # its type alone: a message could quote labels
        st.error(escape_markdown(f"{FAULT} ({type(working.error).__name__})"))
    return working.result


@st.fragment(run_every=0.5)
def _watch(key: str) -> None:
    working = st.session_state.get(key)
    if not isinstance(working, Working) or working.ended.is_set():
        st.rerun()
    seconds = time.monotonic() - working.started
    done, of, task = working.told or (0, 0, "")
    rows = f"{done:,} of {of:,} rows done, now {task}, " if of else ""
    share = min(done / of, 1.0) if of else 0.0
    st.progress(share, text=escape_markdown(f"{working.words}: {rows}{seconds:.0f} s"))
    st.caption("It goes on while you look at other views.")


log = logging.getLogger("grasp.uploads")

LOOK_SECONDS = 5.0
"""How often what waits is looked at."""
UNUSED_SECONDS = 40.0
"""How long an upload may wait for a widget to take it up, or stay after one has let it go."""

_BUSY = AppSessionState.APP_IS_RUNNING
"""A script runs: what has been taken up meanwhile is seen when it ends."""
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
    in_use = {name for name, session in sessions.items() if arriving(name) or session._state == _BUSY}
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
