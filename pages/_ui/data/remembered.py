"""Readings that are remembered for files of the same columns, and those of known data sets."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import datetime

import streamlit as st

from grasp_core.model.data_spec import DataSpec
from grasp_core.model.errors import DataError, GraspError
from grasp_core.model.spec import PAPER_CONVENTIONS, AnalysisSpec, RunSpec
from grasp_core.model.text import escape_markdown, number
from grasp_core.reading.dataset.load import signature
from grasp_core.reading.guess.recognise import Guess
from grasp_core.reading.table.table import Table
from grasp_core.reading.tables import fitted
from grasp_core.store.readings import Reading
from pages._ui.helpers.identity import current_user, here, owner_names, require_run
from pages._ui.helpers.navigation import go
from pages._ui.helpers.state import submit, work, zone


def say_what_is_known(guess: Guess) -> None:
    """Name the format; a published set-up can be run at once."""
    recipe = guess.recipe
    if recipe is None:
        return
    done = "".join(f"\n- {escape_markdown(sentence)}" for sentence in recipe.sentences)
    st.success(escape_markdown(f"Recognised: {recipe.name}.") + done, icon=":material/fact_check:")
    if recipe.paper and st.button(
        "Run as published",
        type="primary",
        icon=":material/play_arrow:",
        help="The paper's groups, labels and conventions, without the raters whom its authors left out; "
        "everything below can be changed instead.",
    ):
        session = work()
        try:
            session.use_dataset(*session.load(guess.advised))
        except DataError as error:
            st.error(escape_markdown(str(error)))
            return
        analysis = AnalysisSpec(axes=recipe.axes, **PAPER_CONVENTIONS)
        session.use_settings(analysis)
        run = submit(session.dataset, RunSpec(guess.advised, analysis), session.load_s)
        go("results", run_id=run.id)


_KEY = "recalled"


@dataclass(frozen=True)
class _Recalled:
    """A guess with an earlier reading, and what is said of it; `plain` is the guess without that reading."""

    guess: Guess
    plain: Guess
    sentence: str


def recalled_guess(annotations: Table, raters: Table | None, items: Table | None, guess: Guess) -> Guess:
    """The guess, with what was confirmed for files of these columns as far as it fits.

    A published data set is read as published.
    """
    if guess.recipe is not None and guess.recipe.paper:
        return guess
    found = None
    with suppress(GraspError):  # the plain guess does without the database
        key = signature(annotations, raters, items)
        found = here().readings.recall(key, owner=current_user().id)
    if found is None:
        return guess
    members = {
        "member": annotations.member,
        "raters_member": None if raters is None else raters.member,
        "items_member": None if items is None else items.member,
    }
    plain = replace(guess, spec=replace(guess.spec, **members))
    try:
        fits = fitted(annotations, raters, replace(found.spec, **members), found.axes, items)
    except DataError as error:
        sentence = f"The reading of {_when(found)} {_whose(found)} does not fit this file: {error}"
        st.session_state[_KEY] = _Recalled(guess, guess, sentence.rstrip(".") + ".")
        return guess
    recalled = guess.confirmed(fits.spec, fits.axes or guess.axes)
    settled = not guess.uncertain
    if settled and (recalled.spec, recalled.axes) == (plain.spec, plain.axes) and not found.ids_left_out:
        return guess
    dropped = list(fits.dropped)
    if found.ids_left_out:
        dropped.append(f"{number(found.ids_left_out, 'rule')} on single raters or items")
    more = f" Not taken over: {'; '.join(dropped)}." if dropped else ""
    st.session_state[_KEY] = _Recalled(recalled, guess, (f"Read as on {_when(found)} {_whose(found)}.{more}"))
    return recalled


def remember_reading(spec: DataSpec, axes: tuple[str, ...]) -> None:
    """Keep the reading of the files in use for the next ones of their columns."""
    session = work()
    if session.annotations is None:
        return
    key = signature(session.annotations, session.raters, session.items)
    with suppress(GraspError):  # the analysis does without it
        here().readings.remember(key, spec, axes, owner=require_run().id)


def say_what_is_remembered() -> None:
    """Where the reading comes from, and a way back to the plain guess."""
    recalled: _Recalled | None = st.session_state.get(_KEY)
    session = work()
    if recalled is None or recalled.guess is not session.guess:
        return
    with st.container(horizontal=True, vertical_alignment="center"):
        st.caption(escape_markdown(recalled.sentence))
        if recalled.plain is not recalled.guess:
            st.button("Start afresh", icon=":material/restart_alt:", on_click=_start_afresh, args=(recalled,))


def _start_afresh(recalled: _Recalled) -> None:
    session = work()
    session.use_files(session.annotations, session.raters, recalled.plain, session.items)


def _when(found: Reading) -> str:
    day = datetime.fromtimestamp(found.updated_at, zone())
    return f"{day.day} {day:%B %Y}"


def _whose(found: Reading) -> str:
    return "by you" if found.owner == current_user().id else f"by {owner_names([found.owner])[found.owner]}"
