"""The language model baseline on the Models page, against a completions server on this machine."""

import dataclasses
import json
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from streamlit.testing.v1 import AppTest

from grasp_core.benchmark.baselines.embedding import available
from grasp_core.benchmark.language_models.answers import Usage
from grasp_core.benchmark.language_models.in_context import Setting
from grasp_core.benchmark.scoring.evaluate import Evaluation
from grasp_core.benchmark.tasks import read_rows, read_task
from grasp_core.server.server import Server
from pages._ui.benchmark.baselines import ask as ask_model
from tests.benchmark.language_models.completions_server import Completions, holds, says, serving
from tests.pages.visits import labels, models_view, press, seen, widget

pytest.importorskip("openai", reason="tools/setup.sh models")

KEY = "sk-kept-to-itself"
ROWS = 12
FAILED = says(500, retry_after_ms="1")
ATTEMPTS = 6  # the first, and the endpoint's five retries


@pytest.fixture
def model() -> Iterator[Completions]:
    """Says yes to a good thing and no to others."""
    with serving() as completions:
        completions.top = lambda prompt: (
            {" yes": -0.1, " no": -2.4} if "good" in target(prompt) else {" no": -0.1, " yes": -2.4}
        )
        yield completions


@pytest.fixture
def asked(tmp_path: Path, server: Server, model: Completions, monkeypatch: pytest.MonkeyPatch) -> Completions:
    """The model of a server whose only task has 12 labelled rows."""
    folder = tmp_path / "tasks" / "things"
    folder.mkdir(parents=True)
    plain = {"classes": ["yes", "no"], "fields": ["text"], "instructions": "Is the thing good?"}
    (folder / "task.json").write_text(json.dumps(plain))
    kinds = [("good", "yes") if row % 3 else ("bad", "no") for row in range(ROWS)]
    rows = [f"a {kind} thing numbered {row},{label},{row}" for row, (kind, label) in enumerate(kinds)]
    (folder / "train.csv").write_text("\n".join(["text,Label,ID", *rows]) + "\n")
    places = {"raft_tasks": str(tmp_path / "tasks")}
    places |= {"lm_endpoint": model.url, "lm_model": "tiny", "lm_key": KEY}
    object.__setattr__(server, "settings", dataclasses.replace(server.settings, **places))
    monkeypatch.setenv("GRASP_LM_KEY", KEY)
    return model


def target(prompt: str) -> str:
    return prompt.split("\n\n")[-1]


def baselines(page: AppTest, chosen: str | None = "By chance") -> AppTest:
    models_view(page, "Baselines")
    if chosen is not None:
        widget(page.selectbox, "Baseline").set_value("lm").run()
        widget(page.selectbox, "Examples chosen").set_value(chosen).run()
        widget(page.selectbox, "Examples shown").set_value(5).run()
    return page


def ask(page: AppTest) -> dict[str, str]:
    press(page, "Ask the language model")
    return {metric.label: metric.value for metric in page.metric}


def test_without_an_endpoint_no_language_model_is_offered(page: AppTest) -> None:
    baselines(page, None)
    assert "lm" not in widget(page.selectbox, "Baseline").options
    assert not page.exception


def test_answers_are_scored_and_asked_for_once(page: AppTest, asked: Completions, tmp_path: Path) -> None:
    baselines(page)
    found = ask(page)
    assert not page.error
    assert found["Macro-F1"] == "1.000"
    assert labels(page.button) == ["Ask the language model"]
    # The server says 100 + 1 tokens of each of the 12 answers.
    assert (found["Questions asked"], found["Tokens"]) == ("12", "1,212")
    assert {request["model"] for request in asked.requests} == {"tiny"}
    assert all(prompt.startswith("Is the thing good?\nPossible labels:") for prompt in asked.prompts)
    assert {prompt.count("Label:") for prompt in asked.prompts} == {6}  # 5 examples and the target
    assert len({target(prompt) for prompt in asked.prompts}) == ROWS
    again = ask(page)
    assert (again["Questions asked"], again["Known from before"], again["Tokens"]) == ("0", "12", "0")
    assert again["Macro-F1"] == "1.000"
    assert len(asked.requests) == ROWS
    widget(page.checkbox, "With instructions").uncheck().run()
    assert ask(page)["Questions asked"] == "12"
    assert asked.prompts[-1].startswith("Possible labels:")
    assert len(list((tmp_path / "lm-answers").iterdir())) == 1


def test_a_task_without_instructions_says_so(page: AppTest, asked: Completions, tmp_path: Path) -> None:
    assert "no instructions" not in seen(baselines(page).caption)
    plain = {"classes": ["yes", "no"], "fields": ["text"]}
    (tmp_path / "tasks" / "things" / "task.json").write_text(json.dumps(plain))
    assert "things has no instructions; the model is told the classes alone" in seen(page.run().caption)
    assert ask(page)["Macro-F1"] == "1.000"
    assert asked.prompts[-1].startswith("Possible labels:")


def test_the_key_is_sent_and_neither_shown_nor_kept(page, asked, tmp_path, caplog) -> None:
    caplog.set_level("DEBUG", logger="grasp")
    baselines(page)
    ask(page)
    assert {headers["authorization"] for headers in asked.headers} == {f"Bearer {KEY}"}
    asked.before = [says(401, KEY.encode())]
    widget(page.selectbox, "Examples shown").set_value(10).run()
    ask(page)
    assert "GRASP_LM_KEY is missing or not accepted" in seen(page.error).replace("\\_", "_")
    shown = [str(element.value) for element in (*page.error, *page.markdown, *page.caption, *page.metric)]
    kept = [path.read_text(errors="replace") for path in (tmp_path / "lm-answers").iterdir()]
    assert kept
    assert not any(KEY in text for text in (*shown, *kept, caplog.text))
    assert not any("thing" in text for text in kept)
    assert len(asked.requests) == ROWS + 1  # a refused key is not tried again


def test_what_is_asked_at_most_is_told_beforehand(page: AppTest, asked: Completions) -> None:
    baselines(page)
    assert "12 questions of at most 2,048 tokens each" in seen(page.caption)
    assert not asked.requests
    ask(page)
    # Where tokens are not known one is three bytes.
    assert all(len(prompt.encode()) / 3 < 2048 for prompt in asked.prompts)
    widget(page.selectbox, "Scored by").set_value("splits").run()
    total = next(text for text in (str(one.value) for one in page.caption) if "questions of" in text)
    assert ask(page)["Rows labelled"] == total.split()[0]


def test_a_failure_ends_it_and_what_is_missing_is_asked_again(page: AppTest, asked: Completions) -> None:
    asked.before = [lambda: None, lambda: None, *[FAILED] * ATTEMPTS]
    baselines(page)
    ask(page)
    error = seen(page.error)
    assert error.startswith("The endpoint")
    assert "refused with status 500" in error
    assert "--" not in error
    assert not page.metric
    assert len(asked.requests) == 2 + ATTEMPTS
    found = ask(page)
    assert (found["Questions asked"], found["Known from before"]) == ("10", "2")
    assert found["Macro-F1"] == "1.000"


def test_answers_that_cannot_be_read_are_told_in_a_sentence(page, asked, tmp_path) -> None:
    baselines(page)
    ask(page)
    (kept,) = (tmp_path / "lm-answers").iterdir()
    kept.write_text("no answers\n")
    ask(page)
    assert f"may delete lm-answers/{kept.name}" in seen(page.error)
    assert not page.exception


@pytest.mark.skipif(not available(), reason="tools/setup.sh models")
def test_similar_examples_stand_last(page: AppTest, asked: Completions) -> None:
    found = ask(baselines(page, "By similarity"))
    assert found["Macro-F1"] == "1.000"
    nearest = [prompt.split("\n\n")[-2] for prompt in asked.prompts]
    # There are three or more rows of each kind besides the target, all more similar than the other kind.
    assert all(
        ("good" in one) == ("good" in target(p)) for one, p in zip(nearest, asked.prompts, strict=True)
    )


class _LeftError(Exception):
    """As a click ends a page's script."""


def asking(server: Server, watch: Callable[[int | None], None]) -> tuple[Evaluation, Usage]:
    folder = Path(server.settings.raft_tasks) / "things"
    task = read_task(folder)
    rows = read_rows(folder / "train.csv", task, labelled=True)
    return ask_model(server.settings, task, rows, Setting(5, semantic=False), watch, way="loo", seed=1)


def test_leaving_the_page_loses_no_answer(server: Server, asked: Completions) -> None:
    def leave(ready: int | None) -> None:
        if ready == 3:
            raise _LeftError

    with pytest.raises(_LeftError):
        asking(server, leave)
    assert len(asked.requests) == 3
    found, usage = asking(server, lambda _: None)
    assert found.n == ROWS
    assert (usage.asked, usage.reused) == (ROWS - 3, 3)


def test_two_at_once_share_the_answers(server: Server, asked: Completions) -> None:
    first, waiting = threading.Event(), threading.Event()
    asked.before = [holds(first, waiting)]
    with ThreadPoolExecutor(2) as pool:
        one = pool.submit(asking, server, lambda _: None)
        assert first.wait(60)
        other = pool.submit(asking, server, lambda ready: waiting.set() if ready is None else None)
        both = [one.result(60), other.result(60)]
    assert both[0][0].predicted == both[1][0].predicted
    assert len(asked.requests) == ROWS
    assert [usage.asked for _, usage in both] == [ROWS, 0]
