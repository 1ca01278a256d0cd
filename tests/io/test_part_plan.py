"""A part's codes, kept beside the workers' plan so that its file is read once."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from grasp_core.io import part_plan
from grasp_core.io.part_plan import PartPlan
from grasp_core.io.partitions import find_parts
from grasp_core.io.survey import survey
from grasp_core.io.tables import read_table
from grasp_core.spec import AnalysisSpec, RunSpec
from tests.core.simulated import DATA_SPEC
from tests.io.parts import frames, write


@pytest.fixture
def plan(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> PartPlan:
    monkeypatch.chdir(tmp_path)
    annotations, raters = frames()
    write("votes", annotations, 2)
    raters.to_csv("raters.csv", index=False)
    found = survey(find_parts("votes", 1), read_table("raters.csv"), DATA_SPEC, ("gender",), map)
    PartPlan.of(found, RunSpec(DATA_SPEC, AnalysisSpec(axes=(("gender",),)))).save("plan")
    return PartPlan.load("plan")


def test_a_part_is_read_once(plan: PartPlan, monkeypatch: pytest.MonkeyPatch) -> None:
    read = plan.annotations(1)
    monkeypatch.setattr(part_plan, "read_part", None)  # called once more, it would fail
    again = PartPlan.load("plan").annotations(1)
    for name in ("indptr", "rater", "category"):
        np.testing.assert_array_equal(getattr(again, name), getattr(read, name))
        assert not getattr(again, name).flags.writeable
    assert (again.n_items, again.n_raters, again.categories) == (read.n_items, read.n_raters, read.categories)


def test_nothing_is_left_behind(plan: PartPlan) -> None:
    before = {path.name for path in Path().iterdir()}
    plan.annotations(0)
    plan.annotations(1)
    assert {path.name for path in Path().iterdir()} - before == {"plan.0.npz", "plan.1.npz"}
    PartPlan.remove("plan")
    assert {path.name for path in Path().iterdir()} == before - {"plan"}


def test_a_full_disk_means_reading_again(plan: PartPlan, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*_: object, **__: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(np, "savez", full)
    first, second = plan.annotations(0), plan.annotations(0)
    np.testing.assert_array_equal(first.rater, second.rater)
    assert not list(Path().glob("*.npz"))
