"""The data of runs: from memory where a question was taken in, else from stored files or where these stay."""

from __future__ import annotations

import threading
import time
from collections import OrderedDict
from dataclasses import replace
from functools import partial

from grasp_core.errors import DataError
from grasp_core.io.dataset.load import Dataset, load
from grasp_core.io.parsing.read import read_table
from grasp_core.io.sources.allowed import AllowedSources
from grasp_core.io.table.table import Table
from grasp_core.models.labels import read_models
from grasp_core.store.files import FileStore
from grasp_core.store.insisting import insist
from grasp_core.store.runs import RunRecord, RunStore

_HELD = 8


class Inputs:
    """What runs read.

    Parameters
    ----------
    runs : RunStore
    files : FileStore
    allowed : AllowedSources
        Where files may be that are not uploaded.
    closing : threading.Event
        Once it is set, a database that is away is not waited for.
    """

    def __init__(
        self, runs: RunStore, files: FileStore, allowed: AllowedSources, closing: threading.Event
    ) -> None:
        self.allowed = allowed
        self._runs, self._files, self._closing = runs, files, closing
        self._held: OrderedDict[str, tuple[Dataset, float]] = OrderedDict()

    def hold(self, key: str, dataset: Dataset, load_s: float) -> None:
        """Hold a question's data, which took so long to read, until its run is computed."""
        self._held[key] = (dataset, load_s)
        if len(self._held) > _HELD:
            self._held.popitem(last=False)

    def drop(self, key: str) -> None:
        """Hold a question's data no longer."""
        self._held.pop(key, None)

    def refer(self, location: str, *, owner: str) -> Table:
        """Read a file that stays where it is, and note its place for the runs that will need it.

        Parameters
        ----------
        location : str
            See :meth:`grasp_core.io.sources.allowed.AllowedSources.fetch`.
        owner : str

        Raises
        ------
        DataError
            If it may not or cannot be read.
        """
        fetched = self.allowed.fetch(location)
        table = fetched.table()
        self._files.refer(table.sha256, table.bytes, fetched.location, owner=owner)
        return table

    def table(self, name: str, sha256: str, member: str | None = None) -> Table:
        """A run's file, from the file store or from where it stays.

        Parameters
        ----------
        name : str
            The file's name, for messages.
        sha256 : str
        member : str, optional
            Sheet or member that the run reads.

        Raises
        ------
        DataError
            If it is not there any more, or has changed.
        """
        content = insist(partial(self._files.get, sha256), until=self._closing)
        if content is not None:
            return read_table(content, name, member=member)
        location = insist(partial(self._files.location, sha256), until=self._closing)
        if location is None:
            raise DataError(f"{name} is no longer on this server; bring it again on Data, then run.")
        fetched = self.allowed.fetch(location)
        if fetched.sha256 != sha256:
            raise DataError(
                f"{name} has changed where it is kept since it was first read; bring it again on Data, "
                "then run."
            )
        return fetched.table(name, member)

    def dataset(self, key: str, record: RunRecord) -> tuple[Dataset, float]:
        """A run's data, by its key, and the seconds that reading them took."""
        here = self._held.get(key)
        if here is not None:
            return here
        started = time.perf_counter()
        spec, files = record.spec, insist(lambda: self._runs.files_of(record.id), until=self._closing)
        members = (spec.data.member, spec.data.raters_member)[: len(record.summary.files)]
        tables = [
            self.table(name, sha256, member) for (name, sha256), member in zip(files, members, strict=False)
        ]
        annotations, raters = tables[0], tables[1] if len(tables) > 1 else None
        dataset = load(annotations, raters, spec.data, spec.analysis.columns)
        of_models = {sha256: self.table(name, sha256) for name, sha256 in files[len(members) :]}
        models = read_models(spec.models, of_models, annotations, dataset, spec.data)
        return replace(dataset, models=models), time.perf_counter() - started
