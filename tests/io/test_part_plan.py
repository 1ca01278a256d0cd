"""A part's codes, kept beside the workers' plan so that its file is read once."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from grasp_core.annotations import Annotations
from grasp_core.errors import DataError
from grasp_core.io import part_codes, part_plan
from grasp_core.io.part_plan import PartPlan, workplace
from grasp_core.io.partitions import find_parts
from grasp_core.io.survey import survey
from grasp_core.io.tables import read_table
from grasp_core.spec import AnalysisSpec, RunSpec
from tests.core.simulated import DATA_SPEC
from tests.io.parts import frames, write


@pytest.fixture
def surveyed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[str], PartPlan]:
    """A plan in the working folder; the survey's codes are kept beside the path that is given."""
    monkeypatch.chdir(tmp_path)
    annotations, raters = frames()
    write("votes", annotations, 2)
    raters.to_csv("raters.csv", index=False)

    def make(place: str) -> PartPlan:
        found = survey(find_parts("votes", 1), read_table("raters.csv"), DATA_SPEC, ("gender",), map, place)
        PartPlan.of(found, RunSpec(DATA_SPEC, AnalysisSpec(axes=(("gender",),)))).save("plan")
        return PartPlan.load("plan")

    return make


def same(found: Annotations, right: Annotations) -> None:
    for name in ("indptr", "rater", "category"):
        np.testing.assert_array_equal(getattr(found, name), getattr(right, name))
        assert not getattr(found, name).flags.writeable
    assert (found.n_items, found.n_raters) == (right.n_items, right.n_raters)
    assert found.categories == right.categories


@pytest.mark.parametrize("place", ["", "plan"])
def test_a_part_is_read_once(
    surveyed: Callable[[str], PartPlan], monkeypatch: pytest.MonkeyPatch, place: str
) -> None:
    read = surveyed("").annotations(1)
    PartPlan.remove("plan")
    plan = surveyed(place)
    if not place:
        plan.annotations(1)
    monkeypatch.setattr(part_plan, "read_part", None)  # called once more, it would fail
    same(plan.annotations(1), read)
    same(PartPlan.load("plan").annotations(1), read)


def test_nothing_is_left_behind(surveyed: Callable[[str], PartPlan]) -> None:
    plan = surveyed("plan")
    plan.annotations(0)
    kept = {path.name for path in Path().glob("plan.*")}
    assert kept == {"plan.0.npz", "plan.1.codes"}  # a part's codes go once they are formed
    PartPlan.remove("plan")
    assert {path.name for path in Path().iterdir()} == {"votes", "raters.csv"}


@pytest.mark.parametrize("scratch", [None, "scratch"])
def test_a_workplace_is_cleared(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, scratch: str | None) -> None:
    monkeypatch.chdir(tmp_path)
    Path("scratch").mkdir()
    places = []

    def fail() -> None:
        with workplace(scratch) as place:
            for name in (place, f"{place}.0.codes"):
                Path(name).write_bytes(b"x")
                places.append(Path(name))
            raise DataError("something is wrong with the data")

    with pytest.raises(DataError):
        fail()
    assert len(places) == 2
    assert not any(path.exists() for path in places)


def test_a_full_disk_means_reading_again(
    surveyed: Callable[[str], PartPlan], monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*_: object, **__: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(np, "savez", full)
    monkeypatch.setattr(part_codes.pa, "OSFile", full)
    plan = surveyed("plan")
    same(plan.annotations(0), plan.annotations(0))
    assert {path.name for path in Path().iterdir()} == {"plan", "votes", "raters.csv"}
