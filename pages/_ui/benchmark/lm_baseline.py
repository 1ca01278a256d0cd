"""The in-context language model on a task's labelled rows: choices, what they take, and the score."""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import Any

import streamlit as st

from grasp_core import server
from grasp_core.benchmark.baselines.embedding import available
from grasp_core.benchmark.language_models.budget import fit
from grasp_core.benchmark.language_models.ledger import Usage
from grasp_core.benchmark.language_models.scoring import Setting
from grasp_core.benchmark.language_models.selection import drawn
from grasp_core.benchmark.language_models.tokens import ApproximateTokens
from grasp_core.benchmark.scoring.evaluate import Evaluation, Way, evaluate
from grasp_core.benchmark.scoring.folds import Fold, leave_one_out, stratified_splits
from grasp_core.benchmark.tasks import Rows, Task
from grasp_core.errors import DataError
from grasp_core.report.words.text import escape_markdown
from grasp_core.wording import number
from pages._ui.benchmark.lm_asking import WINDOW, Asking, Questions
from pages._ui.session.permissions import require_run

_SHOTS = (5, 10, 25, 49)
_MOST_ROWS = 500
"""Labelled rows that the page takes: each costs whoever pays for the model."""
_SAMPLE = 20
"""Prompts that are built to estimate the tokens of all."""
_POLL_S = 0.1


@dataclass(frozen=True, slots=True, eq=False)
class Answered:
    """A score, and what it took."""

    evaluation: Evaluation
    usage: Usage


class _Sizes(ApproximateTokens):
    """A model of which nothing is known but the size of its prompts."""

    window = WINDOW


def has_language_model() -> bool:
    """Whether this server has a language model to ask."""
    return bool(server.shared().settings.lm_endpoint)


def ask_language_model(task: Task, rows: Rows, way: Way, seed: int) -> Answered | None:
    """Choices, their price in tokens, a button, and what came of it; None before it is pressed.

    Raises
    ------
    DataError, SpecError
        If the rows cannot be used, or the model gave no answer to some.
    """
    setting = _setting(task)
    folds = _folds(rows, way, seed)
    questions = Questions(task, rows, folds, seed, setting)
    settings = server.shared().settings
    st.caption(
        escape_markdown(
            f"{number(questions.total, 'question')}, about {_tokens(questions):,} tokens in all (a token is "
            "taken to be three bytes); answers that this server has from before are not asked for again. "
            "The instructions, the examples and the texts to be labelled are sent to the model "
            f"{settings.lm_model}."
        )
    )
    if not st.button("Ask the language model", type="primary", icon=":material/play_arrow:"):
        return None
    require_run()
    done, usage = _asked(Asking(settings, questions))
    return Answered(evaluate(_never, rows, task, way=way, seed=seed, done=done), usage)


def show_taken(usage: Usage) -> None:
    """Figures on what the answers took."""
    columns = st.columns(4)
    tokens = usage.prompt_tokens + usage.completion_tokens
    failures = usage.retries + usage.failed
    shown = {
        "Questions asked": usage.asked,
        "Known from before": usage.reused,
        "Tokens": tokens,
        "Failed attempts": failures,
    }
    for column, (label, value) in zip(columns, shown.items(), strict=True):
        column.metric(label, f"{value:,}")
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


def _folds(rows: Rows, way: Way, seed: int) -> list[Fold]:
    name, found = rows.table.name, len(rows.ids)
    if found < 2:
        raise DataError(f"{name} has one labelled row; evaluating on it takes two or more")
    if found > _MOST_ROWS:
        raise DataError(
            f"{name} has {found:,} labelled rows, and this page asks about {_MOST_ROWS} at most; shorten the "
            "file, or use the command `raft baseline lm`"
        )
    return leave_one_out(rows) if way == "loo" else stratified_splits(rows, seed)


def _tokens(questions: Questions) -> int:
    """Tokens of all prompts and answers, from a sample of prompts with examples by chance."""
    targets = [(fold, row) for fold in questions.folds for row in fold.test]
    sample = targets[:: max(len(targets) // _SAMPLE, 1)]
    sizes = [_size(questions, fold, row) + 1 for fold, row in sample]
    return round(sum(sizes) / len(sizes) * len(targets))


def _size(questions: Questions, fold: Fold, target: int) -> int:
    rows, setting, model = questions.rows, questions.setting, _Sizes()
    labels = [(rows.labels or ())[row] for row in fold.train]
    shown = [fold.train[at] for at in drawn(labels, setting.shots, questions.seed)]
    examples = [(rows.texts[row], (rows.labels or ())[row]) for row in shown]
    target_text = rows.texts[target]
    prompt = fit(model, questions.task, target_text, examples, instructions=setting.instructions)
    return model.count(prompt.text)


def _asked(asking: Asking) -> tuple[dict[str, list[str]], Usage]:
    """Ask in a thread of its own, and draw how far it is; a click anywhere ends it, and keeps the answers."""
    place = st.empty()
    with place.container(horizontal=True, vertical_alignment="center"):
        bar = st.progress(0.0, asking.text)
        st.button("Stop asking", key="lm-stop")
    asking.start()
    try:
        while asking.is_alive():
            time.sleep(_POLL_S)
            bar.progress(asking.share, asking.text)  # where a click ends this script
    finally:
        asking.cancelled = True
    place.empty()
    return asking.result(), asking.usage


def _never(*_: object) -> Any:
    raise AssertionError("all folds were labelled before")
