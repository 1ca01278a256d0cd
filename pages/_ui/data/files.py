"""The drop zones of the Data page; a file that cannot be read never displaces one that could."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from functools import partial
from typing import Literal, get_args

import streamlit as st

from grasp_core import server
from grasp_core.connectors.anywhere import table_of
from grasp_core.connectors.source import Source
from grasp_core.errors import DataError, GraspError
from grasp_core.io.handling.limited import guessed
from grasp_core.io.parsing.read import read_table
from grasp_core.io.table.table import Table
from grasp_core.report.words.text import escape_markdown
from pages._ui.data.read_watched import read_watched
from pages._ui.data.remembered import recalled_guess
from pages._ui.data.server_files import offer_server_files
from pages._ui.session.permissions import require_run
from pages._ui.session.projects import current_project, here
from pages._ui.session.state import work
from pages._ui.shell.waiting import let_go
from pages._ui.sources.fetch_watched import fetch_watched
from pages._ui.sources.from_tool import offer_refresh, offer_tools
from pages._ui.sources.news import say_news, tell_news

_LABELS = {
    "annotations": "Annotations file",
    "raters": "Raters file (optional)",
    "items": "Items file (optional)",
}
_ELSEWHERE = {"raters": "Or", "items": "Or items"}
_TOGETHER = "All that fit together, as one per annotator does"
_TRIED = 20
"""Sheets, or files of an archive, that are tried until one can hold what is wanted."""
Slot = Literal["annotations", "raters", "items"]


def file_slots() -> None:
    """Drop zones for the annotations, the raters and the items, side by side."""
    for place, slot in zip(st.columns(3), get_args(Slot), strict=True):
        with place:
            _slot(slot)


def _slot(slot: Slot) -> None:
    round_key = f"{slot}-round"
    message_key = f"{slot}-message"
    upload = st.file_uploader(
        _LABELS[slot],
        max_upload_size=int(st.get_option("server.maxUploadSize")),
        key=f"{slot}-{st.session_state.setdefault(round_key, 0)}",
    )
    if upload is not None:
        st.session_state[message_key] = take(slot, upload.getvalue(), upload.name, round_key)
        let_go(upload)
        st.session_state[round_key] += 1
        st.rerun()
    offer_server_files(slot, partial(_take_from, slot))
    offer_tools(slot, partial(_take_source, slot))
    if message := st.session_state.get(message_key):
        st.error(escape_markdown(message))
    say_news(slot)
    table: Table | None = getattr(work(), slot)
    if table is not None:
        with st.container(horizontal=True, vertical_alignment="center"):
            name, size = escape_markdown(table.name), escape_markdown(_size(table))
            st.markdown(f":material/check_circle: **{name}** {size}")
            st.button(
                f"Remove the {slot} file",
                key=f"{slot}-remove",
                type="tertiary",
                on_click=_remove,
                args=(slot,),
            )
        if table.source:
            offer_refresh(slot, table, partial(_take_source, slot))
        if table.members:
            key = f"{slot}-member-{table.sha256}-{table.member}"
            st.selectbox(
                "Sheet or file inside",
                (_TOGETHER, *table.members),
                index=table.members.index(table.member) + 1 if table.member in table.members else 0,
                key=key,
                on_change=_take_member,
                args=(slot, table, key),
            )
    elif slot != "annotations":
        _offer_other_members(slot)


def _offer_other_members(slot: Slot) -> None:
    """The raters, or the items, may be on another sheet of the annotations' own file."""
    table = work().annotations
    others = [] if table is None else [member for member in table.members if member != table.member]
    if table is None or not others:
        return
    key = f"{slot}-member-{table.sha256}"
    st.selectbox(
        f"{_ELSEWHERE[slot]} on another sheet or file of {escape_markdown(table.name)}",
        others,
        index=None,
        placeholder=f"Choose where the {slot} are",
        key=key,
        on_change=_take_member,
        args=(slot, table, key),
    )


def take(slot: Slot, content: bytes, name: str, round_key: str) -> str | None:
    """Read and keep an uploaded file; a sentence where that cannot be."""
    try:
        user = require_run()
        table = read_watched(content, name, None, lambda: _next_round(round_key))
        sha256 = here().files.put(content, owner=user.id)
        server.shared().audit.record(user.id, "upload", "file", sha256, {"bytes": len(content)})
        _use_some_member(slot, table, lambda member: read_table(content, name, member=member))
    except GraspError as error:
        return _refusal(slot, error)
    return None


def _take_from(slot: Slot, location: str) -> bool:
    """Use a file that the server reads itself; whether it could be."""
    st.session_state[f"{slot}-message"] = None
    try:
        user = require_run()
        inputs, reach = server.shared().service.inputs, user.reach(current_project(user))
        table = inputs.refer(location, owner=user.id, reach=reach)
        _use_some_member(
            slot, table, lambda member: inputs.table(table.name, table.sha256, member, reach=reach)
        )
    except GraspError as error:
        st.session_state[f"{slot}-message"] = _refusal(slot, error)
        return False
    return True


def _take_source(slot: Slot, source: Source, token: str, keep: bool) -> bool:
    """Use what is fetched from a tool; whether it could be."""
    st.session_state[f"{slot}-message"] = None
    before: Table | None = getattr(work(), slot)
    try:
        user = require_run()
        snapshot = fetch_watched(source, token, owner=user.id, key=slot)
        if keep:
            server.shared().sources.keep(source, token, owner=user.id)
        table = table_of(snapshot)
        sha256 = here().files.put(snapshot.content, owner=user.id, source=str(source))
        details = {"bytes": len(snapshot.content), "source": source.kind}
        server.shared().audit.record(user.id, "upload", "file", sha256, details)
        if before is None or before.sha256 != sha256:
            _use_some_member(slot, table, lambda member: table_of(snapshot, member))
        tell_news(slot, before, table)
    except GraspError as error:
        st.session_state[f"{slot}-message"] = _refusal(slot, error)
        return False
    return True


def _use_some_member(slot: Slot, table: Table, read: Callable[[str], Table]) -> None:
    """Use the first sheet that can hold what is wanted: others may hold notes."""
    try:
        _use(slot, table)
    except DataError:
        for member in table.members[:_TRIED]:
            with suppress(DataError):
                _use(slot, read(member))
                return
        raise


def _next_round(round_key: str) -> None:
    st.session_state[round_key] += 1


def _take_member(slot: Slot, table: Table, key: str) -> None:
    """Read the sheet of the file that was chosen under `key`, or all of them."""
    member = None if st.session_state[key] == _TOGETHER else st.session_state[key]
    st.session_state[f"{slot}-message"] = None
    try:
        user = require_run()
        inputs, reach = server.shared().service.inputs, user.reach(current_project(user))
        _use(slot, inputs.table(table.name, table.sha256, member, reach=reach))
    except GraspError as error:
        st.session_state[f"{slot}-message"] = _refusal(slot, error)


def _refusal(slot: Slot, error: GraspError) -> str:
    kept: Table | None = getattr(work(), slot)
    sentence = f"{str(error).rstrip('.')}."
    return f"{sentence} {kept.name} is still in use." if kept else sentence


def _remove(slot: Slot) -> None:
    st.session_state[f"{slot}-message"] = None
    _use(slot, None)


def _use(slot: Slot, table: Table | None) -> None:
    session = work()
    files: dict[str, Table | None] = {one: getattr(session, one) for one in get_args(Slot)} | {slot: table}
    annotations, raters, items = files.values()
    guess = None
    if annotations is not None:
        guess = guessed(annotations, raters, items)
        guess = recalled_guess(annotations, raters, items, guess)
    session.use_files(annotations, raters, guess, items)


def _size(table: Table) -> str:
    size = f"{table.bytes / 1e6:,.1f} MB" if table.bytes >= 1e5 else f"{table.bytes / 1e3:,.1f} kB"
    return f"({table.kind}, {size}, {len(table):,} rows, {len(table.columns):,} columns)"
