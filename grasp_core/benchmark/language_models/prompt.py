"""Prompts: tokens counted, examples chosen, everything cut to fit the window."""

import hashlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from grasp_core.analysis.models.labels import LABEL
from grasp_core.benchmark.language_models.model import LanguageModel, Tokenizer
from grasp_core.benchmark.tasks import Task
from grasp_core.model.annotations import FloatArray
from grasp_core.model.errors import DataError
from grasp_core.model.extras import require
from grasp_core.model.sizes import MIB, read_at_most
from grasp_core.model.text import number

_MAX_FILE = 256 * MIB


def shortened(tokens: Tokenizer, text: str, limit: int) -> str:
    """Cut the text at its end to `limit` tokens, again if that start alone, not merged, has more."""
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
    """A token for every three bytes of UTF-8, for models with unknown ones; English has four to a token."""

    name = "a token per 3 bytes"
    BYTES = 3

    def count(self, text: str) -> int:
        """Count the tokens of the text, rounded up."""
        return -(-len(text.encode()) // self.BYTES)

    def cut(self, text: str, tokens: int) -> str:
        """Return the text's start with so many tokens, without dividing a character."""
        return text.encode()[: max(tokens, 0) * self.BYTES].decode(errors="ignore")

    def first(self, text: str) -> int | None:
        """Return None: the token is unknown."""
        return None


class FileTokens:
    """Tokens of a ``tokenizer.json``, as Hugging Face's models have it."""

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
        """Count the tokens of the text."""
        return len(self._encoded(text).ids)

    def cut(self, text: str, tokens: int) -> str:
        """Return the text up to the end of that token."""
        offsets = self._encoded(text).offsets[: max(tokens, 0)]
        return text[: offsets[-1][1]] if offsets else ""

    def first(self, text: str) -> int | None:
        """Return the number of the text's first token; None for an empty text."""
        ids = self._encoded(text).ids
        return int(ids[0]) if ids else None

    def _encoded(self, text: str) -> Any:
        return self._tokenizer.encode(text, add_special_tokens=False)


SEPARATOR = "\n\n"
"""Text between the instructions, the examples and the target."""


def head(task: Task, *, instructions: bool = True) -> str:
    """Return the lines before the examples: the instructions, if wanted, and the numbered classes."""
    start = [task.instructions] if instructions and task.instructions else []
    names = (f"{number}. {name}" for number, name in enumerate(task.classes, 1))
    return "\n".join([*start, "Possible labels:", *names])


def shown(task: Task, text: Mapping[str, str]) -> str:
    """Return the fields as a model sees them, a line each, without empty ones."""
    return "\n".join(f"{field}: {text[field]}" for field in task.prompt_fields if text[field].strip())


def label_line(task: Task, label: str | None) -> str:
    """Return the last line of an example, or of the target, which has no label."""
    return f"{LABEL}:" if label is None else f"{LABEL}:{_word(task, label, named=True)}"


def words(task: Task) -> tuple[str, ...]:
    """Return each class as it follows the prompt, after a space: its name, or number if the task says so."""
    return tuple(_word(task, name, named=not task.numeric) for name in task.classes)


def _word(task: Task, label: str, *, named: bool) -> str:
    number = f" {task.classes.index(label) + 1}"
    if not task.numeric:
        return f" {label}"
    return f"{number}. {label}" if named else number


RESERVED = 11
"""Tokens of the window that are not allotted: 10 spare ones, 1 for the answer."""
TARGET_SHARE = 0.25
"""Least limit of the target's share in the tokens left after the instructions."""
_BESIDE = 2  # the answer's token, and one that some models put before every text


@dataclass(frozen=True, slots=True)
class Prompt:
    """A prompt that fits; the least similar examples are left out if the window has no room."""

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
    """Return the prompt for a target, cut to the model's window.

    `examples`: text by field and label, in the prompt's order: the most similar last.

    Of ``window - 11 - tokens(instructions) - 2 (n + 1)``, the target gets what it needs, at most the share
    ``max(1/4, 1/(n + 1))``, and each of the n examples an equal part of the rest (the paper counts a
    separator as two tokens). Texts are cut at their end, label lines are kept. The paper's code would cut a
    label if not even that fits; here the least similar examples are left out.
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
    """Cut the text so that it, a line end and the last line have at most `limit` tokens."""
    if limit is not None:
        text = shortened(model, text, limit - model.count(last) - 1)
    return f"{text}\n{last}"


Similarity = Callable[[Sequence[str], Sequence[str]], FloatArray]
"""Cosine of each of n texts with each of m others, shape (n, m)."""


def cosine_of(embed: Callable[[Sequence[str]], npt.NDArray[np.floating[Any]]]) -> Similarity:
    """Return the similarity by embeddings of unit length, shape (n, width)."""
    return lambda texts, others: (embed(texts) @ embed(others).T).astype(np.float64)


def most_similar(cosines: FloatArray, shots: int) -> list[int]:
    """Return the rows most similar to a target, the most similar last; of equal ones, the first in order."""
    first = np.argsort(-cosines, kind="stable")[:shots]
    return [int(row) for row in first[::-1]]


def drawn(labels: Sequence[str], shots: int, seed: int) -> list[int]:
    """Draw rows at random, one of each class before others; return all, in file order, if there are no more.

    The draw is the same for every target, as in the paper: its code sets the seed again before each.
    """
    if len(labels) <= shots:
        return list(range(len(labels)))
    rng = np.random.Generator(np.random.Philox(seed))
    by_label: dict[str, list[int]] = {}
    for row, label in enumerate(labels):
        by_label.setdefault(label, []).append(row)
    first = [int(rng.choice(rows)) for rows in by_label.values()]
    rest = sorted(set(range(len(labels))) - set(first))
    order = [*rng.permutation(first), *rng.permutation(rest)]
    return [int(row) for row in order[:shots]]
