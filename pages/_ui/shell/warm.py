"""Work done at start that the first visitor would otherwise wait for."""

from __future__ import annotations

import gc
import importlib
import logging

from grasp_core import server

_YOUNG = 10_000
"""New objects after which Python looks for what nobody holds; a page makes some thousands."""

log = logging.getLogger("grasp.pages")


def warm() -> None:
    """Start the server's work and import what the Results page draws with."""
    try:
        server.shared()
        importlib.import_module("pages._ui.result.groups")
        gc.collect()
        gc.freeze()  # what is there stays: looking through it again stops everybody for a third of a second
        gc.set_threshold(_YOUNG, 20, 50)
    except Exception as error:  # the pages import and start all this themselves
        log.warning("could not get ready in advance: %s", type(error).__name__)
