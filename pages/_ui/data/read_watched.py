"""Reading a file while the page shows how far it is; a click on Cancel ends it."""

from __future__ import annotations

import contextvars
import threading
import time
from collections.abc import Callable

import streamlit as st

from grasp_core.errors import FAULT, DataError
from grasp_core.io.parsing.read import read_table
from grasp_core.io.table.table import Table
from grasp_core.report.words.text import escape_markdown

AT_ONCE = 16 * 2**20
"""Files up to this size are read without more ado."""
_POLL_S = 0.1


class _CancelledError(Exception):
    """The visitor wants no more of it."""


class Reader(threading.Thread):
    """Reads in a thread of its own, so that the page can draw meanwhile."""

    def __init__(self, content: bytes, name: str, member: str | None) -> None:
        super().__init__(name="grasp-read", daemon=True)
        self._there = contextvars.copy_context()  # who asks
        self._content, self._name, self._member = content, name, member
        self.share = 0.0
        self.cancelled = False
        self.table: Table | None = None
        self.error: Exception | None = None

    def run(self) -> None:
        try:
            self.table = self._there.run(
                read_table, self._content, self._name, member=self._member, watch=self._watch
            )
        except Exception as error:  # handed to the page's thread
            self.error = error

    def _watch(self, done: int, total: int) -> None:
        self.share = max(self.share, done / max(total, 1))
        if self.cancelled:
            raise _CancelledError


def read_watched(content: bytes, name: str, member: str | None, cancel: Callable[[], None]) -> Table:
    """Read a file; a large one with progress and a button to stop.

    Parameters
    ----------
    content : bytes
    name : str
    member : str or None
    cancel : callable
        What a click on Cancel does before the page is drawn anew.

    Raises
    ------
    DataError
    """
    if len(content) <= AT_ONCE:
        return read_table(content, name, member=member)
    reader = Reader(content, name, member)
    text = escape_markdown(f"Reading {name}")
    with st.container(horizontal=True, vertical_alignment="center"):
        bar = st.progress(0.0, text)
        st.button("Cancel reading", on_click=cancel, key=f"cancel-{name}")
    reader.start()
    try:
        while reader.is_alive():
            time.sleep(_POLL_S)
            bar.progress(min(reader.share, 1.0), text)  # where a click ends this script
    finally:
        reader.cancelled = True
    bar.empty()
    if reader.table is not None:
        return reader.table
    if isinstance(reader.error, DataError):
        raise reader.error
    raise DataError(FAULT) from reader.error
