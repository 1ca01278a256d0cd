"""Requests taken in and answers found: runs and, in threads of this process, plans and items of groups."""

import hashlib
import json
import logging
import threading
import time
from collections import OrderedDict
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import lru_cache, partial
from typing import Any, Generic, TypeVar

from grasp_core.analysis.items.outcomes import FORMAT_VERSION, ItemsResult
from grasp_core.analysis.items.panel import ItemsRequest, look_at_items
from grasp_core.analysis.panel import Each
from grasp_core.analysis.planner.simulation import PlanTask, make_plan
from grasp_core.analysis.planner.values import Plan
from grasp_core.engine.inputs import Inputs
from grasp_core.engine.pools.pool import Pool
from grasp_core.engine.pools.schedule import Progress
from grasp_core.engine.process import ComputingProcess
from grasp_core.engine.run import run_key
from grasp_core.engine.saved_runs import POLL_SECONDS, Computing, data_key
from grasp_core.model.access import Reach, only
from grasp_core.model.errors import FAULT, DataError, GraspError, MissingResultError, RunCancelledError
from grasp_core.model.groups import Group
from grasp_core.model.result import Result, RunResult
from grasp_core.model.spec import RunSpec
from grasp_core.reading.dataset.load import Dataset
from grasp_core.reading.sources.allowed import AllowedSources
from grasp_core.store.files import FileStore
from grasp_core.store.runs import AnswerStore, Request, RunRecord, RunStore
from grasp_core.version import __version__

BROUGHT = "This result was brought from elsewhere, without its data; bring them on Data and run."
_RESULTS = 64
_SEEN = 64


class Service:
    """Takes in requests, has them computed, by default in this process, and finds their answers."""

    def __init__(
        self,
        runs: RunStore,
        files: FileStore,
        pool: Pool,
        allowed: AllowedSources | None = None,
        computing: Computing | ComputingProcess | None = None,
    ) -> None:
        self.runs = runs
        self.files = files
        self.pool = pool
        self._computing = computing or Computing(runs, files, pool, allowed)
        self.closing, self.wait = self._computing.closing, self._computing.wait
        self.inputs = Inputs(runs, files, allowed or AllowedSources(), self.closing)
        self.result = lru_cache(maxsize=_RESULTS)(self._result)
        self._seen: OrderedDict[str, tuple[int, Result]] = OrderedDict()

    @property
    def computes(self) -> bool:
        """True if runs are computed, not only taken in."""
        return self._computing.ready

    def start(self) -> None:
        """Start to look for runs and compute them."""
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
        """Save a run in the project of `reach` and compute it; return whether the person requested it before.

        If others requested the same of the same version, it is not computed again, but is a run of its own.
        The data's files should be in the file store, for this server after a restart, and for others.
        """
        key, runs = run_key(dataset.summary, spec, __version__), self.runs.within(reach)
        answering = runs.answering(key, owner)
        if answering is not None:
            return answering, True
        stored = [(file.name, file.sha256) for file in dataset.summary.files]
        stored += [(model.source, model.sha256) for model in dataset.models if model.column is None]
        request = Request(key, title, owner, __version__, spec, dataset.summary, tuple(stored))
        name = data_key(reach.home, key)
        held = self._computing.hold(name, dataset, load_s)  # before the run can be claimed
        try:
            record, known = runs.create(request)
        except GraspError:
            self._computing.drop(name, held)
            raise
        if record.computed_as != record.id or record.ended:  # computed by another run of the same data
            self._computing.drop(name, held)
        else:
            self._computing.expect(record.id)
        return record, known

    def progress(self, record: RunRecord) -> Progress:
        """Return the progress of a run; only the server that computes it knows the time left."""
        known = self._computing.progress(record.computed_as)
        return known or Progress(record.done, record.total, None)

    def provisional(self, run_id: str) -> Result | None:
        """Return the provisional result of a run; if it waits for another, call this with `computed_as`.

        None if nothing is known yet; for a run computed here, the same object until there is a new result.
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
        """Return the seconds between a run's provisional results, or between searches for one that waits."""
        return self._computing.news_every(run_id) or POLL_SECONDS

    def data_of(self, record: RunRecord) -> Dataset:
        """Read a run's data, for further requests about it."""
        if not self.runs.files_of(record.id):
            raise DataError(BROUGHT)
        return self.inputs.dataset(record)

    def cancel(self, run_id: str) -> None:
        """Stop a run: at once if this server computes it, else when its server next saves."""
        self.runs.request_cancel(run_id)
        self._computing.cancel(run_id)

    def close(self) -> None:
        """Hand running work back to the queue and end the workers."""
        self._computing.close()
        self.pool.close()  # the same pool, if this process computes

    def _result(self, run_id: str) -> Result:
        found = self.runs.result(run_id)
        if found is None:  # raised, not returned: the cache keeps what is returned
            raise MissingResultError("This result is no longer on this server: the run was deleted.")
        return found


log = logging.getLogger(__name__)

SIDE_BY_SIDE = 2
"""Most answers of a kind that are computed at one time; further ones wait."""
_REMEMBERED = 32

T = TypeVar("T")


@dataclass(eq=False)
class PendingAnswer(Generic[T]):
    """An answer being computed: `found` so far, the `share` done, the `error`; `cancelled` stops it."""

    owner: str
    found: T | None = None
    share: float = 0.0
    doing: str = "Waiting for others' work"
    error: str | None = None
    cancelled: bool = False
    ended: threading.Event = field(default_factory=threading.Event)
    began: float = field(default_factory=time.monotonic)
    took: float | None = None

    def check(self) -> None:
        """Raise RunCancelledError if it was cancelled."""
        if self.cancelled:
            raise RunCancelledError

    def tell(self, found: T) -> None:
        """Set the answer so far."""
        self.found = found

    def tell_share(self, share: float) -> None:
        """Set the share of the work that is done."""
        self.share = share


class PendingAnswers(Generic[T]):
    """Answers by the key of the request; the same request twice at a time is computed once."""

    def __init__(self, kind: str) -> None:
        self._kind = kind
        self._makings: OrderedDict[str, PendingAnswer[T]] = OrderedDict()
        self._lock = threading.Lock()
        self._slots = threading.Semaphore(SIDE_BY_SIDE)

    def find(self, key: str) -> PendingAnswer[T] | None:
        """Return the answer requested under this key, if this server has been asked since it started."""
        return self._makings.get(key)

    def begin(self, key: str, make: Callable[[PendingAnswer[T]], T], *, owner: str) -> PendingAnswer[T]:
        """Compute an answer in a thread of its own and keep it, unless it is being computed or known."""
        with self._lock:
            known = self._makings.get(key)
            if known is not None and not (known.ended.is_set() and (known.error or known.cancelled)):
                return known
            making = self._makings[key] = PendingAnswer[T](owner)
            self._makings.move_to_end(key)
            ended = [name for name, one in self._makings.items() if one.ended.is_set()]
            for name in ended[: max(len(self._makings) - _REMEMBERED, 0)]:
                del self._makings[name]
        name = f"grasp-{self._kind}"
        threading.Thread(target=self._make, args=(making, make), name=name, daemon=True).start()
        return making

    def close(self) -> None:
        """Stop all answers that are being computed."""
        for making in list(self._makings.values()):
            making.cancelled = True

    def _make(self, making: PendingAnswer[T], make: Callable[[PendingAnswer[T]], T]) -> None:
        try:
            with self._slots:
                making.check()
                making.found = make(making)
        except RunCancelledError:
            making.cancelled = True
        except GraspError as error:
            making.error = str(error)
        except Exception as error:  # the type alone: a message could quote rater data
            log.error("%s failed: %s", self._kind, type(error).__name__)
            making.error = FAULT
        finally:
            making.took = time.monotonic() - making.began
            making.ended.set()


class Plans(PendingAnswers[Plan]):
    """Plans by the key of the request."""

    def __init__(self, pool: Pool) -> None:
        super().__init__("plan")
        self._pool = pool

    def ask(
        self, key: str, task: Callable[[], PlanTask], keep: Callable[[Plan], None], *, owner: str
    ) -> PendingAnswer[Plan]:
        """Compute the plan of a task, which may read data, unless it is being computed or known; keep it."""

        def make(making: PendingAnswer[Plan]) -> Plan:
            plan = make_plan(task(), partial(self._pool.each, check=making.check), making.tell)
            keep(plan)
            return plan

        return self.begin(key, make, owner=owner)


MOST_ITEMS = 100_000
"""Most items that a server analyses; the command line has no such limit."""
_PREFIX = "items "


class ItemAnswers:
    """Items of groups of saved runs."""

    def __init__(self, service: Service, answers: AnswerStore) -> None:
        self._service = service
        self._answers = answers
        self._makings = PendingAnswers[None]("items")
        self.close = self._makings.close

    def find(self, run_id: str, project: str, asked_id: str) -> ItemsResult | None:
        """Return the stored result of a group's items, by :func:`id_of`; None without one, or if damaged."""
        plain = self.kept(run_id, project, asked_id)
        try:
            return None if plain is None else ItemsResult.from_dict(plain)
        except DataError:  # it is computed again
            return None

    def kept(self, run_id: str, project: str, asked_id: str) -> Any:
        """Return the stored result in its file form; None if there is none."""
        return self._answers.within(only(project)).find(run_id, _PREFIX + asked_id)

    def kept_ids(self, run: RunRecord) -> frozenset[str]:
        """Return the ids of all results that are stored with a run."""
        names = self._answers.within(only(run.project)).names(run.id, _PREFIX)
        return frozenset(name.removeprefix(_PREFIX) for name in names)

    def look(
        self,
        run: RunRecord,
        asked: ItemsRequest,
        progress: Callable[[float], None] = lambda _: None,
        each: Each | None = None,
    ) -> ItemsResult:
        """Compute a group's items now and store the result; an exception from `progress` ends the work."""
        dataset = self._service.data_of(run)
        found = look_at_items(dataset, asked, each or self._service.pool.each, progress)
        name = _PREFIX + id_of(asked.group, asked.question)
        self._answers.within(only(run.project)).keep(run.id, name, found.to_dict())
        return found

    def start(self, run: RunRecord, asked: ItemsRequest, *, owner: str) -> PendingAnswer[None]:
        """Compute a group's items in a thread of its own, and store the result with the run."""

        def make(making: PendingAnswer[None]) -> None:
            self.look(run, asked, making.tell_share, partial(self._service.pool.each, check=making.check))

        return self._makings.begin(_key(run, id_of(asked.group, asked.question)), make, owner=owner)

    def under_way(self, run: RunRecord, asked_id: str) -> PendingAnswer[None] | None:
        """Return the answer that :meth:`start` began in this process, also if it has ended."""
        return self._makings.find(_key(run, asked_id))


def id_of(group: Group, question: int) -> str:
    """Return the name of a group's and question's items within their run: 64 hexadecimal digits."""
    asked = json.dumps([FORMAT_VERSION, group.axes, group.values, question])
    return hashlib.sha256(asked.encode()).hexdigest()


def possible_requests(result: RunResult) -> Iterator[ItemsRequest]:
    """Yield all requests for items that a result allows: every group with every question."""
    for row in result.groups:
        for question in range(len(result.spec.data.questions)):
            yield ItemsRequest(result.spec, row.group, result.permutations, question)


def check_items(result: RunResult) -> None:
    """Refuse data with too many items."""
    if result.data.items > MOST_ITEMS:
        raise DataError(
            f"A server looks at {MOST_ITEMS:,} items at most, and here are {result.data.items:,}; "
            "the command `items` looks at all of them."
        )


def _key(run: RunRecord, asked_id: str) -> str:
    return f"{run.id} {asked_id}"
