"""What a run in parts costs: fitted constants, and what they say of runs that were measured or were not."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.optimize import nnls

from grasp_core.engine.partitioned import BATCH_BYTES
from grasp_core.io.parts.partitions import PART_ROWS

STATISTICS = 6
CACHE_BYTES = 2**20
"""A core's own cache, in which it finds what it needs several times faster than beyond."""
LINE_BYTES = 64
"""A rater's profiles under the 32 permutations of a pass, 2 bytes each: what counting a label brings in."""
CARRIED = 10**9


@dataclass(frozen=True)
class Measured:
    """One run; seconds and GiB."""

    annotations: int
    raters: int
    items: int
    groups: int
    axis_sets: int
    permutations: int
    workers: int
    wall_s: float = float("nan")
    load_s: float = float("nan")
    observed_s: float = float("nan")
    permutations_s: float = float("nan")
    peak_gib: float = float("nan")
    disk_gib: float = float("nan")
    load_average_before: float = float("nan")
    cpu_s: float = float("nan")

    @property
    def parts(self) -> int:
        """Parts of about :data:`~grasp_core.io.parts.partitions.PART_ROWS` annotations."""
        return max(-(-self.annotations // PART_ROWS), 1)

    @property
    def side_by_side(self) -> int:
        """Pieces of work that are computed at a time: one or more permutations of a part."""
        return min(self.workers, self.parts * self.permutations)

    @property
    def beyond_cache(self) -> bool:
        """Whether raters' profiles lie outside a core's own cache."""
        return self.raters * LINE_BYTES > CACHE_BYTES


# A cost is a sum of these, each times a constant that is not negative.
BEFORE = {
    "start": lambda run: 1.0,
    "reading, per annotation": lambda run: run.annotations,
    "checking, per annotation and group": lambda run: run.annotations * run.groups,
    "beyond the cache, per annotation": lambda run: run.beyond_cache * run.annotations,
    "per rater": lambda run: run.raters,
    "per rater and part": lambda run: run.raters * (run.parts - 1),
}
PERMUTATIONS = {
    "start": lambda run: 1.0,
    "laying out, per annotation": lambda run: run.annotations,
    "laying out, per rater and part": lambda run: run.raters * (run.parts - 1),
    "per permutation, annotation and axis set": lambda run: (
        run.permutations * run.annotations * run.axis_sets / run.side_by_side
    ),
    "per permutation, item and group": lambda run: (
        run.permutations * run.items * run.groups / run.side_by_side
    ),
    "beyond the cache, per permutation and annotation": lambda run: (
        run.beyond_cache * run.permutations * run.annotations / run.side_by_side
    ),
    "drawing, per permutation and rater": lambda run: run.permutations * run.raters,
}
MEMORY = {
    "the program": lambda run: 1.0,
    "per annotation of a part": lambda run: min(run.annotations, PART_ROWS) * min(run.workers, run.parts),
    "per rater": lambda run: run.raters,
    "per rater and group": lambda run: run.raters * run.groups,
    "sums and values, per byte": lambda run: (
        min(run.permutations * run.groups * 8 * 23, BATCH_BYTES)
        + run.permutations * run.groups * 8 * STATISTICS
    ),
}

Model = dict[str, dict[str, float]]


def fitted(figures: list[Measured]) -> Model:
    """Constants by quantity and term; relative errors are made small."""
    return {
        "before": _fit(BEFORE, figures, [run.load_s + run.observed_s for run in figures]),
        "permutations": _fit(PERMUTATIONS, figures, [run.permutations_s for run in figures]),
        "memory": _fit(MEMORY, figures, [run.peak_gib for run in figures]),
    }


def _fit(terms: dict, figures: list[Measured], measured: list[float]) -> dict[str, float]:
    table = np.array([[term(run) for term in terms.values()] for run in figures], dtype=float)
    table /= np.array(measured)[:, None]
    scale = np.where(table.any(axis=0), table.max(axis=0), 1)
    found, _ = nnls(table / scale, np.ones(len(figures)))
    return dict(zip(terms, (found / scale).tolist(), strict=True))


def predicted(model: Model, run: Measured) -> tuple[float, float, float]:
    """Seconds before the permutations, seconds of them, and GiB."""
    return tuple(
        sum(constant * terms[name](run) for name, constant in model[what].items())
        for what, terms in (("before", BEFORE), ("permutations", PERMUTATIONS), ("memory", MEMORY))
    )


def report(model: Model, figures: list[Measured]) -> str:
    """The constants, predictions beside what was measured, and runs that nobody has measured."""
    lines = ["constants (seconds, or GiB for memory)"]
    for what, constants in model.items():
        lines += [f"  {what:12} {name:42} {value:.3g}" for name, value in constants.items()]
    lines += ["", f"{'':58} {'before, s':>16} {'permutations, s':>18} {'GiB':>14}"]
    for run in figures:
        before, permutations, memory = predicted(model, run)
        lines.append(
            f"{_name(run):58} {run.load_s + run.observed_s:7.1f} ~{before:7.1f}"
            f" {run.permutations_s:8.1f} ~{permutations:8.1f} {run.peak_gib:6.2f} ~{memory:6.2f}"
        )
    lines += ["", "carried further (predicted only)"]
    for run in carried():
        before, permutations, memory = predicted(model, run)
        lines.append(f"{_name(run):58} {before:16.0f} {permutations:18.0f} {memory:14.2f}")
    return "\n".join(lines)


def markdown(model: Model, figures: list[Measured]) -> str:
    """What :func:`report` says, as two tables for docs/scaling.md."""
    lines = [
        "| annotations | raters | groups | permutations | cores | before, s | permutations, s "
        "| CPU, s | GiB |",
        "|--:|--:|--:|--:|--:|--:|--:|--:|--:|",
    ]
    for run in sorted(figures, key=lambda run: (run.annotations, run.raters, run.groups)):
        before, permutations, memory = predicted(model, run)
        lines.append(
            f"| {_size(run)} | {run.load_s + run.observed_s:.3g} ({before:.3g}) "
            f"| {run.permutations_s:.3g} ({permutations:.3g}) | {run.cpu_s:.3g} "
            f"| {run.peak_gib:.2f} ({memory:.2f}) |"
        )
    for run in carried():
        before, permutations, memory = predicted(model, run)
        lines.append(f"| {_size(run)} | ({before:.3g}) | ({permutations:.3g}) | | ({memory:.2f}) |")
    loads = [run.load_average_before for run in figures]
    lines += ["", f"Load average when they began: {min(loads):.1f} to {max(loads):.1f}."]
    lines += ["", "| of | term | constant |", "|---|---|--:|"]
    for what, constants in model.items():
        lines += [f"| {what} | {name} | {value:.2g} |" for name, value in constants.items() if value]
    return "\n".join(lines)


def _size(run: Measured) -> str:
    return f"{run.annotations:,} | {run.raters:,} | {run.groups} | {run.permutations:,} | {run.workers}"


def carried() -> list[Measured]:
    """A billion annotations by a million raters."""
    size = {"annotations": CARRIED, "raters": 10**6, "items": CARRIED // 30, "groups": 20, "axis_sets": 3}
    return [
        Measured(**size, permutations=permutations, workers=workers)
        for permutations, workers in ((20, 1), (1_000, 2), (1_000, 64))
    ]


def _name(run: Measured) -> str:
    return (
        f"{run.annotations:,} by {run.raters:,}, {run.groups} groups, {run.permutations} perm., "
        f"{run.workers} cores"
    )
