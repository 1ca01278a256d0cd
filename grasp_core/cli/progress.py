"""A run's progress on a terminal."""

from __future__ import annotations

from grasp_core.cli.terminal import show_line
from grasp_core.engine.blocks import Progress
from grasp_core.engine.watching import Watcher


class ProgressLine(Watcher):
    """A line that is written anew; `adaptive` where the run may stop early."""

    def __init__(self, *, adaptive: bool) -> None:
        self.most = "at most " if adaptive else ""

    def check(self, progress: Progress) -> None:
        """See :class:`~grasp_core.engine.watching.Watcher`."""
        left = progress.seconds_left
        remaining = "" if left is None else f", {left:.0f} s left"
        show_line(f"{progress.done:,} of {self.most}{progress.total:,} permutations{remaining}")
