"""Files as surveys, crowdsourcing platforms and scripts write them, made up, each with its true columns."""

import random
from collections.abc import Callable
from typing import NamedTuple

from grasp_core.reading.guess.recognise import Guess

Rows = list[dict[str, str]]


class Made(NamedTuple):
    """Rows of a long file, and which columns are which."""

    rows: Rows
    item: str
    rater: str
    labels: tuple[str, ...]
    """Columns any of which may be taken for the label where they are asked for; one where it is plain."""


IDS: dict[str, Callable[[int], str]] = {
    "letters": lambda n: f"A{n * 7919 % 10_007:05d}",
    "numbers": lambda n: str(n + 1),
    "large numbers": lambda n: str(5_000_000 + n * 37),
    "hashes": lambda n: f"{n * 2_654_435_761 % 2**32:08x}",
    "mails": lambda n: f"person{n}@example.org",
    "names": lambda n: f"Person {n}",
}
WORDS = ("the cat sat on a mat", "nobody knows why this happened", "what a day", "you are all wrong about it")


def answers(rng: random.Random, items: int, raters: int, per_item: int) -> list[tuple[int, int]]:
    """Who rates which item."""
    return [(i, j) for i in range(items) for j in sorted(rng.sample(range(raters), min(per_item, raters)))]


def text(rng: random.Random, n: int) -> str:
    return f"{rng.choice(WORDS)}, {rng.choice(WORDS)} {n}"


def remark(rng: random.Random) -> str:
    return "" if rng.random() < 0.4 else f"{rng.choice(WORDS)} {rng.randrange(10_000)}"


def moment(rng: random.Random) -> str:
    return f"2024-05-{rng.randrange(1, 29):02d} {rng.randrange(24):02d}:{rng.randrange(60):02d}:00"


def noise(rng: random.Random, i: int, j: int) -> dict[str, str]:
    """Columns that hold no labels, by their names."""
    return {
        "timestamp": moment(rng),
        "duration_seconds": str(rng.randrange(3, 90)),
        "WorkTimeInSeconds": str(rng.randrange(3, 90)),
        "comments": remark(rng),
        "rationale": remark(rng),
        "why": remark(rng),
        "image_url": f"https://example.org/{i}.png",
        "gender": ("Woman", "Man", "Other")[j % 3],
        "age": str(20 + j * 3 % 40),
        "country": ("DE", "FR", "US")[j % 3],
        "text": text(random.Random(i), i),
        "source": ("forum", "news")[i % 2],
        "annotation_id": str(rng.randrange(10**9)),
        "trial_index": str((i * 31 + j * 17) % 1009),
        "status": rng.choice(["Approved", "Submitted"]),
        "browser": ("Firefox", "Chrome")[j % 2],
    }


def made(
    rng: random.Random,
    names: tuple[str, str, tuple[str, ...]],
    *,
    items: int = 30,
    raters: int = 12,
    per_item: int = 5,
    ids: tuple[str, str] = ("letters", "letters"),
    beside: tuple[str, ...] = (),
    labels: tuple[str, ...] = ("Yes", "No", "Unsure"),
    extra: Callable[[random.Random, int, int], dict[str, str]] = lambda *_: {},
) -> Made:
    """A long file of these columns, in any order of rows and columns."""
    item, rater, asked = names
    item_of, rater_of = (IDS[kind] for kind in ids)
    rows = []
    for i, j in answers(rng, items, raters, per_item):
        given, found = {name: rng.choice(labels) for name in asked}, noise(rng, i, j)
        aside = {name: found[name] for name in beside}
        rows.append({item: item_of(i), rater: rater_of(j), **given, **aside, **extra(rng, i, j)})
    rng.shuffle(rows)
    order = list(rows[0])
    rng.shuffle(order)
    return Made([{name: row[name] for name in order} for row in rows], item, rater, asked)


def asked(guess: Guess) -> dict[str, tuple[str, ...]]:
    """The fields that somebody has to choose, with what may be chosen."""
    return {reason.field: reason.candidates for reason in guess.uncertain}


def doubts(guess: Guess) -> list[tuple[str, str]]:
    """The same fields, with why."""
    return [(reason.field, reason.sentence) for reason in guess.uncertain]
