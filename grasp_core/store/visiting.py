"""Passwords of share links, and tries at them."""

from __future__ import annotations

import base64
import hashlib
import hmac
import secrets
import unicodedata
from ipaddress import IPv6Address, ip_address, ip_network

import sqlalchemy as sa

from grasp_core.model.errors import LimitError
from grasp_core.model.turns import Turns
from grasp_core.store.bound import Store
from grasp_core.store.database import digest_of, insert_new, to_write
from grasp_core.store.schema import link_tries


def key_of(token: str, text: str) -> str:
    """SHA-256 of a text together with a link's token, which the database does not hold."""
    return digest_of(f"{token} {text}")


SHORTEST, LONGEST = 8, 200
"""Characters of a password."""
LOG2_N, _R, _P = 15, 8, 3
"""What OWASP's cheat sheet on storing passwords asks of scrypt in 32 MB."""
_MEMORY = 2**26
_SALT_BYTES = 16
CHECKING = Turns("checking passwords", at_once=2, each=1, waiting=8, waiting_each=3, patience=20)
"""Two at a time, for each takes 32 MB; one link keeps no other waiting."""


def hashed(password: str) -> str:
    """The form in which a password is kept; raises LimitError if it is too short or too long."""
    if not SHORTEST <= len(password) <= LONGEST:
        raise LimitError(f"A link's password has {SHORTEST} to {LONGEST} characters.")
    salt = secrets.token_bytes(_SALT_BYTES)
    parts = (base64.b64encode(part).decode("ascii") for part in (salt, _scrypt(password, salt)))
    return "$".join((f"scrypt-{LOG2_N}-{_R}-{_P}", *parts))


def matches(password: str, kept: str) -> bool:
    """Whether it is the password of which :func:`hashed` made `kept`; never of anything else."""
    scheme, _, rest = kept.partition("$")
    salt, _, expected = rest.partition("$")
    if scheme != f"scrypt-{LOG2_N}-{_R}-{_P}" or len(password) > LONGEST:
        return False
    try:
        return hmac.compare_digest(_scrypt(password, base64.b64decode(salt)), base64.b64decode(expected))
    except ValueError:  # no base64
        return False


def fingerprint(password: str, salt: str) -> str:
    """What tells one password from another under the same salt, and takes as long to guess as a kept one."""
    return _scrypt(password, hashlib.sha256(salt.encode("utf-8", "surrogatepass")).digest()).hex()


def _scrypt(password: str, salt: bytes) -> bytes:
    text = unicodedata.normalize("NFC", password).encode("utf-8", "surrogatepass")
    with CHECKING.turn():
        return hashlib.scrypt(text, salt=salt, n=2**LOG2_N, r=_R, p=_P, maxmem=_MEMORY)


SECONDS = 900.0
BY_ADDRESS, BY_NETWORK, BY_LINK = 5, 30, 1000
"""Tries that one address, the network around it and all together have at a link in that time.

An address of version 6 is its first 64 bits, as a household has them. The networks, of 24 and 48 bits, are
what one owner commonly has: whoever tries from theirs shuts out nobody elsewhere.
"""


class TryStore(Store):
    """Tries in the database, so that all servers count together and a restart forgets none."""

    def count(self, link_id: str, token: str, address: str) -> bool:
        """Count a try before it is made, by the hash of address and token; whether it may be."""
        with to_write(self._engine, alone=f"tries at {link_id}") as connection:
            now = connection.execute(sa.select(self._now)).scalar_one()
            connection.execute(link_tries.delete().where(link_tries.c.since <= now - SECONDS))
            near, around = places(address)
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
        """Take back a try that knew the password, and begin to count anew for its address."""
        near, around = places(address)
        who = key_of(token, near)
        with to_write(self._engine, alone=f"tries at {link_id}") as connection:
            connection.execute(link_tries.delete().where(_of(link_id, who)))
            some = _of(link_id, "", key_of(token, around)) & (link_tries.c.tries > 0)
            connection.execute(link_tries.update().where(some).values(tries=link_tries.c.tries - 1))


def places(address: str) -> tuple[str, str]:
    """An address as it is counted, and the network around it; what is no address of the IP is both."""
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
