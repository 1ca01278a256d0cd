"""``open`` and ``compare``: saved results, from a file or a server, and two side by side."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from grasp_core.analysis.models.result import ModelsResult
from grasp_core.analysis.results import read_result
from grasp_core.model.errors import DataError, SpecError
from grasp_core.model.result import Result, RunResult
from grasp_core.model.text import Sentence, not_there
from grasp_core.notebook._shown import Brief, page, shown_table
from grasp_core.notebook.models import ModelsAnalysis
from grasp_core.notebook.remote import api_of
from grasp_core.notebook.results import Analysis
from grasp_core.report.comparison import (
    Comparison,
    changes_numbers,
    changes_table,
    differences_table,
    in_words,
    pairs_compared,
    slices_compared,
)
from grasp_core.report.comparison import compare as held
from grasp_core.report.saved import json_in
from grasp_core.report.since import details, headline, since

if TYPE_CHECKING:  # takes long to load
    import pandas as pd

Opened = Analysis | ModelsAnalysis


def open(place: str | Path, *, token: str | None = None) -> Analysis | ModelsAnalysis:
    """Open a result that was saved.

    Parameters
    ----------
    place : str or Path
        A file that :meth:`Analysis.save`, ``run --out`` or the page wrote as JSON. Or a run on a server: the
        address of its page, such as ``https://grasp.example.org/results?run=...``, or of the run in the API.
    token : str, optional
        A personal token with the scope "read", or that of a share link to the run.

    Returns
    -------
    Analysis, or ModelsAnalysis of a run of models

    Raises
    ------
    DataError
        If the file is none, or damaged.
    RemoteError
        If the server cannot be reached, or does not give the run; `code` says why.
    """
    if not str(place).startswith(("http://", "https://")):
        if not Path(place).exists():
            raise DataError(not_there(Path(place).name, Path(place)))
        return opened(json_in(Path(place)))
    api, run = api_of(str(place), token)
    return opened(api.result(run))


def opened(plain: Any) -> Opened:
    """A result of its parsed JSON."""
    result = read_result(plain)
    return ModelsAnalysis(result) if isinstance(result, ModelsResult) else Analysis(cast("RunResult", result))


@dataclass(frozen=True, slots=True, repr=False)
class Compared(Brief):
    """One result held against another.

    Parameters
    ----------
    one, other : Result
    comparison : Comparison
        What differs in what was asked, in the data, and in what was found, as immutable values.
    """

    one: Result
    other: Result
    comparison: Comparison

    def answer(self) -> str:
        """Whether more than noise moved, what did, and a line for each statistic."""
        first, *further = self._sentences()
        return "\n".join([first, *(f"- {sentence}" for sentence in further)])

    def _sentences(self) -> list[str]:
        found = since(self.one, self.other)
        moved = [] if found is None else [headline(found), *details(found)]
        return [*moved, *in_words(self.comparison)]

    def asked(self) -> pd.DataFrame:
        """What was asked differently: `what`, `a` and `b`."""
        return differences_table(self.comparison.spec)

    def data(self) -> pd.DataFrame:
        """How the data differ: `what`, `a` and `b`."""
        return differences_table(self.comparison.data)

    def table(self) -> pd.DataFrame:
        """One row per group and statistic that both have.

        Returns
        -------
        DataFrame
            `group`, `axis`, `model` if there are some, `statistic`, `label`, `value_a`, `value_b`, `moved`
            with its 95 % interval `moved_low` and `moved_high`, `q_a`, `q_b`, `q_moved` (numbers, NaN where
            there is none), `mark_a`, `mark_b`.
        """
        return changes_numbers(self.comparison.changes)

    def pairs(self) -> pd.DataFrame:
        """The same of the pairs of groups that both have, with `pair` in place of `group`."""
        return pairs_compared(self.one, self.other, changes_numbers)

    def slices(self) -> pd.DataFrame:
        """The same of the slices that both have, behind their `slice`."""
        return slices_compared(self.one, self.other, changes_numbers)

    def moved(self) -> pd.DataFrame:
        """The rows of :meth:`table` that moved further than noise explains, or whose mark is another one."""
        return changes_numbers(one for one in self.comparison.changes if one.beyond_noise)

    def _repr_html_(self) -> str:
        first, *further = self._sentences()
        table = shown_table(changes_table(one for one in self.comparison.changes if one.beyond_noise))
        return page(Sentence.of(first), [Sentence.of(one) for one in further], table, {})


def compare(one: Opened | str | Path, other: Opened | str | Path, *, token: str | None = None) -> Compared:
    """Hold a result against another one.

    Parameters
    ----------
    one, other : Analysis, ModelsAnalysis, str or Path
        Results, or what :func:`open` takes: files that hold them, addresses of runs on a server.
    token : str, optional
        As for :func:`open`.

    Returns
    -------
    Compared

    Raises
    ------
    SpecError
        If one of them is about models and the other about agreement.
    DataError, RemoteError
        As :func:`open`.
    """
    a, b = (_result(place, token) for place in (one, other))
    comparison = held(a, b)
    if comparison is None:
        raise SpecError(
            "one of the two is about models and the other about agreement, so there is nothing to hold "
            "against each other"
        )
    return Compared(a, b, comparison)


def _result(place: Opened | str | Path, token: str | None) -> Result:
    found = place if isinstance(place, Analysis | ModelsAnalysis) else open(place, token=token)
    return found.result
