"""Bars that say how far the work is, by tqdm: in a terminal, or in a notebook."""

from __future__ import annotations

import warnings
from contextlib import ExitStack
from typing import Any

from grasp_core.engine.pools.blocks import Progress
from grasp_core.engine.watching import Watcher
from grasp_core.permutation.jit import telling


class Bar(Watcher):
    """A bar that goes away once the work is done.

    `what`: what is counted.
    """

    def __init__(self, what: str, *, shown: bool) -> None:
        self._bar = _new(what, shown=shown)
        self._told = ExitStack()
        if shown:
            self._told.enter_context(telling(self._bar.write))

    def tell(self, done: int, total: int, of: str | None = None) -> None:
        """Show that `done` of `total` are done, in a stage called `of`."""
        self._bar.total = total
        self._bar.set_postfix_str(of or "", refresh=False)
        self._bar.update(done - self._bar.n)

    def share(self, done: float) -> None:
        """Show which share is done."""
        self.tell(round(100 * done), 100)

    @property
    def looks_on(self) -> bool:
        """A bar has no room for results."""
        return False

    def check(self, progress: Progress) -> None:
        """See :class:`~grasp_core.engine.watching.Watcher`."""
        if progress.share is None or not progress.stages:
            self.tell(progress.done, progress.total, progress.of)
        else:
            self._bar.set_description_str("of 100", refresh=False)
            self.tell(round(100 * progress.share), 100, progress.stages)

    def close(self) -> None:
        """Take it away."""
        self._told.close()
        self._bar.close()


def _new(what: str, *, shown: bool) -> Any:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # that notebooks without ipywidgets get a bar of text
        from tqdm.auto import tqdm  # it looks for a notebook, which takes a while
    return tqdm(desc=what, total=0, leave=False, disable=not shown)
