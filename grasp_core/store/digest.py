"""The digest by which the database knows a secret or a request that it does not hold."""

from __future__ import annotations

import hashlib


def digest_of(text: str) -> str:
    """SHA-256 in hexadecimal, of any text, half surrogates too."""
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()
