"""Sources as a server's people use them: fetched from admitted hosts, with a token given or kept."""

from __future__ import annotations

import os
from collections.abc import Callable

from grasp_core.model.errors import DataError
from grasp_core.model.settings import Settings
from grasp_core.reading.connectors.fetching import Box, Snapshot, available, fetch
from grasp_core.reading.connectors.source import HUB, KINDS, Hosts, Kind, Source, hosts_of
from grasp_core.reading.sources.folder import Folder
from grasp_core.store.people.credentials import KeptToken, SourceTokenStore


class Sources:
    """What people may fetch; raises SettingsError if the settings list no hosts."""

    def __init__(self, tokens: SourceTokenStore, settings: Settings, folder: Folder | None) -> None:
        self._tokens, self._folder = tokens, folder
        self._box = Box(settings.secret_key)
        self.hosts: Hosts = hosts_of(settings.source_hosts, own_machine=settings.own_machine)

    @property
    def kinds(self) -> tuple[Kind, ...]:
        """Kinds of sources that can be fetched here."""
        if self.hosts.any or self.hosts.named:
            return tuple(kind for kind in KINDS if available(kind))
        return ("sql",) if self._folder is not None else ()

    @property
    def keeps(self) -> bool:
        """Whether tokens are kept for those who ask."""
        return bool(self._box)

    def fetch(
        self, source: Source, *, owner: str, token: str = "", told: Callable[[str], None] = lambda _: None
    ) -> Snapshot:
        """Fetch a source, by default with the person's kept token; raises DataError if it cannot be done."""
        return fetch(
            source, token or self.token(source, owner=owner), hosts=self.hosts, folder=self._folder, told=told
        )

    def keep(self, source: Source, token: str, *, owner: str) -> None:
        """Keep a token for all that is at the source's server."""
        site = _site(source)
        self._tokens.keep(self._box.seal(token.strip(), owner, site), owner=owner, site=site)

    def kept(self, source: Source, *, owner: str) -> KeptToken | None:
        """A person's kept token for a source."""
        return self._tokens.get(owner=owner, site=_site(source))

    def forget(self, site: str, *, owner: str) -> bool:
        """Keep a person's token no longer; whether there was one."""
        return self._tokens.forget(owner=owner, site=site)

    def check_unattended(self, source: Source, *, owner: str) -> None:
        """Refuse, by a DataError, a source that takes a token where none is kept while its person is away."""
        if not source.tool.needs_token or self.token(source, owner=owner):
            return
        how = (
            "fetch it on Data once more, and have the token kept"
            if self.keeps
            else "this server keeps none (GRASP_SECRET_KEY)"
        )
        raise DataError(f"{source.shown} takes a token while you are away: {how}")

    def token(self, source: Source, *, owner: str) -> str:
        """A person's kept token for a source, on their own machine also that of the tool's variable, or "".

        Raises DataError if it cannot be opened.
        """
        found = self.kept(source, owner=owner) if self._box else None
        if found is not None:
            return self._box.open(found.sealed, owner, found.site)
        return os.environ.get(source.tool.variable, "") if self.hosts.any else ""


def _site(source: Source) -> str:
    return source.site(os.environ.get("HF_ENDPOINT", HUB).rstrip("/"))
