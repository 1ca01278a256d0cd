"""``open``, ``compare`` and ``connect``: results from files and servers, and computing on a server."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Unpack, cast
from urllib.parse import urlencode

import pandas as pd

from grasp_core.analysis.models.result import ModelsResult
from grasp_core.analysis.planner.values import Assumed
from grasp_core.analysis.results import read_result
from grasp_core.model.errors import DataError, RemoteError, SpecError
from grasp_core.model.json_values import to_json
from grasp_core.model.result import Result, RunResult
from grasp_core.model.spec import RunSpec
from grasp_core.model.text import Sentence, not_there
from grasp_core.notebook._shown import Brief, ProgressBar, page, shown_table
from grasp_core.notebook.analysis import asked_of, server_request
from grasp_core.notebook.data import Quality, table_of
from grasp_core.notebook.items_and_map import GroupItems, MappedRaters
from grasp_core.notebook.models import ModelsAnalysis, models_asked
from grasp_core.notebook.options import AnalysisOptions, Axes, Python, TestOptions, takes, texts, worded
from grasp_core.notebook.plan import Planned, PlanOptions, given_fields
from grasp_core.notebook.remote import Api, api_of, lying
from grasp_core.notebook.results import Analysis
from grasp_core.report.changes import details, headline
from grasp_core.report.comparison import (
    Comparison,
    changes_numbers,
    changes_table,
    differences_table,
    in_words,
    pairs_compared,
    slices_compared,
    verdicts_table,
)
from grasp_core.report.comparison import compare as held
from grasp_core.report.saved import json_in

if TYPE_CHECKING:
    from grasp_core.reading.dataset.load import Dataset

Opened = Analysis | ModelsAnalysis


def open(place: str | Path, *, token: str | None = None) -> Analysis | ModelsAnalysis:
    """Open a saved result.

    Parameters
    ----------
    place : str or Path
        A file that :meth:`Analysis.save`, ``run --out`` or the page wrote as JSON. Or a run on a server: the
        address of its page, such as ``https://grasp.example.org/results?run=...``, or of the run in the API.
    token : str, optional
        A personal token with the scope "read", or the token of a share link to the run.

    Returns
    -------
    Analysis, or ModelsAnalysis for a run of models

    Raises
    ------
    DataError
        If there is no such file, or it is damaged or no saved result.
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
    """Return a result from its parsed JSON."""
    result = read_result(plain)
    return ModelsAnalysis(result) if isinstance(result, ModelsResult) else Analysis(cast("RunResult", result))


@dataclass(frozen=True, slots=True, repr=False)
class Compared(Brief):
    """The comparison of two results.

    Parameters
    ----------
    one, other : Result
    comparison : Comparison
        Differences between the settings, the data and the results, as immutable values.
    """

    one: Result
    other: Result
    comparison: Comparison

    def answer(self) -> str:
        """Return changed verdicts, what moved beyond noise, and a line for each statistic, in words."""
        first, *further = self._sentences()
        return "\n".join([first, *(f"- {sentence}" for sentence in further)])

    def _sentences(self) -> list[str]:
        found = self.comparison
        return [headline(found), *details(found), *in_words(found)]

    def asked(self) -> pd.DataFrame:
        """Return the different settings: `what`, `a` and `b`."""
        return differences_table(self.comparison.spec)

    def data(self) -> pd.DataFrame:
        """Return the differences between the data: `what`, `a` and `b`."""
        return differences_table(self.comparison.data)

    def verdicts(self) -> pd.DataFrame:
        """Return one row per group that has a verdict in both results.

        Returns
        -------
        DataFrame
            A column for each axis, `group`, `axis`; `verdict_a`, `verdict_b`, see :meth:`Analysis.findings`;
            `p_a`, `q_a`, `p_b`, `q_b` of all tests together (NaN if there is none).
        """
        return verdicts_table(self.comparison.verdicts)

    def table(self) -> pd.DataFrame:
        """Return one row per group and statistic that both results have.

        Returns
        -------
        DataFrame
            A column for each axis, `group`, `axis`, `model` (for models only), `statistic`, `label`,
            `value_a`, `value_b`, their difference `moved` with 95 % interval `moved_low` and `moved_high`,
            `q_a`, `q_b`, `q_moved` (numbers, NaN if there is none), `mark_a`, `mark_b`.
        """
        return changes_numbers(self.comparison.changes)

    def pairs(self) -> pd.DataFrame:
        """Return such rows for pairs that both have, with `pair` and `other_` axes in place of `group`."""
        return changes_numbers(pairs_compared(self.one, self.other))

    def slices(self) -> pd.DataFrame:
        """Return such rows for slices that both have, after their `slice`."""
        return changes_numbers(slices_compared(self.one, self.other))

    def moved(self) -> pd.DataFrame:
        """Return the rows of :meth:`table` that moved further than noise explains, or whose mark changed."""
        return changes_numbers(one for one in self.comparison.changes if one.beyond_noise)

    def _repr_html_(self) -> str:
        first, *further = self._sentences()
        table = shown_table(changes_table(one for one in self.comparison.changes if one.beyond_noise))
        return page(Sentence.of(first), [Sentence.of(one) for one in further], table, {})


def compare(one: Opened | str | Path, other: Opened | str | Path, *, token: str | None = None) -> Compared:
    """Compare a result with another one.

    Parameters
    ----------
    one, other : Analysis, ModelsAnalysis, str or Path
        Results, or files and addresses of runs on a server, as :func:`open` takes them.
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
            "one of the two is about models and the other about agreement, so there is nothing to compare"
        )
    return Compared(a, b, comparison)


def _result(place: Opened | str | Path, token: str | None) -> Result:
    found = place if isinstance(place, Analysis | ModelsAnalysis) else open(place, token=token)
    return found.result


@dataclass(frozen=True, slots=True)
class OnServer:
    """A file that the server reads itself, given in place of data; :meth:`Connection.file` makes one."""

    named: Mapping[str, str | None]


Run = str | Analysis
"""A run on the server: its id, or the result that :meth:`Connection.analyse` returned."""


class Connection:
    """A connection to a server, made by :func:`connect`.

    Data are read here, as the functions of the same names read them, then sent to the server, which computes.
    If one of them is a :meth:`file` of the server, it reads them all, and guesses all that is not named.
    """

    def __init__(self, api: Api) -> None:
        self._api = api

    def __repr__(self) -> str:
        return f"<grasp_core Connection to {self._api.address}>"

    @takes(AnalysisOptions)
    def analyse(
        self,
        annotations: Any,
        raters: Any = None,
        *,
        axes: Axes | None = None,
        items: Any = None,
        spec: RunSpec | str | None = None,
        progress: bool = True,
        **options: Unpack[AnalysisOptions],
    ) -> Analysis:
        """Do the same as :func:`~grasp_core.analyse`, by a run on the server that all of its project may see.

        If no axes are named or recognised, the result shows how well all raters agree.

        Returns
        -------
        Analysis
            It has the digits of :func:`~grasp_core.analyse`; `run` is the run's id.

        Raises
        ------
        RemoteError
            If the server cannot be reached, or refuses; `code` says why.
        UnsureError, DataError, SpecError
            As :func:`~grasp_core.analyse`.
        """
        given = {"annotations": annotations, "raters": raters, "items": items}
        plain, data, notes = self._asked(given, axes, spec, options)
        with closing(ProgressBar("permutations", shown=progress)) as bar:
            there = self._api.compute(plain, bar.tell)
        notes = there.notes if data is None else notes
        return Analysis(cast("RunResult", there.result), notes, data, there.run)

    def _asked(
        self,
        given: Mapping[str, Any],
        axes: Axes | None,
        spec: RunSpec | str | None,
        options: AnalysisOptions,
    ) -> tuple[dict[str, Any], Dataset | None, tuple[str, ...]]:
        """Return a request's content; if the data were read here, also the data and how they were read."""
        if not any(isinstance(one, OnServer) for one in given.values()):
            frontend = Python()
            asked = asked_of(*given.values(), axes=axes, spec=spec, options=options, frontend=frontend)
            return self._api.sent(asked.spec, asked.found, given), asked.data, tuple(frontend.notes)
        plain = server_request(axes, spec, options)
        there = {role: one for role, one in given.items() if one is not None}
        files = {
            role: one.named if isinstance(one, OnServer) else self._api.brought(one, table_of(one, role))
            for role, one in there.items()
        }
        return {**plain, "files": files}, None, ()

    @takes(TestOptions)
    def models(
        self,
        annotations: Any,
        raters: Any = None,
        *,
        axes: Axes | None = None,
        labels: Mapping[str, Any] | None = None,
        columns: Mapping[str, str] | None = None,
        baselines: Sequence[str] = (),
        progress: bool = True,
        **options: Unpack[TestOptions],
    ) -> ModelsAnalysis:
        """Do the same as :func:`~grasp_core.models`, by a run on the server; baselines label the items here.

        Returns
        -------
        ModelsAnalysis
        """
        frontend = Python()
        asked, tables = models_asked(annotations, raters, axes, labels, columns, baselines, options, frontend)
        given = {"annotations": annotations, "raters": raters}
        brought = {name: ((labels or {}).get(name), table) for name, table in tables.items()}
        plain = self._api.sent(asked.spec, asked.found, given, brought)
        with closing(ProgressBar("permutations", shown=progress)) as bar:
            there = self._api.compute(plain, bar.tell)
        return ModelsAnalysis(cast("ModelsResult", there.result), tuple(frontend.notes))

    @takes(AnalysisOptions)
    def quality(
        self,
        annotations: Any,
        raters: Any = None,
        *,
        axes: Axes | None = None,
        power: bool = False,
        **options: Unpack[AnalysisOptions],
    ) -> Quality:
        """Check what data can and cannot show, as :func:`~grasp_core.quality` does.

        Returns
        -------
        Quality
        """
        given = {"annotations": annotations, "raters": raters, "items": None}
        plain, data, notes = self._asked(given, axes, None, options)
        report, of_server = self._api.quality(plain, power=power)
        return Quality(report, of_server if data is None else notes)

    def file(self, place: str, *, name: str = "", token: str | None = None) -> OnServer:
        """Name a file that the server reads itself, to give it in place of data.

        Parameters
        ----------
        place : str
            ``data:`` and a path in the server's folder; an address that it may read; a source in a database
            or tool, such as ``sql:...``; or the sha256 of an upload, as :meth:`files` lists them.
        name : str
            Name of an upload in messages.
        token : str, optional
            Token of a source; by default the one that the server keeps for you.

        Returns
        -------
        OnServer
        """
        return OnServer(lying(place, name, token))

    def files(self, text: str = "") -> pd.DataFrame:
        """List your files in the project, and files in the server's folder whose path contains `text`.

        Returns
        -------
        DataFrame
            `name` and `sha256` of an upload, `location` of a file in the server's folder, `source`, `bytes`,
            `added_at`.
        """
        asked = urlencode({"text": text, "project": self._api.project})
        lying = self._api.ask(f"/files/folder?{asked}")["files"]
        own = self._api.ask(f"/files?{urlencode({'project': self._api.project})}")["files"]
        columns = ["name", "sha256", "location", "source", "bytes", "added_at"]
        return pd.DataFrame([*own, *lying], columns=columns)

    def open(self, run: Run) -> Opened:
        """Return the result of a run."""
        return opened(self._api.result(_id(run)))

    def runs(self, text: str = "", *, limit: int = 50) -> pd.DataFrame:
        """List the project's latest runs whose title, note, owner or tag contains `text`.

        Returns
        -------
        DataFrame
            `id`, `title`, `owner`, `state`, `verdict` in a sentence, `created_at`.
        """
        asked = urlencode({"text": text, "limit": limit, "project": self._api.project})
        columns = ["id", "title", "owner", "state", "verdict", "created_at"]
        return pd.DataFrame(self._api.ask(f"/runs?{asked}")["runs"], columns=columns)

    def compare(self, one: Run, other: Run) -> Compared:
        """Compare a run with another one, as :func:`~grasp_core.compare` does."""
        return compare(*(self.open(run) if isinstance(run, str) else run for run in (one, other)))

    @worded()
    def items(self, run: Run, *, group: Mapping[str, object], question: str | None = None) -> GroupItems:
        """Find the items behind the difference of a run's group, as :func:`~grasp_core.items` does."""
        wanted = {axis: texts(value)[0] for axis, value in group.items()}
        return GroupItems(self._api.items(_id(run), wanted, question))

    def map_raters(self, run: Run) -> MappedRaters:
        """Map the raters of a run by how they agree, as :func:`~grasp_core.map_raters` does."""
        made, plain = self._api.rater_map(_id(run))
        return MappedRaters(made, RunSpec.from_dict(plain["spec"]), plain["data"])

    @takes(PlanOptions)
    def plan(
        self,
        run: Run | None = None,
        *,
        group: Mapping[str, object] | None = None,
        assumed: Assumed | None = None,
        **options: Unpack[PlanOptions],
    ) -> Planned:
        """Do the same as :func:`~grasp_core.plan`, from a run and one of its groups, or from `assumed`.

        Returns
        -------
        Planned
        """
        fields = {name: to_json(value) for name, value in given_fields(options).items()}
        plain: dict[str, Any] = {"spec": fields}
        if assumed is not None:
            if run is not None:
                raise SpecError("a plan takes a run or assumed figures, not both")
            fields["assumed"] = to_json(assumed)
        elif run is None or group is None:
            raise SpecError("a plan takes a run and a group of it, or assumed figures")
        else:
            plain |= {"run": _id(run), "group": {axis: texts(value)[0] for axis, value in group.items()}}
        return Planned(self._api.plan(plain))


def _id(run: Run) -> str:
    named = run.run if isinstance(run, Analysis) else run
    if named is None:
        raise RemoteError("this result was computed here, and is no run on the server", "no-run")
    return named


@worded()
def connect(address: str, token: str | None = None, *, project: str = "everyone") -> Connection:
    """Connect to a server that computes, by the same calls.

    Parameters
    ----------
    address : str
        Address of the server, such as ``https://grasp.example.org``.
    token : str, optional
        A personal token with the scope "run" (docs/api.md); none if the server asks nobody to sign in.
    project : str
        Id of your project in which runs are kept; by default the project of everybody.

    Returns
    -------
    Connection

    Raises
    ------
    RemoteError
        If this is no GRASP server, it cannot be reached, or it does not know the token; `code` says why.
    """
    api = Api(address, token, project)
    api.ask("/me")
    return Connection(api)
