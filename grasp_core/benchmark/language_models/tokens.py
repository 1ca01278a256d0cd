"""Ways to count tokens."""

from __future__ import annotations

import hashlib
from pathlib import Path
from typing import Any

from grasp_core.benchmark.language_models.model import Tokens
from grasp_core.errors import DataError
from grasp_core.extras import require
from grasp_core.io.archives.bounded import MIB, read_at_most

_MAX_FILE = 256 * MIB


def shortened(tokens: Tokens, text: str, limit: int) -> str:
    """The text, cut from its end to at most `limit` tokens.

    The start of a text can have more tokens than it had within the text, since its end may no longer merge;
    so the cut is tightened until it holds.
    """
    if limit <= 0:
        return ""
    if tokens.count(text) <= limit:
        return text
    for size in range(limit, 0, -1):
        start = tokens.cut(text, size)
        if tokens.count(start) <= limit:
            return start
    return ""


class ApproximateTokens:
    """A token for every three bytes of UTF-8, where the model's own tokens are not known.

    English text has about four bytes to a token of GPT-2's; three leave room for names, numbers and other
    languages.
    """

    name = "a token per 3 bytes"
    BYTES = 3

    def count(self, text: str) -> int:
        """Tokens of the text, rounded up."""
        return -(-len(text.encode()) // self.BYTES)

    def cut(self, text: str, tokens: int) -> str:
        """The start of the text that has so many tokens; no character is divided."""
        return text.encode()[: max(tokens, 0) * self.BYTES].decode(errors="ignore")

    def first(self, text: str) -> int | None:
        """Unknown."""
        return None


class FileTokens:
    """Tokens of a ``tokenizer.json``, as Hugging Face's models have it.

    Parameters
    ----------
    path : Path

    Raises
    ------
    DataError
        If the package `tokenizers` is missing, or the file is no such file.
    """

    def __init__(self, path: Path) -> None:
        require("A tokenizer file", "models", "tokenizers")
        from tokenizers import Tokenizer

        try:
            content = read_at_most(path, _MAX_FILE, "a tokenizer")
        except OSError as error:
            raise DataError(f"{path} cannot be read ({error.strerror}); give a tokenizer.json") from None
        try:
            self._tokenizer: Any = Tokenizer.from_buffer(content)
        except Exception:  # the library raises bare Exception
            raise DataError(f"{path} is no tokenizer.json; take the one of the model asked") from None
        self._tokenizer.no_truncation()
        self._tokenizer.no_padding()
        self.name = f"tokenizer {hashlib.sha256(content).hexdigest()}"

    def count(self, text: str) -> int:
        """Tokens of the text."""
        return len(self._encoded(text).ids)

    def cut(self, text: str, tokens: int) -> str:
        """The text up to the end of that token."""
        offsets = self._encoded(text).offsets[: max(tokens, 0)]
        return text[: offsets[-1][1]] if offsets else ""

    def first(self, text: str) -> int | None:
        """Number of the text's first token; None for no text."""
        ids = self._encoded(text).ids
        return int(ids[0]) if ids else None

    def _encoded(self, text: str) -> Any:
        return self._tokenizer.encode(text, add_special_tokens=False)
