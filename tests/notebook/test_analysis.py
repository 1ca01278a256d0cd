"""`analyse` gives the digits of the command, on frames of any library, and refuses as it does."""

import dataclasses
import inspect
from pathlib import Path
from typing import Any, get_type_hints

import pandas as pd
import polars as pl
import pytest

import grasp_core as grasp
from grasp_core.engine.pools.schedule import Progress
from grasp_core.model.data_spec import DataSpec
from grasp_core.model.spec import AnalysisSpec
from grasp_core.notebook._shown import ProgressBar
from grasp_core.notebook.options import AnalysisOptions
from tests.notebook.asking import command, few, found

QUIET: Any = {"progress": False, "permutations": 50, "pairs": False}


def test_every_option_reaches_the_spec_as_the_commands_does(tmp_path: Path) -> None:
    votes, raters = few()
    votes = votes.assign(topic=votes["item_id"].str[-2], seconds=votes.index % 40, status="kept")
    asked = (
        *("--item", "item_id", "--rater", "rater_id", "--label", "label", "--categories", "No,Unsure,Yes"),
        *("--missing", "n/a", "--exclude", "rater_age=18-24", "--drop", "status=spam", "--map", "topic:0=9"),
        *("--min-time", "1", "--time", "seconds", "--repeated", "first", "--axis", "rater_gender"),
        *("--intersect", "rater_age:rater_gender"),
        *("--permutations", "50", "--seed", "7", "--min-raters", "3", "--within", "rater_race"),
        *("--p-value", "paper", "--ties", "random", "--correction", "max-t", "--family", "all"),
        *("--statistics", "irr,xrr,gai", "--gai", "irr,xrr", "--cross-negentropy", "paper"),
        *("--level", "ordinal", "--interval", "raters", "--pairs", "--slice", "topic"),
        *("--leave-out", "constant"),
    )
    columns = {
        "item": "item_id",
        "rater": "rater_id",
        "label": "label",
        "categories": ["No", "Unsure", "Yes"],
    }
    reading = {"missing": ["n/a"], "exclude": [("rater_age", "18-24")], "repeated": "first"}
    reading |= {"recode": [grasp.MapValues("topic", (("0", "9"),))], "screens": ["constant"]}
    reading["filters"] = grasp.Filters(drop=(("status", "spam"),), time="seconds", min_time=1)
    axes = ["rater_gender", ("rater_age", "rater_gender")]
    analysis = {"axes": axes, "permutations": 50, "seed": 7, "min_raters": 3}
    analysis |= {"strata": ["rater_race"], "p_value": "paper", "ties": "random", "correction": "max-t"}
    analysis |= {"family": "all", "statistics": ["irr", "xrr", "gai"], "gai": ("irr", "xrr")}
    analysis |= {"cross_negentropy": "paper", "level": "ordinal", "interval": "raters", "pairs": True}
    options: Any = {**columns, **reading, **analysis, "slices": ["topic"], "progress": False}
    result = grasp.analyse(votes, raters, **options)
    assert found(result.result.to_dict()) == found(command(tmp_path, "run", votes, raters, *asked))


def test_every_field_of_the_specs_is_an_option() -> None:
    fields = {one.name for spec in (DataSpec, AnalysisSpec) for one in dataclasses.fields(spec)}
    shown = inspect.signature(grasp.analyse).parameters
    own = {"guess", "keep", "recommended", "preset"}
    assert fields - {"further", "axes"} == set(get_type_hints(AnalysisOptions)) - own
    assert set(get_type_hints(AnalysisOptions)) < set(shown)
    assert {one.kind for one in list(shown.values())[2:]} == {inspect.Parameter.KEYWORD_ONLY}


@pytest.mark.parametrize("library", [pl.from_pandas, lambda frame: pl.from_pandas(frame).to_arrow()])
def test_frames_of_other_libraries_give_the_same_result(library: Any) -> None:
    votes, raters = few()
    ours = grasp.analyse(votes, raters, axes=["rater_gender"], **QUIET).result.to_dict()
    theirs = grasp.analyse(library(votes), library(raters), axes=["rater_gender"], **QUIET).result.to_dict()
    for one in (ours, theirs):
        one.pop("timing")
    assert ours == theirs


def test_paths_and_tables_will_do_as_well(tmp_path: Path) -> None:
    votes, raters = few()
    votes.to_csv(tmp_path / "votes.csv", index=False)
    raters.to_excel(tmp_path / "raters.xlsx", index=False)
    table = grasp.read(tmp_path / "votes.csv")
    pd.testing.assert_frame_equal(table.frame(), votes.reset_index(drop=True))
    of_files = grasp.analyse(table, str(tmp_path / "raters.xlsx"), axes=["rater_gender"], **QUIET)
    of_frames = grasp.analyse(votes, raters, axes=["rater_gender"], **QUIET)
    assert of_files.result.groups == of_frames.result.groups
    assert [file.name for file in of_files.result.data.files] == ["votes.csv", "raters.xlsx"]


def test_ids_keep_their_zeros_and_missing_values_are_no_label() -> None:
    given = [(f"{i:03}", f"00{j}", [1, 2, None][(i * j) % 3]) for i in range(20) for j in range(6)]
    item, rater, label = zip(*given, strict=True)
    votes = pd.DataFrame({"item": item, "rater": rater, "label": pd.Categorical(label)})
    side = pd.array([1, 1, 1, 2, 2, 2], "Int64")
    raters = pd.DataFrame({"rater": [f"00{j}" for j in range(6)], "side": side})
    names: Any = {"item": "item", "rater": "rater", "label": "label"}
    data = grasp.analyse(votes, raters, axes=["side"], **names, **QUIET).result.data
    assert (data.items, data.raters, data.categories) == (20, 6, ("1", "2"))
    assert data.annotations == votes["label"].notna().sum()


def test_several_questions_are_held_together(tmp_path: Path) -> None:
    votes, raters = few()
    votes = votes.assign(rude=votes["label"].map({"No": "n", "Yes": "y", "Unsure": "y"}))
    asked = ("--item", "item_id", "--rater", "rater_id", "--label", "label", "--label", "rude")
    asked = (*asked, "--categories", "No,Yes,Unsure", "--categories", "y,n", "--axis", "rater_gender")
    names: Any = {"item": "item_id", "rater": "rater_id", "label": ["label", "rude"], **QUIET}
    categories = {"label": ["No", "Yes", "Unsure"], "rude": ["y", "n"]}
    result = grasp.analyse(votes, raters, axes=["rater_gender"], categories=categories, **names)
    of_command = command(tmp_path, "run", votes, raters, *asked, "--permutations", "50", "--no-pairs")
    assert found(result.result.to_dict()) == found(of_command)


def test_a_spec_asks_the_same_again_also_from_its_file(tmp_path: Path) -> None:
    votes, raters = few()
    first = grasp.analyse(votes, raters, axes=["rater_gender"], seed=5, **QUIET)
    first.save(tmp_path / "asked.spec.json")
    for spec in (first.spec, str(tmp_path / "asked.spec.json")):
        again = grasp.analyse(votes, raters, spec=spec, progress=False)
        assert again.result.groups == first.result.groups
    with pytest.raises(grasp.SpecError, match="leave axes and options out"):
        grasp.analyse(votes, raters, spec=first.spec, axes=["rater_race"])


def test_an_unsure_guess_names_the_option() -> None:
    votes, raters = few()
    votes = votes.rename(columns={"item_id": "item", "rater_id": "rater", "label": "offensive"})
    votes["offensive"] = votes["offensive"].replace("Unsure", "No").str.lower()
    votes["sarcastic"] = ["yes" if place % 3 else "no" for place in range(len(votes))]
    raters = raters.rename(columns={"rater_id": "rater"})
    with pytest.raises(grasp.UnsureError, match=r"name it with label=") as unsure:
        grasp.analyse(votes, raters, axes=["rater_gender"], **QUIET)
    assert (unsure.value.code, unsure.value.option) == ("unsure-label", "label")
    assert grasp.analyse(votes, raters, label="offensive", axes=["rater_gender"], **QUIET).notes


@pytest.mark.parametrize("named", [{}, {"item": "item_id", "rater": "rater_id", "label": "label"}])
def test_marked_raters_count_until_somebody_says_otherwise_whatever_is_named(named: Any) -> None:
    votes, raters = few()
    raters["removed"] = ["yes" if place < 2 else "no" for place in range(len(raters))]
    asked = {"axes": ["rater_gender"], **QUIET}
    everybody = len(raters)
    found = grasp.analyse(votes, raters, **named, **asked)
    assert found.result.data.raters == everybody
    assert found.notes[0].startswith("kept, though recommended to be left out: 2 raters with 'removed'")
    assert "recommended=True leaves them out; recommended=False" in found.notes[0]
    left = grasp.analyse(votes, raters, recommended=True, **named, **asked)
    assert left.result.data.raters == everybody - 2
    assert left.result.spec.data.exclude == (("removed", "yes"),)
    again = grasp.analyse(votes, raters, spec=left.result.spec, progress=False)
    assert again.result.groups == left.result.groups
    assert grasp.analyse(votes, raters, exclude=[], recommended=True, **asked).result.data.raters == everybody
    kept = grasp.analyse(votes, raters, recommended=False, **named, **asked)
    assert not [note for note in kept.notes if "recommended" in note]
    assert kept.result.groups == found.result.groups


@pytest.mark.parametrize(
    ("options", "error", "code", "said"),
    [
        ({"axes": ["rater_wrong"]}, grasp.DataError, "no-column-in-either", "rater_wrong"),
        ({"axes": ["rater_age", "age"]}, grasp.SpecError, "spec", "would both be called 'age'"),
        ({"item": "wrong"}, grasp.DataError, "no-column", "annotations has no column 'wrong'"),
        ({"p_value": "upper"}, grasp.SpecError, "spec", "two-sided, paper"),
        ({"categories": {"No", "Yes", "Unsure"}}, grasp.SpecError, "spec", "give a list"),
        ({"exclude": {"rater_age": "41+"}}, grasp.SpecError, "spec", "pairs of a column and a value"),
        ({"keep": [("label", "No")]}, grasp.SpecError, "spec", "keep=[('label', 'No')]: such annotations"),
        ({"categories": {"x": ["a", "b"]}}, grasp.SpecError, "spec", "none of the label columns"),
        ({"axis": ["x"]}, TypeError, None, "unexpected keyword argument 'axis'; did you mean"),
    ],
)
def test_refusals_are_exceptions_with_codes(options: Any, error: Any, code: str | None, said: str) -> None:
    votes, raters = few()
    raters["age"] = raters["rater_age"]
    with pytest.raises(error) as refused:
        grasp.analyse(votes, raters, **{"axes": ["rater_gender"], **QUIET, **options})
    assert isinstance(refused.value, TypeError if code is None else grasp.GraspError)
    assert getattr(refused.value, "code", None) == code
    assert said in str(refused.value)


def test_progress_is_shown_and_goes_away_and_the_frames_stay(capsys: pytest.CaptureFixture[str]) -> None:
    votes, raters = few()
    before = votes.copy(), raters.copy()
    grasp.analyse(votes, raters, axes=["rater_gender"], permutations=50)
    assert "permutations" in capsys.readouterr().err
    grasp.analyse(votes, raters, axes=["rater_gender"], **QUIET)
    assert capsys.readouterr().err == ""
    for frame, was in zip((votes, raters), before, strict=True):
        pd.testing.assert_frame_equal(frame, was)


def test_the_bar_names_the_stages_of_the_whole_run(capsys: pytest.CaptureFixture[str]) -> None:
    bar = ProgressBar("permutations", shown=True)
    bar.check(Progress(5, 10, 1.0, share=0.4, stages="Groups done · Pairs 1 of 2"))
    bar._bar.refresh()
    bar.close()
    said = capsys.readouterr().err
    assert "40/100" in said
    assert "Groups done · Pairs 1 of 2" in said
