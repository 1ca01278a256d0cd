"""Files of runs: found by their hashes, read, and their data kept in memory while a run needs them."""

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
class CachedData:
    """A data set in memory, under a number of its own, and the seconds that reading it took."""

    number: int
    dataset: Dataset
    load_s: float


class DataCache:
    """Data sets of the latest requests, by the key of their runs; for any number of threads."""

    def __init__(self) -> None:
        self._held: OrderedDict[str, CachedData] = OrderedDict()
        self._lock = threading.Lock()
        self._numbers = itertools.count(1)

    def hold(self, key: str, dataset: Dataset, load_s: float) -> int:
        """Keep a request's data, which took `load_s` to read; return the number under which they are kept."""
        with self._lock:
            held = CachedData(next(self._numbers), dataset, load_s)
            self._held[key] = held
            if len(self._held) > _MOST:
                self._held.popitem(last=False)
        return held.number

    def find(self, key: str) -> CachedData | None:
        """Return the data that are kept for a request now."""
        return self._held.get(key)

    def drop(self, key: str, number: int) -> None:
        """Drop the data of this number; data kept since then, for the same request made again, stay."""
        with self._lock:
            held = self._held.get(key)
            if held is not None and held.number == number:
                del self._held[key]


File = tuple[str, str]
"""Name and sha256."""


class Inputs:
    """Reads the files of runs; once `closing` is set, it does not wait for a database that is away."""

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
        """Form a data set of files just fetched, by kind; note their places in the project of `reach`."""
        members = _members(spec.data)
        files, tables = self._files.within(reach), {}
        for kind, file in fetched.items():
            source = _tool(files, file.sha256)
            table = tables[kind] = replace(file.table(file.name, members[kind]), source=source)
            files.refer(table.sha256, table.bytes, file.location, owner=owner)
        return _dataset(spec, tables, {})

    def places(self, record: RunRecord) -> dict[str, str | None]:
        """Return the place or source of each file of a saved run; None if it was uploaded or is forgotten."""
        files = self._files.within(only(record.project))
        named, models = _by_kind(record, self._runs.files_of(record.id))
        found = {kind: files.location(of) or files.source(of) or None for kind, (_, of) in named.items()}
        return found | {name: None for name, _ in models}

    def are_at_hand(self, record: RunRecord) -> bool:
        """Return whether all files of a saved run are stored, or their places are known."""
        needed = {sha256 for _, sha256 in self._runs.files_of(record.id)}
        found = self._files.within(only(record.project)).locations(needed)
        return bool(needed) and found.keys() == needed

    def table(self, name: str, sha256: str, member: str | None = None, *, reach: Reach) -> Table:
        """Read a file of the project of `reach`, or a member, from the file store or from its own place."""
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
        """Read a run's data."""
        return _dataset(record.spec, *self.opened(record))

    def opened(self, record: RunRecord) -> tuple[dict[str, Table], dict[str, Table]]:
        """Read the files of a run's data, by kind, and the files of its models, by hash."""
        named, models = _by_kind(record, insist(lambda: self._runs.files_of(record.id), until=self._closing))
        reach = only(record.project)
        tables = self.tables(record.spec.data, named, reach=reach)
        return tables, {sha256: self.table(name, sha256, reach=reach) for name, sha256 in models}

    def tables(self, spec: DataSpec, files: Mapping[str, File], *, reach: Reach) -> dict[str, Table]:
        """Read the files of a reading, by kind; see :meth:`table`."""
        members = _members(spec)
        return {kind: self.table(*file, members[kind], reach=reach) for kind, file in files.items()}

    def formed(
        self, spec: RunSpec, found: Mapping[str, Table], models: Sequence[File], *, reach: Reach
    ) -> Dataset:
        """Form a data set of the tables of :meth:`tables`, with the spec's models, whose files are named."""
        of_models = {sha256: self.table(name, sha256, reach=reach) for name, sha256 in models}
        return _dataset(spec, found, of_models)


def _tool(files: FileStore, sha256: str) -> str:
    """Return the source from which a connector fetched a stored file; empty for all other files."""
    source = files.source(sha256)
    return source if is_source(source) else ""


def kinds_of(record: RunRecord) -> tuple[str, ...]:
    """Return the kinds of a saved run's data files, in their order."""
    count, has_items = len(record.summary.files), record.spec.data.items_id is not None
    beside = ("annotations", "raters")[: count - has_items]
    return (*beside, *(["items"] if has_items else []))


def _by_kind(record: RunRecord, files: tuple[File, ...]) -> tuple[dict[str, File], tuple[File, ...]]:
    """Return the files of a saved run's data, by kind, and the files of its models."""
    kinds = kinds_of(record)
    return dict(zip(kinds, files, strict=False)), files[len(kinds) :]


def _dataset(spec: RunSpec, tables: Mapping[str, Table], of_models: Mapping[str, Table]) -> Dataset:
    """Form a data set of these tables, with the spec's models."""
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
    """Return the member to be read of each kind of file, for files that contain several tables."""
    return {"annotations": spec.member, "raters": spec.raters_member, "items": spec.items_member}
