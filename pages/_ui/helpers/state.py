"""State of a visit: loaded files, choices and runs."""

import time
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, tzinfo
from typing import get_args
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

import streamlit as st

from grasp_core.model.access import Token
from grasp_core.model.data_spec import Combine, DataSpec, Recode
from grasp_core.model.errors import DataError, GraspError, Problem
from grasp_core.model.spec import AnalysisSpec, Level, RunSpec
from grasp_core.model.text import number
from grasp_core.reading.dataset.load import Dataset
from grasp_core.reading.dataset.recoding import recode
from grasp_core.reading.guess.advice import Named, Reason
from grasp_core.reading.guess.file_roles import Role
from grasp_core.reading.guess.recognise import Guess
from grasp_core.reading.guess.tables import guessed, loaded
from grasp_core.reading.table.table import Table
from grasp_core.report.contents import run_title
from grasp_core.server import server
from grasp_core.store.links import Link
from grasp_core.store.readings import Draft, DraftFile
from grasp_core.store.runs import RunRecord
from pages._ui.helpers.identity import asker, current_project, current_user, require_run, stores, stores_of
from pages._ui.helpers.screens import for_pages, go

_UNITS = (("day", 86400), ("hour", 3600), ("minute", 60))
_DATE_FROM_DAYS = 45


def zone() -> tzinfo:
    """Return the browser's time zone, or UTC if it is unknown."""
    try:
        return ZoneInfo(st.context.timezone or "UTC")
    except (ZoneInfoNotFoundError, ValueError):
        return UTC


def exactly(moment: float) -> str:
    """Format a moment like "21 Nov 2026, 15:50 CET"."""
    there = datetime.fromtimestamp(moment, zone())
    return f"{on_day(moment, '%b')}, {there:%H:%M %Z}"


def on_day(moment: float, month: str = "%B") -> str:
    """Format a moment's day like "21 November 2026"."""
    there = datetime.fromtimestamp(moment, zone())
    return f"{there.day} {there:{month} %Y}"


def in_words(moment: float, now: float | None = None) -> str:
    """Format a moment like "3 minutes ago" or "in 2 days"; far from now only :func:`exactly` helps."""
    seconds = moment - (time.time() if now is None else now)
    away = abs(seconds)
    if away > _DATE_FROM_DAYS * 86400:
        return "long ago" if seconds < 0 else "later"
    for unit, length in _UNITS:
        if away >= length:
            amount = number(round(away / length), unit)
            return f"in {amount}" if seconds > 0 else f"{amount} ago"
    return "just now" if seconds <= 0 else "in less than a minute"


def in_full(moment: float) -> str:
    """Format a moment in words and exactly."""
    return f"{in_words(moment)} ({exactly(moment)})"


def ending(one: Link | Token) -> str:
    """Format when a share link or a token ends or ended."""
    if one.revoked_at is not None:
        return f"withdrawn {in_full(one.revoked_at)}"
    if one.expires_at is None:
        return "no end"
    return f"{'ended' if one.expired else 'ends'} {in_full(one.expires_at)}"


def lasted(seconds: float) -> str:
    """Format a duration like "3.2 s" or "4 min 10 s"."""
    if seconds < 60:
        return f"{seconds:.1f} s"
    minutes, rest = divmod(round(seconds), 60)
    if minutes < 60:
        return f"{minutes} min {rest} s"
    hours, minutes = divmod(minutes, 60)
    return f"{hours} h {minutes} min"


KEY = "work"
SLOTS: tuple[Role, ...] = get_args(Role)
Files = Mapping[Role, DraftFile | None]
MaybeTable = Table | None
Tables = dict[Role, MaybeTable]
Loaded = tuple[Dataset, DataSpec, float]
"""Data set, the spec under which the files were read, and the seconds it took."""


@dataclass
class VisitorSession:
    """One visitor's session."""

    # Files in use, the guess of their columns, and the number of changes of files.
    annotations: MaybeTable = None
    raters: MaybeTable = None
    items: MaybeTable = None
    guess: Guess | None = None
    generation: int = 0
    # Questions on these files that somebody answered, and the columns named so: the basis of the guess.
    answered: dict[str, Reason] = field(default_factory=dict)
    named: Named = field(default_factory=Named)
    # Data set for the analysis, or None. `shown` is the one that Data shows, also with open questions.
    # `refusals` keeps problems of specs that cannot be read, so that no file is read again for them. `apart`
    # is the data set of one of several label questions.
    dataset: Dataset | None = None
    data_spec: DataSpec | None = None
    load_s: float = 0.0
    shown: Loaded | None = None
    refusals: dict[DataSpec, tuple[Problem, ...]] = field(default_factory=dict)
    apart: Loaded | None = None
    # Choices: answers about rows that may not count, the answers that Data asks for now, open questions,
    # and the spec without the answers.
    answers: dict[str, bool] = field(default_factory=dict)
    asked: dict[str, bool | None] = field(default_factory=dict)
    level: Level = "nominal"
    open: tuple[str, ...] = ()
    chosen: DataSpec | None = None
    recode: tuple[Recode, ...] = ()
    # The draft stored last, and whether the visit has looked for a stored one.
    draft: Draft | None = None
    resumed: bool = False
    # Settings that Analysis starts from: None for the defaults.
    settings: AnalysisSpec | None = None
    settings_generation: int = 0
    shuffles_asked: bool = False
    # Ids and titles of runs, newest first; the id of a finished run that was found instead of computed anew.
    runs: list[tuple[str, str]] = field(default_factory=list)
    found_again: str | None = None
    _recoded: tuple[DataSpec, tuple[Table, Table | None, Table | None]] | None = None
    _distinct: dict[tuple[int, str], tuple[str, ...]] = field(default_factory=dict)
    # Files whose tables were dropped, and whether a data set was loaded.
    _given_up: tuple[Files, bool] | None = None

    @property
    def tables(self) -> Tables:
        """Tables in use by role."""
        return {slot: getattr(self, slot) for slot in SLOTS}

    @property
    def files(self) -> dict[Role, DraftFile | None]:
        """Stored files in use by role."""
        return {
            slot: None if table is None else DraftFile(table.name, table.sha256, table.member)
            for slot, table in self.tables.items()
        }

    @property
    def hashes(self) -> list[str]:
        """Hashes of the files in use."""
        return [file.sha256 for file in self.files.values() if file is not None]

    def give_up_tables(self) -> bool:
        """Drop tables and data while no tab shows them; :func:`work` reads them again."""
        if not self.hashes:
            return False
        self._given_up = self.files, self.dataset is not None
        self.annotations = self.raters = self.items = self.dataset = self.apart = self._recoded = None
        self.shown, self._distinct = None, {}
        return True

    def take_up_tables(self) -> None:
        """Read dropped tables again; if that fails, there are no files."""
        given_up, self._given_up = self._given_up, None
        if given_up is None:
            return
        files, was_loaded = given_up
        try:
            self.annotations, self.raters, self.items = tables_again(files).values()
            if was_loaded and self.annotations is not None and self.data_spec is not None:
                self.dataset = loaded(self.annotations, self.raters, self.data_spec, items=self.items)
        except GraspError:
            self.use_files(None, None)

    def key(self, name: str) -> str:
        """Return a widget's key that changes with the files."""
        return f"{name}-{self.generation}"

    def use_files(
        self,
        annotations: MaybeTable,
        raters: MaybeTable,
        guess: Guess | None = None,
        items: MaybeTable = None,
    ) -> None:
        """Use these files; everything derived from earlier ones is guessed anew."""
        if guess is None and annotations is not None:
            guess = guessed(annotations, raters, items)
        self.annotations, self.raters, self.items, self.guess = annotations, raters, items, guess
        self.dataset = self.data_spec = self.apart = self.shown = None
        self.open, self.chosen, self.refusals = (), None, {}
        self._distinct = {}
        self.recode = () if guess is None else guess.spec.recode
        self._recoded = None
        self.answered, self.named = {}, Named()
        self.generation += 1

    def guess_around(self, named: Named, answered: dict[str, Reason], further: Collection[str] = ()) -> None:
        """Guess the files anew around answers, as the command does with columns named there.

        Raises DataError if the answers do not fit the files.
        """
        guess = guessed(self.annotations, self.raters, self.items, named=named, further=further)
        recoded = self.recode
        self.use_files(self.annotations, self.raters, guess, self.items)
        self.named, self.answered = named, answered
        self.recode = recoded or self.recode

    @property
    def proposed_axes(self) -> tuple[str, ...]:
        """Axes to begin with: the guessed ones, and recoded columns, since they were recoded for a reason."""
        guessed = () if self.guess is None else self.guess.axes
        changed = [step.column for step in self.recode if not isinstance(step, Combine)]
        return tuple(dict.fromkeys([*guessed, *(name for name in changed if name is not None)]))

    def recoded(self, spec: DataSpec) -> tuple[Table, Table | None, Table | None] | None:
        """Return the tables recoded under `spec`; None if that is not possible."""
        if self.annotations is None:
            return None
        further = tuple(replace(question, categories=None) for question in spec.further)
        key = replace(spec, categories=None, further=further)  # their order changes no cell
        if self._recoded is None or self._recoded[0] != key:
            try:
                annotations, raters, items, _ = recode(self.annotations, self.raters, spec, self.items)
            except DataError:
                return None
            self._recoded = key, (annotations, raters, items)
            self._distinct = {one: texts for one, texts in self._distinct.items() if one[0] < len(SLOTS)}
        return self._recoded[1]

    def distinct(self, table: Table, column: str) -> tuple[str, ...]:
        """Return the distinct texts of a column, of a table in use or recoded last; looked up only once."""
        tables = (*self.tables.values(), *(self._recoded[1] if self._recoded else ()))
        place = next((place for place, one in enumerate(tables) if one is table), None)
        if place is None:
            return table.distinct(column)
        if (place, column) not in self._distinct:
            self._distinct[place, column] = table.distinct(column)
        return self._distinct[place, column]

    def load(self, spec: DataSpec) -> Loaded:
        """Read the files in use under a spec."""
        if self.annotations is None:
            raise DataError("There are no annotations to read.")
        started = time.perf_counter()
        dataset = loaded(self.annotations, self.raters, spec, items=self.items)
        return dataset, spec, time.perf_counter() - started

    def use_dataset(self, dataset: Dataset | None, spec: DataSpec | None, load_s: float = 0.0) -> None:
        """Use the data set read under `spec`, or none if the files cannot be used."""
        self.dataset, self.data_spec, self.load_s = dataset, spec, load_s
        self.apart = None

    def use_settings(self, settings: AnalysisSpec, *, shuffles: bool = False) -> None:
        """Let the Analysis page start from these settings, with those of shuffles in sight if asked for."""
        self.settings, self.shuffles_asked = settings, shuffles
        self.settings_generation += 1

    def remember(self, run: RunRecord) -> None:
        """Put the run first in this session's list."""
        self.runs = [(run.id, run.title), *(entry for entry in self.runs if entry[0] != run.id)][:10]

    def rename(self, run_id: str, title: str) -> None:
        """Rename the run in this session's list too."""
        self.runs = [(known, title if known == run_id else old) for known, old in self.runs]

    def forget(self, run_id: str) -> None:
        """Remove the run from this session's list."""
        self.runs = [entry for entry in self.runs if entry[0] != run_id]


def table_again(name: str, sha256: str, member: str | None) -> Table:
    """Read a stored file again, if this visitor may read it in the current project."""
    user = current_user()
    return server.shared().service.inputs.table(name, sha256, member, reach=user.reach(current_project(user)))


def members_of(annotations: Table, raters: Table | None, items: Table | None) -> dict[str, str | None]:
    """Return sheets, or members of archives, as fields of a spec."""
    return {
        "member": annotations.member,
        "raters_member": None if raters is None else raters.member,
        "items_member": None if items is None else items.member,
    }


def tables_again(files: Files) -> Tables:
    """Read the stored files again, by role."""
    found: Tables = dict.fromkeys(SLOTS)
    for slot, file in files.items():
        if file is not None:
            found[slot] = table_again(file.name, file.sha256, file.member)
    return found


def work() -> VisitorSession:
    """Return the visitor's session."""
    if KEY not in st.session_state:
        st.session_state[KEY] = VisitorSession()
    session: VisitorSession = st.session_state[KEY]
    session.take_up_tables()
    return session


KEPT_RATERS = "kept-raters"
"""Name under which a run stores columns and values of raters who count although the data mark them."""


def submit(
    dataset: Dataset,
    spec: RunSpec,
    load_s: float,
    *,
    project: str | None = None,
    kept: Sequence[tuple[str, str]] = (),
) -> RunRecord:
    """Ask for a run in a project, by default the current one; the same data and spec give the same run."""
    user = require_run(project)
    server.shared().rates.run(asker(user))
    reach = user.reach(project or current_project(user))
    run, known = server.shared().service.submit(
        dataset, spec, title=run_title(spec), reach=reach, owner=user.id, load_s=load_s
    )
    if kept:
        stores_of(run).answers.keep(run.id, KEPT_RATERS, [list(one) for one in kept])
    server.shared().audit.record(user.id, "run", "run", run.id, {"known": known})
    session = work()
    session.remember(run)
    session.found_again = run.id if known and run.state == "done" else None
    return run


def ask_again(run: RunRecord, spec: RunSpec) -> None:
    """Read the run's files under another spec, start that run in the same project, and show it."""
    require_run(run.project)
    try:
        with st.spinner("Reading the data"):
            dataset = server.shared().service.data_of(replace(run, spec=spec))
            back = [one for one in run.spec.data.exclude if one not in spec.data.exclude]
            again = submit(dataset, spec, 0.0, project=run.project, kept=back)
    except DataError as error:
        st.warning(for_pages(str(error)))
        return
    go("results", run_id=again.id)


def shown_run() -> RunRecord | None:
    """Return the run that the address names; without one, the session's latest."""
    session = work()
    run_id = st.query_params.get("run") or (session.runs[0][0] if session.runs else None)
    run = stores().runs.get(run_id) if run_id else None
    if run is not None:
        if st.query_params.get("run") != run.id:
            st.query_params["run"] = run.id
        session.remember(run)
    return run
