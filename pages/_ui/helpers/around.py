"""What stands around every page: who may see it, the menu, the project, messages."""

from __future__ import annotations

import functools
import logging
import traceback
from copy import copy
from typing import Any

import streamlit as st
from google.protobuf.message import DecodeError
from starlette.types import ASGIApp, Message, Receive, Scope, Send
from streamlit.proto.BackMsg_pb2 import BackMsg

from grasp_core.model.access import EVERYONE, LOCAL_USER, User
from grasp_core.model.errors import AccessError, GraspError
from grasp_core.model.text import for_pages
from grasp_core.server import server
from pages._ui.helpers.identity import CURRENT, current_project, current_user, here
from pages._ui.helpers.screens import SCREENS, SIGN_OUT_FORM, Audience, for_person
from pages._ui.helpers.sign_ins import SIGN_OUT
from pages._ui.helpers.state import note_refusal, work
from pages._ui.helpers.widgets import pick


def offer_sign_out() -> None:
    """The way out: a form, for no link of anybody else's may end a session."""
    form = f'class="{SIGN_OUT_FORM}" method="post" action="{server.shared().settings.base_path}{SIGN_OUT}"'
    st.html(f"<form {form}><button>Sign out</button></form>")


_WIDGET = "choose-project"


def choose_project() -> None:
    """Offer the projects that the visitor sees; a new choice lasts, for their next visit too."""
    found = {project.id: project for project in here().projects.all()}
    if current_project() not in found:  # deleted meanwhile
        st.session_state[CURRENT] = EVERYONE
    if len(found) < 2:
        return
    st.session_state[_WIDGET] = current_project()
    with st.container(horizontal=True, horizontal_alignment="right"):
        names = {id: one.name + (" (archived)" if one.archived else "") for id, one in found.items()}
        pick("Project", names, key=_WIDGET, on_change=lambda: work_in(st.session_state[_WIDGET]), width=320)


def work_in(project: str) -> None:
    """Work in this project from now on; files that are loaded stay in the other one."""
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
    """For whom each page is; the menu has those that the visitor may see."""
    offered = for_person(user or LOCAL_USER)
    pages = _pages(tuple(screen in offered and not screen.more for screen in SCREENS))
    # Copies: Streamlit notes in a page that it is the one to be drawn.
    return {copy(page): screen.audience for page, screen in zip(pages, SCREENS, strict=True)}


@functools.cache
def _pages(in_menu: tuple[bool, ...]) -> list[Any]:
    """The pages, with what is in the menu; making them for every view is a twentieth of its work."""
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
    """Show one sentence instead of a traceback; returns True, which tells Streamlit that it is handled.

    The log gets the kind of error and the lines of code, but not the message: it may quote data.
    """
    if isinstance(error, AccessError):
        try:
            note_refusal((st.context.url or "").rpartition("/")[2].partition("?")[0])
        except GraspError as other:  # nobody is known, or the database is away
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


ANSWERED = frozenset({"rerun_script", "stop_script", "app_heartbeat", "file_urls_request"})
"""Not: clearing every visitor's caches, the state of the repository, watching the code."""
OPERATIONS = frozenset({"deferred_file", "dataframe_chunk"})
"""Not: writing files for whoever develops with Streamlit."""


SMALL = 2**16
"""Bytes that each message has at most, but for what a page's widgets hold.

A larger one is not read here: of a few megabytes, made for it, hundreds would become in memory.
"""
_RERUN = BackMsg.RERUN_SCRIPT_FIELD_NUMBER << 3 | 2


class Messages:
    """ASGI middleware that drops messages which no page of ours sends."""

    def __init__(self, app: ASGIApp) -> None:
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass everything else through."""

        async def receive_answered() -> Message:
            while True:
                message = await receive()
                if message["type"] != "websocket.receive" or _is_answered(message.get("bytes")):
                    return message

        await self.app(scope, receive_answered if scope["type"] == "websocket" else receive, send)


def _is_answered(content: bytes | None) -> bool:
    if content is not None and len(content) > SMALL:
        return _is_one_rerun(content)
    try:
        said = BackMsg.FromString(content or b"")
    except DecodeError:  # Streamlit closes the connection
        return True
    kind = said.WhichOneof("type")
    if kind == "backend_operation_request":
        return said.backend_operation_request.WhichOneof("payload") in OPERATIONS
    return kind is None or kind in ANSWERED


def _is_one_rerun(content: bytes) -> bool:
    """Whether a message has one field, which asks for a page: its tag, its length, and nothing behind."""
    size, at = 0, 1
    for at in range(1, 6):
        size |= (content[at] & 0x7F) << 7 * (at - 1)
        if content[at] < 0x80:
            break
    return content[0] == _RERUN and at + 1 + size == len(content)
