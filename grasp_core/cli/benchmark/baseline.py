"""``raft baseline``: label a task's rows by a baseline, or score it on labelled ones."""

from __future__ import annotations

import argparse
import csv
import io
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from grasp_core.analysis.models.labels import ID, LABEL
from grasp_core.benchmark.baselines.protocol import Fit
from grasp_core.benchmark.baselines.registry import BASELINES, LM, make_baseline
from grasp_core.benchmark.scoring.evaluate import Way, evaluate, evaluation_json, label_rows
from grasp_core.benchmark.tasks import TEST_FILE, TRAIN_FILE, Task, read_rows, read_task
from grasp_core.cli.benchmark.arguments import whole
from grasp_core.cli.benchmark.lm import add_lm_options, make_lm
from grasp_core.cli.terminal.lines import clear_line, note, show_rows
from grasp_core.cli.terminal.output import check_target, write_text
from grasp_core.model.errors import DataError

PREDICTIONS = "predictions.csv"


def fill_baseline(parser: argparse.ArgumentParser) -> None:
    """Add the command ``baseline`` to the parser."""
    parser.epilog = "; ".join(f"{name}: {words[0].lower()}{words[1:]}" for name, words in BASELINES.items())
    parser.set_defaults(command=_baseline)
    parser.add_argument("name", choices=list(BASELINES), metavar="NAME", help=", ".join(BASELINES))
    parser.add_argument("--task", type=Path, required=True, metavar="TASK_DIR", help="folder with task.json")
    parser.add_argument(
        "--evaluate",
        metavar="loo|splits|FILE.csv",
        help=f"score it: leave-one-out or repeated splits of {TRAIN_FILE}, or another labelled file",
    )
    parser.add_argument("--seed", type=whole, default=1, metavar="N", help="default: 1")
    parser.add_argument(
        "--out", type=Path, metavar="FILE", help=f"scores as JSON, or labels (default: {PREDICTIONS})"
    )
    add_lm_options(parser)


def _baseline(chosen: argparse.Namespace) -> None:
    out = chosen.out if chosen.out is not None or chosen.evaluate else Path(PREDICTIONS)
    check_target(out)
    task = read_task(chosen.task)
    train = read_rows(chosen.task / TRAIN_FILE, task, labelled=True)
    if chosen.evaluate is None:
        test = read_rows(chosen.task / TEST_FILE, task, labelled=False)
        with _made(chosen, task) as fit, _clearing():
            labels = label_rows(fit, train, task, test.texts, seed=chosen.seed, watch=show_rows)
        write_text(out, _predictions_csv(test.ids, labels))
        print(f"{len(labels):,} rows labelled: {out}")
        return
    way: Way = chosen.evaluate if chosen.evaluate in ("loo", "splits") else "file"
    other = read_rows(_labelled_file(chosen.evaluate), task, labelled=True) if way == "file" else None
    with _made(chosen, task) as fit, _clearing():
        found = evaluate(fit, train, task, way=way, test=other, seed=chosen.seed, watch=show_rows)
    text = evaluation_json(chosen.name, task, chosen.seed, found)
    write_text(out, text)
    print(text, end="")
    for caution in found.caution:
        note(str(caution))


def _labelled_file(text: str) -> Path:
    """The file; a misspelt way of scoring is no file either."""
    path = Path(text)
    if not path.exists():
        raise DataError(f"--evaluate takes loo, splits or a labelled file; there is no file {text}")
    return path


@contextmanager
def _made(chosen: argparse.Namespace, task: Task) -> Iterator[Fit]:
    if chosen.name != LM:
        yield make_baseline(chosen.name)
        return
    with make_lm(chosen, task, lambda _done, _total: None) as fit:
        yield fit


@contextmanager
def _clearing() -> Iterator[None]:
    try:
        yield
    finally:
        clear_line()


def _predictions_csv(ids: Sequence[str], labels: Sequence[str]) -> str:
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow([ID, LABEL])
    writer.writerows(zip(ids, labels, strict=True))
    return text.getvalue()
