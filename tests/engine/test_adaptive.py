"""Runs that stop when their marks are settled: the same number of permutations, however they are computed."""

from __future__ import annotations

import random

import pytest

from grasp_core.engine.pools import schedule as blocks_module
from grasp_core.engine.pools.schedule import Progress
from grasp_core.engine.watching import Checkpoints, Watcher
from grasp_core.model.annotations import FloatArray
from grasp_core.model.errors import RunCancelledError
from grasp_core.model.result import RunResult
from grasp_core.permutation.testing import tally as tally_module
from grasp_core.permutation.testing.outcomes import looks
from grasp_core.permutation.testing.tally import Tally
from tests.computing import compute_in_threads
from tests.engine.asking import DATA, answer, digits, question

MOST = 20_000


def run(interrupted: Interrupted | None = None, **analysis) -> RunResult:
    spec = question(**{"permutations": MOST, "adaptive": True, **analysis})
    return compute_in_threads(DATA, spec, interrupted, interrupted)


@pytest.fixture(scope="module")
def adaptive() -> RunResult:
    return run()


def test_it_says_how_it_ended(adaptive: RunResult) -> None:
    assert adaptive.permutations == adaptive.stopping.permutations
    assert adaptive.permutations in looks(MOST)
    numbers = {row.statistics["irr"].null_n for row in adaptive.groups}
    assert max(numbers) == adaptive.permutations
    assert len(numbers) > 1  # some groups stopped before others
    assert RunResult.from_dict(adaptive.to_dict()) == adaptive


def test_a_group_has_the_digits_of_a_fixed_run_that_ends_where_it_stopped(adaptive: RunResult) -> None:
    """Narrowing the work to the groups that go on changes nothing in them."""
    for n in {row.statistics["irr"].null_n for row in adaptive.groups}:
        fixed = run(permutations=n, adaptive=False)
        assert fixed.stopping is None
        for ours, theirs in zip(adaptive.groups, fixed.groups, strict=True):
            if ours.statistics["irr"].null_n == n:
                for name, outcome in ours.statistics.items():
                    other = theirs.statistics[name]
                    assert (outcome.p, outcome.null_n) == (other.p, other.null_n)
                    assert (outcome.direction, outcome.value) == (other.direction, other.value)


def test_its_marks_are_those_of_all_permutations(adaptive: RunResult) -> None:
    fixed = run(adaptive=False)
    undecided = {(mark.group, mark.statistic, mark.corrected) for mark in adaptive.stopping.undecided}
    compared = 0
    for ours, theirs in zip(adaptive.groups, fixed.groups, strict=True):
        for name, outcome in ours.statistics.items():
            if outcome.p is not None and not {(ours.group, name, c) for c in (True, False)} & undecided:
                assert outcome.significance == theirs.statistics[name].significance
                compared += 1
    assert compared > 40


@pytest.mark.parametrize("n_workers", [1, 3])
def test_any_number_of_workers(adaptive: RunResult, n_workers: int) -> None:
    assert answer(n_workers=n_workers, permutations=MOST, adaptive=True) == digits(adaptive)


@pytest.mark.parametrize(("first", "seconds"), [(7, 0.01), (3000, 0.2)])
def test_any_size_of_blocks(monkeypatch, adaptive: RunResult, first: int, seconds: float) -> None:
    monkeypatch.setattr(blocks_module, "FIRST_BLOCK", first)
    monkeypatch.setattr(blocks_module, "FIRST_LABELS", 0)  # however few annotations there are
    monkeypatch.setattr(blocks_module, "BLOCK_SECONDS", seconds)
    assert answer(permutations=MOST, adaptive=True) == digits(adaptive)


class Interrupted(Watcher, Checkpoints):
    """Ends the run after so many permutations, and saves as a server does."""

    def __init__(self, stop_at: int, before: Interrupted | None = None) -> None:
        self.stop_at = stop_at
        self.rows: list[tuple[int, FloatArray]] = [] if before is None else before.rows
        self.state: bytes | None = None if before is None else before.state
        self.tally: Tally | None = None
        self.seen: list[Progress] = []

    def counted_before(self) -> bytes | None:
        return self.state

    def computed_before(self, width: int) -> list[tuple[int, FloatArray]]:
        assert all(values.shape[1:] == (width,) for _, values in self.rows)
        return list(self.rows)

    def begin(self, tally: Tally) -> None:
        self.tally = tally

    def computed(self, start: int, values: FloatArray) -> None:
        self.rows.append((start, values.copy()))

    def check(self, progress: Progress) -> None:
        self.seen.append(progress)
        if self.tally is None:  # it is being prepared
            assert progress.done == 0
            return
        if self.tally.counting:
            self.state, self.rows = self.tally.state(), []
        if progress.done >= self.stop_at:
            raise RunCancelledError


@pytest.mark.parametrize("correction", ["benjamini-hochberg", pytest.param("max-t", marks=pytest.mark.long)])
@pytest.mark.parametrize(
    "seed", [0, pytest.param(1, marks=pytest.mark.long), pytest.param(2, marks=pytest.mark.long)]
)
def test_goes_on_wherever_it_was_interrupted(monkeypatch, seed: int, correction: str) -> None:
    """Among blocks that are kept whole, among counts, and at the very looks."""
    monkeypatch.setattr(blocks_module, "BLOCK_SECONDS", 0.01)
    right = run(correction=correction)
    chance = random.Random(seed)
    stops = sorted({1, 1000, 5000, 10_000, *(chance.randrange(MOST) for _ in range(2))})
    last: Interrupted | None = None
    for stop_at in stops:
        last = Interrupted(stop_at, last)
        try:
            run(last, correction=correction)
        except RunCancelledError:
            continue
        break
    last = Interrupted(MOST + 1, last)
    assert digits(run(last, correction=correction)) == digits(right)
    assert all(progress.total == MOST for progress in last.seen)


def test_it_may_stop_among_the_kept_values_or_among_the_counts(adaptive: RunResult) -> None:
    assert adaptive.permutations > tally_module.KEPT
    early = run(axes=(("gender",),), statistics=("irr",))
    assert early.permutations < tally_module.KEPT
    fixed = run(axes=(("gender",),), statistics=("irr",), permutations=early.permutations, adaptive=False)
    assert early.groups == fixed.groups
