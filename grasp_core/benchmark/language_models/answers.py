"""Questions to a language model, each asked once: a file stores the answers."""

import hashlib
import json
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path
from typing import Any

from grasp_core.benchmark.checkpoints import KeptWork
from grasp_core.benchmark.language_models.model import FLOOR, LanguageModel, ModelAnswer, ModelError
from grasp_core.benchmark.language_models.prompt import Prompt, Similarity, words
from grasp_core.benchmark.tasks import Task
from grasp_core.model.errors import DataError
from grasp_core.model.json_values import from_json, to_json
from grasp_core.model.remarks.remark import Remark
from grasp_core.model.text import number
from grasp_core.reading.table.parsed import Watch, unwatched

_WHAT = ("answer of a language model", "answers of a language model")


def question_key(model: str, prompt: str, candidates: Sequence[str]) -> str:
    """Return the SHA-256 of everything that decides an answer, as hexadecimal digits."""
    return hashlib.sha256(json.dumps([model, prompt, list(candidates)]).encode()).hexdigest()


def kept_answers(path: Path) -> KeptWork[ModelAnswer]:
    """Open the file of answers by question; it contains hashes and numbers, but no text, label or key."""
    return KeptWork(path, "grasp-lm-answers", _WHAT, to_json, _answer)


def _answer(plain: dict[str, Any]) -> ModelAnswer:
    answer = from_json(plain, ModelAnswer)
    if any(value < FLOOR for value in answer.logprobs):
        raise ValueError
    return answer


@dataclass(slots=True)
class Usage:
    """Questions and tokens that a piece of work took, and their cost.

    `price_in`, `price_out`: prices per million tokens.
    `asked`, `reused`: questions that the model was asked now, and questions with a stored answer.
    `prompt_tokens`, `completion_tokens`: of the questions asked now.
    `floored`: classes, summed over questions, that were not among the tokens the model named.
    `undecided`: questions in which several classes are equally probable; the first of them is taken.
    `left_out`: examples, summed over questions, that did not fit into the window.
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
    def tokens(self) -> int:
        """Tokens of prompts and answers, for the questions asked now."""
        return self.prompt_tokens + self.completion_tokens

    @property
    def cost(self) -> float:
        """Price of the questions asked now, in the currency of the prices."""
        return (self.prompt_tokens * self.price_in + self.completion_tokens * self.price_out) / 1e6

    def count(self, answer: ModelAnswer, *, new: bool) -> None:
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
        """Return the usage in words."""
        said = (
            f"{number(self.asked, 'question')} asked, {self.reused:,} known from before; "
            f"{self.prompt_tokens:,} tokens sent, {self.completion_tokens:,} received"
        )
        if self.price_in or self.price_out:
            said += f", at a price of {self.cost:.4f}"
        return [said, *self.remarks("; --top-logprobs asks for more tokens")]

    def remarks(self, more_tokens: str = "") -> list[str]:
        """Return sentences on gaps in the answers; `more_tokens` says how a model names more tokens."""
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


KEPT = "Answers so far are kept: asked again, only what is missing is sent"
"""Sentence for work that ends early."""
_IN_A_ROW = 3  # failures after which the model counts as out of reach


@dataclass(frozen=True, slots=True)
class Asking:
    """Everything that is the same for all questions; the seed is for examples drawn at random."""

    task: Task
    model: LanguageModel
    answers: KeptWork[ModelAnswer]
    similarity: Similarity | None = None
    seed: int = 1
    watch: Watch = unwatched
    usage: Usage = field(default_factory=Usage)


class UnansweredError(DataError):
    """Questions stayed without an answer: `found` of all were answered, and the remark gives the reason."""

    def __init__(self, remark: Remark, found: int, total: int) -> None:
        so_far = f"{found:,} of {number(total, 'row')} got an answer. " if total > 1 else ""
        super().__init__(f"{so_far}{remark}. {KEPT}")
        self.remark, self.found = remark, found


def ask_all(asking: Asking, prompts: Iterator[Prompt], total: int) -> list[ModelAnswer]:
    """Return the answers to all prompts, in their order; unknown ones are asked for, some at a time."""
    found: list[ModelAnswer] = []
    failures: Counter[Remark] = Counter()
    in_a_row = 0
    with ThreadPoolExecutor(asking.model.parallel) as pool:
        while batch := list(islice(prompts, asking.model.parallel)):
            asking.watch(len(found) + failures.total(), total)
            for answer in _batch(asking, batch, pool.map if asking.model.parallel > 1 else map):
                if isinstance(answer, ModelAnswer):
                    found.append(answer)
                    in_a_row = 0
                    continue
                in_a_row += 1
                failures[answer.remark] += 1
                if not answer.passing or in_a_row == _IN_A_ROW:
                    raise UnansweredError(answer.remark, len(found), total)
    if failures:
        reason, _ = failures.most_common(1)[0]
        raise UnansweredError(reason, len(found), total)
    asking.watch(total, total)
    return found


def _batch(
    asking: Asking, batch: Iterable[Prompt], each: Callable[..., Iterable[Any]]
) -> list[ModelAnswer | ModelError]:
    """Return the batch's answers; all of them are stored before anyone checks whether one is missing."""
    candidates = words(asking.task)

    def ask(question: tuple[str, Prompt]) -> tuple[ModelAnswer | ModelError, bool]:
        key, prompt = question
        known = asking.answers.get(key)
        if known is not None and len(known.logprobs) == len(candidates):
            return known, False
        try:
            return asking.model.next_token_logprobs(prompt.text, candidates), True
        except ModelError as error:
            return error, True

    keyed = [(question_key(asking.model.name, prompt.text, candidates), prompt) for prompt in batch]
    found = []
    for (key, prompt), (answer, new) in zip(keyed, each(ask, keyed), strict=True):
        if isinstance(answer, ModelAnswer):
            if new:
                asking.answers[key] = answer
            asking.usage.count(answer, new=new)
            asking.usage.left_out += prompt.left_out
        found.append(answer)
    return found
