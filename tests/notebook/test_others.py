"""Models, quality, plans, comparisons, batches, other names, and the documents about Python."""

import json
import random
import re
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import nbformat
import pandas as pd
import pytest
from nbclient import NotebookClient

import grasp_core as grasp
from grasp_core.model.json_values import to_json
from grasp_core.report.plan import lines_table
from grasp_core.report.quality import quality_json
from tests.batches import in_batches
from tests.commands import ran, write
from tests.few_items import few_items
from tests.notebook.asking import command, few, found
from tests.results import make_group, make_outcome, make_result, with_pairs, with_slices

# Models, quality and plans
QUIET: Any = {"progress": False}
MEN = {"rater_gender": "Man"}


def test_models_are_those_of_the_command(tmp_path: Path) -> None:
    votes, raters = few()
    items = votes.drop_duplicates("item_id")
    votes = votes.assign(gold="No")
    labels = items[["item_id", "label"]].rename(columns={"item_id": "ID", "label": "Label"})
    labels.to_csv(tmp_path / "gpt.csv", index=False)
    asked = ("--label", "label", "--item", "item_id", "--rater", "rater_id", "--axis", "rater_gender")
    asked = (*asked, "--model", f"gpt={tmp_path / 'gpt.csv'}", "--model-column", "expert=gold")
    of_command = found(command(tmp_path, "models", votes, raters, *asked, "--permutations", "100"))
    names: Any = {"item": "item_id", "rater": "rater_id", "label": "label", "permutations": 100, **QUIET}
    models: Any = {"labels": {"gpt": labels}, "columns": {"expert": "gold"}}
    analysis = grasp.models(votes, raters, axes=["rater_gender"], **models, **names)
    ours = found(analysis.result.to_dict())
    for plain in (of_command, ours):
        for model in (*plain["models"], *plain["spec"]["models"]):
            model.pop("sha256")
            model.pop("source", None)
    assert ours == of_command
    table = analysis.table()
    assert set(table["model"]) == {"gpt", "expert"}
    assert len(table) == 2 * 2 * 5
    assert analysis.chart().to_dict()["layer"]
    assert "<table" in analysis._repr_html_()
    analysis.save(tmp_path / "models.json")
    opened = grasp.open(tmp_path / "models.json")
    assert isinstance(opened, grasp.ModelsAnalysis)
    assert opened.answer() == analysis.answer()


def test_quality_is_the_commands(tmp_path: Path) -> None:
    votes, raters = few()
    of_command = command(tmp_path, "quality", votes, raters, "--axis", "rater_gender")
    quality = grasp.quality(votes, raters, axes=["rater_gender"], **QUIET)
    assert found(quality.report.to_dict()) == found(of_command)
    assert "Overview" in quality.tables()
    assert "<table" in quality._repr_html_()
    quality.save(tmp_path / "quality.json")
    assert (tmp_path / "quality.json").read_text("utf-8") == quality_json(quality.report)


@pytest.mark.usefixtures("few_data_sets")
def test_a_plan_is_made_and_written(tmp_path: Path) -> None:
    asked: Any = {"size": 40, "share": 0.5, "range_raters": (20, 22), "range_items": (10, 12), **QUIET}
    planned = grasp.plan(assumed=grasp.Assumed(labels=2, agreement=0.5), **asked)
    planned.save(tmp_path / "plan.json")
    written = json.loads((tmp_path / "plan.json").read_text("utf-8"))
    assert written["plan"]["spec"] == to_json(planned.plan.spec)
    assert planned.plan.whole
    assert (planned.plan.spec.raters, planned.plan.spec.size) == ((20, 22), 40)
    assert planned.answer()
    assert planned.chart().to_dict()["layer"]
    lines, shown = planned.table(), lines_table(planned.plan)
    assert lines.pivot(index="raters", columns="chance", values="items").shape == (len(shown), 3)
    assert lines["reason"].isna().equals(lines["items"].notna())
    for row in lines.itertuples():
        text = shown.set_index("Raters").loc[f"{row.raters:,}", f"Items for {row.chance:.0%}"]
        assert text == (f"{row.items:,.0f}" if pd.isna(row.reason) else row.reason)
    taken = planned.recruitment()
    assert (taken["needed"] - taken["have"] == taken["recruit"]).all()
    assert "<table" in planned._repr_html_()


@pytest.mark.parametrize(
    ("options", "error", "said"),
    [
        ({"group": {"rater_gender": "Other"}}, grasp.SpecError, "there are 'Man', 'Woman'"),
        ({"share": 2.0}, grasp.SpecError, "between 0.01 and 0.99; found 2"),
        ({"range_raters": (2, 3)}, grasp.SpecError, "raters range from 4"),
        ({}, grasp.DataError, "A pilot takes 40 annotations or more"),
    ],
)
def test_a_pilot_is_read_and_what_cannot_be_planned_refused(options: Any, error: Any, said: str) -> None:
    votes, raters = few()
    votes = votes.groupby("rater_id").head(1).head(30)
    names = {"item": "item_id", "rater": "rater_id", "label": "label", "group": MEN}
    with pytest.raises(error, match=said):
        grasp.plan(votes, raters, **{**names, **options, **QUIET})


@pytest.mark.parametrize(
    ("call", "error", "said"),
    [
        (lambda: grasp.models(*few(), axes=["rater_gender"]), grasp.DataError, "there is no model"),
        (lambda: grasp.quality(few()[0], power=True), grasp.SpecError, "name an axis with axes="),
        (lambda: grasp.plan(), grasp.SpecError, "a plan takes a pilot"),
        (lambda: grasp.plan(group=MEN), grasp.SpecError, "a plan takes a pilot"),
        (lambda: grasp.plan(assumed=grasp.Assumed(), group=MEN), grasp.SpecError, "a plan takes a pilot"),
    ],
)
def test_what_is_missing_or_too_much_is_refused(call: Any, error: Any, said: str) -> None:
    with pytest.raises(error, match=said):
        call()


# Comparisons
def test_two_results_in_words_and_frames() -> None:
    a = make_result((make_group(gai=make_outcome(1.1, "up")),), statistics=("gai",))
    b = make_result((make_group(gai=make_outcome(1.3, "up", "**")),), statistics=("gai",), seed=2)
    found = grasp.compare(grasp.Analysis(a), grasp.Analysis(b))
    assert "GAI: 1 of 1 group changed significance" in found.answer()
    assert found.asked().to_numpy().tolist() == [["Seed", "1", "2"]]
    assert found.data().empty
    assert found.table()["moved"].tolist() == pytest.approx([0.2, 0.2])
    assert found.moved()["statistic"].tolist() == ["gai", "dsi"]
    assert found.pairs().empty
    for nothing in ("pairs", "slices", "given"):
        frame = getattr(grasp.Analysis(a), nothing)()
        assert frame.query("statistic == 'gai'").empty, nothing
        assert {"value", "low", "high", "p", "q", "mark"} <= {*frame.columns}
    assert "GAI: 1 of 1 group" in found._repr_html_()


def test_files_and_pairs_and_slices(tmp_path: Path) -> None:
    both = replace(with_slices(), pairs=with_pairs().pairs)
    path = tmp_path / "result.json"
    grasp.Analysis(both).save(path)
    found = grasp.compare(path, grasp.Analysis(both))
    assert set(found.slices()["slice"]) == {"topic = news", "topic = sport"}
    pairs = found.pairs()
    assert len(set(pairs["pair"])) == 3
    [axis] = both.pairs[0].a.axes
    assert (pairs[axis] + " – " + pairs[f"other_{axis}"]).tolist() == pairs["pair"].tolist()
    table, [axis] = found.table(), both.groups[0].group.axes
    assert table[axis].tolist() == table["group"].tolist()
    assert found.moved().empty
    with pytest.raises(grasp.DataError, match="missing"):
        grasp.compare(path, tmp_path / "missing.json")


# Batches
SAID = "columns that could hold batches: 'batch'; strata=['batch'] shuffles within the values of one"
FEW = {"axes": ["gender"], "permutations": 100, "progress": False}


def _gold(votes: pd.DataFrame) -> pd.DataFrame:
    return pd.DataFrame({"ID": votes["item_id"].unique(), "Label": "yes"})


@pytest.mark.parametrize("beside", [True, False], ids=["raters file", "annotations alone"])
def test_every_function_names_them_but_within_them(beside: bool) -> None:
    votes, raters = in_batches()
    given = (votes, raters) if beside else (votes.merge(raters, on="rater_id"), None)
    assert SAID in grasp.analyse(*given, **FEW, pairs=False).notes
    assert SAID in grasp.models(*given, **FEW, labels={"gold": _gold(votes)}).notes
    assert SAID in grasp.quality(*given, axes=["gender"], progress=False).notes
    within = grasp.analyse(*given, **FEW, pairs=False, strata=["batch"])
    assert not [note for note in within.notes if "batches" in note]


def test_the_command_for_models_names_them(tmp_path, monkeypatch, capsys) -> None:
    monkeypatch.chdir(tmp_path)
    votes, raters = in_batches()
    for name, frame in (("votes", votes), ("raters", raters), ("gold", _gold(votes))):
        frame.to_csv(f"{name}.csv", index=False)
    files = ["--annotations", "votes.csv", "--raters", "raters.csv", "--model", "gold=gold.csv"]
    assert "--within batch" in ran(capsys, "models", *files, "--axis", "gender", "--permutations", "100").err


# Other names for labels and raters
QUIET_RENAMING: dict[str, Any] = {"progress": False, "permutations": 400, "pairs": False}
LABELS = {"No": "zeta", "Yes": "alpha", "Unsure": "Mid"}
RATERS = {f"r{j}": f"p{7 * j % 12:02d}" for j in range(12)}


def votes() -> pd.DataFrame:
    """With many ties of pluralities, and a label that hardly anybody gives."""
    rng = random.Random(4)
    rows = [
        (f"i{i}", f"r{j}", rng.choice(["No", "Yes", "Unsure"] if j % 4 else ["No", "Yes"]), "AB"[j % 2])
        for i in range(20)
        for j in range(12)
        if rng.random() < 0.5
    ]
    return pd.DataFrame(rows, columns=["item", "rater", "label", "team"])


def numbers(result: Mapping[str, Any], names: Mapping[str, str]) -> tuple[dict[Any, Any], dict[Any, Any]]:
    """Values, and p-values, by group and by statistic or label under its new name."""
    values, p = {}, {}
    for group in result["groups"]:
        who = tuple(group["group"].values())
        for name, one in group["statistics"].items():
            values[who, name], p[who, name] = one["value"], one["p"]
        for label, one in group["label_use"]["labels"].items():
            values[who, names.get(label, label)], p[who, names.get(label, label)] = one["value"], one["p"]
    return values, p


@pytest.mark.parametrize("renamed", ["label", "rater"])
def test_other_names_change_no_number(renamed: str) -> None:
    frame = votes()
    other = frame.assign(**{renamed: frame[renamed].map(LABELS if renamed == "label" else RATERS)})
    names = LABELS if renamed == "label" else {}
    first = numbers(grasp.analyse(frame, axes=["team"], **QUIET_RENAMING).result.to_dict(), names)
    second = numbers(grasp.analyse(other, axes=["team"], **QUIET_RENAMING).result.to_dict(), {})
    assert second[0] == pytest.approx(first[0], abs=1e-12, nan_ok=True)
    for key, p in first[1].items():
        if p is not None and second[1][key] is not None:
            assert abs(p - second[1][key]) < 0.12  # as under another seed: four standard errors


# Documents
ROOT = Path(__file__).parents[2]
NOTEBOOK = ROOT / "docs" / "notebook.ipynb"


def test_the_documents_code_runs(tmp_path, monkeypatch, capsys) -> None:
    write(tmp_path, few_items())
    monkeypatch.chdir(tmp_path)
    text = (ROOT / "docs" / "python.md").read_text("utf-8")
    blocks = re.findall(r"^```python\n(.*?)^```$", text, re.MULTILINE | re.DOTALL)
    names: dict[str, Any] = {}
    for block in blocks:
        exec(compile(block, "docs/python.md", "exec"), names)
    assert len(blocks) > 4
    assert "Black Woman raters (n = 16)" in capsys.readouterr().out
    assert (tmp_path / "result.json").stat().st_size > 10_000


def test_the_notebook_runs_and_holds_no_outputs(monkeypatch: pytest.MonkeyPatch) -> None:
    notebook = nbformat.read(NOTEBOOK, as_version=4)
    codes = [cell for cell in notebook.cells if cell.cell_type == "code"]
    assert not any(cell.outputs for cell in codes)
    monkeypatch.setenv("PYTHONPATH", str(ROOT))
    NotebookClient(notebook, timeout=280, resources={"metadata": {"path": str(ROOT)}}).execute()
    shown = [output.get("data", {}) for cell in codes for output in cell.outputs]
    assert any("Black, Woman" in data.get("text/html", "") for data in shown)
    assert sum("vega" in "".join(map(str, data.values())) for data in shown) == 2
