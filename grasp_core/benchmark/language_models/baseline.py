"""The language model in the form that all baselines have: fitted on labelled rows, it labels others."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

from grasp_core.benchmark.language_models.asking import Asking, Watch
from grasp_core.benchmark.language_models.ledger import Answers, Usage
from grasp_core.benchmark.language_models.model import LanguageModel
from grasp_core.benchmark.language_models.scoring import Setting, predict
from grasp_core.benchmark.language_models.selection import Similarity
from grasp_core.benchmark.tasks import Rows, Task


@dataclass(frozen=True, slots=True)
class InContext:
    """A language model that sees instructions and examples.

    Parameters
    ----------
    model : LanguageModel
    setting : Setting, optional
        By default the task's number of examples, chosen by similarity, and its instructions.
    answers : Answers
        Those known from before; new ones are added.
    similarity : callable, optional
        Needed where examples are chosen by similarity.
    watch : callable, optional
    usage : Usage
        Counts along, over all calls.
    """

    model: LanguageModel
    answers: Answers
    setting: Setting | None = None
    similarity: Similarity | None = None
    watch: Watch | None = None
    usage: Usage = field(default_factory=Usage)

    def __call__(
        self, train: Rows, task: Task, seed: int
    ) -> Callable[[Sequence[Mapping[str, str]]], list[str]]:
        """Take labelled rows as the examples to choose from; the seed is that of examples by chance."""
        asking = Asking(task, self.model, self.answers, self.similarity, seed, self.watch, self.usage)
        setting = self.setting or Setting(task.shots)
        return lambda texts: list(predict(asking, setting, train, texts).labels)
