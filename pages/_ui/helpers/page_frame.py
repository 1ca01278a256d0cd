"""The frame of a page: audience, menu, project and error messages; work in the background."""

import contextvars
import functools
import gc
import importlib
import logging
import threading
import time
import traceback
from collections.abc import Callable
from copy import copy
from dataclasses import dataclass, field
from typing import Any

import streamlit as st

from grasp_core.model.access import EVERYONE, LOCAL_USER, User
from grasp_core.model.errors import FAULT, AccessError, DataError, GraspError
from grasp_core.model.text import escape_markdown
from grasp_core.server import server
from pages._ui.helpers.identity import CURRENT, current_project, current_user, note_refusal, stores
from pages._ui.helpers.screens import SCREENS, Audience, for_pages, for_person
from pages._ui.helpers.sessions import SIGN_OUT
from pages._ui.helpers.state import work
from pages._ui.helpers.widgets import pick


def offer_sign_out() -> None:
    """Draw the sign-out button: a form, because a link on another site must not end a session."""
    form = f'class="grasp-sign-out" method="post" action="{server.shared().settings.base_path}{SIGN_OUT}"'
    st.html(f"<form {form}><button>Sign out</button></form>")


_WIDGET = "choose-project"


def choose_project() -> None:
    """Offer the projects that the visitor sees; the choice is kept for their next visit too."""
    found = {project.id: project for project in stores().projects.all()}
    if current_project() not in found:  # deleted meanwhile
        st.session_state[CURRENT] = EVERYONE
    if len(found) < 2:
        return
    st.session_state[_WIDGET] = current_project()
    with st.container(horizontal=True, horizontal_alignment="right"):
        names = {id: one.name + (" (archived)" if one.archived else "") for id, one in found.items()}
        pick("Project", names, key=_WIDGET, on_change=lambda: work_in(st.session_state[_WIDGET]), width=320)


def work_in(project: str) -> None:
    """Switch to this project; loaded files stay in the other one."""
    user = current_user()
    user.reach(project)
    if project == current_project(user):
        return
    st.session_state[CURRENT] = project
    server.shared().projects.choose(user.id, project)
    session = work()
    if session.annotations is not None:
        session.use_files(None, None)
        st.toast("The files that were loaded stay in the other project; bring them here to use them here.")


def audiences(user: User | None) -> dict[Any, Audience]:
    """Return the audience of each page; the menu shows the pages that the visitor may see."""
    offered = for_person(user or LOCAL_USER)
    pages = _pages(tuple(screen in offered and not screen.more for screen in SCREENS))
    # Copies, because Streamlit marks a page object as the one to draw.
    return {copy(page): screen.audience for page, screen in zip(pages, SCREENS, strict=True)}


@functools.cache
def _pages(in_menu: tuple[bool, ...]) -> list[Any]:
    """Make the pages for a menu; cached, because making them for every view is a twentieth of its work."""
    return [
        st.Page(
            f"{screen.name}.py",
            title=screen.title,
            icon=screen.icon,
            default=screen is SCREENS[0],
            visibility="visible" if seen else "hidden",
        )
        for screen, seen in zip(SCREENS, in_menu, strict=True)
    ]


log = logging.getLogger("grasp.pages")


def show_error(error: Exception) -> bool:
    """Show one sentence instead of a traceback; return True, so that Streamlit takes it as handled.

    The log gets the kind of error and the lines of code, but not the message: it may quote data.
    """
    if isinstance(error, AccessError):
        try:
            note_refusal((st.context.url or "").rpartition("/")[2].partition("?")[0])
        except GraspError as other:  # no visitor is known, or the database is unreachable
            kinds = type(error).__name__, type(other).__name__
            log.warning("a refusal is not in the log: %s, %s", *kinds)
    if isinstance(error, GraspError):
        st.error(for_pages(str(error)))
        return True
    frames = traceback.extract_tb(error.__traceback__)
    places = " < ".join(f"{frame.filename}:{frame.lineno} {frame.name}" for frame in reversed(frames[-12:]))
    log.error("unexpected %s at %s", type(error).__name__, places)
    st.error(
        "Something went wrong in GRASP itself, not in your data. What you loaded is still here: reload "
        "the page or go back one step. If it happens again, tell whoever runs this server; its log has "
        "the details, without any of your data."
    )
    return True


_POLL_S = 0.1
_AT_ONCE_S = 0.5
"""Seconds for which a page waits: shorter work shows its outcome without a progress bar."""

Tell = Callable[..., None]
"""Function that the work calls to report its progress; it raises, and so ends the work, once nobody waits."""


class _CancelledError(Exception):
    """Raised in the work after the visitor has cancelled it."""


@dataclass(eq=False)
class Working:
    """Work in its own thread; its outcome is shown only where the same, `about`, is asked."""

    about: object = None
    words: str = ""
    started: float = field(default_factory=time.monotonic)
    told: tuple[Any, ...] = ()
    cancelled: bool = False
    result: Any = None
    error: Exception | None = None
    ended: threading.Event = field(default_factory=threading.Event)

    def begin(self, function: Callable[[Tell], Any]) -> None:
        """Start the thread; it inherits the context, with the person who asks."""
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
    """Return the outcome of the work; `draw` gets its latest progress, and any click ends both.

    Raises the work's own GraspError; any other error becomes a DataError whose sentence quotes no data.
    """
    working = Working()
    working.begin(function)
    try:
        while not working.ended.wait(_POLL_S):
            draw(*working.told)  # a click ends this script here
    finally:
        working.cancelled = True
    if working.error is not None:
        raise working.error if isinstance(working.error, GraspError) else DataError(FAULT) from working.error
    return working.result


def start(key: str, about: object, words: str, function: Callable[[Tell], Any]) -> None:
    """Begin work once, which continues while the visitor looks at other views; it must not draw."""
    if not under_way(key):
        working = st.session_state[key] = Working(about, words)
        working.begin(function)
        working.ended.wait(_AT_ONCE_S)


def under_way(key: str) -> bool:
    """Return whether the work begun last still runs."""
    working = st.session_state.get(key)
    return isinstance(working, Working) and not working.ended.is_set()


def outcome(key: str, about: object) -> Any:
    """Return the work's outcome; without one, return None and show its progress bar or its error."""
    working = st.session_state.get(key)
    if not isinstance(working, Working) or working.about != about:
        return None
    if not working.ended.is_set():
        _watch(key)
    elif isinstance(working.error, GraspError):
        st.error(escape_markdown(f"{working.error}."))
    elif working.error is not None:  # only its type, because a message could quote labels
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


_YOUNG = 10_000
"""New objects that trigger Python's garbage collector; a page makes some thousands."""


def warm() -> None:
    """Start the server's threads and import the modules that draw the Results page."""
    try:
        server.shared()
        importlib.import_module("pages._ui.result.groups")
        gc.collect()
        gc.freeze()  # never look through these again: that stops all threads for a third of a second
        gc.set_threshold(_YOUNG, 20, 50)
    except Exception as error:  # not fatal: the pages import and start all this themselves
        log.warning("could not get ready in advance: %s", type(error).__name__)
