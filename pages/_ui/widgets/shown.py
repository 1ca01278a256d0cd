"""A result as one page shows it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from grasp_core.result import RunResult


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
    """

    key: str
    result: RunResult
    title: str
    check: Callable[[], None] = always
    charted: RunResult | None = None

    @property
    def drawn(self) -> RunResult:
        """The result that charts are drawn of."""
        return self.charted or self.result
