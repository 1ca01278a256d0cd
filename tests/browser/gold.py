"""Made-up gold labels of the benchmark's tasks, and a submission that has most of them right."""

import csv
import io
import zipfile
from pathlib import Path

import numpy as np

from grasp_core.benchmark.tasks import builtin_tasks

RIGHT = 0.7


def make_gold(folder: Path) -> bytes:
    """Write gold labels of all 11 tasks to a folder; the submission, a zip archive."""
    rng = np.random.default_rng(1)
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as archive:
        for name, task in builtin_tasks().items():
            rows = task.test_rows
            gold = rng.choice(task.classes, rows)
            said = np.where(rng.random(rows) < RIGHT, gold, rng.choice(task.classes, rows))
            (folder / name).mkdir(parents=True)
            (folder / name / "test.csv").write_text(_labelled(gold))
            archive.writestr(f"data/{name}/predictions.csv", _labelled(said))
    return packed.getvalue()


def _labelled(labels: np.ndarray) -> str:
    out = io.StringIO()
    writer = csv.writer(out)
    writer.writerow(["ID", "Label"])
    writer.writerows((50 + row, label) for row, label in enumerate(labels))
    return out.getvalue()
