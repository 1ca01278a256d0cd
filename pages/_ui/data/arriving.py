"""Files that arrive: uploads, the server's own folder and addresses, saved results."""

from __future__ import annotations

import json
from collections.abc import Callable
from datetime import datetime

import streamlit as st

from grasp_core.analysis.results import read_result
from grasp_core.model.errors import DataError
from grasp_core.model.text import escape_markdown
from grasp_core.reading.archives.members import MIB, check_size
from grasp_core.reading.sandbox.read import read_table
from grasp_core.reading.sources.allowed import FOLDER, AllowedSources
from grasp_core.reading.sources.folder import MAX_LISTED, Entry, Listing
from grasp_core.reading.table.table import Table
from grasp_core.report.contents import run_title
from grasp_core.server import server
from grasp_core.store.runs import RunRecord
from pages._ui.helpers.background import waited_for
from pages._ui.helpers.identity import here, may_run, require_run
from pages._ui.helpers.state import work, zone
from pages._ui.helpers.widgets import confirm


def offer_deletion(on_ask: Callable[[], None] | None = None) -> None:
    """A sentence, and the button that opens the dialog while there are files; `on_ask` is called before."""
    hours = server.shared().settings.keep_files_hours
    span = f"{hours:g} hour{'' if hours == 1 else 's'}"
    st.caption(
        f"Uploaded files are deleted {span} after they were last used, or when the last run that needs them "
        "has ended if that is later. Results hold no annotation and stay."
    )
    label = "Delete the uploaded files now"
    if _uploaded() and st.button(label, icon=":material/delete:", on_click=on_ask):
        _dialog()


def _uploaded() -> list[str]:
    session = work()
    files = (session.annotations, session.raters, session.items)
    return [table.sha256 for table in files if table is not None]


@st.dialog("Delete the uploaded files now?", width="medium")
def _dialog() -> None:
    files = _uploaded()
    going = here().runs.waiting_for(files)
    st.write(
        "They leave this visit at once, and this server unless a colleague brought the same file first; "
        "finished results stay."
    )
    if going:
        runs = "One run that is" if going == 1 else f"{going} runs that are"
        st.warning(
            f"{runs} still going may need these files: a run that waits, or has to begin again after a "
            "restart of the server, then fails and says so.",
            icon=":material/warning:",
        )
    confirm(_delete, files, yes="Delete them", no="Keep them")


def _delete(files: list[str]) -> None:
    user = require_run()
    for sha256 in files:
        here().files.delete(sha256, owner=user.id)
        server.shared().audit.record(user.id, "delete", "file", sha256)
    work().use_files(None, None)


_ROUND = "server-round"

Take = Callable[[str], bool]
"""Reads what is at a location, and keeps the sentence where that fails; returns whether it was taken."""


def offer_server_files(take: Take) -> None:
    """A picker and a field for an address, where the server has such sources and the visitor may run."""
    allowed = server.shared().service.inputs.allowed
    if not allowed or not may_run():
        return
    key = f"server-{st.session_state.setdefault(_ROUND, 0)}"
    with st.expander("From this server", icon=":material/folder_open:", key=key):
        chosen = [_picked(key, allowed), _named(key, allowed)]
    location = next(filter(None, chosen), None)
    if location is not None:
        with st.spinner("Reading…"):
            if take(location):
                st.session_state[_ROUND] += 1  # a fresh picker, closed: the file's name stands below it
        st.rerun()


def _picked(key: str, allowed: AllowedSources) -> str | None:
    if allowed.folder is None:
        return None
    search = st.text_input("Search by name", key=f"{key}-search", placeholder="Part of a path")
    listing = _listing(allowed, server.shared().settings.data_dir, search)
    entries = {entry.path: entry for entry in listing.entries}
    if not entries:
        st.caption(f"Nothing is called so in the server's folder{'' if search.strip() else ': it is empty'}.")
        return None
    path = st.selectbox(
        "File on the server",
        list(entries),
        index=None,
        placeholder=f"{len(entries):,} to choose from",
        format_func=lambda path: _shown(entries[path]),
        key=f"{key}-file",
    )
    if listing.more:
        st.caption(f"Only the first {MAX_LISTED:,} are shown; search for the others.")
    pressed = st.button("Take this file", key=f"{key}-take", disabled=path is None)
    return FOLDER + path if pressed and path is not None else None


def _named(key: str, allowed: AllowedSources) -> str | None:
    if not allowed.prefixes:
        return None
    known = ", ".join(prefix.url for prefix in allowed.prefixes)
    url = st.text_input("Address of the file", key=f"{key}-url", placeholder="https://…")
    st.caption(escape_markdown(f"The server may read what is below {known}"))
    pressed = st.button("Read this address", key=f"{key}-read", disabled=not url)
    return url.strip() if pressed and url else None


@st.cache_data(ttl=10, max_entries=64, show_spinner=False)
def _listing(_allowed: AllowedSources, folder: str, search: str) -> Listing:
    return _allowed.listing(search)


def _shown(entry: Entry) -> str:
    day = datetime.fromtimestamp(entry.changed, zone())
    size = f"{entry.bytes / 1e6:,.1f} MB" if entry.bytes >= 1e5 else f"{entry.bytes / 1e3:,.1f} kB"
    name = f"{entry.path}/ (Parquet folder, " if entry.parquet_folder else f"{entry.path} ("
    return f"{name}{size}, {day.day} {day:%b %Y})"


AT_ONCE = 16 * 2**20
"""Files up to this size are read without more ado."""


def read_watched(content: bytes, name: str, member: str | None, cancel: Callable[[], None]) -> Table:
    """Read a file; a large one with progress and a button to stop."""
    if len(content) <= AT_ONCE:
        return read_table(content, name, member=member)
    text = escape_markdown(f"Reading {name}")
    with st.container(horizontal=True, vertical_alignment="center"):
        bar = st.progress(0.0, text)
        st.button("Cancel reading", on_click=cancel, key=f"cancel-{name}")
    table: Table = waited_for(
        lambda tell: read_table(content, name, member=member, watch=tell),
        lambda done=0, total=1: bar.progress(min(done / max(total, 1), 1.0), text),
    )
    bar.empty()
    return table


MAX_RESULT_MB = 50
_MAX_VALUES = 4_000_000
_BEGINNING, _MARK = 200, b'"grasp-'


def is_saved_result(content: bytes) -> bool:
    """Whether a file begins as the results that GRASP writes do."""
    return _MARK in content[:_BEGINNING]


def open_result(content: bytes, name: str) -> RunRecord:
    """A saved result as a run of the project."""
    user = require_run()
    try:
        check_size(len(content), MAX_RESULT_MB * MIB, name, "a saved result")
        result = read_result(_json(content))
    except DataError as error:
        raise DataError(f"{name}: {error}") from None
    run = here().runs.add(result, title=run_title(result.spec), owner=user.id)
    work().remember(run)
    return run


def _json(content: bytes) -> object:
    if sum(map(content.count, (b",", b"[", b"{"))) > _MAX_VALUES:  # each takes many bytes once it is read
        raise DataError(
            f"this has more than {_MAX_VALUES:,} values; expected the result file that GRASP wrote"
        )
    try:
        return json.loads(content)
    except (ValueError, RecursionError) as error:  # e.g. a number of thousands of digits
        place = f" (line {error.lineno})" if isinstance(error, json.JSONDecodeError) else ""
        raise DataError(f"this is not JSON{place}; expected the result file that GRASP wrote") from None
