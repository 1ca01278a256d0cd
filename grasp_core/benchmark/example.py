"""A small task to try everything on: made-up messages to a shop, with gold labels that are open."""

from __future__ import annotations

from itertools import product

import numpy as np

from grasp_core.analysis.models.labels import ID, LABEL
from grasp_core.benchmark.submissions import GOLD_FILE
from grasp_core.benchmark.tasks import TASK_FILE, TEST_FILE, TRAIN_FILE, Task
from grasp_core.model.text import csv_text

NAME = "shop_messages"
CLASSES = ("complaint", "praise", "question")
SEED = 20210928
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
TASK = Task(
    name=NAME,
    classes=CLASSES,
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
    """The files of the example by their paths: ``tasks/`` and ``gold/``, as the commands take them.

    Returns 50 labelled rows, 100 rows to be labelled, and the latter's labels.
    """
    rows = [
        (said.format(thing=thing), label)
        for label, sentences in _SAID.items()
        for said, thing in product(sentences, _THINGS)
    ]
    order = np.random.default_rng(SEED).permutation(len(rows))[: _TRAIN + _TEST]
    drawn = [(*rows[row], str(one)) for one, row in enumerate(order.tolist())]
    train, test = drawn[:_TRAIN], drawn[_TRAIN:]
    return {
        f"tasks/{NAME}/{TASK_FILE}": TASK.task_json.encode(),
        f"tasks/{NAME}/{TRAIN_FILE}": csv_text(["Message", LABEL, ID], train).encode(),
        f"tasks/{NAME}/{TEST_FILE}": csv_text(
            ["Message", ID], [(text, one) for text, _, one in test]
        ).encode(),
        f"gold/{NAME}/{GOLD_FILE}": csv_text([ID, LABEL], [(one, label) for _, label, one in test]).encode(),
    }
