"""The published tasks' figures. `make bench-raft` prints all of them; here are those that take seconds.

Figures: macro-F1 over declared classes by leave-one-out on the 50 labelled rows, measured independently with
scikit-learn 1.9.1 and the same embeddings. AdaBoost's depend on chance, which decides between equally good
splits: the lowest and highest of random states 0 to 5 on all n-grams.
"""

from __future__ import annotations

import pytest

from benchmarks.few_shot import MEASURED, NAMES, OPEN
from grasp_core.benchmark.baselines.embedding import Embedder
from grasp_core.benchmark.baselines.registry import make_baseline
from grasp_core.benchmark.scoring.evaluate import evaluate, taken
from grasp_core.benchmark.tasks import read_rows
from tests.benchmark.baseline_tasks import OPEN_ROWS, RAFT, opened
from tests.shared_data import needs_shared_data

pytestmark = needs_shared_data
WITHIN = {"plurality": 0.0005, "minilm-1nn": 0.02, "minilm-logistic": 0.02}
QUICK = {
    "plurality": tuple(MEASURED),
    "minilm-1nn": ("banking_77", "semiconductor_org_types", "tai_safety_research"),
    "minilm-logistic": ("banking_77", "semiconductor_org_types", "tai_safety_research"),
}
ADABOOST = {
    "neurips_impact_statement_risks": (0.675, 0.780),
    "semiconductor_org_types": (0.279, 0.369),
}


@pytest.fixture(scope="module")
def embedder() -> Embedder:
    return Embedder()


@pytest.mark.parametrize(
    ("name", "task_name"),
    [
        pytest.param(name, task, marks=[pytest.mark.long] if name.startswith("minilm") else [])
        for name in QUICK
        for task in QUICK[name]
    ],
)
def test_leave_one_out_figures(name: str, task_name: str, embedder: Embedder) -> None:
    task, train = opened(RAFT / task_name)
    found = evaluate(make_baseline(name, embedder), train, task)
    figure = MEASURED[task_name][NAMES.index(name)]
    assert figure is not None
    assert found.macro_f1_declared == pytest.approx(figure, abs=WITHIN[name])


@pytest.mark.long
@pytest.mark.parametrize("task_name", ADABOOST)
def test_adaboost_is_within_what_chance_gives(task_name: str) -> None:
    task, train = opened(RAFT / task_name)
    low, high = ADABOOST[task_name]
    assert low <= evaluate(make_baseline("adaboost"), train, task).macro_f1_declared <= high


@pytest.mark.long
@pytest.mark.parametrize("name", ["minilm-names", "minilm-1nn", "minilm-shots-names"])
def test_open_rows_figures(name: str, embedder: Embedder) -> None:
    # Every 8th of the 8,030 rows; 0.04 is about three standard errors of a macro-F1 on a thousand rows.
    task, train = opened(RAFT / "banking_77")
    rows = read_rows(OPEN_ROWS, task, labelled=True)
    keep = range(0, len(rows.ids), 8)
    found = evaluate(make_baseline(name, embedder), train, task, way="file", test=taken(rows, keep))
    assert found.macro_f1_declared == pytest.approx(OPEN[name], abs=0.04)
