"""Small tasks, rows and models for the tests of language models."""

import re
from collections.abc import Sequence
from pathlib import Path

from grasp_core.benchmark.language_models.model import ModelAnswer
from grasp_core.benchmark.tasks import Task, TaskRows
from grasp_core.reading.sandbox.read import read_table

TASK = Task(
    name="orders",
    classes=("yes", "no"),
    fields=("Title", "Link", "Text"),
    prompt_fields=("Text", "Title"),
    instructions="Decide whether the text asks for something.",
    shots=2,
)
ROWS = [
    ("Tea", "please bring tea", "yes"),
    ("Sun", "the sun is out", "no"),
    ("Bread", "please bring bread", "yes"),
    ("Rain", "the rain is cold", "no"),
    ("Bill", "may I have the bill", "yes"),
    ("Fog", "fog again", "no"),
]


def text(title: str, words: str) -> dict[str, str]:
    return {"Title": title, "Link": "http://x", "Text": words}


def rows(folder: Path, given: Sequence[tuple[str, str, str]] = ROWS) -> TaskRows:
    path = folder / "train.csv"
    path.write_text("ID,Label\n0,yes\n")
    texts = tuple(text(title, words) for title, words, _ in given)
    return TaskRows(
        tuple(map(str, range(len(given)))), texts, tuple(row[2] for row in given), read_table(path)
    )


class WordModel:
    """A token for each word, each mark and each line end, so that budgets can be counted by hand.

    It says the class of the example nearest to the target, by the words they share.
    """

    name = "words"
    parallel = 1

    def __init__(self, window: int = 2048) -> None:
        self.window = window
        self.asked: list[str] = []

    def count(self, text: str) -> int:
        return len(self._ends(text))

    def cut(self, text: str, tokens: int) -> str:
        ends = self._ends(text)[: max(tokens, 0)]
        return text[: ends[-1]] if ends else ""

    def next_token_logprobs(self, prompt: str, candidates: Sequence[str]) -> ModelAnswer:
        self.asked.append(prompt)
        *examples, target = prompt.split("\n\n")[1:]
        wanted = set(target.split())
        scores = [-30.0] * len(candidates)
        for example in examples:
            shared = len(wanted & set(example.split()))
            at = [example.endswith(candidate) for candidate in candidates].index(True)
            scores[at] = max(scores[at], shared - 20.0)
        return ModelAnswer(tuple(scores), 0, self.count(prompt), 1)

    def close(self) -> None:
        pass

    @staticmethod
    def _ends(text: str) -> list[int]:
        return [found.end() for found in re.finditer(r"\n|\w+|[^\w\s]", text)]
