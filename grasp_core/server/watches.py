"""Sources that people fetch, and watches: due files are fetched, changed data run again and compared."""

from __future__ import annotations

import hashlib
import logging
import os
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import TYPE_CHECKING, cast, get_args

from grasp_core.analysis.models.labels import sources as model_sources
from grasp_core.engine.run import checked_groups
from grasp_core.engine.service import Service
from grasp_core.model.access import LOCAL_USER, User, only
from grasp_core.model.errors import FAULT, AccessError, DataError, GraspError, MissingResultError, StoreError
from grasp_core.model.extras import has
from grasp_core.model.settings import Settings
from grasp_core.model.text import number
from grasp_core.reading.connectors.fetching import Snapshot, fetch
from grasp_core.reading.connectors.source import HUB, KINDS, TOOLS, Hosts, Source, hosts_of, is_source, parse
from grasp_core.reading.connectors.source import Kind as SourceKind
from grasp_core.reading.sources.allowed import Fetched, Folder
from grasp_core.report.changes import details, headline
from grasp_core.report.comparison import Comparison, compare
from grasp_core.server.accounts import Accounts
from grasp_core.store.people.credentials import KeptToken, SourceTokenStore
from grasp_core.store.runs import RunRecord
from grasp_core.store.watches import FAILURES, Kind, Origin, Paused, Watch, WatchStore, cron_line

if TYPE_CHECKING:
    from cryptography.hazmat.primitives.ciphers.aead import AESGCM

_NONCE = 12


class TokenSeal:
    """Encrypts and decrypts tokens; without a `key`, random text of 32 characters or more, keeps none."""

    def __init__(self, key: str) -> None:
        self._key = hashlib.sha256(b"tokens of sources " + key.encode()).digest() if key else None

    def __bool__(self) -> bool:
        return self._key is not None

    def seal(self, token: str, owner: str, site: str) -> bytes:
        """Encrypt a token for a person and a site."""
        nonce = os.urandom(_NONCE)
        return nonce + self._cipher().encrypt(nonce, token.encode(), _bound(owner, site))

    def open(self, sealed: bytes, owner: str, site: str) -> str:
        """Decrypt a token; raises DataError if the server's key is another one now."""
        from cryptography.exceptions import InvalidTag

        try:
            content = self._cipher().decrypt(sealed[:_NONCE], sealed[_NONCE:], _bound(owner, site))
        except (InvalidTag, ValueError):
            raise DataError(
                "the kept token cannot be opened: this server's key (GRASP_SECRET_KEY) is another one now; "
                "give the token again"
            ) from None
        return content.decode()

    def _cipher(self) -> AESGCM:
        from cryptography.hazmat.primitives.ciphers.aead import AESGCM

        if self._key is None:
            raise DataError("this server keeps no tokens; whoever runs it can set GRASP_SECRET_KEY")
        return AESGCM(self._key)


def _bound(owner: str, site: str) -> bytes:
    return f"{len(owner)}:{owner}{site}".encode("utf-8", "surrogatepass")


class Sources:
    """Sources that people may fetch; raises SettingsError if the settings' list of hosts is not valid."""

    def __init__(self, tokens: SourceTokenStore, settings: Settings, folder: Folder | None) -> None:
        self._tokens, self._folder = tokens, folder
        self._box = TokenSeal(settings.secret_key)
        self.hosts: Hosts = hosts_of(settings.source_hosts, own_machine=settings.own_machine)

    @property
    def kinds(self) -> tuple[SourceKind, ...]:
        """Kinds of sources that can be fetched here."""
        if self.hosts.any or self.hosts.named:
            return tuple(kind for kind in KINDS if has(TOOLS[kind].client))
        return ("sql",) if self._folder is not None else ()

    @property
    def keeps(self) -> bool:
        """True if this server can keep tokens."""
        return bool(self._box)

    def fetch(
        self, source: Source, *, owner: str, token: str = "", told: Callable[[str], None] = lambda _: None
    ) -> Snapshot:
        """Fetch a source, by default with the person's kept token; raises DataError if it cannot be done."""
        return fetch(
            source, token or self.token(source, owner=owner), hosts=self.hosts, folder=self._folder, told=told
        )

    def keep(self, source: Source, token: str, *, owner: str) -> None:
        """Keep a token for everything on the source's server."""
        site = _site(source)
        self._tokens.keep(self._box.seal(token.strip(), owner, site), owner=owner, site=site)

    def kept(self, source: Source, *, owner: str) -> KeptToken | None:
        """A person's kept token for a source."""
        return self._tokens.get(owner=owner, site=_site(source))

    def forget(self, site: str, *, owner: str) -> bool:
        """Delete a person's token; return whether there was one."""
        return self._tokens.forget(owner=owner, site=site)

    def check_unattended(self, source: Source, *, owner: str) -> None:
        """Raise a DataError if a source needs a token, and none is kept for use while its person is away."""
        if not source.tool.needs_token or self.token(source, owner=owner):
            return
        how = (
            "fetch it on Data once more, and have the token kept"
            if self.keeps
            else "this server keeps none (GRASP_SECRET_KEY)"
        )
        raise DataError(f"{source.shown} takes a token while you are away: {how}")

    def token(self, source: Source, *, owner: str) -> str:
        """Return a person's kept token for a source, or on their own machine the tool's variable, or "".

        Raises DataError if it cannot be opened.
        """
        found = self.kept(source, owner=owner) if self._box else None
        if found is not None:
            return self._box.open(found.sealed, owner, found.site)
        return os.environ.get(source.tool.variable, "") if self.hosts.any else ""


def _site(source: Source) -> str:
    return source.site(os.environ.get("HF_ENDPOINT", HUB).rstrip("/"))


EVERY: Mapping[str, str] = {"hourly": "every hour", "daily": "every day", "weekly": "every week"}
PAUSED: Mapping[Paused, str] = {
    "person": "Paused.",
    "failures": f"Paused after {FAILURES} looks in a row that failed.",
    "rights": "Stopped: the person whose watch it is may not start runs in this project any more.",
    "run": "Stopped: the run that it repeats is not in this project any more.",
}
CANCELLED = "The run of the changed data was cancelled."
MOVED = "The run of the changed data is not in this project any more."


def how_often(every: str) -> str:
    """Return a phrase for how often a watch looks."""
    if every in EVERY:
        return EVERY[every]
    if " " in every:
        explained = cron_line(every).explain()
        return f"{explained[:1].lower()}{explained[1:]} (UTC)"
    count, unit = int(every[:-1]), {"h": "hour", "d": "day"}[every[-1]]
    return f"every {unit}" if count == 1 else f"every {number(count, unit)}"


def state(watch: Watch) -> str:
    """Return the state of a watch, in a sentence."""
    if watch.paused is not None:
        return PAUSED[watch.paused]
    if watch.going_run is not None:
        return "Its files have changed; they are being analysed."
    if watch.failures:
        return f"The last {'look' if watch.failures == 1 else f'{watch.failures} looks'} failed."
    return "Up to date with its files." if watch.looked_at else "Not looked at yet."


log = logging.getLogger(__name__)

_UNKNOWN_RIGHTS = (
    "A watch runs while you are away, and then it is not known that you may run here: you belong to this "
    "project by a group of the sign-in provider alone. Its owners can add your mail address."
)
BROUGHT = "This result was brought from elsewhere, without its data, so there is nothing to look at."


@dataclass(eq=False)
class WatchRunner:
    """Makes watches, looks at due ones, and runs changed data again, with the owner's rights."""

    _store: WatchStore
    _service: Service
    _accounts: Accounts
    _sources: Sources
    _tell: Callable[..., None]

    @property
    def possible(self) -> bool:
        """True if this server has any place that can be watched."""
        return bool(self._service.inputs.allowed or self._sources.kinds)

    def refusal(self, run: RunRecord) -> str | None:
        """Return the reason why a run cannot be watched, in a sentence; None if it can."""
        try:
            self.origins(run)
        except DataError as error:
            return str(error)
        return None

    def origins(self, run: RunRecord) -> tuple[Origin, ...]:
        """Return the locations of a run's files; raises DataError without a result, or if a file has none."""
        if run.state != "done":
            raise DataError("A run is watched once it has a result.")
        places = self._service.inputs.places(run)
        if not places:
            raise DataError(BROUGHT)
        found = []
        for kind, place in places.items():
            if place is None or kind not in get_args(Kind):
                raise DataError(
                    f"The {kind} file has no address to look at: it was uploaded. Take it on Data from this "
                    "server's folder, an address or a tool, run, and watch that."
                )
            found.append(Origin(cast(Kind, kind), place))
        return tuple(found)

    def add(self, run: RunRecord, *, every: str, by: User, webhook: str | None = None) -> Watch:
        """Watch a run's files for a person; the caller has checked that they may run in the project.

        Raises AccessError if that cannot be checked while they are away; DataError as :meth:`origins`.
        """
        origins = self.origins(run)
        if self._acting(by.id, run.project) is None:
            raise AccessError(_UNKNOWN_RIGHTS)
        for origin in origins:
            if is_source(origin.location):
                self._sources.check_unattended(parse(origin.location), owner=by.id)
        store = self._store.within(only(run.project))
        return store.add(run.id, origins, owner=by.id, title=run.title, every=every, webhook=webhook)

    def go_on(self) -> None:
        """Find out which runs have ended, and look at the watches that are due."""
        self.settle()
        self.look_due()

    def look_due(self) -> int:
        """Look at all watches that are due; returns how many."""
        count = 0
        while (watch := self._store.take()) is not None:
            self.look(watch)
            count += 1
        return count

    def look(self, watch: Watch) -> None:
        """Look at a claimed watch; a failure is saved with it.

        Raises StoreError if the database does not answer; any server can claim the watch after a while.
        """
        try:
            self._look(watch)
        except StoreError:
            raise
        except GraspError as error:
            self._store.failed(watch, str(error))
        except Exception as error:  # the type alone: a message could quote rater data
            log.error("watch %s failed: %s", watch.id, type(error).__name__)
            self._store.failed(watch, FAULT)

    def settle(self) -> None:
        """Update watches whose run of changed data has ended, or is gone."""
        for watch in self._store.going():
            run = self._run(watch, watch.going_run)
            if run is None:
                self._store.run_failed(watch, MOVED)
            elif run.state == "done":
                self._store.run_done(watch)
            elif run.ended:
                self._store.run_failed(watch, run.error or CANCELLED)

    def fetch(self, origin: Origin, *, owner: str) -> Fetched:
        """Fetch the file as it is now, for a person; only this method knows the kinds of origins."""
        if is_source(origin.location):
            return self._sources.fetch(parse(origin.location), owner=owner)
        return self._service.inputs.allowed.fetch(origin.location)

    def _look(self, watch: Watch) -> None:
        user = self._acting(watch.owner, watch.project)
        if user is None:
            self._store.stop(watch, "rights")
            return
        last = self._run(watch, watch.last_run)
        if last is None:
            self._store.stop(watch, "run")
            return
        files = {str(origin.kind): self.fetch(origin, owner=watch.owner) for origin in watch.sources}
        if [file.sha256 for file in files.values()] == [file.sha256 for file in last.summary.files]:
            self._store.looked(watch)
            return
        reach = user.reach(watch.project)
        for file in files.values():
            if is_source(file.location) and isinstance(file.content, bytes):  # it cannot be read there again
                kept = self._service.files.within(reach)
                kept.put(file.content, owner=user.id, source=file.location, name=file.name)
        dataset = self._service.inputs.fresh(last.spec, files, owner=user.id, reach=reach)
        spec = replace(last.spec, models=model_sources(dataset.models))
        checked_groups(dataset, spec)
        run, known = self._service.submit(dataset, spec, title=watch.title, reach=reach, owner=user.id)
        self._accounts.audit.record(user.id, "run", "run", run.id, {"known": known, "watch": watch.id})
        if watch.webhook is not None:
            with suppress(DataError):  # the server's settings allow the address no more
                self._tell(run.id, watch.webhook, owner=user.id)
        self._store.looked(watch, going_run=run.id)

    def _run(self, watch: Watch, run_id: str | None) -> RunRecord | None:
        """Return a run of the watch, if it is (still) in the watch's project."""
        return None if run_id is None else self._service.runs.within(only(watch.project)).get(run_id)

    def _acting(self, owner: str, project: str) -> User | None:
        """Return the watch's owner, if they may run in the project now."""
        user = self.person(owner)
        return user if user is not None and user.may_run_in(project) else None

    def person(self, owner: str) -> User | None:
        """Return a person who is away, with their projects; None if they are not admitted (any more)."""
        if not self._accounts.settings.sign_in:
            return None if owner else LOCAL_USER
        user = self._accounts.acting(owner)
        return None if user is None else self._accounts.known(user)


_REMEMBERED = 256


@dataclass(frozen=True, slots=True)
class WatchStep:
    """A run of a watch, and the changes since the run `before`; number 0 is the run that was watched."""

    number: int
    run_id: str
    before: str | None
    at: float
    headline: str
    details: tuple[str, ...]
    found: Comparison | None


class History:
    """Finds the steps of watches; comparisons of two results are remembered, as results never change."""

    def __init__(self, service: Service) -> None:
        self._result = service.result
        self._since = lru_cache(maxsize=_REMEMBERED)(self._compared)

    def steps(self, store: WatchStore, watch: Watch, *, limit: int = 50) -> list[WatchStep]:
        """Return the latest steps, latest first; `store` is limited to the reach of the person who asks."""
        runs = store.runs_of(watch.id)
        steps = []
        for before, run in list(zip([None, *runs], runs, strict=False))[-limit:]:
            found = None if before is None else self._since(before.run_id, run.run_id)
            if before is None:
                told = "The first run of this watch."
            elif found is None:
                told = "This run cannot be compared with the one before."
            else:
                told = headline(found)
            one_by_one = () if found is None else details(found)
            before_id = None if before is None else before.run_id
            steps.append(WatchStep(run.number, run.run_id, before_id, run.added_at, told, one_by_one, found))
        return steps[::-1]

    def _compared(self, before: str, now: str) -> Comparison | None:
        try:
            return compare(self._result(before), self._result(now))
        except MissingResultError:  # deleted meanwhile
            return None
