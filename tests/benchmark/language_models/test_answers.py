"""Answers are kept and counted."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from grasp_core.benchmark.language_models.ledger import Answers, Usage, question_key
from grasp_core.benchmark.language_models.model import FLOOR, Answer
from grasp_core.errors import DataError

KEY = question_key("m", "private words", (" yes", " no"))
ANSWER = Answer((-0.25, FLOOR), 1, 90, 1, 2)


def test_an_answer_is_found_again(tmp_path: Path) -> None:
    path = tmp_path / "answers.jsonl"
    with Answers(path) as answers:
        answers.add(KEY, ANSWER)
        assert len(path.read_text().splitlines()) == 2  # written at once
    again = Answers(path)
    assert again.get(KEY, 2) == ANSWER
    assert again.get(KEY, 3) is None
    assert again.get(question_key("m2", "private words", (" yes", " no")), 2) is None


def test_the_file_holds_no_text(tmp_path: Path) -> None:
    answers = Answers(tmp_path / "answers.jsonl")
    answers.add(KEY, ANSWER)
    written = answers.path.read_text()
    assert "private" not in written
    assert "yes" not in written
    assert set(json.loads(written.splitlines()[1])) == {
        "key",
        "logprobs",
        "floored",
        "prompt_tokens",
        "completion_tokens",
        "retries",
    }


def test_model_prompt_and_candidates_make_the_key() -> None:
    questions = [("m", "p", ("a", "b")), ("m", "p", ("ab",)), ("mp", "", ("a", "b")), ("m", "p", ("b", "a"))]
    assert len({question_key(*question) for question in questions}) == 4


@pytest.mark.parametrize("cut", [1, 20, 60])
def test_a_line_that_was_not_finished_is_asked_again(tmp_path: Path, cut: int) -> None:
    path = tmp_path / "answers.jsonl"
    answers = Answers(path)
    answers.add(KEY, ANSWER)
    answers.add("another", ANSWER)
    path.write_bytes(path.read_bytes()[:-cut])
    again = Answers(path)
    assert (again.get(KEY, 2), again.get("another", 2)) == (ANSWER, None)
    again.add("another", ANSWER)
    assert len(Answers(path)) == 2


@pytest.mark.parametrize(
    ("content", "sentence"),
    [
        (b"ID,Label\n0,yes\n", "line 1: no answer of a language model"),
        (b"ID,Label", "holds no answers of a language model"),
        (b'{"format": "grasp-lm-answers", "version": 2}\n', "line 1: no answer"),
        (b'{"format": "grasp-lm-answers", "version": 1}\n{"key": "a"}\n', "line 2: no answer"),
        (b'{"format": "grasp-lm-answers", "version": 1}\n[]\n', "line 2: no answer"),
        (b'{"format": "grasp-lm-answers", "version": 1}\n\xff\n', "line 2: no answer"),
        (
            b'{"format": "grasp-lm-answers", "version": 1}\n{"key": "a", "logprobs": [NaN], "floored": 0, '
            b'"prompt_tokens": 1, "completion_tokens": 1, "retries": 0}\n',
            "line 2: no answer",
        ),
    ],
)
def test_a_file_of_something_else_is_left_alone(tmp_path: Path, content: bytes, sentence: str) -> None:
    path = tmp_path / "train.csv"
    path.write_bytes(content)
    with pytest.raises(DataError, match=sentence):
        Answers(path)
    assert path.read_bytes() == content


def test_a_folder_is_no_file_of_answers(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="cannot be read"):
        Answers(tmp_path)
    with pytest.raises(DataError, match="answers cannot be written"):
        Answers(tmp_path / "missing" / "answers.jsonl").add(KEY, ANSWER)


def test_without_a_file_answers_are_kept_only_when_something_went_wrong() -> None:
    with Answers() as answers:
        answers.add(KEY, ANSWER)
    assert not answers.path.exists()
    answers = Answers()
    with pytest.raises(KeyboardInterrupt):
        _interrupted(answers)
    assert Answers(answers.path).get(KEY, 2) == ANSWER
    answers.path.unlink()


def _interrupted(answers: Answers) -> None:
    with answers:
        answers.add(KEY, ANSWER)
        raise KeyboardInterrupt


def test_the_usage_and_its_words() -> None:
    usage = Usage()
    usage.count(ANSWER, new=True)
    usage.count(Answer((-1.0, -1.0), 0, 50, 1), new=False)
    assert (usage.asked, usage.reused, usage.prompt_tokens, usage.completion_tokens) == (1, 1, 90, 1)
    assert (usage.retries, usage.floored, usage.undecided) == (2, 1, 1)
    assert usage.cost(2.0, 10.0) == pytest.approx((90 * 2 + 10) / 1e6, abs=1e-15)  # by hand
    assert usage.sentences(2.0, 10.0)[0] == (
        "1 question asked, 1 known from before; 90 tokens sent, 1 received, at a price of 0.0002"
    )
    assert "2 attempts failed and were made again" in usage.sentences()
    assert "price" not in usage.sentences()[0]
