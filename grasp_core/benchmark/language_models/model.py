"""Language models that give probabilities of the next token: the protocol, and a local model."""

import hashlib
import importlib
import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

import numpy as np

from grasp_core.model.errors import DataError
from grasp_core.model.extras import require
from grasp_core.model.remarks.benchmark import ModelProblem
from grasp_core.model.remarks.remark import Remark

FLOOR = -100.0
"""Log-probability of a word that the model did not name: as good as the paper's 0, but finite."""


@dataclass(frozen=True, slots=True)
class ModelAnswer:
    """A model's answer to one prompt.

    `logprobs`: natural logarithm of each candidate's probability, in the candidates' order; at least `FLOOR`.
    `floored`: candidates missing from the model's list of tokens; they have `FLOOR`.
    `prompt_tokens`, `completion_tokens`: as the model counts them.
    """

    logprobs: tuple[float, ...]
    floored: int = 0
    prompt_tokens: int = 0
    completion_tokens: int = 0


class ModelError(DataError):
    """A missing or unusable answer, without texts and keys; `passing`: the next question may get one."""

    def __init__(self, remark: Remark, *, passing: bool = False) -> None:
        super().__init__(str(remark))
        self.remark = remark
        self.passing = passing


class Tokenizer(Protocol):
    """A model's way of cutting text into tokens."""

    def count(self, text: str) -> int:
        """Count the tokens of the text."""

    def cut(self, text: str, tokens: int) -> str:
        """Return the text's start, of about that many tokens; empty for none or fewer."""


class LanguageModel(Tokenizer, Protocol):
    """A language model that gives the probability of the next token."""

    @property
    def name(self) -> str:
        """Identity of everything that decides its answers."""

    @property
    def window(self) -> int:
        """Most tokens of prompt and answer together."""

    @property
    def parallel(self) -> int:
        """Number of questions that it can be asked at the same time."""

    def next_token_logprobs(self, prompt: str, candidates: Sequence[str]) -> ModelAnswer:
        """Return how likely each candidate's first token is to follow the prompt."""

    def close(self) -> None:
        """Free its resources; it is not asked again."""


_SAMPLE = 2**20


class LocalModel:
    """A model in a GGUF file.

    `window`: tokens; by default as many as the model was trained with, at most 2,048, as in the paper.
    """

    parallel = 1
    LONGEST = 2048

    def __init__(self, path: Path, *, window: int | None = None) -> None:
        require("A GGUF model (by llama.cpp, which is built from source in some minutes)", "lm-local")
        self._library = importlib.import_module("llama_cpp")
        self.name = f"{path.name} {_fingerprint(path)}"
        wanted = window or self.LONGEST
        try:
            self._model: Any = self._library.Llama(str(path), n_ctx=wanted, verbose=False)
        except (ValueError, RuntimeError):
            raise DataError(
                f"{path} is no model that llama.cpp can read; give a complete GGUF file"
            ) from None
        trained = int(self._library.llama_model_n_ctx_train(self._model.model))
        self.window = min(wanted, trained) if trained > 0 else wanted

    def count(self, text: str) -> int:
        """Count the tokens of the text."""
        return len(self._tokens(text))

    def cut(self, text: str, tokens: int) -> str:
        """Return the text up to the end of that token, without dividing a character."""
        start = self._model.detokenize(self._tokens(text)[: max(tokens, 0)])
        whole = text.encode()
        if not whole.startswith(start) and whole.startswith(start.lstrip(b" ")):
            start = start.lstrip(b" ")  # SentencePiece puts a space before every text
        return whole[: len(start)].decode(errors="ignore")

    def next_token_logprobs(self, prompt: str, candidates: Sequence[str]) -> ModelAnswer:
        """Return how likely each candidate's first token is to follow.

        A token that all candidates begin with decides nothing: it joins the prompt, and the next one counts.
        (For some models the space before a number is a token of its own.)
        """
        tail = prompt.rpartition("\n")[2]
        shared, firsts = self._firsts(tail, candidates)
        tokens = [*self._model.tokenize(prompt.encode(), add_bos=True, special=False), *shared]
        if len(tokens) >= self._model.n_ctx():
            raise ModelError(ModelProblem.PROMPT_TOO_LONG(tokens=len(tokens)))
        self._model.reset()
        self._model.eval(tokens)
        logits = np.ctypeslib.as_array(
            self._library.llama_get_logits_ith(self._model.ctx, -1), shape=(self._model.n_vocab(),)
        ).astype(np.float64)
        logprobs = logits - logits.max()
        logprobs -= np.log(np.exp(logprobs).sum())
        return ModelAnswer(tuple(max(float(logprobs[first]), FLOOR) for first in firsts), 0, len(tokens), 1)

    def close(self) -> None:
        """Free the model's memory."""
        self._model.close()

    def _firsts(self, tail: str, candidates: Sequence[str]) -> tuple[list[int], list[int]]:
        """Return the tokens that all candidates share after the prompt, and each one's next token."""
        every = [self._after(tail, text) for text in candidates]
        shared = 0
        while all(len(one) > shared + 1 for one in every) and len({one[shared] for one in every}) == 1:
            shared += 1
        return every[0][:shared], [one[shared] for one in every]

    def _after(self, tail: str, text: str) -> list[int]:
        before, both = self._tokens(tail), self._tokens(tail + text)
        return both[len(before) :] if both[: len(before)] == before else self._tokens(text)

    def _tokens(self, text: str) -> list[int]:
        return list(self._model.tokenize(text.encode(), add_bos=False, special=False))


def _fingerprint(path: Path) -> str:
    """Return the identity of a model's file without reading all of it: size, first and last MiB."""
    try:
        with path.open("rb") as file:
            size = file.seek(0, os.SEEK_END)
            digest = hashlib.sha256(str(size).encode())
            for start in (0, max(size - _SAMPLE, 0)):
                file.seek(start)
                digest.update(file.read(_SAMPLE))
    except OSError as error:
        raise DataError(f"{path} cannot be read ({error.strerror}); give a GGUF file") from None
    return digest.hexdigest()
