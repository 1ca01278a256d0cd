"""Files of runs: found again by their hashes, read in time, held while they are needed."""

import itertools
import threading
from collections import OrderedDict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial

from grasp_core.analysis.models.labels import read_models
from grasp_core.model.access import Reach, only
from grasp_core.model.data_spec import DataSpec
from grasp_core.model.errors import DataError
from grasp_core.model.spec import RunSpec
from grasp_core.reading.connectors.source import is_source
from grasp_core.reading.dataset.load import Dataset
from grasp_core.reading.guess.tables import loaded
from grasp_core.reading.sandbox.read import read_table
from grasp_core.reading.sources.allowed import AllowedSources, Fetched
from grasp_core.reading.table.table import Table
from grasp_core.store.claims import insist
from grasp_core.store.files import FileStore
from grasp_core.store.runs import RunRecord, RunStore

_MOST = 8


@dataclass(frozen=True, slots=True, eq=False)
class HeldData:
    """A data set that is held under a number of its own, and the seconds that reading it took."""

    number: int
    dataset: Dataset
    load_s: float


class Holding:
    """The data sets of the latest questions, by the key of their runs; for any number of threads."""

    def __init__(self) -> None:
        self._held: OrderedDict[str, HeldData] = OrderedDict()
        self._lock = threading.Lock()
        self._numbers = itertools.count(1)

    def hold(self, key: str, dataset: Dataset, load_s: float) -> int:
        """Hold a question's data, which took so long to read; returns the number that they are held under."""
        with self._lock:
            held = HeldData(next(self._numbers), dataset, load_s)
            self._held[key] = held
            if len(self._held) > _MOST:
                self._held.popitem(last=False)
        return held.number

    def find(self, key: str) -> HeldData | None:
        """What is held of a question now."""
        return self._held.get(key)

    def drop(self, key: str, number: int) -> None:
        """Hold this no longer; what is held since then, for the same question asked again, stays."""
        with self._lock:
            held = self._held.get(key)
            if held is not None and held.number == number:
                del self._held[key]


File = tuple[str, str]
"""Name and sha256."""


class Inputs:
    """What runs read; once `closing` is set, a database that is away is not waited for."""

    def __init__(
        self, runs: RunStore, files: FileStore, allowed: AllowedSources, closing: threading.Event
    ) -> None:
        self.allowed = allowed
        self._runs, self._files, self._closing = runs, files, closing

    def refer(self, location: str, member: str | None = None, *, owner: str, reach: Reach) -> Table:
        """Read a file, or a member, that stays where it is, and note its place in the project of `reach`."""
        fetched = self.allowed.fetch(location)
        table = fetched.table(member=member)
        self._files.within(reach).refer(table.sha256, table.bytes, fetched.location, owner=owner)
        return table

    def fresh(self, spec: RunSpec, fetched: Mapping[str, Fetched], *, owner: str, reach: Reach) -> Dataset:
        """A data set of files just fetched, by kind, whose places are noted in the project of `reach`."""
        members = _members(spec.data)
        files, tables = self._files.within(reach), {}
        for kind, file in fetched.items():
            source = _tool(files, file.sha256)
            table = tables[kind] = replace(file.table(file.name, members[kind]), source=source)
            files.refer(table.sha256, table.bytes, file.location, owner=owner)
        return _dataset(spec, tables, {})

    def places(self, record: RunRecord) -> dict[str, str | None]:
        """Where each file of a saved run is, or was fetched from; None of uploaded and forgotten ones."""
        files = self._files.within(only(record.project))
        named, models = _by_kind(record, self._runs.files_of(record.id))
        found = {kind: files.location(of) or files.source(of) or None for kind, (_, of) in named.items()}
        return found | {name: None for name, _ in models}

    def are_at_hand(self, record: RunRecord) -> bool:
        """Whether a saved run's files are stored, or known to be elsewhere, and are read at once."""
        needed = {sha256 for _, sha256 in self._runs.files_of(record.id)}
        found = self._files.within(only(record.project)).locations(needed)
        return bool(needed) and found.keys() == needed

    def table(self, name: str, sha256: str, member: str | None = None, *, reach: Reach) -> Table:
        """A file of the project of `reach`, or a member, from the file store or from where it stays."""
        files = self._files.within(reach)
        content = insist(partial(files.get, sha256), until=self._closing)
        if content is not None:
            source = insist(partial(_tool, files, sha256), until=self._closing)
            return replace(read_table(content, name, member=member), source=source)
        location = insist(partial(files.location, sha256), until=self._closing)
        if location is None:
            raise DataError(f"{name} is no longer on this server; bring it again on Data, then run.")
        fetched = self.allowed.fetch(location)
        if fetched.sha256 != sha256:
            changed = f"{name} has changed where it is kept since it was first read"
            raise DataError(f"{changed}; bring it again on Data, then run.")
        return fetched.table(name, member)

    def dataset(self, record: RunRecord) -> Dataset:
        """A run's data."""
        return _dataset(record.spec, *self.opened(record))

    def opened(self, record: RunRecord) -> tuple[dict[str, Table], dict[str, Table]]:
        """The files of a run's data by kind, and those of its models by hash, read."""
        named, models = _by_kind(record, insist(lambda: self._runs.files_of(record.id), until=self._closing))
        reach = only(record.project)
        tables = self.tables(record.spec.data, named, reach=reach)
        return tables, {sha256: self.table(name, sha256, reach=reach) for name, sha256 in models}

    def tables(self, spec: DataSpec, files: Mapping[str, File], *, reach: Reach) -> dict[str, Table]:
        """The files that a reading takes, by kind, read; see :meth:`table`."""
        members = _members(spec)
        return {kind: self.table(*file, members[kind], reach=reach) for kind, file in files.items()}

    def formed(
        self, spec: RunSpec, found: Mapping[str, Table], models: Sequence[File], *, reach: Reach
    ) -> Dataset:
        """A data set of what :meth:`tables` read, with the spec's models, whose files are named."""
        of_models = {sha256: self.table(name, sha256, reach=reach) for name, sha256 in models}
        return _dataset(spec, found, of_models)


def _tool(files: FileStore, sha256: str) -> str:
    """What a connector fetched a stored file from; empty of others, as of those that are read in place."""
    source = files.source(sha256)
    return source if is_source(source) else ""


def kinds_of(record: RunRecord) -> tuple[str, ...]:
    """What the files of a saved run's data are, in their order."""
    count, has_items = len(record.summary.files), record.spec.data.items_id is not None
    beside = ("annotations", "raters")[: count - has_items]
    return (*beside, *(["items"] if has_items else []))


def _by_kind(record: RunRecord, files: tuple[File, ...]) -> tuple[dict[str, File], tuple[File, ...]]:
    """Files of a saved run's data, and those of its models."""
    kinds = kinds_of(record)
    return dict(zip(kinds, files, strict=False)), files[len(kinds) :]


def _dataset(spec: RunSpec, tables: Mapping[str, Table], of_models: Mapping[str, Table]) -> Dataset:
    """A data set that is read at once, with the spec's models."""
    analysis, annotations = spec.analysis, tables["annotations"]
    dataset = loaded(
        annotations,
        tables.get("raters"),
        spec.data,
        analysis.columns,
        items=tables.get("items"),
        slices=analysis.slices,
    )
    return replace(dataset, models=read_models(spec.models, of_models, annotations, dataset, spec.data))


def _members(spec: DataSpec) -> dict[str, str | None]:
    """What is read of each kind of file that holds several tables."""
    return {"annotations": spec.member, "raters": spec.raters_member, "items": spec.items_member}
