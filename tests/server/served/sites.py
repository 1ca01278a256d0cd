"""What is known of the servers at which people sign in."""

import json
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx

from tests.provider import sign_in
from tests.server.conftest import SIGN_IN
from tests.serving import Served

TITLE, SECRET_TITLE = "A run for all who belong here", "Nobody elses business"
PROJECT = "A project of few"
"""That of the second run."""
BUILT = "built.json"
PEOPLE = {
    who: {"email": f"{who}@{'evil' if who == 'eve' else 'lab'}.example", "name": who, "email_verified": True}
    for who in ("ann", "vera", "bob", "dora", "eve", "sue")
}
"""Ann has the project, Vera is a viewer, Dora is disabled, Eve not admitted; Sue comes and goes."""


@dataclass(frozen=True)
class Site:
    """Two servers, and who is known to them.

    `clients` are those of a stranger and of people who have signed in; some were disabled or signed out.
    """

    first: Served
    second: Served
    home: Path
    clients: Mapping[str, httpx.Client]
    run_id: str
    secret_run_id: str

    @property
    def servers(self) -> tuple[str, str]:
        return self.first.url, self.second.url

    def built(self) -> dict[str, Any]:
        """The first server's routes, each a path and its methods, and the key of its sessions."""
        found: dict[str, Any] = json.loads((self.first.log.parent / BUILT).read_text(encoding="utf-8"))
        return found

    @contextmanager
    def visitor(self) -> Iterator[httpx.Client]:
        """Sue, who has just signed in at the first server."""
        with httpx.Client(base_url=self.first.url, timeout=60, verify=False) as web:
            sign_in(web, "sue", SIGN_IN["cookie_secret"])
            yield web
