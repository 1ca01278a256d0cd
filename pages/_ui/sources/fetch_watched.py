"""Fetching from a tool while the page shows how far it is; a click on Cancel ends it."""

from __future__ import annotations

import threading
import time

import streamlit as st

from grasp_core import server
from grasp_core.connectors.fetching import Snapshot
from grasp_core.connectors.source import Source
from grasp_core.errors import FAULT, GraspError
from grasp_core.report.words.text import escape_markdown

_POLL_S = 0.1


class _CancelledError(Exception):
    """The visitor wants no more of it."""


class _Fetcher(threading.Thread):
    """Fetches in a thread of its own, so that the page can draw meanwhile."""

    def __init__(self, source: Source, token: str, owner: str) -> None:
        super().__init__(name="grasp-fetch", daemon=True)
        self._source, self._token, self._owner = source, token, owner
        self.words = ""
        self.cancelled = False
        self.snapshot: Snapshot | None = None
        self.error: Exception | None = None

    def run(self) -> None:
        try:
            self.snapshot = server.shared().sources.fetch(
                self._source, owner=self._owner, token=self._token, told=self._told
            )
        except Exception as error:  # handed to the page's thread
            self.error = error

    def _told(self, words: str) -> None:
        self.words = words
        if self.cancelled:
            raise _CancelledError


def fetch_watched(source: Source, token: str, *, owner: str, key: str) -> Snapshot:
    """Fetch a source for a person, with words on how far it is and a button to stop.

    Parameters
    ----------
    source : Source
    token : str
        Empty for the kept one.
    owner : str
    key : str
        Of the button.

    Raises
    ------
    DataError
    """
    fetcher = _Fetcher(source, token, owner)
    text = escape_markdown(f"Fetching {source.shown}")
    place = st.container(horizontal=True, vertical_alignment="center")
    line = place.empty()
    place.button("Cancel fetching", key=f"cancel-{key}")
    fetcher.start()
    try:
        while fetcher.is_alive():
            words = f": {escape_markdown(fetcher.words)}" if fetcher.words else ""
            line.markdown(f":material/cloud_download: {text}{words}…")  # where a click ends this script
            time.sleep(_POLL_S)
    finally:
        fetcher.cancelled = True
    if fetcher.snapshot is not None:
        return fetcher.snapshot
    if isinstance(fetcher.error, GraspError):
        raise fetcher.error
    raise RuntimeError(FAULT) from fetcher.error
