"""A model that is asked as a chat: the class that it writes."""

from __future__ import annotations

from contextlib import closing

import pytest

from grasp_core.benchmark.language_models.endpoint import Endpoint
from grasp_core.benchmark.language_models.model import FLOOR, ModelError
from tests.benchmark.language_models.completions_server import chats, says, serving

CLASSES = (" overruling", " not overruling", " n/a")


def asked(text: str | None, candidates: tuple[str, ...] = CLASSES) -> list[int]:
    """Positions of the classes that are taken for possible."""
    with serving() as server:
        server.before = [chats(text)]
        with closing(Endpoint(server.url, "m", chat=True)) as model:
            answer = model.next_token_logprobs("Possible labels: ...\n\nText: x\nLabel:", candidates)
        request = server.requests[0]
    assert request["path"] == "/v1/chat/completions"
    assert request["messages"][-1] == {
        "role": "user",
        "content": "Possible labels: ...\n\nText: x\nLabel:",
    }
    assert (answer.prompt_tokens, answer.completion_tokens) == (90, 4)
    said = [at for at, value in enumerate(answer.logprobs) if value > FLOOR]
    assert answer.floored == (0 if said else len(candidates))
    return said


@pytest.mark.parametrize(
    ("text", "classes"),
    [
        ("overruling", [0]),
        ("not overruling", [1]),
        (" **Not overruling**. ", [1]),
        ("Label: overruling", [0]),
        ("overruling, because it nullifies", [0]),
        ("The sentence is not overruling", [1]),
        ("This is overruling", [0]),
        ("overruled", []),
        ("overruling or n/a? n/a", [0]),
        ("either n/a or overruling", []),
        ("", []),
        ("I cannot say", []),
    ],
)
def test_the_class_that_it_writes(text: str, classes: list[int]) -> None:
    assert asked(text) == classes


def test_a_class_by_its_number() -> None:
    numbers = tuple(f" {one}" for one in range(1, 78))
    assert asked("22. cash_withdrawal", numbers) == [21]
    assert asked("2", numbers) == [1]


def test_an_answer_without_a_text() -> None:
    with pytest.raises(ModelError, match="answered without a text; take a model that answers in words"):
        asked(None)


def test_a_refusal_is_told_as_of_completions() -> None:
    with serving() as server:
        server.before = [says(404)]
        with (
            closing(Endpoint(server.url, "m", chat=True, retries=0)) as model,
            pytest.raises(ModelError, match="status 404: it knows no such model"),
        ):
            model.next_token_logprobs("p", CLASSES)
