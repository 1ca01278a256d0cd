"""Files that the server can read itself: those of its folder, and addresses that it may ask."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime

import streamlit as st

from grasp_core import server
from grasp_core.io.sources.allowed import FOLDER, AllowedSources
from grasp_core.io.sources.folder import MAX_LISTED, Entry, Listing
from grasp_core.report.words.text import escape_markdown
from pages._ui.session.permissions import may_run
from pages._ui.session.times import zone

_LISTED_FOR_S = 10
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


@st.cache_data(ttl=_LISTED_FOR_S, max_entries=64, show_spinner=False)
def _listing(_allowed: AllowedSources, folder: str, search: str) -> Listing:
    return _allowed.listing(search)


def _shown(entry: Entry) -> str:
    day = datetime.fromtimestamp(entry.changed, zone())
    size = f"{entry.bytes / 1e6:,.1f} MB" if entry.bytes >= 1e5 else f"{entry.bytes / 1e3:,.1f} kB"
    name = f"{entry.path}/ (Parquet folder, " if entry.parquet_folder else f"{entry.path} ("
    return f"{name}{size}, {day.day} {day:%b %Y})"
