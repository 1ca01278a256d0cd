"""A run in parts has the digits of the same run in memory, however the data and the permutations are cut."""

from __future__ import annotations

import uuid
from pathlib import Path
from typing import ClassVar

import fsspec
import numpy as np
import pandas as pd
import pytest

from grasp_core.data_spec import DataSpec
from grasp_core.engine import partitioned
from grasp_core.engine.blocks import Progress
from grasp_core.engine.compute import Watcher, compute
from grasp_core.engine.partitioned import compute_in_parts
from grasp_core.engine.pool import Pool
from grasp_core.errors import DataError, RunCancelledError, SelfCheckError
from grasp_core.io.load import load
from grasp_core.io.part_plan import workplace
from grasp_core.io.partitions import find_parts
from grasp_core.io.survey import survey
from grasp_core.io.tables import read_table
from grasp_core.permutation import kernel
from grasp_core.result import RunResult
from grasp_core.spec import AnalysisSpec, RunSpec
from tests.core.simulated import DATA_SPEC
from tests.io.parts import frames, write

AXES = (("gender",), ("race",), ("gender", "race"))
SHAPE = {"items": 40, "raters": 30, "missing": 0.4, "unknown": 0.1}


class Case:
    """Simulated data as a folder of three files and a raters file, and runs on it."""

    def __init__(self, folder: Path, votes: pd.DataFrame, raters: pd.DataFrame, data: DataSpec = DATA_SPEC):
        self.folder, self.votes, self.data = folder, votes, data
        raters.to_csv(folder / "raters.csv", index=False)
        self.raters = read_table(folder / "raters.csv")

    def spec(self, **analysis) -> RunSpec:
        return RunSpec(self.data, AnalysisSpec(**{"axes": AXES, "permutations": 200, **analysis}))

    def in_memory(self, pool: Pool, **analysis) -> RunResult:
        write(self.folder / "votes", self.votes, 3)
        spec = self.spec(**analysis)
        tables = read_table(self.folder / "votes"), self.raters
        return compute(load(*tables, self.data, spec.analysis.columns), spec, pool, Watcher())

    def in_parts(
        self, pool: Pool, *, n_parts: int = 3, source: str = "", watcher: Watcher | None = None, **analysis
    ) -> RunResult:
        folder = write(source or self.folder / f"in-{n_parts}" / "votes", self.votes, n_parts)
        spec = self.spec(**analysis)
        parts = find_parts(folder, part_rows=1)
        assert len(parts.parts) == n_parts
        with workplace() as place:
            data = survey(parts, self.raters, self.data, spec.analysis.columns, pool.each, place)
            return compute_in_parts(data, spec, pool, watcher or Watcher(), place)


@pytest.fixture
def case(tmp_path: Path) -> Case:
    return Case(tmp_path, *frames(1, **SHAPE))


def same(found: RunResult, right: RunResult) -> None:
    assert [row.group for row in found.groups] == [row.group for row in right.groups]
    for mine, theirs in zip(found.groups, right.groups, strict=True):
        assert (mine.n_raters, mine.n_annotations) == (theirs.n_raters, theirs.n_annotations)
        for name, outcome in theirs.statistics.items():
            other = mine.statistics[name]
            assert (other.p, other.q, other.direction) == (outcome.p, outcome.q, outcome.direction)
            assert (other.reason, other.null_n) == (outcome.reason, outcome.null_n)
            if outcome.value is not None:
                assert other.value == pytest.approx(outcome.value, rel=1e-12, abs=1e-12)
                assert other.null_median == pytest.approx(outcome.null_median, rel=1e-12, abs=1e-12)
    assert [row.outcome.p for row in found.dsi] == [row.outcome.p for row in right.dsi]
    for name in ("items", "raters", "annotations", "categories", "label_counts", "raters_per_item"):
        assert getattr(found.data, name) == getattr(right.data, name)


def digits(result: RunResult) -> dict:
    plain = result.to_dict()
    del plain["timing"], plain["data"]
    return plain


@pytest.mark.parametrize("n_parts", [1, 3, 7])
def test_any_number_of_parts(case: Case, threads: Pool, n_parts: int) -> None:
    same(case.in_parts(threads, n_parts=n_parts), case.in_memory(threads))


def test_the_same_files_are_the_same_data(case: Case, threads: Pool) -> None:
    found, right = case.in_parts(threads), case.in_memory(threads)
    assert found.data == right.data
    assert found.warnings == right.warnings
    assert found.spec == right.spec


@pytest.mark.parametrize(
    "analysis",
    [
        {"ties": "random", "strata": "region"},
        {"cross_negentropy": "paper", "p_value": "paper"},
        {"correction": "max-t", "gai": ("negentropy", "voting_agreement")},
        {"min_raters": 4, "seed": 2**63 - 1},
    ],
)
def test_every_convention(case: Case, threads: Pool, analysis: dict) -> None:
    same(case.in_parts(threads, n_parts=4, **analysis), case.in_memory(threads, **analysis))


def test_adaptive_runs_stop_at_the_same_permutations(case: Case, threads: Pool) -> None:
    analysis = {"adaptive": True, "permutations": 50_000, "statistics": ("irr", "xrr")}
    found, right = case.in_parts(threads, **analysis), case.in_memory(threads, **analysis)
    assert right.stopping is not None
    assert 1_000 < right.stopping.permutations < 50_000
    assert found.stopping == right.stopping
    same(found, right)


@pytest.mark.parametrize("level", ["ordinal", "interval", "ratio"])
def test_every_level_of_measurement(tmp_path: Path, threads: Pool, level: str) -> None:
    votes, raters = frames(2, **SHAPE)
    votes["label"] = votes["label"].str[-1]
    case = Case(tmp_path, votes, raters)
    same(case.in_parts(threads, level=level), case.in_memory(threads, level=level))


def test_missing_answers_excluded_and_unknown_raters(tmp_path: Path, threads: Pool) -> None:
    votes, raters = frames(3, **SHAPE)
    votes.loc[::7, "label"] = ""
    votes.loc[votes["item"] == "i5", "label"] = ""
    votes = votes[votes["rater"] != "r3"]
    raters = raters[raters["rater"] != "r4"]
    data = DataSpec(item="item", rater="rater", label="label", exclude=(("region", "S"),))
    case = Case(tmp_path, votes, raters, data)
    found, right = case.in_parts(threads), case.in_memory(threads)
    same(found, right)
    excluded = [warning for warning in right.warnings if warning.startswith("left out")]
    assert excluded
    assert set(excluded) <= set(found.warnings)


def test_repeated_annotations_count_once(tmp_path: Path, threads: Pool) -> None:
    votes, raters = frames(4, **SHAPE)
    case = Case(tmp_path, pd.concat([votes, votes.iloc[::9]]), raters)
    same(case.in_parts(threads), case.in_memory(threads))


def test_statistics_without_a_value_say_why(tmp_path: Path, threads: Pool) -> None:
    votes, raters = frames(5, items=12, raters=9, missing=0.8)
    raters["gender"] = ["Woman"] * 7 + ["Man", "Other"]
    votes.loc[votes["rater"].isin(["r0", "r1"]), "label"] = "label 0"
    case = Case(tmp_path, votes, raters)
    right = case.in_memory(threads, min_raters=1)
    reasons = {outcome.reason for row in right.groups for outcome in row.statistics.values()}
    assert len(reasons - {None}) >= 3
    same(case.in_parts(threads, n_parts=5, min_raters=1), right)


@pytest.mark.parametrize(("task_seconds", "batch"), [(1e-9, 1), (10.0, 7), (1e-4, 64)])
def test_however_permutations_are_cut(
    case: Case, threads: Pool, monkeypatch: pytest.MonkeyPatch, task_seconds: float, batch: int
) -> None:
    right = digits(case.in_parts(threads, permutations=30))
    n_groups = len(right["groups"])
    monkeypatch.setattr(partitioned, "BATCH_BYTES", batch * n_groups * 8 * 23)
    monkeypatch.setattr(threads, "task_seconds", task_seconds)
    monkeypatch.setattr(partitioned, "FEWEST", 1)
    assert digits(case.in_parts(threads, permutations=30)) == right


def test_spawned_processes_give_the_same_bits(case: Case, threads: Pool, processes: Pool) -> None:
    assert digits(case.in_parts(processes)) == digits(case.in_parts(threads))


@pytest.mark.parametrize("address", ["memory", "file"])
def test_an_address(case: Case, threads: Pool, tmp_path: Path, address: str) -> None:
    """In threads: the memory file system lives in one process."""
    place = f"memory://{uuid.uuid4().hex}/votes" if address == "memory" else f"file://{tmp_path}/there/votes"
    assert digits(case.in_parts(threads, source=place)) == digits(case.in_parts(threads))


def test_what_workers_share_may_lie_at_an_address(case: Case, threads: Pool) -> None:
    right = digits(case.in_parts(threads))
    spec, scratch = case.spec(), f"memory://{uuid.uuid4().hex}"
    parts = find_parts(str(case.folder / "in-3" / "votes"), 1)
    with workplace(scratch) as place:
        data = survey(parts, case.raters, DATA_SPEC, spec.analysis.columns, threads.each, place)
        assert digits(compute_in_parts(data, spec, threads, Watcher(), place)) == right
    assert fsspec.filesystem("memory").find(scratch) == []


def test_progress_and_cancel(case: Case, threads: Pool, monkeypatch: pytest.MonkeyPatch) -> None:
    class Impatient(Watcher):
        seen: ClassVar[list[Progress]] = []

        def check(self, progress: Progress) -> None:
            self.seen.append(progress)
            if progress.done > 50:
                raise RunCancelledError

    monkeypatch.setattr(threads, "task_seconds", 1e-9)
    with pytest.raises(RunCancelledError):
        case.in_parts(threads, watcher=Impatient())
    done = [progress.done for progress in Impatient.seen]
    assert done == sorted(done)
    assert done[-1] < 200


@pytest.mark.parametrize("kept", [True, False])
def test_a_file_that_changes_meanwhile_is_refused_or_not_read_again(
    case: Case, threads: Pool, kept: bool
) -> None:
    right = digits(case.in_parts(threads))
    spec, columns = case.spec(), case.spec().analysis.columns
    folder = case.folder / "in-3" / "votes"
    with workplace() as place:
        where = place if kept else None
        data = survey(find_parts(str(folder), 1), case.raters, DATA_SPEC, columns, threads.each, where)
        write(folder, case.votes.iloc[5:], 3)
        if kept:
            assert digits(compute_in_parts(data, spec, threads, Watcher(), place)) == right
            return
        with pytest.raises(DataError, match=r"votes/part-0\.parquet has changed while it was analysed"):
            compute_in_parts(data, spec, threads, Watcher(), place)


def test_each_part_is_checked_against_independent_software(
    case: Case, threads: Pool, monkeypatch: pytest.MonkeyPatch
) -> None:
    right = kernel.observed_sums
    monkeypatch.setattr(kernel, "observed_sums", lambda design: right(design) * np.float64(1.001))
    with pytest.raises(SelfCheckError, match="krippendorff"):
        case.in_parts(threads)
