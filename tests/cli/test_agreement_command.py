"""``agreement`` and ``raters``: agreement without groups, by batch and over time, and a row per rater."""

import csv
import io
import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from grasp_core import cli
from grasp_core.report.agreement import raters_frame
from grasp_core.statistics.coefficients import cohen_kappa, fleiss_kappa, gwet_ac1, percent_agreement
from grasp_core.statistics.in_group import irr
from tests.commands import ran, refused
from tests.permutation.simulated import dataset

Captured = pytest.CaptureFixture[str]
RATERS = "abcd"
TRUTH = ["yes", "no"] * 45
ANSWERS = np.random.default_rng(3).random((90, 4)) < [0.95, 0.9, 0.85, 0.5]
"""Whether each rater is right about each of 90 items; the last one half of the time."""


def given(item: int, rater: int) -> str:
    return TRUTH[item] if ANSWERS[item, rater] else ("no" if TRUTH[item] == "yes" else "yes")


@pytest.fixture(autouse=True)
def votes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A file with batches, dates and the right labels of every third item; the working folder is its."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("COLUMNS", raising=False)
    rows = ["item,rater,label,batch,when,right"]
    for item in range(90):
        for place, rater in enumerate(RATERS):
            when = f"2026-{item // 30 + 1:02d}-{item % 28 + 1:02d}T09:00:0{place}Z"
            right = TRUTH[item] if item % 3 == 0 else ""
            rows.append(f"{item},{rater},{given(item, place)},{item // 30 + 9},{when},{right}")
    Path("votes.csv").write_text("\n".join(rows) + "\n", encoding="utf-8")
    lines = [line for line in rows if line.split(",")[1] in ("rater", "a", "b")]
    Path("two.csv").write_text("\n".join(lines) + "\n", encoding="utf-8")


def rows(capsys: Captured, *arguments: str) -> list[dict[str, str]]:
    capsys.readouterr()
    assert cli.main([*arguments, "--label", "label", "--format", "csv", "-q"]) == 0
    return list(csv.DictReader(io.StringIO(capsys.readouterr().out)))


def counts(items: range = range(90), raters: int = 4) -> np.ndarray[Any, np.dtype[np.int64]]:
    said = [[given(item, rater) for rater in range(raters)] for item in items]
    return np.array([[one.count("no"), one.count("yes")] for one in said])


def test_every_coefficient_is_that_of_its_function(capsys: Captured) -> None:
    told = rows(capsys, "agreement", "votes.csv")
    assert {row["batch"] for row in told if row["column"] == "batch"} == {"9", "10", "11"}  # unasked
    found = {row["coefficient"]: row for row in told if not row["column"]}
    functions = {"Krippendorff's alpha": irr, "percent agreement": percent_agreement}
    for name, statistic in {**functions, "Fleiss' kappa": fleiss_kappa, "Gwet's AC1": gwet_ac1}.items():
        assert float(found[name]["value"]) == pytest.approx(statistic(counts()), abs=1e-12)
        assert float(found[name]["low"]) < float(found[name]["value"]) < float(found[name]["high"])
        assert found[name]["items"] == "90"
    both = [np.array([given(item, rater) == "yes" for item in range(90)], np.int64) for rater in range(4)]
    pairs = [cohen_kappa(both[a], both[b]) for a in range(4) for b in range(a)]
    assert float(found["Cohen's kappa, mean of pairs"]["value"]) == pytest.approx(np.mean(pairs), abs=1e-12)
    told = rows(capsys, "agreement", "two.csv")
    of_two = {row["coefficient"]: row for row in told if not row["column"]}
    assert float(of_two["Cohen's kappa"]["value"]) == pytest.approx(cohen_kappa(both[0], both[1]), abs=1e-12)
    assert of_two["Cohen's kappa"]["low"] != ""


def test_by_batch_and_over_time(capsys: Captured) -> None:
    found = rows(capsys, "agreement", "votes.csv", "--by", "batch", "--over", "when", "--every", "month")
    kappa = [row for row in found if row["coefficient"] == "Fleiss' kappa" and row["column"]]
    assert [row["batch"] for row in kappa] == ["9", "10", "11", "2026-01", "2026-02", "2026-03"]
    for place, row in enumerate(kappa):
        first = place % 3 * 30
        assert float(row["value"]) == pytest.approx(fleiss_kappa(counts(range(first, first + 30))), abs=1e-12)
        assert row["items"] == "30"
    said = ran(capsys, "agreement", "votes.csv", "--label", "label", "--over", "when")
    assert "when (week) 2026-W01" in said.out  # 90 days are too many to list
    assert "columns not used: 'batch', 'right'\n" in said.err


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (["--over", "batch"], "column 'batch' holds no dates such as 2026-11-28"),
        (["--over", "whne"], "votes.csv has no column 'whne'; did you mean 'when'"),
        (["--every", "week"], "--every goes with --over"),
    ],
)
def test_what_is_no_time_is_refused(capsys: Captured, arguments: list[str], sentence: str) -> None:
    assert sentence in refused(capsys, "agreement", "votes.csv", "--label", "label", *arguments)


def test_seconds_since_1970_are_dates_and_many_raters_are_listed_in_files_alone(capsys: Captured) -> None:
    lines = ["item,rater,label,at"]
    for item in range(40):
        lines += [f"{item},{rater},{given(item, 0)},{1_767_225_600 + item * 86_400}" for rater in "ab"]
    Path("epochs.csv").write_text("\n".join(lines), encoding="utf-8")
    found = rows(capsys, "agreement", "epochs.csv", "--over", "at", "--every", "month")
    assert list(dict.fromkeys(row["batch"] for row in found if row["column"])) == ["2026-01", "2026-02"]
    lines = [f"{i},r{r},{'yes' if (i + r) % 3 else 'no'}" for i in range(6) for r in range(60)]
    Path("many.csv").write_text("item,rater,label\n" + "\n".join(lines) + "\n", encoding="utf-8")
    assert len(rows(capsys, "raters", "many.csv")) == 60
    assert cli.main(["raters", "many.csv", "--label", "label"]) == 0
    assert "... and 10 more: -o raters.csv has all" in capsys.readouterr().out
    assert cli.main(["run", "many.csv", "--label", "label", "--no-brief"]) == 0
    assert "... and 10 more: -o report.html has all" in capsys.readouterr().out


def test_agreement_is_told_in_words_tables_and_json(capsys: Captured) -> None:
    asked = ["agreement", "votes.csv", "--label", "label", "--by", "batch"]
    whole = ran(capsys, *asked).out
    assert "\nYour 4 raters " in whole
    assert "Nothing known of the raters was compared" not in whole
    for heading in ("Coefficients", "By batch", "When one rater says it, another says so too"):
        assert f"\n{heading}\n" in whole
    brief = ran(capsys, *asked, "--brief").out
    assert "Gwet's AC1" in brief
    assert len(brief.splitlines()) < 25
    plain = json.loads(ran(capsys, *asked[:4], "--format", "json", "-q").out)
    assert plain["format"] == "grasp-agreement"
    assert plain["everybody"]["alpha"] == pytest.approx(irr(counts()), abs=1e-12)
    assert {row["coefficient"] for row in plain["coefficients"]} >= {"Gwet's AC1", "Fleiss' kappa"}
    assert '"a"' not in json.dumps(plain)  # it names no rater


def test_intervals_of_few_items_stay_within_what_is_possible(capsys: Captured) -> None:
    said = ("1,a,1", "1,b,1", "2,a,1", "2,b,0", "3,a,1", "4,b,1", "5,a,1", "5,b,1")
    Path("few.csv").write_text("\n".join(("item,rater,label", *said)), encoding="utf-8")
    found = {row["coefficient"]: row for row in rows(capsys, "agreement", "few.csv")}
    assert float(found["percent agreement"]["low"]) == 0.0
    assert float(found["Fleiss' kappa"]["low"]) == -1.0
    assert all(float(row["high"]) <= 1 for row in found.values() if row["high"])


def test_labels_that_are_all_the_same_say_why_there_is_no_kappa(capsys: Captured) -> None:
    lines = ["item,rater,label", *(f"{i},{r},yes" for i in range(5) for r in "ab")]
    Path("same.csv").write_text("\n".join(lines), encoding="utf-8")
    same = ["agreement", "same.csv", "--label", "label", "--categories", "yes,no"]
    said = ran(capsys, *same, "--item", "item", "--rater", "rater").out
    assert "percent agreement" in said
    assert "not estimable" in said
    assert said.count("–: ") == 1


def test_a_row_per_rater_with_right_labels_of_either_file(capsys: Captured) -> None:
    found = rows(capsys, "raters", "votes.csv", "--gold", "right")
    assert {row["rater"] for row in found} == set(RATERS)
    assert found[0]["rater"] == "d"  # who agrees least
    for row in found:
        place = RATERS.index(row["rater"])
        assert row["answers"] == row["compared"] == "90"
        assert row["gold_items"] == "30"
        assert float(row["as_gold"]) == pytest.approx(ANSWERS[::3, place].mean(), abs=1e-12)
        others = [other for other in range(4) if other != place]
        same = [given(item, place) == given(item, other) for item in range(90) for other in others]
        assert float(row["as_others"]) == pytest.approx(np.mean(same), abs=1e-12)
        assert row["differs"] == str(row["rater"] == "d")
        assert row["at_chance"] == ""  # four raters are too few to tell
        assert row["copies"] == ""
    of_votes = rows(capsys, "raters", "votes.csv", "--gold", "right")
    lines = [f"{item},{TRUTH[item] if item % 3 == 0 else ''}" for item in range(90)]
    Path("truths.csv").write_text("item,truth\n" + "\n".join(lines) + "\n", encoding="utf-8")
    of_items = rows(capsys, "raters", "votes.csv", "truths.csv", "--gold", "truth")
    assert [row["as_gold"] for row in of_items] == [row["as_gold"] for row in of_votes]
    assert [row["gold_items"] for row in of_items] == ["30"] * 4


def test_copies_and_constant_raters_are_marked() -> None:
    data = dataset(1, items=120, raters=30)
    one = data.annotations
    label = one.category.copy()
    grid = np.zeros((one.n_items, one.n_raters), np.int64)
    grid[one.item, one.rater] = one.category
    label[one.rater == 5] = grid[one.item[one.rater == 5], 9]  # rater 5 copies rater 9
    label[one.rater == 2] = 0
    frame = raters_frame(replace(data, annotations=replace(one, category=label)))
    rows = {row.rater: row for row in frame.itertuples()}
    first, second = one.rater_ids[5], one.rater_ids[9]
    assert rows[first].copies == [second]
    assert rows[second].copies == [first]
    assert {first, second} <= set(frame["rater"].head(4))
