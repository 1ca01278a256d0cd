"""A part's codes, kept beside the workers' plan so that its file is read once."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

from grasp_core.annotations import Annotations
from grasp_core.errors import DataError
from grasp_core.io.parsing.read import read_table
from grasp_core.io.parts import codes as part_codes
from grasp_core.io.parts import plan as part_plan
from grasp_core.io.parts.partitions import find_parts
from grasp_core.io.parts.plan import PartPlan, workplace
from grasp_core.io.parts.survey import survey
from grasp_core.spec import AnalysisSpec, RunSpec
from tests.io.parts.parts import frames, write
from tests.permutation.simulated import DATA_SPEC

Survey = Callable[[bool], PartPlan]


@pytest.fixture
def surveyed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Survey:
    """Makes a plan in the folder `place`; the survey's codes are kept there if it is told to."""
    monkeypatch.chdir(tmp_path)
    annotations, raters = frames()
    write("votes", annotations, 2)
    Path("place").mkdir()
    raters.to_csv("raters.csv", index=False)

    def make(keep: bool) -> PartPlan:
        parts, raters = find_parts("votes", 1), read_table("raters.csv")
        found = survey(parts, raters, DATA_SPEC, ("gender",), map, "place", keep=keep)
        PartPlan.of(found, RunSpec(DATA_SPEC, AnalysisSpec(axes=(("gender",),)))).save()
        return PartPlan.load("place")

    return make


def same(answers: tuple[Annotations, ...], expected: tuple[Annotations, ...]) -> None:
    (found,), (right,) = answers, expected
    for name in ("indptr", "rater", "category"):
        np.testing.assert_array_equal(getattr(found, name), getattr(right, name))
        assert not getattr(found, name).flags.writeable
    assert (found.n_items, found.n_raters) == (right.n_items, right.n_raters)
    assert found.categories == right.categories


@pytest.mark.parametrize("kept", [True, False])
def test_a_part_is_read_once(surveyed: Survey, monkeypatch: pytest.MonkeyPatch, kept: bool) -> None:
    read = surveyed(False).annotations(1)
    Path("place/1-0.npz").unlink()
    plan = surveyed(kept)
    if not kept:
        plan.annotations(1)
    monkeypatch.setattr(part_plan, "read_part", None)  # called once more, it would fail
    same(plan.annotations(1), read)
    same(PartPlan.load("place").annotations(1), read)


def test_kept_codes_that_cannot_be_read_mean_reading_again(surveyed: Survey) -> None:
    right = surveyed(False).annotations(0)
    for content in (b"", b"ARROW1 and then nothing"):
        Path("place/0-0.npz").unlink()
        Path("place/0-0.codes").write_bytes(content)
        same(PartPlan.load("place").annotations(0), right)


def test_a_full_disk_means_reading_again(surveyed: Survey, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*_: object, **__: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(np, "savez", full)
    monkeypatch.setattr(part_codes.pa, "OSFile", full)
    plan = surveyed(True)
    same(plan.annotations(0), plan.annotations(0))
    assert [path.name for path in Path("place").iterdir()] == ["plan.arrow"]


def test_codes_leave_room_for_what_is_needed(surveyed: Survey, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(part_codes.shutil, "disk_usage", lambda _: SimpleNamespace(free=1000))
    surveyed(True).annotations(0)
    assert [path.name for path in Path("place").iterdir()] == ["plan.arrow"]


@pytest.mark.parametrize("scratch", [None, "new/scratch"])
def test_a_workplace_is_cleared(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, scratch: str | None) -> None:
    monkeypatch.chdir(tmp_path)
    places: list[Path] = []

    def fail() -> None:
        with workplace(scratch) as place:
            places.append(Path(place))
            (places[0] / "half-written").mkdir()
            (places[0] / "half-written" / "0.codes").write_bytes(b"x")
            raise DataError("something is wrong with the data")

    with pytest.raises(DataError, match="something is wrong with the data"):
        fail()
    assert places[0].is_absolute()
    assert not places[0].exists()
    assert scratch is None or places[0].parent == tmp_path / scratch


@pytest.mark.parametrize(
    ("scratch", "sentence"),
    [
        ("file", r"scratch folder .*file: (File exists|Not a directory); name another"),
        ("no-such-protocol://bucket", "scratch folder no-such-protocol://bucket cannot be read"),
    ],
)
def test_a_scratch_folder_that_cannot_be_used_is_refused_at_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, scratch: str, sentence: str
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("file").write_bytes(b"")
    with pytest.raises(DataError, match=sentence):
        workplace(scratch).__enter__()
