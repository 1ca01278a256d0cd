"""One fetching, as the module of a connector gets it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import unquote, urlsplit

from grasp_core.reading.connectors.source import HUB, Source


@dataclass(frozen=True, slots=True)
class Job:
    """What is to be fetched.

    `token`: empty where none was given.
    `folder`: where the file is written.
    `seconds`: the longest that it may take in all.
    `told`: takes words on how far it is.
    `file`: where the database is, of one in a file.
    `hub`: where Hugging Face's data sets are.
    """

    source: Source
    token: str
    folder: Path
    seconds: float
    told: Callable[[str], None]
    file: str = ""
    hub: str = HUB

    @property
    def host(self) -> str:
        """The host that is asked, for sentences."""
        return urlsplit(self.source.site(self.hub)).netloc.rpartition("@")[2]

    @property
    def pieces(self) -> list[str]:
        """The folders of a web address."""
        return [unquote(piece) for piece in urlsplit(self.source.address).path.split("/") if piece]

    def start(self, pieces: int) -> str:
        """A web address as far as the server, without so many of its last folders."""
        return self.source.address.rsplit("/", pieces)[0]
