"""Results as pandas users expect them: long frames of numbers, short reprs, equality, defaults."""

from __future__ import annotations

import builtins
import inspect
import json
import pickle

import numpy as np
import pandas as pd
import polars as pl
import pytest

import grasp_core as grasp
from grasp_core.model.text import for_python
from grasp_core.report.tidy import table_csv


@pytest.fixture(scope="module")
def frames() -> tuple[pd.DataFrame, pd.DataFrame]:
    return grasp.load_example()


def analysed(frames: tuple[pd.DataFrame, pd.DataFrame], **options: object) -> grasp.Analysis:
    annotations, raters = frames
    asked = {"axes": ["rater_gender", ("rater_race", "rater_gender")], "permutations": 200, "pairs": True}
    return grasp.analyse(annotations, raters, progress=False, **(asked | options))


@pytest.fixture(scope="module")
def result(frames: tuple[pd.DataFrame, pd.DataFrame]) -> grasp.Analysis:
    return analysed(frames)


def test_every_number_of_a_result_is_a_row_that_joins_the_raters(result: grasp.Analysis, frames) -> None:
    table = result.tidy()
    row = table.query("statistic == 'gai' and rater_race == 'Black' and rater_gender == 'Woman'").iloc[0]
    found = next(one for one in result.result.groups if one.group.values == ("Black", "Woman"))
    gai = found.statistics["gai"]
    numbers = (gai.value, gai.interval.low, gai.interval.high, gai.null_median, gai.p, gai.q)
    assert tuple(row[["value", "low", "high", "null_median", "p", "q"]]) == numbers
    assert (row["unit"], row["mark"], row["raters"]) == ("ratio", gai.significance, found.n_raters)
    names = {"value", "low", "high", "null_median", "p", "q"}
    assert names <= set(table.select_dtypes("float64"))
    lines = table_csv(result.result).splitlines()
    assert len(lines) == 1 + len(table) + len(result.pairs())
    of_gender = result.tidy().query("axis == 'gender' and statistic == 'irr'")
    joined = frames[1].merge(of_gender, on="rater_gender")
    assert len(joined) == len(frames[1])
    sizes = dict(zip(of_gender["rater_gender"], of_gender["raters"], strict=True))
    assert dict(joined.groupby("rater_gender").size()) == sizes


def test_verdicts_and_pairs_are_frames(result: grasp.Analysis) -> None:
    table = result.findings()
    assert list(table["verdict"]) == [row.verdict.code for row in result.result.groups]
    assert list(table["q"].dropna()) == [
        row.verdict.q for row in result.result.groups if row.verdict.q is not None
    ]
    black = table.query("rater_race == 'Black' and rater_gender == 'Woman'").iloc[0]
    assert black["low"] < black["points"] < black["high"]
    assert json.loads(table.to_json(orient="records"))[0]["verdict"]
    pairs = result.pairs()
    assert str(pairs["value"].dtype) == "float64"
    of_gender = pairs.query("axis == 'gender' and statistic == 'distance'").iloc[0]
    assert {of_gender["rater_gender"], of_gender["other_rater_gender"]} == {"Man", "Woman"}


def test_a_result_and_tables_beside_it_show_themselves_shortly_and_hold_numbers(result) -> None:
    annotations, raters = grasp.load_example()
    others = [
        result.result,
        grasp.quality(annotations, raters, axes=["rater_gender"]),
        grasp.map_raters(annotations, raters, result=result),
        grasp.compare(result, result),
    ]
    for shown in map(repr, (result, *others)):
        assert len(shown.splitlines()) <= 10
        assert len(shown) < 2000
    annotations, raters = grasp.load_example()
    placed = grasp.map_raters(annotations, raters, result=result)
    assert {"explained", "by_chance", "p", "q"} <= set(placed.axes().select_dtypes("float64"))
    moved = grasp.compare(result, result).table()
    assert (moved["value_a"].dropna() == moved["value_b"].dropna()).all()
    tables = grasp.quality(annotations, raters, axes=["rater_gender", "rater_race"]).tables()
    assert tables["Overview"].set_index("what")["value"]["annotations"] == 36_400
    assert str(tables["Axes that go together"]["cramers_v"].dtype) == "float64"


def test_equal_results_are_equal_also_after_pickle_and_opened_and_hold_no_data(
    result, frames, tmp_path
) -> None:
    result.save(tmp_path / "result.json")
    opened = grasp.open(tmp_path / "result.json")
    assert isinstance(opened, grasp.Analysis)
    for again in (pickle.loads(pickle.dumps(result)), opened):
        assert again == result
        assert again.data is None  # nobody's answers go along with what was found
    with pytest.raises(grasp.SpecError, match="holds no data"):
        opened.null_distribution("gai", {"rater_gender": "Woman"})
    assert analysed(frames) == result
    assert analysed(frames, seed=2) != result


def test_the_shuffled_values_give_the_p(result: grasp.Analysis) -> None:
    woman = {"rater_gender": "Woman"}
    shuffled = result.null_distribution("gai", woman)
    row = result.tidy().query("axis == 'gender' and rater_gender == 'Woman' and statistic == 'gai'").iloc[0]
    assert shuffled.shape == (200,)
    assert np.sort(shuffled)[100] == row["null_median"]
    assert 2 * (1 + (shuffled >= row["value"]).sum()) / 201 == pytest.approx(row["p"])
    with pytest.raises(grasp.SpecError, match="statistic is one of irr"):
        result.null_distribution("kappa", woman)


def test_signatures_show_defaults() -> None:
    parameters = inspect.signature(grasp.analyse).parameters
    shown = {name: parameters[name].default for name in ("seed", "min_raters", "level", "guess", "item")}
    assert shown == {"seed": 1, "min_raters": 2, "level": "nominal", "guess": True, "item": None}
    assert ... not in [one.default for one in parameters.values()]
    assert not set(grasp.__all__) & set(dir(builtins))  # of a star import


def test_numbers_of_numpy_and_an_index_of_columns_are_taken(frames) -> None:
    asked = {"axes": frames[1].columns[2:3], "permutations": np.int64(100), "workers": -1}
    found = analysed(frames, **asked, seed=np.random.default_rng(7))
    assert found.spec.analysis.axes == (("rater_gender",),)
    assert found.spec.analysis.seed == int(np.random.default_rng(7).integers(2**32))
    seeds = {analysed(frames, permutations=100, seed=None).spec.analysis.seed for _ in range(2)}
    assert len(seeds) == 2


def test_lazy_frames_series_columns_that_are_numbers_and_cells_that_are_lists(
    frames: tuple[pd.DataFrame, pd.DataFrame],
) -> None:
    annotations, raters = frames
    asked = {"axes": ["rater_gender"], "permutations": 100, "progress": False}
    usual = grasp.analyse(annotations, raters, **asked)
    assert grasp.analyse(pl.from_pandas(annotations).lazy(), raters, **asked) == usual
    series = annotations.set_index(["item_id", "rater_id"])["label"]
    assert grasp.analyse(series, raters, **asked).result.groups == usual.result.groups
    numbered = annotations.rename(columns={"item_id": 0})
    found = grasp.analyse(numbered, raters, item=0, rater="rater_id", label="label", **asked)
    assert found.result.groups == usual.result.groups
    lists = [["No", label] if label != "No" else ["No"] for label in annotations["label"]]
    found = grasp.analyse(annotations.assign(label=lists), raters, label="label", **asked)
    assert found.result.data.categories == ("No", "No|Unsure", "No|Yes")


def test_without_guessing_nothing_is_recognised(frames: tuple[pd.DataFrame, pd.DataFrame]) -> None:
    with pytest.raises(grasp.SpecError, match="item"):
        analysed(frames, guess=False)
    named = {"item": "item_id", "rater": "rater_id", "label": "label"}
    assert analysed(frames, guess=False, **named).result.groups == analysed(frames).result.groups
    assert analysed(frames, axes=None, guess=False, **named).result.of_everybody
    for function in (grasp.quality, grasp.models, grasp.permutation_test):
        asked = {"statistic": len} if function is grasp.permutation_test else {}
        with pytest.raises(grasp.SpecError, match="item"):
            function(*frames, axes=["rater_gender"], guess=False, **asked)


@pytest.mark.parametrize(
    ("said", "to_python"),
    [
        ("on Data, under Leave out, or by --exclude age=18", "by exclude=[('age', '18')]"),
        ("on Analysis, or by --within and the column", "by strata= and the column"),
        ("cut them, under Recode values or with --bins age:20", "cut them, with recode=[grasp.Bins(...)] of"),
        ("(--categories, or “Labels, in order” on Data)", "(categories="),
    ],
)
def test_sentences_are_worded_for_python(said: str, to_python: str) -> None:
    assert for_python(said).startswith(to_python)


def test_no_error_names_an_option_of_the_command(frames: tuple[pd.DataFrame, pd.DataFrame]) -> None:
    twice = pd.concat([frames[0], frames[0].assign(label=frames[0]["label"].iloc[::-1].to_numpy())])
    with pytest.raises(grasp.DataError) as refused:
        analysed((twice, frames[1]))
    assert "--" not in str(refused.value)
    assert "repeated=" in str(refused.value)


def test_a_statistic_of_ones_own_is_tested(frames: tuple[pd.DataFrame, pd.DataFrame]) -> None:
    def yes(group: np.ndarray, others: np.ndarray) -> float:
        """By how much more often the group says the last label."""
        return float(group.sum(0)[-1] / group.sum() - others.sum(0)[-1] / others.sum())

    asked = {"axes": [("rater_race", "rater_gender")], "permutations": 150, "seed": 3, "progress": False}
    found = grasp.permutation_test(*frames, statistic=yes, **asked)
    table = found.table()
    black = table.query("rater_race == 'Black' and rater_gender == 'Woman'").iloc[0]
    g = list(table["group"]).index(black["group"])
    assert found.null_distribution.shape == (150, len(table))
    null = found.null_distribution[:, g]
    assert black["value"] > np.quantile(null, 0.95)
    assert black["null_median"] == np.sort(null)[75]
    assert "yes: " in found.answer()
    with pytest.raises(grasp.SpecError, match="the statistic gave no number for"):
        grasp.permutation_test(*frames, statistic=lambda group, others: "x", **{**asked, "permutations": 2})
