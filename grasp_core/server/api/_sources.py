"""The files of a request, read: uploads, files in the server's folder or at an address, and tools' data."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from http import HTTPStatus
from typing import Any

from grasp_core.model.access import User
from grasp_core.model.spec import RunSpec
from grasp_core.reading.connectors.source import parse
from grasp_core.reading.dataset.load import Dataset
from grasp_core.reading.table.table import Table
from grasp_core.server.api._admission import Caller
from grasp_core.server.api.forms import Fetch, File, Files, Place
from grasp_core.server.problem import ProblemError

LARGE = 16 * 2**20
"""Bytes that are read within a request at most, which takes about 2 s."""
_PARTS = {"annotations": "part", "raters": "raters_part", "items": "items_part"}
Told = Callable[[str], None]


@dataclass(frozen=True, slots=True)
class Bringing:
    """The files of a request and who brings them, to a project."""

    asking: Caller
    user: User
    project: str
    files: Files

    @property
    def named(self) -> dict[str, File | Place | Fetch]:
        """The files that there are, by kind."""
        given = {
            "annotations": self.files.annotations,
            "raters": self.files.raters,
            "items": self.files.items,
        }
        return {kind: file for kind, file in given.items() if file is not None}

    @property
    def takes_long(self) -> bool:
        """Whether they are fetched first, or are large."""
        given = list(self.named.values())
        if not all(isinstance(one, File) for one in given):
            return True
        sizes = self._sizes()
        return sum(sizes.get(one.sha256, 0) for one in given if isinstance(one, File)) > LARGE

    def check_there(self, wrong: tuple[str, ...] = ()) -> None:
        """Refuse files that are not there.

        `wrong`: what else is wrong with the request, told beside it.

        Raises ProblemError.
        """
        sizes = self._sizes()
        found = [
            {
                "code": "not-found",
                "text": f"{file.name} is not on this server; upload it first.",
                "place": kind,
            }
            for kind, file in [*self.named.items(), *(("models", one) for one in self.files.models)]
            if isinstance(file, File) and file.sha256 not in sizes
        ]
        if found:
            beside = [{"code": "spec", "text": text, "place": "spec"} for text in wrong]
            raise ProblemError(HTTPStatus.NOT_FOUND, found[0]["text"], more={"problems": found + beside})

    def tables(self, data: Mapping[str, Any], told: Told) -> dict[str, Table]:
        """The files, read; `data` is the data spec as it was sent, `told` takes words on how far it is.

        Raises DataError if one of them cannot be fetched or read.
        """
        found = {}
        for kind, file in self.named.items():
            member = data.get(_PARTS[kind])
            found[kind] = self._table(kind, file, member if isinstance(member, str) else None, told)
        return found

    def formed(self, spec: RunSpec, tables: Mapping[str, Table], told: Told) -> Dataset:
        """The data set of the tables under a spec, with the labels of the models that were sent.

        Raises DataError if they do not go together.
        """
        told("Forming the data")
        models = [(one.name, one.sha256) for one in self.files.models]
        reach = self.user.reach(self.project)
        return self.asking.server.service.inputs.formed(spec, tables, models, reach=reach)

    def _table(self, kind: str, file: File | Place | Fetch, member: str | None, told: Told) -> Table:
        server, reach = self.asking.server, self.user.reach(self.project)
        inputs = server.service.inputs
        if isinstance(file, Place):
            told(f"Reading {kind} where they are")
            return inputs.refer(file.location, member, owner=self.user.id, reach=reach)
        if isinstance(file, Fetch):
            source = parse(file.source)
            told(f"Fetching {kind}")
            snapshot = server.sources.fetch(
                source,
                owner=self.user.id,
                token=file.token or "",
                told=lambda words: told(f"Fetching {kind}: {words}"),
            )
            files = server.seen(reach).files
            sha256 = files.put(snapshot.content, owner=self.user.id, source=str(source))
            details = {"bytes": len(snapshot.content), "source": source.kind}
            server.audit.record(self.user.id, "upload", "file", sha256, details)
            file = File(sha256=sha256, name=snapshot.name)
        told(f"Reading {kind}")
        return inputs.table(file.name, file.sha256, member, reach=reach)

    def _sizes(self) -> dict[str, int]:
        named = [*self.named.values(), *self.files.models]
        wanted = {one.sha256 for one in named if isinstance(one, File)}
        return self.asking.server.seen(self.user.reach(self.project)).files.sizes(wanted)
