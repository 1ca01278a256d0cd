"""The parts of a server process that its pages and its API share: settings, store and running work."""

import logging
import threading
from collections.abc import Callable
from concurrent.futures import Executor
from dataclasses import dataclass, fields
from typing import Any

from grasp_core.engine.compute import server_pool
from grasp_core.engine.process import ComputingProcess
from grasp_core.engine.service import ItemAnswers, PendingAnswers, Plans, Service
from grasp_core.model.access import Reach
from grasp_core.model.errors import StoreError
from grasp_core.model.rates import Rates
from grasp_core.model.settings import Settings, read_settings
from grasp_core.reading.connectors.source import Source
from grasp_core.reading.sandbox.process import HELPER
from grasp_core.reading.sources.allowed import AllowedSources
from grasp_core.report.writers.cache import ExportCache
from grasp_core.server.accounts import Accounts
from grasp_core.server.identity import Visitors
from grasp_core.server.watches import History, Sources, WatchRunner
from grasp_core.server.webhooks import Webhooks
from grasp_core.store.api_calls import OutcomeStore, WebhookStore
from grasp_core.store.database import check, connect, database_url, leave_no_trace
from grasp_core.store.files import FileStore
from grasp_core.store.links import LinkStore, TryStore
from grasp_core.store.people.audit import Refusals
from grasp_core.store.people.credentials import SourceTokenStore, TokenStore
from grasp_core.store.people.projects import ProjectStore
from grasp_core.store.readings import DraftStore, ReadingStore
from grasp_core.store.runs import AnswerStore, RunStore
from grasp_core.store.submissions import SubmissionStore
from grasp_core.store.watches import WatchStore

log = logging.getLogger(__name__)

SWEEP_SECONDS = 600.0
"""Seconds between deletions of data that are past their age."""
WEBHOOK_SECONDS = 3.0
"""Seconds between checks for messages that are due."""
WATCH_SECONDS = 5.0
"""Seconds between checks for watches that are due, and for runs of watches that have ended."""
KEEP_ENDED_DAYS = 90.0
"""Days for which tokens that no longer work stay listed, so that their owners can see why."""
SESSION_DAYS = 32.0
"""Days for which a session is kept: Streamlit accepts its cookie for 31 days."""


@dataclass(eq=False)
class Stores:
    """The stores, limited to somebody's reach."""

    runs: RunStore
    files: FileStore
    links: LinkStore
    readings: ReadingStore
    drafts: DraftStore
    submissions: SubmissionStore
    answers: AnswerStore
    projects: ProjectStore
    watches: WatchStore


class Server(Stores):
    """The parts of a server: stores without a limit, for the server's own work, and everything beside them.

    A person's requests get stores from :meth:`seen`. Nothing runs before :meth:`start`.

    `make_executor`: makes an executor that computes runs in this process; by default another process does.
    `works`, `questions`: background work for requests that read files, and for those that compute long.

    Raises StoreError if the database cannot be opened; SettingsError if the settings cannot be used.
    """

    def __init__(self, settings: Settings, make_executor: Callable[[int], Executor] | None = None) -> None:
        allowed = AllowedSources(settings.data_dir, settings.data_urls)
        self.settings = settings
        self.database = database = connect(database_url(settings), settings.secret_key)
        self.accounts = Accounts(settings, database)
        super().__init__(
            runs=RunStore(database, queue_limit=settings.queue_limit),
            files=FileStore(database, quota=settings.file_quota_mb * 2**20),
            links=LinkStore(database),
            readings=ReadingStore(database),
            drafts=DraftStore(database),
            submissions=SubmissionStore(database, limit=settings.raft_scorings),
            answers=AnswerStore(database),
            projects=self.accounts.projects,
            watches=WatchStore(database),
        )
        self.tokens, self.outcomes = TokenStore(database), OutcomeStore(database)
        self.audit = self.accounts.audit
        self.refusals = Refusals(self.audit)
        self.rates = Rates(settings)
        self.visitors = Visitors(self.links, TryStore(database), self.audit, self.rates)
        apart = None
        if make_executor is None:
            apart = ComputingProcess(settings)
            make_executor = apart.workers
        pool = server_pool(settings, make_executor)
        self.service = Service(self.runs, self.files, pool, allowed, apart)
        self.plans, self.items = Plans(pool), ItemAnswers(self.service, self.answers)
        self.works, self.questions = PendingAnswers[Any]("reading"), PendingAnswers[Any]("question")
        self.exports = ExportCache()
        self.sources = Sources(SourceTokenStore(database), settings, allowed.folder)
        self.webhooks = Webhooks(WebhookStore(database), settings)
        self.watching = WatchRunner(
            self.watches, self.service, self.accounts, self.sources, self.webhooks.register
        )
        self.history = History(self.service)
        self._threads: list[threading.Thread] = []

    def seen(self, reach: Reach) -> Stores:
        """Return the stores limited to a reach: no statement reads or changes anything beyond it."""
        return Stores(*(getattr(self, part.name).within(reach) for part in fields(Stores)))

    def keep_file(
        self, files: FileStore, content: bytes, name: str, owner: str, source: Source | None = None
    ) -> str:
        """Store a file that somebody uploaded or fetched, and record that in the log; returns its SHA-256."""
        address, kind = (None, {}) if source is None else (str(source), {"source": source.kind})
        sha256 = files.put(content, owner=owner, source=address, name=name)
        self.audit.record(owner, "upload", "file", sha256, {"bytes": len(content), **kind})
        return sha256

    def start(self) -> None:
        """Start computing queued runs, deleting data past their age, and the process that reads files."""
        HELPER.start()
        self.service.start()
        self._repeat("sweep", self.sweep, SWEEP_SECONDS, "nothing swept")
        if self.settings.webhook_urls:
            self._repeat("webhooks", self.webhooks.send_due, WEBHOOK_SECONDS, "no webhook sent")
        if self.watching.possible:
            self._repeat("watch", self.watching.go_on, WATCH_SECONDS, "no watch looked at")

    def close(self) -> None:
        """Hand running work back and end the workers."""
        for work in (self.plans, self.items, self.works, self.questions, self.service):
            work.close()
        for thread in self._threads:
            thread.join()
        self.database.dispose()

    def sweep(self) -> None:
        """Delete files that no run needs any more, blocks of runs given up, and all data past their age."""
        hours, days = self.settings.keep_files_hours, self.settings.keep_runs_days
        self.files.delete_unneeded(older_than_hours=hours)
        self.drafts.delete_older_than(hours)
        self.runs.drop_checkpoints(older_than_hours=hours)
        self.links.delete_leaderboards(older_than_hours=hours, closed=True)
        self.links.end_visits()
        self.outcomes.delete_old()
        self.tokens.delete_ended(older_than_days=KEEP_ENDED_DAYS)
        self.accounts.sessions.delete_older_than(SESSION_DAYS)
        if self.settings.keep_log_days:
            self.audit.delete_older_than(self.settings.keep_log_days)
        if days:
            self.runs.delete_older_than(days)
            self.readings.delete_older_than(days)
            self.links.delete_leaderboards(older_than_hours=days * 24, closed=False)
        leave_no_trace(self.database)

    def check(self) -> None:
        """Raise a StoreError unless the database answers and is the one that was opened."""
        check(self.database)

    def _repeat(self, name: str, work: Callable[[], object], seconds: float, failed: str) -> None:
        """Repeat work in a thread of its own, now and every so many seconds, until the server closes."""

        def repeat() -> None:
            while True:
                try:
                    work()
                except StoreError as error:
                    log.warning("%s: %s", failed, error)
                except Exception as error:  # whatever it is, this thread has to live on
                    log.error("%s: %s", failed, type(error).__name__)
                if self.service.closing.wait(seconds):
                    return

        thread = threading.Thread(target=repeat, name=f"grasp-{name}", daemon=True)
        self._threads.append(thread)
        thread.start()


def shared() -> Server:
    """Return the server of this process; the first call starts it."""
    if not _shared:
        with _starting:  # the first visitor may come while the app is still getting ready
            if not _shared:
                server = Server(read_settings())
                server.start()
                _shared.append(server)
    # Without the lock: pages ask dozens of times, and two threads that once meet at a lock keep meeting.
    return _shared[0]


_starting = threading.Lock()
_shared: list[Server] = []
