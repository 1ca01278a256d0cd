"""How instructions, examples and target share a model's window."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from grasp_core.benchmark.language_models.model import LanguageModel
from grasp_core.benchmark.language_models.prompt import SEPARATOR, head, label_line, shown
from grasp_core.benchmark.language_models.tokens import shortened
from grasp_core.benchmark.tasks import Task
from grasp_core.errors import DataError
from grasp_core.wording import number

RESERVED = 11
"""Tokens of the window that are not shared out: 10 to spare, 1 for the answer."""
TARGET_SHARE = 0.25
"""Least share of what is left after the instructions that the target may have."""
_BESIDE = 2  # the answer's token, and one that some models put before every text


@dataclass(frozen=True, slots=True)
class Prompt:
    """A prompt that fits.

    Parameters
    ----------
    text : str
    examples : int
        Examples in it.
    left_out : int
        Examples, the least similar ones, that the window had no room for.
    """

    text: str
    examples: int
    left_out: int = 0


def fit(
    model: LanguageModel,
    task: Task,
    target: Mapping[str, str],
    examples: Sequence[tuple[Mapping[str, str], str]],
    *,
    instructions: bool = True,
) -> Prompt:
    """The prompt for a target, cut to the model's window.

    Parameters
    ----------
    model : LanguageModel
    task : Task
    target : mapping
        Text by field.
    examples : sequence of (mapping, str)
        Text by field and label, in the prompt's order: the most similar last.
    instructions : bool
        Whether the task's instructions are given; the classes are named in any case.

    Raises
    ------
    DataError
        If the window does not even hold the instructions, the classes and the target's label line.

    Notes
    -----
    Of ``window - 11 - tokens(instructions) - 2 (n + 1)``, the target has what it needs, at most the share
    ``max(1/4, 1/(n + 1))``, and each of the n examples an equal part of the rest (the paper counts a
    separator as two tokens). Texts are cut from their end, label lines are kept. The paper's code would cut a
    label where not even that fits; here the least similar examples make room.
    """
    before = head(task, instructions=instructions)
    kept = list(examples)
    while True:
        parts = [before, *_shared(model, task, target, kept, model.count(before))]
        text = SEPARATOR.join(parts)
        needed = model.count(text) + _BESIDE
        if needed <= model.window:
            return Prompt(text, len(kept), len(examples) - len(kept))
        if not kept:
            classes = number(len(task.classes), "class", "classes")
            raise DataError(
                f"The instructions and the {classes} of {task.name} need a window of {needed:,} tokens or "
                f"more; this model's has {model.window:,}. Take a model with a longer one"
            )
        kept = kept[1:]


def _shared(
    model: LanguageModel,
    task: Task,
    target: Mapping[str, str],
    examples: Sequence[tuple[Mapping[str, str], str]],
    before: int,
) -> list[str]:
    n = len(examples)
    budget = max(model.window - RESERVED - before - (n + 1) * len(SEPARATOR), 0)
    end = _block(model, shown(task, target), label_line(task, None), None)
    for_target = min(model.count(end), int(budget * max(TARGET_SHARE, 1 / (n + 1))))
    for_example = int((budget - for_target) / n) if n else 0
    if model.count(end) > for_target:
        end = _block(model, shown(task, target), label_line(task, None), for_target)
    return [
        *(_block(model, shown(task, text), label_line(task, label), for_example) for text, label in examples),
        end,
    ]


def _block(model: LanguageModel, text: str, last: str, limit: int | None) -> str:
    """The text, cut so that it, a line end and the last line have at most `limit` tokens."""
    if limit is not None:
        text = shortened(model, text, limit - model.count(last) - 1)
    return f"{text}\n{last}"
