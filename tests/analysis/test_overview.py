"""What a data set holds, sizes, pairs, small groups, axes that go together, and the command `quality`."""

import json
import re
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from scipy.stats.contingency import association

from grasp_core import cli
from grasp_core.analysis.overview import (
    CountRange,
    Overlap,
    RandomRaters,
    RaterCountBar,
    constant_raters,
    corrected_v,
    overlaps,
    overview,
    small_groups,
)
from grasp_core.model.annotations import Axis, Raters
from grasp_core.model.example import example_files
from grasp_core.model.groups import Group
from grasp_core.model.outcome import AssignmentCheck, MostUnequal
from grasp_core.reading.dataset.load import load
from grasp_core.reading.screens.constant import FEWEST_ANNOTATIONS
from grasp_core.report import quality as tables
from grasp_core.report.quality import QualityChecks, quality_json, quality_report
from grasp_core.report.tables import texts
from tests.batches import in_batches
from tests.commands import ran, refused, write, written
from tests.few_items import ANNOTATIONS, few_items
from tests.permutation.simulated import simulate
from tests.reading.making import LONG, rows_table, text_table

NONE_AT_CHANCE = RandomRaters(0, 0, None, ())


@pytest.fixture(scope="module")
def data():
    votes = "item rater label g h/a r1 Yes x 1/a r2 No y 1/b r1 Yes x 1/b r2 No y 1/b r3 No x 2/c r4 No NA 2"
    return load(text_table(votes), None, replace(LONG, missing=("NA",)), ["g", "h"])


def crossed(table: list[list[int]]) -> Raters:
    pairs = [(i, j) for i, row in enumerate(table) for j, n in enumerate(row) for _ in range(n)]
    ids = tuple(map(str, range(len(pairs))))
    first, second = (Axis.from_values([f"v{pair[side]}" for pair in pairs]) for side in (0, 1))
    return Raters(ids, {"first": first, "second": second})


def test_overview_counts_what_is_there_and_what_is_missing_and_every_item_once(data):
    found = overview(data.annotations, data.raters)
    assert (found.items, found.raters, found.annotations) == (3, 4, 6)
    assert found.filled == found.missing == 0.5
    assert found.raters_per_item == CountRange(1, 2.0, 3)
    assert found.annotations_per_rater == CountRange(1, 1.5, 2)
    assert found.items_by_raters == (RaterCountBar(1, 1, 1), RaterCountBar(2, 2, 1), RaterCountBar(3, 3, 1))
    assert [(row.axis, row.raters, row.share) for row in found.unknown] == [("g", 1, 0.25), ("h", 0, 0.0)]
    text = tables.overview_table(found).to_string()
    assert "50.0%" in text
    assert "1 to 3, median 2" in text
    assert "1 (25.0%)" in text
    annotations, raters = simulate(2, items=300, raters=90, missing=0.5)
    bars = overview(annotations, raters).items_by_raters
    per_item = np.diff(annotations.indptr)
    assert len(bars) <= 10
    for bar in bars:
        assert bar.items == ((per_item >= bar.low) & (per_item <= bar.high)).sum()
    assert sum(bar.items for bar in bars) == 300


def test_constant_raters_are_counted_by_group_and_never_named():
    rows = [["item", "rater", "label", "g"]]
    labels = {
        "always-yes": lambda i: "Yes",
        "mixed": lambda i: "Yes" if i % 2 else "No",
        "few": lambda i: "Yes" if i < FEWEST_ANNOTATIONS - 1 else "",
        "unlike": lambda i: "No" if i % 3 else "Yes",
        **{f"other {j}": lambda i, j=j: "Yes" if (i + j) % 2 else "No" for j in range(6)},
    }
    group = {"always-yes": "x", "mixed": "x", "few": "x", **{f"other {j}": "x" for j in range(3)}}
    rows += [
        [f"i{i}", name, label(i), group.get(name, "y")] for name, label in labels.items() for i in range(12)
    ]
    dataset = load(rows_table(rows), None, LONG, ["g"])
    found = constant_raters(dataset.annotations, dataset.raters)
    assert (found.constant, found.looked_at) == (1, 9)
    assert [(row.group.values, row.constant, row.looked_at) for row in found.by_group] == [(("x",), 1, 5)]
    report = quality_report(dataset)
    written = quality_json(report)
    assert "always-yes" not in written
    assert json.loads(written)["constant_raters"]["by_group"][0]["group"] == {"g": "x"}
    assert "1 rater of 9" in " ".join(tables.findings(report, None))


def test_small_groups_of_axes_and_pairs():
    raters = crossed([[12, 1], [4, 6]])
    rows = {row.axes: row for row in small_groups(raters)}
    assert rows["first",].fewer == (0, 0, 0)
    assert rows["second",].fewer == (0, 0, 1)  # 16 and 7
    assert rows["first", "second"].groups == 4
    assert rows["first", "second"].fewer == (1, 2, 3)
    assert rows["first", "second"].smallest == 1


def test_corrected_v_follows_bergsma_and_is_near_zero_for_independent_axes() -> None:
    # By hand with Bergsma's (2013) formula: chi2 = 40 (18 * 16 - 2 * 4)^2 / (20 * 20 * 22 * 18) = 19.798,
    # phi2 = 0.49495, less 1/39; both dimensions 2 - 1/39.
    expected = np.sqrt((0.494949495 - 1 / 39) / (1 - 1 / 39))
    assert corrected_v(np.array([[18, 2], [4, 16]])) == pytest.approx(expected, abs=1e-8)
    rng = np.random.default_rng(1)
    pairs = rng.integers(36, size=(200, 60))  # of 6 values and 6
    cross = [np.bincount(drawn, minlength=36).reshape(6, 6) for drawn in pairs]
    assert np.mean([association(table, method="cramer") for table in cross]) > 0.25  # scipy's, uncorrected
    assert np.mean([corrected_v(table) for table in cross]) < 0.1


def test_identical_axes_are_flagged_and_close_ones_lead_to_page_and_option():
    same, nested = overlaps(crossed([[9, 0], [0, 7]]))[0], overlaps(crossed([[9, 0], [0, 7], [0, 5]]))[0]
    assert same.v == pytest.approx(1)
    assert nested.nearly_identical  # the one tells the other
    assert same.nearly_identical
    found = tables.findings(_with_overlap(same), None)
    assert "cannot tell them apart" in " ".join(found)
    for table, v in (([[8, 8], [8, 8]], 0), ([[8, 8]], None)):  # independent; of one value
        (one,) = overlaps(crossed(table))
        assert (one.v, one.nearly_identical) == (v, False)
    (close,) = overlaps(crossed([[40, 12], [14, 38]]))
    found = " ".join(tables.findings(_with_overlap(close), None))
    assert "Test each given the other: on Analysis, under Given, or by --given." in found


def _with_overlap(found: Overlap) -> QualityChecks:
    annotations, raters = simulate(1)
    constant = constant_raters(annotations, raters)
    return QualityChecks(overview(annotations, raters), NONE_AT_CHANCE, constant, (), (found,), ())


@pytest.mark.parametrize(("size", "told"), [(1.07, "100%"), (1.0, "100%"), (0.6, "60%")])
def test_groups_that_meet_more_than_by_chance_are_as_mixed_as_can_be(size: float, told: str) -> None:
    check = AssignmentCheck(("x",), MostUnequal(Group(("x",), ("a",)), size, 1.0), None)
    assert list(texts(tables.ASSIGNED, [check])["meets the others"]) == [told]


FILES = ["--annotations", "annotations.csv", "--raters", "raters.csv"]
COLUMNS = ["--item", "item_id", "--rater", "rater_id", "--label", "label"]
GENDER = ["--axis", "rater_gender"]


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    write(tmp_path, example_files())
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_tables_and_file_without_ids_unless_they_are_asked_for(folder, capsys) -> None:
    votes = (folder / "annotations.csv").read_text(encoding="utf-8").splitlines()
    copied = [line.replace(",R001,", ",twin,") for line in votes if ",R001," in line]
    (folder / "annotations.csv").write_text("\n".join([*votes, *copied]) + "\n", encoding="utf-8")
    printed = ran(capsys, "quality", *FILES).out
    assert "1 pair of raters (2 raters) agrees far more" in printed
    assert "twin" not in printed
    assert "R001, twin, 350, 350" in ran(capsys, "quality", *FILES, "--show-ids").out
    (folder / "annotations.csv").write_bytes(few_items()["annotations.csv"])
    options = ["--axis", "rater_race", "--power", "--out", "quality.json"]
    printed = ran(capsys, "quality", *FILES, *COLUMNS, *options).out
    for words in ("Annotations per rater", "fewer than 5 raters", "up to be found", "8 of 10 runs"):
        assert words in printed
    plain = written("quality.json")
    assert (plain["format"], plain["version"]) == ("grasp-quality", 1)
    assert plain["overview"]["annotations"] == ANNOTATIONS
    assert plain["near_duplicates"]["pairs_looked_at"] == 104 * 103 // 2
    # The example's own sizes, RATERS_PER_GROUP.
    assert sorted(row["n_raters"] for row in plain["power"]) == [13, 21, 22, 23, 25]
    by_size = sorted(plain["power"], key=lambda row: row["n_raters"])
    assert by_size[0]["up"]["change"] > by_size[-1]["up"]["change"] > 0
    assert "R001" not in json.dumps(plain)


def test_who_rated_what_is_held_against_the_shuffles_of_a_run(tmp_path, monkeypatch, capsys) -> None:
    monkeypatch.chdir(tmp_path)
    votes, raters = in_batches()
    votes.to_csv("annotations.csv", index=False)
    raters.to_csv("raters.csv", index=False)
    options = ["quality", *FILES, *COLUMNS, "--axis", "gender", "--out", "quality.json"]

    def codes() -> list[str]:
        return [one["code"] for one in written("quality.json")["warnings"]]

    assert cli.main(options) == 0
    assert "own-items" in codes()
    said = capsys.readouterr()
    assert "--within and the column that holds them" in said.out
    assert "could hold batches: 'batch'; --within batch shuffles within" in said.err
    assert cli.main([*options, "--within", "batch"]) == 0
    assert "own-items" not in codes()
    assert "for gender: " in refused(capsys, *options, "--within", "gender")


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ([*COLUMNS, *GENDER, "--out", "no/such/file.json"], "cannot be written"),
        ([*COLUMNS, "--axis", "shoe_size"], "shoe_size"),
        ([*COLUMNS, "--power"], "--power needs groups"),  # without the raters' file; else those there count
    ],
)
def test_bad_input_gets_one_sentence(folder, capsys, options, sentence) -> None:
    files = FILES[:2] if "--power" in options else FILES
    assert sentence in refused(capsys, "quality", *files, *options)


def test_every_option_of_its_own_is_described(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        cli.main(["quality", "--help"])
    shown = capsys.readouterr().out.partition("quality:\n")[2]
    options = set(re.findall(r"--[a-z][a-z-]+", shown))
    own = "--axis --intersect --within --cluster --power --show-ids --out --format"
    assert options == set(own.split())
    document = (Path(__file__).resolve().parents[2] / "docs" / "quality.md").read_text(encoding="utf-8")
    assert all(option in document for option in options)
