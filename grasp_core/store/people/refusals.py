"""Refusals in the audit log, so many at most: whoever is refused over and over fills no log."""

from __future__ import annotations

import re
import threading
import time
from collections import deque

from grasp_core.store.people.audit import AuditStore

AGAIN_SECONDS = 60.0
"""The same person refused at the same kind of thing again is not recorded before."""
MOST_AN_HOUR = 120
"""Of all refusals, at each server; those left out are counted in the next entry."""
_HOUR = 3600.0
_LONGEST = 80
_UNUSUAL = re.compile(r"[^A-Za-z0-9_./-]")


class Refusals:
    """What people were refused.

    Parameters
    ----------
    audit : AuditStore
    """

    def __init__(self, audit: AuditStore) -> None:
        self._audit = audit
        self._recorded: deque[tuple[float, tuple[str, str]]] = deque()
        self._left_out = 0
        self._lock = threading.Lock()

    def record(self, actor: str, kind: str, place: str, **details: str | int) -> None:
        """Record a refusal, unless there were too many.

        Parameters
        ----------
        actor : str
            The person's id; "" for strangers, who count as one.
        kind : {"page", "api"}
        place : str
            The page, or the path that was asked for.
        **details : str or int
        """
        with self._lock:
            now = time.monotonic()
            while self._recorded and self._recorded[0][0] < now - _HOUR:
                self._recorded.popleft()
            lately = {who for at, who in self._recorded if at > now - AGAIN_SECONDS}
            if (actor, kind) in lately or len(self._recorded) >= MOST_AN_HOUR:
                self._left_out += 1
                return
            self._recorded.append((now, (actor, kind)))
            more, self._left_out = self._left_out, 0
        told = {**details, "more": more} if more else details
        self._audit.record(actor, "refusal", kind, _UNUSUAL.sub("?", place)[:_LONGEST], told)
