"""Answers are kept and counted."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from grasp_core.benchmark.language_models.answers import Answers, Usage, question_key
from grasp_core.benchmark.language_models.model import FLOOR, Answer
from grasp_core.model.errors import DataError

KEY = question_key("m", "private words", (" yes", " no"))
ANSWER = Answer((-0.25, FLOOR), 1, 90, 1)


def test_an_answer_is_found_again(tmp_path: Path) -> None:
    path = tmp_path / "answers.jsonl"
    Answers(path).add(KEY, ANSWER)
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
    with pytest.raises(DataError, match="answers of a language model cannot be written"):
        Answers(tmp_path / "missing" / "answers.jsonl").add(KEY, ANSWER)


def test_answers_of_earlier_versions_are_read(tmp_path: Path) -> None:
    path = tmp_path / "answers.jsonl"
    first = '{"format": "grasp-lm-answers", "version": 1}\n'
    numbers = '"floored": 1, "prompt_tokens": 90, "completion_tokens": 1, "retries": 2'
    path.write_text(f'{first}{{"key": "{KEY}", "logprobs": [-0.25, -100.0], {numbers}}}\n')
    assert Answers(path).get(KEY, 2) == ANSWER


def test_a_file_begun_by_two_at_once_is_read(tmp_path: Path) -> None:
    path = tmp_path / "answers.jsonl"
    Answers(path).add(KEY, ANSWER)
    first, answer = path.read_text().splitlines()
    path.write_text(f"{first}\n{first}\n{answer}\n")
    assert Answers(path).get(KEY, 2) == ANSWER


def test_the_usage_and_its_words() -> None:
    usage = Usage(2.0, 10.0)
    usage.count(ANSWER, new=True)
    usage.count(Answer((-1.0, -1.0), 0, 50, 1), new=False)
    assert (usage.asked, usage.reused, usage.prompt_tokens, usage.completion_tokens) == (1, 1, 90, 1)
    assert (usage.floored, usage.undecided) == (1, 1)
    assert usage.cost == pytest.approx((90 * 2 + 10) / 1e6, abs=1e-15)  # by hand
    assert usage.sentences()[0] == (
        "1 question asked, 1 known from before; 90 tokens sent, 1 received, at a price of 0.0002"
    )
    assert "price" not in Usage().sentences()[0]
