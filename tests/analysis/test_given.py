"""One axis given another: the numbers of a run within its values, and which of two the data speak for."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from benchmarks.planted import dataset, independent_shares, labelled, own_view, run_spec
from grasp_core.analysis.overview import associations
from grasp_core.model.errors import SpecError
from grasp_core.model.outcome import FEWEST_CLEAR
from grasp_core.model.result import RunResult
from grasp_core.reading.dataset.load import Dataset
from grasp_core.report.given import given_sentences, given_table, not_yet_given
from grasp_core.report.public_view import public_view
from tests.computing import compute_in_threads

RATERS, ITEMS = 60, 60


def of_race(seed: int, strength: float = 0.5) -> Dataset:
    """One race has a view of its own; age goes with race, three in four raters being on the same side."""
    rng = np.random.default_rng(seed)
    shares = independent_shares(rng, RATERS, ITEMS, 3)
    half = np.arange(RATERS) < RATERS // 2
    shares[half] = own_view(strength)(shares[half], rng)
    turned = np.arange(RATERS) % 4 == 0
    axes = {
        "race": ["one" if one else "other" for one in half],
        "age": ["old" if one else "young" for one in half ^ turned],
        "hand": ["left" if j % 2 else "right" for j in range(RATERS)],
    }
    return dataset(labelled(rng, shares, np.ones((RATERS, ITEMS), bool)), 3, axes)


def run(data: Dataset, **changes: object) -> RunResult:
    spec = run_spec(1, FEWEST_CLEAR)
    asked = {"axes": (("race",), ("age",), ("hand",)), **changes}
    found = compute_in_threads(data, replace(spec, analysis=replace(spec.analysis, **asked)))
    assert isinstance(found, RunResult)
    return found


@pytest.fixture(scope="module")
def result() -> RunResult:
    return run(of_race(3), given=("race", "age"))


def test_given_an_axis_is_the_run_within_its_values(result: RunResult) -> None:
    given = next(found for found in result.given if found.column == "race")
    within = run(of_race(3), axes=(("age",), ("hand",)), strata=("race",))
    bare = [[replace(row, verdict=None) for row in found.groups] for found in (given, within)]
    assert bare[0] == bare[1]
    tested = [
        [row.verdict and (row.verdict.p, row.verdict.q) for row in one.groups] for one in (given, within)
    ]
    assert tested[0] == tested[1]
    assert None not in tested[0]
    assert given.dsi == within.dsi
    assert {row.group.axes for row in given.groups} == {("age",), ("hand",)}


def test_the_data_speak_for_what_was_planted(result: RunResult) -> None:
    said = [sentence.plain for sentence in given_sentences(result)]
    assert "The data speak for race: its groups differ given age, but not the other way round." in said
    assert any(
        one.startswith("Given race, it no longer holds of old, young: race may stand behind it")
        for one in said
    )
    assert "Given age, it still holds of one, other." in said


def test_both_p_values_stand_side_by_side(result: RunResult) -> None:
    table = given_table(result, next(found for found in result.given if found.column == "race"))
    assert list(table["Group"]) == ["old (age)", "young (age)", "left (hand)", "right (hand)"]
    distance = table[["Distance: p", "Distance: p given race"]].iloc[0]
    assert distance.iloc[0].endswith("**")
    assert not distance.iloc[1].endswith("*")


def test_axes_that_go_together_are_told_until_both_are_given(result: RunResult) -> None:
    (pair,) = result.associations
    assert (pair.first, pair.second) == ("race", "age")
    assert 0.45 < pair.v < 0.55
    assert not not_yet_given(result)
    assert not_yet_given(replace(result, given=result.given[:1])) == (pair,)
    assert associations(of_race(1).raters, ("race", "hand")) == ()


def test_axes_given_which_nothing_is_left_are_refused_before_the_run() -> None:
    data = of_race(1)
    axes = {**data.raters.axes, "finer": data.raters.axes["race"]}
    data = replace(data, raters=replace(data.raters, axes=axes))
    with pytest.raises(SpecError, match="given finer nothing is left to shuffle for race: "):
        run(data, axes=(("race",),), given=("finer",))
    with pytest.raises(SpecError, match="given race nothing is left to test: "):
        run(data, axes=(("race",),), given=("race",))
    with pytest.raises(SpecError, match="within age already"):
        run(data, axes=(("race",),), given=("age",), strata=("age",))


def test_result_files_keep_it(result: RunResult) -> None:
    again = RunResult.from_dict(result.to_dict())
    assert again.given == result.given
    assert again.associations == result.associations


def test_strangers_see_no_small_groups_of_it(result: RunResult) -> None:
    least = replace(result.spec, analysis=replace(result.spec.analysis, min_raters=32))
    shown = public_view(replace(result, spec=least), small_groups=True)
    assert isinstance(shown, RunResult)
    assert all(not found.groups for found in shown.given)
