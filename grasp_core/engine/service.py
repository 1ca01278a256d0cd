"""Questions taken in, and their answers found: a server's runs as its pages and its API see them."""

from __future__ import annotations

from collections import OrderedDict
from functools import lru_cache

from grasp_core.engine.computing import POLL_SECONDS, Computing, held_as
from grasp_core.engine.inputs import Inputs
from grasp_core.engine.pools.blocks import Progress
from grasp_core.engine.pools.pool import Pool
from grasp_core.engine.process import Apart
from grasp_core.engine.run import run_key
from grasp_core.model.access import Reach
from grasp_core.model.errors import DataError, GraspError, MissingResultError
from grasp_core.model.result import Result
from grasp_core.model.spec import RunSpec
from grasp_core.reading.dataset.load import Dataset
from grasp_core.reading.sources.allowed import AllowedSources
from grasp_core.store.files import FileStore
from grasp_core.store.runs import Request, RunRecord, RunStore
from grasp_core.version import __version__

BROUGHT = "This result was brought from elsewhere, without its data; bring them on Data and run."
_RESULTS = 64
_SEEN = 64


class Service:
    """Takes in questions, has them computed in the background and finds their answers.

    `pool`: for further questions about runs.
    `allowed`: where files may be that are not uploaded; by default there are none.
    `computing`: what computes; by default this process does, with the same pool.

    `inputs`: where the data of runs come from.
    `closing`: set when the server closes.
    """

    def __init__(
        self,
        runs: RunStore,
        files: FileStore,
        pool: Pool,
        allowed: AllowedSources | None = None,
        computing: Computing | Apart | None = None,
    ) -> None:
        self.runs = runs
        self.files = files
        self.pool = pool
        self._computing = computing or Computing(runs, files, pool, allowed)
        self.closing = self._computing.closing
        self.inputs = Inputs(runs, files, allowed or AllowedSources(), self.closing)
        self.result = lru_cache(maxsize=_RESULTS)(self._result)
        self._seen: OrderedDict[str, tuple[int, Result]] = OrderedDict()

    @property
    def computes(self) -> bool:
        """Whether runs are computed, not only taken in."""
        return self._computing.ready

    def start(self) -> None:
        """Have runs looked for and computed."""
        self._computing.start()

    def submit(
        self,
        dataset: Dataset,
        spec: RunSpec,
        *,
        title: str,
        reach: Reach,
        owner: str = "",
        load_s: float = 0.0,
    ) -> tuple[RunRecord, bool]:
        """Save a run and compute it in the background.

        `dataset`: with the spec's models. Their files should be in the file store: another server, or this
            one after a restart, reads them there; parts it reads where they are.
        `reach`: of whoever asks; the run belongs to their project.
        `load_s`: seconds that reading took.

        Returns whether the person asked the same data and spec in the project before, of the same version of
        the code. What others asked is not computed again either, but the run is another one.
        """
        key, runs = run_key(dataset.summary, spec, __version__), self.runs.within(reach)
        answering = runs.answering(key, owner)
        if answering is not None:
            return answering, True
        stored = [(file.name, file.sha256) for file in dataset.summary.files]
        stored += [(model.source, model.sha256) for model in dataset.models if model.column is None]
        request = Request(key, title, owner, __version__, spec, dataset.summary, tuple(stored))
        name = held_as(reach.home, key)
        held = self._computing.hold(name, dataset, load_s)  # before the run can be claimed
        try:
            record, known = runs.create(request)
        except GraspError:
            self._computing.drop(name, held)
            raise
        if record.computed_as != record.id or record.ended:  # somebody else's, with the same data
            self._computing.drop(name, held)
        else:
            self._computing.expect(record.id)
        return record, known

    def progress(self, record: RunRecord) -> Progress:
        """How far a run is; the time left is known only to the server that computes it."""
        known = self._computing.progress(record.computed_as)
        return known or Progress(record.done, record.total, None)

    def provisional(self, run_id: str) -> Result | None:
        """What is found so far of a run that goes on; None where nothing is known yet.

        Of a run computed here, the same object until more is found. A run of somebody else's that is computed
        for this one is meant by its own id, :attr:`~grasp_core.store.runs.RunRecord.computed_as`.
        """
        version, seen = self._seen.get(run_id, (0, None))
        found = self._computing.found(run_id, version)
        if found is None:
            return self.runs.provisional(run_id)
        if found.result is None:
            return seen
        self._seen[run_id] = found.version, found.result
        if len(self._seen) > _SEEN:
            self._seen.popitem(last=False)
        return found.result

    def news_every(self, run_id: str) -> float:
        """Seconds from one provisional result of a run to the next, as things are now.

        A server has about one new result a second to show, however many runs it computes and people watch;
        for runs that wait, or that another server computes, it looks as often as for new ones.
        """
        return self._computing.news_every(run_id) or POLL_SECONDS

    def wait(self, run_id: str, seconds: float) -> None:
        """Wait until something is found of a run that was asked here or is in hand, or for so long."""
        self._computing.wait(run_id, seconds)

    def data_of(self, record: RunRecord) -> Dataset:
        """A run's data, for further questions about it."""
        if not self.runs.files_of(record.id):
            raise DataError(BROUGHT)
        return self.inputs.dataset(record)

    def cancel(self, run_id: str) -> None:
        """Stop a run; at once where this server computes it, else when its server next saves."""
        self.runs.request_cancel(run_id)
        self._computing.cancel(run_id)

    def close(self) -> None:
        """Hand running work back to the queue and end the workers."""
        self._computing.close()
        self.pool.close()  # which is the same where this process computes

    def _result(self, run_id: str) -> Result:
        found = self.runs.result(run_id)
        if found is None:  # raised, not returned: the cache keeps what is returned
            raise MissingResultError("This result is no longer on this server: the run was deleted.")
        return found
