"""Passwords of share links: kept as scrypt hashes, each with a salt of its own."""

from __future__ import annotations

import base64
import hashlib
import hmac
import secrets
import unicodedata

from grasp_core.errors import LimitError
from grasp_core.turns import Turns

SHORTEST, LONGEST = 8, 200
"""Characters of a password."""
LOG2_N, _R, _P = 15, 8, 3
"""What OWASP's cheat sheet on storing passwords asks of scrypt in 32 MB."""
_MEMORY = 2**26
_SALT_BYTES = 16
CHECKING = Turns("checking passwords", at_once=2, each=1, waiting=8, waiting_each=3, patience=20)
"""Two at a time, for each takes 32 MB; one link keeps no other waiting."""


def hashed(password: str) -> str:
    """The form in which a password is kept: parameters, salt and hash.

    Raises
    ------
    LimitError
        If it is too short or too long.
    """
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
