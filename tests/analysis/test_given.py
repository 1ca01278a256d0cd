"""One axis given another: the numbers of a run within its values, and which of two the data speak for."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from scipy.stats import chi2_contingency

from benchmarks.planted import dataset, independent_shares, labelled, own_view, run_spec
from grasp_core.analysis.overview import associations, overlaps
from grasp_core.model.annotations import Axis, Raters
from grasp_core.model.errors import SpecError
from grasp_core.model.outcome import FEWEST_CLEAR
from grasp_core.model.result import RunResult
from grasp_core.reading.dataset.load import Dataset
from grasp_core.report.given import given_sentences, given_table, not_yet_given
from grasp_core.report.public_view import public_view
from grasp_core.report.quality import overlap_table
from grasp_core.statistics.association import chance_of
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


SETS = 200
VALUES = (2, 3, 4, 5)


def raters_of(columns: dict[str, list[str]]) -> Raters:
    n = len(next(iter(columns.values())))
    axes = {name: Axis.from_values(values) for name, values in columns.items()}
    return Raters(tuple(f"r{j}" for j in range(n)), axes)


def independent(seed: int, n: int) -> Raters:
    rng = np.random.default_rng(seed)
    return raters_of({f"axis {k}": [str(v) for v in rng.integers(k, size=n)] for k in VALUES})


@pytest.mark.long
@pytest.mark.parametrize("n", [20, 104])
def test_independent_axes_are_told_in_at_most_6_percent_of_data_sets(n: int) -> None:
    told = [associations(one, tuple(one.axes)) for one in (independent(seed, n) for seed in range(SETS))]
    assert np.mean([bool(found) for found in told]) <= 0.06
    by_size = [[row.p is not None for row in overlaps(independent(seed, n))] for seed in range(SETS)]
    assert np.mean([any(found) for found in by_size]) > 0.1  # what V alone would tell


def test_axes_that_go_together_are_told() -> None:
    first = ["a"] * 52 + ["b"] * 52
    second = ["x"] * 40 + ["y"] * 12 + ["x"] * 14 + ["y"] * 38
    raters = raters_of({"first": first, "second": second, "third": ["l", "r"] * 52})
    (found,) = associations(raters, tuple(raters.axes))
    assert (found.first, found.second) == ("first", "second")
    assert found.p is not None
    assert found.p < 0.001 * 3
    assert overlap_table(overlaps(raters))["verdict"].tolist() == ["go together", "", ""]


def test_p_is_that_of_chi_square_where_raters_are_many() -> None:
    table = np.array([[60, 50, 45], [40, 55, 50]])
    assert chance_of(table) == pytest.approx(chi2_contingency(table).pvalue, abs=0.015)
