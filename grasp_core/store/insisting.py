"""Work on the database that is repeated until the database is back."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from typing import TypeVar

from grasp_core.model.errors import StoreError
from grasp_core.store.claims import LostRunError

INSIST_SECONDS = 600.0
"""How long a finished run waits for a database that is away."""

T = TypeVar("T")


def insist(work: Callable[[], T], *, until: threading.Event) -> T:
    """Repeat what the database refuses until it is back, for `INSIST_SECONDS` at most.

    Raises StoreError if it is not back by then, or `until` is set; at once if the run is no longer ours.
    """
    started = time.monotonic()
    while True:
        try:
            return work()
        except LostRunError:
            raise
        except StoreError:
            if time.monotonic() - started > INSIST_SECONDS or until.wait(1.0):
                raise
