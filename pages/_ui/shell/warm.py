"""Work done at start that the first visitor would otherwise wait for."""

from __future__ import annotations

import importlib
import logging

from grasp_core import server
from grasp_core.panels import warm as kernels

log = logging.getLogger("grasp.pages")


def warm() -> None:
    """Start the server's work and import what the Results page draws with."""
    try:
        server.shared()
        kernels.warm()
        importlib.import_module("pages._ui.result.groups")
    except Exception as error:  # the pages import and start all this themselves
        log.warning("could not get ready in advance: %s", type(error).__name__)
