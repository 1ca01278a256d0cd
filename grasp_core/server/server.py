"""The parts of a server process that its pages and its API share: settings, store and running work."""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable
from concurrent.futures import Executor
from dataclasses import dataclass, field, fields
from typing import Any

from sqlalchemy import Engine

from grasp_core.engine.background import GroupItems, Makings, Plans
from grasp_core.engine.pools.choose import server_pool
from grasp_core.engine.process import Apart
from grasp_core.engine.service import Service
from grasp_core.model.access import Reach, User
from grasp_core.model.errors import StoreError
from grasp_core.model.rates import Rates
from grasp_core.model.settings import Settings, read_settings
from grasp_core.reading.sandbox.process import HELPER
from grasp_core.reading.sources.allowed import AllowedSources
from grasp_core.report.writers.kept import KeptExports
from grasp_core.server.accounts import Accounts, accounts_of
from grasp_core.server.links import Visitors
from grasp_core.server.sources import Sources
from grasp_core.server.watches import History, Watches
from grasp_core.server.webhooks import Webhooks
from grasp_core.store.answers import AnswerStore
from grasp_core.store.calls import OutcomeStore, WebhookStore
from grasp_core.store.database import check, connect, database_url, leave_no_trace
from grasp_core.store.drafts import DraftStore
from grasp_core.store.files import FileStore
from grasp_core.store.links import LinkStore
from grasp_core.store.people.audit import AuditStore, Refusals
from grasp_core.store.people.projects import ProjectStore
from grasp_core.store.people.tokens import SourceTokenStore, TokenStore
from grasp_core.store.readings import ReadingStore
from grasp_core.store.runs import RunStore
from grasp_core.store.submissions import SubmissionStore
from grasp_core.store.visiting import TryStore
from grasp_core.store.watches import WatchStore

log = logging.getLogger(__name__)

SWEEP_SECONDS = 600.0
"""How often what has outlived its time is deleted."""
KEEP_ENDED_DAYS = 90.0
"""How long tokens that work no more are listed, for those who wonder why."""
SESSION_DAYS = 32.0
"""How long a session is kept: Streamlit's cookie is taken for 31 days."""


@dataclass(frozen=True, eq=False)
class Stores:
    """The stores, as far as somebody reaches."""

    runs: RunStore
    files: FileStore
    links: LinkStore
    readings: ReadingStore
    drafts: DraftStore
    submissions: SubmissionStore
    answers: AnswerStore
    projects: ProjectStore
    watches: WatchStore


@dataclass(frozen=True, eq=False)
class Server:
    """The parts of a server.

    `runs`, `files`, `links`, `readings`, `drafts`, `submissions`, `answers`, `projects`, `watches`, `tokens`,
        `outcomes`: stores of all that lasts, for what is done for nobody in particular. Whoever asks gets
        :meth:`seen`.
    `accounts`: who signs in, and what they may do.
    `audit`: who did what.
    `refusals`: what people were refused, which goes to the log.
    `visitors`: who comes by a share link.
    `service`: takes in questions and has them computed.
    `plans`: plans of the next round, computed beside it.
    `items`: which items carry what groups of runs say differently.
    `works`, `questions`: requests whose files are read beside them, and those that ask for what takes long to
        compute.
    `exports`: files of results.
    `webhooks`: what tells others that a run has ended.
    `watching`: what looks at files of watches.
    `history`: what came of them.
    `sources`: tools and databases from which people fetch.
    `rates`: how often who has asked for what.
    """

    settings: Settings
    database: Engine
    runs: RunStore
    files: FileStore
    links: LinkStore
    readings: ReadingStore
    drafts: DraftStore
    submissions: SubmissionStore
    answers: AnswerStore
    projects: ProjectStore
    watches: WatchStore
    tokens: TokenStore
    outcomes: OutcomeStore
    accounts: Accounts
    audit: AuditStore
    refusals: Refusals
    visitors: Visitors
    service: Service
    plans: Plans
    items: GroupItems
    works: Makings[Any]
    questions: Makings[Any]
    exports: KeptExports
    webhooks: Webhooks
    watching: Watches
    history: History
    sources: Sources
    rates: Rates
    _threads: list[threading.Thread] = field(default_factory=list, init=False)

    def seen(self, reach: Reach) -> Stores:
        """The stores, for somebody of this reach: every statement reads and changes nothing beyond it."""
        return Stores(*(getattr(self, part.name).within(reach) for part in fields(Stores)))

    def known(self, user: User) -> User:
        """The user with their projects."""
        return self.accounts.known(user)

    def start(self) -> None:
        """Begin to compute what is queued, and to delete what has outlived its time; get ready to read."""
        HELPER.start()
        self.service.start()
        self._threads.append(threading.Thread(target=self._sweep, name="grasp-sweep", daemon=True))
        if self.settings.webhook_urls:
            self._threads.append(self.webhooks.thread)
        if self.watching.possible:
            self._threads.append(self.watching.thread)
        for thread in self._threads:
            thread.start()

    def close(self) -> None:
        """Hand running work back and end the workers."""
        self.plans.close()
        self.items.close()
        self.works.close()
        self.questions.close()
        self.service.close()
        for thread in self._threads:
            thread.join()
        self.database.dispose()

    def sweep(self) -> None:
        """Delete files that no run needs any more, blocks of runs given up, and what is past its age."""
        self.files.delete_unneeded(older_than_hours=self.settings.keep_files_hours)
        self.drafts.delete_older_than(self.settings.keep_files_hours)
        self.runs.drop_checkpoints(older_than_hours=self.settings.keep_files_hours)
        self.links.delete_leaderboards(older_than_hours=self.settings.keep_files_hours, closed=True)
        self.links.end_visits()
        self.outcomes.delete_old()
        self.tokens.delete_ended(older_than_days=KEEP_ENDED_DAYS)
        self.accounts.sessions.delete_older_than(SESSION_DAYS)
        if self.settings.keep_log_days:
            self.audit.delete_older_than(self.settings.keep_log_days)
        if self.settings.keep_runs_days:
            self.runs.delete_older_than(self.settings.keep_runs_days)
            self.readings.delete_older_than(self.settings.keep_runs_days)
            self.links.delete_leaderboards(older_than_hours=self.settings.keep_runs_days * 24, closed=False)
        leave_no_trace(self.database)

    def check(self) -> None:
        """Find out that what lasts can be reached.

        Raises StoreError if the database does not answer, or its file is gone, damaged or another one.
        """
        check(self.database)

    def _sweep(self) -> None:
        while True:
            try:
                self.sweep()
            except StoreError as error:
                log.warning("nothing swept: %s", error)
            if self.service.closing.wait(SWEEP_SECONDS):
                return


def make_server(settings: Settings, make_executor: Callable[[int], Executor] | None = None) -> Server:
    """Open the store and make the parts; nothing runs before :meth:`Server.start`.

    `make_executor`: computes runs in this process, on these workers; by default another process does, on
        processes.

    Raises StoreError if the database cannot be opened; SettingsError if the allowed sources of files, or the
    cluster, cannot be used.
    """
    allowed = AllowedSources(settings.data_dir, settings.data_urls)
    database = connect(database_url(settings), settings.secret_key)
    runs = RunStore(database, queue_limit=settings.queue_limit)
    files = FileStore(database, quota=settings.file_quota_mb * 2**20)
    apart = None
    if make_executor is None:
        apart = Apart(settings)
        make_executor = apart.workers
    pool = server_pool(settings, make_executor)
    service = Service(runs, files, pool, allowed, apart)
    watches = WatchStore(database)
    accounts = accounts_of(settings, database)
    links = LinkStore(database)
    rates = Rates(settings)
    answers = AnswerStore(database)
    sources = Sources(SourceTokenStore(database), settings, allowed.folder)
    webhooks = Webhooks(WebhookStore(database), settings, service.closing)
    return Server(
        settings=settings,
        database=database,
        runs=runs,
        files=files,
        links=links,
        readings=ReadingStore(database),
        drafts=DraftStore(database),
        submissions=SubmissionStore(database, limit=settings.raft_scorings),
        answers=answers,
        projects=accounts.projects,
        watches=watches,
        tokens=TokenStore(database),
        outcomes=OutcomeStore(database),
        accounts=accounts,
        audit=accounts.audit,
        refusals=Refusals(accounts.audit),
        visitors=Visitors(links, TryStore(database), accounts.audit, rates),
        service=service,
        plans=Plans(pool),
        items=GroupItems(service, answers),
        works=Makings("reading"),
        questions=Makings("question"),
        exports=KeptExports(),
        webhooks=webhooks,
        watching=Watches(watches, service, accounts, sources, webhooks.register),
        history=History(service),
        sources=sources,
        rates=rates,
    )


def shared() -> Server:
    """The server of this process, started."""
    if not _shared:
        with _starting:  # the first visitor may come while the app is still getting ready
            if not _shared:
                server = make_server(read_settings())
                server.start()
                _shared.append(server)
    # Without the lock: pages ask dozens of times, and once two threads meet at one they keep meeting.
    return _shared[0]


_starting = threading.Lock()
_shared: list[Server] = []
