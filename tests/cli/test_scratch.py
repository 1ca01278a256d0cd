"""A run that was interrupted goes on from its scratch folder, to the same digits."""

from __future__ import annotations

import uuid
from pathlib import Path

import fsspec
import pytest

from grasp_core.cli.scratch import Scratch
from grasp_core.engine.compute import compute
from grasp_core.engine.pools import workers
from grasp_core.engine.pools.blocks import Progress
from grasp_core.engine.pools.pool import Pool
from grasp_core.engine.watching import Watcher
from grasp_core.model.annotations import FloatArray
from grasp_core.model.errors import RunCancelledError
from grasp_core.model.spec import AnalysisSpec, RunSpec
from tests.engine.asking import digits
from tests.permutation.simulated import DATA_SPEC, dataset


class Noted(Scratch):
    """Notes the blocks that are computed."""

    def __init__(self, folder: str, key: str) -> None:
        super().__init__(folder, key)
        self.starts: list[int] = []

    def computed(self, start: int, values: FloatArray) -> None:
        super().computed(start, values)
        self.starts.append(start)


class After(Watcher):
    """Cancels once a block is kept."""

    def __init__(self, noted: Noted) -> None:
        self.noted = noted

    def check(self, progress: Progress) -> None:
        if self.noted.starts:
            raise RunCancelledError


@pytest.mark.parametrize("place", ["folder", "address"])
@pytest.mark.parametrize("adaptive", [False, True], ids=["fixed", "adaptive"])
def test_what_a_scratch_folder_keeps_is_gone_on_from(tmp_path: Path, place: str, adaptive: bool) -> None:
    data = dataset(5, items=40, raters=30, missing=0.3)
    analysis = AnalysisSpec(axes=(("gender",),), permutations=20_000, adaptive=adaptive)
    spec, pool = RunSpec(DATA_SPEC, analysis), Pool(workers.threads, 1)
    scratch = f"memory://{uuid.uuid4().hex}" if place == "address" else str(tmp_path / "new" / "scratch")
    first, second = Noted(scratch, "key"), Noted(scratch, "key")
    try:
        right = digits(compute(data, spec, pool, Watcher()))
        with pytest.raises(RunCancelledError):
            compute(data, spec, pool, After(first), first)
        assert first.starts
        assert digits(compute(data, spec, pool, Watcher(), second)) == right
    finally:
        pool.close()
    assert not {*first.starts} & {*second.starts}
    assert Scratch(scratch, "another").counted_before() is None
    second.forget()
    assert fsspec.core.url_to_fs(scratch)[0].find(scratch) == []
