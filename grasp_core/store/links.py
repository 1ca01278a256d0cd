"""Share links: make, use and withdraw them; their passwords, and limits on wrong ones."""

import base64
import hashlib
import hmac
import json
import os
import secrets
import sys
import threading
import unicodedata
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from functools import partial
from ipaddress import IPv6Address, ip_address, ip_network
from typing import Any, Literal, TypedDict, Unpack

import sqlalchemy as sa
from sqlalchemy.exc import IntegrityError

from grasp_core.model.errors import LimitError, StoreError
from grasp_core.model.turns import Turns
from grasp_core.store.base import Bound, Store, from_row
from grasp_core.store.database import digest_of, insert_new, new_id, to_read, to_write
from grasp_core.store.schema import link_tries, link_visits, links, runs

MOST_USES = 1_000_000
"""Largest number of visits that a link may be limited to."""


@dataclass(frozen=True, slots=True)
class Target:
    """Target of a link: a run, by its id, or a leaderboard saved with the link, by the link's id."""

    kind: Literal["run", "leaderboard"]
    id: str
    small_groups: bool = field(default=False, compare=False)


@dataclass(frozen=True, slots=True)
class Lock:
    """A working link, and the hash of the password that this visitor needs; None if they need none."""

    link_id: str
    target: Target
    password: str | None


class LinkTerms(TypedDict, total=False):
    """Settings of a new link: name, days and visits after which it ends, password, small groups shown."""

    label: str
    days: float | None
    password: str | None
    max_uses: int | None
    small_groups: bool


@dataclass(frozen=True, slots=True)
class Leaderboard:
    """A leaderboard, ``grasp-leaderboard`` of docs/models.md, as it was when a link to it was made."""

    content: dict[str, Any]
    created_at: float
    title: str = "Leaderboard"


@dataclass(frozen=True, slots=True)
class Link:
    """A share link as its maker sees it; the token itself is shown once and not kept."""

    id: str
    target: Target
    label: str
    created_by: str
    created_at: float
    expires_at: float | None
    revoked_at: float | None
    uses: int
    last_used_at: float | None
    expired: bool
    has_password: bool = False
    max_uses: int | None = None

    @property
    def used_up(self) -> bool:
        """True if the link was opened as often as it may be."""
        return self.max_uses is not None and self.uses >= self.max_uses

    @property
    def goes_on(self) -> bool:
        """True if the link shows its result to somebody: if used up, only during visits that began before."""
        return self.revoked_at is None and not self.expired

    @property
    def state(self) -> str:
        """One or two words: works, or the reason why the link does not."""
        if self.revoked_at is not None:
            return "withdrawn"
        return "expired" if self.expired else "used up" if self.used_up else "works"

    @property
    def works(self) -> bool:
        """True if the link opens its result to a new visitor."""
        return self.goes_on and not self.used_up


TOKEN_BYTES = 32
VISIT_HOURS = 12.0
"""Hours that a visit lasts: a visitor who comes again within them is not counted again."""
_TARGET = (links.c.id, links.c.run_id, links.c.small_groups)


class LinkStore(Bound):
    """Links in the database; anybody who has a link's token can open its target."""

    def create(self, run_id: str, *, created_by: str, **terms: Unpack[LinkTerms]) -> str:
        """Make a link to a run within reach; returns its token, which nobody can read again.

        Raises StoreError if there is no such run; LimitError if the password is too short or too long.
        """
        project = sa.select(runs.c.project_id).where(self._seen_by_id(runs, run_id)).scalar_subquery()
        gone = (
            "No run has this id, so it cannot be shared: it was deleted, or its id, the end of the "
            "address of its page, is another."
        )
        return self._create({"run_id": run_id, "project_id": project}, created_by, terms, gone)

    def create_leaderboard(
        self, content: Mapping[str, Any], *, created_by: str, **terms: Unpack[LinkTerms]
    ) -> str:
        """Make a link to a leaderboard's JSON-ready form, in the project, as :meth:`create` does to a run."""
        target = {"leaderboard": json.dumps(content, allow_nan=False), "project_id": self._home}
        gone = "The project was deleted, so its leaderboard cannot be shared."
        return self._create(target, created_by, terms, gone)

    def _create(self, target: Mapping[str, Any], created_by: str, terms: LinkTerms, gone: str) -> str:
        token, now = secrets.token_urlsafe(TOKEN_BYTES), self._now
        days, password = terms.get("days"), terms.get("password")
        known = {
            "id": new_id(),
            "token_sha256": digest_of(token),
            "created_by": created_by,
            "created_at": now,
        }
        shown = {"label": terms.get("label", ""), "small_groups": terms.get("small_groups", False)}
        ends = None if days is None else now + days * 86400
        asks = {"password": None if password is None else hashed(password), "max_uses": terms.get("max_uses")}
        try:
            self._write(links.insert().values(**known, **shown, **asks, **target, expires_at=ends))
        except IntegrityError:
            raise StoreError(gone) from None
        return token

    def lock(self, token: str, visit: str) -> Lock | None:
        """Return the password that a token's link asks of a visit, as a lock; None if the link does not open.

        A link that is used up still opens during visits that began before.
        """
        goes_on = _visit(token, visit).exists()
        left = links.c.max_uses.is_(None) | (links.c.uses < links.c.max_uses)
        query = sa.select(*_TARGET, links.c.password, goes_on.label("goes_on")).where(
            self._works(token), left | goes_on
        )
        row = self._row(query)
        return None if row is None else Lock(row.id, _target(row), None if row.goes_on else row.password)

    def use(self, token: str, *, visit: str = "", count: bool = True) -> Target | None:
        """Return the target of a token, or None if its link is unknown, revoked, expired or used up.

        `visit`: the visitor's cookie; the same one counts once in :data:`VISIT_HOURS`, "" each time.
        `count`: count this use; of two visitors who come for the last use, one gets it. If False, only look.
        """
        query = sa.select(*_TARGET, links.c.uses, links.c.max_uses).where(self._works(token))
        if count and visit:  # most uses are of a visit that goes on: these wait for no writer
            going_on = self._row(query.where(_visit(token, visit).exists()))
            if going_on is not None:
                return _target(going_on)
        with (to_write if count else to_read)(self._engine) as connection:
            row = connection.execute(query.with_for_update() if count else query).one_or_none()
            if row is None:
                return None
            if count and not (visit and connection.execute(_visit(token, visit)).first()):
                if row.max_uses is not None and row.uses >= row.max_uses:
                    return None
                used = links.update().where(links.c.id == row.id)
                connection.execute(used.values(uses=links.c.uses + 1, last_used_at=self._now))
                if visit:
                    began = {"link_id": row.id, "visit": key_of(token, visit), "began_at": self._now}
                    connection.execute(link_visits.insert().values(began))
        return _target(row)

    def _works(self, token: str) -> sa.ColumnElement[bool]:
        return (links.c.token_sha256 == digest_of(token)) & self._open()

    def _open(self) -> sa.ColumnElement[bool]:
        """SQL condition that a link is neither revoked nor expired."""
        ends: sa.ColumnElement[bool] = links.c.expires_at > self._now
        return links.c.revoked_at.is_(None) & (links.c.expires_at.is_(None) | ends)

    def end_visits(self) -> None:
        """Delete visits that have lasted for :data:`VISIT_HOURS`."""
        old = link_visits.c.began_at < self._now - VISIT_HOURS * 3600
        self._write(link_visits.delete().where(old))

    def revoke(self, link_id: str) -> bool:
        """Make a link stop working for good; returns False if there is none to withdraw."""
        return self._revoke(links.c.id == link_id) > 0

    def revoke_of_run(self, run_id: str) -> int:
        """Make all links to a run stop working; returns how many did."""
        return self._revoke(self._open() & (links.c.run_id == run_id))

    def revoke_of_person(self, person_id: str) -> int:
        """Make all links that a person made stop working; returns how many did."""
        return self._revoke(self._open() & (links.c.created_by == person_id))

    def _revoke(self, which: sa.ColumnElement[bool]) -> int:
        ending = links.update().where(which, links.c.revoked_at.is_(None), self._seen(links.c.project_id))
        revoked = ending.values(revoked_at=self._now)
        return self._write(revoked)

    def of_person(self, person_id: str) -> list[Link]:
        """All links within reach that a person made, latest first."""
        return self._found((links.c.created_by == person_id) & self._seen(links.c.project_id))

    def of_run(self, run_id: str) -> list[Link]:
        """All links to a run within reach, latest first."""
        return self._found((links.c.run_id == run_id) & self._seen(links.c.project_id))

    def of_token(self, token: str) -> Link:
        """Return the link of a token that was just made."""
        (found,) = self._found(links.c.token_sha256 == digest_of(token))
        return found

    def of_leaderboards(self) -> list[Link]:
        """All links to leaderboards of the project, latest first."""
        return self._found(links.c.leaderboard.is_not(None) & (links.c.project_id == self._home))

    def leaderboard(self, link_id: str) -> Leaderboard | None:
        """Return the leaderboard of a link; None if it has none, or is out of reach."""
        query = sa.select(links.c.leaderboard, links.c.created_at).where(
            links.c.id == link_id, links.c.leaderboard.is_not(None), self._seen(links.c.project_id)
        )
        row = self._row(query)
        return None if row is None else Leaderboard(json.loads(row.leaderboard), row.created_at)

    def delete_leaderboards(self, *, older_than_hours: float, closed: bool) -> int:
        """Delete old leaderboards of any project with their links; returns how many.

        `closed`: delete only those whose links do not open any more.
        """
        now = self._now
        which = links.c.leaderboard.is_not(None) & (links.c.created_at < now - older_than_hours * 3600)
        if closed:
            which &= links.c.revoked_at.is_not(None) | (links.c.expires_at <= now)
        return self._write(links.delete().where(which))

    def _found(self, which: sa.ColumnElement[bool]) -> list[Link]:
        expired = sa.func.coalesce(links.c.expires_at <= self._now, sa.false())
        query = (
            sa.select(links, expired.label("expired"))
            .where(which)
            .order_by(links.c.created_at.desc(), links.c.id)
        )
        return [_link(row) for row in self._rows(query)]


def _visit(token: str, visit: str) -> sa.Select[tuple[str]]:
    """Return a query for the row of a visit, which exists while the visit lasts."""
    return sa.select(link_visits.c.visit).where(
        link_visits.c.link_id == links.c.id,
        links.c.token_sha256 == digest_of(token),
        link_visits.c.visit == key_of(token, visit),
    )


def _link(row: Any) -> Link:
    asks = row.password is not None
    return from_row(Link, row, target=_target(row), expired=bool(row.expired), has_password=asks)


def _target(row: Any) -> Target:
    if row.run_id is None:
        return Target("leaderboard", row.id)
    return Target("run", row.run_id, bool(row.small_groups))


def key_of(token: str, text: str) -> str:
    """Return the SHA-256 of a text and a link's token; the token is not in the database."""
    return digest_of(f"{token} {text}")


SHORTEST, LONGEST = 8, 200
"""Characters of a password."""
LOG2_N, _R, _P = 15, 8, 3
"""Parameters that OWASP's cheat sheet on storing passwords recommends for scrypt in 32 MB."""
_MEMORY = 2**26
_SALT_BYTES = 16
_AT_ONCE, _NICENESS = 2, 10
CHECKING = Turns("checking passwords", at_once=_AT_ONCE, each=1, waiting=8, waiting_each=3, patience=20)
"""At most two checks at a time, as each takes 32 MB; one link cannot delay the others."""


def hashed(password: str) -> str:
    """Return the form in which a password is kept; raises LimitError if it is too short or too long."""
    if not SHORTEST <= len(password) <= LONGEST:
        raise LimitError(f"A link's password has {SHORTEST} to {LONGEST} characters.")
    salt = secrets.token_bytes(_SALT_BYTES)
    parts = (base64.b64encode(part).decode("ascii") for part in (salt, _scrypt(password, salt)))
    return "$".join((f"scrypt-{LOG2_N}-{_R}-{_P}", *parts))


def matches(password: str, kept: str) -> bool:
    """Return whether :func:`hashed` made `kept` of this password; False if `kept` has another form."""
    scheme, _, rest = kept.partition("$")
    salt, _, expected = rest.partition("$")
    if scheme != f"scrypt-{LOG2_N}-{_R}-{_P}" or len(password) > LONGEST:
        return False
    try:
        return hmac.compare_digest(_scrypt(password, base64.b64decode(salt)), base64.b64decode(expected))
    except ValueError:  # no base64
        return False


def fingerprint(password: str, salt: str) -> str:
    """Return a hash that differs by password under one salt, and takes as long to guess as a kept one."""
    return _scrypt(password, hashlib.sha256(salt.encode("utf-8", "surrogatepass")).digest()).hex()


def _scrypt(password: str, salt: bytes) -> bytes:
    text = unicodedata.normalize("NFC", password).encode("utf-8", "surrogatepass")
    with CHECKING.turn():
        check = partial(hashlib.scrypt, text, salt=salt, n=2**LOG2_N, r=_R, p=_P, maxmem=_MEMORY)
        return _CHECKERS.submit(check).result()


def _give_way() -> None:
    if sys.platform == "linux":  # elsewhere all threads of a process have one priority
        os.setpriority(os.PRIO_PROCESS, threading.get_native_id(), _NICENESS)


_CHECKERS = ThreadPoolExecutor(_AT_ONCE, "grasp-password", initializer=_give_way)
"""Threads of low priority: whoever tries passwords again and again keeps no page waiting for a core."""


SECONDS = 900.0
BY_ADDRESS, BY_NETWORK, BY_LINK = 5, 30, 1000
"""Most tries at a link in that time: by one address, by the network around it, and by all together.

Of an IPv6 address the first 64 bits count, which a household usually shares. Networks have 24 bits (IPv4)
or 48 bits (IPv6), commonly one owner's: somebody who tries from their own network shuts out nobody elsewhere.
"""


class TryStore(Store):
    """Tries in the database, so that all servers count together and a restart forgets none."""

    def count(self, link_id: str, token: str, address: str) -> bool:
        """Count a try before it is made, by hashes of token and address; return whether it is allowed."""
        with to_write(self._engine, alone=f"tries at {link_id}") as connection:
            now = connection.execute(sa.select(self._now)).scalar_one()
            connection.execute(link_tries.delete().where(link_tries.c.since <= now - SECONDS))
            near, around = address_and_network(address)
            most = {key_of(token, near): BY_ADDRESS, key_of(token, around): BY_NETWORK, "": BY_LINK}
            query = sa.select(link_tries.c.who, link_tries.c.tries).where(_of(link_id, *most))
            if any(row.tries >= most[row.who] for row in connection.execute(query)):
                return False
            rows = [{"link_id": link_id, "who": who, "since": now, "tries": 0} for who in most]
            insert_new(connection, link_tries, rows)
            counted = link_tries.update().where(_of(link_id, *most))
            connection.execute(counted.values(tries=link_tries.c.tries + 1))
        return True

    def forget(self, link_id: str, token: str, address: str) -> None:
        """Take back a try with the right password, and reset the count of its address."""
        near, around = address_and_network(address)
        who = key_of(token, near)
        with to_write(self._engine, alone=f"tries at {link_id}") as connection:
            connection.execute(link_tries.delete().where(_of(link_id, who)))
            some = _of(link_id, "", key_of(token, around)) & (link_tries.c.tries > 0)
            connection.execute(link_tries.update().where(some).values(tries=link_tries.c.tries - 1))


def address_and_network(address: str) -> tuple[str, str]:
    """Return an address in the form that is counted, and the network around it; other text counts as both."""
    try:
        found = ip_address(address)
    except ValueError:
        return address, f"{address}/"
    mapped = found.ipv4_mapped if isinstance(found, IPv6Address) else None
    found = found if mapped is None else mapped
    near, around = (32, 24) if found.version == 4 else (64, 48)
    return tuple(str(ip_network((found, bits), strict=False)) for bits in (near, around))  # type: ignore[return-value]


def _of(link_id: str, *who: str) -> sa.ColumnElement[bool]:
    return (link_tries.c.link_id == link_id) & link_tries.c.who.in_(who)
