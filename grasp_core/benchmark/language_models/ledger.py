"""Answers that were paid for are kept: a file of them, by what was asked, and what they cost."""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from grasp_core.benchmark.language_models.model import FLOOR, Answer
from grasp_core.errors import DataError
from grasp_core.io.archives.bounded import MIB, read_at_most
from grasp_core.json_values import from_json, to_json
from grasp_core.wording import number

_FORMAT = {"format": "grasp-lm-answers", "version": 1}
_MAX_FILE = 1024 * MIB


def question_key(model: str, prompt: str, candidates: Sequence[str]) -> str:
    """SHA-256 of all that decides an answer, as hexadecimal digits."""
    return hashlib.sha256(json.dumps([model, prompt, list(candidates)]).encode()).hexdigest()


class Answers:
    """Answers by question, each written to a JSON Lines file as soon as it is there.

    The file holds hashes and numbers: no text, no label and no key.

    Parameters
    ----------
    path : Path
        May hold answers of an earlier attempt.

    Raises
    ------
    DataError
        If the file cannot be read or written, or is none of answers.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self._known = _read(path)

    def __len__(self) -> int:
        return len(self._known)

    def get(self, key: str, candidates: int) -> Answer | None:
        """The answer to a question, if it is known."""
        answer = self._known.get(key)
        return answer if answer is not None and len(answer.logprobs) == candidates else None

    def add(self, key: str, answer: Answer) -> None:
        """Keep an answer, on disk before anything else happens."""
        self._known[key] = answer
        try:
            with self.path.open("a", encoding="utf-8") as file:
                if file.tell() == 0:
                    file.write(json.dumps(_FORMAT) + "\n")
                file.write(json.dumps({"key": key, **to_json(answer)}) + "\n")
        except OSError as error:
            raise DataError(f"{self.path}: answers cannot be written ({error.strerror})") from None


def _read(path: Path) -> dict[str, Answer]:
    try:
        content = read_at_most(path, _MAX_FILE, "answers") if path.exists() else b""
    except OSError as error:
        raise DataError(f"{path} cannot be read ({error.strerror})") from None
    *lines, unfinished = content.split(b"\n")
    known: dict[str, Answer] = {}
    for row, line in enumerate(lines, 1):
        try:
            plain = json.loads(line)
            if plain != _FORMAT:  # two programs that begin a file at the same time write its first line twice
                if row == 1:
                    raise ValueError
                known[plain["key"]] = _answer(plain)
        except (ValueError, TypeError, KeyError, RecursionError):
            raise DataError(
                f"{path}, line {row}: no answer of a language model is written there; give --resume a new "
                "file, or one that this program wrote"
            ) from None
    if unfinished:
        _cut_off(path, len(content) - len(unfinished), lines)
    return known


def _cut_off(path: Path, size: int, lines: list[bytes]) -> None:
    """Take away a last line that was not written to its end, so that the next begins on a line of its own."""
    if not lines:  # not even the first line is whole: nothing says that the file is ours
        raise DataError(f"{path} holds no answers of a language model; give --resume a new file")
    try:
        os.truncate(path, size)
    except OSError as error:
        raise DataError(f"{path}: answers cannot be written ({error.strerror})") from None


def _answer(plain: dict[str, Any]) -> Answer:
    answer = from_json(plain, Answer)
    if any(value < FLOOR for value in answer.logprobs):
        raise ValueError
    return answer


@dataclass(slots=True)
class Usage:
    """Questions and tokens that a piece of work took, and what they cost.

    Parameters
    ----------
    price_in, price_out : float
        Per million tokens.
    asked, reused : int
        Questions that the model was asked now, and those whose answer was known.
    prompt_tokens, completion_tokens : int
        Of the questions asked now.
    floored : int
        Classes, summed over questions, that were not among the tokens the model named.
    undecided : int
        Questions in which several classes share the highest probability; the first of them is taken.
    left_out : int
        Examples, summed over questions, for which the window had no room.
    """

    price_in: float = 0.0
    price_out: float = 0.0
    asked: int = 0
    reused: int = 0
    prompt_tokens: int = 0
    completion_tokens: int = 0
    floored: int = 0
    undecided: int = 0
    left_out: int = 0

    @property
    def cost(self) -> float:
        """Price of the questions asked now, in the currency of the prices."""
        return (self.prompt_tokens * self.price_in + self.completion_tokens * self.price_out) / 1e6

    def count(self, answer: Answer, *, new: bool) -> None:
        """Count an answer."""
        self.floored += answer.floored
        best = max(answer.logprobs)
        self.undecided += sum(value == best for value in answer.logprobs) > 1
        self.reused += not new
        if new:
            self.asked += 1
            self.prompt_tokens += answer.prompt_tokens
            self.completion_tokens += answer.completion_tokens

    def sentences(self) -> list[str]:
        """The same in words."""
        said = (
            f"{number(self.asked, 'question')} asked, {self.reused:,} known from before; "
            f"{self.prompt_tokens:,} tokens sent, {self.completion_tokens:,} received"
        )
        if self.price_in or self.price_out:
            said += f", at a price of {self.cost:.4f}"
        return [said, *self.remarks("; --top-logprobs asks for more tokens")]

    def remarks(self, more_tokens: str = "") -> list[str]:
        """Sentences on what the answers lack; `more_tokens` says how a model names more of its tokens."""
        said = []
        if self.floored:
            said.append(
                f"{self.floored:,} times a class was not among the tokens that the model named and counts as "
                f"impossible{more_tokens}"
            )
        if self.undecided:
            undecided = number(self.undecided, "question")
            said.append(f"in {undecided} several classes were equally likely; the first was taken")
        if self.left_out:
            said.append(f"the window had no room for {number(self.left_out, 'example')} in all")
        return said
