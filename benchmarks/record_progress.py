"""Record the progress of runs for the test of the time left: the median of five, on two idle cores.

.venv/bin/python benchmarks/record_progress.py [folder of DICES-350]
"""

from __future__ import annotations

import json
import sys
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from grasp_core.engine import time_left as module
from grasp_core.engine.compute import compute
from grasp_core.engine.pools import workers
from grasp_core.engine.pools.pool import Pool
from grasp_core.engine.pools.schedule import Progress
from grasp_core.engine.time_left import Course
from grasp_core.engine.watching import Watcher
from grasp_core.model.example import example_files, example_spec
from grasp_core.model.spec import AnalysisSpec, RunSpec
from grasp_core.reading.dataset.load import Dataset, load
from grasp_core.reading.guess.tables import guessed
from grasp_core.reading.sandbox.read import read_table

RECORDED = Path(__file__).resolve().parents[1] / "tests" / "engine" / "data" / "progress.json"
TIMES = 5


def example() -> tuple[Dataset, RunSpec]:
    spec = example_spec()
    return load(*(read_table(content, name) for name, content in example_files().items()), spec.data), spec


def dices350(folder: Path) -> tuple[Dataset, RunSpec]:
    tables = [read_table(folder / name) for name in ("ratings_long.csv", "raters.csv", "items.csv")]
    spec = guessed(*tables).advised
    axes = (("rater_gender",), ("rater_race",), ("rater_age",), ("rater_race", "rater_gender"))
    analysis = AnalysisSpec(axes=axes, pairs=True, slices=("safety_gold",))
    return load(tables[0], tables[1], spec, items=tables[2]), RunSpec(spec, analysis)


def record(dataset: Dataset, spec: RunSpec) -> dict[str, object]:
    events: list[dict[str, object]] = []
    stages: list[dict[str, object]] = []
    enter, seen, made = Course.enter, Course.seen, Course.of
    began = 0.0

    def noted_of(prepared: object) -> Course:
        nonlocal began
        found = made(prepared)  # type: ignore[arg-type]
        began = time.perf_counter()
        stages.extend({"name": one.name, "parts": one.parts} for one in found._stages)
        return found

    def noted_enter(self: Course, name: str) -> None:
        events.append({"part": True, "of": name})
        enter(self, name)

    def noted_seen(self: Course, progress: Progress) -> Progress:
        at = round(time.perf_counter() - began, 3)
        left = None if progress.seconds_left is None else round(progress.seconds_left, 3)
        events.append({"part": False, "at": at, "done": progress.done, "total": progress.total, "left": left})
        return seen(self, progress)

    module.Course.enter, module.Course.seen = noted_enter, noted_seen  # type: ignore[method-assign]
    module.Course.of = noted_of  # type: ignore[method-assign, assignment]
    pool = Pool(workers.threads, 2)
    try:
        compute(dataset, spec, pool, Watcher())
    finally:
        pool.close()
        module.Course.enter, module.Course.seen = enter, seen  # type: ignore[method-assign]
        module.Course.of = made  # type: ignore[method-assign]
    return {"seconds": round(time.perf_counter() - began, 3), "stages": stages, "events": events}


def main() -> None:
    asked = {"example": example()}
    if len(sys.argv) > 1:
        asked["dices350"] = dices350(Path(sys.argv[1]))
    found = json.loads(RECORDED.read_text(encoding="utf-8")) if RECORDED.exists() else {}
    for name, (dataset, spec) in asked.items():
        record(dataset, spec)  # compiles the kernels
        runs = sorted(
            (record(dataset, spec) for _ in range(TIMES)), key=lambda one: float(str(one["seconds"]))
        )
        found[name] = runs[TIMES // 2]
        print(name, found[name]["seconds"], "s,", len(found[name]["events"]), "events")
    RECORDED.write_text(json.dumps(found) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
