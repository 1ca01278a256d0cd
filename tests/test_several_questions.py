"""Several questions about the same items, from the files to the result; and levels of measurement."""

import dataclasses
import json
from pathlib import Path

import numpy as np
import pytest

from grasp_core import cli
from grasp_core.model.data_spec import DataSpec, Filters, Question
from grasp_core.model.errors import DataError, SpecError
from grasp_core.model.groups import form_groups
from grasp_core.model.result import RunResult
from grasp_core.model.spec import AnalysisSpec, RunSpec
from grasp_core.permutation.draw import over_all, permutation
from grasp_core.reading.dataset.load import Dataset, load
from grasp_core.reading.sandbox.read import read_table
from tests.computing import compute_in_threads
from tests.engine.asking import planting as planting
from tests.permutation import reference

MANY = 100
"""Permutations of each run."""
# Rater d answers only q2; nobody answers q1 of item 3; e answers nothing.
ANSWERS = """item,rater,q1,q2,gender
1,a,Yes,low,Woman
1,b,No,high,Woman
1,c,Yes,,Man
1,d,,mid,Man
2,a,No,low,Woman
2,b,,low,Woman
2,c,No,mid,Man
3,a,,high,Woman
3,d,,high,Man
3,e,,,Man
"""
SPEC = DataSpec(
    item="item", rater="rater", label="q1", further=(Question("q2", ("low", "mid", "high", "never")),)
)


def read(spec: DataSpec = SPEC, text: str = ANSWERS) -> Dataset:
    return load(read_table(text.encode(), "answers.csv"), None, spec, ("gender",))


def test_every_question_has_the_same_items_and_raters() -> None:
    dataset = read()
    first, second = dataset.questions
    assert first.item_ids == second.item_ids == ("1", "2", "3")
    assert first.rater_ids == second.rater_ids == dataset.raters.rater_ids == ("a", "b", "c", "d")
    assert first.categories == ("No", "Yes")
    assert second.categories == ("low", "mid", "high", "never")
    assert [one.n_annotations for one in dataset.questions] == [5, 8]
    assert dataset.annotations_of.tolist() == [3, 2, 2, 2]


def test_the_summary_names_each_questions_labels() -> None:
    data = read().summary
    assert (data.items, data.raters, data.annotations) == (3, 4, 9)
    assert dict(zip(data.categories, data.label_counts, strict=True)) == {
        "q1: No": 3,
        "q1: Yes": 2,
        "q2: low": 3,
        "q2: mid": 2,
        "q2: high": 3,
        "q2: never": 0,
    }
    assert data.raters_per_item == (2, 3.0, 4)


def test_missing_answers_are_told_by_question() -> None:
    messages = [problem.message for problem in read().problems]
    assert any("'q1'" in text and "missing in 5 rows" in text for text in messages)
    assert any("'q2'" in text and "missing in 2 rows" in text for text in messages)
    assert sum("rater" in text and "no annotation that counts" in text for text in messages) == 1  # e


def test_a_filter_holds_for_each_question() -> None:
    dataset = read(dataclasses.replace(SPEC, filters=Filters(min_per_rater=2)))
    assert [one.n_annotations for one in dataset.questions] == [4, 7]  # b's one of q1, c's one of q2
    assert [str(removal.filter) for removal in dataset.removals if removal.annotations] == [
        "raters with fewer than 2 annotations, in 'q1'",
        "raters with fewer than 2 annotations, in 'q2'",
    ]


def test_a_question_that_nobody_answered_stops() -> None:
    empty = dataclasses.replace(SPEC, further=(Question("q3"),))
    text = "\n".join(f"{line},{'q3' if n == 0 else ''}" for n, line in enumerate(ANSWERS.split("\n")[:-1]))
    with pytest.raises(DataError, match=r"column 'q3': no answer is left"):
        read(empty, text)


@pytest.mark.parametrize(
    ("fields", "sentence"),
    [
        ({"further": (Question("q1"),)}, "named twice"),
        ({"filters": Filters(gold="q2", min_gold=0.5)}, "right labels belong to one question"),
        ({"layout": "items-by-raters"}, "several questions need a long file"),
        ({"further": ("q2",)}, "must be a list of questions"),
    ],
)
def test_what_cannot_be_asked(fields, sentence: str) -> None:
    with pytest.raises(SpecError, match=sentence):
        dataclasses.replace(SPEC, **fields)


def test_only_nominal_questions_go_together() -> None:
    with pytest.raises(SpecError, match="run each question by itself"):
        RunSpec(SPEC, AnalysisSpec(axes=(("gender",),), level="ordinal"))


def test_the_spec_is_read_back() -> None:
    spec = RunSpec(SPEC, AnalysisSpec(axes=(("gender",),)))
    assert RunSpec.from_dict(json.loads(json.dumps(spec.to_dict()))) == spec
    alone = [RunSpec(question, spec.analysis).sha256() for question in SPEC.questions]
    assert len({spec.sha256(), *alone}) == 3


def simulated(items: int = 14, raters: int = 16) -> str:
    """Two questions of three and two labels, with gaps."""
    rng = np.random.default_rng(3)
    rows = ["item,rater,q1,q2,score,gender,race"]
    for j in range(raters):
        gender, race = "MW"[j % 2], "ABC"[j % 3]
        for i in range(items):
            q1, q2 = (
                rng.choice(["", *labels], p=[0.2, *[0.8 / len(labels)] * len(labels)])
                for labels in ("abc", "xy")
            )
            rows.append(f"i{i},r{j},{q1},{q2},{rng.integers(0, 5)},{gender},{race}")
    return "\n".join(rows) + "\n"


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "answers.csv").write_text(simulated(), encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    return tmp_path


def run(*arguments: str) -> int:
    fixed = ["--annotations", "answers.csv", "--item", "item", "--rater", "rater", "--axis", "gender"]
    return cli.main(["run", *fixed, "--permutations", str(MANY), "--seed", "5", *arguments])


def test_a_run_of_two_questions(folder: Path) -> None:
    assert run("--label", "q1", "--label", "q2", "--intersect", "race:gender", "--out", "result.json") == 0
    result = RunResult.from_dict(json.loads((folder / "result.json").read_text(encoding="utf-8")))
    assert result.spec.data.labels == ("q1", "q2")
    dataset = load(
        read_table(simulated().encode(), "answers.csv"), None, result.spec.data, ("gender", "race")
    )
    grouping = form_groups(dataset.raters, result.spec.analysis.axes, min_raters=2)
    layout = over_all(16)
    shuffled = [
        reference.evaluate(dataset.questions, grouping, result.spec.analysis, permutation(5, b, *layout))[0]
        for b in range(MANY)
    ]
    observed, _ = reference.evaluate(dataset.questions, grouping, result.spec.analysis, np.arange(16))
    for g, row in enumerate(result.groups):
        assert row.n_annotations == dataset.annotations_of[grouping.member[g]].sum()
        for s, name in enumerate(("irr", "xrr", "negentropy")):
            outcome, null = row.statistics[name], np.array(shuffled)[:, g, s]
            assert outcome.value == pytest.approx(observed[g, s], abs=1e-12)
            low, high = (null <= observed[g, s] + 1e-12).sum(), (null >= observed[g, s] - 1e-12).sum()
            assert outcome.p == pytest.approx(min(1, 2 * (1 + min(low, high)) / (MANY + 1)), abs=1e-12)
    again = compute_in_threads(dataset, result.spec)
    assert again.groups == result.groups


def test_one_question_is_one_option_away(folder: Path) -> None:
    for label, categories in (("q1", "c,b,a"), ("q2", "y,x")):
        assert run("--label", label, "--categories", categories, "--out", f"{label}.json") == 0
    both = ["--label", "q1", "--label", "q2", "--categories", "c,b,a", "--categories", "y,x"]
    assert run(*both, "--out", "both.json") == 0
    value = {
        name: RunResult.from_dict(json.loads((folder / f"{name}.json").read_text())).groups[0].statistics
        for name in ("q1", "q2", "both")
    }
    for statistic in ("negentropy", "plurality_size", "voting_agreement", "cross_negentropy"):
        apart = [value[name][statistic].value for name in ("q1", "q2")]
        assert value["both"][statistic].value == pytest.approx(np.mean(apart), abs=1e-12)
    assert json.loads((folder / "both.json").read_text())["spec"]["data"]["further"] == [
        {"label": "q2", "categories": ["y", "x"]}
    ]


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (["--label", "q1", "--label", "q1"], "named twice"),
        (["--label", "q1", "--label", "q2", "--level", "ordinal"], "run each question by itself"),
        (["--label", "q1", "--categories", "a,b,c", "--categories", "x,y"], "found 2 for 1"),
        (["--label", "q1", "--label", "q2", "--categories", "a,b,c"], "is not one of the declared"),
        (["--label", "q1", "--level", "interval"], "'a', 'b', 'c' are none"),
    ],
)
def test_what_cannot_be_run_is_one_sentence(
    folder: Path, capsys, arguments: list[str], sentence: str
) -> None:
    assert run(*arguments) != 0
    said = capsys.readouterr().err
    assert sentence in said
    assert "Traceback" not in said


def test_other_commands_take_one_question(folder: Path, capsys) -> None:
    fixed = ["--annotations", "answers.csv", "--item", "item", "--rater", "rater"]
    assert cli.main(["quality", *fixed, "--label", "q1", "--label", "q2"]) != 0
    asked = "this looks at one question at a time; choose one of 'q1', 'q2' by --label"
    assert capsys.readouterr().err == f"grasp: {asked}\n"


def test_ranks_that_nobody_declared_are_told(folder: Path, capsys) -> None:
    assert run("--label", "score", "--level", "ordinal") == 0
    order = "labels are ranked in the order"
    assert f"{order} '0', '1', '2', '3', '4'" in capsys.readouterr().err
    assert run("--label", "score", "--level", "ordinal", "--categories", "4,3,2,1,0") == 0
    assert run("--label", "score", "--level", "interval") == 0
    assert order not in capsys.readouterr().err


@pytest.mark.parametrize("level", ["ordinal", "interval", "ratio"])
def test_a_run_at_every_level(folder: Path, level: str) -> None:
    assert run("--label", "score", "--level", level, "--out", "result.json") == 0
    result = RunResult.from_dict(json.loads((folder / "result.json").read_text(encoding="utf-8")))
    assert result.spec.analysis.level == level
    dataset = load(read_table(simulated().encode(), "answers.csv"), None, result.spec.data, ("gender",))
    grouping = form_groups(dataset.raters, (("gender",),), min_raters=2)
    observed, _ = reference.evaluate(dataset.annotations, grouping, result.spec.analysis, np.arange(16))
    for row, values in zip(result.groups, observed, strict=True):
        assert [row.statistics[name].value for name in ("irr", "xrr")] == pytest.approx(values[:2], abs=1e-12)
