"""Made-up answers of made-up people, and how a file that we read is held against them."""

from __future__ import annotations

import random
import sys
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from grasp_core.model.errors import GraspError
from grasp_core.reading.dataset.load import load
from grasp_core.reading.guess.recognise import recognise
from grasp_core.reading.sandbox.read import read_table

PEOPLE = ("ann", "ben", "cem", "dua", "eva", "fay")
LABELS = ("No", "Unsure", "Yes")
KINDS = ("Insult", "Slur, other", "Threat")
_ITEMS = 12
_ANSWERED = 0.85

Vote = tuple[str, str, str]
"""Text of the item, rater, label."""


@dataclass(frozen=True, slots=True)
class Answer:
    """What one person says of one item.

    Parameters
    ----------
    item : int
    rater : str
    label : str
        A single choice.
    kinds : tuple of str
        A multiple choice, maybe of nothing.
    stars : int or None
        A rating, not always given.
    """

    item: int
    rater: str
    label: str
    kinds: tuple[str, ...]
    stars: int | None


def texts() -> list[str]:
    """The items' texts: quotes, letters and line breaks that files trip over."""
    return [f'Text {item}, "quoted"; ümläut 😀\nsecond line' for item in range(_ITEMS)]


def made_up(seed: int) -> list[Answer]:
    """Answers of everybody to most items."""
    chance = random.Random(seed)
    return [
        Answer(
            item,
            rater,
            chance.choice(LABELS),
            tuple(sorted(chance.sample(KINDS, chance.randrange(3)))),
            chance.choice((None, 1, 2, 3, 4, 5)),
        )
        for item in range(_ITEMS)
        for rater in PEOPLE
        if chance.random() < _ANSWERED
    ]


def votes(answers: Iterable[Answer], names: dict[str, str] | None = None) -> Counter[Vote]:
    """The votes on the first question; `names` are what a file calls the raters."""
    shown = texts()
    return Counter((shown[one.item], (names or {}).get(one.rater, one.rater), one.label) for one in answers)


class Ledger:
    """Files that were held against what was sent: how many, and how many agreed."""

    def __init__(self) -> None:
        self.files = self.agreed = 0
        self.not_run: list[str] = []

    def hold(self, what: str, content: bytes, name: str, wanted: Counter[Vote]) -> None:
        """Read a file by its recipe, and say whether its votes are those wanted."""
        self.files += 1
        try:
            found = read_votes(content, name)
        except GraspError as error:
            _say("WRONG", what, f"refused: {error}")
            return
        raters, items = len({vote[1] for vote in found}), len({vote[0] for vote in found})
        counts = f"{found.total()} annotations of {items} items by {raters} raters"
        if found == wanted:
            self.agreed += 1
            _say("ok", what, f"{counts}, as sent")
            return
        missing, added = list((wanted - found).elements()), list((found - wanted).elements())
        differs = f"{counts}, sent were {wanted.total()}; missing {missing[:3]}, not sent {added[:3]}"
        _say("WRONG", what, differs)

    def give_up(self, tool: str, why: str) -> None:
        """Note a tool that could not be run."""
        self.not_run.append(tool)
        _say("NOT RUN", tool, why)


def _say(how: str, what: str, sentence: str) -> None:
    sys.stdout.write(f"{how:7} {what}: {sentence}\n")
    sys.stdout.flush()


def read_votes(content: bytes, name: str) -> Counter[Vote]:
    """The votes in a file as it is recognised, with items by their texts where the file has them.

    Raises
    ------
    GraspError
    """
    table = read_table(content, name)
    spec = recognise(table).spec
    found = load(table, None, spec, ()).annotations
    shown = {}
    if spec.item and spec.text:
        columns = (table.data.column(column).to_pylist() for column in (spec.item, spec.text))
        shown = dict(zip(*columns, strict=True))
    items = np.repeat(np.arange(found.n_items), np.diff(found.indptr))
    return Counter(
        (
            shown.get(found.item_ids[item], found.item_ids[item]),
            found.rater_ids[rater],
            found.categories[label],
        )
        for item, rater, label in zip(items, found.rater, found.category, strict=True)
    )
