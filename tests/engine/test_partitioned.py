"""A run in parts has the digits of the same run in memory, however the data and the permutations are cut."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import uuid
from pathlib import Path
from typing import ClassVar

import fsspec
import numpy as np
import pandas as pd
import pytest
from sqlalchemy import URL

from grasp_core import cli
from grasp_core.access import EVERYTHING
from grasp_core.annotations import FloatArray
from grasp_core.cli.scratch import Scratch
from grasp_core.data_spec import DataSpec, Filters, Question
from grasp_core.engine import part_raters, partitioned
from grasp_core.engine.compute import compute
from grasp_core.engine.pools.blocks import Progress
from grasp_core.engine.pools.pool import Pool
from grasp_core.engine.watching import Checkpoints, Watcher
from grasp_core.errors import DataError, RunCancelledError, SelfCheckError
from grasp_core.io.dataset.load import load
from grasp_core.io.parsing.read import read_table
from grasp_core.io.parts import scan
from grasp_core.io.parts.partitions import find_parts
from grasp_core.io.parts.survey import survey
from grasp_core.io.parts.workplace import workplace
from grasp_core.permutation import compiled
from grasp_core.recode_steps import Bins, Combine, MapValues
from grasp_core.remarks.cautions import Caution
from grasp_core.remarks.guards import GuardCaution
from grasp_core.remarks.reasons import NoValue
from grasp_core.result import RunResult
from grasp_core.spec import PAPER_CONVENTIONS, AnalysisSpec, RunSpec
from tests.engine.asking import ENDLESS, LONG_S, wait_until
from tests.engine.serving import ended, result, serving
from tests.io.parts.parts import frames, write
from tests.permutation.simulated import DATA_SPEC
from tests.serving import ROOT

AXES = (("gender",), ("race",), ("gender", "race"))
LABELS = ("label 2", "label 1", "label 0")
LONG = {"item": "item", "rater": "rater", "label": "label"}
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
        self,
        pool: Pool,
        *,
        n_parts: int = 3,
        source: str = "",
        watcher: Watcher | None = None,
        checkpoints: Checkpoints | None = None,
        **analysis,
    ) -> RunResult:
        folder = write(source or self.folder / f"in-{n_parts}" / "votes", self.votes, n_parts)
        spec = self.spec(**analysis)
        parts = find_parts(folder, part_rows=1)
        assert len(parts.parts) == n_parts
        with workplace() as place:
            data = survey(parts, self.raters, self.data, spec.analysis.columns, pool.each, place)
            return compute(data, spec, pool, watcher or Watcher(), checkpoints)


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


@pytest.mark.parametrize("room", [part_raters.ROOM, 0])
def test_label_use_is_added_up_by_rater_or_by_part(
    tmp_path: Path, threads: Pool, monkeypatch: pytest.MonkeyPatch, room: int
) -> None:
    case = Case(tmp_path, *frames(1, items=100, raters=6000, missing=0.996))
    monkeypatch.setattr(part_raters, "ROOM", room)
    asked, of_all = list[str](), part_raters.of_all
    monkeypatch.setattr(part_raters, "of_all", lambda *where: asked.append("") or of_all(*where))
    found, right = case.in_parts(threads, n_parts=5), case.in_memory(threads)
    assert bool(asked) == bool(room)
    for mine, theirs in zip(found.groups, right.groups, strict=True):
        assert mine.label_use.p == theirs.label_use.p
        for label, outcome in theirs.label_use.labels.items():
            other = mine.label_use.labels[label]
            assert (other.value, other.p) == (pytest.approx(outcome.value, rel=1e-12, abs=1e-12), outcome.p)


def test_the_same_files_are_the_same_data(case: Case, threads: Pool) -> None:
    found, right = case.in_parts(threads), case.in_memory(threads)
    assert found.data == right.data
    assert said(found) == said(right)
    assert Caution.NOT_SCREENED_IN_PARTS() in found.warnings
    assert found.assignment == right.assignment
    assert found.spec == right.spec


def test_groups_that_rated_more_are_told_and_not_tested_by_shuffling(tmp_path: Path, threads: Pool) -> None:
    votes, raters = frames(2, items=80, raters=40, missing=0.1)
    kind = votes["rater"].map(raters.set_index("rater")["gender"])
    votes = votes[(kind == kind.min()) | (np.random.default_rng(1).random(len(votes)) < 0.25)]
    busy = Case(tmp_path, votes, raters)
    found, right = (run(threads, axes=(("gender",),)) for run in (busy.in_parts, busy.in_memory))
    assert found.assignment == right.assignment
    assert found.assignment[0].own_workload
    assert found.warnings[0] == right.warnings[0]
    assert found.warnings[0].code is GuardCaution.OWN_WORKLOAD
    for row, beside in zip(found.groups, right.groups, strict=True):
        for name in ("negentropy", "plurality_size"):
            assert row.statistics[name].reason == beside.statistics[name].reason == NoValue.OTHER_ITEMS()
        assert row.statistics["irr"].p == beside.statistics["irr"].p
        assert row.label_use is not None
        assert (row.label_use.p, row.label_use.reason) == (None, NoValue.LEAVING_OUT_IN_PARTS())


@pytest.mark.parametrize(
    "analysis",
    [
        {"ties": "random", "strata": ("region",)},
        dict(PAPER_CONVENTIONS),
        {"correction": "max-t", "gai": ("negentropy", "voting_agreement")},
        {"min_raters": 4, "seed": 2**63 - 1},
        {"axes": (("gender",),), "strata": ("region", "workload")},
        {"axes": (("gender",),), "cluster": "race"},
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
    excluded = [warning for warning in right.warnings if str(warning).startswith("left out")]
    assert excluded
    assert set(excluded) <= set(found.warnings)


SORTS = {
    "several questions": {"further": (Question("second", ("x", "y", "z")),)},
    "labels recoded": {"recode": (MapValues(None, (("label 0", "label 1"), ("nowhere", "label 2"))),)},
    "numbers cut": {"recode": (Bins("age", (30.0, 50.0), ("young", "middle", "old")),)},
    "questions combined": {"label": "worst", "recode": (Combine(("label", "more"), LABELS, "worst"),)},
    "left out by value": {"filters": Filters(drop=(("second", "x"), ("second", "nothing")))},
    "left out by id": {"filters": Filters(raters=("r1", "nobody"), items=("i3", "i4", "nothing"))},
    "left out by time": {"filters": Filters(time="seconds", min_time=3)},
    "too few of an item": {"filters": Filters(min_per_item=17)},
    "excluded": {"exclude": (("region", "S"), ("region", "W"))},
    "the last answer": {"repeated": "last", "order": "seconds"},
}


def said(result: RunResult) -> list[str]:
    """Warnings but for those that name a row, and with it the file, and what holds of data in parts alone."""
    warnings = [str(one) for one in result.warnings if one != Caution.NOT_SCREENED_IN_PARTS()]
    return [one for one in warnings if "label is missing" not in one and "an earlier one" not in one]


@pytest.mark.parametrize("fields", SORTS.values(), ids=SORTS)
def test_every_sort_of_data(tmp_path: Path, threads: Pool, fields: dict) -> None:
    """In parts the same is found, left out, accounted for and said as of the folder read whole."""
    rng = np.random.default_rng(7)
    votes, raters = frames(6, **SHAPE)
    votes["second"] = rng.choice(["x", "y", "z", ""], len(votes))
    votes["more"] = rng.choice(LABELS, len(votes))
    votes["seconds"] = rng.integers(1, 30, len(votes)).astype(str)
    if "repeated" in fields:
        again = votes.iloc[::5].assign(label="label 2", seconds="40")
        votes = pd.concat([votes, again]).sort_values("item", kind="stable")
    raters["age"] = rng.integers(18, 70, len(raters)).astype(str)
    case = Case(tmp_path, votes, raters, DataSpec(**{**LONG, **fields}))
    axes = (("age",), ("gender",)) if "age" in str(fields) else AXES
    found, right = case.in_parts(threads, axes=axes), case.in_memory(threads, axes=axes)
    same(found, right)
    assert found.data == right.data
    assert found.spec == right.spec
    assert said(found) == said(right)


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
    monkeypatch.setattr(partitioned, "TOGETHER", 1)
    monkeypatch.setattr(partitioned, "FEWEST_BATCH", 1)
    assert digits(case.in_parts(threads, permutations=30)) == right


def test_spawned_processes_give_the_same_bits(case: Case, threads: Pool, processes: Pool) -> None:
    assert digits(case.in_parts(processes)) == digits(case.in_parts(threads))


@pytest.mark.parametrize("address", ["memory", "file"])
def test_an_address(case: Case, threads: Pool, tmp_path: Path, address: str) -> None:
    """In threads: the memory file system lives in one process."""
    place = f"memory://{uuid.uuid4().hex}/votes" if address == "memory" else f"file://{tmp_path}/there/votes"
    assert digits(case.in_parts(threads, source=place)) == digits(case.in_parts(threads))


def test_an_object_stores_files_are_fetched_once(
    case: Case, threads: Pool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """For the survey; before it their footers are read, and the first rows of the first one."""
    store, opened = type(fsspec.filesystem("memory")), list[str]()

    def counted(files, path: str, *more, real=store.open, **named):
        opened.append(path.rpartition("/")[2])
        return real(files, path, *more, **named)

    address = f"memory://{uuid.uuid4().hex}/votes"
    write(address, case.votes, 3)
    parts = find_parts(address, 1)
    monkeypatch.setattr(store, "open", counted)
    spec = case.spec()
    with workplace() as place:
        data = survey(parts, case.raters, DATA_SPEC, spec.analysis.columns, threads.each, place)
        compute(data, spec, threads, Watcher())
    assert sorted(opened) == ["part-0.parquet", *(f"part-{number}.parquet" for number in range(3))]


def test_what_workers_share_may_lie_at_an_address(case: Case, threads: Pool) -> None:
    right = digits(case.in_parts(threads))
    spec, scratch = case.spec(), f"memory://{uuid.uuid4().hex}"
    parts = find_parts(str(case.folder / "in-3" / "votes"), 1)
    with workplace(scratch) as place:
        data = survey(parts, case.raters, DATA_SPEC, spec.analysis.columns, threads.each, place)
        assert digits(compute(data, spec, threads, Watcher())) == right
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


class Interrupted(Watcher, Checkpoints):
    """Begins with the blocks that an earlier attempt computed, and may be cancelled after a few."""

    def __init__(self, before: list[tuple[int, FloatArray]], most: int) -> None:
        self.before, self.most = before, most
        self.blocks: list[tuple[int, FloatArray]] = []

    def computed_before(self, width: int) -> list[tuple[int, FloatArray]]:
        assert all(values.shape[1] == width for _, values in self.before)
        return self.before

    def computed(self, start: int, values: FloatArray) -> None:
        self.blocks.append((start, values.copy()))

    def check(self, progress: Progress) -> None:
        if len(self.blocks) >= self.most:
            raise RunCancelledError


def test_a_run_is_resumed_where_it_ended(case: Case, threads: Pool, monkeypatch: pytest.MonkeyPatch) -> None:
    right = digits(case.in_parts(threads))
    monkeypatch.setattr(partitioned, "BATCH_BYTES", 40 * len(right["groups"]) * 8 * 26)
    first = Interrupted([], 3)
    with pytest.raises(RunCancelledError):
        case.in_parts(threads, watcher=first, checkpoints=first)
    assert [len(values) for _, values in first.blocks] == [40, 40, 40]
    second = Interrupted(first.blocks, 100)
    assert digits(case.in_parts(threads, watcher=second, checkpoints=second)) == right
    computed = [np.arange(start, start + len(values)) for start, values in (*first.blocks, *second.blocks)]
    assert sorted(np.concatenate(computed)) == list(range(200))


class Noted(Scratch):
    """Notes the sizes of the blocks that are computed."""

    def __init__(self, folder: str, key: str) -> None:
        super().__init__(folder, key)
        self.sizes: list[int] = []

    def computed(self, start: int, values: FloatArray) -> None:
        self.sizes.append(len(values))
        super().computed(start, values)


class After(Watcher):
    """Cancels after a few blocks."""

    def __init__(self, noted: Noted, most: int) -> None:
        self.noted, self.most = noted, most

    def check(self, progress: Progress) -> None:
        if len(self.noted.sizes) >= self.most:
            raise RunCancelledError


@pytest.mark.parametrize("place", ["folder", "address"])
@pytest.mark.parametrize(
    "analysis", [{}, {"adaptive": True, "permutations": 50_000}], ids=["fixed", "adaptive"]
)
def test_what_a_scratch_folder_keeps_is_gone_on_from(
    case: Case, threads: Pool, monkeypatch: pytest.MonkeyPatch, place: str, analysis: dict
) -> None:
    right = digits(case.in_parts(threads, **analysis))
    per_block = 40 if not analysis else 4_000
    monkeypatch.setattr(partitioned, "BATCH_BYTES", per_block * len(right["groups"]) * 8 * 23)
    scratch = f"memory://{uuid.uuid4().hex}" if place == "address" else str(case.folder / "scratch")
    fsspec.core.url_to_fs(scratch)[0].makedirs(scratch)
    first, second = Noted(scratch, "key"), Noted(scratch, "key")
    with pytest.raises(RunCancelledError):
        case.in_parts(threads, watcher=After(first, 3), checkpoints=first, **analysis)
    assert digits(case.in_parts(threads, checkpoints=second, **analysis)) == right
    stopping = right.get("stopping")
    assert sum(first.sizes + second.sizes) == (200 if stopping is None else stopping["permutations"])
    another = Scratch(scratch, "another")
    assert (another.counted_before(), another.computed_before(kept_width(right))) == (None, [])
    second.forget()
    assert fsspec.core.url_to_fs(scratch)[0].find(scratch) == []


def test_a_server_computes_and_cancels_a_run_in_parts(case: Case, threads: Pool, tmp_path: Path) -> None:
    right = digits(case.in_parts(threads))
    parts = find_parts(str(case.folder / "in-3" / "votes"), 1)
    with serving(URL.create("sqlite", database=str(tmp_path / "grasp.db"))) as service, workplace() as place:
        columns = case.spec().analysis.columns
        data = survey(parts, case.raters, DATA_SPEC, columns, service.pool.each, place)
        record, _ = service.submit(data, case.spec(), title="In parts", reach=EVERYTHING)
        assert digits(result(service, record)) == right
        record, _ = service.submit(data, case.spec(permutations=ENDLESS), title="For ever", reach=EVERYTHING)
        wait_until(lambda: service.progress(record).done > 0)
        service.cancel(record.id)
        assert ended(service, record).state == "cancelled"


@pytest.mark.parametrize("changed", [False, True])
def test_a_server_takes_a_run_in_parts_up_again_after_a_restart(
    case: Case, threads: Pool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, changed: bool
) -> None:
    """In the same parts, which are not those that the folder would be cut into otherwise."""
    right = digits(case.in_parts(threads))
    folder, url = case.folder / "in-3" / "votes", URL.create("sqlite", database=str(tmp_path / "grasp.db"))
    with serving(url, started=False) as service, workplace() as place:
        service.files.put((case.folder / "raters.csv").read_bytes(), owner="")
        columns = case.spec().analysis.columns
        parts = find_parts(str(folder), 1)
        data = survey(parts, case.raters, DATA_SPEC, columns, threads.each, place)
        record, _ = service.submit(data, case.spec(), title="In parts", reach=EVERYTHING)
        with pytest.raises(DataError, match="votes is read part by part, never as a whole"):
            service.inputs.table("votes", data.summary.files[0].sha256, reach=EVERYTHING)
    if changed:
        write(folder, case.votes.assign(label="label 1"), 3)
    read: list[int] = []
    monkeypatch.setattr(
        scan, "read_part", lambda *given, real=scan.read_part: read.append(given[1].rows) or real(*given)
    )
    with serving(url) as service:
        if changed:
            assert "votes has changed since" in str(ended(service, record).error)
            return
        assert digits(result(service, record)) == right
    assert len(read) == 3


def kept_width(result: dict) -> int:
    return 6 * len(result["groups"])


@pytest.mark.parametrize("kept", [True, False])
def test_a_file_that_changes_meanwhile_is_refused_or_not_read_again(
    case: Case, threads: Pool, kept: bool
) -> None:
    right = digits(case.in_parts(threads))
    spec, columns = case.spec(), case.spec().analysis.columns
    folder = case.folder / "in-3" / "votes"
    with workplace() as place:
        parts = find_parts(str(folder), 1)
        data = survey(parts, case.raters, DATA_SPEC, columns, threads.each, place)
        for codes in () if kept else Path(place).glob("*.codes"):
            codes.unlink()
        write(folder, case.votes.iloc[5:], 3)
        if kept:
            assert digits(compute(data, spec, threads, Watcher())) == right
            return
        with pytest.raises(DataError, match=r"votes/part-0\.parquet has changed while it was analysed"):
            compute(data, spec, threads, Watcher())


def test_each_part_is_checked_against_independent_software(
    case: Case, threads: Pool, monkeypatch: pytest.MonkeyPatch
) -> None:
    right = compiled.observed_sums
    monkeypatch.setattr(compiled, "observed_sums", lambda design: right(design) * np.float64(1.001))
    with pytest.raises(SelfCheckError, match="krippendorff"):
        case.in_parts(threads)


NEVER_ENDS = """
import signal, sys, threading
from grasp_core import __main__
from grasp_core.engine import partitioned

def wait(task):
    sys.stdout.write("begun\\n")
    sys.stdout.flush()
    threading.Event().wait()

partitioned.permute_part = wait
signal.signal(signal.SIGINT, signal.default_int_handler)  # a shell may have it ignored
sys.exit(__main__.main())
"""


@pytest.mark.long
def test_a_cancelled_command_does_not_wait_for_what_has_begun(case: Case) -> None:
    """Whoever presses Ctrl-C: a piece of work that never ends does not keep the command."""
    write(case.folder / "votes", case.votes, 2)
    files = ["--annotations", "votes", "--raters", "raters.csv", "--in-parts", "--scratch", "scratch"]
    columns = ["--item", "item", "--rater", "rater", "--label", "label", "--axis", "gender"]
    command = subprocess.Popen(
        [sys.executable, "-c", NEVER_ENDS, "run", *files, *columns, "--engine", "local", "--workers", "1"],
        cwd=case.folder,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    assert command.stdout is not None
    assert "begun\n" in iter(command.stdout.readline, "")
    command.send_signal(signal.SIGINT)
    _, said = command.communicate(timeout=LONG_S)
    assert command.returncode == cli.INTERRUPTED
    assert said.endswith("grasp: cancelled\n")
    assert list((case.folder / "scratch").iterdir()) == []
