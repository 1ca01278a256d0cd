"""What results give: frames, figures, words, files, a cell's HTML, as pandas users expect; what is beside."""

import builtins
import inspect
import json
import pickle
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import altair as alt
import numpy as np
import pandas as pd
import polars as pl
import pytest

import grasp_core as grasp
from grasp_core.model.text import for_python
from grasp_core.report.contents import LEVEL_COUNTS_FOR
from grasp_core.report.tidy import table_csv
from grasp_core.report.words.names import WORDS
from grasp_core.report.writers.registry import EXPORTS
from tests.notebook.asking import command, few

AXES = ["rater_gender", "rater_race"]


@pytest.fixture(scope="module")
def analysis() -> grasp.Analysis:
    votes, raters = few()
    votes = votes.assign(topic=votes["item_id"].str[-2])
    asked: Any = {"slices": ["topic"], "given": ["rater_race"], "permutations": 200, "progress": False}
    return grasp.analyse(votes, raters, axes=AXES, **asked)


def test_tables_hold_the_results_numbers_and_the_answer_a_headline_and_sentences(
    analysis: grasp.Analysis,
) -> None:
    table, result = analysis.table(), analysis.result
    assert len(table) == len(result.groups)
    for (_, row), group in zip(table.iterrows(), result.groups, strict=True):
        assert row["gai"] == group.statistics["gai"].value
        assert row["gai_q"] == group.statistics["gai"].q
    assert list(analysis.table(order="q", by="gai")["gai_q"]) == sorted(table["gai_q"])
    uses = [row.label_use for row in result.groups if row.label_use]
    labels = analysis.label_use()
    of_labels = labels[labels["label"] != "all labels"]
    assert list(of_labels["shift"]) == [s.value for use in uses for s in use.labels.values()]
    assert labels["q"].dropna().tolist() == [use.q for use in uses]
    for frame in (labels, analysis.tidy(), analysis.pairs(), analysis.slices(), analysis.given()):
        assert not (frame["q"] < frame["p"]).any()
        assert frame.loc[frame["label"].isin(uses[0].labels), ["p", "q"]].isna().all(axis=None)
    assert set(analysis.pairs()["group"]) | set(analysis.pairs()["other_group"]) == set(table["group"])
    assert sorted(analysis.dsi()["dsi"]) == sorted(row.outcome.value or 0 for row in result.dsi)
    headline, *details = analysis.answer().splitlines()
    assert headline
    assert details
    assert all(line.startswith("- ") for line in details)


@pytest.mark.parametrize(
    ("name", "of"),
    [
        ("forest", {}),
        ("forest", {"statistic": "irr", "order": "effect", "theme": "dark"}),
        ("forest", {"label": "Yes"}),
        ("histograms", {"statistic": "xrr"}),
        ("cohesion", {}),
        ("dsi", {}),
        ("label_use", {"group": {"rater_race": "Black"}}),
        ("group", {"group": {"rater_gender": "Man"}}),
        ("pairs", {"axis": "rater_race"}),
        ("pairs", {"axis": ("rater_race",), "label": "Yes"}),
        ("pairs", {"axis": "rater_gender", "statistic": "xrr"}),
        ("slices", {"group": {"rater_gender": "Man"}}),
        ("slices", {"column": "topic", "group": {"rater_gender": "Man"}, "label": "Yes"}),
    ],
)
def test_charts_are_altairs(analysis: grasp.Analysis, name: str, of: Any) -> None:
    chart = analysis.chart(name, **of)
    assert isinstance(chart, alt.LayerChart)
    assert chart.to_dict()["layer"]


@pytest.mark.parametrize(
    ("name", "of", "said"),
    [
        ("pie", {}, "there are 'forest'"),
        ("dsi", {"group": {"rater_gender": "Man"}}, "takes 'theme'; found 'group'"),
        ("label_use", {}, "name one group"),
        ("label_use", {"group": {"rater_gender": "Other"}}, "there are 'Man', 'Woman'"),
        ("forest", {"statistic": "mean"}, "a statistic is one of"),
        ("forest", {"label": "No idea"}, "the label is one of"),
        ("forest", {"order": "size"}, "the order is"),
        ("forest", {"theme": "blue"}, "the theme is"),
        ("pairs", {}, "the axis is one of"),
        ("pairs", {"axis": "rater_race", "label": "No idea"}, "label or statistic is one of"),
        ("slices", {"column": "text", "group": {"rater_gender": "Man"}}, "the column is one of"),
    ],
)
def test_figures_that_are_not_there_are_refused(analysis, name, of, said) -> None:
    with pytest.raises(grasp.SpecError, match=said):
        analysis.chart(name, **of)


@pytest.mark.parametrize("name", [name for name in EXPORTS if name != "html"])
def test_files_are_the_pages_own(analysis: grasp.Analysis, name: str, tmp_path: Path) -> None:
    export = EXPORTS[name]
    target = tmp_path / f"result.{export.extension}"
    analysis.save(target)
    assert target.read_bytes() == export.make(analysis.result)


@pytest.mark.parametrize(
    ("content", "said"),
    [(None, "does not exist"), ("{", "is not JSON"), ('{"format": "x"}', "not a GRASP result")],
)
def test_files_that_are_no_result_are_refused(content: str | None, said: str, tmp_path: Path) -> None:
    file = tmp_path / "result.json"
    if content is not None:
        file.write_text(content, "utf-8")
    with pytest.raises(grasp.DataError, match=said):
        grasp.open(file)


@pytest.mark.parametrize(
    ("place", "said"),
    [("result.docx", r"has to end in one of \.csv"), ("nowhere/result.csv", "cannot be written")],
)
def test_endings_and_places_that_cannot_be_written_are_refused(analysis, tmp_path, place, said) -> None:
    with pytest.raises(grasp.DataError, match=said):
        analysis.save(tmp_path / place)


class Tags(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.found: set[str] = set()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.found.add(tag)


def test_a_cells_html_holds_no_markup_of_the_data() -> None:
    votes, raters = few()
    votes["label"] = votes["label"].replace("Yes", "<script>alert(1)</script>")
    raters["rater_gender"] = raters["rater_gender"].replace("Man", "<img src=x onerror=alert(1)>")
    found = grasp.analyse(votes, raters, axes=["rater_gender"], permutations=100, progress=False)
    shown = found._repr_html_()
    tags = Tags()
    tags.feed(shown)
    assert "&lt;img" in shown
    assert tags.found <= {
        *("div", "p", "strong", "small", "ul", "li", "details", "summary"),
        *("table", "thead", "tbody", "tr", "th", "td"),
    }


def test_nothing_of_a_result_can_be_changed(analysis: grasp.Analysis) -> None:
    before = json.dumps(analysis.result.to_dict())
    table = analysis.table()
    table["gai"] = 0.0
    with pytest.raises(AttributeError):
        analysis.result = None  # type: ignore[misc, assignment]
    assert json.dumps(analysis.result.to_dict()) == before
    assert isinstance(analysis.table(), pd.DataFrame)
    assert not (analysis.table()["gai"] == 0.0).all()


# Beside a result
OPTIONS = ("--axis", "rater_gender", "--axis", "rater_race", "--permutations", "200")


@pytest.fixture(scope="module")
def plain() -> grasp.Analysis:
    votes, raters = few()
    return grasp.analyse(votes, raters, axes=AXES, permutations=200, progress=False)


def test_slices_and_axes_given_are_tables(analysis: grasp.Analysis, plain: grasp.Analysis) -> None:
    table = analysis.slices()
    assert set(table["slice"]) == {"topic"}
    assert {"gai", "label_use", "dsi"} <= set(table["statistic"])
    of_dsi = table[(table["statistic"] == "dsi") & table["low"].notna()]
    assert set(of_dsi["slice_value"]) <= set(table["slice_value"])
    assert (of_dsi["low"] <= of_dsi["value"]).sum() > 2
    given = analysis.given()
    assert set(given["given"]) == {"rater_race"}
    assert set(given["axis"]) == {"gender"}
    assert plain.slices().empty
    assert plain.given().empty


def test_items_are_those_of_the_command(tmp_path: Path, plain: grasp.Analysis) -> None:
    votes, raters = few()
    group = {"rater_gender": "Woman"}
    found = grasp.items(votes, raters, result=plain, group=group, progress=False)
    told = command(tmp_path, "items", votes, raters, *OPTIONS, "--group", "rater_gender=Woman")
    mine = found.result.to_dict()
    assert mine["items"] == told["items"]
    table = found.table()
    assert len(table) == len(told["items"])
    assert table["part"].abs().is_monotonic_decreasing
    assert "raters say" in found.answer()
    assert "raters say" in found._repr_html_()
    for name in ("a.json", "a.csv", "a.xlsx", "a.md"):
        found.save(tmp_path / name)
    with pytest.raises(grasp.SpecError, match="name one group"):
        grasp.items(votes, raters, result=plain, group={"rater_gender": "X"})
    half = votes[votes["item_id"] < "item-200"]
    other = grasp.items(half, raters, result=plain, group=group, progress=False)
    assert "other data" in other.notes[0]


def test_the_map_is_that_of_the_command(tmp_path: Path, plain: grasp.Analysis) -> None:
    votes, raters = few()
    found = grasp.map_raters(votes, raters, result=plain)
    found.save(tmp_path / "map.json")
    told = command(tmp_path, "rater-map", votes, raters, *OPTIONS)
    assert [axis["p"] for axis in told["map"]["axes"]] == [axis.p for axis in found.map.axes]
    assert found.axes()["axis"].tolist() == ["gender", "race"]
    assert len(found.groups()) == 7
    assert found.chart("rater_race").to_dict()
    assert "Explained" in found._repr_html_()
    with pytest.raises(grasp.SpecError, match="the axis is one of"):
        found.chart("rater_age")


# As pandas users expect: long frames of numbers, short reprs, equality, defaults
@pytest.fixture(scope="module")
def frames() -> tuple[pd.DataFrame, pd.DataFrame]:
    return few()


def analysed(frames: tuple[pd.DataFrame, pd.DataFrame], **options: object) -> grasp.Analysis:
    annotations, raters = frames
    asked = {"axes": ["rater_gender", ("rater_race", "rater_gender")], "permutations": 200, "pairs": False}
    return grasp.analyse(annotations, raters, progress=False, **(asked | options))


@pytest.fixture(scope="module")
def result(frames: tuple[pd.DataFrame, pd.DataFrame]) -> grasp.Analysis:
    return analysed(frames, pairs=True)


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
    quality = grasp.quality(annotations, raters, axes=["rater_gender", "rater_race"])
    placed, compared = grasp.map_raters(*few(), result=result), grasp.compare(result, result)
    for shown in map(repr, (result, result.result, quality, placed, compared)):
        assert len(shown.splitlines()) <= 10
        assert len(shown) < 2000
    assert {"explained", "by_chance", "p", "q"} <= set(placed.axes().select_dtypes("float64"))
    moved = compared.table()
    assert (moved["value_a"].dropna() == moved["value_b"].dropna()).all()
    tables = quality.tables()
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
    for of_data in (opened.agreement, opened.raters):
        with pytest.raises(grasp.SpecError, match="holds no data"):
            of_data()
    assert analysed(frames, pairs=True) == result
    assert analysed(frames) != analysed(frames, seed=2)


def test_agreement_of_all_raters_and_of_each_as_the_commands_tell_them(result: grasp.Analysis) -> None:
    alpha = result.agreement().iloc[0]
    assert alpha["coefficient"] == "Krippendorff's alpha"
    assert (alpha["value"], alpha["low"]) == (result.result.everybody.alpha, result.result.everybody.low)
    frame = result.raters()
    assert frame["differs"].sum() == sum(one.differs for one in result.result.everybody.raters)
    assert set(frame["rater"]) == set(result.data.annotations.rater_ids)
    items, labels = result.data.annotations.item_ids, result.data.annotations.categories
    with_gold = result.raters({items[0]: labels[0]})
    assert with_gold["gold_items"].max() == 1
    with pytest.raises(grasp.SpecError, match="gold: 'maybe' is no label of the data"):
        result.raters({items[0]: "maybe"})


def test_the_shuffled_values_give_the_p(result: grasp.Analysis) -> None:
    woman = {"rater_gender": "Woman"}
    shuffled = result.null_distribution("gai", woman)
    row = result.tidy().query("axis == 'gender' and rater_gender == 'Woman' and statistic == 'gai'").iloc[0]
    assert shuffled.shape == (200,)
    assert np.sort(shuffled)[100] == row["null_median"]
    assert 2 * (1 + (shuffled >= row["value"]).sum()) / 201 == pytest.approx(row["p"])
    with pytest.raises(grasp.SpecError, match="must be axis, effect or q"):
        result.table(order="p")
    with pytest.raises(grasp.SpecError, match="statistic is one of irr"):
        result.null_distribution("kappa", woman)


def test_signatures_show_defaults() -> None:
    parameters = inspect.signature(grasp.analyse).parameters
    shown = {name: parameters[name].default for name in ("seed", "min_raters", "level", "guess", "item")}
    assert shown == {"seed": 1, "min_raters": 2, "level": "nominal", "guess": True, "item": None}
    assert ... not in [one.default for one in parameters.values()]
    assert not set(grasp.__all__) & set(dir(builtins))  # of a star import
    assert dir(grasp.statistics) == sorted(grasp.statistics.__all__)  # what a notebook proposes


def test_numbers_of_numpy_and_an_index_of_columns_are_taken(frames) -> None:
    asked = {"axes": frames[1].columns[2:3], "permutations": np.int64(100), "workers": -1}
    found = analysed(frames, **asked, seed=np.random.default_rng(7))
    assert found.spec.analysis.axes == (("rater_gender",),)
    assert found.spec.analysis.seed == int(np.random.default_rng(7).integers(2**32))
    seeds = {analysed(frames, permutations=1, seed=None).spec.analysis.seed for _ in range(2)}
    assert len(seeds) == 2


def test_lazy_frames_series_columns_that_are_numbers_and_cells_that_are_lists(
    frames: tuple[pd.DataFrame, pd.DataFrame],
) -> None:
    annotations, raters = frames
    asked = {"axes": ["rater_gender"], "permutations": 100, "pairs": False, "progress": False}
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
        ("choose it on Analysis, or by --axis", "choose it by axes="),
        ("name it so: on Data, or by --missing None", "name it so: by missing=['None']"),
        ("on Data, or by --leave-out constant (screens, in Python and in specs)", "by screens=['constant']"),
        ("cut them, under Recode values or with --bins age:20", "cut them, with recode=[grasp.Bins(...)] of"),
        ("(on Data, under “Labels, in order”, or by --categories)", "(by categories=)"),
    ],
)
def test_sentences_are_worded_for_python(said: str, to_python: str) -> None:
    assert for_python(said).startswith(to_python)


def test_the_level_counts_for_what_its_sentence_names(frames: tuple[pd.DataFrame, pd.DataFrame]) -> None:
    asked = {"categories": ["No", "Unsure", "Yes"], "permutations": 20, "pairs": False}
    names, ordered = (
        {
            name: outcome.value
            for name, outcome in analysed(frames, level=level, **asked).result.groups[0].statistics.items()
        }
        for level in ("nominal", "ordinal")
    )
    counts = {name for name, value in names.items() if value != ordered[name]}
    assert counts == {"irr", "xrr", "gai", "gap", "distance"}
    assert all(WORDS[name].name.lower() in LEVEL_COUNTS_FOR.lower() for name in counts)


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
