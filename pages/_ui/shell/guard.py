"""Unexpected errors: the sentence that a visitor sees, and what the log keeps."""

from __future__ import annotations

import logging
import traceback

import streamlit as st

from grasp_core.errors import AccessError, GraspError
from grasp_core.report.words.text import escape_markdown
from pages._ui.session.taking import note_refusal

log = logging.getLogger("grasp.pages")


def show_error(error: Exception) -> bool:
    """Show one sentence instead of a traceback; returns True, which tells Streamlit that it is handled.

    The log gets the kind of error and the lines of code, but not the message: it may quote data.
    """
    if isinstance(error, AccessError):
        _note(error)
    if isinstance(error, GraspError):
        st.error(escape_markdown(str(error)))
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


def _note(refused: AccessError) -> None:
    try:
        note_refusal((st.context.url or "").rpartition("/")[2].partition("?")[0])
    except GraspError as error:  # nobody is known, or the database is away
        log.warning("a refusal is not in the log: %s, %s", type(refused).__name__, type(error).__name__)
