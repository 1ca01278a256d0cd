"""Remembered choices: a visit's draft, readings of files with the same columns, known data sets."""

import hashlib
import json
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import replace
from typing import NamedTuple

import streamlit as st

from grasp_core.model.access import LOCAL_USER
from grasp_core.model.data_spec import DataSpec
from grasp_core.model.errors import DataError, GraspError
from grasp_core.model.spec import PAPER_CONVENTIONS, AnalysisSpec, RunSpec
from grasp_core.model.text import escape_markdown, number
from grasp_core.reading.guess.file_roles import Role
from grasp_core.reading.guess.recognise import Guess
from grasp_core.reading.guess.tables import fitted, guessed
from grasp_core.reading.table.table import Table
from grasp_core.server import server
from grasp_core.server.identity import BROWSER, known
from grasp_core.store.readings import Draft
from grasp_core.store.runs import RunRecord
from pages._ui.data.decisions import answer_as
from pages._ui.helpers.identity import current_user, may_run, owner_names, require_run, stores
from pages._ui.helpers.screens import for_pages, go
from pages._ui.helpers.state import SLOTS, members_of, on_day, submit, tables_again, work
from pages._ui.helpers.widgets import button, caption

_FOUND = "draft-found"


def resume_draft() -> None:
    """Restore the last files and choices of the person, or of this browser, once a visit."""
    session = work()
    if session.resumed or session.annotations is not None or not may_run():
        return
    session.resumed = True
    owner = _owner()
    with suppress(GraspError):  # the page works without the database
        draft = None if owner is None else stores().drafts.load(owner=owner)
        if draft is not None:
            _take_up(draft)


def keep_draft(analysis: AnalysisSpec | None = None) -> None:
    """Store the files and choices, if they differ from those stored last."""
    session = work()
    owner = _owner()
    if owner is None or not may_run():
        return
    files = session.files
    if analysis is None and session.draft is not None:
        analysis = session.draft.analysis
    decided = None if session.dataset is None else session.data_spec
    chosen = {"spec": session.chosen, "axes": session.proposed_axes, "answers": dict(session.answers)}
    draft = Draft(**files, **chosen, decided=decided, analysis=analysis)
    if draft == session.draft or (session.draft is None and not any(files.values())):
        return
    with suppress(GraspError):  # nothing else depends on it
        stores().drafts.save(draft, owner=owner)
        session.draft = draft


def say_what_was_found() -> None:
    """Say that files are from an earlier visit, as long as they are in use."""
    if st.session_state.get(_FOUND) == work().generation:
        st.caption("These are the files and choices of your last visit.")


def _owner() -> str | None:
    """Return the person's id or, without sign-in, a digest of this browser's cookie, if it has one."""
    user = current_user()
    if user != LOCAL_USER:
        return user.id
    carried = known(st.context.cookies.get(BROWSER))
    return hashlib.sha256(carried.encode()).hexdigest() if carried else None


def _take_up(draft: Draft) -> None:
    session = work()
    files = {slot: getattr(draft, slot) for slot in SLOTS}
    try:
        tables = tables_again(files)
    except DataError:
        first = next(file.name for file in files.values() if file is not None)
        st.info(escape_markdown(f"{first} of your last visit is not kept any more: bring it again."))
        return
    _use(tables, draft.spec, draft.axes, draft.decided)
    session.answers = dict(draft.answers or {})
    session.draft = draft
    if draft.analysis is not None:
        session.use_settings(draft.analysis)
    st.session_state[_FOUND] = session.generation


def _use(
    tables: Mapping[Role, Table | None],
    spec: DataSpec | None,
    axes: tuple[str, ...],
    decided: DataSpec | None,
) -> None:
    """Use files as they were read before."""
    session = work()
    annotations, raters, items = (tables.get(slot) for slot in SLOTS)
    guess = None if annotations is None else guessed(annotations, raters, items)
    if guess is not None and spec is not None:
        guess = guess.confirmed(spec, axes)
    session.use_files(annotations, raters, guess, items)
    if annotations is not None and decided is not None:
        session.shown = session.load(decided)
        session.use_dataset(*session.shown)


def take_up_run(run: RunRecord) -> dict[str, Table]:
    """Use a run's files as it read them; return the files of its models by hash.

    Raises DataError if a file can no longer be read.
    """
    tables, of_models = server.shared().service.inputs.opened(run)
    of_kinds = {slot: tables.get(slot) for slot in SLOTS}
    _use(of_kinds, run.spec.data, run.spec.analysis.tested, run.spec.data)
    answer_as(run)
    return of_models


def say_what_is_known(guess: Guess) -> None:
    """Name the format, and offer to run a published set-up at once."""
    recipe = guess.recipe
    if recipe is None:
        return
    done = "".join(f"\n- {escape_markdown(sentence)}" for sentence in recipe.sentences)
    st.success(escape_markdown(f"Recognised: {recipe.name}.") + done, icon=":material/fact_check:")
    more = (
        "The paper's groups, labels and conventions, without the raters whom its authors left out; "
        "everything below can be changed instead."
    )
    if recipe.paper and button("Run as published", "play_arrow", type="primary", help=more):
        session = work()
        try:
            session.use_dataset(*session.load(guess.advised))
        except DataError as error:
            st.error(for_pages(str(error)))
            return
        analysis = AnalysisSpec(axes=recipe.axes, **PAPER_CONVENTIONS)
        session.use_settings(analysis)
        run = submit(session.dataset, RunSpec(guess.advised, analysis), session.load_s)
        go("results", run_id=run.id)


_KEY = "recalled"


class _Recalled(NamedTuple):
    """A guess with an earlier reading, the guess without it, and a sentence about it."""

    guess: Guess
    plain: Guess
    sentence: str


def recalled_guess(annotations: Table, raters: Table | None, items: Table | None, guess: Guess) -> Guess:
    """Return the guess with an earlier reading of such columns, as far as it fits; not for published data."""
    if guess.recipe is not None and guess.recipe.paper:
        return guess
    found = None
    with suppress(GraspError):  # the plain guess works without the database
        key = signature(annotations, raters, items)
        found = stores().readings.recall(key, owner=current_user().id)
    if found is None:
        return guess
    who = "you" if found.owner == current_user().id else owner_names([found.owner])[found.owner]
    when = f"{on_day(found.updated_at)} by {who}"
    members = members_of(annotations, raters, items)
    plain = replace(guess, spec=replace(guess.spec, **members))
    try:
        fits = fitted(annotations, raters, replace(found.spec, **members), found.axes, items)
    except DataError as error:
        sentence = f"The reading of {when} does not fit this file: {error}"
        st.session_state[_KEY] = _Recalled(guess, guess, sentence.rstrip(".") + ".")
        return guess
    recalled = guess.confirmed(fits.spec, fits.axes or guess.axes)
    work().answers |= found.answers
    same = not guess.uncertain and (recalled.spec, recalled.axes) == (plain.spec, plain.axes)
    if same and not found.ids_left_out and not found.answers:
        return guess
    dropped = list(fits.dropped)
    if found.ids_left_out:
        dropped.append(f"{number(found.ids_left_out, 'rule')} on single raters or items")
    more = f" Not taken over: {'; '.join(dropped)}." if dropped else ""
    st.session_state[_KEY] = _Recalled(recalled, guess, f"Read as on {when}.{more}")
    return recalled


def remember_reading(answers: Mapping[str, bool]) -> None:
    """Store the reading of the files in use, and the answers, for later files with the same columns."""
    session = work()
    key = signature(session.annotations, session.raters, session.items)
    with suppress(GraspError):  # the analysis works without it
        chosen, axes = session.chosen, session.proposed_axes
        stores().readings.remember(key, chosen, axes, owner=require_run().id, answers=answers)


def say_what_is_remembered() -> None:
    """Say which earlier reading was used, and offer the plain guess instead."""
    recalled: _Recalled | None = st.session_state.get(_KEY)
    session = work()
    if recalled is None or recalled.guess is not session.guess:
        return
    with st.container(horizontal=True, vertical_alignment="center"):
        caption(recalled.sentence)
        if recalled.plain is not recalled.guess:
            button("Start afresh", "restart_alt", _start_afresh, recalled.plain)


def _start_afresh(guess: Guess) -> None:
    session = work()
    session.answers = {}
    session.use_files(session.annotations, session.raters, guess, session.items)


def signature(annotations: Table, raters: Table | None, items: Table | None = None) -> str:
    """Return the hash of the files' column names, whatever their order."""
    columns: list[list[str] | str] = [
        sorted(table.columns) for table in (annotations, raters) if table is not None
    ]
    if items is not None:
        columns += ["items", sorted(items.columns)]
    return hashlib.sha256(json.dumps(columns).encode()).hexdigest()
