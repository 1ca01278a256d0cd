"""Measure runs in parts as data grow: ``python -m benchmarks.scaling [--rows N] [--json FILE]``.

Each size is written to a temporary folder, block by block, and run by the command line in a process of its
own. Fewer groups, more groups, more permutations, both cores and more raters are measured at a million
annotations, and a million raters at ten million. From the figures a cost model is fitted, and held against
them. ``--fit FILE`` fits figures that were written before, ``--plot FILE`` draws them, ``--docs`` writes them
into the documentation.
"""

from __future__ import annotations

import argparse
import dataclasses
import json
import os
import resource
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from benchmarks.cost_plot import draw
from benchmarks.costs import Measured, fitted, markdown, report
from benchmarks.synthetic import AXES, write

ROOT = Path(__file__).resolve().parents[1]
MOST = 10_000_000
BASE = 1_000_000
PERMUTATIONS = 20
_LOOK_SECONDS = 0.1
BEGIN, END = "<!-- figures: written by benchmarks.scaling --docs -->", "<!-- end of figures -->"


@dataclass(frozen=True)
class Question:
    """What is measured; a rater for every so many annotations."""

    rows: int
    axes: tuple[str, ...] = tuple(AXES)
    intersections: tuple[str, ...] = ()
    permutations: int = PERMUTATIONS
    workers: int = 1
    per_rater: int = 100


AROUND = (
    Question(BASE, axes=("gender",)),
    Question(BASE, intersections=("gender:age",)),
    Question(BASE, permutations=10 * PERMUTATIONS),
    Question(BASE, permutations=10 * PERMUTATIONS, workers=2),
    Question(BASE, per_rater=3),
    Question(10 * BASE, per_rater=10),
    Question(10 * BASE, permutations=10 * PERMUTATIONS, workers=2),
)


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.scaling", description=__doc__)
    parser.add_argument("--rows", type=int, help="measure up to this size, in steps of ten")
    parser.add_argument(
        "--only", type=int, metavar="ROWS", help="measure this size alone and add it to --json"
    )
    parser.add_argument("--json", type=Path, help="write the figures here too")
    parser.add_argument("--fit", type=Path, metavar="FILE", help="measure nothing: fit these figures")
    parser.add_argument("--plot", type=Path, metavar="FILE", help="draw cost against size as SVG")
    parser.add_argument("--docs", action="store_true", help="write both into docs/scaling.md and .svg")
    chosen = parser.parse_args()
    if chosen.fit:
        figures = [Measured(**row) for row in json.loads(chosen.fit.read_text())["runs"]]
    else:
        figures = _measured(chosen)
    model = fitted(figures)
    print(report(model, figures))
    if chosen.plot:
        chosen.plot.write_text(draw(figures, model), encoding="utf-8")
    if chosen.docs:
        _write_docs(markdown(model, figures), draw(figures, model))


def _write_docs(tables: str, picture: str) -> None:
    """Put the figures between their marks in docs/scaling.md, and the picture beside it."""
    document = ROOT / "docs" / "scaling.md"
    before, _, rest = document.read_text(encoding="utf-8").partition(BEGIN)
    _, _, after = rest.partition(END)
    document.write_text(f"{before}{BEGIN}\n\n{tables}\n\n{END}{after}", encoding="utf-8")
    document.with_suffix(".svg").write_text(picture, encoding="utf-8")


def _measured(chosen: argparse.Namespace) -> list[Measured]:
    figures: list[Measured] = []
    if chosen.only:
        questions = [Question(chosen.only)]
        if chosen.json and chosen.json.exists():
            figures = [Measured(**row) for row in json.loads(chosen.json.read_text())["runs"]]
    else:
        sizes = [10**power for power in range(5, 10) if 10**power <= (chosen.rows or MOST)]
        around = [question for question in AROUND if question.rows <= sizes[-1]]
        questions = [*map(Question, sizes), *around]
    subprocess.run([sys.executable, "-m", "grasp_core", "warm"], cwd=ROOT, check=True)
    for question in questions:
        figures.append(_measure(question))
        print(json.dumps(dataclasses.asdict(figures[-1])), flush=True)
        if chosen.json:
            plain = {"cores": os.cpu_count(), "runs": [dataclasses.asdict(figure) for figure in figures]}
            chosen.json.write_text(json.dumps(plain, indent=1) + "\n")
    return figures


def _measure(question: Question) -> Measured:
    n_raters = max(question.rows // question.per_rater, 100)
    with tempfile.TemporaryDirectory(prefix="grasp-scaling-") as name:
        folder = Path(name)
        write(folder, question.rows, n_raters)
        size = sum(file.stat().st_size for file in (folder / "votes").iterdir())
        before, used = os.getloadavg()[0], _cpu_seconds()
        started = time.perf_counter()
        process = subprocess.Popen(_command(folder, question), cwd=ROOT, stdout=subprocess.DEVNULL, stderr=-1)
        peak = _Peak(process.pid)
        _, said = process.communicate()
        wall = time.perf_counter() - started
        if process.returncode:
            sys.exit(f"the run of {question.rows:,} annotations failed:\n{said.decode()}")
        result = json.loads((folder / "result.json").read_text())
    return Measured(
        annotations=result["data"]["annotations"],
        raters=result["data"]["raters"],
        items=result["data"]["items"],
        groups=len(result["groups"]),
        axis_sets=len(question.axes) + len(question.intersections),
        permutations=question.permutations,
        workers=question.workers,
        wall_s=wall,
        load_s=result["timing"]["load_s"],
        observed_s=result["timing"]["observed_s"],
        permutations_s=result["timing"]["permutations_s"],
        peak_gib=peak.gib(),
        disk_gib=size / 2**30,
        load_average_before=before,
        cpu_s=_cpu_seconds() - used,
    )


def _command(folder: Path, question: Question) -> list[str]:
    groups = [f"--axis={name}" for name in question.axes]
    groups += [f"--intersect={names}" for names in question.intersections]
    files = [f"--annotations={folder / 'votes'}", f"--raters={folder / 'raters.parquet'}", "--in-parts"]
    columns = [f"--{name}={name}" for name in ("item", "rater", "label")]
    size = [f"--permutations={question.permutations}", f"--workers={question.workers}", "--engine=local"]
    return [
        *(sys.executable, "-m", "grasp_core", "run"),
        *(*files, *columns, *groups, *size, f"--out={folder / 'result.json'}"),
    ]


def _cpu_seconds() -> float:
    """Of all processes that have ended."""
    spent = resource.getrusage(resource.RUSAGE_CHILDREN)
    return spent.ru_utime + spent.ru_stime


class _Peak:
    """The most memory that a process and its children had together; Linux only."""

    def __init__(self, pid: int) -> None:
        self._pid, self._pages = pid, 0
        self._thread = threading.Thread(target=self._watch, daemon=True)
        self._thread.start()

    def gib(self) -> float:
        """Once the process has ended."""
        self._thread.join()
        return self._pages * os.sysconf("SC_PAGE_SIZE") / 2**30

    def _watch(self) -> None:
        while pages := sum(map(_resident, _tree(self._pid))):
            self._pages = max(self._pages, pages)
            time.sleep(_LOOK_SECONDS)


def _tree(pid: int) -> Sequence[int]:
    found, waiting = [], [pid]
    while waiting:
        process = waiting.pop()
        found.append(process)
        try:
            children = Path(f"/proc/{process}/task/{process}/children").read_text().split()
        except OSError:
            continue
        waiting += map(int, children)
    return found


def _resident(pid: int) -> int:
    try:
        return int(Path(f"/proc/{pid}/statm").read_text().split()[1])
    except (OSError, IndexError):
        return 0


if __name__ == "__main__":
    main()
