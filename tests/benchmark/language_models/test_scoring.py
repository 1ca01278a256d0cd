"""From rows to classes: which examples are shown, what becomes of failures; answers kept; by command."""

import argparse
import json
from collections.abc import Sequence
from contextlib import closing
from dataclasses import replace
from itertools import count
from pathlib import Path

import numpy as np
import pytest
from sklearn.metrics import f1_score

from grasp_core.benchmark.baselines import embedding
from grasp_core.benchmark.checkpoints import KeptWork
from grasp_core.benchmark.language_models.answers import Asking, Usage, kept_answers, question_key
from grasp_core.benchmark.language_models.endpoint import Endpoint
from grasp_core.benchmark.language_models.in_context import (
    InContext,
    Setting,
    grid,
    leave_one_out,
    paper_sweeps,
    predict,
    tune,
)
from grasp_core.benchmark.language_models.model import FLOOR, ModelAnswer, ModelError
from grasp_core.benchmark.language_models.prompt import drawn, most_similar
from grasp_core.benchmark.tasks import TaskRows, read_rows, read_task
from grasp_core.cli import main
from grasp_core.cli.benchmark.lm import add_lm_options, asked_lm
from grasp_core.model.errors import DataError, RunCancelledError, SpecError
from grasp_core.model.remarks.remark import said
from tests.benchmark.language_models.completions_server import Completions, says, serving
from tests.benchmark.language_models.making import ROWS, TASK, WordModel, rows, text


def shared_words(texts: Sequence[str], others: Sequence[str]) -> np.ndarray:
    bags = [[set(one.split()) for one in many] for many in (texts, others)]
    return np.array([[len(a & b) / max(len(a) * len(b), 1) ** 0.5 for b in bags[1]] for a in bags[0]])


@pytest.fixture
def train(tmp_path: Path) -> TaskRows:
    return rows(tmp_path)


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Answers are kept in the working folder unless an option names another place."""
    monkeypatch.chdir(tmp_path)


FILES = count()


def no_answers() -> KeptWork[ModelAnswer]:
    return kept_answers(Path(f"{next(FILES)}.jsonl"))


def asking(model: WordModel, **more: object) -> Asking:
    return replace(Asking(TASK, model, no_answers(), shared_words, usage=Usage()), **more)


def test_examples_are_the_most_similar_or_by_chance_of_every_class() -> None:
    assert most_similar(np.array([0.2, 0.9, 0.5, 0.9]), 3) == [2, 3, 1]
    assert most_similar(np.array([0.1, 0.2]), 5) == [0, 1]
    assert most_similar(np.array([0.1, 0.2]), 0) == []
    labels = ["a"] * 20 + ["b", "c"]
    draws = {tuple(drawn(labels, 4, seed)) for seed in range(30)}
    assert len(draws) > 20
    for draw in draws:
        assert len(set(draw)) == 4
        assert {"b", "c"} == {labels[row] for row in draw} - {"a"}
    assert drawn(labels, 4, 7) == drawn(labels, 4, 7)
    assert drawn(labels, 22, 7) == list(range(22))


def test_rows_are_classified_by_the_model_and_by_the_baseline_that_asks_it(train: TaskRows) -> None:
    model, new = WordModel(), [text("", "please bring cake"), text("", "the sun is red")]
    ask = asking(model)
    found = predict(ask, Setting(2), train, new)
    assert found.labels == ("yes", "no")
    assert np.allclose(found.probabilities.sum(axis=1), 1)
    assert model.asked[0].count("please bring") == 3
    assert (ask.usage.asked, ask.usage.reused) == (2, 0)
    baseline = InContext(WordModel(), no_answers(), similarity=shared_words)
    label = baseline(train, TASK, 1)
    assert [label([row]) for row in new] == [["yes"], ["no"]]
    assert baseline.usage.asked == 2


def test_probabilities_are_those_of_the_logprobs_normalised(train: TaskRows) -> None:
    class Fixed(WordModel):
        def next_token_logprobs(self, prompt: str, candidates: Sequence[str]) -> ModelAnswer:
            return ModelAnswer((np.log(0.02), np.log(0.06)))

    found = predict(asking(Fixed()), Setting(0), train, [text("", "x")])
    assert found.probabilities[0] == pytest.approx([0.25, 0.75])
    assert found.labels == ("no",)


def test_leaving_one_out_never_shows_the_row_itself(train: TaskRows) -> None:
    model = WordModel()
    found = leave_one_out(asking(model), Setting(5), train)
    assert len(found.labels) == len(ROWS)
    for (title, words, _), prompt in zip(ROWS, model.asked, strict=True):
        assert prompt.count(f"Text: {words}\nTitle: {title}\n") == 1
        assert prompt.count("Label:") == 6


def test_similar_examples_need_embeddings_and_a_row_without_text_gets_some_by_chance(train: TaskRows) -> None:
    model = WordModel()
    ask, blank = asking(model, similarity=None), text(" ", "")
    with pytest.raises(DataError, match="needs embeddings"):
        predict(ask, Setting(2), train, [text("", "x")])
    assert predict(ask, Setting(2, semantic=False), train, [text("", "x")]).labels
    model.asked.clear()
    predict(asking(model), Setting(2), train, [blank])
    predict(asking(model), Setting(2, semantic=False), train, [blank])
    assert model.asked[0] == model.asked[1]


class Failing(WordModel):
    """Gives no answer to some questions."""

    def __init__(self, failing: set[int], *, passing: bool = True) -> None:
        super().__init__()
        self.failing, self.passing, self.calls = failing, passing, 0

    def next_token_logprobs(self, prompt: str, candidates: Sequence[str]) -> ModelAnswer:
        self.calls += 1
        if self.calls in self.failing:
            raise ModelError(said("It did not answer"), passing=self.passing)
        return super().next_token_logprobs(prompt, candidates)


def test_a_second_attempt_asks_only_what_is_missing_or_of_another_number_of_classes(
    train: TaskRows, tmp_path: Path
) -> None:
    path = tmp_path / "answers.jsonl"
    failing = Failing({2, 5})
    with pytest.raises(DataError, match=r"4 of 6 rows got an answer\. It did not answer\. Answers so far"):
        leave_one_out(asking(failing, answers=kept_answers(path)), Setting(3), train)
    assert failing.calls == 6
    again = WordModel()
    ask = asking(again, answers=kept_answers(path))
    found = leave_one_out(ask, Setting(3), train)
    assert len(again.asked) == 2
    assert (ask.usage.asked, ask.usage.reused) == (2, 4)
    assert found.labels == leave_one_out(asking(WordModel()), Setting(3), train).labels
    ask.answers[next(iter(ask.answers))] = ModelAnswer((FLOOR,), 1, 90, 1)
    leave_one_out(ask, Setting(3), train)
    assert len(again.asked) == 3


@pytest.mark.parametrize(("failing", "passing", "calls"), [({2}, False, 2), ({2, 3, 4}, True, 4)])
def test_a_model_out_of_reach_is_not_asked_on(train, failing, passing, calls) -> None:
    model = Failing(failing, passing=passing)
    with pytest.raises(DataError, match="1 of 6 rows got an answer"):
        leave_one_out(asking(model), Setting(3), train)
    assert model.calls == calls


def test_progress_and_cancel(train: TaskRows, tmp_path: Path) -> None:
    told: list[tuple[int, int]] = []

    def watch(done: int, total: int) -> None:
        told.append((done, total))
        if done == 3:
            raise RunCancelledError

    answers = kept_answers(tmp_path / "answers.jsonl")
    with pytest.raises(RunCancelledError):
        leave_one_out(asking(WordModel(), watch=watch, answers=answers), Setting(3), train)
    assert told == [(0, 6), (1, 6), (2, 6), (3, 6)]
    assert len(answers) == 3


def macro_f1(gold: Sequence[str], predicted: Sequence[str], _: object) -> float:
    return float(f1_score(gold, predicted, labels=TASK.classes, average="macro", zero_division=0))


def test_tuning_tries_all_settings_and_resumes_and_the_papers_trials_vary_one_thing(train, tmp_path) -> None:
    settings = grid(len(ROWS))
    assert len(grid()) == 16
    assert {setting.shots for setting in settings} == {5}
    told: list[tuple[int, int]] = []
    answers = kept_answers(tmp_path / "a.jsonl")
    model = WordModel()
    ask = asking(model, answers=answers, watch=lambda done, total: told.append((done, total)))
    trials = tune(ask, train, settings, macro_f1)
    assert told[0] == (0, 24)
    assert told[-1] == (24, 24)
    assert [trial.score for trial in trials] == sorted((trial.score for trial in trials), reverse=True)
    best = leave_one_out(ask, trials[0].setting, train)
    assert trials[0].score == pytest.approx(macro_f1(train.labels, best.labels, None))
    again = tune(replace(ask, answers=kept_answers(tmp_path / "a.jsonl")), train, settings, macro_f1)
    assert len(model.asked) == ask.usage.asked == len(set(model.asked))
    assert again == trials
    sweeps = dict(paper_sweeps())
    assert [setting.instructions for setting in sweeps["instructions"]] == [False, True]
    assert [setting.semantic for setting in sweeps["similar examples"]] == [False, True]
    assert [setting.shots for setting in sweeps["number of examples"]] == [5, 10, 25, 49]


@pytest.mark.parametrize("parallel", [1, 3])
def test_over_the_network_an_interrupted_job_goes_on(train: TaskRows, tmp_path: Path, parallel: int) -> None:
    path = tmp_path / "answers.jsonl"

    def attempt(url: str) -> tuple[tuple[str, ...], Usage]:
        with closing(Endpoint(url, "m", retries=0, parallel=parallel)) as model:
            ask = asking(model, answers=kept_answers(path))
            return leave_one_out(ask, Setting(3), train).labels, ask.usage

    with serving() as server:
        server.top = lambda prompt: {" yes": -0.1} if "Title: Tea\nLabel:" in prompt[-40:] else {" no": -0.2}
        url = server.url
        server.before = [lambda: None, says(200, b"{garbage"), lambda: None, says(500)]
        with pytest.raises(DataError, match="4 of 6 rows got an answer"):
            attempt(url)
        assert len(kept_answers(path)) == 4
        labels, usage = attempt(url)
        assert (usage.asked, usage.reused, usage.prompt_tokens, usage.floored) == (2, 4, 200, 6)
        assert labels == ("yes", "no", "no", "no", "no", "no")
        assert len(server.requests) == 8


# Answers
KEY = question_key("m", "private words", (" yes", " no"))
ANSWER = ModelAnswer((-0.25, FLOOR), 1, 90, 1)


def test_an_answer_is_found_again_by_model_prompt_and_candidates_in_a_file_without_text(tmp_path) -> None:
    path = tmp_path / "answers.jsonl"
    kept_answers(path)[KEY] = ANSWER
    written = path.read_text()
    assert len(written.splitlines()) == 2  # written at once
    assert "private" not in written
    assert "yes" not in written
    told = {"key", "logprobs", "floored", "prompt_tokens", "completion_tokens"}
    assert set(json.loads(written.splitlines()[1])) == told
    again = kept_answers(path)
    assert again.get(KEY) == ANSWER
    assert again.get(question_key("m2", "private words", (" yes", " no"))) is None
    questions = [("m", "p", ("a", "b")), ("m", "p", ("ab",)), ("mp", "", ("a", "b")), ("m", "p", ("b", "a"))]
    assert len({question_key(*question) for question in questions}) == 4


@pytest.mark.parametrize("cut", [1, 20, 60])
def test_a_line_that_was_not_finished_is_asked_again(tmp_path: Path, cut: int) -> None:
    path = tmp_path / "answers.jsonl"
    answers = kept_answers(path)
    answers[KEY] = ANSWER
    answers["another"] = ANSWER
    path.write_bytes(path.read_bytes()[:-cut])
    again = kept_answers(path)
    assert (again.get(KEY), again.get("another")) == (ANSWER, None)
    again["another"] = ANSWER
    assert len(kept_answers(path)) == 2


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
        kept_answers(path)
    assert path.read_bytes() == content


def test_files_of_answers_that_are_and_are_not_read(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="cannot be read"):
        kept_answers(tmp_path)
    with pytest.raises(DataError, match="answers of a language model cannot be written"):
        kept_answers(tmp_path / "missing" / "answers.jsonl")[KEY] = ANSWER
    path = tmp_path / "answers.jsonl"
    first = '{"format": "grasp-lm-answers", "version": 1}\n'
    numbers = '"floored": 1, "prompt_tokens": 90, "completion_tokens": 1, "retries": 2'
    for heads in (1, 2):
        path.write_text(f'{first * heads}{{"key": "{KEY}", "logprobs": [-0.25, -100.0], {numbers}}}\n')
        assert kept_answers(path).get(KEY) == ANSWER


def test_the_usage_and_its_words() -> None:
    usage = Usage(2.0, 10.0)
    usage.count(ANSWER, new=True)
    usage.count(ModelAnswer((-1.0, -1.0), 0, 50, 1), new=False)
    assert (usage.asked, usage.reused, usage.prompt_tokens, usage.completion_tokens) == (1, 1, 90, 1)
    assert (usage.floored, usage.undecided) == (1, 1)
    assert usage.cost == pytest.approx((90 * 2 + 10) / 1e6, abs=1e-15)  # by hand
    assert usage.sentences()[0] == (
        "1 question asked, 1 known from before; 90 tokens sent, 1 received, at a price of 0.0002"
    )
    assert "price" not in Usage().sentences()[0]


# The options on the command line, over a real connection
needs_minilm = pytest.mark.skipif(not embedding.available(), reason="needs MiniLM, of the extra models")
SECRET = "sk-test-0123456789abcdef"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    path = tmp_path / "orders"
    path.mkdir()
    task = {"classes": TASK.classes, "fields": TASK.fields, "instructions": TASK.instructions, "shots": 2}
    (path / "task.json").write_text(json.dumps(task))
    lines = [f"{at},{title},http://x,{words},{label}" for at, (title, words, label) in enumerate(ROWS)]
    (path / "train.csv").write_text("\n".join(["ID,Title,Link,Text,Label", *lines]) + "\n")
    return path


def parsed(*arguments: str) -> argparse.Namespace:
    parser = argparse.ArgumentParser()
    add_lm_options(parser)
    return parser.parse_args(arguments)


def bread(server: Completions) -> None:
    server.top = lambda prompt: {" yes": -0.1} if "please" in prompt.split("\n\n")[-1] else {" no": -0.2}


def test_the_options_make_the_baseline(folder: Path, monkeypatch: pytest.MonkeyPatch, capsys) -> None:
    monkeypatch.setenv("SOME_KEY", SECRET)
    task = read_task(folder)
    train = read_rows(folder / "train.csv", task, labelled=True)
    with serving() as server:
        bread(server)
        options = ["--endpoint", server.url, "--model", "m", "--key-variable", "SOME_KEY", "--shots", "3"]
        options += ["--no-instructions", "--random-examples", "--price-in", "10", "--price-out", "20"]
        with asked_lm(parsed(*options)) as (make, _):
            baseline = make(task)
            assert baseline.setting == Setting(3, instructions=False, semantic=False)
            label = baseline(train, task, 1)
            assert label([train.texts[0], train.texts[1]]) == ["yes", "no"]
    assert all(prompt.startswith("Possible labels:\n1. yes\n2. no\n\n") for prompt in server.prompts)
    assert all(prompt.count("Label: ") == 3 for prompt in server.prompts)
    shown = capsys.readouterr().err
    # By hand: 2 answers of 100 and 1 tokens; (200 * 10 + 2 * 20) / 1e6.
    assert (
        "2 questions asked, 0 known from before; 200 tokens sent, 2 received, at a price of 0.0020" in shown
    )
    assert "answers are kept in lm-answers.jsonl and are not asked for again" in shown
    assert SECRET not in shown


@needs_minilm
def test_without_options_the_task_decides(folder: Path) -> None:
    with asked_lm(parsed("--endpoint", "http://localhost:1/v1", "--model", "m")) as (make, _):
        baseline = make(read_task(folder))
        assert baseline.setting == Setting(2, instructions=True, semantic=True)
        assert baseline.similarity is not None
        cosines = baseline.similarity(["tea", "rain"], ["tea", "a storm"])
        assert cosines.shape == (2, 2)
        assert cosines[0, 0] == pytest.approx(1, abs=1e-6)
        assert cosines[1, 1] > cosines[0, 1]


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ([], "name one language model"),
        (["--endpoint", "http://localhost/v1", "--gguf", "m.gguf"], "name one language model"),
        (["--endpoint", "http://localhost/v1"], "--model NAME"),
        (["--endpoint", "localhost", "--model", "m"], "must be an address"),
        (["--endpoint", "http://localhost/v1", "--model", "m", "--timeout", "0"], "positive numbers"),
    ],
)
def test_options_that_do_not_name_a_model(folder: Path, options: list[str], sentence: str) -> None:
    with pytest.raises(SpecError, match=sentence), asked_lm(parsed("--random-examples", *options)):
        pass


@pytest.mark.parametrize("price", ["-1", "nan", "inf", "x"])
def test_a_price_is_a_number(price: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        parsed("--price-in", price)
    assert "--price-in" in capsys.readouterr().err


@needs_minilm
def test_tuning_is_resumed(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with serving() as server:
        bread(server)
        command = ["raft", "tune", "--task", str(folder), "--endpoint", server.url, "--model", "m"]
        command += ["--retries", "0"]
        server.before = [lambda: None] * 4 + [says(401)]
        assert main(command) == 2
        error = capsys.readouterr().err
        assert "4 of 6 rows got an answer" in error
        assert "asked again, only what is missing is sent" in error
        assert main(command) == 0
        output = capsys.readouterr()
        # By hand: two of three rows with "yes" hold "please": F1 is 2*2/(3+2) for yes, 2*3/(3+4) for no.
        assert output.out.splitlines()[1].split() == ["0.829", "5", "yes", "yes"]
        assert len(output.out.splitlines()) == 1 + 4
        assert len(server.requests) == len(set(server.prompts)) + 1


def test_as_a_baseline_of_the_benchmark(folder: Path, tmp_path: Path, capsys) -> None:
    out, kept = tmp_path / "scores.json", tmp_path / "answers.jsonl"
    with serving() as server:
        bread(server)
        command = ["raft", "baseline", "lm", "--task", str(folder), "--evaluate", "loo", "--out", str(out)]
        command += ["--endpoint", server.url, "--model", "m", "--random-examples", "--resume", str(kept)]
        command += ["--retries", "0"]
        server.before = [lambda: None, lambda: None, says(200, b"{garbage")]
        assert main(command) == 2
        error = capsys.readouterr().err
        assert "Answers so far are kept" in error
        assert main(command) == 0
    assert len(server.requests) == len(ROWS) + 1
    # By hand, as in the test of tuning: (2*2/(3+2) + 2*3/(3+4)) / 2.
    assert json.loads(out.read_text())["macro_f1"] == pytest.approx((4 / 5 + 6 / 7) / 2, abs=1e-12)
    assert "4 questions asked, 2 known from before" in capsys.readouterr().err
