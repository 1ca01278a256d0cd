"""Which items carry what a group of a saved run says differently: found once, and kept with the run.

Pages and the API find here what the other has asked. Answers are named by what was asked.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

from grasp_core.analysis.items.panel import Each, ItemsAsked, look_at_items
from grasp_core.analysis.items.result import FORMAT_VERSION, ItemsResult
from grasp_core.engine.beside import Making, Makings
from grasp_core.engine.service import Service
from grasp_core.model.access import only
from grasp_core.model.errors import DataError
from grasp_core.model.groups import Group
from grasp_core.model.result import RunResult
from grasp_core.store.answers import AnswerStore
from grasp_core.store.runs import RunRecord

MOST_ITEMS = 100_000
"""Items that a server looks at; the command line has no such limit."""
_PREFIX = "items "


class GroupItems:
    """Items of groups of saved runs.

    Parameters
    ----------
    service : Service
        Reads the runs' data and computes.
    """

    def __init__(self, service: Service, answers: AnswerStore) -> None:
        self._service = service
        self._answers = answers
        self._makings = Makings[None]("items")

    def find(self, run_id: str, project: str, asked_id: str) -> ItemsResult | None:
        """What was found of a group's items; None where nobody has asked yet, or the answer is damaged.

        Parameters
        ----------
        run_id, project : str
            Ids of the run and of its project.
        asked_id : str
            See :func:`id_of`.
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

        Parameters
        ----------
        progress : callable
            Called with the share that is done; what it raises ends the work.
        each : callable, optional
            Has the pieces of work computed; by default the server's workers.

        Raises
        ------
        DataError, SpecError
            If the data are not on this server any more, or :func:`look_at_items` refuses them.
        """
        dataset = self._service.data_of(run)
        found = look_at_items(dataset, asked, each or self._service.pool.each, progress)
        name = _PREFIX + id_of(asked.group, asked.question)
        self._answers.within(only(run.project)).keep(run.id, name, found.to_dict())
        return found

    def start(self, run: RunRecord, asked: ItemsAsked, *, owner: str) -> Making[None]:
        """Have a group's items found in a thread of their own, and kept with the run.

        Parameters
        ----------
        owner : str
            Who asks.
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
    """Refuse data with too many items.

    Raises
    ------
    DataError
    """
    if result.data.items > MOST_ITEMS:
        raise DataError(
            f"A server looks at {MOST_ITEMS:,} items at most, and here are {result.data.items:,}; "
            "the command `items` looks at all of them."
        )


def _key(run: RunRecord, asked_id: str) -> str:
    return f"{run.id} {asked_id}"
