"""Tokens of sources: where a command finds them, and how they are kept where people ask for that.

A kept token is encrypted with AES-256-GCM, bound to the person and the server that it is for, by a key from
the environment: the database alone opens nothing.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Mapping
from typing import TYPE_CHECKING

from grasp_core.model.errors import DataError
from grasp_core.read.connectors.source import Kind

if TYPE_CHECKING:
    from cryptography.hazmat.primitives.ciphers.aead import AESGCM

VARIABLES: Mapping[Kind, str] = {
    "label-studio": "LABEL_STUDIO_API_KEY",
    "argilla": "ARGILLA_API_KEY",
    "hf": "HF_TOKEN",
    "sql": "PGPASSWORD",
}
"""Environment variables that the tools' own clients read, too."""
NEEDED: frozenset[Kind] = frozenset({"label-studio", "argilla"})
"""Kinds of sources that give nothing without a token."""
_NONCE = 12


class Box:
    """Seals tokens and opens them again.

    Parameters
    ----------
    key : str
        Random text of 32 characters or more; without one, nothing is kept.
    """

    def __init__(self, key: str) -> None:
        self._key = hashlib.sha256(b"tokens of sources " + key.encode()).digest() if key else None

    def __bool__(self) -> bool:
        return self._key is not None

    def seal(self, token: str, owner: str, site: str) -> bytes:
        """The token, encrypted for a person and a server."""
        nonce = os.urandom(_NONCE)
        return nonce + self._cipher().encrypt(nonce, token.encode(), _bound(owner, site))

    def open(self, sealed: bytes, owner: str, site: str) -> str:
        """The token again.

        Raises
        ------
        DataError
            If it was sealed with another key, or for somebody or something else.
        """
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
