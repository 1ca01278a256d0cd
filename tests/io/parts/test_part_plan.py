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
from grasp_core.io.parts import plan as part_plan
from grasp_core.io.parts import workplace as workplace_module
from grasp_core.io.parts.partitions import find_parts
from grasp_core.io.parts.plan import PartPlan
from grasp_core.io.parts.survey import survey
from grasp_core.io.parts.workplace import workplace
from grasp_core.spec import AnalysisSpec, RunSpec
from tests.io.parts.parts import frames, write
from tests.permutation.simulated import DATA_SPEC

Survey = Callable[[], PartPlan]
NEEDED = ["0.raters", "1.raters", "plan.arrow"]


@pytest.fixture
def surveyed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Survey:
    """Makes a plan in the folder `place`, of two parts."""
    monkeypatch.chdir(tmp_path)
    annotations, raters = frames(missing=0.3)
    write("votes", annotations, 2)
    Path("place").mkdir()
    raters.to_csv("raters.csv", index=False)

    def make() -> PartPlan:
        parts, raters = find_parts("votes", 1), read_table("raters.csv")
        found = survey(parts, raters, DATA_SPEC, ("gender",), map, "place")
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


def test_a_part_is_read_once(surveyed: Survey, monkeypatch: pytest.MonkeyPatch) -> None:
    right = surveyed().annotations(1)
    Path("place/1-0.codes").unlink()
    plan = PartPlan.load("place")
    same(plan.annotations(1), right)  # read again, and kept
    monkeypatch.setattr(part_plan, "read_part", None)  # called once more, it would fail
    same(plan.annotations(1), right)
    same(PartPlan.load("place").annotations(1), right)


def test_kept_codes_that_cannot_be_read_mean_reading_again(surveyed: Survey) -> None:
    plan = surveyed()
    right = plan.annotations(0)
    for content in (b"", b"ARROW1 and then nothing"):
        Path("place/0-0.codes").unlink()  # what was read of it still lies in its memory
        Path("place/0-0.codes").write_bytes(content)
        same(plan.annotations(0), right)


def test_a_file_that_has_changed_is_not_read_again(surveyed: Survey) -> None:
    """Even where it has as many rows as before."""
    plan = surveyed()
    Path("place/0-0.codes").unlink()
    Path("votes/part-0.parquet").write_bytes(Path("votes/part-1.parquet").read_bytes())
    with pytest.raises(DataError, match=r"votes/part-0\.parquet has changed while it was analysed"):
        plan.annotations(0)


def test_a_full_disk_means_reading_again(surveyed: Survey, monkeypatch: pytest.MonkeyPatch) -> None:
    right, written = surveyed().annotations(0), workplace_module.write

    def full(place: str, name: str, content: object) -> None:
        if name.endswith(".codes"):
            raise OSError(28, "No space left on device")
        written(place, name, content)

    for codes in Path("place").glob("*.codes"):
        codes.unlink()
    monkeypatch.setattr(workplace_module, "write", full)
    same(surveyed().annotations(0), right)
    assert sorted(path.name for path in Path("place").iterdir()) == NEEDED


def test_codes_leave_room_for_what_is_needed(surveyed: Survey, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(workplace_module.shutil, "disk_usage", lambda _: SimpleNamespace(free=1000))
    surveyed().annotations(0)
    assert sorted(path.name for path in Path("place").iterdir()) == NEEDED


def test_what_is_needed_and_cannot_be_written_is_one_sentence(
    surveyed: Survey, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(workplace_module, "write", full)
    with pytest.raises(DataError, match="what the run's workers share cannot be"):
        surveyed()


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
