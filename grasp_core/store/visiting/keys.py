"""What visits and addresses are known by: hashes that nobody can undo who has the database alone."""

from __future__ import annotations

from grasp_core.store.digest import digest_of


def key_of(token: str, text: str) -> str:
    """SHA-256 of a text together with a link's token, which the database does not hold."""
    return digest_of(f"{token} {text}")
