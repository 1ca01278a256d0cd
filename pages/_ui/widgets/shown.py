"""A result as one page shows it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from grasp_core.remarks.remark import Remark
from grasp_core.result import RunResult
from grasp_core.store.runs import RunRecord
from pages._ui.widgets.warned import no_way


def always() -> None:
    """Whoever sees the page may have what is on it."""


@dataclass(frozen=True, slots=True)
class Shown:
    """A result and who looks at it.

    Parameters
    ----------
    key : str
        What its charts are cached under: another one where the same run is shown with less in it.
    result : RunResult
    title : str
    check : callable
        Called before a file is made, which may be long after the page was drawn; raises AccessError if
        the viewer may not have it any more.
    charted : RunResult, optional
        What charts are drawn of; an earlier provisional result where the newest says little more.
    run : RunRecord, optional
        The run on this server, of which more may be asked.
    way : callable
        Draws the way to mend a warning, if there is one: see :mod:`pages._ui.widgets.warned`.
    stranger : bool
        Whether the viewer looks through a shared link, and so asks nothing.
    small_groups : bool
        Whether groups of few raters are shown to the viewer.
    """

    key: str
    result: RunResult
    title: str
    check: Callable[[], None] = always
    charted: RunResult | None = None
    run: RunRecord | None = None
    way: Callable[[Remark, int], None] = no_way
    stranger: bool = False
    small_groups: bool = True

    @property
    def drawn(self) -> RunResult:
        """The result that charts are drawn of."""
        return self.charted or self.result
