"""Baselines by leave-one-out beside earlier figures: ``python -m benchmarks.few_shot [TASK ...]``.

Figures are macro-F1 over the declared classes on the 50 labelled rows of each task, with scikit-learn 1.9.1.
AdaBoost's are from one random state of many (0, on all n-grams: docs/models.md). The open rows are 8,030
queries of Banking77 that are not in the benchmark. Scores are for the default seed.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Mapping
from pathlib import Path

from grasp_core.benchmark.baselines.embedding import Embedder
from grasp_core.benchmark.baselines.registry import make_baseline
from grasp_core.benchmark.scoring.evaluate import evaluate
from grasp_core.benchmark.tasks import TRAIN_FILE, read_rows, read_task

DATA = Path(__file__).resolve().parents[2] / "shared" / "data"
OPEN_ROWS = DATA / "raft_open" / "banking_77_source" / "not_in_raft.csv"
NAMES = ("plurality", "adaboost", "minilm-1nn", "minilm-logistic")
MEASURED: Mapping[str, tuple[float | None, ...]] = {
    "banking_77": (0.000, 0.000, 0.051, 0.053),
    "neurips_impact_statement_risks": (0.351, 0.675, 0.659, 0.639),
    "one_stop_english": (0.190, None, 0.240, 0.169),
    "semiconductor_org_types": (0.288, 0.366, 0.400, 0.364),
    "systematic_review_inclusion": (0.495, 0.495, 0.468, 0.495),
    "tai_safety_research": (0.359, 0.490, 0.737, 0.756),
}
OPEN = {
    "plurality": 0.000,
    "minilm-1nn": 0.224,
    "minilm-logistic": 0.222,
    "minilm-names": 0.610,
    "minilm-shots-names": 0.613,
}


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.few_shot", description=__doc__)
    parser.add_argument("tasks", nargs="*", metavar="TASK", help="default: all, and the open rows")
    chosen = parser.parse_args()
    if not OPEN_ROWS.is_file():
        sys.exit("needs the published data in ../shared beside the repository")
    print(f"{'task':32} {'baseline':20} {'score':>6} {'figure':>7} {'seconds':>8}")
    for task in chosen.tasks or MEASURED:
        for name, figure in zip(NAMES, MEASURED[task], strict=True):
            measure(task, name, figure)
    if not chosen.tasks:
        embedder = Embedder()
        for name, figure in OPEN.items():
            measure("banking_77", name, figure, OPEN_ROWS, embedder)


def measure(
    task_name: str,
    name: str,
    figure: float | None,
    file: Path | None = None,
    embedder: Embedder | None = None,
) -> None:
    folder = DATA / "raft" / task_name
    task = read_task(folder)
    train = read_rows(folder / TRAIN_FILE, task, labelled=True)
    test = None if file is None else read_rows(file, task, labelled=True)
    started = time.perf_counter()
    fit = make_baseline(name, embedder)
    found = evaluate(fit, train, task, way="loo" if test is None else "file", test=test)
    seconds = time.perf_counter() - started
    where = task_name if file is None else "banking_77, open rows"
    beside = "" if figure is None else f"{figure:.3f}"
    print(f"{where:32} {name:20} {found.macro_f1_declared:6.3f} {beside:>7} {seconds:8.1f}", flush=True)


if __name__ == "__main__":
    main()
