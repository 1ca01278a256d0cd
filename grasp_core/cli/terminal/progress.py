"""A run on a terminal: its provisional result and its progress."""

import signal
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from types import FrameType
from typing import Any

import pandas as pd

from grasp_core.cli.terminal.messages import Lines, in_place, note, say, seconds
from grasp_core.engine.pools.schedule import Progress
from grasp_core.engine.watching import Watcher
from grasp_core.model.result import Result
from grasp_core.model.text import printable
from grasp_core.permutation.jit import preparing, telling
from grasp_core.report.words.names import what_is_provisional

STOPS_WITHIN = 5.0
"""Seconds for which a run that is to stop waits for a provisional result; then it stops without one."""


class RunOnTerminal(Watcher):
    """Overwrites a table of provisional values and a line below it on a terminal; elsewhere only the line."""

    def __init__(self, table: Callable[[Result], pd.DataFrame], *, adaptive: bool) -> None:
        self._table, self._most = table, "at most " if adaptive else ""
        self.latest: Result | None = None
        self._stopping: float | None = None
        self._begun = False
        self._found: list[str] = []
        self._line = ""
        self._said = False
        self._lines = Lines()
        self._told = ExitStack()
        self._told.enter_context(telling(self._wait))

    @property
    def looks_on(self) -> bool:
        """True if there is a terminal, or the run is to stop; else no provisional result is needed."""
        return in_place() or self._stopping is not None

    def found(self, provisional: Result) -> None:
        """See :class:`~grasp_core.engine.watching.Watcher`."""
        self.latest = provisional
        self._stop_if_asked()
        table = self._table(provisional).to_string(index=False)
        self._found = [*map(printable, table.splitlines()), what_is_provisional(provisional)]
        self._show()

    def check(self, progress: Progress) -> None:
        """See :class:`~grasp_core.engine.watching.Watcher`."""
        self._begun = self._begun or progress.done > 0
        self._stop_if_asked()
        left = progress.seconds_left
        if left is None and (sentence := preparing()) is not None:
            return self._wait(sentence)
        remaining = "" if left is None else f", {seconds(left)} left"
        permutations = f"{progress.done:,} of {self._most}{progress.total:,} permutations"
        done = "" if progress.share is None else f" ({progress.share:.0%})"
        self._line = (
            f"{progress.stages}{done}{remaining}" if progress.stages else f"{permutations}{remaining}"
        )
        self._show()

    @contextmanager
    def stopping(self, tell: Callable[[Any], None]) -> Iterator[None]:
        """Let Ctrl-C stop the run once `tell` can print a provisional result, and a second Ctrl-C at once."""
        here = threading.current_thread() is threading.main_thread()
        before = signal.signal(signal.SIGINT, self._interrupted) if here else None
        try:
            yield
        except KeyboardInterrupt:
            self.clear()
            if self.latest is not None and self.latest.permutations:
                say(f"\nSo far, after {self.latest.permutations:,} permutations:")
                tell(self.latest)
            raise
        finally:
            if here:
                signal.signal(signal.SIGINT, before)
            self.clear()

    def _interrupted(self, number: int, frame: FrameType | None) -> None:
        if not self._begun or self._stopping is not None:
            raise KeyboardInterrupt
        self._stopping = time.monotonic()

    def _stop_if_asked(self) -> None:
        """Stop if asked to, once there is a provisional result; a terminal already shows a recent one."""
        if self._stopping is None:
            return
        if self.latest is not None or time.monotonic() - self._stopping > STOPS_WITHIN:
            raise KeyboardInterrupt

    def clear(self) -> None:
        """Clear the table and the line."""
        self._told.close()
        self._lines.clear()

    def _wait(self, sentence: str) -> None:
        """Show the reason why there is no progress: in the line on a terminal, else once as a note."""
        self._line = sentence
        self._show()
        if not self._said and not in_place():
            self._said = True
            note(sentence)

    def _show(self) -> None:
        self._lines.show([*self._found, self._line])
