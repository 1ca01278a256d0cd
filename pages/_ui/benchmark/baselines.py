"""Baselines on a task's labelled rows, including the language model; whole submissions by a baseline."""

import threading
import time
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from contextlib import closing
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TypeVar
from urllib.parse import urlsplit

import numpy as np
import streamlit as st

from grasp_core.analysis.models.labels import LABEL
from grasp_core.benchmark.baselines.embedding import Embedder, available
from grasp_core.benchmark.baselines.registry import BASELINES, LM, SPREADING, installed
from grasp_core.benchmark.checkpoints import KeptWork
from grasp_core.benchmark.jobs import Folds, TaskJob, label_folds, label_task
from grasp_core.benchmark.language_models.answers import KEPT, UnansweredError, Usage, kept_answers
from grasp_core.benchmark.language_models.endpoint import OPENAI_HOST, Endpoint
from grasp_core.benchmark.language_models.in_context import InContext, Setting
from grasp_core.benchmark.language_models.model import ModelAnswer
from grasp_core.benchmark.language_models.prompt import cosine_of
from grasp_core.benchmark.scoring import evaluate as scoring
from grasp_core.benchmark.submissions import PREDICTIONS
from grasp_core.benchmark.tasks import MAX_ROWS_FILE, TEST_FILE, TRAIN_FILE, Task, TaskRows, read_rows
from grasp_core.model.errors import DataError, GraspError
from grasp_core.model.extras import command
from grasp_core.model.settings import Settings, variable
from grasp_core.model.sizes import MIB
from grasp_core.model.text import escape_markdown, number
from grasp_core.reading.archives.containers import packed
from grasp_core.server import server
from grasp_core.statistics.f1 import confusion
from pages._ui.benchmark.submissions import show_confusion, tasks, tasks_folder, tasks_with_rows
from pages._ui.helpers import widgets as ui
from pages._ui.helpers.identity import may_run, require_run
from pages._ui.helpers.screens import for_pages

FOLDER = "lm-answers"
"""Folder of stored answers, below the server's home."""
_SHOTS = (5, 10, 25, 49)
_WINDOW = 2048
_MOST_ROWS = 500
"""Most labelled rows that the page sends: each one costs whoever pays for the model."""
_POLL_S = 0.1

_turn = threading.Lock()  # otherwise the same question of two visitors would be answered, and paid for, twice


def _ask_language_model(task: Task, rows: TaskRows, way: scoring.Way, seed: int) -> None:
    left, middle, right = st.columns(3, vertical_alignment="bottom")
    nearest = min(range(len(_SHOTS)), key=lambda at: abs(_SHOTS[at] - task.shots))
    shots = left.selectbox("Examples shown", _SHOTS, index=nearest, key=f"lm-shots-{task.name}")
    ways = ["By similarity", "By chance"] if available() else ["By chance"]
    chosen = middle.selectbox("Examples chosen", ways, key="lm-examples")
    instructions = right.checkbox("With instructions", value=True, key="lm-instructions")
    if instructions and not task.instructions:
        ui.caption(f"{task.name} has no instructions; the model is told the classes alone.")
    setting = Setting(shots, instructions=instructions, semantic=chosen == "By similarity")
    settings, total = server.shared().settings, _total(rows, way, seed)
    questions = number(total, "question")
    ui.caption(
        f"{questions} of at most {_WINDOW:,} tokens each; answers that this server has from before are "
        "not asked for again. The instructions, the examples and the texts to be labelled are sent to "
        f"the model {settings.lm_model}."
    )
    if not ui.button("Ask the language model", "play_arrow", type="primary"):
        return
    require_run()
    place = st.empty()
    with place.container(horizontal=True, vertical_alignment="center"):
        bar = st.progress(0.0)
        st.button("Stop asking", key="lm-stop")

    def watch(ready: int | None) -> None:  # a click ends this script while it draws
        if ready is None:
            bar.progress(0.0, "Waiting for somebody else's questions")
        else:
            bar.progress(min(ready / total, 1.0), f"{ready:,} of {questions}")

    started = time.perf_counter()
    try:
        found, usage = ask(settings, task, rows, setting, watch, way=way, seed=seed)
    finally:
        place.empty()
    _show_found(found, settings.lm_model, task, time.perf_counter() - started)
    counts = {"Questions asked": usage.asked, "Known from before": usage.reused, "Tokens": usage.tokens}
    ui.metrics({name: f"{count:,}" for name, count in counts.items()})
    for remark in usage.remarks():
        st.caption(f"{remark[0].upper()}{remark[1:]}.")


Watch = Callable[[int | None], None]


def ask(
    settings: Settings,
    task: Task,
    rows: TaskRows,
    setting: Setting,
    watch: Watch,
    *,
    way: scoring.Way,
    seed: int,
) -> tuple[scoring.Evaluation, Usage]:
    """Ask the server's model each question once; `watch` gets how many are done, None while it waits."""
    usage = Usage()

    def so_far(_done: int, _total: int) -> None:
        watch(usage.asked + usage.reused)

    while not _turn.acquire(timeout=_POLL_S):
        watch(None)
    try:
        answers = _answers(settings, task, rows)
        similarity = cosine_of(Embedder()) if setting.semantic else None
        # Of the keys in the server's environment, only the one meant for the model is sent.
        keyed = settings.lm_key or urlsplit(settings.lm_endpoint).hostname == OPENAI_HOST
        key = {"key_variable": variable("lm_key") if keyed else None}
        with closing(Endpoint(settings.lm_endpoint, settings.lm_model, window=_WINDOW, **key)) as endpoint:
            fit = InContext(endpoint, answers, setting, similarity, so_far, usage)
            found = scoring.evaluate(fit, rows, task, way=way, seed=seed)
    except UnansweredError as error:
        # Visitors of the page do not know the command line's options.
        raise DataError(f"{error.remark.reworded(options=0, variable=variable('lm_key'))}. {KEPT}") from None
    finally:
        _turn.release()
    return found, usage


def _total(rows: TaskRows, way: scoring.Way, seed: int) -> int:
    name, found = rows.table.name, len(rows.ids)
    if found < 2:
        raise DataError(f"{name} has one labelled row; evaluating on it takes two or more")
    if found > _MOST_ROWS:
        raise DataError(
            f"{name} has {found:,} labelled rows, and this page asks about {_MOST_ROWS} at most; shorten the "
            "file, or use the command `raft baseline lm`"
        )
    folds = scoring.leave_one_out(rows) if way == "loo" else scoring.stratified_splits(rows, seed)
    return sum(len(fold.test) for fold in folds)


def _answers(settings: Settings, task: Task, rows: TaskRows) -> KeptWork[ModelAnswer]:
    """Open the stored answers: one file for all questions to a model about the same rows."""
    model = f"{settings.lm_model} at {settings.lm_endpoint}"
    path = settings.folder / FOLDER / f"{scoring.work_key(model, task, [rows], FOLDER, 0)}.jsonl"
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise DataError(f"This server cannot keep answers ({error.strerror}); tell whoever runs it") from None
    try:
        return kept_answers(path)
    except DataError:
        raise DataError(
            "The answers that this server kept for these rows cannot be used; whoever runs it may delete "
            f"{FOLDER}/{path.name} in its home folder"
        ) from None


_TOOK = "baseline-seconds"
A = TypeVar("A")


def _timed(pieces: Iterable[A], key: Hashable) -> Iterator[A]:
    """Yield the pieces; add up their seconds under `key` over all attempts, since finished ones are kept."""
    took: dict[Hashable, float] = st.session_state.setdefault(_TOOK, {})
    since = time.perf_counter()
    for piece in pieces:
        took[key] = took.get(key, 0.0) + time.perf_counter() - since
        yield piece
        since = time.perf_counter()


_LABELLED = "all-tasks-done"


def _offer_all_tasks(name: str, seed: int) -> None:
    """Draw the button and the progress; each task is kept for the visit as soon as it is labelled."""
    with st.expander("A submission: label the rows of all tasks"):
        folder, here = tasks_with_rows()
        if folder is None or not here:
            st.write(
                "This server has no rows to label. The command `raft baseline NAME --all` labels those of a "
                "folder; whoever runs the server can set GRASP_RAFT_TASKS."
            )
            return
        done: dict[str, str] = st.session_state.setdefault(_LABELLED, {}).setdefault((name, seed), {})

        def so_far() -> str:
            return f"{len(done):,} of {number(len(here), 'task')} labelled"

        if st.button(f"Label {number(len(here), 'task')} by {name}"):
            require_run()
            jobs = [TaskJob(name, folder / one, seed) for one in here if one not in done]
            bar = st.progress(len(done) / len(here), so_far())
            try:
                for task, content in _timed(
                    server.shared().service.pool.each(label_task, jobs), (name, seed)
                ):
                    done[task] = content
                    bar.progress(len(done) / len(here), so_far())
            except GraspError as error:
                st.error(for_pages(f"{error}. {so_far()}, and kept."))
            bar.empty()
        if len(done) == len(here):
            content = packed((f"data/{task}/{PREDICTIONS}", content) for task, content in done.items())
            looks = {"icon": ":material/download:"}
            st.download_button("Submission (zip)", content, f"{name}.zip", "application/zip", **looks)
            took = f"Labelled in {st.session_state[_TOOK][name, seed]:,.1f} s. "
            more = "Hand it in under Submit: where this server has gold labels, it is scored there."
            st.caption(took + more)


_WAYS: Mapping[scoring.Way, str] = {"loo": "Leave one row out", "splits": "Repeated splits"}
_AT_ONCE = 10
"""Folds that one worker takes at a time."""
_DONE, _FOUND, _ROWS = "baseline-done", "baseline-found", "baseline-rows"
_WAYS_HELP = (
    "Leave one row out: each row is labelled by what all others teach. Repeated splits: 20 times a fifth of "
    "each class is labelled by what the rest teaches."
)


def show_baselines() -> None:
    """Draw the choices, the button and the scores; a second run continues partial work."""
    if not may_run():
        st.info("Only analysts may run baselines.")
        return
    st.write(
        "What do simple methods reach with a task's few labelled rows? Each row is labelled by what other "
        "rows teach, and compared with its own label."
    )
    names = tasks()
    left, middle, right, last = st.columns([3, 3, 3, 2])
    chosen = left.selectbox("Task", list(names), **ui.for_visit("baseline-task"))
    task = names[chosen]
    has_model = bool(server.shared().settings.lm_endpoint)
    usable = [name for name in BASELINES if (has_model if name == LM else installed(name))]
    more = "\n".join(f"- {name}: {BASELINES[name]}" for name in usable)
    name = middle.selectbox("Baseline", usable, **ui.for_visit("baseline-name"), help=more)
    looks = {"help": _WAYS_HELP, **ui.for_visit("baseline-way")}
    way: scoring.Way = ui.pick("Scored by", _WAYS, place=right, **looks)
    seed = int(last.number_input("Seed", min_value=0, value=1, **ui.for_visit("baseline-seed")))
    rows = _labelled_rows(task)
    if rows is not None and name == LM:
        with ui.show_refusal():
            _ask_language_model(task, rows, way, seed)
    elif rows is not None:
        if ui.button("Run the baseline", "play_arrow", type="primary"):
            require_run()
            _run(name, task, rows, way, seed)
        key = scoring.work_key(name, task, [rows], way, seed)
        found = st.session_state.get(_FOUND, {}).get(key)
        if found is not None:
            _show_found(found, name, task, st.session_state[_TOOK][key])
            if way == "loo":
                _show_wrong(task, rows, found.predicted)
    if name != LM:
        _offer_all_tasks(name, seed)
    if not available():
        st.caption(f"More baselines come with optional packages: {command('models')}; see docs/models.md.")
    if not has_model:
        st.caption(
            "A language model is asked from the command line, grasp raft baseline lm; or "
            "here, once whoever runs this server has named one (GRASP_LM_ENDPOINT)."
        )


def _show_wrong(task: Task, rows: TaskRows, predicted: Sequence[str]) -> None:
    right = rows.labels or ()
    wrong = [at for at, (one, other) in enumerate(zip(right, predicted, strict=True)) if one != other]
    with st.expander(f"Where it goes wrong: {len(wrong):,} of {len(right):,} rows"):
        code_of = {name: code for code, name in enumerate(task.classes)}
        codes = [np.array([code_of[one] for one in labels]) for labels in (right, predicted)]
        show_confusion(confusion(*codes, len(task.classes)), task.classes)
        if not wrong:
            return
        st.caption("The rows that were labelled wrongly.")
        if task.warning and not st.checkbox(escape_markdown(f"Show them. {task.warning}")):
            return
        texts = [{field: rows.texts[at][field] for field in task.prompt_fields} for at in wrong]
        shown = [
            {"ID": rows.ids[at], "Right": right[at], "Given": predicted[at], **text}
            for at, text in zip(wrong, texts, strict=True)
        ]
        ui.show_table(shown, "Rows that were labelled wrongly, with their text")


def _labelled_rows(task: Task) -> TaskRows | None:
    with ui.show_refusal():
        path = _file_of(task, TRAIN_FILE)
        if path is not None:
            return read_rows(path, task, labelled=True)
        key, columns = f"baseline-rows-{task.name}", f"{', '.join(task.fields)} and {LABEL}"
        label = f"Labelled rows of {task.name}: train.csv, with the columns {columns}"
        looks = {"key": key, "on_change": _keep_rows, "args": (task.name, key)}
        file = st.file_uploader(escape_markdown(label), max_upload_size=MAX_ROWS_FILE // MIB, **looks)
        known, content = st.session_state.get(_ROWS, (None, b""))
        if known == task.name:
            if file is None:
                st.caption("The file dropped before is used; drop another to replace it.")
            with TemporaryDirectory(prefix="grasp-") as folder:
                path = Path(folder) / TRAIN_FILE
                path.write_bytes(content)
                return read_rows(path, task, labelled=True)
    return None


def _file_of(task: Task, name: str) -> Path | None:
    folder = tasks_folder()
    path = None if folder is None else folder / task.name / name
    return path if path is not None and path.is_file() else None


def _keep_rows(task_name: str, key: str) -> None:
    """Keep the dropped file, or nothing once it is removed; of a file that is too large, only the start."""
    file = st.session_state[key]
    st.session_state[_ROWS] = (None, b"") if file is None else (task_name, file.read(MAX_ROWS_FILE + 1))


def _run(name: str, task: Task, rows: TaskRows, way: scoring.Way, seed: int) -> None:
    key = scoring.work_key(name, task, [rows], way, seed)
    done: dict[str, list[str]] = st.session_state.setdefault(_DONE, {}).setdefault(key, {})
    with ui.show_refusal():
        folds = scoring.leave_one_out(rows) if way == "loo" else scoring.stratified_splits(rows, seed)
        unlabelled = _file_of(task, TEST_FILE) if name == SPREADING else None
        texts = () if unlabelled is None else read_rows(unlabelled, task, labelled=False).texts
        missing = [number for number in range(len(folds)) if f"fold {number}" not in done]
        batches = [missing[start : start + _AT_ONCE] for start in range(0, len(missing), _AT_ONCE)]
        jobs = [Folds(name, task, rows, {one: folds[one] for one in batch}, seed, texts) for batch in batches]

        def so_far() -> str:
            return escape_markdown(f"{name} on {task.name}: {len(done):,} of {len(folds):,} rounds")

        bar = st.progress(0.0, so_far())
        for labels in _timed(server.shared().service.pool.each(label_folds, jobs), key):
            done.update(labels)
            bar.progress(len(done) / len(folds), so_far())
        bar.empty()
        found = scoring.evaluate(_never, rows, task, way=way, seed=seed, done=done)
        st.session_state.setdefault(_FOUND, {})[key] = found


def _never(*_: object) -> object:
    raise AssertionError("all folds were labelled before")


def _show_found(found: scoring.Evaluation, name: str, task: Task, seconds: float) -> None:
    score, declared = f"{found.macro_f1:.3f}", f"{found.macro_f1_declared:.3f}"
    figures = {"Macro-F1": score, "Over declared classes": declared, "Rows labelled": f"{found.n:,}"}
    ui.metrics({**figures, "Seconds": f"{seconds:,.1f}"})
    low, high = found.ci95
    st.markdown(escape_markdown(f"{name} on {task.name}: 95 % interval {low:.3f} to {high:.3f}."))
    for caution in found.caution:
        ui.caption(str(caution))
