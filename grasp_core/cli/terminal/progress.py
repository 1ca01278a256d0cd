"""A run on a terminal: what is found so far, and how far it is."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import ExitStack

import pandas as pd

from grasp_core.cli.terminal.lines import Lines, in_place, note
from grasp_core.engine.pools.blocks import Progress
from grasp_core.engine.watching import Watcher
from grasp_core.model.result import Result
from grasp_core.permutation.jit import preparing, telling
from grasp_core.report.words.names import what_is_provisional
from grasp_core.report.words.printable import printable


class RunOnTerminal(Watcher):
    """A table that fills in and a line below it, both written anew in their place.

    Parameters
    ----------
    table : callable
        Makes a provisional result's table.
    adaptive : bool
        Whether the run may stop early.
    """

    def __init__(self, table: Callable[[Result], pd.DataFrame], *, adaptive: bool) -> None:
        self._table, self._most = table, "at most " if adaptive else ""
        self._found: list[str] = []
        self._line = ""
        self._said = False
        self._lines = Lines()
        self._told = ExitStack()
        self._told.enter_context(telling(self._wait))

    @property
    def looks_on(self) -> bool:
        """Whether there is a terminal: nothing is shown elsewhere."""
        return in_place()

    def found(self, provisional: Result) -> None:
        """See :class:`~grasp_core.engine.watching.Watcher`."""
        table = self._table(provisional).to_string(index=False)
        self._found = [*map(printable, table.splitlines()), what_is_provisional(provisional)]
        self._show()

    def check(self, progress: Progress) -> None:
        """See :class:`~grasp_core.engine.watching.Watcher`."""
        left = progress.seconds_left
        if left is None and (sentence := preparing()) is not None:
            return self._wait(sentence)
        remaining = "" if left is None else f", {left:.0f} s left"
        permutations = f"{progress.done:,} of {self._most}{progress.total:,} permutations"
        done = "" if progress.share is None else f" ({progress.share:.0%})"
        self._line = (
            f"{progress.stages}{done}{remaining}" if progress.stages else f"{permutations}{remaining}"
        )
        self._show()

    def clear(self) -> None:
        """Take everything away."""
        self._told.close()
        self._lines.clear()

    def _wait(self, sentence: str) -> None:
        """Say why nothing moves: in the line on a terminal, else once."""
        self._line = sentence
        self._show()
        if not self._said and not in_place():
            self._said = True
            note(sentence)

    def _show(self) -> None:
        self._lines.show([*self._found, self._line])
