"""The command `models` on small files and on DICES-350 with a planted model."""

from pathlib import Path

import numpy as np
import pytest
from sklearn.metrics import f1_score

import grasp_core as grasp
from grasp_core import cli
from grasp_core.analysis.models.labels import read_model
from grasp_core.analysis.models.result import ModelsResult
from grasp_core.model.annotations import ModelLabels
from grasp_core.model.groups import form_groups
from grasp_core.model.spec import AnalysisSpec, RunSpec
from grasp_core.reading.sandbox.read import read_table
from grasp_core.report.models import answer
from tests.analysis.models.cases import (
    ASIAN_WOMEN,
    AXES,
    SPEC,
    compute_models,
    data,
    planted_labels,
    plurality_of,
    sided,
)
from tests.commands import refused, write, written
from tests.permutation.simulated import files, simulate
from tests.shared_data import DICES350, needs_shared_data


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    votes, raters = files(*simulate(3, items=20, raters=24))
    head, *lines = votes.decode().splitlines()
    gold = [f"{line},label {int(line.split(',')[0][1:]) % 3}" for line in lines]
    rows = [f"i{i},label {i % 3}" for i in range(19)]
    made = {"votes.csv": [f"{head},gold", *gold], "one.csv": ["ID,Label", *rows]}
    write(tmp_path, {name: "\n".join([*lines, ""]) for name, lines in made.items()} | {"raters.csv": raters})
    monkeypatch.chdir(tmp_path)
    return tmp_path


FILES = ["--annotations", "votes.csv", "--raters", "raters.csv"]
MODELS = ["models", *FILES, "--item", "item", "--rater", "rater", "--label", "label", "--axis", "gender"]


def run(*more: str) -> int:
    return cli.main([*MODELS, "--permutations", "200", *more])


def test_files_and_columns_stand_side_by_side(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run("--model", "one=one.csv", "--model-column", "experts=gold", "--out", "out.json") == 0
    printed = capsys.readouterr()
    assert "one sides " in printed.out
    assert "experts sides " in printed.out
    assert "note: one has no label for 1 of the items" in printed.err
    assert [model["labelled"] for model in written("out.json")["models"]] == [19, 20]
    assert written("out.json")["spec"]["analysis"]["permutations"] == 200


def test_the_result_can_be_a_report(folder: Path) -> None:
    assert run("--model-column", "experts=gold", "--out", "out.html") == 0
    assert run("--model-column", "experts=gold", "--out", "out.json") == 0
    grasp.open("out.json").save("again.html")
    for name in ("out.html", "again.html"):
        report = Path(name).read_text("utf-8")
        assert report.startswith("<!DOCTYPE html>")
        assert "<h1>experts: label by gender</h1>" in report


def test_labels_of_800_mb_and_a_model_without_file_are_refused(folder, capsys) -> None:
    with (folder / "one.csv").open("r+b") as file:
        file.truncate(800 * 10**6)
    said = "one.csv is larger than 256 MiB, the most that is read of a model's labels"
    assert said in refused(capsys, *MODELS, "--model", "one=one.csv")
    with pytest.raises(SystemExit):
        run("--model", "one.csv")
    assert "write NAME=FILE" in capsys.readouterr().err


def test_intersections_strata_and_seed_are_heeded(folder: Path) -> None:
    found = []
    for number, more in enumerate((["--seed", "1"], ["--seed", "2"], ["--within", "region"])):
        more += ["--intersect", "gender:race", "--out", f"{number}.json"]
        assert run("--model", "one=one.csv", *more) == 0
        found.append(written(f"{number}.json")["groups"])
    assert len(found[0]) == 8
    p = [[row["models"]["one"]["statistics"]["xrr"]["p"] for row in groups] for groups in found]
    assert p[0] != p[1]
    assert p[0] != p[2]
    values = [[row["models"]["one"]["statistics"]["xrr"]["value"] for row in groups] for groups in found]
    assert values[0] == values[1] == values[2]


def test_a_recognised_axis_without_groups_is_left_out_as_by_run(tmp_path, monkeypatch, capsys) -> None:
    monkeypatch.chdir(tmp_path)
    about = [("m", ""), ("m", ""), ("f", "north"), ("f", "south")]
    rows = [f"i{i},w{j},{(i + j) % 2},{i % 2},{g},{t}" for i in range(9) for j, (g, t) in enumerate(about)]
    Path("v.csv").write_text("\n".join(["item,worker,label,model,gender,region", *rows]))
    more = ["v.csv", "--model-column", "m=model", "--permutations", "100", "--out", "out.json"]
    assert cli.main(["models", *more]) == 0
    assert written("out.json")["spec"]["analysis"]["axes"] == [["gender"]]
    assert "'region' is left out of the axes" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("more", "told"),
    [
        ([], "name at least one model"),
        (["--model", "one=none.csv"], "none.csv does not exist; check the path"),
        (["--model", "one=raters.csv"], "raters.csv needs the columns ID"),
        (["--model", "one=one.csv", "--model", "one=one.csv"], "two models are called 'one'"),
        (["--model-column", "m=none"], "votes.csv has no column 'none'"),
        (["--model", "one=one.csv", "--axis", "zodiac"], "zodiac"),
        (["--model", "one=one.csv", "--out", "no/out.json"], "out.json: cannot be written, there is no"),
        (["--model", "one=one.csv", "--csv", "."], ".: cannot be written, it is a folder"),
    ],
)
def test_what_cannot_be_used_is_one_sentence(folder: Path, capsys, more: list[str], told: str) -> None:
    assert told in refused(capsys, *MODELS, "--permutations", "200", *more)


def test_permutations_go_on_until_marks_are_settled_or_stop_early(folder, capsys, monkeypatch) -> None:
    assert run("--model", "one=one.csv", "--permutations", "auto:3000", "--out", "out.json") == 0
    printed = capsys.readouterr().out
    found = written("out.json")
    assert found["spec"]["analysis"]["adaptive"] is True
    assert f"{found['stopping']['permutations']:,}" in printed
    assert "Shuffling " in printed
    monkeypatch.setattr("grasp_core.notebook.models.models_seconds", lambda *_: 60.0)
    assert cli.main([*MODELS, "--model", "one=one.csv", "--out", "long.json"]) == 0
    said = "10,000 permutations of such data take about 60 s on two cores, so at most 10,000 are taken"
    assert said in capsys.readouterr().err
    assert written("long.json")["spec"]["analysis"]["adaptive"]
    assert run("--model", "one=one.csv", "--out", "told.json") == 0
    assert said not in capsys.readouterr().err
    assert not written("told.json")["spec"]["analysis"]["adaptive"]


# DICES-350
def models() -> list[ModelLabels]:
    gold = read_model(read_table(DICES350 / "items.csv"), "gold", data(), SPEC)
    planted = ModelLabels("planted", planted_labels().astype(np.int32), "planted.csv", "0" * 64)
    return [gold, planted]


@pytest.fixture(scope="module")
def result() -> ModelsResult:
    spec = RunSpec(SPEC, AnalysisSpec(axes=AXES, permutations=10_000, seed=1, ties="first"))
    return compute_models(data(), models(), spec)


@needs_shared_data
def test_the_planted_model_sides_with_asian_women(result: ModelsResult) -> None:
    assert len(result.groups) == 20
    assert [model.labelled for model in result.models] == [350, 350]
    near, far = sided(result, "planted")
    assert near == {ASIAN_WOMEN}
    (row,) = (row for row in result.groups if row.group.values == ASIAN_WOMEN)
    outcome = row.models["planted"].statistics["macro_f1"]
    assert outcome.value == 1.0
    assert outcome.q is not None
    assert outcome.q < 0.01
    assert "planted sides with Asian/Asian subcontinent, Woman (macro-F1 1.000" in words(result)
    # White raters and White men among them are those whose pluralities differ most from Asian women's.
    assert far == {("White",), ("White", "Man")}


@needs_shared_data
def test_it_is_said_with_whom_the_gold_sides(result: ModelsResult) -> None:
    """With nobody after correction."""
    assert sided(result, "gold") == (set(), set())
    text = words(result)
    assert "gold sides neither with nor against any group; it may be luck that it leans" in text
    assert "away from White (macro-F1 0.360" in text


@needs_shared_data
def test_a_model_of_two_labels_is_held_against_members_over_the_same_two() -> None:
    spec = RunSpec(SPEC, AnalysisSpec(axes=(("rater_race",),), permutations=100, ties="first"))
    result = compute_models(data(), models()[:1], spec)
    assert result.classes == ("No", "Yes")
    (white,) = (row for row in result.groups if row.group.values == ("White",))
    assert white.models["gold"].statistics["macro_f1"].value == pytest.approx(0.540, abs=5e-4)
    assert white.models["gold"].members_f1 == pytest.approx(0.612, abs=5e-4)  # 0.408 over three
    assert words(result).endswith("Every macro-F1 here is over the same labels: No, Yes.")


@needs_shared_data
def test_the_golds_figures_by_scikit_learn(result: ModelsResult) -> None:
    """Every group, by scikit-learn 1.9.1 on the same files."""
    gold = models()[0].labels
    grouping = form_groups(data().raters, AXES)
    for row, member in zip(result.groups, grouping.member, strict=True):
        plurality = plurality_of(data(), member)
        labels = [SPEC.categories.index(one) for one in result.classes]
        expected = f1_score(plurality, gold, labels=labels, average="macro", zero_division=0)
        assert row.models["gold"].statistics["macro_f1"].value == pytest.approx(expected, abs=1e-12)


@needs_shared_data
def test_the_command_finds_the_same(tmp_path: Path, capsys: pytest.CaptureFixture[str], result) -> None:
    categories = np.array(SPEC.categories)
    lines = [
        f"{item},{label}"
        for item, label in zip(data().annotations.item_ids, categories[planted_labels()], strict=True)
    ]
    (tmp_path / "planted.csv").write_text("ID,Label\n" + "\n".join(lines) + "\n")
    out, table = tmp_path / "models.json", tmp_path / "models.csv"
    status = cli.main(
        ["models", "--annotations", str(DICES350 / "ratings_long.csv")]
        + ["--raters", str(DICES350 / "raters.csv"), "--categories", "No,Yes,Unsure", "--ties", "first"]
        + ["--recommended"]
        + ["--model", f"gold={DICES350 / 'items.csv'}", "--model", f"planted={tmp_path / 'planted.csv'}"]
        + [part for names in AXES if len(names) == 1 for part in ("--axis", *names)]
        + ["--intersect", "rater_race:rater_gender", "--out", str(out), "--csv", str(table)]
    )
    printed = capsys.readouterr()
    assert status == 0, printed.err
    headline = (
        "planted sides with Asian/Asian subcontinent Woman raters and against White and White Man raters"
    )
    assert headline in printed.out.splitlines()
    assert "planted sides with Asian/Asian subcontinent, Woman (macro-F1 1.000" in printed.out
    assert ModelsResult.from_dict(written(out)).groups == result.groups
    assert len(table.read_text(encoding="utf-8").splitlines()) == 1 + 2 * 20 * 5


def words(result: ModelsResult) -> str:
    found = answer(result)
    return "\n".join(one.plain for one in (found.headline, *found.details))
