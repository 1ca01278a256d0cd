"""The words of a prompt, as RAFT's in-context baseline puts them.

References
----------
N. Alex, E. Lifland, L. Tunstall et al. (2021). RAFT: A Real-World Few-Shot Text Classification Benchmark.
NeurIPS Datasets and Benchmarks. Its code: github.com/oughtinc/raft-baselines, in_context_classifier.py.
"""

from __future__ import annotations

from collections.abc import Mapping

from grasp_core.benchmark.tasks import Task
from grasp_core.models_as_raters.labels import LABEL

SEPARATOR = "\n\n"
"""Between the instructions, the examples and the target."""


def head(task: Task, *, instructions: bool = True) -> str:
    """The lines before the examples: the instructions where wanted, and the numbered classes."""
    start = [task.instructions] if instructions and task.instructions else []
    names = (f"{number}. {name}" for number, name in enumerate(task.classes, 1))
    return "\n".join([*start, "Possible labels:", *names])


def shown(task: Task, text: Mapping[str, str]) -> str:
    """The fields as a model sees them, a line each; those without text are left out."""
    return "\n".join(f"{field}: {text[field]}" for field in task.prompt_fields if text[field].strip())


def label_line(task: Task, label: str | None) -> str:
    """The last line of an example, or of the target, which has no label."""
    return f"{LABEL}:" if label is None else f"{LABEL}:{_word(task, label, named=True)}"


def words(task: Task) -> tuple[str, ...]:
    """A class as it follows the prompt, after a space: its name, or its number where the task says so."""
    return tuple(_word(task, name, named=not task.numeric) for name in task.classes)


def _word(task: Task, label: str, *, named: bool) -> str:
    number = f" {task.classes.index(label) + 1}"
    if not task.numeric:
        return f" {label}"
    return f"{number}. {label}" if named else number
