"""The draft of a visit: kept by the server, found again in a new tab, after a reload or a restart."""

from __future__ import annotations

import hashlib
from contextlib import suppress
from typing import Any, get_args

import streamlit as st

from grasp_core.model.access import LOCAL_USER
from grasp_core.model.errors import DataError, GraspError
from grasp_core.model.spec import AnalysisSpec
from grasp_core.model.text import escape_markdown
from grasp_core.reading.guess.recognise import Role
from grasp_core.reading.table.table import Table
from grasp_core.reading.tables import guessed
from grasp_core.server.visits import BROWSER, known
from grasp_core.store.drafts import Draft, DraftFile
from pages._ui.helpers.identity import current_user, here, may_run
from pages._ui.helpers.state import table_again, work

_SLOTS: tuple[Role, ...] = get_args(Role)
_FOUND = "draft-found"


def resume_draft() -> None:
    """Take up what the person, or this browser, brought and chose last, once a visit."""
    session = work()
    if session.resumed or session.annotations is not None or not may_run():
        return
    session.resumed = True
    owner = _owner()
    with suppress(GraspError):  # the page does without the database
        draft = None if owner is None else here().drafts.load(owner=owner)
        if draft is not None:
            _take_up(draft)


def keep_draft(analysis: AnalysisSpec | None = None) -> None:
    """Keep what is brought and chosen, where it differs from what was kept last."""
    session = work()
    owner = _owner()
    if owner is None or not may_run():
        return
    files = {slot: _file(getattr(session, slot)) for slot in _SLOTS}
    if analysis is None and session.draft is not None:
        analysis = session.draft.analysis
    draft = Draft(
        **files,
        spec=session.chosen,
        axes=session.proposed_axes,
        answers=dict(session.answers),
        decided=None if session.dataset is None else session.data_spec,
        analysis=analysis,
    )
    if draft == session.draft or (session.draft is None and not any(files.values())):
        return
    with suppress(GraspError):  # nothing else depends on it
        here().drafts.save(draft, owner=owner)
        session.draft = draft


def say_what_was_found() -> None:
    """That files are those of an earlier visit, as long as they are in use."""
    session = work()
    if st.session_state.get(_FOUND) == session.generation:
        st.caption("These are the files and choices of your last visit.")


def _owner() -> str | None:
    """The person who signed in; where nobody does, a digest of what this browser carries."""
    user = current_user()
    if user != LOCAL_USER:
        return user.id
    carried = known(st.context.cookies.get(BROWSER))
    return hashlib.sha256(carried.encode()).hexdigest() if carried else None


def _file(table: Table | None) -> DraftFile | None:
    return None if table is None else DraftFile(table.name, table.sha256, table.member)


def _take_up(draft: Draft) -> None:
    session = work()
    files: dict[str, Any] = {slot: getattr(draft, slot) for slot in _SLOTS}
    try:
        tables = {
            slot: None if file is None else table_again(file.name, file.sha256, file.member)
            for slot, file in files.items()
        }
    except DataError:
        first = next(file.name for file in files.values() if file is not None)
        st.info(escape_markdown(f"{first} of your last visit is not kept any more: bring it again."))
        return
    annotations, raters, items = (tables[slot] for slot in _SLOTS)
    guess = None if annotations is None else guessed(annotations, raters, items)
    if guess is not None and draft.spec is not None:
        guess = guess.confirmed(draft.spec, draft.axes)
    session.use_files(annotations, raters, guess, items)
    session.answers = dict(draft.answers or {})
    session.draft = draft
    if annotations is not None and draft.decided is not None:
        session.shown = session.load(draft.decided)
        session.use_dataset(*session.shown)
    if draft.analysis is not None:
        session.use_settings(draft.analysis)
    st.session_state[_FOUND] = session.generation
