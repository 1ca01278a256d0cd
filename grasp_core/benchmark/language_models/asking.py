"""Putting questions to a model, and keeping what it answers."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from itertools import islice
from typing import Any

from grasp_core.benchmark.language_models.budget import Prompt
from grasp_core.benchmark.language_models.ledger import Answers, Usage, question_key
from grasp_core.benchmark.language_models.model import Answer, LanguageModel, ModelError
from grasp_core.benchmark.language_models.prompt import words
from grasp_core.benchmark.language_models.selection import Similarity
from grasp_core.benchmark.tasks import Task
from grasp_core.errors import DataError
from grasp_core.remarks.remark import Remark
from grasp_core.wording import number

Watch = Callable[[int, int], None]
"""Told how many questions are done, and of how many; what it raises ends the work."""
KEPT = "Answers so far are kept: asked again, only what is missing is sent"
"""What is said where work ends early."""
_IN_A_ROW = 3  # failures after which the model is taken to be out of reach


@dataclass(frozen=True, slots=True)
class Asking:
    """All that stays the same from question to question.

    Parameters
    ----------
    task : Task
    model : LanguageModel
    answers : Answers
    similarity : callable, optional
        Needed where examples are chosen by similarity.
    seed : int
        Of examples by chance.
    watch : callable, optional
    usage : Usage
        Counts along.
    """

    task: Task
    model: LanguageModel
    answers: Answers
    similarity: Similarity | None = None
    seed: int = 1
    watch: Watch | None = None
    usage: Usage = field(default_factory=Usage)


class UnansweredError(DataError):
    """Questions stayed without an answer.

    Parameters
    ----------
    remark : Remark
        Why.
    found, total : int
        Questions that got an answer, and all.
    """

    def __init__(self, remark: Remark, found: int, total: int) -> None:
        so_far = f"{found:,} of {number(total, 'row')} got an answer. " if total > 1 else ""
        super().__init__(f"{so_far}{remark}. {KEPT}")
        self.remark = remark


def ask_all(asking: Asking, prompts: Iterator[Prompt], total: int) -> list[Answer]:
    """The answers to all prompts, in their order; those not known yet are asked for, some at a time.

    Raises
    ------
    UnansweredError
        If a prompt stayed without an answer. The others have been asked by then, unless the model seems to be
        out of reach, and all answers are kept.
    """
    found: list[Answer] = []
    failures: Counter[Remark] = Counter()
    in_a_row = 0
    with ThreadPoolExecutor(asking.model.parallel) as pool:
        while batch := list(islice(prompts, asking.model.parallel)):
            if asking.watch is not None:
                asking.watch(len(found) + failures.total(), total)
            for answer in _batch(asking, batch, pool.map if asking.model.parallel > 1 else map):
                if isinstance(answer, Answer):
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
    if asking.watch is not None:
        asking.watch(total, total)
    return found


def _batch(
    asking: Asking, batch: Iterable[Prompt], each: Callable[..., Iterable[Any]]
) -> list[Answer | ModelError]:
    """The batch's answers, all of them kept before anyone looks whether one is missing."""
    candidates = words(asking.task)

    def ask(question: tuple[str, Prompt]) -> tuple[Answer | ModelError, bool]:
        key, prompt = question
        known = asking.answers.get(key, len(candidates))
        if known is not None:
            return known, False
        try:
            return asking.model.next_token_logprobs(prompt.text, candidates), True
        except ModelError as error:
            return error, True

    keyed = [(question_key(asking.model.name, prompt.text, candidates), prompt) for prompt in batch]
    found = []
    for (key, prompt), (answer, new) in zip(keyed, each(ask, keyed), strict=True):
        if isinstance(answer, Answer):
            if new:
                asking.answers.add(key, answer)
            asking.usage.count(answer, new=new)
            asking.usage.left_out += prompt.left_out
        found.append(answer)
    return found
