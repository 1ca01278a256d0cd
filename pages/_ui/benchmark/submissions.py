"""Submissions to the benchmark: upload, check, score, store, take off the leaderboard."""

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import streamlit as st

from grasp_core.benchmark.folders import MAX_ARCHIVE, MAX_FILE
from grasp_core.benchmark.jobs import Benchmark
from grasp_core.benchmark.scoring.compare import confusion_table
from grasp_core.benchmark.scoring.scores import ClassScore
from grasp_core.benchmark.submissions import VALIDATED, Submission
from grasp_core.benchmark.tasks import TEST_FILE, TRAIN_FILE, Task, read_tasks
from grasp_core.model.errors import DataError, Problem
from grasp_core.model.sizes import MIB, check_size
from grasp_core.model.text import escape_markdown, number
from grasp_core.reading.archives.containers import packed
from grasp_core.server import server, submitting
from grasp_core.server.submitting import NAME_LENGTH, scored
from grasp_core.store.submissions import SubmissionRecord
from pages._ui.helpers import widgets as ui
from pages._ui.helpers.identity import may_manage, may_run, owner_names, require_manage, require_run, stores
from pages._ui.helpers.page_frame import outcome, start, under_way
from pages._ui.helpers.screens import for_pages
from pages._ui.helpers.state import in_full

_CALIBRATION = {"brier": "Brier score", "log_loss": "Log loss", "ece": "Calibration error"}


def show_scores(record: SubmissionRecord) -> None:
    """Draw the mean over all tasks, a row for each task, and one task by class."""
    scores = record.scores
    overall, ends = scores["overall"], scores.get("overall_ci95")
    st.metric("Macro-F1 over all tasks", "incomplete" if overall is None else f"{overall:.3f}")
    if ends is not None:
        st.caption(f"95 % interval {ends[0]:.3f} to {ends[1]:.3f}.")
    rows = []
    for task, one in scores["tasks"].items():
        low, high = one["ci95"]
        whole = {"Macro-F1": f"{one['macro_f1']:.3f}", "95 % interval": f"{low:.3f} to {high:.3f}"}
        declared, items = f"{one['macro_f1_declared']:.3f}", f"{one['n']:,}"
        row = {"Task": task, **whole, "Over declared classes": declared, "Items": items}
        if told := one.get("calibration"):
            row |= {head: f"{told[name]:.3f}" for name, head in _CALIBRATION.items()}
        rows.append(row)
    ui.show_table(rows, "Scores by task", height="content")
    st.caption(f"It now stands on the Leaderboard, as {escape_markdown(record.name)}.")
    detailed = {task: one for task, one in scores["tasks"].items() if "classes" in one}
    if detailed:  # scores of earlier versions have no classes
        with st.expander("By class, and what mistakes cost"):
            _show_classes(detailed)


def _show_classes(tasks: dict[str, Any]) -> None:
    task = st.selectbox("Task", list(tasks), key="measures-task")
    plain = tasks[task]
    found = [
        ClassScore(one["class"], one["right"], one["false_positives"], one["false_negatives"])
        for one in plain["classes"]
    ]
    shares, counts = ("precision", "recall", "f1"), ("false_positives", "false_negatives")
    heads = {name: name.capitalize().replace("_", " ") for name in (*shares, *counts)}
    rows = [
        {"Class": one.name, **{head: getattr(one, name) for name, head in heads.items()}} for one in found
    ]
    figures = dict.fromkeys((heads[name] for name in shares), st.column_config.NumberColumn(format="%.3f"))
    ui.show_table(rows, "Precision, recall and F1 of each class", column_config=figures, placeholder="–")
    show_confusion(np.array(plain["confusion"]), [one.name for one in found])
    _show_costs(found, plain["n"])


def show_confusion(counts: np.ndarray, classes: Sequence[str]) -> None:
    """Draw the number of rows by right class and given class."""
    st.caption("How many rows of each class (down) were given which class (across).")
    table = confusion_table(counts, classes).rename_axis(index="Right class")
    st.dataframe(table, alt="Rows by right class and class given")


def _show_costs(found: list[ClassScore], n: int) -> None:
    left, middle, right = st.columns(3)
    chosen = left.selectbox("Costs of the class", [one.name for one in found], key="measures-class")

    def cost(place: Any, what: str, key: str, more: str) -> float:
        return place.number_input(f"Of a false {what}", 0.0, value=1.0, help=more, key=f"measures-{key}")

    wrong = cost(middle, "positive", "fp", "A row wrongly given the class")
    missed = cost(right, "negative", "fn", "A row of the class that was missed")
    one = next(one for one in found if one.name == chosen)
    total = one.cost(wrong, missed)
    counted = f"{one.false_positives:,} at {wrong:g} and {one.false_negatives:,} at {missed:g}"
    st.markdown(escape_markdown(f"{counted} make {total:g}, {total / n:.3g} a row."))


def tasks_folder() -> Path | None:
    """Return the folder of the tasks' own files; None for the built-in tasks."""
    return submitting.tasks_folder(server.shared().settings)


def benchmark() -> Benchmark | None:
    """Return the benchmark with its gold labels; None if this server has none."""
    return submitting.benchmark_of(server.shared().settings)


def tasks() -> Mapping[str, Task]:
    """Return the benchmark's tasks."""
    return read_tasks(tasks_folder())


def tasks_with_rows() -> tuple[Path | None, list[str]]:
    """Return the tasks' folder, and the tasks that have labelled and unlabelled rows in it."""
    folder, files = tasks_folder(), (TRAIN_FILE, TEST_FILE)
    if folder is None:
        return None, []
    return folder, [name for name in tasks() if all((folder / name / one).is_file() for one in files)]


def benchmark_or_say() -> bool:
    """Return whether the tasks can be used; if not, say why in a sentence."""
    try:
        tasks()
    except DataError as error:
        st.error(for_pages(f"The benchmark cannot be used: {error}."))
        return False
    return True


PUT = "human-put"
"""Session key of the work that puts people on the leaderboard."""


def show_submission() -> None:
    """Draw the upload, its problems, and the button that scores it."""
    if not may_run():
        st.info("Only analysts may hand in predictions.")
        return
    names = tasks()
    st.write(
        "One file per task, `data/TASK/predictions.csv` with the columns ID and Label, for "
        f"{number(len(names), 'task')}. A file that is left out is not scored, and there is then no overall "
        "figure. Beside it, `probabilities.csv` (ID, and a column per class) has calibration told."
    )
    _say_what_can_be_scored(list(names))
    _show_tasks(names)
    given = _given()
    if given is None:
        return
    shown, size, content = given
    stops = True
    with ui.show_refusal():
        check_size(size, MAX_ARCHIVE, shown, "a submission")
        submission, problems, faulty = submitting.looked_at(content(), shown, server.shared().settings)
        stops = bool(faulty)
        _show_problems(problems, submission, list(names), stops)
    if not stops:
        _offer_scoring(submission)


def _scorable() -> tuple[str, ...]:
    held = benchmark()
    return () if held is None else held.with_gold()


def _say_what_can_be_scored(names: list[str]) -> None:
    there = _scorable()
    if not there:
        st.info(
            "This server holds no gold labels, so predictions are checked here and not scored. Whoever runs "
            "it can set GRASP_RAFT_GOLD; the command `grasp raft score` scores against labels of your own, "
            "and RAFT's own labels are scored at huggingface.co/spaces/ought/raft-leaderboard."
        )
    elif len(there) < len(names):
        words = (
            f"{len(there)} of the {number(len(names), 'task')} can be scored here: {', '.join(there)}. Of "
            "the others this server has no gold labels: their files are checked alone, and there is no "
            "overall figure."
        )
        st.info(escape_markdown(words))
    else:
        st.caption(f"All {number(len(names), 'task')} can be scored here.")


def _show_tasks(names: Mapping[str, Task]) -> None:
    """Draw the table of tasks, and one task's instructions."""
    with st.expander("The tasks: classes, rows, fields, licence, difficulty, instructions"):
        _, with_rows = tasks_with_rows()
        scorable = _scorable()
        rows = [
            {
                "Task": name,
                "Classes": len(task.classes),
                "Rows to label": task.test_rows,
                "Fields": ", ".join(task.fields),
                "Licence": task.licence or "not told",
                "Difficulty": ", ".join(task.difficulty) or "–",
                "Rows here": "yes" if name in with_rows else "no",
                "Gold labels here": "yes" if name in scorable else "no",
            }
            for name, task in names.items()
        ]
        sizes = {"Rows to label": st.column_config.NumberColumn(format="localized")}
        ui.show_table(rows, "The tasks", height="content", column_config=sizes)
        show_instructions(names[st.selectbox("Instructions of", list(names), key="task-in-full")])


def show_instructions(task: Task) -> None:
    """Draw a task's warning, instructions and classes."""
    if task.warning:
        st.warning(escape_markdown(task.warning))
    st.text(task.instructions or "No instructions: the classes alone.")
    st.caption(escape_markdown(f"Classes: {', '.join(task.classes)}."))


def _given() -> tuple[str, int, Callable[[], bytes]] | None:
    """Return the upload's name in messages, its size, and the function that gives its archive; or None."""
    kind = ui.switch("What you have", ("Zip archive", "Folder"), key="submission-kind")
    key = f"submission-{kind}"
    if kind != "Folder":
        looks = {"type": "zip", "max_upload_size": MAX_ARCHIVE // MIB, "key": key}
        file = st.file_uploader("Zip archive of predictions", **looks)
        return (file.name, file.size, file.getvalue) if file else None
    looks = {"accept_multiple_files": "directory", "max_upload_size": MAX_FILE // MIB, "key": key}
    files = st.file_uploader("Folder of predictions", **looks)
    if not files:
        return None
    size = sum(file.size for file in files)
    return "the folder", size, lambda: packed((file.name, file.getvalue()) for file in files)


def _show_problems(problems: list[Problem], submission: Submission, names: list[str], faulty: bool) -> None:
    stopping, remarks = (
        ui.entries(one.message for one in problems if one.stops == stops) for stops in (True, False)
    )
    if faulty:
        st.error(f"To be mended first:\n\n{stopping}")
    elif stopping:
        there, files = _scorable(), submission.files
        kind = f"{number(len(files), 'file')} of {len(names):,}, without a fault"
        if there:
            can = number(sum(task in there for task in files), "file")
            kind = f"{can} of {len(names):,} can be scored, without an overall figure"
        st.warning(f"{escape_markdown(f'Incomplete: {kind}.')}\n\n{stopping}")
    else:
        st.success(VALIDATED)
    if remarks:
        st.info(remarks)


_SCORING = "submission-scoring"


def _offer_scoring(submission: Submission) -> None:
    held, there = benchmark(), _scorable()
    predictions, owner = submission.predictions, require_run().id
    chosen = [task for task in predictions if task in there]
    if held is None or not chosen:
        if there:
            st.info("This server has gold labels of none of these tasks, so that nothing of it is scored.")
        return
    store, place = stores().submissions, st.empty()  # filled after the scoring, which uses one up
    given = st.text_input("Name of the system", max_chars=NAME_LENGTH, key="submission-name")
    name = given.strip()[:NAME_LENGTH]
    going = under_way(_SCORING)
    if ui.button("Score", "scoreboard", type="primary", disabled=going):
        if name:
            how = {"name": name, "owner": owner, "store": store, "pool": server.shared().service.pool}
            how["probabilities"] = submission.probabilities
            words = f"Scoring {number(len(chosen), 'task')}"
            start(_SCORING, predictions, words, lambda told: scored(held, predictions, **how, told=told))
        else:
            st.error("Give the system a name first: the Leaderboard lists it by that.")
    record = outcome(_SCORING, predictions)
    fewest = min(store.left(task, owner=owner) for task in chosen)
    place.caption(
        f"You may have {fewest:,} more different predictions of these tasks scored: each score tells a "
        "little of the labels, which are to stay unknown."
    )
    if record is not None:
        show_scores(record)


CHOSEN = "take-off"


def offer_taking_off() -> None:
    """Draw the button that asks which system to take off, if the visitor may take off any."""
    found = [one for one in stores().submissions.all() if may_manage(one.owner, one.project)]
    title, answers = "Take a system off the leaderboard?", ("Take it off for good", "Keep it")
    if found:
        say = partial(_choose_which, found)
        ui.ask_first("Take a system off", "delete", title, say, take_off, found, answers=answers)


def _choose_which(found: list[SubmissionRecord]) -> None:
    owners = owner_names(record.owner for record in found)
    names = {}
    for one in found:
        by = f"handed in by {owners[one.owner]}, " if owners[one.owner] else ""
        names[one.id] = f"{one.name} ({by}{in_full(one.created_at)})"
    chosen = ui.pick("Which one", names, key=CHOSEN)
    record = next(one for one in found if one.id == chosen)
    ui.warn(
        f"{record.name}: its labels and scores are deleted for everybody, and cannot be brought back. Links "
        "to the leaderboard that were made before still show it, and its scorings stay counted."
    )


def take_off(found: list[SubmissionRecord]) -> None:
    """Delete the chosen submission."""
    record = next(one for one in found if one.id == st.session_state[CHOSEN])
    user = require_manage(record.owner, record.project)
    stores().submissions.delete(record.id)
    server.shared().audit.record(user.id, "delete", "submission", record.id)
    ui.forget(_SCORING, PUT)
