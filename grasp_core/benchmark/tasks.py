"""Tasks: classes, fields and rows; a sheet for people to vote on; and a made-up task for trying things."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from functools import cache
from importlib.resources import files
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np

from grasp_core.analysis.models.labels import ID, LABEL
from grasp_core.model.errors import DataError, SpecError
from grasp_core.model.sizes import MIB, check_size, read_at_most
from grasp_core.model.text import csv_text, listed, meant, quoted
from grasp_core.reading.sandbox.read import read_table
from grasp_core.reading.table.table import Table

UNLABELED = "Unlabeled"
"""Label of rows whose gold label is private; never a class."""
TASK_FILE, TRAIN_FILE, TEST_FILE = "task.json", "train.csv", "test_unlabeled.csv"
GOLD_FILE = "test.csv"
MAX_ROWS_FILE = 64 * MIB
_MAX_TASK = MIB


@dataclass(frozen=True, slots=True)
class Task:
    """One classification task.

    `prompt_fields`: fields that a language model is shown, in that order.
    `numeric`: True if a language model names a class by its number, because names share their first token.
    `difficulty`: reasons why it is hard: the benchmark's are "long inputs", "many classes", "expertise" and
        "imbalance".
    `warning`: a note to readers before they open its rows.
    """

    name: str
    classes: tuple[str, ...]
    fields: tuple[str, ...]
    prompt_fields: tuple[str, ...]
    instructions: str = ""
    shots: int = 25
    test_rows: int | None = None
    licence: str = ""
    source: str = ""
    numeric: bool = False
    difficulty: tuple[str, ...] = ()
    warning: str = ""

    @property
    def description(self) -> dict[str, Any]:
        """Content of its ``task.json``, JSON-ready."""
        plain = {one.name: getattr(self, one.name) for one in fields(self) if one.name != "name"}
        return {name: list(value) if isinstance(value, tuple) else value for name, value in plain.items()}

    @property
    def task_json(self) -> str:
        """Text of its ``task.json``."""
        return json.dumps(self.description, ensure_ascii=False, indent=1) + "\n"


@dataclass(frozen=True, slots=True, eq=False)
class TaskRows:
    """Rows of a task: texts by field, classes if the file has them, and the file itself for messages."""

    ids: tuple[str, ...]
    texts: tuple[Mapping[str, str], ...]
    labels: tuple[str, ...] | None
    table: Table


@cache
def builtin_tasks() -> Mapping[str, Task]:
    """Return the benchmark's 11 tasks by name, in its order."""
    plain = json.loads(files("grasp_core.benchmark").joinpath("registry.json").read_text("utf-8"))
    return {entry["name"]: _task(entry, "registry.json") for entry in plain["tasks"]}


def read_tasks(folder: Path | None) -> Mapping[str, Task]:
    """Return the tasks of a folder with ``<config>/task.json``, by name; without a folder, the built-in."""
    if folder is None:
        return builtin_tasks()
    found = sorted(path.parent for path in folder.glob(f"*/{TASK_FILE}"))
    if not found:
        raise DataError(f"{folder} has no folder with a {TASK_FILE}; give each task a folder of its own")
    return {task.name: task for task in map(read_task, found)}


def read_task(folder: Path) -> Task:
    """Read a task from its folder's ``task.json``, in this program's form or in the released files' form."""
    path = folder / TASK_FILE
    try:
        plain = json.loads(read_at_most(path, _MAX_TASK, "a task's description").decode("utf-8"))
    except FileNotFoundError:
        raise DataError(f"{folder} is no task folder: it has no {TASK_FILE}") from None
    except (OSError, ValueError, RecursionError):
        raise DataError(f"{path} cannot be read as JSON in UTF-8; write it again") from None
    if not isinstance(plain, dict):
        raise DataError(f"{path} holds no JSON object; it should describe one task")
    return _task({"name": folder.name, **plain}, str(path))


def _task(plain: Mapping[str, Any], where: str) -> Task:
    released = plain.get("label_columns")
    classes = plain.get("classes", released.get(LABEL) if isinstance(released, dict) else None)
    columns = plain.get("fields", plain.get("data_columns"))
    classes = _texts(where, "classes", classes)
    columns = _texts(where, "fields", columns)
    known = builtin_tasks().get(plain["name"]) if where != "registry.json" else None
    texts = tuple(name for name in columns if name != ID)
    if len(classes) < 2 or len(set(classes)) != len(classes) or UNLABELED in classes:
        raise DataError(f"{where}: `classes` needs two or more different names, none of them {UNLABELED!r}")
    if not texts or len(set(texts)) != len(texts) or LABEL in texts:
        raise DataError(f"{where}: `fields` must name the text columns, each once, without {ID} and {LABEL}")
    if not set(_texts(where, "prompt_fields", plain.get("prompt_fields", [*texts]))) <= set(texts):
        raise DataError(f"{where}: `prompt_fields` must be some of the fields")
    given = {name: plain[name] for name in _OPTIONAL if plain.get(name) not in (None, "")}
    for name, value in given.items():
        if type(value) is not _OPTIONAL[name]:
            kind = _KINDS[_OPTIONAL[name]]
            raise DataError(f"{where}: `{name}` must be {kind}; found {quoted(json.dumps(value))}")
    if "difficulty" in given:
        given["difficulty"] = tuple(_texts(where, "difficulty", given["difficulty"]))
    default = {name: getattr(known, name) for name in _OPTIONAL} if known is not None else {}
    prompt = plain.get("prompt_fields", known.prompt_fields if known and known.fields == texts else texts)
    return Task(plain["name"], tuple(classes), texts, tuple(prompt), **{**default, **given})


_KINDS = {str: "a text", int: "a whole number", bool: "true or false", list: "a list of texts"}
_OPTIONAL = {
    "instructions": str,
    "shots": int,
    "test_rows": int,
    "licence": str,
    "source": str,
    "numeric": bool,
    "difficulty": list,
    "warning": str,
}


def _texts(where: str, name: str, value: Any) -> list[str]:
    if value is None:
        raise DataError(f'{where} names no `{name}`; add a list of texts, as "{name}": ["...", "..."]')
    if not isinstance(value, list) or not all(isinstance(one, str) for one in value):
        raise DataError(f"{where}: `{name}` must be {_KINDS[list]}; found {quoted(json.dumps(value))}")
    return value


def read_rows(path: Path, task: Task, *, labelled: bool) -> TaskRows:
    """Read the rows of a task's file; ids are those of its column ID, or the row numbers from 0."""
    if path.is_file():
        check_size(path.stat().st_size, MAX_ROWS_FILE, path.name, "a task's rows")
    table = read_table(path)
    needed = [*task.fields, *([LABEL] if labelled else [])]
    missing = [name for name in needed if name not in table.columns]
    if missing:
        raise DataError(
            f"{table.name} has no column {quoted(missing[0])}; task {task.name} has the columns "
            f"{', '.join(needed)} and {ID}"
        )
    columns = {name: _cells(table, name) for name in needed}
    ids = _cells(table, ID) if ID in table.columns else tuple(map(str, range(len(table))))
    if len(set(ids)) != len(ids):
        first: dict[str, int] = {}
        twice = next(at for at, one in enumerate(ids) if first.setdefault(one, at) != at)
        raise DataError(f"{table.name}, row {table.row(twice)}: the ID {quoted(ids[twice])} occurs twice")
    labels = columns.pop(LABEL, None)
    for position, label in enumerate(labels or ()):
        if label not in task.classes:
            raise DataError(
                f"{table.name}, row {table.row(position)}: the label {quoted(label)} is none of the "
                f"{len(task.classes)} classes of {task.name}; "
                f"{meant(label, task.classes, f'use one of {listed(task.classes)}')}"
            )
    texts = tuple(dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True))
    return TaskRows(ids, texts, labels, table)


def _cells(table: Table, name: str) -> tuple[str, ...]:
    column = table.column(name)
    return tuple(column.values[code] for code in column.codes)


RATER = "rater"


def voting_sheet(
    task: Task,
    train: TaskRows,
    test: TaskRows,
    raters: Sequence[str],
    *,
    items: int = 100,
    asked: int = 10,
    seed: int = 1,
) -> tuple[str, str]:
    """Make a CSV file with a line for each rater and row, without labels, and a qualification's right labels.

    `items`, `asked`: rows to be voted on, and before them rows of the qualification, all drawn at random.
    """
    if not raters or len(set(raters)) != len(raters) or not all(raters):
        raise SpecError("a sheet needs raters, each with a name of its own")
    if train.labels is None:
        raise DataError(f"{train.table.name} has no labels, so nobody can qualify on its rows")
    both = sorted(set(train.ids) & set(test.ids))
    if asked and both:
        raise DataError(
            f"{train.table.name} and {test.table.name} both have the ID {both[0]!r}; give each row its own"
        )
    rng = np.random.Generator(np.random.Philox(seed))
    known, voted = _some(rng, len(train.ids), asked), _some(rng, len(test.ids), items)
    sheet = (
        [rater, rows.ids[at], "", *(rows.texts[at][name] for name in task.fields)]
        for rater in raters
        for rows, places in ((train, known), (test, voted))
        for at in places
    )
    right = ((train.ids[at], train.labels[at]) for at in known)
    return csv_text([RATER, ID, LABEL, *task.fields], sheet), csv_text([ID, LABEL], right)


def _some(rng: np.random.Generator, rows: int, wanted: int) -> list[int]:
    return sorted(map(int, rng.choice(rows, min(wanted, rows), replace=False)))


_SHOP = "shop_messages"
_SHOP_CLASSES = ("complaint", "praise", "question")
_SHOP_SEED = 20210928
_TRAIN, _TEST = 50, 100
_THINGS = (
    "the parcel with the lamp",
    "my order of last week",
    "the blue kettle",
    "the winter coat",
    "your delivery service",
    "the phone case",
    "the garden chair",
    "the refund for the shoes",
)
_SAID = {
    "complaint": (
        "{thing} came broken and nobody answers my mails",
        "still waiting for {thing}, this is a disgrace",
        "I am very unhappy with {thing}",
        "{thing}: twice promised, never arrived",
        "paid full price for {thing} and it is not what you showed",
        "{thing} fell apart after two days, I want my money back",
        "never again: {thing} is the worst I ever bought here",
    ),
    "praise": (
        "{thing} is wonderful, thank you",
        "I am delighted with {thing}, it came a day early",
        "{thing} works perfectly, well done",
        "what a pleasant surprise, {thing} is even better than in the picture",
        "thanks to your team, {thing} arrived safe and sound",
        "my family loves {thing}, we will order again",
    ),
    "question": (
        "when can I expect {thing}?",
        "how do I change the address for {thing}",
        "is it possible to return {thing} in a shop",
        "could you tell me who is responsible for {thing}?",
        "do I need the receipt for {thing}",
        "which number do I call about {thing}?",
    ),
}
_SHOP_TASK = Task(
    name=_SHOP,
    classes=_SHOP_CLASSES,
    fields=("Message",),
    prompt_fields=("Message",),
    instructions=(
        "Decide what the writer of a message to a shop wants.\n"
        "A complaint says that something is not as it should be. Praise says that something is good. "
        "A question asks for information and neither complains nor praises."
    ),
    shots=10,
    test_rows=_TEST,
    licence="that of GRASP",
    source="made up for GRASP",
)


def example_task_files() -> dict[str, bytes]:
    """Return the example's files by their paths: ``tasks/`` and ``gold/``, as the commands take them."""
    rows = [
        (said.format(thing=thing), label)
        for label, sentences in _SAID.items()
        for said, thing in product(sentences, _THINGS)
    ]
    order = np.random.default_rng(_SHOP_SEED).permutation(len(rows))[: _TRAIN + _TEST]
    drawn = [(*rows[row], str(one)) for one, row in enumerate(order.tolist())]
    train, test = drawn[:_TRAIN], drawn[_TRAIN:]
    return {
        f"tasks/{_SHOP}/{TASK_FILE}": _SHOP_TASK.task_json.encode(),
        f"tasks/{_SHOP}/{TRAIN_FILE}": csv_text(["Message", LABEL, ID], train).encode(),
        f"tasks/{_SHOP}/{TEST_FILE}": csv_text(
            ["Message", ID], [(text, one) for text, _, one in test]
        ).encode(),
        f"gold/{_SHOP}/{GOLD_FILE}": csv_text([ID, LABEL], [(one, label) for _, label, one in test]).encode(),
    }
