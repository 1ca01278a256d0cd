"""One bar for one wait: how far a run is over all its stages, and how long the rest takes."""

import json
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

from grasp_core.engine.pools.schedule import Progress
from grasp_core.engine.time_left import (
    GIVEN,
    GROUPS,
    LONG_SECONDS,
    PAIRS,
    SLICES,
    VERDICTS,
    Course,
    OnCourse,
    Stage,
    default_seconds,
    models_seconds,
)
from grasp_core.engine.watching import Watcher
from grasp_core.model.annotations import Axis, Raters
from grasp_core.model.example import example_spec
from grasp_core.model.spec import AnalysisSpec, RunSpec
from grasp_core.reading.dataset.load import load
from grasp_core.reading.sandbox.read import read_table
from tests.computing import Noted, compute_in_threads
from tests.few_items import few_items
from tests.results import make_result

RECORDED = Path(__file__).with_name("data") / "progress.json"
"""Progress of runs on an idle machine of two cores, as `Recording` below notes it."""


class Clock:
    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        return self.now


def test_one_bar_fills_once_over_all_stages() -> None:
    clock, noted = Clock(), Noted()
    course = Course(
        [Stage(GROUPS, ((1.0, 0.0),)), Stage(PAIRS, ((2.0, 0.0),) * 2), Stage(SLICES, ((5.0, 0.0),))], clock
    )
    said = []
    for name in (GROUPS, VERDICTS, PAIRS, PAIRS, SLICES):
        part = OnCourse(noted, course, name)
        for done in (0, 50, 100):
            clock.now += 1
            part.check(Progress(done, 100, (100 - done) / 50))
        said.append(noted.seen[-1].stages)
    shares = [one.share for one in noted.seen]
    assert shares == sorted(shares)
    assert shares[-1] == 1.0
    assert shares[3:6] == [0.1] * 3  # verdicts belong to the groups
    assert said == [
        "Groups · Pairs · Slices",
        "Groups · Pairs · Slices",
        "Groups done · Pairs 1 of 2 · Slices",
        "Groups done · Pairs 2 of 2 · Slices",
        "Groups done · Pairs done · Slices",
    ]


def test_the_time_left_is_for_all_that_remains() -> None:
    clock, noted = Clock(), Noted()
    course = Course([Stage(GROUPS, ((3.0, 0.0),)), Stage(PAIRS, ((6.0, 3.0),))], clock)
    groups = OnCourse(noted, course, GROUPS)
    groups.check(Progress(0, 100, None))
    clock.now = 7.0  # until then, something was compiled once
    groups.check(Progress(10, 100, 2.0))
    clock.now = 7.4
    groups.check(Progress(20, 100, 2.0))
    assert noted.seen[-1].seconds_left is None  # too early to tell
    clock.now = 9.0  # four thirds of the expected time
    groups.check(Progress(60, 100, 2.0))
    assert noted.seen[-1].seconds_left == pytest.approx(10.2 * 4 / 3)
    clock.now = 16.0
    pairs = OnCourse(noted, course, PAIRS)
    pairs.check(Progress(0, 100, None))
    assert noted.seen[-1].seconds_left == pytest.approx(9 * 9 / 2.7)
    pairs.check(Progress(100, 100, 0.0))
    assert noted.seen[-1].seconds_left == pytest.approx(3 * 9 / 8.7)  # what follows permutations counts


def test_a_run_of_hours_tells_its_pace_after_seconds() -> None:
    clock, noted = Clock(), Noted()
    groups = OnCourse(
        noted, Course([Stage(GROUPS, ((1.0, 0.0),)), Stage(PAIRS, ((9.0, 0.0),))], clock), GROUPS
    )
    for clock.now, done in ((1.0, 0), (3.0, 1), (5.0, 2), (7.0, 3)):
        groups.check(Progress(done, 1000, None))
    assert [one.seconds_left for one in noted.seen] == [None, None, None, pytest.approx(4 * 9.997 / 0.002)]


def test_one_stage_says_nothing_of_stages() -> None:
    course = Course([Stage(GROUPS, ((1.0, 0.0),))])
    assert course.seen(Progress(5, 10, 1.0)) == Progress(5, 10, 1.0, share=0.5)


def test_what_is_found_meanwhile_is_told_as_of_its_stage() -> None:
    found = []

    class Finding(Watcher):
        def found(self, provisional):
            found.append(provisional.later)

    course = Course([Stage(GROUPS, ((1.0, 0.0),)), Stage(PAIRS, ((1.0, 0.0),))])
    OnCourse(Finding(), course, GROUPS).found(make_result())
    OnCourse(Finding(), course, PAIRS).found(make_result())
    assert found == [None, "pairs"]


def test_a_run_passes_all_stages_that_its_course_has() -> None:
    tables = [read_table(content, name) for name, content in few_items().items()]
    axes = (("rater_gender",), ("rater_age",), ("rater_race",))
    asked = AnalysisSpec(axes=axes, permutations=300, pairs=True, given=("rater_age",))
    spec = RunSpec(example_spec().data, asked)
    noted = Noted()
    compute_in_threads(load(*tables, spec.data), spec, noted)
    stages = list(dict.fromkeys(one.stages for one in noted.seen if one.stages))
    assert stages[0] == "Groups · Pairs · Given"
    assert stages[-1] == "Groups done · Pairs done · Given"
    assert "Groups done · Pairs 2 of 3 · Given" in stages
    assert {one.of for one in noted.seen} - {VERDICTS} == {None, PAIRS, GIVEN}
    shares = [one.share for one in noted.seen if one.share is not None]
    assert shares == sorted(shares)


@pytest.mark.parametrize("name", ["example", "dices350"])
def test_after_the_first_third_the_time_left_is_right_within_a_fifth(name: str) -> None:
    recorded = json.loads(RECORDED.read_text(encoding="utf-8"))[name]
    clock, noted = Clock(), Noted()
    stages = [Stage(one["name"], tuple(map(tuple, one["parts"]))) for one in recorded["stages"]]
    course, whole = Course(stages, clock), recorded["seconds"]
    part = None
    for event in recorded["events"]:
        if event["part"]:
            part = OnCourse(noted, course, event["of"])
            continue
        clock.now = event["at"]
        part.check(Progress(event["done"], event["total"], event["left"]))
        left = noted.seen[-1].seconds_left
        if clock.now > whole / 3 and left is not None:
            assert abs(left - (whole - clock.now)) < 0.2 * whole, event


def shaped(items: int, raters: int, annotations: int, labels: int, sizes: dict[str, int]) -> SimpleNamespace:
    """What a data set of this shape says of itself; each axis's values are equally frequent."""
    axes = {
        name: Axis.from_values([str(value) for value in np.arange(raters) * 7919 % size])
        for name, size in sizes.items()
    }
    summary = SimpleNamespace(items=items, raters=raters, annotations=annotations, categories=("a",) * labels)
    return SimpleNamespace(
        summary=summary,
        raters=Raters([str(j) for j in range(raters)], axes),
        questions=(None,),
        attributes={"topic": Axis(("news", "sport"), np.arange(items) % 3 - 1)},
    )


DICES = {"age": 3, "gender": 2, "race": 5}
D3 = {"gender": 3, "age": 3, "region": 8, "country": 21, "ses": 5}


# Measured on two cores of the machine of docs/scaling.md: 0.21 s; 9.5 s with 2 labels and 21.5 s with 5.
@pytest.mark.parametrize(
    ("data", "axes", "measured", "factor"),
    [
        (shaped(350, 104, 36_400, 3, DICES), [*((name,) for name in DICES), ("race", "gender")], 0.21, 3),
        (shaped(4554, 4309, 150_702, 2, D3), [*((name,) for name in D3), ("region", "gender")], 9.5, 4.5),
        (shaped(4554, 4309, 150_702, 5, D3), [*((name,) for name in D3), ("region", "gender")], 21.5, 2),
    ],
)
def test_it_is_near_what_was_measured(data, axes, measured: float, factor: float) -> None:
    found = default_seconds(data, axes, 2)
    assert measured / factor < found < measured * factor
    assert (found > LONG_SECONDS) == (data.summary.items > 1000)


# Processor time of a permutation, times 10,000, on two cores.
@pytest.mark.parametrize(
    ("data", "models", "measured"),
    [
        (shaped(350, 104, 36_400, 3, DICES), 1, 0.26),
        (shaped(4554, 4309, 150_702, 2, D3), 1, 17.2),
        (shaped(4554, 4309, 150_702, 5, D3), 5, 38.6),
    ],
)
def test_models_are_near_what_was_measured(data, models: int, measured: float) -> None:
    axes = [*((name,) for name in data.raters.axes)]
    axes.append(axes[0] + axes[2])
    assert measured / 2 < models_seconds(data, models, axes, 2) < measured * 2


def test_seconds_are_of_what_is_shown_and_of_slices() -> None:
    data = shaped(4554, 60, 100_000, 5, {"name": 40})
    assert default_seconds(data, [("name",)], 3) < default_seconds(data, [("name",)], 1)
    data = shaped(4554, 4309, 150_702, 5, D3)
    whole = default_seconds(data, [("gender",)], 2)
    assert default_seconds(data, [("gender",)], 2, ["topic"]) == pytest.approx(whole * (1 + 2 / 3), rel=1e-3)
