"""Work beside the computing of runs, in threads of its own: plans, items of a group."""

from __future__ import annotations

import hashlib
import json
import logging
import threading
from collections import OrderedDict
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any, Generic, TypeVar

from grasp_core.analysis.items.outcomes import FORMAT_VERSION, ItemsResult
from grasp_core.analysis.items.panel import Each, ItemsAsked, look_at_items
from grasp_core.analysis.planner.make import PlanTask, make_plan
from grasp_core.analysis.planner.values import Plan
from grasp_core.engine.pools.pool import Pool
from grasp_core.engine.service import Service
from grasp_core.model.access import only
from grasp_core.model.errors import FAULT, DataError, GraspError, RunCancelledError
from grasp_core.model.groups import Group
from grasp_core.model.result import RunResult
from grasp_core.store.answers import AnswerStore
from grasp_core.store.runs import RunRecord

log = logging.getLogger(__name__)

SIDE_BY_SIDE = 2
"""Answers of a kind that are computed at one time; further ones wait."""
_REMEMBERED = 32

T = TypeVar("T")


class Making(Generic[T]):
    """An answer on its way: what is known of it so far, and how it ended.

    `owner`: who asked for it first.

    `found`: as far as it is known.
    `share`: how much of the work is done, where that is told.
    `error`: why there is none.
    `cancelled`: set to stop it.
    """

    def __init__(self, owner: str) -> None:
        self.owner = owner
        self.found: T | None = None
        self.share = 0.0
        self.error: str | None = None
        self.ended = threading.Event()
        self.cancelled = False

    def check(self) -> None:
        """Raise RunCancelledError if nobody wants it any more."""
        if self.cancelled:
            raise RunCancelledError

    def tell(self, found: T) -> None:
        """Know the answer so far."""
        self.found = found

    def tell_share(self, share: float) -> None:
        """Know how much of the work is done."""
        self.share = share


class Makings(Generic[T]):
    """Answers by the key of what was asked; asked twice at a time, they are computed once.

    `kind`: what the log calls them.
    """

    def __init__(self, kind: str) -> None:
        self._kind = kind
        self._makings: OrderedDict[str, Making[T]] = OrderedDict()
        self._lock = threading.Lock()
        self._slots = threading.Semaphore(SIDE_BY_SIDE)

    def find(self, key: str) -> Making[T] | None:
        """What was asked under this key of this server, since it started."""
        return self._makings.get(key)

    def begin(self, key: str, make: Callable[[Making[T]], T], *, owner: str) -> Making[T]:
        """Compute an answer, unless it is being computed or known.

        `make`: makes the answer and keeps it, in the answer's own thread: it may have to read data.
        `owner`: who asks.
        """
        with self._lock:
            known = self._makings.get(key)
            if known is not None and not (known.ended.is_set() and (known.error or known.cancelled)):
                return known
            making = self._makings[key] = Making[T](owner)
            self._makings.move_to_end(key)
            ended = [name for name, one in self._makings.items() if one.ended.is_set()]
            for name in ended[: max(len(self._makings) - _REMEMBERED, 0)]:
                del self._makings[name]
        name = f"grasp-{self._kind}"
        threading.Thread(target=self._make, args=(making, make), name=name, daemon=True).start()
        return making

    def close(self) -> None:
        """Stop what is being computed."""
        for making in list(self._makings.values()):
            making.cancelled = True

    def _make(self, making: Making[T], make: Callable[[Making[T]], T]) -> None:
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
            making.ended.set()


class Plans(Makings[Plan]):
    """Plans by the key of what was asked."""

    def __init__(self, pool: Pool) -> None:
        super().__init__("plan")
        self._pool = pool

    def ask(
        self, key: str, task: Callable[[], PlanTask], keep: Callable[[Plan], None], *, owner: str
    ) -> Making[Plan]:
        """Compute a plan, unless it is being computed or known.

        `task`: makes the task, in the plan's own thread: it may have to read data.
        `keep`: takes the whole plan.
        `owner`: who asks.
        """

        def make(making: Making[Plan]) -> Plan:
            plan = make_plan(task(), partial(self._pool.each, check=making.check), making.tell)
            keep(plan)
            return plan

        return self.begin(key, make, owner=owner)


MOST_ITEMS = 100_000
"""Items that a server looks at; the command line has no such limit."""
_PREFIX = "items "


class GroupItems:
    """Items of groups of saved runs.

    `service`: reads the runs' data and computes.
    """

    def __init__(self, service: Service, answers: AnswerStore) -> None:
        self._service = service
        self._answers = answers
        self._makings = Makings[None]("items")

    def find(self, run_id: str, project: str, asked_id: str) -> ItemsResult | None:
        """What was found of a group's items; None where nobody has asked yet, or the answer is damaged.

        `run_id`, `project`: ids of the run and of its project.
        `asked_id`: see :func:`id_of`.
        """
        plain = self.kept(run_id, project, asked_id)
        try:
            return None if plain is None else ItemsResult.from_dict(plain)
        except DataError:  # it is asked anew
            return None

    def kept(self, run_id: str, project: str, asked_id: str) -> Any:
        """What is kept, in its file form; None where nothing is. See :meth:`find`."""
        return self._answers.within(only(project)).find(run_id, _PREFIX + asked_id)

    def kept_ids(self, run: RunRecord) -> frozenset[str]:
        """Ids of all that is kept with a run."""
        names = self._answers.within(only(run.project)).names(run.id, _PREFIX)
        return frozenset(name.removeprefix(_PREFIX) for name in names)

    def look(
        self,
        run: RunRecord,
        asked: ItemsAsked,
        progress: Callable[[float], None] = lambda _: None,
        each: Each | None = None,
    ) -> ItemsResult:
        """Find a group's items now, in the workers, and keep them with the run.

        `progress`: called with the share that is done; what it raises ends the work.
        `each`: has the pieces of work computed; by default the server's workers.
        """
        dataset = self._service.data_of(run)
        found = look_at_items(dataset, asked, each or self._service.pool.each, progress)
        name = _PREFIX + id_of(asked.group, asked.question)
        self._answers.within(only(run.project)).keep(run.id, name, found.to_dict())
        return found

    def start(self, run: RunRecord, asked: ItemsAsked, *, owner: str) -> Making[None]:
        """Have a group's items found in a thread of their own, and kept with the run.

        `owner`: who asks.
        """

        def make(making: Making[None]) -> None:
            self.look(run, asked, making.tell_share, partial(self._service.pool.each, check=making.check))

        return self._makings.begin(_key(run, id_of(asked.group, asked.question)), make, owner=owner)

    def under_way(self, run: RunRecord, asked_id: str) -> Making[None] | None:
        """What :meth:`start` began in this process, also where it has ended."""
        return self._makings.find(_key(run, asked_id))

    def close(self) -> None:
        """Stop what is being computed."""
        self._makings.close()


def id_of(group: Group, question: int) -> str:
    """What names the items of a group and question beside their run: 64 hexadecimal digits."""
    asked = json.dumps([FORMAT_VERSION, group.axes, group.values, question])
    return hashlib.sha256(asked.encode()).hexdigest()


def all_asked(result: RunResult) -> Iterator[ItemsAsked]:
    """All that may be asked of a result: every group with every question."""
    for row in result.groups:
        for question in range(len(result.spec.data.questions)):
            yield ItemsAsked(result.spec, row.group, result.permutations, question)


def check_items(result: RunResult) -> None:
    """Refuse data with too many items."""
    if result.data.items > MOST_ITEMS:
        raise DataError(
            f"A server looks at {MOST_ITEMS:,} items at most, and here are {result.data.items:,}; "
            "the command `items` looks at all of them."
        )


def _key(run: RunRecord, asked_id: str) -> str:
    return f"{run.id} {asked_id}"
