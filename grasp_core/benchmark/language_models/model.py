"""The protocol of language models: prompts in, probabilities of the classes out."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from grasp_core.errors import DataError
from grasp_core.remarks.remark import Remark

FLOOR = -100.0
"""Log-probability of a word that the model did not name: as good as 0, which the paper takes, but finite."""


@dataclass(frozen=True, slots=True)
class Answer:
    """A model's answer to one prompt.

    Parameters
    ----------
    logprobs : tuple of float
        Natural logarithm of each candidate's probability, in the candidates' order; at least `FLOOR`.
    floored : int
        Candidates that the model's list of tokens did not hold; they have `FLOOR`.
    prompt_tokens, completion_tokens : int
        As the model counts them.
    """

    logprobs: tuple[float, ...]
    floored: int = 0
    prompt_tokens: int = 0
    completion_tokens: int = 0


class ModelError(DataError):
    """A model gave no answer that can be used.

    Parameters
    ----------
    remark : Remark
        Without texts and keys.
    passing : bool
        Whether the next question may well be answered.
    """

    def __init__(self, remark: Remark, *, passing: bool = False) -> None:
        super().__init__(str(remark))
        self.remark = remark
        self.passing = passing


class Tokens(Protocol):
    """How a model cuts text into tokens."""

    def count(self, text: str) -> int:
        """Tokens of the text."""

    def cut(self, text: str, tokens: int) -> str:
        """The text's start, of about that many tokens; empty for none or fewer."""


class LanguageModel(Tokens, Protocol):
    """A language model that gives the probability of the next token."""

    @property
    def name(self) -> str:
        """All that decides its answers, to recognise them by."""

    @property
    def window(self) -> int:
        """Tokens that prompt and answer may have together."""

    @property
    def parallel(self) -> int:
        """Questions that it can be asked at the same time."""

    def next_token_logprobs(self, prompt: str, candidates: Sequence[str]) -> Answer:
        """How likely each candidate's first token is to follow the prompt.

        Raises
        ------
        ModelError
            If there is no answer, or none that can be used.
        """

    def close(self) -> None:
        """Give back what it holds; it is not asked again."""
