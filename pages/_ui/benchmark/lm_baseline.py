"""The in-context language model on a task's labelled rows: choices, what they take, and the score."""

from __future__ import annotations

import threading
from collections.abc import Callable
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import urlsplit

import streamlit as st

from grasp_core.benchmark.baselines.embedding import Embedder, available
from grasp_core.benchmark.language_models.answers import KEPT, Answers, UnansweredError, Usage
from grasp_core.benchmark.language_models.endpoint import OPENAI_HOST, Endpoint
from grasp_core.benchmark.language_models.in_context import InContext, Setting
from grasp_core.benchmark.language_models.prompt import cosine_of
from grasp_core.benchmark.scoring.evaluate import Evaluation, Way, evaluate, work_key
from grasp_core.benchmark.scoring.folds import leave_one_out, stratified_splits
from grasp_core.benchmark.tasks import Rows, Task
from grasp_core.model.errors import DataError
from grasp_core.model.settings import Settings, variable
from grasp_core.model.text import escape_markdown
from grasp_core.model.wording import number
from grasp_core.server import server
from pages._ui.session.identity import require_run

FOLDER = "lm-answers"
"""Where answers are kept, below the server's home."""
_SHOTS = (5, 10, 25, 49)
_WINDOW = 2048
_MOST_ROWS = 500
"""Labelled rows that the page takes: each costs whoever pays for the model."""
_POLL_S = 0.1

_turn = threading.Lock()  # two visitors who ask the same at once would have it answered, and paid for, twice


@dataclass(frozen=True, slots=True, eq=False)
class Questions:
    """Labelled rows, and how a language model is asked about them."""

    task: Task
    rows: Rows
    way: Way
    seed: int
    setting: Setting


@dataclass(frozen=True, slots=True, eq=False)
class Answered:
    """A score, and what it took."""

    evaluation: Evaluation
    usage: Usage


def has_language_model() -> bool:
    """Whether this server has a language model to ask."""
    return bool(server.shared().settings.lm_endpoint)


def ask_language_model(task: Task, rows: Rows, way: Way, seed: int) -> Answered | None:
    """Choices, how much they ask, a button, and what came of it; None before it is pressed.

    Raises
    ------
    DataError, SpecError
        If the rows cannot be used, or the model gave no answer to some.
    """
    questions = Questions(task, rows, way, seed, _setting(task))
    settings, total = server.shared().settings, _total(rows, way, seed)
    st.caption(
        escape_markdown(
            f"{number(total, 'question')} of at most {_WINDOW:,} tokens each; answers that this server has "
            "from before are not asked for again. The instructions, the examples and the texts to be "
            f"labelled are sent to the model {settings.lm_model}."
        )
    )
    if not st.button("Ask the language model", type="primary", icon=":material/play_arrow:"):
        return None
    require_run()
    place = st.empty()
    with place.container(horizontal=True, vertical_alignment="center"):
        bar = st.progress(0.0)
        st.button("Stop asking", key="lm-stop")

    def watch(ready: int | None) -> None:  # drawing is where a click ends this script
        if ready is None:
            bar.progress(0.0, "Waiting for somebody else's questions")
        else:
            bar.progress(min(ready / total, 1.0), f"{ready:,} of {number(total, 'question')}")

    try:
        return ask(settings, questions, watch)
    finally:
        place.empty()


def ask(settings: Settings, questions: Questions, watch: Callable[[int | None], None]) -> Answered:
    """Ask the server's model, each question once ever; `watch` hears how many are done, None while it waits.

    Raises
    ------
    DataError, SpecError
        If questions stayed without an answer.
    """
    usage = Usage()
    while not _turn.acquire(timeout=_POLL_S):
        watch(None)
    try:
        answers = _answers(settings, questions)
        similarity = cosine_of(Embedder()) if questions.setting.semantic else None
        with closing(_endpoint(settings)) as endpoint:
            fit = InContext(
                endpoint,
                answers,
                questions.setting,
                similarity,
                lambda _done, _total: watch(usage.asked + usage.reused),
                usage,
            )
            found = evaluate(fit, questions.rows, questions.task, way=questions.way, seed=questions.seed)
    except UnansweredError as error:
        # Who asks here knows no options of the command line.
        raise DataError(f"{error.remark.reworded(options=0, variable=variable('lm_key'))}. {KEPT}") from None
    finally:
        _turn.release()
    return Answered(found, usage)


def show_taken(usage: Usage) -> None:
    """Figures on what the answers took."""
    asked, known, tokens = st.columns(3)
    asked.metric("Questions asked", f"{usage.asked:,}")
    known.metric("Known from before", f"{usage.reused:,}")
    tokens.metric("Tokens", f"{usage.tokens:,}")
    for remark in usage.remarks():
        st.caption(f"{remark[0].upper()}{remark[1:]}.")


def _setting(task: Task) -> Setting:
    left, middle, right = st.columns(3, vertical_alignment="bottom")
    nearest = min(range(len(_SHOTS)), key=lambda at: abs(_SHOTS[at] - task.shots))
    shots = left.selectbox("Examples shown", _SHOTS, index=nearest, key=f"lm-shots-{task.name}")
    ways = ["By similarity", "By chance"] if available() else ["By chance"]
    chosen = middle.selectbox("Examples chosen", ways, key="lm-examples")
    instructions = right.checkbox("With instructions", value=True, key="lm-instructions")
    return Setting(shots, instructions=instructions, semantic=chosen == "By similarity")


def _total(rows: Rows, way: Way, seed: int) -> int:
    """Questions that evaluating on the rows asks."""
    name, found = rows.table.name, len(rows.ids)
    if found < 2:
        raise DataError(f"{name} has one labelled row; evaluating on it takes two or more")
    if found > _MOST_ROWS:
        raise DataError(
            f"{name} has {found:,} labelled rows, and this page asks about {_MOST_ROWS} at most; shorten the "
            "file, or use the command `raft baseline lm`"
        )
    folds = leave_one_out(rows) if way == "loo" else stratified_splits(rows, seed)
    return sum(len(fold.test) for fold in folds)


def _endpoint(settings: Settings) -> Endpoint:
    """The model; no other key of the server's environment is sent than the one that is meant for it."""
    keyed = settings.lm_key or urlsplit(settings.lm_endpoint).hostname == OPENAI_HOST
    name = variable("lm_key") if keyed else None
    return Endpoint(settings.lm_endpoint, settings.lm_model, key_variable=name, window=_WINDOW)


def _answers(settings: Settings, questions: Questions) -> Answers:
    """One file for all that the same model is asked about the same rows."""
    path = _file(settings, questions)
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise DataError(f"This server cannot keep answers ({error.strerror}); tell whoever runs it") from None
    try:
        return Answers(path)
    except DataError:
        raise DataError(
            "The answers that this server kept for these rows cannot be used; whoever runs it may delete "
            f"{FOLDER}/{path.name} in its home folder"
        ) from None


def _file(settings: Settings, questions: Questions) -> Path:
    model = f"{settings.lm_model} at {settings.lm_endpoint}"
    return settings.folder / FOLDER / f"{work_key(model, questions.task, [questions.rows], FOLDER, 0)}.jsonl"
